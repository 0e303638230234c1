"""Steps of a product: they fit twice into L0, and tile the operands."""

from __future__ import annotations

import itertools

import pytest

from pyto.ir.nodes import BF16, FP32, INT8
from pyto.passes.matmul_steps import choose_steps
from pyto.target import DEFAULT_CHIP


@pytest.mark.parametrize("dtype", [BF16, FP32, INT8])
def test_steps_fit_and_divide(dtype: object) -> None:
    for m, n, k in itertools.product((1, 16, 48, 64, 128, 250), (5, 16, 64, 192, 256, 512), (16, 64, 100, 512, 1024)):
        steps = choose_steps(m, n, k, dtype)  # type: ignore[arg-type]
        unit = max(16, 32 // dtype.bytes)  # type: ignore[attr-defined]
        assert -(-m // 16) * 16 % steps.m == 0
        assert -(-n // 16) * 16 % steps.n == 0
        assert -(-k // unit) * unit % steps.k == 0
        assert steps.m * steps.k * dtype.bytes <= DEFAULT_CHIP.capacity["l0a"] // 2  # type: ignore[attr-defined]
        assert steps.n * steps.k * dtype.bytes <= DEFAULT_CHIP.capacity["l0b"] // 2  # type: ignore[attr-defined]


def test_deep_steps_come_first() -> None:
    assert (
        choose_steps(64, 128, 512, BF16).m,
        choose_steps(64, 128, 512, BF16).n,
        choose_steps(64, 128, 512, BF16).k,
    ) == (64, 64, 256)
