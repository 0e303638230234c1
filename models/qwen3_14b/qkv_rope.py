"""Query, key and value of a layer: RMSNorm, the three projections, QK-norm and rotary position embedding."""

import pyto.language as pl
from pyto.models.qwen3_14b.constants import BATCH_DYN, QWEN3_14B, ROPE_SEQ_DYN, Qwen3Config
from pyto.models.qwen3_14b.projection import project
from pyto.models.qwen3_14b.rms_norm import normalize_rows

D = QWEN3_14B.head_dim
HALF = QWEN3_14B.half_dim


@pl.jit.inline
def norm_and_rotate(heads: pl.Tensor, gamma: pl.Tensor, cos: pl.Tensor, sin: pl.Tensor, eps: pl.Scalar) -> pl.Tensor:
    """RMSNorm of each head, a row of [R, 128], then its rotation: the halves are the two coordinates of 64 planes.
    The halves of cos and sin [1, 128] are independent of each other. Gives bf16 [R, 128]."""
    scale = pl.rsqrt(pl.row_sum(heads * heads) * (1.0 / D) + eps)
    normed = pl.col_expand_mul(pl.row_expand_mul(heads, scale), gamma)
    lo, hi = normed[:, 0:HALF], normed[:, HALF:D]
    new_lo = pl.col_expand_mul(lo, cos[:, 0:HALF]) - pl.col_expand_mul(hi, sin[:, 0:HALF])
    new_hi = pl.col_expand_mul(hi, cos[:, HALF:D]) + pl.col_expand_mul(lo, sin[:, HALF:D])
    rotated = pl.create_tensor([pl.tensor.dim(heads, 0), D], dtype=pl.BF16)
    rotated[:, 0:HALF] = pl.cast(new_lo, target_type=pl.BF16)
    rotated[:, HALF:D] = pl.cast(new_hi, target_type=pl.BF16)
    return rotated


def make_qkv_rope(cfg: Qwen3Config):
    """The stage for the widths of `cfg`. The residual x stays as it is: the norm is inside."""
    H, NH, KVH, EPS = cfg.hidden, cfg.num_heads, cfg.num_kv_heads, cfg.eps
    Q, KV = cfg.q_hidden, cfg.kv_hidden

    @pl.jit
    def qkv_rope(
        x: pl.Tensor[[BATCH_DYN, H], pl.FP32],
        gamma: pl.Tensor[[1, H], pl.FP32],
        wq: pl.Tensor[[Q, H], pl.BF16],
        wk: pl.Tensor[[KV, H], pl.BF16],
        wv: pl.Tensor[[KV, H], pl.BF16],
        q_norm: pl.Tensor[[1, D], pl.FP32],
        k_norm: pl.Tensor[[1, D], pl.FP32],
        positions: pl.Tensor[[BATCH_DYN], pl.INT32],
        rope_cos: pl.Tensor[[ROPE_SEQ_DYN, D], pl.FP32],
        rope_sin: pl.Tensor[[ROPE_SEQ_DYN, D], pl.FP32],
        q: pl.Out[pl.Tensor[[BATCH_DYN, NH, D], pl.BF16]],
        k: pl.Out[pl.Tensor[[BATCH_DYN, KV], pl.BF16]],
        v: pl.Out[pl.Tensor[[BATCH_DYN, KV], pl.BF16]],
    ):
        normed = pl.create_tensor([BATCH_DYN, H], dtype=pl.BF16)
        normalize_rows(x, gamma, normed, EPS)
        q_proj = pl.create_tensor([BATCH_DYN, Q], dtype=pl.FP32)
        k_proj = pl.create_tensor([BATCH_DYN, KV], dtype=pl.FP32)
        project(normed, wq, q_proj)
        project(normed, wk, k_proj)
        project(normed, wv, v)
        for b in pl.parallel(0, BATCH_DYN, 1):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="norm_and_rotate"):
                pos = pl.read(positions, [b])
                cos, sin = rope_cos[pos : pos + 1, :], rope_sin[pos : pos + 1, :]
                q_heads = pl.reshape(q_proj[b : b + 1, :], [NH, D])
                q[b : b + 1, :, :] = norm_and_rotate(q_heads, q_norm[:, :], cos, sin, EPS)
                k_heads = pl.reshape(k_proj[b : b + 1, :], [KVH, D])
                k_rotated = norm_and_rotate(k_heads, k_norm[:, :], cos, sin, EPS)
                k[b : b + 1, :] = pl.reshape(k_rotated, [1, KV])

    return qkv_rope


qkv_rope = make_qkv_rope(QWEN3_14B)
