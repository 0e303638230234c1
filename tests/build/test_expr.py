"""Expressions over dims in a manifest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyto.build.expr import compile_expr, evaluate
from pyto.errors import InternalError


@pytest.mark.parametrize(
    "text,value",
    [
        ("0", 0), ("", 0), ("B * 20480", 102400), ("ceil_div(B, 16)", 1), ("align(B * 4, 64) + 32", 96), ("-B + 6", 1),
        ("min(B, 3) * max(M, 2)", 21), ("B * M / 2", 17), ("B * M % 4 // 2", 1), ("(B + 1) * 2", 12), (64, 64),
    ],
)  # fmt: skip
def test_values(text: str | int, value: int) -> None:
    assert evaluate(text, {"B": 5, "M": 7}) == value


def test_names() -> None:
    assert compile_expr("align(B * 4, 64) + M")[1] == {"B", "M"}


@pytest.mark.parametrize(
    "text", ["B.real", "B ** 2", "open('x')", "B if M else 1", "1.5", "B <", "min(B, key=1)", "'a'"]
)
def test_refused(text: str) -> None:
    with pytest.raises(InternalError, match="manifest"):
        compile_expr(text)


@given(st.integers(0, 10**6), st.integers(1, 10**4))
def test_ceil_div_and_align(a: int, b: int) -> None:
    dims = {"A": a, "B": b}
    assert evaluate("ceil_div(A, B)", dims) == (a + b - 1) // b
    aligned = evaluate("align(A, B)", dims)
    assert aligned % b == 0 and 0 <= aligned - a < b
