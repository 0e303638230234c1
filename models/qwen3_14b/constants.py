"""What the kernels share: the 14B shapes and the symbols of the dynamic dimensions."""

import pyto.language as pl
from pyto.models.qwen3_14b.config import QWEN3_14B, QWEN3_14B_TILING, Qwen3Config, Qwen3TilingConfig

BATCH_DYN = pl.dynamic("BATCH_DYN")
PREFILL_TOKENS_DYN = pl.dynamic("PREFILL_TOKENS_DYN")
KV_CACHE_ROWS_DYN = pl.dynamic("KV_CACHE_ROWS_DYN")
BLOCK_TABLE_FLAT_DYN = pl.dynamic("BLOCK_TABLE_FLAT_DYN")
ROPE_SEQ_DYN = pl.dynamic("ROPE_SEQ_DYN")
LAYER_DYN = pl.dynamic("LAYER_DYN")
LAYER_HIDDEN_ROWS_DYN = pl.dynamic("LAYER_HIDDEN_ROWS_DYN")
LAYER_INTER_ROWS_DYN = pl.dynamic("LAYER_INTER_ROWS_DYN")

__all__ = [
    "BATCH_DYN", "BLOCK_TABLE_FLAT_DYN", "KV_CACHE_ROWS_DYN", "LAYER_DYN", "LAYER_HIDDEN_ROWS_DYN",
    "LAYER_INTER_ROWS_DYN", "PREFILL_TOKENS_DYN", "QWEN3_14B", "QWEN3_14B_TILING", "ROPE_SEQ_DYN", "Qwen3Config",
    "Qwen3TilingConfig",
]  # fmt: skip
