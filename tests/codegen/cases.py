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
    """`reads`: inputs, arrays and scalars; `writes`: what out and inout tensors hold before, `expected` after; `bound`:
    relative L2."""

    kernel: str
    shape: tuple[int, ...]
    reads: dict[str, Any]
    writes: dict[str, Array]
    expected: dict[str, Array]
    bound: float

    @property
    def arrays(self) -> dict[str, Array]:
        return {k: v for k, v in self.reads.items() if isinstance(v, np.ndarray)}

    @property
    def scalars(self) -> dict[str, Any]:
        return {k: v for k, v in self.reads.items() if not isinstance(v, np.ndarray)}

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


def _two_acc(rng: Any, m: int) -> Any:
    a, b, d = (normal(rng, r, 256, dtype=BF16) for r in (m, 64, 64))
    want = {"c": a.astype(F64) @ b.astype(F64).T, "e": a.astype(F64) @ d.astype(F64).T}
    return {"a": a, "b": b, "d": d}, {n: np.zeros((m, 64), F32) for n in want}, want, 1e-5


def _swap(rng: Any, m: int) -> Any:
    x = normal(rng, m, 64)
    a, b = np.ones((1, 64)), np.full((1, 64), 2.0)
    for row in x.astype(F64):
        a, b = b, a + row
    return {"x": x}, {n: np.zeros((1, 64), F32) for n in "yz"}, {"y": a, "z": b}, 1e-5


def _prefix(rng: Any, m: int) -> Any:
    x = normal(rng, m, 64)
    return {"x": x}, {"y": np.zeros_like(x)}, {"y": np.cumsum(x.astype(F64), 0)}, 1e-5


def _nested(rng: Any, m: int) -> Any:
    x = normal(rng, m, 256)
    wide = x.astype(F64)
    return {"x": x}, {"y": np.zeros_like(x)}, {"y": wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-6)}, 1e-5


def _reuse_after(rng: Any, m: int) -> Any:
    x = normal(rng, m, 64)
    u = x.astype(F64) + 1
    z = np.concatenate([(u * x)[:, :32] + x[:, 32:], (u * x)[:, 32:]], 1)
    return {"x": x}, {n: np.zeros_like(x) for n in "yz"}, {"y": u, "z": z}, 1e-5


def _odd_cols(rng: Any, m: int) -> Any:
    x, g = normal(rng, m, 13), normal(rng, 1, 13)
    return {"x": x, "g": g}, {"y": np.zeros_like(x)}, {"y": x.astype(F64) - x.min(1, keepdims=True) + g}, 1e-5


def _fp16_all(rng: Any, m: int) -> Any:
    x = normal(rng, m, 96, dtype=F16)
    wide = x.astype(F64)
    want = {"y": np.maximum(wide - wide.max(1, keepdims=True), -1.5), "s": wide.sum(1, keepdims=True)}
    return {"x": x}, {n: np.zeros(v.shape, F16) for n, v in want.items()}, want, 2e-3


def _ints(rng: Any, m: int) -> Any:
    x = rng.integers(-300, 300, (m, 40)).astype(np.int32)
    want = {"y": np.minimum(x.astype(F64) * 3 - 7, 100) - x, "h": np.clip(np.rint(x * 0.5), -128, 127)}
    return {"x": x}, {"y": np.zeros((m, 40), np.int32), "h": np.zeros((m, 40), np.int8)}, want, 0.0


def _colstats(rng: Any, m: int, n: int) -> Any:
    x = normal(rng, m, n)
    want = {"mx": x.max(0, keepdims=True), "mn": x.min(0, keepdims=True)}
    return {"x": x}, {k: np.zeros((1, n), F32) for k in want}, want, 0.0


def _three_d(rng: Any, m: int) -> Any:
    x = normal(rng, m, 6, 32)
    return {"x": x}, {"y": np.zeros((6, m, 32), F32)}, {"y": 2 * x.transpose(1, 0, 2)}, 0.0


def _scalars(rng: Any, m: int) -> Any:
    x = normal(rng, m, 32)
    y = x.astype(F64) * np.float32(1.7) + 1
    y[m - 1] = 0
    return {"x": x, "a": 1.7, "n": m - 1}, {"y": np.zeros_like(x)}, {"y": y}, 1e-6


def _chain(rng: Any, m: int) -> Any:
    x, w = normal(rng, m, 128), (normal(rng, 64, 128) * 0.1).astype(BF16)
    y = np.exp(-(x.astype(BF16).astype(F64) @ w.astype(F64).T)) + 0.5
    return {"x": x, "w": w}, {"y": np.zeros((m, 64), F32)}, {"y": y}, 1e-5


def _many_loads(rng: Any, m: int) -> Any:
    x = normal(rng, m, 512)
    s = x[:, :32].astype(F64)
    for j in range(32, 512, 32):
        s = s * 0.5 + x[:, j : j + 32]
    return {"x": x}, {"y": np.zeros((m, 32), F32)}, {"y": s}, 1e-6


def _wide(rng: Any, m: int, n: int) -> Any:
    a, b = normal(rng, m, 32, dtype=BF16), normal(rng, 32, n, dtype=BF16)
    return {"a": a, "b": b}, {"c": np.zeros((m, 64), F32)}, {"c": a.astype(F64) @ b[:, :64].astype(F64)}, 1e-5


def _very_wide(rng: Any, m: int) -> Any:
    a, b = normal(rng, m, 32, dtype=BF16), normal(rng, 48, 70000, dtype=BF16)
    return {"a": a, "b": b}, {"c": np.zeros((m, 48), F32)}, {"c": a.astype(F64) @ b[:, 64:96].astype(F64).T}, 1e-5


def _many_rows(rng: Any, m: int) -> Any:
    x = normal(rng, m, 16, dtype=F16)
    return {"x": x}, {"y": np.zeros((m, 8), F16)}, {"y": x[:, :8].astype(F64) + 1}, 1e-3


def _column(rng: Any, m: int) -> Any:
    x, g = normal(rng, m, 1), normal(rng, 1, 1)
    return {"x": x, "g": g}, {"y": np.zeros_like(x)}, {"y": x.astype(F64) + g}, 1e-6


def _past(rng: Any, n: int) -> Any:
    x = normal(rng, 16, 64)
    t = x.astype(F64) + 1
    t[n : n + 4] = x[: max(0, 16 - n)][:4]
    return {"x": x, "n": n}, {"y": np.zeros_like(x)}, {"y": np.maximum(t, 2 * x.astype(F64))}, 1e-6


def _recurrence(rng: Any, m: int) -> Any:
    y = normal(rng, m, 64)
    return {}, {"y": y}, {"y": y[:1].astype(F64) * 0.5 ** np.arange(m)[:, None]}, 0.0


def _int16(rng: Any, m: int) -> Any:
    x = rng.integers(-900, 900, (m, 64)).astype(np.int16)
    return {"x": x}, {"y": np.zeros_like(x)}, {"y": np.maximum(8 - x.astype(F64) * 3, 2) - x}, 0.0


def _sum_all(rng: Any, m: int) -> Any:
    x = normal(rng, m, 64) + 1
    return {"x": x}, {"y": np.zeros((1, 1), F32)}, {"y": x.astype(F64).sum(keepdims=True)}, 1e-5


ROWS = [(1,), (8,), (19,), (50,)]
MAKERS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "add_one": (_add_one, [(1, 1), (16, 64), (33, 130), (7, 5)]),
    "softmax": (_softmax, [(1,), (8,), (19,)]),
    "row_sum_tails": (_row_sum, [(3, 5), (8, 128), (9, 300), (20, 64)]),
    "col_sum_pipelined": (_col_sum, [(1,), (15,), (16,), (40,)]),
    "matmul_nk": (
        _product("mk", "nk", BF16, F32, 1e-5),
        [(1, 1, 1), (5, 17, 100), (32, 48, 64), (40, 100, 129), (70, 10, 256)],
    ),
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
    "two_acc": (_two_acc, ROWS),
    "carried_swap": (_swap, ROWS),
    "prefix": (_prefix, ROWS),
    "nested": (_nested, ROWS),
    "reuse_after": (_reuse_after, ROWS),
    "odd_cols": (_odd_cols, ROWS),
    "fp16_all": (_fp16_all, ROWS),
    "ints": (_ints, ROWS),
    "colstats": (_colstats, [(1, 5), (20, 64), (45, 100)]),
    "three_d": (_three_d, ROWS),
    "scalars": (_scalars, ROWS),
    "chain": (_chain, ROWS),
    "many_loads": (_many_loads, ROWS),
    "wide_rows": (_wide, [(16, 64), (5, 4480), (16, 70016)]),
    "very_wide_rows": (_very_wide, [(16,), (3,)]),
    "many_rows": (_many_rows, [(7,), (4096,), (4500,)]),
    "column_plus_one_value": (_column, ROWS),
    "rows_past_the_tile": (_past, [(0,), (12,), (14,), (16,)]),
    "recurrence": (_recurrence, [(2,), (9,)]),
    "recurrence_pipelined": (_recurrence, [(2,), (9,)]),
    "int16_scalars": (_int16, ROWS),
    "sum_of_all": (_sum_all, ROWS),
    "gather_rows": (_gather, [(1, 3), (60, 20)]),
}


def cases(kernel: str) -> Iterator[Case]:
    make, shapes = MAKERS[kernel]
    for shape in shapes:
        rng = np.random.default_rng(sum(shape))
        reads, writes, expected, bound = make(rng, *shape)
        yield Case(kernel, shape, reads, writes, expected, bound)
