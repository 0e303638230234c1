"""Bits of integers, and the logic of bools."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyto.ir import infer
from pyto.ir.nodes import BOOL, FP16, INT8, INT16, INT32, UINT8, UINT16, UINT32, Expr
from pyto.ir.ops.elementwise import binary, unary
from pyto.ir.ops.table import Composer, ways
from pyto.ir.ops.types import BITWISE, BYTES, WORDS


def _xor(c: Composer, a: Any, b: Any) -> Expr:
    d = (c.type(a) or c.type(b)).dtype
    if d == BOOL:
        bytes_ = (c.bitcast(x, dtype=UINT8) if c.type(x) is not None else c.scalar(x, UINT8) for x in (a, b))
        return c.bitcast(c.xor(*bytes_), dtype=BOOL)  # type: ignore[no-any-return]
    both = c.and_(a, b)
    return c.and_(c.or_(a, b), c.not_(both))  # type: ignore[no-any-return]


def _not_bool(c: Composer, x: Any) -> Expr:
    return c.bitcast(c.cast(c.sub(1, c.cast(x, FP16)), UINT8), dtype=BOOL)  # type: ignore[no-any-return]


binary("and_", np.bitwise_and, BITWISE, "lhs & rhs, bit by bit; of bools: both.",
       api="And", scalar="bitand", swaps=True, aliases=("ands",))  # fmt: skip
binary("or_", np.bitwise_or, BITWISE, "lhs | rhs, bit by bit; of bools: one of them or both.",
       api="Or", scalar="bitor", swaps=True, aliases=("ors",))  # fmt: skip
unary("not_", np.invert, ways(bits={d: w for d, w in WORDS.items() if d is not BOOL}, composed={BOOL: _not_bool}),
      "~input: every bit the other way; of bools: not.", api="Not", scalar="bitnot")  # fmt: skip
binary("xor", np.bitwise_xor, ways(composed=dict.fromkeys(BITWISE, _xor)),
       "lhs ^ rhs, bit by bit; of bools: just one of them.",
       scalar="bitxor", swaps=True, aliases=("xors",), signature="lhs, rhs, tmp=None")  # fmt: skip


def _shift(name: str) -> Any:
    def compose(c: Composer, a: Any, amount: Any) -> Expr | None:
        t = c.type(a)
        if t is None:
            return c.make(name, c.full(a, shape=c.type(amount).shape, dtype=c.type(amount).dtype), amount)  # type: ignore[no-any-return]
        if c.type(amount) is None:
            return None
        # A shift by a tile: one by 1, one by 2, one by 4, ... where the amount has that bit.
        for k in range(t.dtype.bits.bit_length() - 1):
            bit = c.and_(amount, 1 << k)
            a = c.sel(c.cmp(bit, 0, kind="ne", dtype=BOOL), c.make(name, a, 1 << k), a)
        return a  # type: ignore[no-any-return]

    return compose


def _narrow_shift(name: str) -> Any:
    """8 bits: shifted in 16; only the low bits of a left shift are kept."""

    def compose(c: Composer, a: Any, amount: Any) -> Expr | None:
        wide = [c.cast(x, INT16) if c.type(x) is not None else c.scalar(x, INT16) for x in (a, amount)]
        if c.type(amount) is not None:
            wide[1] = c.and_(wide[1], 7)
        d = (c.type(a) or c.type(amount)).dtype
        return c.wrapped(c.make(name, *wide), d)  # type: ignore[no-any-return]

    return compose


def _masked(fn: Any) -> Any:
    return lambda a, n: fn(a, n & (np.asarray(a).dtype.itemsize * 8 - 1))


def _shifts(name: str, np_: Any, api: str, scalar: str, doc: str) -> None:
    types = (INT32, INT16, UINT32, UINT16)
    binary(name, _masked(np_), ways(*types, composed=dict.fromkeys((INT8, UINT8), _narrow_shift(name))), doc,
           infer=infer.shift(name, (*types, *BYTES)), compose=_shift(name), scalar_api=api, scalar=scalar,
           aliases=(f"{name}s",))  # fmt: skip


_shifts("shl", np.left_shift, "ShiftLeft", "shl", "lhs shifted left by rhs bits; rhs counts modulo the width.")
_shifts("shr", np.right_shift, "ShiftRight", "shr",
        "lhs shifted right by rhs bits (signed types keep their sign); rhs counts modulo the width.")  # fmt: skip
