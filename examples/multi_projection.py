"""Three projections of the same rows.

`q = x @ wq`, `k = x @ wk`, `v = x @ wv`: x is [M, 256] bf16, wq [256, 256], wk and wv [256, 64] bf16, the results fp32.
The product is one inlined function: its parameters are bare tensors, which take any shape where it is called.
"""

from __future__ import annotations

import numpy as np
from harness import BF16, Array, Example, main, normal

import pyto.language as pl

M, WIDTH, KV, TILE = pl.dynamic("M"), 256, 64, 64


@pl.jit.inline
def project(x: pl.Tensor, w: pl.Tensor, out: pl.Tensor):
    for i in pl.parallel(0, M, TILE):
        for j in pl.parallel(0, w.shape[1], TILE):
            with pl.at(level=pl.Level.CORE_GROUP):
                out[i : i + TILE, j : j + TILE] = pl.matmul(x[i : i + TILE, :], w[:, j : j + TILE])


@pl.jit
def multi_projection(
    x: pl.Tensor[[M, WIDTH], pl.BF16],
    wq: pl.Tensor[[WIDTH, WIDTH], pl.BF16],
    wk: pl.Tensor[[WIDTH, KV], pl.BF16],
    wv: pl.Tensor[[WIDTH, KV], pl.BF16],
    q: pl.Out[pl.Tensor[[M, WIDTH], pl.FP32]],
    k: pl.Out[pl.Tensor[[M, KV], pl.FP32]],
    v: pl.Out[pl.Tensor[[M, KV], pl.FP32]],
):
    project(x, wq, q)
    project(x, wk, k)
    project(x, wv, v)
    return q, k, v


def arguments(rng: np.random.Generator, m: int) -> list[Array]:
    weights = [normal(rng, WIDTH, n, dtype=BF16) for n in (WIDTH, KV, KV)]
    return [normal(rng, m, WIDTH, dtype=BF16), *weights, *(np.zeros((m, w.shape[1]), np.float32) for w in weights)]


def reference(x: Array, wq: Array, wk: Array, wv: Array, *outputs: Array) -> list[Array]:
    return [x.astype(np.float64) @ w.astype(np.float64) for w in (wq, wk, wv)]


EXAMPLE = Example(
    multi_projection, sizes=[64, 100, 1], arguments=arguments, reference=reference, tolerance=1e-5, outputs=3
)

if __name__ == "__main__":
    main(EXAMPLE)
