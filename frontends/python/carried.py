"""Values that loops carry: what they start as, and that every iteration hands on the same type."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from pyto.ir.nodes import INDEX, Const, Expr, ScalarType, TileType, Type, Var
from pyto.ir.scalar import apply, dtype_of, variables


@dataclass
class Carried:
    """A value that a loop carries. Where the valid extent of a tile is not the same in every iteration, the loop
    carries that too: `axes` of the tile; `of` is its tile and axis."""

    name: str
    init: Expr
    type: Type
    axes: tuple[Carried | None, Carried | None] = (None, None)
    of: tuple[str, int] | None = None


def with_extents(carried: Sequence[Carried]) -> list[Carried]:
    """The carried values, extents before their tiles."""
    return [x for c in carried if c.of is None for x in (*(a for a in c.axes if a is not None), c)]


def declare(frame: Frame, carried: Sequence[Carried]) -> list[Var]:
    """New names for carried values: parameters of the block, or results of the loop."""
    out: dict[str, Var] = {}
    for c in carried:
        type = c.type
        if isinstance(type, TileType):
            rows, cols = (v if a is None else out[a.name] for v, a in zip(type.valid, c.axes))
            type = replace(type, valid=(rows, cols))
        out[c.name] = var = frame.session.builder.var(c.name.replace(".", "_"), type)
        if c.of is not None:
            tile = next(t for t in carried if t.name == c.of[0]).type
            assert isinstance(tile, TileType)
            frame.session.ranges[var] = (Const(0), Const(tile.shape[c.of[1]]))
    return list(out.values())


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
    if c.of is not None:
        return c
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
    if isinstance(c.type, ScalarType) and is_runtime_scalar(end):
        kinds = {dtype_of(end).kind, c.type.dtype.kind}
        if dtype_of(end) == c.type.dtype or (kinds <= set("iu") and c.type.dtype == INDEX):
            return c
        if kinds <= set("iu"):  # all integers are computed in 64 bits
            return Carried(c.name, apply("cast", c.init, dtype=INDEX), ScalarType(INDEX))
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
    valid, axes = [], list(c.axes)
    for axis, (have, got) in enumerate(zip(c.type.valid, end.type.valid)):
        if axes[axis] is not None or at_most(have, got, session.ranges):
            valid.append(have)
            continue
        outer = session.seen_from(got, outside)
        inner = sorted(v.name for v in variables(outer) if v.name not in outside)
        if not inner:
            valid.append(not_negative(apply("min", have, outer), session.ranges))
            continue
        if c.type.shape[axis] > 1 and all(v in session.indices for v in variables(outer) if v.name in inner):
            raise frame.error(  # a tail: most of what was accumulated would be lost with its iteration
                "loop-carried",
                f"the valid shape of {c.name} changes between iterations: it depends on {', '.join(inner)}",
                node,
                "give the parts one valid shape, or pl.fillpad the part with what changes nothing",
            )
        assert isinstance(c.init, Var) and isinstance(c.init.type, TileType)
        first = c.init.type.valid[axis]
        name = f"{c.name}.{('rows', 'cols')[axis]}"
        axes[axis] = Carried(name, first, ScalarType(INDEX), of=(c.name, axis))
        valid.append(first)
    return Carried(c.name, c.init, replace(c.type, valid=(valid[0], valid[1])), (axes[0], axes[1]))


def last_value(frame: Frame, c: Carried, node: ast.AST) -> Expr:
    """What an iteration hands to the next, of the carried type."""
    if c.of is not None:
        extent: Expr = frame.env[c.of[0]].type.valid[c.of[1]]
        return extent
    end = frame.env[c.name]
    if is_number(end):
        return to_expr(end)
    if isinstance(c.type, TileType):
        valid = tuple(have if a is None else got for have, got, a in zip(c.type.valid, end.type.valid, c.axes))
        if end.type.valid != valid:
            end = frame.emit("set_validshape", (end, *valid), {}, node, c.name)
    elif isinstance(c.type, ScalarType) and dtype_of(end) != c.type.dtype:
        return apply("cast", end, dtype=c.type.dtype)
    return end  # type: ignore[no-any-return]


def check_fixed(
    frame: Frame,
    before: dict[str, Any],
    live: frozenset[str],
    carried: list[Carried],
    node: ast.For | ast.While | ast.With,
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
