"""Arguments for `pyto run`: from .npy files, from a seed, from the command line."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from pyto.build.expr import evaluate
from pyto.build.program import DTYPES, Manifest
from pyto.errors import UsageError
from pyto.runtime.arrays import BFLOAT16, TO_NUMPY


def parse_pairs(pairs: tuple[str, ...], option: str) -> dict[str, str]:
    """{"x": "x.npy"} of ("x=x.npy",)."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name or not value:
            raise UsageError("usage.option", f"{option} {pair}: expected NAME=VALUE")
        if name in found:
            raise UsageError("usage.option", f"{option} {name} is given twice")
        found[name] = value
    return found


def parse_dims(pairs: tuple[str, ...], manifest: Manifest) -> dict[str, int]:
    """{"B": 16} of ("B=16",); the names are dims of the program."""
    dims: dict[str, int] = {}
    for name, value in parse_pairs(pairs, "--dim").items():
        if name not in manifest["dims"]:
            known = ", ".join(manifest["dims"]) or "none"
            raise UsageError("usage.dim", f"no dimension is named {name!r}", remedy=f"dimensions: {known}")
        if not (value.isascii() and value.isdigit() and len(value) < 20 and 1 <= int(value) < 1 << 63):
            raise UsageError("usage.dim", f"--dim {name}={value}: expected a whole number from 1 to 2**63 - 1")
        dims[name] = int(value)
    return dims


def load_array(path: str, param: Manifest) -> np.ndarray[Any, Any]:
    """A .npy file as the parameter's dtype. numpy stores bfloat16 as two raw bytes; those are read as bfloat16."""
    try:
        array: np.ndarray[Any, Any] = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UsageError("usage.input", f"{path} cannot be read as .npy: {error}") from error
    if param["dtype"] == "bfloat16" and array.dtype.kind == "V" and array.dtype.itemsize == 2:
        array = array.view(BFLOAT16)
    return np.ascontiguousarray(array)


def random_array(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Normal numbers for floats, small integers for integers, coin tosses for bool."""
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith(("int", "uint")):
        low = 0 if dtype.startswith("uint") else -8
        return rng.integers(low, 8, size=shape, endpoint=True).astype(TO_NUMPY[dtype])
    return rng.standard_normal(shape, dtype=np.float32).astype(TO_NUMPY[dtype])


def scalar(text: str, dtype: str, name: str) -> int | float | bool:
    """A scalar argument from the command line."""
    try:
        if dtype == "bool":
            return {"true": True, "false": False, "1": True, "0": False}[text.lower()]
        return int(text, 0) if dtype.startswith(("int", "uint")) else float(text)
    except (KeyError, ValueError):
        raise UsageError("usage.input", f"--input {name}={text}: not a {dtype}") from None


def arguments(
    manifest: Manifest, files: dict[str, str], dims: dict[str, int], seed: int | None
) -> list[np.ndarray[Any, Any] | int | float | bool]:
    """Values for every parameter, in signature order; outputs are zeros."""
    params = {param["name"]: param for param in manifest["params"]}
    for name in files:
        if name not in params:
            raise UsageError(
                "usage.input", f"no parameter is named {name!r}", remedy=f"parameters: {', '.join(params)}"
            )
    loaded: dict[str, np.ndarray[Any, Any]] = {}
    dims = dict(dims)
    for name, value in files.items():
        param = params[name]
        if param["kind"] == "tensor":
            array = loaded[name] = load_array(value, param)
            for axis, entry in enumerate(param["shape"][: array.ndim]):
                if isinstance(entry, str) and entry in manifest["dims"]:
                    dims.setdefault(entry, array.shape[axis])
    missing = [dim for dim in manifest["dims"] if dim not in dims]
    if missing:
        raise UsageError(
            "usage.dim",
            f"nothing gives {', '.join(missing)} a size",
            remedy="add " + " ".join(f"--dim {dim}=16" for dim in missing),
        )
    needed = [
        name
        for name, param in params.items()
        if name not in files and (param["kind"] == "scalar" or param["direction"] != "out")
    ]
    scalars = [name for name in needed if params[name]["kind"] == "scalar"]
    if scalars:
        raise UsageError("usage.input", f"scalar {scalars[0]} has no value", remedy=f"add --input {scalars[0]}=VALUE")
    if needed and seed is None:
        raise UsageError(
            "usage.input",
            f"no value for {', '.join(needed)}",
            remedy=f"add --input {needed[0]}={needed[0]}.npy, or --seed 0 for random inputs",
        )
    _check_size(params, dims)
    rng = np.random.default_rng(seed)
    values: list[np.ndarray[Any, Any] | int | float | bool] = []
    for name, param in params.items():
        if param["kind"] == "scalar":
            values.append(scalar(files[name], param["dtype"], name))
        elif name in loaded:
            values.append(loaded[name])
        else:
            shape = tuple(evaluate(entry, dims) for entry in param["shape"])
            if param["direction"] == "out":
                values.append(np.zeros(shape, TO_NUMPY[param["dtype"]]))
            else:
                values.append(random_array(shape, param["dtype"], rng))
    return values


def _check_size(params: dict[str, Manifest], dims: dict[str, int]) -> None:
    """Refuse tensors that this machine's memory cannot hold."""
    total = 0
    for param in params.values():
        if param["kind"] == "tensor":
            shape = [evaluate(entry, dims) for entry in param["shape"]]
            total += math.prod(shape) * DTYPES[param["dtype"]]
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if total > memory:
        raise UsageError(
            "usage.dim",
            f"the tensors take {total} B, this machine has {memory} B of memory",
            remedy="give smaller sizes with --dim",
        )


def save(folder: str, outputs: dict[str, np.ndarray[Any, Any]]) -> None:
    """Write each output to folder/NAME.npy."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, array in outputs.items():
            np.save(Path(folder) / f"{name}.npy", array, allow_pickle=False)
    except OSError as error:
        raise UsageError("usage.out-dir", f"cannot write to {folder}: {error.strerror or error}") from error
