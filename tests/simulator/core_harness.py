"""Builds a file of Ascend C kernels and runs them in processes of their own, one for each instruction set and number of
threads: both are chosen once a process, and a kernel that crashes must not take the tests along.

The launcher is generated: it takes the GM arguments with direction and extent, and the integers, in the kernel's order.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

IN, OUT, INOUT = 0, 1, 2
ISAS = ("portable", "avx2", "avx512", "amx")


@dataclass
class Gm:
    """A GM argument: an array and how the launch binds it. `bytes` narrows what the launch is told of it."""

    array: np.ndarray
    direction: int
    bytes: int = -1


def In(array: np.ndarray) -> Gm:
    return Gm(np.ascontiguousarray(array), IN)


def Out(array: np.ndarray, bytes: int = -1) -> Gm:
    return Gm(np.ascontiguousarray(array), OUT, bytes)


def InOut(array: np.ndarray) -> Gm:
    return Gm(np.ascontiguousarray(array), INOUT)


Arg = Gm | int


class SimulatorError(Exception):
    """A launch failed: the code it returned and the message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def launcher(kernels: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The host file of kernels given as (name, parameter declarations)."""
    lines = ['#include "pyto_launch.h"']
    for name, params in kernels:
        types = ["GM_ADDR" if "GM_ADDR" in p else p.rsplit(" ", 1)[0] for p in params]
        passed, gm, integer = [], 0, 0
        for kind in types:
            if kind == "GM_ADDR":
                passed.append(f"gm[{gm}]")
                gm += 1
            else:
                passed.append(f"static_cast<{kind}>(integers[{integer}])")
                integer += 1
        arguments = "".join(f", {p}" for p in passed)
        lines += [
            f"PYTO_KERNEL({name}{''.join(', ' + t for t in types)});",
            f'extern "C" int pyto_{name}(int64_t blocks, const pyto_sim::GmArg* gm, const int64_t* integers) {{',
            "    (void)gm;",
            "    (void)integers;",
            f"    PYTO_LAUNCH({name}, blocks, nullptr{arguments});",
            "    return 0;",
            "}",
        ]
    return "\n".join(lines) + "\n"


class _GmArg(ctypes.Structure):
    _fields_ = [("pointer", ctypes.c_void_p), ("bytes", ctypes.c_int64), ("direction", ctypes.c_int)]


def _call(library: ctypes.CDLL, kernel: str, blocks: int, args: Sequence[Arg]) -> tuple[int, str, list[np.ndarray]]:
    tensors = [a for a in args if isinstance(a, Gm)]
    arrays = [t.array.copy() if t.direction == IN else t.array for t in tensors]
    gm = (_GmArg * max(1, len(tensors)))()
    for slot, tensor, array in zip(gm, tensors, arrays):
        slot.pointer = array.ctypes.data
        slot.bytes = array.nbytes if tensor.bytes < 0 else tensor.bytes
        slot.direction = tensor.direction
    integers = [a for a in args if not isinstance(a, Gm)]
    values = (ctypes.c_int64 * max(1, len(integers)))(*integers)
    status = getattr(library, f"pyto_{kernel}")(ctypes.c_int64(blocks), gm, values)
    library.pyto_last_error.restype = ctypes.c_char_p
    message = library.pyto_last_error().decode() if status else ""
    for tensor, array in zip(tensors, arrays):
        if tensor.direction == IN:
            assert array.tobytes() == tensor.array.tobytes(), "an input changed"
    return status, message, [a for t, a in zip(tensors, arrays) if t.direction != IN]


def _serve(path: str) -> None:
    """Answers pickled requests on stdin until it ends. What kernels print goes to stderr."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    library = ctypes.CDLL(path)
    while True:
        try:
            kernel, blocks, args = pickle.load(requests)
        except EOFError:
            return
        pickle.dump(_call(library, kernel, blocks, [a if isinstance(a, int) else Gm(*a) for a in args]), answers)
        answers.flush()


def machine_isas() -> list[str]:
    """The instruction sets this machine has, as PYTO_SIM_ISA names them."""
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ["portable"]
    wanted = {"portable": "", "avx2": " avx2 ", "avx512": " avx512bw ", "amx": " amx_bf16 "}
    return [isa for isa in ISAS if wanted[isa] in flags]


class Program:
    """The kernels of one source file of this folder; `recorded` builds them so that instructions are queued."""

    def __init__(self, file: str, recorded: bool = False) -> None:
        from pyto.build import build_sources, scan_kernels

        name = Path(file).stem
        text = Path(__file__).with_name(file).read_text(encoding="utf-8")
        kernels = [(k.name, k.params) for k in scan_kernels(file, text)]
        if recorded:
            text, name = "#define PYTO_SIM_RECORD 1\n" + text, f"{name}_recorded"
            file = f"{name}.cpp"
        self.path = build_sources(name, {file: text, f"{name}_host.cpp": launcher(kernels)})
        self.workers: dict[tuple[str, int], subprocess.Popen[bytes]] = {}

    def run(self, kernel: str, blocks: int, *args: Arg, isa: str = "", threads: int = 2) -> list[np.ndarray]:
        """The out and inout arrays after the launch, in order. Raises SimulatorError when it fails."""
        worker = self._worker(isa, threads)
        assert worker.stdin is not None and worker.stdout is not None
        plain = [a if isinstance(a, int) else (a.array, a.direction, a.bytes) for a in args]
        pickle.dump((kernel, blocks, plain), worker.stdin)
        worker.stdin.flush()
        try:
            status, message, arrays = pickle.load(worker.stdout)
        except EOFError:
            self.workers.pop((isa, threads)).wait()
            raise RuntimeError(f"{kernel} ended the process") from None
        if status:
            raise SimulatorError(status, message)
        return arrays

    def _worker(self, isa: str, threads: int) -> subprocess.Popen[bytes]:
        if (isa, threads) not in self.workers:
            self.workers[isa, threads] = subprocess.Popen(
                [sys.executable, str(Path(__file__)), str(self.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTO_SIM_ISA": isa, "PYTO_THREADS": str(threads)},
            )
        return self.workers[isa, threads]


if __name__ == "__main__":
    _serve(sys.argv[1])
