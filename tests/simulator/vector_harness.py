"""Runs vector instructions of the simulator on a picture of the unified buffer and gives back the picture after.

One shared object holds a case (a few lines of Ascend C) for every API form; `Runner.run(case, image, args)` copies the
image into UB, runs the case in a vector core, and copies UB out again, once for each instruction set of the machine.
Bytes that the instruction must not touch are therefore part of every comparison.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

IMAGE = 128 * 1024
ARGS = 32
RESULTS = 32
BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = {
    "float": np.dtype(np.float32),
    "half": np.dtype(np.float16),
    "bfloat16_t": BF16,
    "int8_t": np.dtype(np.int8),
    "uint8_t": np.dtype(np.uint8),
    "int16_t": np.dtype(np.int16),
    "uint16_t": np.dtype(np.uint16),
    "int32_t": np.dtype(np.int32),
    "uint32_t": np.dtype(np.uint32),
    "int64_t": np.dtype(np.int64),
}

KERNEL = """#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t kImage = %(image)d;
constexpr uint32_t kArgs = %(args)d;
template <class T>
__aicore__ inline LocalTensor<T> at(int64_t byte) {
    return LocalTensor<T>(TPosition::VECCALC, 0, kImage / sizeof(T))[uint32_t(byte / int64_t(sizeof(T)))];
}
template <class T>
__aicore__ inline T as(int64_t bits) {
    T value;
    const char* from = reinterpret_cast<const char*>(&bits);
    char* to = reinterpret_cast<char*>(&value);
    for (unsigned i = 0; i < sizeof(T); ++i) to[i] = from[i];
    return value;
}
template <class T>
__aicore__ inline int64_t bits(T value) {
    int64_t result = 0;
    const char* from = reinterpret_cast<const char*>(&value);
    char* to = reinterpret_cast<char*>(&result);
    for (unsigned i = 0; i < sizeof(T); ++i) to[i] = from[i];
    return result;
}
%(functions)s
extern "C" __global__ __aicore__ void vector_cases(GM_ADDR image, GM_ADDR args, GM_ADDR results, int64_t which) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    const int64_t* p = reinterpret_cast<const int64_t*>(args);
    int64_t* r = reinterpret_cast<int64_t*>(results);
    GlobalTensor<uint8_t> memory;
    memory.SetGlobalBuffer(image, kImage);
    LocalTensor<uint8_t> ub(TPosition::VECCALC, 0, kImage);
    DataCopy(ub, memory, kImage);
    PipeBarrier<PIPE_ALL>();
    switch (which) {
%(switch)s
    }
    PipeBarrier<PIPE_ALL>();
    DataCopy(memory, ub, kImage);
    PipeBarrier<PIPE_ALL>();
}
"""

HOST = """#include "pyto_launch.h"
PYTO_KERNEL(vector_cases, GM_ADDR, GM_ADDR, GM_ADDR, int64_t);
extern "C" int pyto_vector_cases(void* const* tensors, const int64_t* dims, const void*, void*, void* stream) {
    PYTO_LAUNCH(vector_cases, 1, stream, PYTO_INOUT(tensors[0], %(image)d), PYTO_IN(tensors[1], %(args)d),
                PYTO_OUT(tensors[2], %(results)d), dims[0]);
    return 0;
}
"""


def sources(cases: dict[str, str]) -> dict[str, str]:
    functions = []
    switch = []
    for number, body in enumerate(cases.values()):
        functions.append(f"__attribute__((noinline)) void case_{number}(const int64_t* p, int64_t* r) {{ {body} }}")
        switch.append(f"    case {number}: case_{number}(p, r); break;")
    sizes = {"image": IMAGE, "args": ARGS * 8, "results": RESULTS * 8}
    return {
        "vector_cases.cpp": KERNEL % {**sizes, "functions": "\n".join(functions), "switch": "\n".join(switch)},
        "vector_cases_host.cpp": HOST % sizes,
    }


class _Library:
    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)
        self.library.pyto_last_error.restype = ctypes.c_char_p

    def run(self, which: int, image: np.ndarray, args: list[int]) -> tuple[str, np.ndarray, np.ndarray]:
        image = image.copy()
        arguments = np.zeros(ARGS, np.uint64)
        arguments[: len(args)] = [a & 0xFFFFFFFFFFFFFFFF for a in args]
        results = np.zeros(RESULTS, np.uint64)
        tensors = (ctypes.c_void_p * 3)(image.ctypes.data, arguments.ctypes.data, results.ctypes.data)
        dims = (ctypes.c_int64 * 1)(which)
        status = self.library.pyto_vector_cases(tensors, dims, None, None, None)
        error = self.library.pyto_last_error().decode() if status else ""
        return error, image, results


def _serve(path: str) -> None:
    """Answers pickled requests on stdin until it ends."""
    library = _Library(path)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            request = pickle.load(stdin)
        except EOFError:
            return
        pickle.dump(library.run(*request), stdout)
        stdout.flush()


class SimulatorError(Exception):
    pass


class Runner:
    """The built cases, in one process for each instruction set (the choice is made once a process)."""

    def __init__(self, cases: dict[str, str]) -> None:
        from pyto.build.cxx import CxxBuild

        self.names = {name: number for number, name in enumerate(cases)}
        build = CxxBuild("vector_cases", sources(cases), "ascend910b2", (24, 48))
        path = str(build.build() / "vector_cases.so")
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        for isa in self._isas():
            environment = {**os.environ, "PYTO_SIM_ISA": isa, "PYTO_THREADS": "1"}
            self.workers[isa] = subprocess.Popen(
                [sys.executable, str(Path(__file__)), path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
            )

    @staticmethod
    def _isas() -> list[str]:
        found = ["portable"]
        try:
            flags = Path("/proc/cpuinfo").read_text()
        except OSError:
            return found
        if " avx2 " in flags:
            found.append("avx2")
        if " avx512bw " in flags:
            found.append("avx512")
        return found

    def run(self, name: str, image: np.ndarray, *args: int) -> tuple[np.ndarray, np.ndarray]:
        """UB and the results after the case; equal in every bit on all instruction sets."""
        request = (self.names[name], image, list(args))
        answers: dict[str, tuple[str, np.ndarray, np.ndarray]] = {}
        for worker in self.workers.values():
            assert worker.stdin is not None
            pickle.dump(request, worker.stdin)
            worker.stdin.flush()
        for isa, worker in self.workers.items():
            assert worker.stdout is not None
            answers[isa] = pickle.load(worker.stdout)
        first = answers["portable"]
        for isa, answer in answers.items():
            assert answer[0] == first[0], isa
            if not answer[0]:
                np.testing.assert_array_equal(answer[1], first[1], err_msg=f"{isa} differs from portable")
                np.testing.assert_array_equal(answer[2], first[2], err_msg=f"{isa} differs from portable")
        if first[0]:
            raise SimulatorError(first[0])
        return first[1], first[2]


@functools.lru_cache(maxsize=1)
def runner() -> Runner:
    import importlib.util

    spec = importlib.util.spec_from_file_location("pyto_vector_cases", Path(__file__).with_name("vector_cases.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Runner(module.CASES)


# pictures of UB


def noise(seed: int, size: int = IMAGE) -> np.ndarray:
    """A UB full of random bytes."""
    return np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)


def bits_of(value: Any, dtype: np.dtype) -> int:
    """The bits of a scalar, as the cases take them."""
    return int.from_bytes(np.asarray(value, dtype).tobytes(), "little")


def put(image: np.ndarray, byte: int, values: np.ndarray) -> None:
    raw = np.ascontiguousarray(values).view(np.uint8).ravel()
    image[byte : byte + raw.size] = raw


def get(image: np.ndarray, byte: int, count: int, dtype: np.dtype) -> np.ndarray:
    return image[byte : byte + count * dtype.itemsize].view(dtype)


def lanes(base: int, blk: int, rep: int, dtype: np.dtype, width: int, mask: list[int], repeats: int) -> np.ndarray:
    """Byte addresses of the active lanes, repeat after repeat. `width`: bytes of the widest element of the call."""
    per_block = 32 // dtype.itemsize
    lane = np.array([i for i in mask if i < 256 // width], dtype=np.int64)
    one = (lane // per_block) * blk * 32 + (lane % per_block) * dtype.itemsize
    return (base + np.arange(repeats, dtype=np.int64)[:, None] * rep * 32 + one[None, :]).ravel()


def load(image: np.ndarray, addresses: np.ndarray, dtype: np.dtype) -> np.ndarray:
    raw = image[addresses[:, None] + np.arange(dtype.itemsize)]
    return np.ascontiguousarray(raw).view(dtype).ravel()


def store(image: np.ndarray, addresses: np.ndarray, values: np.ndarray) -> None:
    raw = np.ascontiguousarray(values).view(np.uint8).reshape(len(addresses), np.asarray(values).dtype.itemsize)
    image[addresses[:, None] + np.arange(raw.shape[1])] = raw


def mask_words(mask: list[int]) -> list[int]:
    """mask[2] of a list of lanes."""
    words = [0, 0]
    for lane in mask:
        words[lane // 64] |= 1 << (lane % 64)
    return words


def floats(rng: np.random.Generator, n: int, dtype: np.dtype, special: bool = True) -> np.ndarray:
    """Values over a wide range, with zeros, infinities, NaN and denormals among them."""
    with np.errstate(over="ignore"):
        values = (rng.standard_normal(n) * np.exp2(rng.integers(-8, 8, n))).astype(np.float32).astype(dtype)
    if special and n >= 16:
        extra = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 6e-8, 65504.0, 1.0, -1.0], np.float32)
        with np.errstate(over="ignore"):
            values[rng.choice(n, extra.size, replace=False)] = extra.astype(dtype)
    return values


def integers(rng: np.random.Generator, n: int, dtype: np.dtype) -> np.ndarray:
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)


def values(rng: np.random.Generator, n: int, dtype: np.dtype, special: bool = True) -> np.ndarray:
    return floats(rng, n, dtype, special) if dtype.kind == "f" or dtype == BF16 else integers(rng, n, dtype)


def assert_same(actual: np.ndarray, expected: np.ndarray, what: str = "") -> None:
    """Equal bits, except that any NaN equals any NaN."""
    assert actual.dtype == expected.dtype, what
    if actual.dtype.kind != "f" and actual.dtype != BF16:
        np.testing.assert_array_equal(actual, expected, err_msg=what)
        return
    unsigned = np.dtype(f"u{actual.dtype.itemsize}")
    nan = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(actual.astype(np.float32)), nan, err_msg=what)
    np.testing.assert_array_equal(
        np.where(nan, 0, actual.view(unsigned)), np.where(nan, 0, expected.view(unsigned)), err_msg=what
    )


if __name__ == "__main__":
    _serve(sys.argv[1])
