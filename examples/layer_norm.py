"""Layer normalisation.

`y = (x - mean) / sqrt(variance + eps) * gamma + beta` over rows: x and y are [M, 768] fp16, gamma and beta [1, 768]
fp32. Everything is computed in fp32; the row vectors are spread over all rows by the `col_expand_` operations.
"""

from __future__ import annotations

import numpy as np
from harness import Array, Example, main, normal

import pyto.language as pl

M, WIDTH, ROWS, EPS = pl.dynamic("M"), 768, 8, 1e-5


@pl.jit
def layer_norm(
    x: pl.Tensor[[M, WIDTH], pl.FP16],
    gamma: pl.Tensor[[1, WIDTH], pl.FP32],
    beta: pl.Tensor[[1, WIDTH], pl.FP32],
    y: pl.Out[pl.Tensor[[M, WIDTH], pl.FP16]],
):
    for r in pl.parallel(0, M, ROWS):
        with pl.at(level=pl.Level.CORE_GROUP):
            rows = pl.cast(x[r : r + ROWS, :], pl.FP32)
            centred = pl.row_expand_sub(rows, pl.row_sum(rows) * (1.0 / WIDTH))
            variance = pl.row_sum(centred * centred) * (1.0 / WIDTH)
            normed = pl.row_expand_div(centred, pl.sqrt(variance + EPS))
            scaled = pl.col_expand_add(pl.col_expand_mul(normed, gamma[:, :]), beta[:, :])
            y[r : r + ROWS, :] = pl.cast(scaled, pl.FP16)


def reference(x: Array, gamma: Array, beta: Array, y: Array) -> list[Array]:
    x = x.astype(np.float64)
    centred = x - x.mean(axis=1, keepdims=True)
    return [centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPS) * gamma + beta]


EXAMPLE = Example(
    layer_norm,
    sizes=[8, 50, 1],
    arguments=lambda rng, m: [
        normal(rng, m, WIDTH, dtype=np.float16),
        normal(rng, 1, WIDTH),
        normal(rng, 1, WIDTH),
        np.zeros((m, WIDTH), np.float16),
    ],
    reference=reference,
    tolerance=1e-3,
)

if __name__ == "__main__":
    main(EXAMPLE)
