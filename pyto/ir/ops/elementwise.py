"""Operations on tiles element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pyto.ir import infer
from pyto.ir.nodes import BF16, FP16, FP32, INT16, INT32, Expr
from pyto.ir.ops.table import Composer, Ways, declare, ways
from pyto.ir.scalar import apply

Numpy = Callable[..., Any]

FLOATS = ways(FP32, FP16, through={BF16: FP32})
ARITHMETIC = ways(FP32, FP16, INT32, INT16, through={BF16: FP32})


def unary(name: str, np_: Numpy, types: Ways, doc: str, **fields: Any) -> None:
    """One tile to one of the same shape and type."""
    fields = {"infer": infer.unary(name, tuple(types)), "cost": "add", "form": "elementwise"} | fields
    declare(
        name,
        params=("input",),
        ways=types,
        numpy=np_,
        pipe="V",
        in_place=(0,),
        user=True,
        doc=doc,
        **fields,
    )


def binary(name: str, np_: Numpy, types: Ways, doc: str, **fields: Any) -> None:
    """Two tiles of one shape, or a tile and a scalar on either side."""
    fields = {"infer": infer.binary(name, tuple(types)), "cost": "add", "form": "elementwise"} | fields
    declare(
        name,
        params=("lhs", "rhs"),
        ways=types,
        numpy=np_,
        pipe="V",
        in_place=(0, 1),
        scalars=(0, 1),
        user=True,
        doc=doc,
        **fields,
    )


# ------------------------------------------------------------------------------------------------------- compositions


def _sub(c: Composer, a: Any, b: Any) -> Expr | None:
    if c.type(a) is None:
        return c.add(c.mul(b, -1), a)  # type: ignore[no-any-return]
    if c.type(b) is None:
        return c.add(a, apply("neg", b))  # type: ignore[no-any-return]
    return None


def _neg(c: Composer, x: Any) -> Expr:
    return c.mul(x, -1)  # type: ignore[no-any-return]


def _recip(c: Composer, x: Any) -> Expr:
    return c.div(1, x)  # type: ignore[no-any-return]


def _rsqrt(c: Composer, x: Any) -> Expr:
    return c.div(1, c.sqrt(x))  # type: ignore[no-any-return]


# ---------------------------------------------------------------------------------------------------------- arithmetic

binary("add", np.add, ARITHMETIC, "lhs + rhs; rhs a tile of the same shape or a scalar.",
       api="Add", scalar_api="Adds", scalar="add", swaps=True, aliases=("adds",))  # fmt: skip
binary("sub", np.subtract, ARITHMETIC, "lhs - rhs.",
       api="Sub", scalar="sub", compose=_sub, aliases=("subs",))  # fmt: skip
binary("mul", np.multiply, ARITHMETIC, "lhs * rhs.",
       api="Mul", scalar_api="Muls", scalar="mul", swaps=True, cost="mul", aliases=("muls",))  # fmt: skip
binary("div", np.divide, FLOATS, "lhs / rhs, correctly rounded in fp32.",
       api="Div", scalar="div", cost="div", aliases=("divs",),
       signature="lhs, rhs, high_precision=False, fast=False")  # fmt: skip
binary("maximum", np.maximum, ARITHMETIC, "The larger of lhs and rhs.",
       api="Max", scalar_api="Maxs", scalar="max", swaps=True, aliases=("maximums",))  # fmt: skip
binary("minimum", np.minimum, ARITHMETIC, "The smaller of lhs and rhs.",
       api="Min", scalar_api="Mins", scalar="min", swaps=True, aliases=("minimums",))  # fmt: skip

unary("neg", np.negative, ARITHMETIC, "-input.", compose=_neg)
unary("abs", np.abs, FLOATS, "|input|.", api="Abs")
unary("relu", lambda x: np.maximum(x, 0), ways(FP32, FP16, INT32, through={BF16: FP32}), "max(input, 0).", api="Relu")

unary("exp", np.exp, FLOATS, "e to the input.", api="Exp", cost="exp")
unary("log", lambda x: np.log(x), FLOATS, "Natural logarithm.", api="Ln", cost="exp",
      signature="input, high_precision=False")  # fmt: skip
unary("sqrt", np.sqrt, FLOATS, "Square root.", api="Sqrt", cost="sqrt")
unary("rsqrt", lambda x: np.float32(1) / np.sqrt(x), FLOATS, "1 / sqrt(input), by Sqrt and Div (accurate).",
      compose=_rsqrt, signature="input, high_precision=False, fast=False")  # fmt: skip
unary("recip", lambda x: np.float32(1) / x, FLOATS, "1 / input, by Div (accurate).",
      compose=_recip, signature="input, high_precision=False, fast=False")  # fmt: skip

declare(
    "cast",
    params=("input",),
    attrs=("target_type", "mode"),
    signature="input, target_type, mode='rint'",
    infer=infer.cast,
    pipe="V",
    cost="add",
    form="cast",
    api="Cast",
    user=True,
    doc="Another element type: to floats rounding to nearest even, to integers saturating "
    "(mode: rint, round, floor, ceil, trunc).",
)

BROADCAST = ("add", "sub", "mul", "div", "maximum", "minimum")  # those with row_expand_* and col_expand_*

__all__ = ["ARITHMETIC", "BROADCAST", "FLOATS", "binary", "unary"]
