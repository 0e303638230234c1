"""Final RMSNorm and LM head: logits = bf16(rms_norm(hidden)) @ lm_head_weight.T."""

import pyto.language as pl
from pyto.models.qwen3_14b.constants import BATCH_DYN, QWEN3_14B, Qwen3Config
from pyto.models.qwen3_14b.projection import project
from pyto.models.qwen3_14b.rms_norm import normalize_rows


def make_rms_lm_head(cfg: Qwen3Config):
    """The stage for the widths of `cfg`. The rows of pad ids are computed like any other: samplers mask by id.
    Of `seq_lens` only its length, the batch, matters here."""
    H, V, EPS = cfg.hidden, cfg.vocab, cfg.eps

    @pl.jit
    def rms_lm_head(
        hidden_states: pl.Tensor[[BATCH_DYN, H], pl.BF16],
        final_norm_weight: pl.Tensor[[1, H], pl.FP32],
        lm_head_weight: pl.Tensor[[V, H], pl.BF16],
        seq_lens: pl.Tensor[[BATCH_DYN], pl.INT32],
        out: pl.Out[pl.Tensor[[BATCH_DYN, V], pl.FP32]],
    ):
        normed = pl.create_tensor([BATCH_DYN, H], dtype=pl.BF16)
        normalize_rows(hidden_states, final_norm_weight, normed, EPS)
        project(normed, lm_head_weight, out)

    return rms_lm_head


rms_lm_head = make_rms_lm_head(QWEN3_14B)
