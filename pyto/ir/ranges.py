"""Where the scalars of a function lie: bounds of loop indices and of named values, for `scalar.bound`."""

from __future__ import annotations

from pyto.ir.nodes import Const, Expr, Op
from pyto.ir.scalar import apply

Range = tuple["Expr | None", "Expr | None"]  # inclusive; None is no bound


def index_range(lo: Expr, hi: Expr, step: Expr) -> Range:
    """Inclusive bounds of a loop's index."""
    if isinstance(step, Const) and isinstance(lo, Const) and isinstance(hi, Const):
        trips = max(0, -(-(hi.value - lo.value) // step.value))
        return lo, Const(lo.value + max(0, trips - 1) * step.value)  # type: ignore[operator]
    return lo, hi - 1


def let_range(op: Op) -> Range:
    """Bounds of what a `let` names: those it carries (value, low, high), or else the value itself."""
    return (op.args[1], op.args[2]) if len(op.args) == 3 else (op.args[0], op.args[0])


def trip_count(lo: Expr, hi: Expr, step: Expr) -> Expr:
    """ceil((hi - lo) / step) of a loop that counts up."""
    assert isinstance(step, Const)
    span = hi - lo
    return span if step.value == 1 else apply("floordiv", span + (int(step.value) - 1), step)
