"""Matrix product of int8 with dequantisation.

`y = (x @ w^T) * row scale * column scale`: x is [M, 256] int8 with a scale a row [M, 1], w [N, 256] int8 with a scale a
column [1, N], y [M, N] fp16. The cube adds up in int32, exactly; the vector cores cast and scale.
"""

from __future__ import annotations

import numpy as np
from harness import Array, Example, main

import pyto.language as pl

M, N, K, TILE = pl.dynamic("M"), pl.dynamic("N"), 256, 64


@pl.jit
def int8_matmul(
    x: pl.Tensor[[M, K], pl.INT8],
    w: pl.Tensor[[N, K], pl.INT8],
    x_scale: pl.Tensor[[M, 1], pl.FP32],
    w_scale: pl.Tensor[[1, N], pl.FP32],
    y: pl.Out[pl.Tensor[[M, N], pl.FP16]],
):
    for i in pl.parallel(0, M, TILE):
        for j in pl.parallel(0, N, TILE):
            with pl.at(level=pl.Level.CORE_GROUP):
                whole = pl.matmul(x[i : i + TILE, :], w[j : j + TILE, :], b_trans=True)
                real = pl.row_expand_mul(pl.cast(whole, pl.FP32), x_scale[i : i + TILE, :])
                y[i : i + TILE, j : j + TILE] = pl.cast(pl.col_expand_mul(real, w_scale[:, j : j + TILE]), pl.FP16)


def arguments(rng: np.random.Generator, m: int, n: int) -> list[Array]:
    x, w = (rng.integers(-128, 128, (rows, K), dtype=np.int8) for rows in (m, n))
    scales = [rng.random(shape, dtype=np.float32) / 128 for shape in ((m, 1), (1, n))]
    return [x, w, *scales, np.zeros((m, n), np.float16)]


EXAMPLE = Example(
    int8_matmul,
    sizes=[(64, 64), (100, 200), (1, 16)],
    arguments=arguments,
    reference=lambda x, w, xs, ws, y: [x.astype(np.float64) @ w.astype(np.float64).T * xs * ws],
    tolerance=1e-3,
)

if __name__ == "__main__":
    main(EXAMPLE)
