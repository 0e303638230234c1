"""The decorators, and what they keep of a function."""

from __future__ import annotations

import pytest

import pyto.language as pl
from pyto.errors import UsageError
from pyto.language import hooks
from pyto.language.annotations import Directed, DynVar, ScalarAnnotation, TensorAnnotation


def make(width: int):
    B = pl.dynamic("B")

    @pl.jit
    def kernel(x: pl.Tensor[[B, width], pl.FP32], a: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[B, width], pl.BF16]]):
        """Its text."""

    return kernel


def test_annotations_of_strings_see_the_surrounding_function() -> None:
    found = make(48).annotations
    assert found["x"] == TensorAnnotation([DynVar("B"), 48], pl.FP32)
    assert found["a"] == ScalarAnnotation(pl.FP32)
    assert found["y"] == Directed("out", TensorAnnotation([DynVar("B"), 48], pl.BF16))


def test_looks_like_the_function() -> None:
    kernel = make(8)
    assert (kernel.name, kernel.__name__, kernel.__doc__) == ("kernel", "kernel", "Its text.")
    assert "kernel" in repr(kernel)


def test_an_annotation_that_fails_is_kept() -> None:
    @pl.jit
    def kernel(x: pl.Tensor[[nowhere], pl.FP32]):  # noqa: F821
        pass

    assert isinstance(kernel.annotations["x"], NameError)


def test_call_reaches_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(hooks, "call", lambda fn, args, kwargs: seen.append((fn.name, args, kwargs)) or "result")
    assert make(8)(1, 2, y=3) == "result"
    assert seen == [("kernel", (1, 2), {"y": 3})]


def test_decorator_forms() -> None:
    @pl.jit()
    def a():
        pass

    @pl.jit.inline
    def b():
        pass

    @pl.jit.inline()
    def c():
        pass

    assert isinstance(a, pl.JitFunction) and not a.inline
    assert b.inline and c.inline


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda: pl.jit(3), "decorates a Python function, not int"),
        (lambda: pl.jit(make(8)), "decorated with @pl.jit twice"),
        (lambda: pl.jit.extern, "hand-written kernels"),
        (lambda: pl.jit.host, "is not supported yet"),
        (lambda: pl.jit.nothing, "has no 'nothing'"),
    ],
)
def test_misuse_of_the_decorator(use, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        use()


def test_inline_functions_are_not_called_from_python() -> None:
    @pl.jit.inline
    def helper(x):
        return x

    with pytest.raises(UsageError, match="kernels call it, Python cannot"):
        helper(1)


def test_dims_compute() -> None:
    n = pl.dynamic("N")
    assert str(n) == "pl.dynamic('N')" and n == pl.dynamic("N") and hash(n) == hash(pl.dynamic("N"))
    assert n + 1 == n.var + 1 and 2 * n == 2 * n.var and (n - 1) // 4 % 3 == (n.var - 1) // 4 % 3
    assert 8 - n == 8 - n.var and n + n == n.var + n.var


@pytest.mark.parametrize("name", [None, 3, "two words", ""])
def test_a_dim_has_a_name(name):
    with pytest.raises(UsageError) as raised:
        pl.dynamic(name)
    assert "Python identifier" in str(raised.value)
