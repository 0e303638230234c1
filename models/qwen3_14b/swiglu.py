"""The MLP: x += bf16(silu(n @ w_gate.T) * (n @ w_up.T)) @ w_down.T with n = rms_norm(x)."""

import pyto.language as pl
from pyto.models.qwen3_14b.constants import BATCH_DYN, QWEN3_14B, Qwen3Config
from pyto.models.qwen3_14b.projection import project, project_add
from pyto.models.qwen3_14b.rms_norm import normalize_rows


def make_swiglu(cfg: Qwen3Config):
    """The stage for the widths of `cfg`; x is the fp32 residual, read and written."""
    H, I, EPS = cfg.hidden, cfg.intermediate, cfg.eps  # noqa: E741
    I_TILE = I // 8  # eight tasks a row keep 48 vector cores busy from 6 rows on, each on tiles below 13 KiB

    @pl.jit
    def swiglu(
        x: pl.InOut[pl.Tensor[[BATCH_DYN, H], pl.FP32]],
        gamma: pl.Tensor[[1, H], pl.FP32],
        w_gate: pl.Tensor[[I, H], pl.BF16],
        w_up: pl.Tensor[[I, H], pl.BF16],
        w_down: pl.Tensor[[H, I], pl.BF16],
    ):
        normed = pl.create_tensor([BATCH_DYN, H], dtype=pl.BF16)
        normalize_rows(x, gamma, normed, EPS)
        gate = pl.create_tensor([BATCH_DYN, I], dtype=pl.FP32)
        up = pl.create_tensor([BATCH_DYN, I], dtype=pl.FP32)
        project(normed, w_gate, gate)
        project(normed, w_up, up)
        fused = pl.create_tensor([BATCH_DYN, I], dtype=pl.BF16)
        for b in pl.parallel(0, BATCH_DYN, 1):
            for i0 in pl.parallel(0, I, I_TILE):
                with pl.at(level=pl.Level.CORE_GROUP, name_hint="silu_mul"):
                    g = gate[b : b + 1, i0 : i0 + I_TILE]
                    silu = g / (pl.exp(-g) + 1.0)
                    product = silu * up[b : b + 1, i0 : i0 + I_TILE]
                    fused[b : b + 1, i0 : i0 + I_TILE] = pl.cast(product, target_type=pl.BF16)
        project_add(fused, w_down, x)

    return swiglu


swiglu = make_swiglu(QWEN3_14B)
