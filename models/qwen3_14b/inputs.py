"""Seeded arguments of the four stages, of magnitudes as in the model; weights of gigabytes in about a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pyto.models.qwen3_14b.config import Qwen3Config
from pyto.models.qwen3_14b.reference import normalize
from pyto.numerics import NUMPY

Array = np.ndarray[Any, Any]
Arrays = dict[str, Array]
BF16 = NUMPY["bf16"]
PERIOD = 4_194_301  # a prime, so that rows of a repeated block differ
ROPE_ROWS = 4096
TIE_MARGIN = 2e-6


def weight(rng: np.random.Generator, rows: int, cols: int, sigma: float) -> Array:
    """bf16 [rows, cols] of N(0, sigma): a random block, repeated."""
    count = rows * cols
    block = (rng.standard_normal(min(PERIOD, count), np.float32) * np.float32(sigma)).astype(BF16)
    return np.resize(block, count).reshape(rows, cols)


def gamma(rng: np.random.Generator, x: Array, eps: float) -> Array:
    """fp32 [1, H], 1 +- 0.1, such that no normalised element of x lies within TIE_MARGIN of halfway between two bf16
    numbers: which way it rounds must not hang on the order in which a kernel sums."""
    out = (1 + 0.1 * rng.uniform(-1, 1, (1, x.shape[1]))).astype(np.float32)
    while True:
        value = np.abs(normalize(x, out, eps))
        ulp = np.exp2(np.floor(np.log2(value)) - 7)
        near = np.abs(value / ulp % 1 - 0.5) * ulp < TIE_MARGIN * value
        columns = near.any(axis=0)
        if not columns.any():
            return out
        out[0, columns] *= rng.uniform(0.999, 1.001, columns.sum()).astype(np.float32)


def rms_norm(cfg: Qwen3Config, batch: int, rng: np.random.Generator) -> Arrays:
    x = rng.standard_normal((batch, cfg.hidden), np.float32)
    return {"x": x, "gamma": gamma(rng, x, cfg.eps), "out": np.zeros(x.shape, BF16)}


def qkv_rope(cfg: Qwen3Config, batch: int, rng: np.random.Generator) -> Arrays:
    x = rng.standard_normal((batch, cfg.hidden), np.float32)
    return {
        "x": x,
        "gamma": gamma(rng, x, cfg.eps),
        "wq": weight(rng, cfg.q_hidden, cfg.hidden, 0.02),
        "wk": weight(rng, cfg.kv_hidden, cfg.hidden, 0.02),
        "wv": weight(rng, cfg.kv_hidden, cfg.hidden, 0.02),
        "q_norm": rng.uniform(0.9, 1.1, (1, cfg.head_dim)).astype(np.float32),
        "k_norm": rng.uniform(0.9, 1.1, (1, cfg.head_dim)).astype(np.float32),
        "positions": rng.integers(0, ROPE_ROWS, batch, np.int32),
        # No duplicated halves here, unlike in the model: the kernel must not count on them.
        "rope_cos": rng.uniform(-1, 1, (ROPE_ROWS, cfg.head_dim)).astype(np.float32),
        "rope_sin": rng.uniform(-1, 1, (ROPE_ROWS, cfg.head_dim)).astype(np.float32),
        "q": np.zeros((batch, cfg.num_heads, cfg.head_dim), BF16),
        "k": np.zeros((batch, cfg.kv_hidden), BF16),
        "v": np.zeros((batch, cfg.kv_hidden), BF16),
    }


def swiglu(cfg: Qwen3Config, batch: int, rng: np.random.Generator) -> Arrays:
    x = rng.standard_normal((batch, cfg.hidden), np.float32)
    return {
        "x": x,
        "gamma": gamma(rng, x, cfg.eps),
        "w_gate": weight(rng, cfg.intermediate, cfg.hidden, 0.02),
        "w_up": weight(rng, cfg.intermediate, cfg.hidden, 0.02),
        "w_down": weight(rng, cfg.hidden, cfg.intermediate, 4e-4),
    }


def rms_lm_head(cfg: Qwen3Config, batch: int, rng: np.random.Generator) -> Arrays:
    hidden = rng.standard_normal((batch, cfg.hidden), np.float32).astype(BF16)
    return {
        "hidden_states": hidden,
        "final_norm_weight": gamma(rng, hidden, cfg.eps),
        "lm_head_weight": weight(rng, cfg.vocab, cfg.hidden, 0.02),
        "seq_lens": rng.integers(1, cfg.max_seq, batch, np.int32),
        "out": np.zeros((batch, cfg.vocab), np.float32),
    }


MAKERS: dict[str, Callable[[Qwen3Config, int, np.random.Generator], Arrays]] = {
    f.__name__: f for f in (rms_norm, qkv_rope, swiglu, rms_lm_head)
}


def make_inputs(stage: str, cfg: Qwen3Config, batch: int, seed: int = 0) -> Arrays:
    """The arguments of a stage by name, in order; outputs are zeros."""
    return MAKERS[stage](cfg, batch, np.random.default_rng(seed))
