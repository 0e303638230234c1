"""A tile with a column or a row that is spread over it."""

from __future__ import annotations

from typing import Any

from pyto.ir import infer
from pyto.ir.nodes import Expr
from pyto.ir.ops import elementwise
from pyto.ir.ops.table import OPS, Composer, OpDef, declare

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


def _broadcast(op: OpDef) -> None:
    suffix = _SHORT.get(op.name, op.name)
    common: dict[str, Any] = {
        "params": ("lhs", "rhs"),
        "ways": op.ways,
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
        infer=infer.expand(name, op.dtypes, 1),
        compose=_col_expand(op.name),
        form="col_expand",
        doc=f"{op.name} of lhs [R, C] and the row rhs [1, C] broadcast over the rows.",
        **common,
    )


for _name in elementwise.BROADCAST:
    _broadcast(OPS[_name])
