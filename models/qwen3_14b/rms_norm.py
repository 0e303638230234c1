"""RMSNorm: out = bf16(x / sqrt(mean(x^2) + eps) * gamma)."""

import pyto.language as pl
from pyto.models.qwen3_14b.constants import BATCH_DYN, QWEN3_14B, Qwen3Config


@pl.jit.inline
def normalize_rows(x: pl.Tensor, gamma: pl.Tensor, out: pl.Tensor, eps: pl.Scalar):
    """out bf16 [B, H]: each row of x [B, H], of any float type, by its root mean square, times gamma fp32 [1, H]."""
    for b in pl.parallel(0, pl.tensor.dim(x, 0), 1):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="normalize_rows"):
            # A row of up to 8192 is 32 KiB in fp32: all of it fits, and is read once.
            row = pl.cast(x[b : b + 1, :], target_type=pl.FP32)
            mean_square = pl.row_sum(row * row) * (1.0 / pl.tensor.dim(x, 1))
            normed = pl.row_expand_mul(row, pl.rsqrt(mean_square + eps)) * gamma[:, :]
            out[b : b + 1, :] = pl.cast(normed, target_type=pl.BF16)


def make_rms_norm(cfg: Qwen3Config):
    """The stage for the widths of `cfg`."""
    H, EPS = cfg.hidden, cfg.eps

    @pl.jit
    def rms_norm(
        x: pl.Tensor[[BATCH_DYN, H], pl.FP32],
        gamma: pl.Tensor[[1, H], pl.FP32],
        out: pl.Out[pl.Tensor[[BATCH_DYN, H], pl.BF16]],
    ):
        normalize_rows(x, gamma, out, EPS)

    return rms_norm


rms_norm = make_rms_norm(QWEN3_14B)
