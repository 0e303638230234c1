"""The four stages in float64 numpy: what the kernels are measured against.

Each takes the config and the kernel's arguments by name and gives its outputs, by name, in float64. `rounded` rounds to
bf16 exactly where the model does: the normalised activations, the MLP's product, and outputs that are bf16.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pyto.ir.nodes import BF16
from pyto.models.qwen3_14b.config import Qwen3Config
from pyto.numerics import cast, widen

Array = np.ndarray[Any, Any]
Arrays = Mapping[str, Array]
ROWS_AT_A_TIME = 8192  # of a weight, as float64


def bf16(x: Array, rounded: bool = True) -> Array:
    """x as a bf16 number, round to nearest even, in float64; x itself if not `rounded`."""
    return widen(cast(x.astype(np.float32), BF16)).astype(np.float64) if rounded else x


def wide(x: Array) -> Array:
    return widen(x).astype(np.float64)


def normalize(x: Array, gamma: Array, eps: float) -> Array:
    """RMSNorm over the last axis: x / sqrt(mean(x^2) + eps) * gamma."""
    x = wide(x)
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * wide(gamma)


def project(x: Array, w: Array) -> Array:
    """x [B, K] @ w [N, K].T"""
    out = np.empty((x.shape[0], w.shape[0]))
    for n in range(0, w.shape[0], ROWS_AT_A_TIME):
        out[:, n : n + ROWS_AT_A_TIME] = x @ wide(w[n : n + ROWS_AT_A_TIME]).T
    return out


def rotate(heads: Array, cos: Array, sin: Array) -> Array:
    """RoPE of heads [B, N, D] by cos and sin [B, D], whose halves are independent of each other."""
    half = heads.shape[-1] // 2
    lo, hi = heads[..., :half], heads[..., half:]
    c, s = cos[:, None], sin[:, None]
    new_lo = lo * c[..., :half] - hi * s[..., :half]
    new_hi = hi * c[..., half:] + lo * s[..., half:]
    return np.concatenate([new_lo, new_hi], axis=-1)


def rope_tables(rows: int, cfg: Qwen3Config) -> tuple[Array, Array]:
    """cos and sin fp32 [rows, head_dim] of the real model: in row p, p * theta^(-i / half) of each plane i, twice."""
    frequency = cfg.rope_theta ** (-np.arange(cfg.half_dim) / cfg.half_dim)
    angle = np.tile(np.arange(rows)[:, None] * frequency, 2)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def rms_norm(cfg: Qwen3Config, a: Arrays, rounded: bool) -> dict[str, Array]:
    return {"out": bf16(normalize(a["x"], a["gamma"], cfg.eps), rounded)}


def qkv_rope(cfg: Qwen3Config, a: Arrays, rounded: bool) -> dict[str, Array]:
    normed = bf16(normalize(a["x"], a["gamma"], cfg.eps), rounded)
    cos, sin = (wide(a[name])[a["positions"]] for name in ("rope_cos", "rope_sin"))
    batch = normed.shape[0]

    def heads(weight: str, gamma: str) -> Array:
        split = project(normed, a[weight]).reshape(batch, -1, cfg.head_dim)
        return bf16(rotate(normalize(split, a[gamma], cfg.eps), cos, sin), rounded)

    k = heads("wk", "k_norm").reshape(batch, -1)
    return {"q": heads("wq", "q_norm"), "k": k, "v": bf16(project(normed, a["wv"]), rounded)}


def swiglu(cfg: Qwen3Config, a: Arrays, rounded: bool) -> dict[str, Array]:
    normed = bf16(normalize(a["x"], a["gamma"], cfg.eps), rounded)
    gate, up = project(normed, a["w_gate"]), project(normed, a["w_up"])
    product = bf16(gate / (1 + np.exp(-gate)) * up, rounded)
    return {"x": wide(a["x"]) + project(product, a["w_down"])}


def rms_lm_head(cfg: Qwen3Config, a: Arrays, rounded: bool) -> dict[str, Array]:
    normed = bf16(normalize(a["hidden_states"], a["final_norm_weight"], cfg.eps), rounded)
    return {"out": project(normed, a["lm_head_weight"])}


REFERENCES: dict[str, Callable[[Qwen3Config, Arrays, bool], dict[str, Array]]] = {
    f.__name__: f for f in (rms_norm, qkv_rope, swiglu, rms_lm_head)
}


def relative_l2(got: Array, want: Array) -> float:
    """|got - want| / |want| in the Euclidean norm over all elements; NaN if `got` has one."""
    return float(np.linalg.norm(wide(got) - want) / np.linalg.norm(want))
