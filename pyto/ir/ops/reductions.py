"""A row or a column of a tile to one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pyto.ir import infer
from pyto.ir.nodes import BF16, FP16, FP32, Const, Expr, const
from pyto.ir.ops.table import LOWERED, Composer, Ways, declare, ways

FLOATS = ways(FP32, FP16, through={BF16: FP32})
SUMS = ways(FP32, through={FP16: FP32, BF16: FP32})


def _fill(c: Composer, value: Any, axis: int, neutral: float) -> Any:
    """The tile with neutral elements where `axis` is not valid (the other axis keeps its valid extent)."""
    t = c.type(value)
    if t.valid[axis] == const(t.shape[axis]):
        return value
    padded = c.fillpad(value, Const(neutral, t.dtype))
    keep = (t.valid[0], const(t.shape[1])) if axis == 1 else (const(t.shape[0]), t.valid[1])
    return c.set_validshape(padded, *keep)


def _window(c: Composer, value: Any, row: int, col: int, shape: tuple[int, int]) -> Any:
    return value if shape == c.type(value).shape else c.slice(value, Const(row), Const(col), shape=shape)


def by_rows(combine: str, neutral: float, kind: str) -> Callable[..., Expr | None]:
    """Halves of the columns combined until a repeat is left, which one instruction reduces."""

    def compose(c: Composer, value: Any) -> Expr:
        value = _fill(c, value, 1, neutral)
        rows, cols = c.type(value).shape
        lanes = c.lanes(value)
        if cols == 1:
            return value  # type: ignore[no-any-return]
        while cols % 2 == 0 and (cols // 2) % lanes == 0:
            cols //= 2
            halves = (_window(c, value, 0, x, (rows, cols)) for x in (0, cols))
            value = c.make(combine, *halves, hint="half")
        if cols <= lanes:
            return c.whole_reduce(value, kind=kind)  # type: ignore[no-any-return]
        part = _window(c, value, 0, 0, (rows, lanes))
        for x in range(lanes, cols - lanes + 1, lanes):
            part = c.make(combine, part, _window(c, value, 0, x, (rows, lanes)), hint="part")
        total = c.whole_reduce(part, kind=kind)
        if cols % lanes:
            rest = _window(c, value, 0, cols - cols % lanes, (rows, cols % lanes))
            total = c.make(combine, total, c.make("whole_reduce", rest, hint="tail", kind=kind))
        return total  # type: ignore[no-any-return]

    return compose


def by_columns(combine: str, neutral: float, kind: str) -> Callable[..., Expr | None]:
    """Halves of the rows combined until one is left."""

    def compose(c: Composer, value: Any) -> Expr:
        rows, cols = c.type(value).shape
        if cols == 1 and rows > 1:  # a column lies like a row
            return c.make(f"row_{kind}", c.flat(value, f"col_{kind}"))  # type: ignore[no-any-return]
        value = _fill(c, value, 0, neutral)
        parts = []
        while rows > 1:
            if rows % 2:
                parts.append(_window(c, value, rows - 1, 0, (1, cols)))
            rows //= 2
            halves = (_window(c, value, r, 0, (rows, cols)) for r in (0, rows))
            value = c.make(combine, *halves, hint="half")
        for part in parts:
            value = c.make(combine, value, part, hint="part")
        return value  # type: ignore[no-any-return]

    return compose


def reduction(kind: str, np_: Any, combine: str, neutral: float, types: Ways, note: str, **row: Any) -> None:
    """row_KIND and col_KIND."""
    for prefix, axis, by in (("row", 1, by_rows), ("col", 0, by_columns)):
        name = f"{prefix}_{kind}"
        declare(
            name,
            params=("input",),
            infer=infer.reduce(name, tuple(types), axis),
            ways=types,
            compose=by(combine, neutral, kind),
            pipe="V",
            cost="reduce",
            form="reduce",
            numpy=lambda x, axis=axis: np_(x, axis=axis, keepdims=True, initial=neutral),
            user=True,
            signature="input, tmp_tile=None" if name != "col_max" and name != "col_min" else "",
            doc=f"{kind} over the valid {'columns' if axis else 'rows'}: [R, C] -> {'[R, 1]' if axis else '[1, C]'}"
            + note,
            **row,
        )


reduction("sum", np.sum, "add", 0.0, SUMS, "; 16-bit inputs are summed in fp32.")
reduction("max", np.max, "maximum", -np.inf, FLOATS, ".")
reduction("min", np.min, "minimum", np.inf, FLOATS, ".")

declare(
    "whole_reduce",
    params=("src",),
    attrs=("kind",),
    infer=infer.reduce("whole_reduce", (), 1),
    pipe="V",
    cost="reduce",
    form="whole_reduce",
    api="WholeReduceSum",
    stages=LOWERED,
    doc="One repeat a row: [R, <= 64] -> [R, 1].",
)
