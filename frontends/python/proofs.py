"""What is known of extents: comparing expressions of nested min and max, and dropping arms that never decide."""

from __future__ import annotations

from collections.abc import Mapping

from pyto.ir.nodes import Apply, Const, Expr, Var, const
from pyto.ir.scalar import Ranges, apply, bound, simplify, substitute, variables


def at_most(a: Expr, b: Expr, ranges: Ranges, depth: int = 6) -> bool:
    """Whether a <= b is certain."""
    if a == b:
        return True
    if depth == 0:
        return False
    if isinstance(b, Apply) and b.op == "min":
        return all(at_most(a, arm, ranges, depth - 1) for arm in b.args)
    if isinstance(a, Apply) and a.op == "max":
        return all(at_most(arm, b, ranges, depth - 1) for arm in a.args)
    if isinstance(a, Apply) and a.op == "min" and any(at_most(arm, b, ranges, depth - 1) for arm in a.args):
        return True
    if isinstance(b, Apply) and b.op == "max" and any(at_most(a, arm, ranges, depth - 1) for arm in b.args):
        return True
    high = bound(a - b, ranges, True)
    return high is not None and high <= 0


def tidy(expr: Expr, ranges: Ranges) -> Expr:
    """`expr` simplified, without arms of min and max that `ranges` show to be idle."""
    expr = simplify(expr, ranges)
    if not isinstance(expr, Apply) or expr.op not in ("min", "max"):
        return expr
    arms: list[Expr] = []
    for arm in _arms(expr, expr.op, ranges):
        if not any(_covers(expr.op, kept, arm, ranges) for kept in arms):
            arms = [kept for kept in arms if not _covers(expr.op, arm, kept, ranges)] + [arm]
    out = arms[0]
    for arm in arms[1:]:
        out = apply(expr.op, out, arm)
    return out


def _covers(op: str, one: Expr, other: Expr, ranges: Ranges) -> bool:
    return at_most(one, other, ranges) if op == "min" else at_most(other, one, ranges)


def _arms(expr: Apply, op: str, ranges: Ranges) -> list[Expr]:
    out: list[Expr] = []
    for arm in expr.args:
        if isinstance(arm, Apply) and arm.op == op:
            out += _arms(arm, op, ranges)
        else:
            out.append(tidy(arm, ranges))
    return out


def settle(condition: Expr, ranges: Ranges) -> Expr:
    """A condition simplified, and decided where one side of `and` or `or` decides it."""
    if isinstance(condition, Apply) and condition.op in ("and", "or"):
        a, b = (settle(arm, ranges) for arm in condition.args)
        decisive = condition.op == "or"
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Const):
                return one if bool(one.value) == decisive else other
        return apply(condition.op, a, b)
    if isinstance(condition, Apply) and condition.op == "not":
        return apply("not", settle(condition.args[0], ranges))
    return simplify(condition, ranges)


def not_negative(expr: Expr, ranges: Ranges) -> Expr:
    """max(0, expr), or `expr` where it cannot be negative."""
    return tidy(apply("max", const(0), tidy(expr, ranges)), ranges)


def constant(expr: Expr, ranges: Ranges, lets: Mapping[Var, Expr]) -> int | None:
    """The integer that `expr` is, if that is known; `lets` defines names."""
    found = simplify(expr, ranges)
    if not isinstance(found, Const):
        found = simplify(substitute(found, lets), ranges)
    return int(found.value) if isinstance(found, Const) else None


_OPPOSITE = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def assumed(condition: Expr, holds: bool, ranges: Ranges) -> dict[Var, tuple[Expr | None, Expr | None]]:
    """The ranges of scalars where `condition` holds, or where it does not."""
    out = dict(ranges)
    if not isinstance(condition, Apply):
        return out
    if condition.op == "not":
        return assumed(condition.args[0], not holds, ranges)
    if condition.op == ("and" if holds else "or"):
        for part in condition.args:
            out = assumed(part, holds, out)
        return out
    op = condition.op if holds else _OPPOSITE.get(condition.op, "")
    if op not in _MIRRORED or condition.args[0].dtype.kind not in "iu":  # type: ignore[attr-defined]
        return out
    a, b = condition.args
    for var, name, other in ((a, op, b), (b, _MIRRORED[op], a)):
        if not isinstance(var, Var) or var in variables(other):
            continue
        low, high = out.get(var, (None, None))
        if name in ("lt", "le", "eq"):
            new = other - 1 if name == "lt" else other
            high = new if high is None or at_most(new, high, ranges) else high
        if name in ("gt", "ge", "eq"):
            new = other + 1 if name == "gt" else other
            low = new if low is None or at_most(low, new, ranges) else low
        out[var] = low, high
        break
    return out
