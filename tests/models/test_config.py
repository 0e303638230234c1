"""Shapes from HuggingFace configs, and the tiles' memory budget."""

from __future__ import annotations

import pytest

from pyto.models.qwen3_14b.config import QWEN3_14B, QWEN3_14B_TILING, Qwen3Config, padded_vocab
from pyto.target import DEFAULT_CHIP

CONFIG_14B = {
    "architectures": None,
    "model_type": "qwen3",
    "head_dim": 128,
    "hidden_size": 5120,
    "intermediate_size": 17408,
    "num_attention_heads": 40,
    "num_key_value_heads": 8,
    "num_hidden_layers": 40,
    "rms_norm_eps": 1e-06,
    "rope_theta": 1000000,
    "vocab_size": 151936,
}


def test_14b_from_its_config():
    assert Qwen3Config.from_dict(CONFIG_14B, "qwen3-14b") == QWEN3_14B


def test_other_sizes():
    small = {**CONFIG_14B, "hidden_size": 1024, "intermediate_size": 3072, "num_attention_heads": 16}
    cfg = Qwen3Config.from_dict(small, "qwen3-0.6b")
    assert (cfg.variant, cfg.q_hidden, cfg.kv_hidden, cfg.q_per_kv) == ("0.6b", 2048, 1024, 2)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"head_dim": 64}, "head_dim is 64"),
        ({"model_type": "qwen3_moe"}, "only dense Qwen3"),
        ({"num_key_value_heads": 7}, "do not divide"),
    ],
)
def test_what_is_not_covered_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Qwen3Config.from_dict({**CONFIG_14B, **change})


def test_vocab_padding():
    assert padded_vocab(151936) == 152064
    assert padded_vocab(512) == 512


def test_tiles_fit_l1_twice():
    t = QWEN3_14B_TILING
    assert 2 * (t.m_tile + t.n_tile) * t.k_tile * 2 <= DEFAULT_CHIP.capacity["l1"]
