"""Shapes of the dense Qwen3 models, and the tile sizes of their kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Qwen3Config:
    """One dense Qwen3 model. Widths are compile-time constants of the kernels; batch, tokens and tables are not.

    vocab: rows of the LM head, `real_vocab` (the ids of the tokenizer) padded to `Qwen3TilingConfig.vocab_chunk`.
    batch_pad: rows of one decode window; a throughput width, not a limit. eps: of every RMSNorm, QK-norm included.
    """

    name: str
    variant: str
    hidden: int
    intermediate: int
    num_heads: int
    num_kv_heads: int
    vocab: int
    real_vocab: int
    num_layers: int
    family: str = "qwen3"
    head_dim: int = 128
    max_seq: int = 4096
    batch_pad: int = 16
    sampled_ids_pad: int = 8
    rope_theta: float = 1e6
    eps: float = 1e-6

    def __post_init__(self) -> None:
        if self.head_dim != 128:
            raise ValueError(f"head_dim is {self.head_dim}: the kernels are written for heads of 128")
        if self.num_heads % self.num_kv_heads:
            raise ValueError(f"{self.num_heads} query heads do not divide into {self.num_kv_heads} KV heads")
        if self.real_vocab > self.vocab:
            raise ValueError(f"real_vocab {self.real_vocab} exceeds the padded vocab {self.vocab}")

    @property
    def q_hidden(self) -> int:
        """Width of the query projection; not `hidden` in every size."""
        return self.num_heads * self.head_dim

    @property
    def kv_hidden(self) -> int:
        return self.num_kv_heads * self.head_dim

    @property
    def half_dim(self) -> int:
        return self.head_dim // 2

    @property
    def q_per_kv(self) -> int:
        return self.num_heads // self.num_kv_heads

    @property
    def attn_scale(self) -> float:
        return self.head_dim**-0.5

    @classmethod
    def from_dict(cls, config: Mapping[str, Any], name: str = "qwen3") -> Qwen3Config:
        """The shapes in a HuggingFace `config.json` of a dense Qwen3; KeyError for a missing field, ValueError for an
        architecture or a head size that the kernels do not cover."""
        kind = config.get("model_type", "qwen3")
        if kind != "qwen3":
            raise ValueError(f"model_type is {kind!r}: only dense Qwen3 models are supported")
        real_vocab = int(config["vocab_size"])
        return cls(
            name=name,
            variant=name.rpartition("-")[2],
            hidden=int(config["hidden_size"]),
            intermediate=int(config["intermediate_size"]),
            num_heads=int(config["num_attention_heads"]),
            num_kv_heads=int(config["num_key_value_heads"]),
            head_dim=int(config.get("head_dim", 128)),
            vocab=padded_vocab(real_vocab),
            real_vocab=real_vocab,
            num_layers=int(config["num_hidden_layers"]),
            rope_theta=float(config.get("rope_theta", 1e6)),
            eps=float(config.get("rms_norm_eps", 1e-6)),
        )


@dataclass(frozen=True)
class Qwen3TilingConfig:
    """Tile sizes. `seq_tile` (tokens of a KV page) and `vocab_chunk` are part of the contract with the runtime; the
    others only decide speed.

    A projection keeps `m_tile` rows of activations and `n_tile` rows of weights, `k_tile` deep and twice each (one
    computed on while the other loads), in the 512 KiB of L1.
    """

    seq_tile: int = 128
    vocab_chunk: int = 512
    m_tile: int = 64
    n_tile: int = 64
    k_tile: int = 512

    @property
    def block_size(self) -> int:
        return self.seq_tile


QWEN3_14B_TILING = Qwen3TilingConfig()


def padded_vocab(real_vocab: int, chunk: int = QWEN3_14B_TILING.vocab_chunk) -> int:
    """The LM head's rows: the smallest multiple of `chunk` that holds `real_vocab` ids."""
    return -(-real_vocab // chunk) * chunk


QWEN3_14B = Qwen3Config(
    name="qwen3-14b",
    variant="14b",
    hidden=5120,
    intermediate=17408,
    num_heads=40,
    num_kv_heads=8,
    vocab=152064,
    real_vocab=151936,
    num_layers=40,
)
