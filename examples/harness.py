"""What the examples share: a kernel with arguments and a reference, and a command line that compares the two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
BF16 = np.dtype(ml_dtypes.bfloat16)


@dataclass(frozen=True)
class Example:
    """arguments: makes the kernel's arguments for one of `sizes`; the last `outputs` of them are written.

    reference: what the outputs should be, from all arguments. tolerance: of the largest error, relative to the largest
    number of the reference; 0 where numbers are exact.
    """

    kernel: Any
    sizes: Sequence[Any]
    arguments: Callable[..., list[Any]]
    reference: Callable[..., Sequence[Array]]
    tolerance: float
    outputs: int = 1

    def error(self, size: Any) -> float:
        """Runs the kernel, and gives the largest error relative to the largest number of the reference."""
        arguments = self.arguments(np.random.default_rng(0), *(size if isinstance(size, tuple) else (size,)))
        wanted = self.reference(*[np.array(a) for a in arguments])
        self.kernel(*arguments)
        worst = 0.0
        for have, want in zip(arguments[-self.outputs :], wanted):
            want = np.asarray(want, np.float64)
            scale = np.abs(want).max(initial=1e-30) if self.tolerance else 1.0
            worst = max(worst, float(np.abs(have.astype(np.float64) - want).max(initial=0.0) / scale))
        return worst


def main(example: Example) -> None:
    for size in example.sizes:
        error = example.error(size)
        print(f"{example.kernel.name} {size}: error {error:.1e}, at most {example.tolerance:.0e}")
        assert error <= example.tolerance


def normal(rng: np.random.Generator, *shape: int, dtype: Any = np.float32) -> Array:
    return rng.standard_normal(shape, dtype=np.float32).astype(dtype)
