"""Writes `__init__.pyi`, what editors and type checkers know of `pl`: `python -m pyto.language.stubs`."""

from __future__ import annotations

import textwrap
from pathlib import Path

from pyto.ir.ops import OPS
from pyto.language.intrinsics import Intrinsic, Parameter
from pyto.language.vocabulary import ALIASES, INTRINSICS
from pyto.language.vocabulary_data import TILE_NAMES

PATH = Path(__file__).with_name("__init__.pyi")

_HEAD = '''# Written by `python -m pyto.language.stubs` from the op table: do not edit.
# ruff: noqa
# fmt: off
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, overload

from pyto.errors import CompileError as CompileError
from pyto.errors import PytoError as PytoError
from pyto.errors import UsageError as UsageError
from pyto.ir.nodes import DType as DType
from pyto.language.annotations import DynVar as DynVar
from pyto.language.annotations import InOut as InOut
from pyto.language.annotations import Out as Out
from pyto.language.annotations import Scalar as Scalar
from pyto.language.annotations import dynamic as dynamic
from pyto.language.enums import AtomicType as AtomicType
from pyto.language.enums import Level as Level
from pyto.language.enums import MaskPattern as MaskPattern
from pyto.language.enums import MemorySpace as MemorySpace
from pyto.language.enums import PadValue as PadValue
from pyto.language.enums import SplitMode as SplitMode
from pyto.language.enums import TensorLayout as TensorLayout
from pyto.language.autotune import autotune as autotune
from pyto.language.enums import FunctionType as FunctionType
from pyto.language.enums import Role as Role
from pyto.language.jit import JitFunction as JitFunction
from pyto.language.jit import JitProgram as JitProgram
from pyto.language.jit import function as function
from pyto.language.jit import inline as inline
from pyto.language.jit import program as program

FP32: DType
FP16: DType
BF16: DType
INT8: DType
INT16: DType
INT32: DType
INT64: DType
UINT8: DType
UINT16: DType
UINT32: DType
BOOL: DType
INDEX: DType
TASK_ID: Any
array: Any
Mem = MemorySpace

class Tensor:
    """A row-major tensor in device memory: `pl.Tensor[[rows, columns], pl.FP32]`; bare on inline functions: any."""
    shape: list[Any]
    dtype: DType
    def __class_getitem__(cls, item: Any) -> Any: ...
    def __getitem__(self, index: Any) -> Any: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...

class Tile:
    """A tile on a core; on parameters of inline functions: `pl.Tile[[rows, columns], pl.FP32]`."""
    shape: list[int]
    dtype: DType
    def __class_getitem__(cls, item: Any) -> Any: ...
    def __getitem__(self, index: Any) -> Tile: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...
    def __add__(self, other: Any) -> Tile: ...
    def __radd__(self, other: Any) -> Tile: ...
    def __sub__(self, other: Any) -> Tile: ...
    def __rsub__(self, other: Any) -> Tile: ...
    def __mul__(self, other: Any) -> Tile: ...
    def __rmul__(self, other: Any) -> Tile: ...
    def __truediv__(self, other: Any) -> Tile: ...
    def __rtruediv__(self, other: Any) -> Tile: ...
    def __matmul__(self, other: Any) -> Tile: ...
    def __neg__(self) -> Tile: ...

class _Jit:
    """Decorator of kernels: `@pl.jit`. `@pl.jit.inline` is for functions that kernels call."""
    @overload
    def __call__(self, fn: Callable[..., Any], *, auto_scope: bool = True) -> JitFunction: ...
    @overload
    def __call__(self, fn: None = None, *, auto_scope: bool = True) -> Callable[[Callable[..., Any]], JitFunction]: ...
    @overload
    def inline(self, fn: Callable[..., Any], *, auto_scope: bool = True) -> JitFunction: ...
    @overload
    def inline(self, fn: None = None, *, auto_scope: bool = True) -> Callable[[Callable[..., Any]], JitFunction]: ...
    @overload
    def incore(self, fn: Callable[..., Any], *, level: Any = None) -> JitFunction: ...
    @overload
    def incore(self, fn: None = None, *, level: Any = None) -> Callable[[Callable[..., Any]], JitFunction]: ...
    @overload
    def opaque(self, fn: Callable[..., Any], *, auto_scope: bool = True) -> JitFunction: ...
    @overload
    def opaque(self, fn: None = None, *, auto_scope: bool = True) -> Callable[[Callable[..., Any]], JitFunction]: ...

jit: _Jit

def split(mode: SplitMode, *, slot_num: int | None = None) -> Any:
    """A hint for `optimizations=[...]`: accepted, never needed for a right result."""
def cross_core_slot(*, slot_num: int) -> Any:
    """A hint for `optimizations=[...]`: accepted, never needed for a right result."""
'''

_RETURNS = {
    "range": "Iterator[Any]", "parallel": "Iterator[Any]", "pipeline": "Iterator[Any]", "unroll": "Iterator[int]",
    "at": "AbstractContextManager[Any]", "full": "Tile", "load": "Tile", "slice": "Tile", "reshape": "Tile",
    "set_validshape": "Tile", "static_assert": "None",
}  # fmt: skip
_TYPES = {
    "target_type": "DType",
    "dtype": "DType",
    "out_dtype": "DType | None",
    "name_hint": "str",
    "level": "Level | None",
}


def _parameter(p: Parameter) -> str:
    if p.variadic:
        return f"*{p.name}: Any"
    default = "" if repr(p.default) == "<required>" else f" = {p.default!r}"
    kind = "bool" if isinstance(p.default, bool) else _TYPES.get(p.name, "Any")
    kind += " | None" if kind == "DType" and p.default is None else ""
    return f"{p.name}: {kind}{default}"


def _function(name: str, fn: Intrinsic, indent: str = "") -> str:
    parts: list[str] = []
    for p in fn.parameters:
        if p.keyword_only and "*" not in parts and not any(q.startswith("*") for q in parts):
            parts.append("*")
        parts.append(_parameter(p))
    op = OPS.get(fn.name)
    fallback = "Any" if op is not None and (op.scalar or op.name == "cast") else "Tile"
    returns = _RETURNS.get(fn.name, fallback if op is not None and op.user else "Any")
    # A lone line: the doc is the op table's.
    doc = textwrap.dedent(fn.__doc__ or "").strip().replace("\\", "\\\\").replace('"""', "'''")
    doc = doc + " " if doc.endswith('"') else doc
    return f'{indent}def {name}({", ".join(parts)}) -> {returns}:\n{indent}    """{doc}"""\n'


def generate() -> str:
    """The text of `__init__.pyi`."""
    out = [_HEAD]
    names = {**INTRINSICS, **{alias: INTRINSICS[name] for alias, name in ALIASES.items()}}
    for name, fn in names.items():
        out.append(_function(name, fn))
    out.append('\nclass _Functions:\n    """The functions of `pl` under another name."""\n')
    for name, fn in names.items():
        out.append("    @staticmethod\n" + _function(name, fn, "    "))
    out.append("\nclass _TileFunctions(_Functions):\n    MaskPattern = MaskPattern\n")
    for name, real in TILE_NAMES.items():
        text = _function(name, INTRINSICS[real], "    ")
        out.append("    @staticmethod\n" + text.replace(":\n", ":  # type: ignore[override]\n", 1))
    out.append("\ntensor: _Functions\ntile: _TileFunctions\nsystem: _Functions\n")
    return "".join(out)


if __name__ == "__main__":
    PATH.write_text(generate(), encoding="utf-8")
