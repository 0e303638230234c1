"""Inputs and float64 references of the kernels in `mixed_kernels.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.codegen.cases import BF16, F16, F32, F64, Array, Case, normal


def wide(*arrays: Array) -> tuple[Array, ...]:
    return tuple(a.astype(F64) for a in arrays)


def _plus(rng: Any, m: int, n: int) -> Any:
    a, b, r = normal(rng, m, 128, dtype=BF16), normal(rng, n, 128, dtype=BF16), normal(rng, m, n)
    x, y, z = wide(a, b, r)
    return {"a": a, "b": b, "r": r}, {"c": np.zeros((m, n), F32)}, {"c": x @ y.T + z}, 1e-5


def _residual(rng: Any, m: int, n: int, k: int) -> Any:
    a, b, r = (normal(rng, *s, dtype=BF16) for s in ((m, k), (n, k), (m, n)))
    x, y, z = wide(a, b, r)
    want = (x @ y.T).astype(BF16).astype(F64) + z
    return {"a": a, "b": b, "r": r}, {"c": np.zeros((m, n), BF16)}, {"c": want}, 8e-3


def _bias(rng: Any, m: int, n: int) -> Any:
    a, b, bias = normal(rng, m, 128, dtype=F16), normal(rng, 128, n, dtype=F16), normal(rng, 1, n)
    x, y, z = wide(a, b, bias)
    return {"a": a, "b": b, "bias": bias}, {"c": np.zeros((m, n), F16)}, {"c": np.maximum(x @ y + z, 0)}, 1e-3


def _int8(rng: Any, m: int, n: int) -> Any:
    a, b = (rng.integers(-100, 100, (s, 64)).astype(np.int8) for s in (m, n))
    s = normal(rng, 1, n)
    x, y, z = wide(a, b, s)
    return {"a": a, "b": b, "s": s}, {"c": np.zeros((m, n), F32)}, {"c": x @ y.T * z}, 1e-6


def _back(rng: Any, m: int) -> Any:
    a, b, d = normal(rng, m, 64) / 10, normal(rng, 96, 64, dtype=BF16), normal(rng, 64, 96, dtype=BF16)
    x, y, z = wide(a.astype(BF16), b, d)
    return {"a": a, "b": b, "d": d}, {"c": np.zeros((m, 64), F32)}, {"c": np.exp(x @ y.T) @ z.T * 2}, 8e-3


def _row(rng: Any, m: int) -> Any:
    a, b, d = (normal(rng, r, 64, dtype=BF16) for r in (m, 64, 64))
    x, y, z = wide(a, b, d)
    want = (x @ y.T).astype(BF16).astype(F64) @ z.T
    return {"a": a, "b": b, "d": d}, {"c": np.zeros((m, 64), F32)}, {"c": want}, 8e-3


def _attention(rng: Any, m: int, n: int) -> Any:
    q, k, v = (normal(rng, r, 64, dtype=BF16) for r in (m, n, n))
    x, y, z = wide(q, k, v)
    s = x @ y.T / 8
    p = np.exp(s - s.max(1, keepdims=True))
    want = p @ z / p.sum(1, keepdims=True)
    return {"q": q, "k": k, "v": v}, {"o": np.zeros((m, 64), F32)}, {"o": want}, 8e-3


def _nested(rng: Any, m: int) -> Any:
    a, b = normal(rng, m, 64), (normal(rng, 64, 64) / 16).astype(BF16)
    x, y = wide(a, b)
    for _ in range(3):
        x = x + x.astype(BF16).astype(F64) @ y.T
    return {"a": a, "b": b}, {"c": np.zeros((m, 64), F32)}, {"c": x}, 4e-3


def _trips(rng: Any, m: int, n: int) -> Any:
    a, b = normal(rng, m, 64, dtype=BF16), normal(rng, 64, 64, dtype=BF16)
    product = np.matmul(*wide(a, b))
    x = np.ones((m, 64))
    for _ in range(n):
        x = x * 0.5 + product
    return {"a": a, "b": b, "n": n}, {"c": np.zeros((m, 64), F32)}, {"c": x}, 1e-5


def _two(rng: Any, m: int) -> Any:
    a, b, d = (normal(rng, r, 64, dtype=BF16) for r in (m, 64, 64))
    x, y, z = wide(a, b, d)
    gate = x @ y.T
    want = gate / (np.exp(-gate) + 1) * (x @ z.T)
    return {"a": a, "b": b, "d": d}, {"c": np.zeros((m, 64), BF16)}, {"c": want}, 8e-3


def _sums(rng: Any, m: int) -> Any:
    a, b = normal(rng, m, 64, dtype=BF16), normal(rng, 64, 64, dtype=BF16)
    x, y = wide(a, b)
    return {"a": a, "b": b}, {"c": np.ones((1, 64), F32)}, {"c": 1 + (x @ y.T).sum(0, keepdims=True)}, 1e-5


def _both(rng: Any, m: int) -> Any:
    a, b = normal(rng, m, 64, dtype=BF16), normal(rng, 64, 64, dtype=BF16)
    x, y = wide(a, b)
    want = {"c": x @ y.T, "e": (x @ y.T).max(1, keepdims=True)}
    return {"a": a, "b": b}, {"c": np.zeros((m, 64), BF16), "e": np.zeros((m, 1), F32)}, want, 4e-3


def _through(rng: Any, m: int) -> Any:
    a, b = normal(rng, m, 64, dtype=BF16), normal(rng, 64, 64, dtype=BF16)
    x, y = wide(a, b)
    c = ((x @ y.T).astype(BF16).astype(F64) + 1).astype(BF16).astype(F64)
    return {"a": a, "b": b}, {"c": np.zeros((m, 64), BF16), "e": np.zeros((m, 64), F32)}, {"c": c, "e": c @ y.T}, 8e-3


def _below(rng: Any, m: int) -> Any:
    a, b, c = normal(rng, m, 64, dtype=BF16), normal(rng, 64, 64, dtype=BF16), normal(rng, m + 24, 64)
    x, y, z = wide(a, b, c)
    for i in range(0, m, 16):
        rows = min(16, m - i)
        z[i + 8 : i + 8 + rows] = z[i : i + rows] + x[i : i + rows] @ y.T
    return {"a": a, "b": b}, {"c": c}, {"c": z}, 1e-5


def _in_place(rng: Any, m: int) -> Any:
    a, b, c = normal(rng, m, 64, dtype=BF16), normal(rng, 64, 64, dtype=BF16), normal(rng, m, 64)
    x, y, z = wide(a, b, c)
    return {"a": a, "b": b}, {"c": c}, {"c": z + x @ y.T}, 1e-5


def _branches(rng: Any, m: int, n: int) -> Any:
    a, b = normal(rng, m, 64, dtype=BF16), normal(rng, 64, 64, dtype=BF16)
    x, y = wide(a, b)
    product = x @ y.T
    for k in range(4):
        x = x * 0.5 + product if k < n else x.astype(BF16).astype(F64) @ y / 8
    return {"a": a, "b": b, "n": n}, {"c": np.zeros((m, 64), F32)}, {"c": x}, 8e-3


def _while(rng: Any, m: int, n: int) -> Any:
    a, b = normal(rng, m, 64, dtype=BF16), normal(rng, 64, 64, dtype=BF16)
    x, y = wide(a, b)
    z, k = np.zeros((m, 64)), 1
    while k < n:
        z, k = z * 0.25 + x @ y.T, k * 2
    return {"a": a, "b": b, "n": n}, {"c": np.zeros((m, 64), F32)}, {"c": z}, 1e-5


def _some_steps(rng: Any, m: int, n: int) -> Any:
    a, b = normal(rng, m, 64, dtype=BF16), normal(rng, 64, 64, dtype=BF16)
    x, y = wide(a, b)
    return {"a": a, "b": b, "n": n}, {"c": np.zeros((m, 64), F32)}, {"c": 2 * x[:, :n] @ y[:, :n].T}, 1e-5


def _four(rng: Any, m: int) -> Any:
    q, k, v = (normal(rng, r, 64, dtype=F16) for r in (m, 200, 200))
    x, y, z = wide(q, k, v)
    p = np.exp(x @ y.T / 8)
    return {"q": q, "k": k, "v": v}, {"o": np.zeros((m, 64), F16)}, {"o": p @ z / p.sum(1, keepdims=True)}, 2e-3


def _halves(rng: Any, m: int, n: int, first: int) -> Any:
    a, b, w = (normal(rng, *s, dtype=BF16) for s in ((m, 64), (n, 64), (48, 48)))
    g = normal(rng, 1, n)
    x, y, z, gain = wide(a, b, w, g)
    c = normal(rng, m, n)
    want = c.astype(F64)
    s = x @ y.T
    p = (s * gain).astype(BF16).astype(F64)
    for number, j in enumerate(range(first * 48, n, 48)):
        at = slice(j, j + 48)
        part = p[:, at]
        t = (part @ z[: part.shape[1]])[:, : part.shape[1]]
        want[:, at] = s[:, at] + t * 2.0**number + gain[:, at]
    return {"a": a, "b": b, "w": w, "g": g, "n": first}, {"c": c}, {"c": want}, 8e-3


def _element(rng: Any, m: int) -> Any:
    a, b = normal(rng, m, 64, dtype=BF16), normal(rng, 64, 64, dtype=BF16)
    x, y = wide(a, b)
    s, d = x @ y.T, np.zeros(m)
    d[::16] = 3
    want = s * np.repeat(s[::16, :1], 16, 0)[:m] + 3
    return {"a": a, "b": b}, {"d": np.zeros(m, F32), "c": np.zeros((m, 64), F32)}, {"d": d, "c": want}, 1e-5


def _masks(rng: Any, m: int) -> Any:
    a, b = normal(rng, m, 64, dtype=BF16), normal(rng, 64, 64, dtype=BF16)
    ids = rng.integers(0, 64, (m, 64)).astype(np.int32)
    x, y = wide(a, b)
    s = x @ y.T
    want = {"c": np.where(s > 0, s, s * 0.5), "e": np.take_along_axis(x @ y, ids, 1)}
    return {"a": a, "b": b, "ids": ids}, {n: np.zeros((m, 64), F32) for n in want}, want, 1e-5


def _accumulators(rng: Any, m: int) -> Any:
    a, b, d = normal(rng, m, 64, dtype=BF16), normal(rng, 64, 64, dtype=BF16), normal(rng, m, 64)
    x, y, z = wide(a, b, d)
    want = {"c": x @ y.T + z, "e": x @ y.T}
    return {"a": a, "b": b, "d": d}, {n: np.zeros((m, 64), F32) for n in want}, want, 1e-5


def _rings(rng: Any, m: int, n: int) -> Any:
    a, b = normal(rng, m, 64, dtype=BF16), normal(rng, 64, 64, dtype=BF16)
    x, y = wide(a, b)
    s = np.zeros((m, 64))
    for _ in range(n):
        for k in range(3):
            s = s * 0.5 + (x @ y.T * (k + 1)).astype(BF16).astype(F64) @ y / 8
    return {"a": a, "b": b, "n": n}, {"c": np.zeros((m, 64), F32)}, {"c": s + s.astype(BF16).astype(F64) @ y}, 8e-3


MORE_THAN_CORES = 16 * 24 + 40  # rows whose blocks of 16 are more than the cube cores
MAKERS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "product_plus": (_plus, [(64, 96)]),
    "gemm_residual": (_residual, [(64, 128, 256), (100, 200, 100), (1, 5, 7), (64, 1600, 64)]),
    "gemm_bias_relu": (_bias, [(1, 5), (33, 64), (100, 200)]),
    "int8_dequantised": (_int8, [(16, 32), (40, 100), (1, 3)]),
    "there_and_back": (_back, [(32,), (50,), (1,)]),
    "products_in_a_row": (_row, [(32,), (50,), (1,)]),
    "attention": (_attention, [(32, 48), (1, 1), (50, 100), (70, 200)]),
    "nested_exchange": (_nested, [(16,), (40,)]),
    "no_trips": (_trips, [(16, 0), (30, 1), (MORE_THAN_CORES, 3)]),
    "two_products_at_once": (_two, [(16,), (40,), (MORE_THAN_CORES,)]),
    "column_sums": (_sums, [(16,), (40,)]),
    "through_a_tensor": (_through, [(16,), (40,)]),
    "rows_from_below": (_below, [(16,), (64,)]),
    "residual_in_place": (_in_place, [(32,), (70,)]),
    "branches": (_branches, [(16, 0), (25, 2), (16, 4)]),
    "while_products": (_while, [(16, 1), (25, 2), (40, 9)]),
    "accumulated_in_branches": (_some_steps, [(16, 0), (25, 16), (16, 48)]),
    "attention_of_four_blocks": (_four, [(16,), (41,)]),
    "used_in_both_halves": (_halves, [(32, 48, 0), (40, 200, 1), (8, 100, 9)]),
    "scaled_by_an_element": (_element, [(16,), (40,)]),
    "columns_and_masks": (_masks, [(32,), (40,)]),
    "accumulators": (_accumulators, [(32,), (40,)]),
    "more_rings_than_flags": (_rings, [(16, 1), (40, 3), (16, 0)]),
    "product_both_ways": (_both, [(16,), (25,), (MORE_THAN_CORES,)]),
}


def cases(kernel: str) -> Iterator[Case]:
    make, shapes = MAKERS[kernel]
    for shape in shapes:
        rng = np.random.default_rng(sum(shape))
        reads, writes, expected, bound = make(rng, *shape)
        yield Case(kernel, shape, reads, writes, expected, bound)
