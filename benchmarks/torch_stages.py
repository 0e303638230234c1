"""The four stages as a torch user writes them in bf16: modules that take the stage's activations."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


def tensor(array: Any) -> torch.Tensor:
    """A torch view of a numpy array; bfloat16 by its bits."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view("uint16")).view(torch.bfloat16)
    return torch.from_numpy(array)


def _rms(x: torch.Tensor, gamma: torch.Tensor, eps: float) -> torch.Tensor:
    x = x.float()
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gamma


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    lo, hi = x.chunk(2, dim=-1)
    return x * cos[:, None] + torch.cat((-hi, lo), dim=-1) * sin[:, None]


class _Stage(nn.Module):
    """Weights are frozen parameters, so that a compiler may pack them."""

    def __init__(self, cfg: Any, arrays: dict[str, Any], weights: tuple[str, ...]) -> None:
        super().__init__()
        self.cfg = cfg
        for name in weights:
            self.register_parameter(name, nn.Parameter(tensor(arrays[name]), requires_grad=False))


class RmsNorm(_Stage):
    inputs = ("x",)

    def __init__(self, cfg: Any, arrays: dict[str, Any]) -> None:
        super().__init__(cfg, arrays, ("gamma",))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _rms(x, self.gamma, self.cfg.eps).bfloat16()


class QkvRope(_Stage):
    inputs = ("x", "positions")

    def __init__(self, cfg: Any, arrays: dict[str, Any]) -> None:
        names = ("gamma", "wq", "wk", "wv", "q_norm", "k_norm", "rope_cos", "rope_sin")
        super().__init__(cfg, arrays, names)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        cfg, batch = self.cfg, x.shape[0]
        normed = _rms(x, self.gamma, cfg.eps).bfloat16()
        q = F.linear(normed, self.wq).view(batch, cfg.num_heads, cfg.head_dim)
        k = F.linear(normed, self.wk).view(batch, cfg.num_kv_heads, cfg.head_dim)
        v = F.linear(normed, self.wv)
        where = positions.long()
        cos, sin = self.rope_cos[where], self.rope_sin[where]
        q = _rotate(_rms(q, self.q_norm, cfg.eps), cos, sin).bfloat16()
        k = _rotate(_rms(k, self.k_norm, cfg.eps), cos, sin).bfloat16()
        return q, k.reshape(batch, -1), v


class SwiGlu(_Stage):
    inputs = ("x",)

    def __init__(self, cfg: Any, arrays: dict[str, Any]) -> None:
        super().__init__(cfg, arrays, ("gamma", "w_gate", "w_up", "w_down"))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed = _rms(x, self.gamma, self.cfg.eps).bfloat16()
        product = F.silu(F.linear(normed, self.w_gate)) * F.linear(normed, self.w_up)
        return x + F.linear(product, self.w_down)


class RmsLmHead(_Stage):
    inputs = ("hidden_states",)

    def __init__(self, cfg: Any, arrays: dict[str, Any]) -> None:
        super().__init__(cfg, arrays, ("final_norm_weight", "lm_head_weight"))

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        normed = _rms(hidden_states, self.final_norm_weight, self.cfg.eps).bfloat16()
        return F.linear(normed, self.lm_head_weight).float()


STAGES: dict[str, type[Any]] = {
    "rms_norm": RmsNorm,
    "qkv_rope": QkvRope,
    "swiglu": SwiGlu,
    "rms_lm_head": RmsLmHead,
}
