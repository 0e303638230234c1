"""The NPU side of a call, through torch_npu. Written from its public interface; it has not been run on a device yet."""

from __future__ import annotations

import sys
from typing import Any

from pyto.errors import LaunchError


def current_stream(tensor: Any) -> int:
    """Address of the aclrtStream that torch_npu would use for `tensor`'s device now."""
    torch = sys.modules["torch"]
    npu = getattr(torch, "npu", None)
    if npu is None:
        raise LaunchError(
            "launch.no-torch-npu",
            "an argument is on an NPU, but torch_npu is not imported",
            remedy="import torch_npu",
        )
    return int(npu.current_stream(tensor.device).npu_stream)


def workspace(size: int, tensor: Any) -> tuple[int, Any]:
    """`size` bytes on `tensor`'s device from torch_npu's stream-ordered allocator, and what keeps them alive."""
    if size <= 0:
        return 0, None
    torch = sys.modules["torch"]
    buffer = torch.empty(size, dtype=torch.uint8, device=tensor.device)
    return int(buffer.data_ptr()), buffer
