"""A row or a column of a tile to one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pyto.ir import infer
from pyto.ir.nodes import BF16, BOOL, FP16, FP32, INT8, INT16, INT32, UINT8, UINT16, UINT32, Const, DType, Expr, const
from pyto.ir.ops.table import LOWERED, Composer, Way, Ways, declare, ways
from pyto.ir.ops.types import SIGNED, biased, lowest

# Extremes of integers that a float holds go through it; sums of bytes would wrap at once.
EXTREMES = ways(
    FP32, FP16, INT32, through={BF16: FP32, INT16: FP32, UINT16: FP32, INT8: FP16, UINT8: FP16},
)  # fmt: skip
SUMS = ways(FP32, INT32, INT16, through={FP16: FP32, BF16: FP32})


def _neutral(value: float, d: DType) -> float:
    return value if d.kind == "f" else int(max(lowest(d), min(value, -1 - lowest(d))))


def _fill(c: Composer, value: Any, axis: int, neutral: float) -> Any:
    """The tile with neutral elements where `axis` is not valid (the other axis keeps its valid extent)."""
    t = c.type(value)
    if t.valid[axis] == const(t.shape[axis]):
        return value
    padded = c.fillpad(value, Const(_neutral(neutral, t.dtype), t.dtype))
    keep = (t.valid[0], const(t.shape[1])) if axis == 1 else (const(t.shape[0]), t.valid[1])
    return c.set_validshape(padded, *keep)


def _window(c: Composer, value: Any, row: int, col: int, shape: tuple[int, int]) -> Any:
    return value if shape == c.type(value).shape else c.slice(value, Const(row), Const(col), shape=shape)


def _fold(c: Composer, value: Any, combine: str, neutral: float) -> Any:
    """Rows that no instruction reduces: down to a block, then every even element with its odd neighbour."""
    t = c.type(value)
    rows, cols = t.shape
    unit = 32 // t.dtype.bytes
    if cols % unit:  # whole blocks: the rest of the last holds neutral elements
        whole = -(-cols // unit) * unit
        room = c.assemble(c.empty(shape=(rows, whole), dtype=t.dtype), value, Const(0), Const(0))
        filled = c.fillpad(c.limited(room, (t.valid[0], const(cols))), Const(neutral, t.dtype))
        value, cols = c.limited(filled, (t.valid[0], const(whole))), whole
    part = _window(c, value, 0, 0, (rows, unit))
    for x in range(unit, cols, unit):
        part = c.make(combine, part, _window(c, value, 0, x, (rows, unit)), hint="part")
    value = c.dense(part)
    for _ in range(unit.bit_length() - 1):
        value = c.make(combine, *(c.every_other(value, odd=odd) for odd in (False, True)), hint="fold")
    return c.reshape(value, shape=(rows, 1))


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
        if c.type(value).dtype.kind != "f" or kind == "prod":
            return _fold(c, value, combine, _neutral(neutral, c.type(value).dtype))
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


def _numpy(np_: Any, axis: int, neutral: float) -> Any:
    def apply(x: Any) -> Any:
        empty = neutral
        if x.dtype.kind in "iu":
            limits = np.iinfo(x.dtype)
            empty = int(max(limits.min, min(neutral, limits.max)))
        return np_(
            x,
            axis=axis,
            keepdims=True,
            initial=x.dtype.type(empty),
            **({} if np_ in (np.max, np.min) else {"dtype": x.dtype}),
        )

    return apply


def reduction(kind: str, np_: Any, combine: str, neutral: float, types: Ways, note: str, more: dict[str, Ways]) -> None:
    """row_KIND and col_KIND."""
    for prefix, axis, by in (("row", 1, by_rows), ("col", 0, by_columns)):
        name = f"{prefix}_{kind}"
        declare(
            name,
            params=("input",),
            infer=infer.reduce(name, (*types, *more[name]), axis),
            ways={**types, **more[name]},
            compose=by(combine, neutral, kind),
            pipe="V",
            cost="reduce",
            form="reduce",
            numpy=_numpy(np_, axis, neutral),
            user=True,
            signature="input, tmp_tile=None",
            doc=f"{kind} over the valid {'columns' if axis else 'rows'}: [R, C] -> {'[R, 1]' if axis else '[1, C]'}"
            + note,
        )


def _unsigned(kind: str) -> dict[str, Ways]:
    """More ways of row_KIND and col_KIND."""
    return {
        f"{axis}_{kind}": ways(composed={UINT32: lambda c, x, name=f"{axis}_{kind}": biased(c, name, x)})
        for axis in ("row", "col")
    }


def _as_signed(kind: str) -> dict[str, Ways]:
    """Sums and products of unsigned integers: those of signed ones, bit by bit."""

    def compose(c: Composer, x: Any, name: str) -> Expr:
        d = c.type(x).dtype
        return c.bitcast(c.make(name, c.bitcast(x, dtype=SIGNED[d])), dtype=d)  # type: ignore[no-any-return]

    return {
        name: ways(composed=dict.fromkeys(SIGNED, lambda c, x, name=name: compose(c, x, name)))
        for name in (f"row_{kind}", f"col_{kind}")
    }


reduction("sum", np.sum, "add", 0.0, SUMS, "; 16-bit floats are summed in fp32.", _as_signed("sum"))
reduction("max", np.max, "maximum", -np.inf, EXTREMES, ".", _unsigned("max"))
reduction("min", np.min, "minimum", np.inf, EXTREMES, ".", _unsigned("min"))
reduction("prod", np.prod, "mul", 1.0, SUMS, "; 16-bit floats are multiplied in fp32.", _as_signed("prod"))

# -------------------------------------------------------------------------------------------------- where extremes are


def _position(kind: str, axis: int) -> Callable[..., Expr]:
    """The smallest index whose element is the extreme: the least of the indices where it is and the last elsewhere."""
    line, across = ("row", "col") if axis == 1 else ("col", "row")

    def compose(c: Composer, x: Any) -> Expr:
        d = c.type(x).dtype
        if d == UINT32:
            x = c.add(c.bitcast(x, dtype=INT32), lowest(INT32))
        elif d != INT32:
            x = c.cast(x, FP32)
        t = c.type(x)
        size = t.shape[axis]
        if size == 1:
            shape = (t.shape[0], 1) if axis == 1 else (1, t.shape[1])
            valid = (t.valid[0], const(1)) if axis == 1 else (const(1), t.valid[1])
            return c.limited(c.full(0, shape=shape, dtype=INT32), valid)  # type: ignore[no-any-return]
        hit = c.cmp(x, c.make(f"{line}_expand", x, c.make(f"{line}_{kind}", x)), kind="eq", dtype=BOOL)
        indices = c.cast(c.arange(Const(0), shape=(1, size), dtype=INT32, descending=False), t.dtype)
        if axis == 0:
            indices = c.reshape(indices, shape=(size, 1))
        found = c.make(f"{line}_min", c.sel(hit, c.make(f"{across}_expand", x, indices), size - 1))
        return c.cast(found, INT32)  # type: ignore[no-any-return]

    return compose


def _argument(kind: str) -> None:
    np_ = np.argmax if kind == "max" else np.argmin
    types = {d: Way("composed") for d in (*EXTREMES, UINT32)}
    for prefix, axis in (("row", 1), ("col", 0)):
        name = f"{prefix}_arg{kind}"
        declare(
            name,
            params=("input",),
            infer=infer.argument(name, tuple(types), axis),
            ways=types,
            compose=_position(kind, axis),
            pipe="V",
            cost="reduce",
            form="reduce",
            numpy=lambda x, axis=axis: np_(x, axis=axis, keepdims=True) if x.size else np.zeros((1, 1), np.int32),
            user=True,
            signature="input, tmp_tile=None",
            doc=f"Where the {kind} over the valid {'columns' if axis else 'rows'} is, as int32; of equals the first.",
        )


_argument("max")
_argument("min")

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
