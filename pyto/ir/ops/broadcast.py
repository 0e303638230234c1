"""A tile with a column or a row that is spread over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyto.ir import infer
from pyto.ir.nodes import BF16, FP16, FP32, INT8, INT16, INT32, UINT8, UINT16, UINT32, Expr
from pyto.ir.ops import elementwise
from pyto.ir.ops.table import OPS, Composer, OpDef, Way, Ways, declare, ways
from pyto.ir.ops.types import FLOATS, SIGNED, biased

_SHORT = {"maximum": "max", "minimum": "min"}


def _row_expand(base: str) -> Any:
    def compose(c: Composer, a: Any, column: Any, spread: bool = False) -> Expr | None:
        if spread:
            return None
        if c.type(a).shape[1] == 1:
            return c.make(base, a, column)  # type: ignore[no-any-return]
        return c.make(f"row_expand_{_SHORT.get(base, base)}", a, c.brcb(column), spread=True)  # type: ignore[no-any-return]

    return compose


def _col_expand(base: str) -> Any:
    def compose(c: Composer, a: Any, row: Any) -> Expr | None:
        rows, cols = c.type(a).shape
        if cols == 1 and rows > 1:  # one value for all rows: the column lies like a row, so spread it over that
            flat = c.flat(a, f"col_expand_{_SHORT.get(base, base)}")
            spread = c.make(f"row_expand_{_SHORT.get(base, base)}", flat, row)
            return c.reshape(spread, shape=(rows, 1))  # type: ignore[no-any-return]
        return c.make(base, a, row) if rows == 1 else None

    return compose


def _ways(op: OpDef, name: str) -> Ways:
    """As the elementwise op; unsigned extremes are composed in their turn."""
    unsigned = {d: Way("composed", None, lambda c, a, b: biased(c, name, a, b)) for d in SIGNED}
    return {d: unsigned[d] if way.kind == "composed" else way for d, way in op.ways.items()}


def _broadcast(op: OpDef) -> None:
    suffix = _SHORT.get(op.name, op.name)
    common: dict[str, Any] = {
        "params": ("lhs", "rhs"),
        "pipe": "V",
        "cost": op.cost,
        "api": op.api,
        "numpy": op.numpy,
        "in_place": (0,),
        "user": True,
    }
    name = f"row_expand_{suffix}"
    declare(
        name,
        ways=_ways(op, name),
        infer=infer.expand(name, op.dtypes, 0),
        compose=_row_expand(op.name),
        form="row_expand",
        attrs=("spread",),
        signature="lhs, rhs, tmp=None" if op.name == "add" else "",
        doc=f"{op.name} of lhs [R, C] and the column rhs [R, 1] broadcast over the columns.",
        **common,
    )
    name = f"col_expand_{suffix}"
    declare(
        name,
        ways=_ways(op, name),
        infer=infer.expand(name, op.dtypes, 1),
        compose=_col_expand(op.name),
        form="col_expand",
        doc=f"{op.name} of lhs [R, C] and the row rhs [1, C] broadcast over the rows.",
        **common,
    )


def _expdif(kind: str) -> None:
    name = f"{kind}_expand_expdif"
    declare(
        name,
        params=("lhs", "rhs"),
        infer=infer.expand(name, tuple(FLOATS), 0 if kind == "row" else 1),
        ways=ways(FP32, through={FP16: FP32, BF16: FP32}),  # rounded once
        compose=lambda c, a, b: c.exp(c.make(f"{kind}_expand_sub", a, b)),
        pipe="V",
        cost="exp",
        form="expand",
        numpy=lambda a, b: np.exp(a - b),
        user=True,
        doc=f"exp(lhs - rhs), rhs a {'column' if kind == 'row' else 'row'} broadcast over lhs.",
    )


def _row_copies(c: Composer, target: Any, column: Any, spread: bool = False) -> Expr | None:
    if spread:
        return None
    t = c.type(target)
    return c.copy(column) if t.shape[1] == 1 else c.row_expand(target, c.brcb(column), spread=True)  # type: ignore[no-any-return]


def _col_copies(c: Composer, target: Any, row: Any) -> Expr | None:
    rows, cols = c.type(target).shape
    if rows == 1:
        return c.copy(row)  # type: ignore[no-any-return]
    if cols == 1:
        flat = c.row_expand(c.flat(target, "col_expand"), row)
        return c.reshape(flat, shape=(rows, 1))  # type: ignore[no-any-return]
    return None


def _copies(kind: str, compose: Any, doc: str) -> None:
    name, axis = f"{kind}_expand", 0 if kind == "row" else 1
    words = dict.fromkeys((FP32, INT32, UINT32, FP16, BF16, INT16, UINT16), INT16)
    bytes_ = dict.fromkeys((INT8, UINT8), FP16)
    declare(
        name,
        params=("lhs", "rhs"),
        infer=infer.expand(name, (*words, *bytes_), axis),
        ways=ways(bits=words, through=bytes_),
        compose=compose,
        attrs=("spread",) if kind == "row" else (),
        pipe="V",
        cost="add",
        form=name,
        api="Or",
        numpy=lambda target, values: np.broadcast_to(values, target.shape),
        user=True,
        doc=doc,
    )


_expdif("row")
_expdif("col")
_copies("row", _row_copies, "The column rhs [R, 1] repeated over the columns of a tile of the shape of lhs.")
_copies("col", _col_copies, "The row rhs [1, C] repeated over the rows of a tile of the shape of lhs.")

for _name in elementwise.BROADCAST:
    _broadcast(OPS[_name])
