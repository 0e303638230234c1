"""What every vector operation of `pl` computes, as numpy does it: one row an operation, for all its element types.

A row: the call on tiles a, b, c of one shape (`col` and `row` are a column and a row of such a tile, `m` is a mask),
and its meaning on the arrays. Floats are given in float64, and what comes out is rounded to the result's type.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Row = tuple[str, Callable[..., Any]]


def shift(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, n: fn(a, (n & (a.dtype.itemsize * 8 - 1)).astype(a.dtype))


def whole(a: Array, b: Any, fn: Any) -> Array:
    """A remainder; of integers by 0 the dividend."""
    if a.dtype.kind == "f":
        return fn(a, b)
    return np.where(np.equal(b, 0), a, fn(a, np.where(np.equal(b, 0), 1, b)).astype(a.dtype))


def total(fn: Any, axis: int) -> Any:
    kept = fn in (np.max, np.min)
    return lambda a: fn(a, axis=axis, keepdims=True, **({} if kept else {"dtype": a.dtype}))


ROWS_OF: dict[str, list[Row]] = {
    "add": [("pl.add(a, b)", operator.add), ("a + 3", lambda a: a + 3), ("2 + a", lambda a: a + 2)],
    "sub": [("a - b", operator.sub), ("pl.sub(a, 3)", lambda a: a - 3), ("5 - a", lambda a: 5 - a)],
    "mul": [("a * b", operator.mul), ("pl.muls(a, 3)", lambda a: a * 3)],
    "div": [("a / b", operator.truediv), ("2 / b", lambda b: 2 / b), ("a / 3", lambda a: a / 3)],
    "maximum": [("pl.maximum(a, b)", np.maximum), ("pl.maximum(a, 5)", lambda a: np.maximum(a, 5))],
    "minimum": [("pl.minimum(a, b)", np.minimum), ("pl.minimum(a, 5)", lambda a: np.minimum(a, 5))],
    "neg": [("-a", lambda a: -a)],
    "abs": [("pl.abs(a)", np.abs)],
    "relu": [("pl.relu(a)", lambda a: np.maximum(a, 0))],
    "lrelu": [("pl.lrelu(a, 0.25)", lambda a: np.where(a >= 0, a, a * 0.25))],
    "prelu": [("pl.prelu(a, b)", lambda a, b: np.where(a > 0, a, a * b))],
    "exp": [("pl.exp(a)", np.exp)],
    "log": [("pl.log(pl.abs(a))", lambda a: np.log(np.abs(a)))],
    "sqrt": [("pl.sqrt(pl.abs(a))", lambda a: np.sqrt(np.abs(a)))],
    "rsqrt": [("pl.rsqrt(pl.abs(a))", lambda a: 1 / np.sqrt(np.abs(a)))],
    "recip": [("pl.recip(a)", lambda a: 1 / a)],
    "square": [("pl.square(a)", lambda a: a * a)],
    "sigmoid": [("pl.sigmoid(a)", lambda a: 1 / (1 + np.exp(-a)))],
    "and_": [("a & b", operator.and_), ("pl.ands(a, 1)", lambda a: a & 1)],
    "or_": [("pl.or_(a, b)", operator.or_)],
    "xor": [("a ^ b", operator.xor)],
    "not_": [("~a", operator.invert)],
    "shl": [("pl.shl(a, b)", shift(operator.lshift)), ("a << 3", lambda a: a << 3)],
    "shr": [("pl.shr(a, b)", shift(operator.rshift)), ("a >> 3", lambda a: a >> 3)],
    "cmp": [
        *((f"a {sign} b", fn) for sign, fn in (
            ("<", operator.lt), ("<=", operator.le), (">", operator.gt), (">=", operator.ge),
            ("==", operator.eq), ("!=", operator.ne))),
        ("a < 1", lambda a: a < 1),
        ("pl.cmp(a, b, cmp_type=4)", lambda a, b: (a > b).astype(a.dtype)),
    ],
    "sel": [
        ("pl.sel(a < b, a, b)", lambda a, b: np.where(a < b, a, b)),
        ("pl.sel(m, a, 1)", lambda m, a: np.where(m, a, a.dtype.type(1))),
        ("pl.sels(b, a, None, 0)", lambda b, a: np.where(b != 0, a, a.dtype.type(0))),
    ],
    "fmod": [("pl.fmod(a, b)", lambda a, b: whole(a, b, np.fmod)), ("pl.fmods(a, 7)", lambda a: whole(a, 7, np.fmod))],
    "rem": [("pl.rem(a, b)", lambda a, b: whole(a, b, np.mod)), ("a % 7", lambda a: whole(a, 7, np.mod))],
    "addc": [("pl.addc(a, b, c)", lambda a, b, c: a + b + c)],
    "subc": [("pl.subc(a, b, c)", lambda a, b, c: a - b - c)],
    "addsc": [("pl.addsc(a, 3, c)", lambda a, c: a + 3 + c)],
    "subsc": [("pl.subsc(a, 3, c)", lambda a, c: a - 3 - c)],
    "part_add": [("pl.part_add(a, b)", operator.add)],
    "part_mul": [("pl.part_mul(a, b)", operator.mul)],
    "part_max": [("pl.part_max(a, b)", np.maximum)],
    "part_min": [("pl.part_min(a, b)", np.minimum)],
    "expands": [("pl.expands(a, 1)", lambda a: np.full_like(a, 1))],
    "expand_clone": [("pl.expand_clone(row, a)", lambda row, a: np.broadcast_to(row, a.shape))],
    "row_expand": [("pl.row_expand(a, col)", lambda a, col: np.broadcast_to(col, a.shape))],
    "col_expand": [("pl.col_expand(a, row)", lambda a, row: np.broadcast_to(row, a.shape))],
    "row_expand_expdif": [("pl.row_expand_expdif(a, col)", lambda a, col: np.exp(a - col))],
    "col_expand_expdif": [("pl.col_expand_expdif(a, row)", lambda a, row: np.exp(a - row))],
    "row_sum": [("pl.row_sum(a)", total(np.sum, 1))],
    "col_sum": [("pl.col_sum(a)", total(np.sum, 0))],
    "row_max": [("pl.row_max(a)", total(np.max, 1))],
    "col_max": [("pl.col_max(a)", total(np.max, 0))],
    "row_min": [("pl.row_min(a)", total(np.min, 1))],
    "col_min": [("pl.col_min(a)", total(np.min, 0))],
    "row_prod": [("pl.row_prod(a)", total(np.prod, 1))],
    "col_prod": [("pl.col_prod(a)", total(np.prod, 0))],
    "row_argmax": [("pl.row_argmax(a)", lambda a: a.argmax(1)[:, None])],
    "row_argmin": [("pl.row_argmin(a)", lambda a: a.argmin(1)[:, None])],
    "col_argmax": [("pl.col_argmax(a)", lambda a: a.argmax(0)[None])],
    "col_argmin": [("pl.col_argmin(a)", lambda a: a.argmin(0)[None])],
}  # fmt: skip
for _short, _fn in (("add", operator.add), ("sub", operator.sub), ("mul", operator.mul), ("div", operator.truediv),
                    ("max", np.maximum), ("min", np.minimum)):  # fmt: skip
    ROWS_OF[f"row_expand_{_short}"] = [(f"pl.row_expand_{_short}(a, col)", _fn)]
    ROWS_OF[f"col_expand_{_short}"] = [(f"pl.col_expand_{_short}(a, row)", _fn)]
