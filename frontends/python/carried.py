"""Values that loops carry: what they start as, and that every iteration hands on the same type."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyto.frontends.python.frame import Frame
from pyto.frontends.python.proofs import at_most, not_negative
from pyto.frontends.python.values import (
    Cascade,
    Poison,
    describe,
    is_number,
    is_runtime_scalar,
    is_tensor,
    is_tile,
    to_expr,
)
from pyto.ir.nodes import INDEX, Expr, ScalarType, TileType, Type, Var
from pyto.ir.scalar import apply, dtype_of, substitute, variables


@dataclass
class Carried:
    name: str
    init: Expr
    type: Type


def candidates(frame: Frame, names: Sequence[str]) -> list[Carried]:
    """Those of `names` whose values a loop can carry: tiles and scalars, numbers among them."""
    out = []
    for name in names:
        value: Any = frame.env.get(name)
        if is_number(value):
            value = to_expr(value)
        if not (is_tile(value) or is_runtime_scalar(value)):
            continue
        type = value.type if isinstance(value, Var) else ScalarType(dtype_of(value))
        out.append(Carried(name, value, type))
    return out


def first_value(frame: Frame, c: Carried, node: ast.AST) -> Expr:
    """The first value, with the valid shape that every iteration can keep."""
    if isinstance(c.type, TileType) and isinstance(c.init, Var) and c.init.type != c.type:
        narrowed: Expr = frame.emit("set_validshape", (c.init, *c.type.valid), {}, node, c.name)
        return narrowed
    return c.init


def settle_type(
    frame: Frame, kind: str, c: Carried, param: Var, outside: frozenset[str], node: ast.AST
) -> Carried | None:
    """The carried value as the next attempt should have it; None if the body leaves it alone after all."""
    end: Any = frame.env.get(c.name)
    if end is param:
        return None
    if kind in ("parallel", "spmd"):
        raise frame.error(
            "parallel-carry",
            f"{c.name} is handed from one iteration of pl.{kind} to the next: they are independent",
            node,
            "use pl.range inside a region, or another name in the loop",
        )
    if isinstance(end, Poison) and end.reason is None:
        raise Cascade("cascade", c.name)
    if isinstance(end, Poison):
        raise frame.error(
            "loop-carried", f"{c.name} has no value at the end of the loop: {end.reason}", node, end.remedy
        )
    if is_number(end):
        end = to_expr(end)
    if isinstance(c.type, TileType) and is_tile(end):
        return _next_tile(frame, c, end, outside, node)
    if isinstance(c.type, ScalarType) and is_runtime_scalar(end) and dtype_of(end) == c.type.dtype:
        return c
    raise _type_change(frame, c, end, node)


def _type_change(frame: Frame, c: Carried, end: Any, node: ast.AST) -> Exception:
    was = "an integer" if c.type == ScalarType(INDEX) else describe(c.init)
    now = "an integer" if is_runtime_scalar(end) and dtype_of(end) == INDEX else describe(end)
    message = f"{c.name} is {was} before the loop and {now} after an iteration: a loop cannot change its type"
    return frame.error(
        "loop-carried", message, node, "give it its final type before the loop, or use another name in the loop"
    )


def _next_tile(frame: Frame, c: Carried, end: Var, outside: frozenset[str], node: ast.AST) -> Carried:
    assert isinstance(c.type, TileType) and isinstance(end.type, TileType)
    if end.type.shape != c.type.shape or end.type.dtype != c.type.dtype:
        raise _type_change(frame, c, end, node)
    session = frame.session
    valid = []
    for have, got in zip(c.type.valid, end.type.valid):
        if at_most(have, got, session.ranges):
            valid.append(have)
            continue
        got = substitute(got, {k: v for k, v in session.lets.items() if k.name not in outside})
        inner = sorted(v.name for v in variables(got) if v.name not in outside)
        if inner:
            raise frame.error(
                "loop-carried",
                f"the valid shape of {c.name} changes between iterations: it depends on {', '.join(inner)}",
                node,
                "give the parts one valid shape, or pl.set_validshape before the loop",
            )
        valid.append(not_negative(apply("min", have, got), session.ranges))
    return Carried(c.name, c.init, TileType(c.type.shape, c.type.dtype, (valid[0], valid[1])))


def last_value(frame: Frame, c: Carried, node: ast.AST) -> Expr:
    """What an iteration hands to the next, of the carried type."""
    end = frame.env[c.name]
    if is_number(end):
        return to_expr(end)
    if isinstance(c.type, TileType) and end.type != c.type:
        narrowed: Expr = frame.emit("set_validshape", (end, *c.type.valid), {}, node, c.name)
        return narrowed
    return end  # type: ignore[no-any-return]


def check_fixed(
    frame: Frame, before: dict[str, Any], live: frozenset[str], carried: list[Carried], node: ast.For | ast.While | ast.With
) -> None:
    """Names that live through the loop but cannot be carried must stay what they are."""
    names = {c.name for c in carried}
    for name in sorted(live):
        old, new = before.get(name), frame.env.get(name)
        if name in names or old is None or old is new or isinstance(old, Poison) or isinstance(new, Poison):
            continue
        if is_tensor(old) or is_tensor(new):
            raise frame.error(
                "loop-carried", f"{name} names another tensor after the loop than before", node, "use two names"
            )
        if not isinstance(old, Expr) and not isinstance(new, Expr) and old == new:
            continue
        raise frame.error(
            "loop-carried",
            f"{name} is {describe(old)} before the loop and {describe(new)} after an iteration",
            node,
            "use two names",
        )
