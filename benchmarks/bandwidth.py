"""How fast this machine reads memory: the measure for stages that stream weights."""

from __future__ import annotations

import ctypes
import statistics
import tempfile
import time
from pathlib import Path

SOURCE = """
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>
#include <thread>
#include <vector>
extern "C" void* make(int64_t bytes)
{
    void* p = nullptr;
    if (posix_memalign(&p, 2 << 20, bytes) != 0) return nullptr;
#ifdef MADV_HUGEPAGE
    madvise(p, bytes, MADV_HUGEPAGE);
#endif
    for (int64_t i = 0; i < bytes / 8; i += 64) static_cast<uint64_t*>(p)[i] = i;
    return p;
}
extern "C" void drop(void* p) { free(p); }
static uint64_t sum(const uint64_t* p, int64_t n)
{
    uint64_t s[32] = {};
    for (int64_t i = 0; i + 32 <= n; i += 32) {
        for (int j = 0; j < 32; j++) s[j] += p[i + j];
    }
    uint64_t t = 0;
    for (uint64_t v : s) t += v;
    return t;
}
extern "C" uint64_t stream(const void* p, int64_t bytes, int threads)
{
    std::vector<std::thread> all;
    std::vector<uint64_t> sums(threads * 8);
    const int64_t part = bytes / 8 / threads;
    for (int t = 0; t < threads; t++) {
        all.emplace_back([&, t] { sums[t * 8] = sum(static_cast<const uint64_t*>(p) + t * part, part); });
    }
    for (auto& t : all) t.join();
    uint64_t total = 0;
    for (uint64_t v : sums) total += v;
    return total;
}
"""
BYTES = 1 << 30


class Reader:
    """Sums a gigabyte on huge pages with `threads` threads."""

    def __init__(self, threads: int) -> None:
        import subprocess

        from pyto.build.compilers import find_cxx
        from pyto.build.cxx import arch_flags

        self.threads = threads
        self._folder = tempfile.TemporaryDirectory()
        source = Path(self._folder.name) / "stream.cpp"
        source.write_text(SOURCE)
        library = source.with_suffix(".so")
        compiler = find_cxx()
        flags = ["-std=c++17", "-O3", "-shared", "-fPIC", "-pthread", *arch_flags(compiler, True)]
        subprocess.run([*compiler.command, *flags, str(source), "-o", str(library)], check=True)
        self._library = ctypes.CDLL(str(library))
        self._library.make.restype = ctypes.c_void_p
        self._library.make.argtypes = [ctypes.c_int64]
        self._library.drop.argtypes = [ctypes.c_void_p]
        self._library.stream.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int]
        self._library.stream.restype = ctypes.c_uint64
        self._memory = self._library.make(BYTES)

    def __call__(self) -> None:
        self._library.stream(self._memory, BYTES, self.threads)

    def gigabytes_a_second(self, repeat: int = 7) -> float:
        self()
        times = []
        for _ in range(repeat):
            start = time.perf_counter()
            self()
            times.append(time.perf_counter() - start)
        return BYTES / statistics.median(times) / 1e9

    def close(self) -> None:
        self._library.drop(self._memory)
        self._folder.cleanup()
