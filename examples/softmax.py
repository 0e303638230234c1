"""Softmax of rows.

`y = exp(x - max) / sum`: x and y are [M, 512] fp32. A core takes 16 rows at a time; the maximum and the sum of a row
are columns [16, 1], which the `row_expand_` operations spread over the row.
"""

from __future__ import annotations

import numpy as np
from harness import Array, Example, main, normal

import pyto.language as pl

M, WIDTH, ROWS = pl.dynamic("M"), 512, 16


@pl.jit
def softmax(x: pl.Tensor[[M, WIDTH], pl.FP32], y: pl.Out[pl.Tensor[[M, WIDTH], pl.FP32]]):
    for r in pl.parallel(0, M, ROWS):
        with pl.at(level=pl.Level.CORE_GROUP):
            rows = x[r : r + ROWS, :]
            powers = pl.exp(pl.row_expand_sub(rows, pl.row_max(rows)))
            y[r : r + ROWS, :] = pl.row_expand_div(powers, pl.row_sum(powers))


def reference(x: Array, y: Array) -> list[Array]:
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return [powers / powers.sum(axis=1, keepdims=True)]


EXAMPLE = Example(
    softmax,
    sizes=[16, 100, 1],
    arguments=lambda rng, m: [normal(rng, m, WIDTH) * 4, np.zeros((m, WIDTH), np.float32)],
    reference=reference,
    tolerance=1e-5,
)

if __name__ == "__main__":
    main(EXAMPLE)
