"""Matrix product whose inner dimension fits one tile.

`c = a @ b`: a is [M, 128] bf16, b is [128, N] bf16, c is [M, N] fp32. Each 128 x 128 tile of c is a region of its own,
spread over the cores.
"""

from __future__ import annotations

import numpy as np
from harness import BF16, Example, main, normal

import pyto.language as pl

M, N, K = pl.dynamic("M"), pl.dynamic("N"), 128


@pl.jit
def matmul(a: pl.Tensor[[M, K], pl.BF16], b: pl.Tensor[[K, N], pl.BF16], c: pl.Out[pl.Tensor[[M, N], pl.FP32]]):
    for i in pl.parallel(0, M, 128):
        for j in pl.parallel(0, N, 128):
            with pl.at(level=pl.Level.CORE_GROUP):
                c[i : i + 128, j : j + 128] = pl.matmul(a[i : i + 128, :], b[:, j : j + 128])


EXAMPLE = Example(
    matmul,
    sizes=[(128, 256), (200, 160), (16, 16)],
    arguments=lambda rng, m, n: [
        normal(rng, m, K, dtype=BF16),
        normal(rng, K, n, dtype=BF16),
        np.zeros((m, n), np.float32),
    ],
    reference=lambda a, b, c: [a.astype(np.float64) @ b.astype(np.float64)],
    tolerance=1e-5,
)

if __name__ == "__main__":
    main(EXAMPLE)
