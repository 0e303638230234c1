"""Matrix product and residual in one region.

`y = x @ w + residual`: x is [M, 512] bf16, w [512, N] bf16, residual and y [M, N] fp32. The cube core multiplies, the
vector cores add: the compiler splits the region and hands the tiles over, and both work at the same time.
"""

from __future__ import annotations

import numpy as np
from harness import BF16, Example, main, normal

import pyto.language as pl

M, N, K, TILE, STEP = pl.dynamic("M"), pl.dynamic("N"), 512, 64, 128


@pl.jit
def gemm_residual(
    x: pl.Tensor[[M, K], pl.BF16],
    w: pl.Tensor[[K, N], pl.BF16],
    residual: pl.Tensor[[M, N], pl.FP32],
    y: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    for i in pl.parallel(0, M, TILE):
        for j in pl.parallel(0, N, 2 * TILE):
            with pl.at(level=pl.Level.CORE_GROUP):
                sum = pl.matmul(x[i : i + TILE, 0:STEP], w[0:STEP, j : j + 2 * TILE])
                for k in pl.pipeline(STEP, K, STEP):
                    sum = pl.matmul_acc(sum, x[i : i + TILE, k : k + STEP], w[k : k + STEP, j : j + 2 * TILE])
                y[i : i + TILE, j : j + 2 * TILE] = sum + residual[i : i + TILE, j : j + 2 * TILE]


EXAMPLE = Example(
    gemm_residual,
    sizes=[(64, 128), (100, 200), (1, 300)],
    arguments=lambda rng, m, n: [
        normal(rng, m, K, dtype=BF16),
        normal(rng, K, n, dtype=BF16),
        normal(rng, m, n),
        np.zeros((m, n), np.float32),
    ],
    reference=lambda x, w, residual, y: [x.astype(np.float64) @ w.astype(np.float64) + residual],
    tolerance=1e-5,
)

if __name__ == "__main__":
    main(EXAMPLE)
