"""Build an Ascend C file as it stands and call its kernels with numpy arrays: what a user's extern would go through."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pyto.build import build_sources, scan_kernels

KERNELS = Path(__file__).parent / "kernels"


@dataclass(frozen=True)
class In:
    """An argument that the kernel only reads."""

    array: np.ndarray


@dataclass(frozen=True)
class Out:
    """An argument that the kernel writes."""

    array: np.ndarray


@dataclass(frozen=True)
class InOut:
    """An argument that the kernel reads and writes."""

    array: np.ndarray


Arg = In | Out | InOut | int
_MACROS = {In: "PYTO_IN", Out: "PYTO_OUT", InOut: "PYTO_INOUT"}


def _launcher(kernel: str, types: Sequence[str], args: Sequence[Arg]) -> str:
    """`pyto_KERNEL(pointers, numbers)`: numbers are the blocks, then bytes (tensors) or value (integers) in order."""
    passed = []
    for i, arg in enumerate(args):
        macro = _MACROS.get(type(arg))  # type: ignore[arg-type]
        passed.append(f"{macro}(pointers[{i}], numbers[{i + 1}])" if macro else f"numbers[{i + 1}]")
    return (
        f"PYTO_KERNEL({kernel}, {', '.join(types)});\n"
        f'extern "C" int pyto_{kernel}(void* const* pointers, const int64_t* numbers) {{\n'
        f"    PYTO_LAUNCH({kernel}, numbers[0], nullptr, {', '.join(passed)});\n"
        f"    return 0;\n}}\n"
    )


class Program:
    """One file of kernels, built on first use of a kernel (its arguments give the launcher)."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = (KERNELS / f"{name}.cpp").read_text(encoding="utf-8")
        self.kernels = {kernel.name: kernel for kernel in scan_kernels(f"{name}.cpp", self.text)}

    def bind(self, kernel: str, blocks: int, *args: Arg) -> Callable[[], None]:
        """A function that runs `kernel` on `blocks` blocks; it raises RuntimeError with the simulator's message."""
        params = self.kernels[kernel].params
        types = ["int64_t" if param.startswith("int64_t") else "GM_ADDR" for param in params]
        assert len(types) == len(args)
        host = '#include "pyto_launch.h"\n' + _launcher(kernel, types, args)
        sources = {f"{self.name}.cpp": self.text, f"{self.name}_host.cpp": host}
        library = ctypes.CDLL(str(build_sources(self.name, sources)))
        entry = getattr(library, f"pyto_{kernel}")
        pointers = (ctypes.c_void_p * len(args))()
        numbers = (ctypes.c_int64 * (len(args) + 1))(blocks)
        for i, arg in enumerate(args):
            if isinstance(arg, int):
                numbers[i + 1] = arg
            else:
                assert arg.array.flags.c_contiguous
                pointers[i] = arg.array.ctypes.data
                numbers[i + 1] = arg.array.nbytes

        def run() -> None:
            if entry(pointers, numbers) != 0:
                library.pyto_last_error.restype = ctypes.c_char_p
                raise RuntimeError(library.pyto_last_error().decode())

        run.arguments = args  # type: ignore[attr-defined]  # keeps the arrays alive
        return run

    def call(self, kernel: str, blocks: int, *args: Arg) -> None:
        """Run `kernel` once."""
        self.bind(kernel, blocks, *args)()
