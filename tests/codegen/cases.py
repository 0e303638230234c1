"""Inputs and float64 references of the kernels in `kernels.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
BF16 = np.dtype(ml_dtypes.bfloat16)
F32, F16, F64 = np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.float64)


@dataclass(frozen=True)
class Case:
    """`reads` are inputs, `writes` what out and inout tensors hold before, `expected` after; `bound` is relative L2."""

    kernel: str
    shape: tuple[int, ...]
    reads: dict[str, Array]
    writes: dict[str, Array]
    expected: dict[str, Array]
    bound: float

    def error(self, got: dict[str, Array]) -> float:
        """The worst relative L2 error over the outputs."""
        worst = 0.0
        for name, want in self.expected.items():
            difference = np.linalg.norm(got[name].astype(F64) - want)
            worst = max(worst, float(difference / max(np.linalg.norm(want), 1e-30)))
            assert np.isfinite(got[name].astype(F64)).all(), f"{name} holds values that are not finite"
        return worst


def normal(rng: np.random.Generator, *shape: int, dtype: Any = F32) -> Array:
    return rng.standard_normal(shape).astype(F32).astype(dtype)


def _add_one(rng: Any, m: int, n: int) -> Any:
    x = normal(rng, m, n)
    return {"x": x}, {"y": np.full((m, n), 7, F32)}, {"y": x + 1.0}, 1e-6


def _softmax(rng: Any, m: int) -> Any:
    x = normal(rng, m, 100)
    e = np.exp(x.astype(F64) - x.max(1, keepdims=True))
    return {"x": x}, {"y": np.zeros_like(x)}, {"y": e / e.sum(1, keepdims=True)}, 1e-6


def _row_sum(rng: Any, m: int, n: int) -> Any:
    x = normal(rng, m, n)
    return {"x": x}, {"y": np.zeros((m, 1), F32)}, {"y": x.astype(F64).sum(1, keepdims=True)}, 1e-5


def _col_sum(rng: Any, m: int) -> Any:
    x = normal(rng, m, 96)
    return {"x": x}, {"y": np.zeros((1, 96), F32)}, {"y": x.astype(F64).sum(0, keepdims=True)}, 1e-5


def _product(a_shape: str, b_shape: str, dtype: Any, out: Any, bound: float, depth: int = 0) -> Callable[..., Any]:
    """a @ b in float64; the shapes are "mk", "km", "kn" or "nk"."""

    def make(rng: Any, m: int, n: int, k: int = depth) -> Any:
        extent = {"m": m, "n": n, "k": k}
        shapes = [tuple(extent[c] for c in s) for s in (a_shape, b_shape)]
        if dtype == np.int8:
            a, b = (rng.integers(-100, 100, s).astype(np.int8) for s in shapes)
        else:
            a, b = (normal(rng, *s, dtype=dtype) for s in shapes)
        left = a.astype(F64) if a_shape == "mk" else a.astype(F64).T
        right = b.astype(F64) if b_shape == "kn" else b.astype(F64).T
        return {"a": a, "b": b}, {"c": np.zeros((m, n), out)}, {"c": left @ right}, bound

    return make


def _scale(rng: Any, m: int) -> Any:
    x = normal(rng, m, 256)
    return {"x": x}, {"y": np.zeros((m, 256), BF16)}, {"y": x * 2.0}, 4e-3


def _in_place(rng: Any, m: int) -> Any:
    x, d = normal(rng, m, 128), normal(rng, m, 128, dtype=BF16)
    return {"d": d}, {"x": x}, {"x": x.astype(F64) + d.astype(F64)}, 1e-6


def _halves(rng: Any, m: int) -> Any:
    x = normal(rng, m, 128) + 5
    lo, hi = x[:, :64].astype(F64), x[:, 64:].astype(F64)
    return {"x": x}, {"y": np.zeros((m, 128), BF16)}, {"y": np.concatenate([hi - lo, hi / lo], 1)}, 4e-3


def _bf16(rng: Any, m: int) -> Any:
    x = normal(rng, m, 64, dtype=BF16)
    wide = x.astype(F64)
    return {"x": x}, {"y": np.zeros((m, 64), BF16)}, {"y": np.maximum(wide**2 - 0.5, 0) + 3 / (abs(wide) + 1)}, 8e-3


def _atomic(rng: Any, m: int) -> Any:
    x = normal(rng, m, 64)
    return {"x": x}, {"y": np.ones((1, 64), F32)}, {"y": 1 + x.astype(F64).sum(0, keepdims=True)}, 1e-5


def _twice(rng: Any, m: int) -> Any:
    x = normal(rng, m, 64)
    return {"x": x}, {"y": np.zeros((m, 64), F32)}, {"y": 2 * x.astype(F64) + 1}, 1e-6


def _gather(rng: Any, m: int, n: int) -> Any:
    ids, table = rng.integers(0, n, m).astype(np.int32), normal(rng, n, 64)
    return {"ids": ids, "table": table}, {"y": np.zeros((m, 64), F32)}, {"y": table[ids]}, 0.0


ROWS = [(1,), (8,), (19,), (50,)]
MAKERS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "add_one": (_add_one, [(1, 1), (16, 64), (33, 130), (7, 5)]),
    "softmax": (_softmax, [(1,), (8,), (19,)]),
    "row_sum_tails": (_row_sum, [(3, 5), (8, 128), (9, 300), (20, 64)]),
    "col_sum_pipelined": (_col_sum, [(1,), (15,), (16,), (40,)]),
    "matmul_nk": (_product("mk", "nk", BF16, F32, 1e-5), [(1, 1, 1), (5, 17, 100), (32, 48, 64), (40, 100, 129), (70, 10, 256)]),
    "matmul_peeled": (_product("mk", "nk", BF16, F32, 1e-5, 640), [(1, 128), (16, 200), (130, 129)]),
    "matmul_kn": (_product("mk", "kn", BF16, BF16, 4e-3, 128), [(1, 5), (33, 256), (40, 300)]),
    "matmul_tn": (_product("km", "kn", F16, F32, 1e-5, 128), [(1, 5), (33, 256), (40, 300)]),
    "matmul_fp32": (_product("mk", "nk", F32, F32, 1e-5, 64), [(1, 5), (33, 256), (40, 100)]),
    "matmul_int8": (_product("mk", "nk", np.int8, np.int32, 0.0, 64), [(1, 5), (33, 256), (40, 100)]),
    "pipelined_scale": (_scale, ROWS),
    "add_in_place": (_in_place, ROWS),
    "halves": (_halves, ROWS),
    "bf16_arithmetic": (_bf16, ROWS),
    "atomic_sum": (_atomic, ROWS),
    "store_then_load": (_twice, ROWS),
    "gather_rows": (_gather, [(1, 3), (60, 20)]),
}  # fmt: skip


def cases(kernel: str) -> Iterator[Case]:
    make, shapes = MAKERS[kernel]
    for shape in shapes:
        rng = np.random.default_rng(sum(shape))
        reads, writes, expected, bound = make(rng, *shape)
        yield Case(kernel, shape, reads, writes, expected, bound)
