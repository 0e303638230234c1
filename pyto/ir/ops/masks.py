"""Comparisons and choices.

A comparison gives 0 and 1, in bools (`a < b`) or in the element type of its left side (`pl.cmp`). On the chip it writes
one bit an element (`compare`), and a choice (`select`) reads such bits: what is only chosen by is never written out.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pyto.ir import infer
from pyto.ir.nodes import BF16, BOOL, FP16, FP32, INT8, INT16, INT32, UINT8, UINT16, UINT32, Expr
from pyto.ir.ops.elementwise import binary
from pyto.ir.ops.table import LOWERED, Composer, declare, ways
from pyto.ir.ops.types import ALL, lowest

KINDS = ("eq", "ne", "lt", "le", "gt", "ge")  # by the numbers of cmp_type
MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
# Compared in another type that holds all values: an instruction takes only fp32, fp16 and, for equality, int32.
_COMPARED = {BF16: FP32, INT16: FP32, UINT16: FP32, INT8: FP16, UINT8: FP16, BOOL: FP16}


def _numpy_cmp(a: Any, b: Any, kind: str) -> Any:
    return getattr(operator, kind)(a, b)


def compare(c: Composer, a: Any, b: Any, kind: str) -> tuple[Any, Any]:
    """The bits of a comparison, and the tile whose elements they belong to."""
    if c.type(a) is None:
        a, b, kind = b, a, MIRRORED[kind]
    d = c.type(a).dtype
    if d in _COMPARED:
        a, b = (c.as_type(x, _COMPARED[d]) for x in (a, b))
    inverted = False
    if d in (INT32, UINT32):
        if d == UINT32:
            low = 0 if kind in ("eq", "ne") else lowest(d)
            a = c.bitcast(a, dtype=INT32)
            b = c.scalar(b, INT32, low) if c.type(b) is None else c.bitcast(b, dtype=INT32)
            if low:
                a, b = c.add(a, low), c.add(b, low) if c.type(b) is not None else b
        whole = a
        if kind in ("lt", "ge"):  # a < b: the larger is not a
            whole = c.maximum(a, b)
            b = a
        elif kind in ("gt", "le"):
            whole = c.minimum(a, b)
            b = a
        inverted, kind, a = kind in ("ne", "lt", "gt"), "eq", whole
    bits = c.make("compare", c.dense(a), b if c.type(b) is None else c.dense(b), kind=kind)
    return (c.not_(bits) if inverted else bits), a


def _cmp(c: Composer, a: Any, b: Any, kind: str, dtype: Any) -> Expr:
    bits, like = compare(c, a, b, kind)
    t = c.type(like)
    lane = FP32 if t.dtype.bytes == 4 else FP16
    one = c.full(1.0, shape=t.shape, dtype=lane)
    out = c.make("select", bits, c.limited(one, t.valid), 0.0)
    if dtype in (BOOL, INT8, UINT8):
        out = c.cast(c.cast(out, FP16), INT8 if dtype == INT8 else UINT8)
    out = c.bitcast(out, dtype=BOOL) if dtype == BOOL else c.cast(out, dtype)
    return c.remember(out, bits, t)  # type: ignore[no-any-return]


binary("cmp", _numpy_cmp, ways(composed=dict.fromkeys(ALL, _cmp)),
       "Compares element by element (cmp_type: 0 ==, 1 !=, 2 <, 3 <=, 4 >, 5 >=; or the operators): 1 where it holds, "
       "else 0, in the element type of lhs. The operators give bools.",
       infer=infer.cmp, attrs=("kind", "dtype"), numpy_attrs=("kind",), form="cmp", in_place=(), aliases=("cmps",),
       signature="lhs, rhs, cmp_type=0")  # fmt: skip


def _bits_of(c: Composer, mask: Any, lane: Any, like: Any) -> Any:
    """One bit an element of `like`: set where `mask` is not zero."""
    known = c.known_bits(mask, like)
    if known is not None:
        return known
    d = c.type(mask).dtype
    if d == UINT32:
        mask = c.bitcast(mask, dtype=INT32)
    if d.kind == "f" and d != lane and lane == FP16:  # what is tiny in fp32 is zero in fp16
        mask = c.cmp(mask, 0, kind="ne", dtype=d)
    return compare(c, c.cast(mask, lane), 0, "ne")[0]


def _sel(c: Composer, mask: Any, a: Any, b: Any) -> Expr:
    like = a if c.type(a) is not None else b
    d = c.type(like).dtype
    if d in (INT8, UINT8):
        return c.cast(c.sel(mask, *(c.as_type(x, FP16) for x in (a, b))), d)  # type: ignore[no-any-return]
    if d == BOOL:
        bytes_ = (c.scalar(x, UINT8) if c.type(x) is None else c.bitcast(x, dtype=UINT8) for x in (a, b))
        return c.bitcast(c.sel(mask, *bytes_), dtype=BOOL)  # type: ignore[no-any-return]
    lane = FP32 if d.bytes == 4 else FP16
    t = c.type(like)
    bits = _bits_of(c, mask, lane, t)
    spread = [x if c.type(x) is not None else c.limited(c.full(x, shape=t.shape, dtype=d), t.valid) for x in (a, b)]
    return c.make("select", bits, c.dense(spread[0]), b if d == lane and c.type(b) is None else c.dense(spread[1]))  # type: ignore[no-any-return]


declare(
    "sel",
    params=("mask", "lhs", "rhs"),
    signature="mask, lhs, rhs, tmp=None",
    infer=infer.sel,
    ways=ways(composed=dict.fromkeys(ALL, _sel)),
    scalars=(1, 2),
    pipe="V",
    cost="add",
    form="sel",
    numpy=lambda mask, a, b: np.where(mask != 0, a, b),
    user=True,
    doc="lhs where mask is not zero, else rhs; one of the two may be a scalar.",
)
declare(
    "compare",
    params=("lhs", "rhs"),
    attrs=("kind",),
    infer=infer.compare,
    pipe="V",
    cost="add",
    form="compare",
    api="Compare",
    scalar_api="CompareScalar",
    stages=LOWERED,
    doc="One bit an element, padding included: [R, C] -> [1, bytes].",
)
declare(
    "select",
    params=("bits", "lhs", "rhs"),
    infer=infer.select,
    ways=ways(FP32, FP16, bits={INT32: FP32, UINT32: FP32, BF16: FP16, INT16: FP16, UINT16: FP16}),
    pipe="V",
    cost="add",
    form="select",
    api="Select",
    in_place=(1, 2),
    stages=LOWERED,
    doc="lhs where the bit is set, else rhs.",
)
