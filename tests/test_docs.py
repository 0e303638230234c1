"""The code blocks of the documentation run, and give what the text around them says."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyto import compiler
from pyto.errors import LaunchError

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """The code blocks of language.md as one module."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "language.md").read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path_factory.mktemp("docs") / "language_page.py"
    path.write_text("\n\n".join(blocks), encoding="utf-8")
    return SimpleNamespace(**compiler.find_kernels(path))


def rows(n: int, cols: int = 64) -> Any:
    return np.random.default_rng(n).standard_normal((n, cols)).astype(np.float32)


@pytest.mark.parametrize("n", [1, 16, 37])
def test_row_means(language: SimpleNamespace, n: int) -> None:
    x = rows(n, 96)
    np.testing.assert_allclose(language.row_means(x), x.mean(1, keepdims=True), atol=1e-6)


@pytest.mark.parametrize(("n", "times"), [(8, 1), (21, 3), (5, 2)])
def test_two_steps(language: SimpleNamespace, n: int, times: int) -> None:
    x, y = rows(n), rows(n)
    want, whole = y.copy(), n // 8 * 8
    want[:whole] += times * x[:whole] * 0.5 + sum(range(times))
    language.two_steps(x, times, y)
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("m", "n"), [(32, 64), (50, 150), (1, 3)])
def test_attend(language: SimpleNamespace, m: int, n: int) -> None:
    q, k, v = (rows(r).astype(ml_dtypes.bfloat16) for r in (m, n, n + 1))
    scores = q.astype(np.float64) @ k.astype(np.float64).T / 8
    p = np.exp(scores - scores.max(1, keepdims=True))
    want = p @ v[:n].astype(np.float64) / p.sum(1, keepdims=True)
    got = language.attend(q, k, v[:n])
    assert np.linalg.norm(got - want) <= 8e-3 * np.linalg.norm(want)


def test_follow(language: SimpleNamespace) -> None:
    x, links = rows(6), np.array([3, -1, 0, 5, 1, 1], np.int32)
    want = np.maximum(x[0], x[3]) + x[5]
    np.testing.assert_allclose(language.follow(links, x), np.maximum(want, x[1])[None], rtol=1e-6)


def test_checked(language: SimpleNamespace) -> None:
    x = rows(6)
    np.testing.assert_array_equal(language.checked(x, 4), x[4:5])
    with pytest.raises(LaunchError, match=r"no such row; first = 6, N = 6"):
        language.checked(x, 6)


def test_scaled(language: SimpleNamespace) -> None:
    x = rows(50, 128)
    np.testing.assert_array_equal(language.scaled(x), x * 2)
