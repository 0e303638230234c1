"""Hand-written GEMMs in the simulator: how much of the memory's read rate they reach, with weights read once."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path

import ml_dtypes
import numpy as np

from benchmarks.bandwidth import BYTES, Reader
from benchmarks.registry import Figure, Options, benchmark, interleaved_ms

K, N = 5120, 17408
BF16 = np.dtype(ml_dtypes.bfloat16)
HOST = """#include "pyto_launch.h"
#define RUN(name)                                                                                                   \\
    PYTO_KERNEL(name, GM_ADDR, GM_ADDR, GM_ADDR, int64_t, int64_t, int64_t);                                         \\
    extern "C" int pyto_##name(void* x, void* w, void* y, int64_t m, int64_t n, int64_t k)                           \\
    {                                                                                                                \\
        PYTO_LAUNCH(name, PYTO_CUBE_CORES(), nullptr, PYTO_IN(x, m * k * 2), PYTO_IN(w, n * k * 2),                  \\
                    PYTO_OUT(y, m * n * 4), m, n, k);                                                                \\
        return 0;                                                                                                    \\
    }
RUN(gemm_nk_256)
RUN(gemm_nk_64)
RUN(gemm_kn)
"""
#: (kernel, rows of activations)
CASES = (("gemm_nk_64", 16), ("gemm_nk_256", 16), ("gemm_nk_64", 64), ("gemm_nk_256", 128), ("gemm_kn", 16))


def huge(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Zeros on huge pages where the system gives them: private anonymous memory, aligned."""
    import mmap

    size = int(np.prod(shape)) * dtype.itemsize
    memory = mmap.mmap(-1, size + (4 << 20), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    raw = np.frombuffer(memory, np.uint8)
    start = -raw.ctypes.data % (2 << 20)
    return raw[start : start + size].view(dtype).reshape(shape)


@benchmark("gemm tilings")
def gemm(options: Options) -> Iterator[Figure]:
    """GB/s of bf16 weights and TFLOP/s of each kernel, and its share of the read rate of the same run."""
    from pyto.build import build_sources

    source = Path(__file__).with_name("sim_gemm.cpp").read_text(encoding="utf-8")
    path = build_sources("sim_gemm", {"sim_gemm.cpp": source, "sim_gemm_host.cpp": HOST})
    library = ctypes.CDLL(str(path))
    rng = np.random.default_rng(0)
    w = huge((N, K), BF16)
    w.view(np.uint16)[...] = rng.integers(0x3C00, 0x3E00, 1 << 16, np.uint16)[:K].reshape(1, K)
    runs: dict[str, Callable[[], object]] = {}
    for kernel, rows in CASES:
        x, y = rng.standard_normal((rows, K)).astype(BF16), np.zeros((rows, N), np.float32)
        call = getattr(library, f"pyto_{kernel}")
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, w, y)]
        sizes = [ctypes.c_int64(v) for v in (rows, N, K)]

        def run(call=call, arguments=(*pointers, *sizes), keep=(x, y)) -> None:  # type: ignore[no-untyped-def]
            assert call(*arguments) == 0

        runs[f"{kernel} M={rows}"] = run
    reader = Reader(options.threads)
    runs["read"] = reader
    ms = interleaved_ms(runs, options.repeat)
    reader.close()
    rate = BYTES / ms.pop("read") / 1e6
    for (_, rows), (name, time) in zip(CASES, ms.items()):
        reached = w.nbytes / time / 1e6
        flops = 2 * rows * N * K / time / 1e9
        label = f"of the {rate:.1f} GB/s read with {options.threads} threads; {flops:.2f} TFLOP/s"
        yield Figure(f"gemm.tiling.{name.replace(' ', '.')}", reached, "GB/s", reached / rate, label)
