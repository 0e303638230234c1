"""From a call's arguments to the C ABI: checks, dims, outputs. One plan a program, made when it is loaded."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from pyto.build.expr import compile_expr, evaluate
from pyto.build.program import DTYPES, Manifest, check_manifest
from pyto.errors import InternalError, LaunchError
from pyto.runtime.arrays import TO_NUMPY, Described, describe, empty, recognise

_INTEGERS = {
    "int8": (-(1 << 7), (1 << 7) - 1), "int16": (-(1 << 15), (1 << 15) - 1), "int32": (-(1 << 31), (1 << 31) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1), "uint8": (0, (1 << 8) - 1), "uint16": (0, (1 << 16) - 1),
    "uint32": (0, (1 << 32) - 1),
}  # fmt: skip
FLOATS = ("float32", "float16", "bfloat16")
_FORMATS = {
    "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I",
    "bool": "?",
}  # fmt: skip


class TensorParam(NamedTuple):
    """A tensor of the signature. `fixed`: (axis, size); `named`: (axis, dim); `derived`: (axis, expression)."""

    name: str
    dtype: str
    rank: int
    direction: str
    fixed: tuple[tuple[int, int], ...]
    named: tuple[tuple[int, str], ...]
    derived: tuple[tuple[int, str], ...]
    shape: tuple[int | str, ...]
    itemsize: int

    def shown(self) -> str:
        """The declared type, e.g. `[B, 5120] bfloat16`."""
        return f"[{', '.join(map(str, self.shape))}] {self.dtype}"


class ScalarParam(NamedTuple):
    name: str
    dtype: str


@dataclass(slots=True)
class Bound:
    """A call, ready for the C ABI. `dims` in manifest order; `addresses` in tensor order."""

    addresses: list[int]
    dims: list[int]
    scalars: bytes
    workspace: int
    results: Any
    device: str
    npu_tensor: Any
    empty: bool


class _Known(NamedTuple):
    """What is left of a call that was checked once: everything but addresses and scalars."""

    dims: list[int]
    workspace: int
    device: str
    like: int  # index of the argument that NPU memory is allocated like, or -1
    empty: bool
    sizes: list[int]  # bytes of each tensor
    written: list[int]  # indices of the tensors that are written


MOST_KNOWN = 256


def _shape_entry(param: Manifest, entry: int | str, dims: Sequence[str]) -> int | str:
    if isinstance(entry, int) or entry in dims:
        return entry
    _, names = compile_expr(entry)
    missing = names.difference(dims)
    if missing:
        raise InternalError(f"shape of {param['name']!r}: {sorted(missing)} are no dims", id="manifest")
    return entry


class Plan:
    """How one program's arguments are bound."""

    def __init__(self, manifest: Manifest) -> None:
        check_manifest(manifest)
        self.name: str = manifest["name"]
        self.dims: tuple[str, ...] = tuple(manifest["dims"])
        self.params: list[TensorParam | ScalarParam] = []
        for param in manifest["params"]:
            if param["kind"] == "scalar":
                self.params.append(ScalarParam(param["name"], param["dtype"]))
                continue
            shape = tuple(_shape_entry(param, entry, self.dims) for entry in param["shape"])
            axes = list(enumerate(shape))
            self.params.append(
                TensorParam(
                    param["name"],
                    param["dtype"],
                    len(shape),
                    param["direction"],
                    tuple((i, e) for i, e in axes if isinstance(e, int)),
                    tuple((i, e) for i, e in axes if isinstance(e, str) and e in self.dims),
                    tuple((i, e) for i, e in axes if isinstance(e, str) and e not in self.dims),
                    shape,
                    DTYPES[param["dtype"]],
                )
            )
        self.names = [param.name for param in self.params]
        self.workspace_expr = str(manifest.get("workspace", "0") or "0")
        self.workspace: Callable[[Mapping[str, int]], int] = compile_expr(self.workspace_expr)[0]
        # Outputs at the end of the signature may be left out of a call.
        self.required = len(self.params)
        while self.required and _is_output(self.params[self.required - 1]):
            self.required -= 1
        wanted = "out" if any(_is_output(param) for param in self.params) else "inout"
        self.returned = [
            i for i, param in enumerate(self.params) if isinstance(param, TensorParam) and param.direction == wanted
        ]
        self._tensor_indices = [i for i, param in enumerate(self.params) if isinstance(param, TensorParam)]
        self._scalar_params = [(i, p) for i, p in enumerate(self.params) if isinstance(p, ScalarParam)]
        self._known: dict[tuple[Any, ...], _Known] = {}
        self.tensors = [param for param in self.params if isinstance(param, TensorParam)]

    # errors

    def _fail(self, id: str, message: str, remedy: str | None = None) -> LaunchError:
        return LaunchError(f"launch.{id}", f"{self.name}: {message}", remedy=remedy)

    def signature(self) -> str:
        """The program's signature as text."""
        parts = []
        for param in self.params:
            if isinstance(param, ScalarParam):
                parts.append(f"{param.name}: {param.dtype}")
            else:
                mark = "" if param.direction == "in" else f"{param.direction} "
                parts.append(f"{param.name}: {mark}{param.shown()}")
        return f"{self.name}({', '.join(parts)})"

    def order(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Positional and keyword arguments in signature order; trailing outputs may be missing."""
        if len(args) > len(self.params):
            raise self._fail("arguments", f"{len(args)} arguments for {len(self.params)} parameters", self.signature())
        if not kwargs:
            if len(args) < self.required:
                missing = ", ".join(self.names[len(args) : self.required])
                raise self._fail("arguments", f"missing argument: {missing}", self.signature())
            return args
        values: list[Any] = list(args)
        unknown = [name for name in kwargs if name not in self.names]
        if unknown:
            raise self._fail("arguments", f"no parameter is named {unknown[0]!r}", self.signature())
        for i, name in enumerate(self.names):
            if i < len(args):
                if name in kwargs:
                    raise self._fail("arguments", f"argument {name} is given twice", self.signature())
            elif name in kwargs:
                values.append(kwargs[name])
            elif i < self.required:
                raise self._fail("arguments", f"missing argument: {name}", self.signature())
            else:
                values.append(None)
        return tuple(values)

    # binding

    def bind(self, args: tuple[Any, ...]) -> Bound:
        """Check `args` (signature order) against the plan. Raises LaunchError that names the argument.

        Dtypes, shapes and strides that passed once are not taken apart again.
        """
        if len(args) < len(self.params):
            return self._bind(args)
        seen = recognise([args[i] for i in self._tensor_indices])
        if seen is None:
            return self._bind(args)
        key, addresses = seen
        known = self._known.get(key)
        if known is None or _overlap(addresses, known):
            bound = self._bind(args)
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key] = self._know(args, bound)
            return bound
        scalars = b""
        for i, param in self._scalar_params:
            scalars += self._scalar(param, args[i])
        if len(self.returned) == 1:
            results = args[self.returned[0]]
        else:
            results = tuple([args[i] for i in self.returned]) or None
        like = None if known.like < 0 else args[known.like]
        return Bound(addresses, known.dims, scalars, known.workspace, results, known.device, like, known.empty)

    def _know(self, args: tuple[Any, ...], bound: Bound) -> _Known:
        sizes = [args[i].nbytes for i in self._tensor_indices]
        written = [t for t, param in enumerate(self.tensors) if param.direction != "in"]
        like = next((i for i, value in enumerate(args) if value is bound.npu_tensor), -1)
        return _Known(bound.dims, bound.workspace, bound.device, like, bound.empty, sizes, written)

    def _bind(self, args: tuple[Any, ...]) -> Bound:
        name = self.name
        dims: dict[str, int] = {}
        origin: dict[str, str] = {}
        tensors: list[Described | None] = []
        scalars = b""
        missing: list[tuple[int, int]] = []  # (index among params, index among tensors)
        for i, param in enumerate(self.params):
            value = args[i] if i < len(args) else None
            if isinstance(param, ScalarParam):
                scalars += self._scalar(param, value)
                continue
            if value is None and i >= self.required:
                missing.append((i, len(tensors)))
                tensors.append(None)
                continue
            tensor = describe(value, param.name, name)
            if tensor.dtype != param.dtype or len(tensor.shape) != param.rank or not tensor.contiguous:
                raise self._misfit(param, tensor)
            shape = tensor.shape
            for axis, size in param.fixed:
                if shape[axis] != size:
                    raise self._wrong_size(param, shape, axis, size)
            for axis, dim in param.named:
                size = shape[axis]
                if dims.setdefault(dim, size) != size:
                    raise self._fail(
                        "dim",
                        f"{dim}: {dims[dim]} ({origin[dim]}) vs {size} ({param.name})",
                        f"dimension {dim} has one size in a call; {param.name} is declared {param.shown()}",
                    )
                origin.setdefault(dim, param.name)
            if param.direction != "in" and not tensor.writable:
                raise self._fail("read-only", f"{param.name} is an {param.direction} argument and read-only")
            tensors.append(tensor)
        for dim in self.dims:
            if dim not in dims:
                raise self._fail(
                    "dim", f"nothing gives dimension {dim} a size", "pass the output too: only its shape names it"
                )
        device, library, like = self._device(args, tensors)
        fresh: list[Any] = []
        for i, t in missing:
            param = self.params[i]
            assert isinstance(param, TensorParam)
            shape = tuple(evaluate(entry, dims) if isinstance(entry, str) else entry for entry in param.shape)
            value = empty(shape, param.dtype, library, device if like is None else like.device)
            fresh.append(value)
            tensors[t] = describe(value, param.name, name)
        described: list[Described] = [tensor for tensor in tensors if tensor is not None]
        for param, tensor in zip(self.tensors, described):
            for axis, expr in param.derived:
                size = evaluate(expr, dims)
                if tensor.shape[axis] != size:
                    raise self._wrong_size(param, tensor.shape, axis, size)
        self._overlaps(described)
        values = [dims[dim] for dim in self.dims]
        return Bound(
            [tensor.address for tensor in described],
            values,
            scalars,
            self.workspace(dims),
            self._results(args, fresh),
            device,
            like,
            any(value == 0 for value in values),
        )

    def _results(self, args: tuple[Any, ...], fresh: list[Any]) -> Any:
        """What a call returns: its outputs in signature order, or its inouts if it has none. One stands alone."""
        found = []
        rest = iter(fresh)
        for i in self.returned:
            value = args[i] if i < len(args) else None
            found.append(next(rest) if value is None else value)
        return None if not found else found[0] if len(found) == 1 else tuple(found)

    def _device(self, args: tuple[Any, ...], tensors: list[Described | None]) -> tuple[str, str, Any]:
        """(device type, library of new outputs, a torch tensor among the arguments)."""
        device, library, like, first = "cpu", "numpy", None, ""
        t = 0
        seen = False
        for i, param in enumerate(self.params):
            if isinstance(param, ScalarParam):
                continue
            tensor = tensors[t]
            t += 1
            if tensor is None:
                continue
            if tensor.library == "torch" and like is None:
                library, like = "torch", args[i]
            if not seen:
                device, first, seen = tensor.device, param.name, True
            elif tensor.device != device:
                raise self._fail(
                    "device",
                    f"{first} is on {device}, {param.name} on {tensor.device}",
                    "put all tensors on one device",
                )
        if device not in ("cpu", "npu"):
            raise self._fail("device", f"{first} is on {device}", "pyto runs on cpu and npu: move the tensors there")
        return device, library, like

    def _misfit(self, param: TensorParam, tensor: Described) -> LaunchError:
        shown = f"{param.name}: expected {param.shown()}, got {list(tensor.shape)} {tensor.dtype}"
        if tensor.dtype != param.dtype:
            how = f".to(torch.{param.dtype})" if tensor.library == "torch" else f".astype({_numpy_name(param.dtype)})"
            return self._fail("dtype", shown, f"convert it: {param.name}{how}")
        if len(tensor.shape) != param.rank:
            return self._fail(
                "rank", f"{shown}: {len(tensor.shape)} dimensions for {param.rank}", f"reshape {param.name}"
            )
        if tensor.device not in ("cpu", "npu"):
            return self._fail(
                "device", f"{param.name} is on {tensor.device}", "pyto runs on cpu and npu: move it there"
            )
        how = f"{param.name}.contiguous()" if tensor.library == "torch" else f"np.ascontiguousarray({param.name})"
        if tensor.negated:
            return self._fail(
                "contiguous", f"{param.name} is a negated view of its memory", f"{param.name}.resolve_neg()"
            )
        if param.direction != "in":
            how = f"pass a whole row-major buffer and copy from it: a copy of {param.name} would not be written back"
        return self._fail("contiguous", f"{param.name} is not contiguous (row-major, native byte order)", how)

    def _wrong_size(self, param: TensorParam, shape: tuple[int, ...], axis: int, size: int) -> LaunchError:
        declared = param.shape[axis]
        note = f" = {size}" if isinstance(declared, str) else ""
        why = f"axis {axis} is {shape[axis]}, not {declared}{note}"
        return self._fail("shape", f"{param.name}: expected {param.shown()}, got {list(shape)}: {why}")

    def _scalar(self, param: ScalarParam, value: Any) -> bytes:
        """One 8-byte slot."""
        dtype = param.dtype
        if hasattr(value, "item") and getattr(value, "shape", None) == ():
            value = value.item()
        kind = type(value)
        if dtype in _INTEGERS and kind is int:
            low, high = _INTEGERS[dtype]
            if not low <= value <= high:
                raise self._fail("scalar", f"{param.name} = {value} does not fit {dtype} ({low} to {high})")
        elif dtype == "bool":
            if kind is not bool:
                raise self._fail("scalar", f"{param.name}: expected a bool, got {value!r}")
        elif dtype in FLOATS and kind in (int, float):
            return self._float(param, value)
        else:
            wanted = "an int" if dtype in _INTEGERS else "a number"
            raise self._fail("scalar", f"{param.name}: expected {wanted} for {dtype}, got {value!r}")
        return struct.pack("<" + _FORMATS[dtype], value).ljust(8, b"\0")

    def _float(self, param: ScalarParam, value: float) -> bytes:
        """The value rounded to the parameter's type, as a float32."""
        narrow = TO_NUMPY[param.dtype]
        try:
            with np.errstate(over="ignore"):
                rounded = float(np.array(float(value)).astype(np.float32).astype(narrow))
        except OverflowError:
            rounded = math.inf
        if math.isinf(rounded) and (isinstance(value, int) or not math.isinf(value)):
            limit = float(ml_dtypes.finfo(narrow).max)
            shown = f"{value:g}" if isinstance(value, float) else f"an int of {value.bit_length()} bits"
            raise self._fail(
                "scalar",
                f"{param.name} = {shown} does not fit {param.dtype}, which ends at {limit:g}",
                "pass float('inf') if infinity is meant",
            )
        return struct.pack("<f", rounded).ljust(8, b"\0")

    def _overlaps(self, tensors: list[Described]) -> None:
        """No written buffer may share bytes with another argument."""
        spans = []
        for i, (param, tensor) in enumerate(zip(self.tensors, tensors)):
            size = param.itemsize
            for extent in tensor.shape:
                size *= extent
            if size:
                spans.append((tensor.address, tensor.address + size, param.direction != "in", i))
        spans.sort()
        end, written, owner = 0, False, -1  # the span that reaches furthest
        written_end, written_owner = 0, -1
        for start, stop, writes, i in spans:
            hit = owner if start < end and (writes or written) else written_owner if start < written_end else -1
            if hit >= 0:
                first, second = self.tensors[hit], self.tensors[i]
                target = first if first.direction != "in" else second
                raise self._fail(
                    "overlap",
                    f"{first.name} and {second.name} share memory and {target.name} is written",
                    "give every output memory of its own",
                )
            if stop > end:
                end, written, owner = stop, writes, i
            if writes and stop > written_end:
                written_end, written_owner = stop, i


def _overlap(addresses: list[int], known: _Known) -> bool:
    """Whether a written tensor shares bytes with another one."""
    sizes = known.sizes
    for w in known.written:
        start = addresses[w]
        end = start + sizes[w]
        for i, other in enumerate(addresses):
            if other < end and start < other + sizes[i] and i != w:
                return True
    return False


def _is_output(param: TensorParam | ScalarParam) -> bool:
    return isinstance(param, TensorParam) and param.direction == "out"


def _numpy_name(dtype: str) -> str:
    return "ml_dtypes.bfloat16" if dtype == "bfloat16" else "np." + ("bool_" if dtype == "bool" else dtype)
