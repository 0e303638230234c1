"""Scratch memory for programs on the CPU: one growing buffer a thread, on huge pages where the system gives them."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import threading

HUGE_PAGE = 2 << 20


class Buffer:
    """`bytes` of zeroed memory at a huge-page boundary."""

    def __init__(self, size: int) -> None:
        self.size = -(-max(size, 1) // HUGE_PAGE) * HUGE_PAGE
        self._map = mmap.mmap(-1, self.size + HUGE_PAGE)
        with contextlib.suppress(AttributeError, OSError):
            self._map.madvise(mmap.MADV_HUGEPAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self.address = -(-start // HUGE_PAGE) * HUGE_PAGE


_local = threading.local()


def workspace(size: int) -> int:
    """Address of `size` bytes, of undefined content, that this thread's next launch may use; 0 for no bytes."""
    if size <= 0:
        return 0
    buffer: Buffer | None = getattr(_local, "buffer", None)
    if buffer is None or buffer.size < size:
        _local.buffer = None  # free the old one first
        buffer = _local.buffer = Buffer(size)
    return buffer.address
