"""The four stages as a table: how to make each, what it computes, how close it has to come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyto.models.qwen3_14b.config import Qwen3Config
from pyto.models.qwen3_14b.inputs import Arrays, make_inputs
from pyto.models.qwen3_14b.qkv_rope import make_qkv_rope, qkv_rope
from pyto.models.qwen3_14b.reference import REFERENCES
from pyto.models.qwen3_14b.rms_lm_head import make_rms_lm_head, rms_lm_head
from pyto.models.qwen3_14b.rms_norm import make_rms_norm, rms_norm
from pyto.models.qwen3_14b.swiglu import make_swiglu, swiglu


@dataclass(frozen=True)
class Stage:
    """kernel: for QWEN3_14B; make: for other widths. exact: whether the outputs are fp32, and so are compared with the
    reference that rounds where the model does; bf16 outputs are compared with the one that never rounds.
    bound: relative L2 error allowed."""

    name: str
    kernel: Any
    make: Callable[[Qwen3Config], Any]
    exact: bool

    @property
    def bound(self) -> float:
        return 1e-5 if self.exact else 4e-3

    def inputs(self, cfg: Qwen3Config, batch: int, seed: int = 0) -> Arrays:
        return make_inputs(self.name, cfg, batch, seed)

    def reference(self, cfg: Qwen3Config, arguments: Arrays, rounded: bool | None = None) -> Arrays:
        return REFERENCES[self.name](cfg, arguments, self.exact if rounded is None else rounded)


STAGES = {
    s.name: s
    for s in (
        Stage("rms_norm", rms_norm, make_rms_norm, exact=False),
        Stage("qkv_rope", qkv_rope, make_qkv_rope, exact=False),
        Stage("swiglu", swiglu, make_swiglu, exact=True),
        Stage("rms_lm_head", rms_lm_head, make_rms_lm_head, exact=True),
    )
}
