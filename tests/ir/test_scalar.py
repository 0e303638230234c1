"""Scalar expressions: simplification and bounds never change or exceed a value."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pyto.ir.nodes import INDEX, Apply, Const, Expr, ScalarType, Var
from pyto.ir.scalar import KnownRanges, apply, bound, evaluate, linear, rebuild, simplify

X, Y, B = (Var(n, ScalarType(INDEX)) for n in ("x", "y", "B"))
RANGES = {X: (Const(0), B - 1), Y: (Const(0), Const(7)), B: (Const(1), None)}


def trees() -> st.SearchStrategy[Expr]:
    leaves = st.one_of(st.sampled_from([X, Y, B]), st.integers(-20, 300).map(Const))

    def grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        linear_ops = st.tuples(st.sampled_from(["add", "sub", "min", "max", "mul"]), inner, inner)
        divisions = st.tuples(st.sampled_from(["floordiv", "mod"]), inner, st.integers(1, 64).map(Const))
        return st.one_of(linear_ops, divisions).map(lambda t: Apply(t[0], (t[1], t[2])))

    return st.recursive(leaves, grow, max_leaves=8)


@settings(max_examples=400, deadline=None)
@given(trees(), st.integers(1, 200), st.data())
def test_simplify_keeps_the_value(expr: Expr, b: int, data: st.DataObject) -> None:
    env = {B: b, X: data.draw(st.integers(0, b - 1)), Y: data.draw(st.integers(0, 7))}
    assert evaluate(simplify(expr, RANGES), env) == evaluate(expr, env)


@settings(max_examples=400, deadline=None)
@given(trees(), st.integers(1, 200), st.data())
def test_bounds_hold(expr: Expr, b: int, data: st.DataObject) -> None:
    env = {B: b, X: data.draw(st.integers(0, b - 1)), Y: data.draw(st.integers(0, 7))}
    value = evaluate(expr, env)
    low, high = bound(expr, RANGES, False), bound(expr, RANGES, True)
    assert low is None or low <= value
    assert high is None or value <= high


@settings(max_examples=200, deadline=None)
@given(trees(), st.integers(1, 200), st.data())
def test_linear_form_is_the_expression(expr: Expr, b: int, data: st.DataObject) -> None:
    env = {B: b, X: data.draw(st.integers(0, b - 1)), Y: data.draw(st.integers(0, 7))}
    assert evaluate(rebuild(linear(expr)), env) == evaluate(expr, env)


def test_a_row_of_its_own_is_full() -> None:
    assert simplify(apply("min", Const(1), B - X), RANGES) == Const(1)


def test_tail_of_a_strided_loop_is_at_least_one() -> None:
    assert bound(apply("min", Const(64), B - X), RANGES, False) == 1


def test_exact_division() -> None:
    assert simplify((X * 64 + 5) // 64, RANGES) == X
    assert simplify((X * 64 + Y) % 64, RANGES) == Y


def test_what_was_simplified_is_forgotten_when_a_range_changes() -> None:
    ranges = KnownRanges({B: (Const(0), None)})
    expr = apply("min", Const(16), B)
    assert simplify(expr, ranges) == expr
    for change, left in (
        (lambda: ranges.__setitem__(B, (Const(16), None)), Const(16)),
        (lambda: ranges.update({B: (Const(0), Const(8))}), B),
        (lambda: ranges.pop(B), expr),
        (lambda: ranges.__ior__({B: (Const(16), None)}), Const(16)),
        (lambda: ranges.pop(B), expr),
        (lambda: ranges.setdefault(B, (Const(0), Const(3))), B),
    ):
        change()
        assert simplify(expr, ranges) == left
