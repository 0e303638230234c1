"""The language of pyto's kernels: `import pyto.language as pl`.

Functions of `pl` mean something in functions decorated with `@pl.jit` (or `@pl.jit.inline`) only; the front end gives
them their meaning when the kernel is compiled.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pyto.errors import CompileError, PytoError, UsageError
from pyto.ir.nodes import BF16, BOOL, FP16, FP32, INDEX, INT8, INT16, INT32, UINT8, UINT16, UINT32, DType
from pyto.language import vocabulary as _vocabulary
from pyto.language.annotations import DynVar, InOut, Out, Scalar, Tensor, Tile, dynamic
from pyto.language.autotune import autotune
from pyto.language.enums import (
    AtomicType,
    FunctionType,
    Level,
    MaskPattern,
    MemorySpace,
    PadValue,
    Role,
    SplitMode,
    TensorLayout,
)
from pyto.language.intrinsics import Intrinsic
from pyto.language.jit import JitFunction, JitProgram, function, inline, jit, program
from pyto.language.vocabulary_data import TILE_NAMES as _TILE_NAMES

Mem = MemorySpace
INT64 = INDEX


def split(mode: SplitMode, *, slot_num: int | None = None) -> tuple[str, SplitMode]:
    """A hint for `optimizations=[...]`: accepted, never needed for a right result."""
    return ("split", mode)


def cross_core_slot(*, slot_num: int) -> tuple[str, int]:
    """A hint for `optimizations=[...]`: accepted, never needed for a right result."""
    return ("cross_core_slot", slot_num)


class _Namespace(SimpleNamespace):
    """`pl.tensor`, `pl.tile` and `pl.system`: the same functions under another name."""

    def __init__(self, spelled: str, names: dict[str, Any]) -> None:
        super().__init__(**names)
        self._spelled = spelled

    def __repr__(self) -> str:
        return f"<namespace {self._spelled}>"


def _namespace(spelled: str) -> _Namespace:
    names: dict[str, Any] = {}
    for name, fn in _vocabulary.INTRINSICS.items():
        names[name] = Intrinsic(name, fn.signature, fn.__doc__ or "", spelled=f"{spelled}.{name}", refused=fn.refused)
    aliases = {**_vocabulary.ALIASES, **(_TILE_NAMES if spelled == "pl.tile" else {})}
    for name, real in aliases.items():
        fn = _vocabulary.INTRINSICS[real]
        names[name] = Intrinsic(real, fn.signature, fn.__doc__ or "", spelled=f"{spelled}.{name}", refused=fn.refused)
    return _Namespace(spelled, names)


TASK_ID = "task id"
array = _Namespace("pl.array", {"create": _vocabulary.INTRINSICS["task_array"]})
tensor = _namespace("pl.tensor")
tile = _namespace("pl.tile")
tile.MaskPattern = MaskPattern
system = _namespace("pl.system")

globals().update(_vocabulary.INTRINSICS)
globals().update(
    {
        a: Intrinsic(i.name, i.signature, i.__doc__ or "", spelled=f"pl.{a}", refused=i.refused)
        for a, i in ((a, _vocabulary.INTRINSICS[n]) for a, n in _vocabulary.ALIASES.items())
    }
)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    import difflib

    close = difflib.get_close_matches(name, [n for n in globals() if not n.startswith("_")], 1)
    raise AttributeError(f"pyto.language has no {name!r}" + (f"; did you mean pl.{close[0]}?" if close else ""))


__all__ = [
    "BF16",
    "BOOL",
    "FP16",
    "FP32",
    "INDEX",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "TASK_ID",
    "UINT8",
    "UINT16",
    "UINT32",
    "AtomicType",
    "CompileError",
    "DType",
    "DynVar",
    "FunctionType",
    "InOut",
    "JitFunction",
    "JitProgram",
    "Level",
    "MaskPattern",
    "Mem",
    "MemorySpace",
    "Out",
    "PadValue",
    "PytoError",
    "Role",
    "Scalar",
    "SplitMode",
    "Tensor",
    "TensorLayout",
    "Tile",
    "UsageError",
    "array",
    "autotune",
    "cross_core_slot",
    "dynamic",
    "function",
    "inline",
    "jit",
    "program",
    "split",
    "system",
    "tensor",
    "tile",
]  # fmt: skip
__all__ += list(_vocabulary.INTRINSICS) + list(_vocabulary.ALIASES)
