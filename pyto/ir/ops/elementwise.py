"""Operations on tiles element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pyto.ir import infer
from pyto.ir.nodes import BF16, FP16, FP32, INT8, INT16, INT32, UINT8, UINT16, UINT32, Const, Expr
from pyto.ir.ops.table import Composer, Ways, declare, ways
from pyto.ir.ops.types import ALL, FLOATS, SIGNED, WRAPPING, biased
from pyto.ir.scalar import apply

Numpy = Callable[..., Any]

_VECTOR: dict[str, Any] = {"pipe": "V", "cost": "add", "form": "elementwise", "user": True}


def unary(name: str, np_: Numpy, types: Ways, doc: str, **fields: Any) -> None:
    """One tile to one of the same shape and type."""
    declare(
        name,
        params=("input",),
        ways=types,
        numpy=np_,
        doc=doc,
        **({"infer": infer.unary(name, tuple(types)), "in_place": (0,)} | _VECTOR | fields),
    )


def binary(name: str, np_: Numpy, types: Ways, doc: str, **fields: Any) -> None:
    """Two tiles of one shape, or a tile and a scalar on either side."""
    declare(
        name,
        ways=types,
        numpy=np_,
        doc=doc,
        **(
            {"params": ("lhs", "rhs"), "infer": infer.binary(name, tuple(types)), "in_place": (0, 1), "scalars": (0, 1)}
            | _VECTOR
            | fields
        ),
    )


# ------------------------------------------------------------------------------------------------------- compositions


def _sub(c: Composer, a: Any, b: Any) -> Expr | None:
    if c.type(a) is None:
        return c.add(c.mul(b, -1), a)  # type: ignore[no-any-return]
    if c.type(b) is None:
        return c.add(a, apply("neg", b))  # type: ignore[no-any-return]
    return None


def _div(c: Composer, a: Any, b: Any, fast: bool = False) -> Expr | None:
    if not fast:
        return None
    if c.type(b) is None:
        return c.mul(a, apply("div", Const(1.0, FP32), b))  # type: ignore[no-any-return]
    inverse = c.recip(b, fast=True)
    return c.mul(inverse, a)  # type: ignore[no-any-return]


def _recip(c: Composer, x: Any, fast: bool = False) -> Expr | None:
    return None if fast else c.div(1, x)


def _rsqrt(c: Composer, x: Any, fast: bool = False) -> Expr | None:
    return None if fast else c.div(1, c.sqrt(x))


def _abs_integer(c: Composer, x: Any) -> Expr:
    return c.maximum(x, c.mul(x, -1))  # type: ignore[no-any-return]


def _same(c: Composer, x: Any) -> Expr:
    return x  # type: ignore[no-any-return]


def _extreme(name: str) -> Ways:
    """The larger or smaller: fp16 holds all bytes."""
    unsigned = dict.fromkeys(SIGNED, lambda c, a, b: biased(c, name, a, b))
    return ways(FP32, FP16, INT32, INT16, through={BF16: FP32, INT8: FP16, UINT8: FP16}, composed=unsigned)


# ---------------------------------------------------------------------------------------------------------- arithmetic

binary("add", np.add, WRAPPING, "lhs + rhs; rhs a tile of the same shape or a scalar.",
       api="Add", scalar_api="Adds", scalar="add", swaps=True, aliases=("adds",))  # fmt: skip
binary("sub", np.subtract, WRAPPING, "lhs - rhs.",
       api="Sub", scalar="sub", compose=_sub, aliases=("subs",))  # fmt: skip
binary("mul", np.multiply, WRAPPING, "lhs * rhs.",
       api="Mul", scalar_api="Muls", scalar="mul", swaps=True, cost="mul", aliases=("muls",))  # fmt: skip
binary("div", np.divide, FLOATS, "lhs / rhs, correctly rounded in fp32; fast=True: by Reciprocal, an approximation.",
       api="Div", scalar="div", cost="div", aliases=("divs",), compose=_div, attrs=("fast",),
       signature="lhs, rhs, high_precision=False, fast=False")  # fmt: skip
binary("maximum", np.maximum, _extreme("maximum"), "The larger of lhs and rhs.",
       api="Max", scalar_api="Maxs", scalar="max", swaps=True, aliases=("maximums",))  # fmt: skip
binary("minimum", np.minimum, _extreme("minimum"), "The smaller of lhs and rhs.",
       api="Min", scalar_api="Mins", scalar="min", swaps=True, aliases=("minimums",))  # fmt: skip

unary("neg", lambda x: np.negative(x), WRAPPING, "-input.", compose=lambda c, x: c.mul(x, -1), scalar="neg")
unary("abs", np.abs,
      ways(FP32, FP16, through={BF16: FP32}, wrapping={INT8: INT16},
           composed=dict.fromkeys((INT32, INT16), _abs_integer) | dict.fromkeys((UINT32, UINT16, UINT8), _same)),
      "|input|; the lowest value of a signed type stays as it is.", api="Abs")  # fmt: skip
unary("relu", lambda x: np.maximum(x, 0),
      ways(FP32, FP16, INT32, through={BF16: FP32, INT8: FP16},
           composed={INT16: lambda c, x: c.maximum(x, 0)} | dict.fromkeys((UINT32, UINT16, UINT8), _same)),
      "max(input, 0).", api="Relu")  # fmt: skip
binary("lrelu", lambda x, slope: np.where(x >= 0, x, x * slope), FLOATS,
       "input where it is not negative, else slope * input.", infer=infer.with_scalar("lrelu", tuple(FLOATS)),
       params=("input", "slope"), scalars=(1,), scalar_api="LeakyRelu", in_place=(0,))  # fmt: skip

unary("exp", np.exp, FLOATS, "e to the input.", api="Exp", cost="exp")
unary("log", lambda x: np.log(x), FLOATS, "Natural logarithm.", api="Ln", cost="exp",
      signature="input, high_precision=False")  # fmt: skip
unary("sqrt", np.sqrt, FLOATS, "Square root.", api="Sqrt", cost="sqrt")
unary("rsqrt", lambda x: np.float32(1) / np.sqrt(x), FLOATS,
      "1 / sqrt(input), by Sqrt and Div; fast=True: the chip's Rsqrt, an approximation.", api="Rsqrt", cost="sqrt",
      compose=_rsqrt, attrs=("fast",), signature="input, high_precision=False, fast=False")  # fmt: skip
unary("recip", lambda x: np.float32(1) / x, FLOATS,
      "1 / input, by Div; fast=True: the chip's Reciprocal, an approximation.", api="Reciprocal", cost="exp",
      compose=_recip, attrs=("fast",), signature="input, high_precision=False, fast=False")  # fmt: skip

unary("square", np.square, WRAPPING, "input * input.", compose=lambda c, x: c.mul(x, x))
unary("sigmoid", lambda x: 1 / (1 + np.exp(-x)), ways(FP32, through={FP16: FP32, BF16: FP32}), "1 / (1 + exp(-input)).",
      compose=lambda c, x: c.recip(c.add(c.exp(c.neg(x)), 1)), cost="exp")  # fmt: skip

declare(
    "cast",
    params=("input",),
    attrs=("target_type", "mode"),
    signature="input, target_type, mode='rint'",
    infer=infer.cast,
    ways=ways(*ALL),
    pipe="V",
    cost="add",
    form="cast",
    api="Cast",
    user=True,
    doc="Another element type: to floats rounding to nearest even, to integers saturating, NaN to 0 "
    "(mode: rint, round, floor, ceil, trunc, or their numbers 1 to 5; none is rint), to bool whether it is not zero.",
)

BROADCAST = ("add", "sub", "mul", "div", "maximum", "minimum")  # those with row_expand_* and col_expand_*

__all__ = ["BROADCAST", "binary", "unary"]
