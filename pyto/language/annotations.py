"""What a kernel's signature is written with: `Tensor`, `Tile`, `Scalar`, `Out`, `InOut`, `dynamic`.

Nothing is checked here: the front end does it, where a mistake has a place in the source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyto.errors import UsageError
from pyto.ir.nodes import INDEX, Expr, ScalarType, Var


@dataclass(frozen=True)
class DynVar:
    """A dimension known at launch only. Two of the same name are the same dimension."""

    name: str

    @property
    def var(self) -> Var:
        return Var(self.name, ScalarType(INDEX))

    def __add__(self, other: Any) -> Expr:
        return self.var + _expr(other)

    def __radd__(self, other: Any) -> Expr:
        return _expr(other) + self.var

    def __sub__(self, other: Any) -> Expr:
        return self.var - _expr(other)

    def __rsub__(self, other: Any) -> Expr:
        return _expr(other) - self.var

    def __mul__(self, other: Any) -> Expr:
        return self.var * _expr(other)

    def __rmul__(self, other: Any) -> Expr:
        return _expr(other) * self.var

    def __floordiv__(self, other: Any) -> Expr:
        return self.var // _expr(other)

    def __mod__(self, other: Any) -> Expr:
        return self.var % _expr(other)

    def __repr__(self) -> str:
        return f"pl.dynamic({self.name!r})"


def _expr(value: Any) -> Any:
    return value.var if isinstance(value, DynVar) else value


def dynamic(name: str) -> DynVar:
    """A dimension whose size is known at launch only, for `pl.Tensor[[dynamic, ...], dtype]`.

    name: a Python identifier; the same name is the same dimension everywhere. In a kernel it is an integer.
    """
    if not isinstance(name, str) or not name.isidentifier():
        text = f"pl.dynamic takes the name of a dimension, a Python identifier, not {name!r}"
        raise UsageError("bad-argument", text, remedy='pl.dynamic("B")')
    return DynVar(name)


@dataclass(frozen=True)
class TensorAnnotation:
    """`pl.Tensor[dims, dtype]`; `dims` and `dtype` as written. `kind` is tensor or tile."""

    dims: Any
    dtype: Any
    kind: str = "tensor"


@dataclass(frozen=True)
class ScalarAnnotation:
    dtype: Any


@dataclass(frozen=True)
class Directed:
    """`pl.Out[...]` and `pl.InOut[...]`."""

    direction: str
    inner: Any


def _pair(item: Any) -> tuple[Any, Any]:
    return item if isinstance(item, tuple) and len(item) == 2 else (item, None)


class Tensor:
    """A row-major tensor in device memory: `pl.Tensor[[rows, columns], pl.FP32]`; bare on inline functions: any."""

    def __class_getitem__(cls, item: Any) -> TensorAnnotation:
        return TensorAnnotation(*_pair(item))


class Tile:
    """A tile on a core, on parameters of inline functions: `pl.Tile[[rows, columns], pl.FP32]`."""

    def __class_getitem__(cls, item: Any) -> TensorAnnotation:
        return TensorAnnotation(*_pair(item), kind="tile")


class Scalar:
    """A scalar argument: `pl.Scalar[pl.FP32]`."""

    def __class_getitem__(cls, item: Any) -> ScalarAnnotation:
        return ScalarAnnotation(item)


class Out:
    """A tensor that the kernel writes: `pl.Out[pl.Tensor[...]]`. Its contents before the call are not read."""

    def __class_getitem__(cls, item: Any) -> Directed:
        return Directed("out", item)


class InOut:
    """A tensor that the kernel reads and writes: `pl.InOut[pl.Tensor[...]]`."""

    def __class_getitem__(cls, item: Any) -> Directed:
        return Directed("inout", item)
