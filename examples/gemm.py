"""Matrix product with a loop over the inner dimension.

`c = a @ b`: a is [M, K] bf16, b is [K, N] bf16, c is [M, N] fp32, all sizes known at launch. The first step multiplies
into an accumulator, the others add to it; `pl.pipeline` lets the loads of a step run while the one before multiplies.
"""

from __future__ import annotations

import numpy as np
from harness import BF16, Example, main, normal

import pyto.language as pl

M, N, K = pl.dynamic("M"), pl.dynamic("N"), pl.dynamic("K")
TILE, STEP = 128, 64


@pl.jit
def gemm(a: pl.Tensor[[M, K], pl.BF16], b: pl.Tensor[[K, N], pl.BF16], c: pl.Out[pl.Tensor[[M, N], pl.FP32]]):
    for i in pl.parallel(0, M, TILE):
        for j in pl.parallel(0, N, TILE):
            with pl.at(level=pl.Level.CORE_GROUP):
                sum = pl.matmul(a[i : i + TILE, 0:STEP], b[0:STEP, j : j + TILE])
                for k in pl.pipeline(STEP, K, STEP, stage=2):
                    sum = pl.matmul_acc(sum, a[i : i + TILE, k : k + STEP], b[k : k + STEP, j : j + TILE])
                c[i : i + TILE, j : j + TILE] = sum


EXAMPLE = Example(
    gemm,
    sizes=[(128, 128, 512), (200, 160, 256), (16, 300, 64)],
    arguments=lambda rng, m, n, k: [
        normal(rng, m, k, dtype=BF16),
        normal(rng, k, n, dtype=BF16),
        np.zeros((m, n), np.float32),
    ],
    reference=lambda a, b, c: [a.astype(np.float64) @ b.astype(np.float64)],
    tolerance=1e-5,
)

if __name__ == "__main__":
    main(EXAMPLE)
