"""Values while a function is parsed: compile-time Python objects beside IR values."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

from pyto.errors import CompileError, PytoError
from pyto.ir.builder import is_scalar
from pyto.ir.nodes import BOOL, FP32, INDEX, Const, DType, Expr, Loc, TensorType, TileType, Var
from pyto.ir.ops import describe as describe_type
from pyto.language.annotations import DynVar
from pyto.language.intrinsics import Intrinsic
from pyto.language.jit import JitFunction


@dataclass(frozen=True)
class Poison:
    """What a name holds when it cannot be used. `reason` None: an error about it was reported already."""

    reason: str | None
    remedy: str | None = None


@dataclass(frozen=True)
class TaskId:
    """`with pl.at(...) as name`: a scheduling handle, good for hints only."""


@dataclass(frozen=True)
class Transposed:
    """A tile with rows and columns exchanged, which operands of a matmul can be."""

    tile: Var


class Cascade(CompileError):
    """Follows from an error that was reported already; never shown."""


class CompileErrors(CompileError):
    """Several mistakes of one function; `id`, `message` and `loc` are those of the first."""

    def __init__(self, errors: list[CompileError]) -> None:
        self.errors = tuple(errors)
        first = errors[0]
        super().__init__(first.id, first.message, first.loc, remedy=first.remedy, details=first.details)

    def render(self) -> str:
        count = len(self.errors)
        return "\n\n".join(e.render() for e in self.errors) + f"\n\n{count} errors"


def combine(errors: list[CompileError]) -> PytoError:
    return errors[0] if len(errors) == 1 else CompileErrors(errors)


def is_tile(value: Any) -> bool:
    return isinstance(value, Var) and isinstance(value.type, TileType)


def is_tensor(value: Any) -> bool:
    return isinstance(value, Var) and isinstance(value.type, TensorType)


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def is_runtime_scalar(value: Any) -> bool:
    return is_scalar(value)


def plain(value: Any) -> Any:
    """Numbers of other libraries as Python's, anything else as it is."""
    if type(value) in (bool, int, float, str) or value is None or isinstance(value, Expr):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return value


def to_expr(value: int | float | bool) -> Const:
    if isinstance(value, bool):
        return Const(value, BOOL)
    return Const(value, INDEX if isinstance(value, int) else FP32)


def describe(value: Any) -> str:
    """A value in the words of an error message."""
    if isinstance(value, Expr):
        return describe_type(value)
    if isinstance(value, (bool, int, float, str)) or value is None:
        return repr(value)
    if isinstance(value, Intrinsic):
        return f"the function {value.spelled}"
    if isinstance(value, JitFunction):
        return f"the function {value.name}"
    if isinstance(value, DType):
        return f"the element type {value}"
    if isinstance(value, DynVar):
        return f"the dimension {value.name}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, TaskId):
        return "a task id"
    if isinstance(value, Transposed):
        return "a transposed view"
    if isinstance(value, type) or callable(value):
        return f"the Python object {getattr(value, '__name__', value)!s}"
    return f"an object of type {type(value).__name__}"


__all__ = [
    "Cascade", "CompileErrors", "Loc", "Poison", "TaskId", "Transposed", "combine", "describe", "is_number",
    "is_runtime_scalar", "is_tensor", "is_tile", "plain", "to_expr",
]  # fmt: skip
