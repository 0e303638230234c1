"""The float64 references against independent formulations, and the inputs against what they promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pyto.models.qwen3_14b import inputs, reference
from pyto.models.qwen3_14b.config import QWEN3_14B

CFG = replace(QWEN3_14B, hidden=256, intermediate=512, num_heads=4, num_kv_heads=2, vocab=512, real_vocab=500)


def test_rotation_is_a_complex_product():
    """With the model's tables RoPE multiplies (lo + i hi) by exp(i angle)."""
    cos, sin = (t.astype(np.float64) for t in reference.rope_tables(50, CFG))
    heads = np.random.default_rng(0).standard_normal((50, 3, 128))
    got = reference.rotate(heads, cos, sin)
    angle = np.arange(50)[:, None] * CFG.rope_theta ** (-np.arange(64) / 64)
    want = (heads[..., :64] + 1j * heads[..., 64:]) * np.exp(1j * angle)[:, None]
    np.testing.assert_allclose(got, np.concatenate([want.real, want.imag], -1), atol=1e-6)


def test_rotation_reads_the_halves_independently():
    heads = np.ones((1, 1, 128))
    cos, sin = np.zeros((1, 128)), np.zeros((1, 128))
    cos[0, 64:] = 2
    sin[0, :64] = 3
    got = reference.rotate(heads, cos, sin)[0, 0]
    np.testing.assert_array_equal(got, np.repeat([-3.0, 2.0], 64))


def test_norm_of_a_scaled_row_is_the_same():
    x = np.random.default_rng(0).standard_normal((3, 256)).astype(np.float32)
    one = np.ones((1, 256), np.float32)
    got = reference.normalize(x, one, 0.0)
    np.testing.assert_allclose(got, reference.normalize(4 * x, one, 0.0))
    np.testing.assert_allclose((got**2).mean(axis=1), 1)


@pytest.mark.parametrize("stage", inputs.MAKERS)
def test_rounding_is_a_small_change(stage):
    a = inputs.make_inputs(stage, CFG, 3)
    rounded, exact = (reference.REFERENCES[stage](CFG, a, r) for r in (True, False))
    for name in exact:
        assert exact[name].shape == a[name].shape
        assert 0 < reference.relative_l2(rounded[name], exact[name]) < 4e-3


@pytest.mark.parametrize("stage", inputs.MAKERS)
def test_inputs_are_seeded(stage):
    one, same, other = (inputs.make_inputs(stage, CFG, 2, seed) for seed in (1, 1, 2))
    first = next(iter(one))
    assert all(np.array_equal(one[name], same[name]) for name in one)
    assert not np.array_equal(one[first], other[first])


def test_no_normalised_value_is_near_a_tie():
    a = inputs.make_inputs("rms_norm", QWEN3_14B, 33)
    value = reference.normalize(a["x"], a["gamma"], QWEN3_14B.eps)
    for nudge in (1 - 1e-6, 1 + 1e-6):
        np.testing.assert_array_equal(reference.bf16(value), reference.bf16(value * nudge))


def test_repeated_blocks_make_different_rows():
    w = inputs.weight(np.random.default_rng(0), 2048, 5120, 1.0)
    assert len({row.tobytes() for row in w}) == 2048
