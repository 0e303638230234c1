"""Rounding and saturation of `pyto.numerics`, against exact rationals."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from pyto.ir.nodes import BF16, FP16, FP32, INT8, INT32, UINT8
from pyto.numerics import NUMPY, cast, poison_bytes, poisoned, widen

MODES = ("rint", "round", "floor", "ceil", "trunc")
HALVES = [0, 1, -1, 0.5, 1.5, 2.5, -0.5, -2.5]
INTERESTING = np.array(
    [*HALVES, 1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, 1 + 2**-11, 1 + 2**-8 + 2**-20, 3.14159, 1e-3], np.float32
)


def exact(x: float, dtype: np.dtype, mode: str) -> float:
    """The one of the two neighbours of x in `dtype` that the mode asks for."""
    near = dtype.type(x)
    candidates = {near, np.nextafter(near, dtype.type(np.inf)), np.nextafter(near, dtype.type(-np.inf))}
    values = sorted(Fraction(float(c)) for c in candidates)
    value = Fraction(float(x))
    below, above = max(v for v in values if v <= value), min(v for v in values if v >= value)
    if below == above:
        return float(below)
    if mode in ("floor", "ceil"):
        return float(below if mode == "floor" else above)
    if mode == "trunc":
        return float(min(below, above, key=abs))
    if value - below == above - value:
        return float(near) if mode == "rint" else float(max(below, above, key=abs))
    return float(below if value - below < above - value else above)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", [BF16, FP16], ids=repr)
def test_short_floats(target, mode):
    rng = np.random.default_rng(0)
    x = np.concatenate([INTERESTING, rng.standard_normal(200).astype(np.float32)])
    ties = (x.view(np.uint32) & np.uint32(0xFFFF0000) | np.uint32(0x8000)).view(np.float32)
    x = np.concatenate([x, ties])
    got = widen(cast(x, target, mode))
    want = np.array([exact(v, NUMPY[target.name], mode) for v in x], np.float32)
    np.testing.assert_array_equal(got, want)


TO_INTEGERS = {
    "rint": [0, 2, 2, -2, 0],
    "round": [1, 2, 3, -3, -1],
    "floor": [0, 1, 2, -3, -1],
    "ceil": [1, 2, 3, -2, 0],
    "trunc": [0, 1, 2, -2, 0],
}


@pytest.mark.parametrize("mode, want", TO_INTEGERS.items())
def test_to_integers(mode, want):
    x = np.array([0.5, 1.5, 2.5, -2.5, -0.5], np.float32)
    np.testing.assert_array_equal(cast(x, INT32, mode), want)


def test_to_integers_saturates():
    x = np.array([1e30, -1e30, np.inf, -np.inf, np.nan, 2147483520.0], np.float32)
    np.testing.assert_array_equal(cast(x, INT32), [2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 0, 2147483520])
    np.testing.assert_array_equal(cast(x[:5], INT8), [127, -128, 127, -128, 0])
    np.testing.assert_array_equal(cast(np.array([300, -5, 7], np.int32), UINT8), [255, 0, 7])


def test_widen_is_exact():
    bits = np.arange(65536, dtype=np.uint16)
    for dtype in (NUMPY["bf16"], NUMPY["fp16"]):
        short = bits.view(dtype)
        np.testing.assert_array_equal(widen(short), short.astype(np.float32))
    np.testing.assert_array_equal(cast(np.arange(9, dtype=np.int32), FP32), np.arange(9))


def test_poison_is_nan():
    for dtype in (BF16, FP16, FP32):
        assert np.isnan(poisoned((3, 5), dtype).astype(np.float32)).all()
    memory = poison_bytes(64)
    for kind in (np.float32, np.float16, ml_dtypes.bfloat16):
        assert np.isnan(memory.view(kind).astype(np.float32)).all()
