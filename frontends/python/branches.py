"""`if` on a run-time condition: both branches are parsed, and what they leave in a name becomes one value."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyto.frontends.python.frame import Frame
from pyto.frontends.python.jumps import RETURNED
from pyto.frontends.python.liveness import assigned
from pyto.frontends.python.values import Poison, describe, is_number, is_runtime_scalar, is_tensor, is_tile, to_expr
from pyto.ir.nodes import BOOL, FP32, INDEX, Block, Const, DType, Expr, Op, ScalarType, TileType, Type, Var, replace
from pyto.ir.scalar import apply, dtype_of, variables


def truth(condition: Expr) -> Expr:
    """A scalar as the condition that Python takes it for."""
    d = dtype_of(condition)
    return condition if d.kind == "b" else apply("ne", condition, Const(0.0 if d.kind == "f" else 0, d), dtype=BOOL)


@dataclass
class _Join:
    """The results of one `if`, with what each of the two branches gives for them."""

    frame: Frame
    node: ast.If | ast.IfExp
    condition: Expr
    outside: frozenset[str]
    results: list[Var] = field(default_factory=list)
    ends: tuple[list[Expr], list[Expr]] = field(default_factory=lambda: ([], []))

    def blocks(self, *ways: Callable[[], None]) -> list[tuple[dict[str, Any], list[Op]]]:
        """Parses the two branches: the names after each, and its operations."""
        frame, session = self.frame, self.frame.session
        before, out = dict(frame.env), []
        frame.nested += 1
        try:
            for way, holds in zip(ways, (True, False)):
                frame.env = dict(before)
                with session.builder.block() as ops, session.assuming(self.condition, holds):
                    way()
                out.append((frame.env, ops))
        finally:
            frame.nested -= 1
            frame.env = before
        return out

    def op(self, *bodies: list[Op]) -> Op:
        loc = self.frame.loc(self.node)
        blocks = (Block((), (*ops, Op("yield", tuple(e), loc=loc))) for ops, e in zip(bodies, self.ends))
        return Op("if", (self.condition,), tuple(self.results), {}, tuple(blocks), self.frame.loc(self.node.test))

    def add(self, name: str, type: Type, a: Expr, b: Expr) -> Var:
        result = self.frame.session.builder.var(name, type)
        self.results.append(result)
        self.ends[0].append(a)
        self.ends[1].append(b)
        return result

    def known_outside(self, expr: Expr) -> Expr | None:
        """An expression in terms of what exists before the `if`."""
        found = self.frame.session.seen_from(expr, self.outside)
        return found if all(v.name in self.outside for v in variables(found)) else None

    def value(self, name: str, a: Any, b: Any) -> Any:
        """What `name` is after the `if`, from what it is at the end of either branch."""
        line, said = self.node.lineno, "what the function returns" if name == RETURNED else name
        for mine, other in ((a, b), (b, a)):
            if mine is None:
                if isinstance(other, Poison):
                    return other
                return Poison(
                    f"{said} is assigned in one branch only of the if at line {line}", "assign it before the if"
                )
            if isinstance(mine, Poison):
                return mine
        if a is b or (not isinstance(a, Expr) and not isinstance(b, Expr) and type(a) is type(b) and a == b):
            return a
        if isinstance(a, (tuple, list)) and type(a) is type(b) and len(a) == len(b):
            parts = [self.value(name, *pair) for pair in zip(a, b)]
            broken = next((p for p in parts if isinstance(p, Poison)), None)
            return broken or type(a)(parts)
        x: Any
        y: Any
        x, y = (to_expr(v) if is_number(v) else v for v in (a, b))
        if is_tile(x) and is_tile(y) and x.type.shape == y.type.shape and x.dtype == y.dtype:
            return self.tile(name, x, y)
        if all(is_runtime_scalar(v) for v in (x, y)) and not (is_tile(x) or is_tile(y)):
            return self.scalar(name, x, y)
        what = " and ".join(f"{describe(v)} in {w}" for v, w in ((a, "one branch"), (b, "the other")))
        if is_tensor(a) and is_tensor(b):
            what = "another tensor in one branch than in the other"
        return Poison(f"{said} is {what} of the if at line {line}", "use two names")

    def scalar(self, name: str, x: Expr, y: Expr) -> Any:
        d = _common(dtype_of(x), dtype_of(y))
        x, y = (e if dtype_of(e) == d else apply("cast", e, dtype=d) for e in (x, y))
        if self.frame.session.region is not None:
            return self.add(name, ScalarType(d), x, y)
        outer = self.known_outside(x), self.known_outside(y)
        if outer[0] is None or outer[1] is None:
            return Poison(f"{name} depends on what exists in one branch only of the if at line {self.node.lineno}")
        return self.frame.name_scalar(name, apply("select", self.condition, *outer, dtype=d), self.node)  # type: ignore[arg-type]

    def tile(self, name: str, x: Var, y: Var) -> Var:
        assert isinstance(x.type, TileType) and isinstance(y.type, TileType)
        valid = []
        for a, b, size, hint in zip(x.type.valid, y.type.valid, x.type.shape, ("rows", "cols")):
            same = self.known_outside(a)
            if same is None or same != self.known_outside(b):
                same = self.add(f"{name}_{hint}", ScalarType(INDEX), a, b)
                self.frame.session.ranges[same] = (Const(0), Const(size))
            valid.append(same)
        return self.add(name, replace(x.type, valid=(valid[0], valid[1])), x, y)


def _common(a: DType, b: DType) -> DType:
    if a == b:
        return a
    return FP32 if "f" in (a.kind, b.kind) else INDEX


def run_branches(frame: Frame, condition: Expr, node: ast.If) -> None:
    session = frame.session
    before, errors = dict(frame.env), len(session.errors)
    names = sorted(assigned([*node.body, *node.orelse]))
    live = frame.source.liveness(frame.node).after_if.get(node, frozenset())
    join = _Join(frame, node, truth(condition), frozenset(session.builder.names.used))
    with session.branch():
        (one, first), (other, second) = join.blocks(lambda: frame.block(node.body), lambda: frame.block(node.orelse))
    if len(session.errors) > errors:
        frame.env.update((n, Poison(None)) for n in names if not is_tensor(before.get(n)))
        return
    at = len(session.builder.ops)
    for name in names:
        if name in live:
            frame.env[name] = join.value(name, one.get(name), other.get(name))
        elif any(env.get(name) is not before.get(name) for env in (one, other)):
            frame.env[name] = Poison(f"{name} was assigned in the if at line {node.lineno}", "assign it after the if")
    session.builder.ops.insert(at, join.op(first, second))


def choose(frame: Frame, condition: Expr, node: ast.IfExp, hint: str) -> Any:
    """The value of `a if condition else b`, of which only one is computed."""
    session = frame.session
    join = _Join(frame, node, truth(condition), frozenset(session.builder.names.used))
    values: list[Any] = []
    (_, first), (_, second) = join.blocks(
        lambda: values.append(frame.expr(node.body)), lambda: values.append(frame.expr(node.orelse))
    )
    at = len(session.builder.ops)
    value = join.value(hint or "choice", *values)
    if isinstance(value, Poison):
        raise frame.error("undefined-name", value.reason or "", node, value.remedy)
    session.builder.ops.insert(at, join.op(first, second))
    return value


__all__ = ["choose", "run_branches", "truth"]
