"""Operations that are nothing but compositions of others, whatever the element type."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyto.ir import infer
from pyto.ir.nodes import BF16, BOOL, FP16, FP32, INT8, INT16, INT32, UINT8, UINT16, Const, DType, Expr
from pyto.ir.ops import broadcast
from pyto.ir.ops.elementwise import binary
from pyto.ir.ops.table import OPS, Composer, Way, Ways, declare, ways
from pyto.ir.ops.types import ALL, FLOATS, WRAPPING, lowest

__all__ = ["broadcast"]


def of(types: Ways) -> Ways:
    """The same element types, each by the composition of the op itself."""
    return {d: Way("composed") for d in types}


def _three(name: str, sign: str, scalar: bool, doc: str) -> None:
    one = "add" if sign == "+" else "sub"
    declare(
        name,
        params=("lhs", "rhs", "rhs2"),
        infer=infer.three(name, tuple(WRAPPING)),
        ways=of(WRAPPING),
        compose=lambda c, a, b, d: c.make(one, c.make(one, a, b), d),
        scalars=(0, 1, 2) if scalar else (),
        pipe="V",
        cost="add",
        form="composed",
        numpy=(lambda a, b, d: a + b + d) if sign == "+" else (lambda a, b, d: a - b - d),
        user=True,
        doc=doc,
    )


_three("addc", "+", False, "lhs + rhs + rhs2, three tiles.")
_three("subc", "-", False, "lhs - rhs - rhs2, three tiles.")
_three("addsc", "+", True, "lhs + rhs + rhs2, rhs a scalar.")
_three("subsc", "-", True, "lhs - rhs - rhs2, rhs a scalar.")

binary(
    "prelu",
    lambda x, slope: np.where(x > 0, x, x * slope),
    of(FLOATS),
    "input where it is positive, else slope * input, slope a tile.",
    params=("input", "slope"),
    scalars=(),
    form="composed",
    in_place=(),
    compose=lambda c, x, slope: c.sel(c.cmp(x, 0, kind="gt", dtype=c.type(x).dtype), x, c.mul(x, slope)),
    signature="input, slope, tmp=None",
)


# ----------------------------------------------------------------------------------------------------------- remainders


def _remainder(mode: str) -> Any:
    """fmod (mode trunc) has the sign of lhs, rem (mode floor) that of rhs."""

    def compose(c: Composer, a: Any, b: Any) -> Expr:
        tile = a if c.type(a) is not None else b
        d, t = c.type(tile).dtype, c.type(tile)
        x, y = (c.as_type(v, FP32) for v in (a, b))
        x, y = (
            v if c.type(v) is not None else c.limited(c.full(v, shape=t.shape, dtype=FP32), t.valid) for v in (x, y)
        )
        if d.kind != "f":  # of up to 16 bits: fp32 holds quotient, product and remainder
            quotient = c.cast(c.cast(c.div(x, y), INT32, mode), FP32)
            return c.cast(c.sub(x, c.mul(quotient, y)), d)  # type: ignore[no-any-return]
        size, by = c.abs(x), c.abs(y)
        quotient = c.cast(c.cast(c.div(size, by), INT32, "trunc"), FP32)
        # The product in two halves of 12 bits each, both exact; the quotient may be one too large.
        high = c.bitcast(c.and_(c.bitcast(by, dtype=INT32), -4096), dtype=FP32)
        rest = c.sub(c.sub(size, c.mul(quotient, high)), c.mul(quotient, c.sub(by, high)))
        rest = c.sel(c.cmp(rest, 0, kind="lt", dtype=BOOL), c.add(rest, by), rest)
        rest = c.sel(c.cmp(x, 0, kind="lt", dtype=BOOL), c.mul(rest, -1), rest)
        if mode == "floor":
            other = c.cmp(c.mul(rest, c.mul(y, _SIGN)), 0, kind="lt", dtype=BOOL)
            rest = c.sel(other, c.add(rest, y), rest)
        return c.cast(rest, d)  # type: ignore[no-any-return]

    return compose


_SIGN = 1.2676506002282294e30  # 2^100: a product of tiny numbers of different sign does not become zero


def _numpy_remainder(fn: Any) -> Any:
    return lambda a, b: fn(a, b) if a.dtype.kind == "f" else np.where(b == 0, a, fn(a, np.where(b == 0, 1, b)))


def _remainders(name: str, mode: str, np_: Any, sign: str, signature: str) -> None:
    types = (FP32, FP16, BF16, INT16, UINT16, INT8, UINT8)
    binary(name, _numpy_remainder(np_), ways(composed=dict.fromkeys(types, _remainder(mode))),
           f"The remainder of lhs / rhs with the sign of {sign}; of floats exact while |lhs / rhs| < 4096; "
           "of integers by 0: lhs.",
           form="composed", in_place=(), aliases=(f"{name}s",), signature=signature)  # fmt: skip


_remainders("fmod", "trunc", lambda a, b: np.fmod(a, b), "lhs", "")
_remainders("rem", "floor", lambda a, b: np.mod(a, b), "rhs", "lhs, rhs, tmp=None")

# ------------------------------------------------------------------------------------------------- parts, repetitions


def _part(name: str, base: str, neutral: float, types: Ways) -> None:
    def compose(c: Composer, a: Any, b: Any) -> Expr:
        t, u = c.type(a), c.type(b)
        if t.valid == u.valid:
            return c.make(base, a, b)  # type: ignore[no-any-return]
        limits = infer.join(t.valid, u.valid)
        fill = Const(neutral if t.dtype.kind == "f" else _clamp(neutral, t.dtype), t.dtype)
        whole = (v if c.type(v).is_full else c.fillpad(v, fill) for v in (a, b))
        return c.limited(c.make(base, *whole), limits)  # type: ignore[no-any-return]

    declare(
        name,
        params=("lhs", "rhs"),
        infer=infer.part(name, tuple(types)),
        ways=of(types),
        compose=compose,
        pipe="V",
        cost="add",
        form="part",
        numpy=OPS[base].numpy,
        user=True,
        doc=f"{base} of two tiles where both are valid; where one is, that one.",
    )


def _clamp(value: float, d: DType) -> int:
    low, high = (lowest(d), -1 - lowest(d)) if d.kind == "i" else (0, (1 << d.bits) - 1)
    return int(max(low, min(value, high)))


_part("part_add", "add", 0, WRAPPING)
_part("part_mul", "mul", 1, WRAPPING)
_part("part_max", "maximum", -np.inf, OPS["maximum"].ways)
_part("part_min", "minimum", np.inf, OPS["minimum"].ways)


def _expand_clone(c: Composer, src: Any, target: Any) -> Expr:
    (rows, cols), (have_rows, have_cols) = c.type(target).shape, c.type(src).shape
    if (rows, cols) == (have_rows, have_cols):
        return c.copy(src)  # type: ignore[no-any-return]
    if have_rows == rows:
        return c.row_expand(target, src)  # type: ignore[no-any-return]
    if have_cols != cols:
        src = c.row_expand(c.slice(target, Const(0), Const(0), shape=(1, cols)), src)
    return src if rows == 1 else c.col_expand(target, src)  # type: ignore[no-any-return]


declare(
    "expand_clone",
    params=("src", "target"),
    infer=infer.clone,
    ways=of(OPS["row_expand"].ways),
    compose=_expand_clone,
    pipe="V",
    cost="add",
    form="composed",
    numpy=lambda src, target: np.broadcast_to(src, target.shape),
    user=True,
    doc="src, a column, a row or one value, repeated over a tile of the shape of target.",
)


def _expands(c: Composer, target: Any, value: Any) -> Expr:
    t = c.type(target)
    return c.limited(c.full(value, shape=t.shape, dtype=t.dtype), t.valid)  # type: ignore[no-any-return]


declare(
    "expands",
    params=("target", "scalar"),
    infer=infer.with_scalar("expands", ALL),
    ways=of(ways(*ALL)),
    compose=_expands,
    scalars=(1,),
    pipe="V",
    cost="add",
    form="composed",
    numpy=lambda target, value: np.full(target.shape, value, target.dtype),
    user=True,
    doc="A tile of the shape and type of target, filled with the scalar.",
)
