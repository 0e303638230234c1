"""Kernels written by tests: their text to a file, and from there to a kernel."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from pyto import compiler, interpreter

Array = np.ndarray[Any, np.dtype[Any]]


def kernel(text: str, name: str, folder: Path) -> Any:
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def results(
    fn: Any, given: dict[str, Any], like: dict[str, Array], simulator: bool = True
) -> list[tuple[str, dict[str, Array]]]:
    """(where, outputs by name): in the interpreter after each pass, and in the simulator."""
    found = []
    arrays = {k: v for k, v in given.items() if isinstance(v, np.ndarray)}
    scalars = {k: v for k, v in given.items() if k not in arrays}
    for stage in compiler.lower(fn).stages:
        if stage.changed:
            got = {k: np.zeros(v.shape, v.dtype) for k, v in like.items()}
            interpreter.run(stage.program, {**arrays, **got}, scalars, seed=3)
            found.append((f"after {stage.name}", got))
    if not simulator:
        return found
    got = {k: np.zeros(v.shape, v.dtype) for k, v in like.items()}
    fn(**given, **got)
    return [*found, ("in the simulator", got)]
