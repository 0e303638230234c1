"""RMS normalisation of rows that do not fit on a core.

`y = x / sqrt(mean(x^2) + eps) * gamma`: x and y are [M, 4096] bf16, gamma [1, 4096] fp32. One loop over parts of a row
adds the squares up, a second one scales: the sum is a value that the first loop carries.
"""

from __future__ import annotations

import numpy as np
from harness import BF16, Array, Example, main, normal

import pyto.language as pl

M, WIDTH, ROWS, PART, EPS = pl.dynamic("M"), 4096, 16, 512, 1e-6


@pl.jit
def rms_norm(
    x: pl.Tensor[[M, WIDTH], pl.BF16],
    gamma: pl.Tensor[[1, WIDTH], pl.FP32],
    y: pl.Out[pl.Tensor[[M, WIDTH], pl.BF16]],
):
    for r in pl.parallel(0, M, ROWS):
        with pl.at(level=pl.Level.CORE_GROUP):
            squares = pl.full([ROWS, 1], pl.FP32, 0.0)
            for c in pl.pipeline(0, WIDTH, PART):
                part = pl.cast(x[r : r + ROWS, c : c + PART], pl.FP32)
                squares = squares + pl.row_sum(part * part)
            factor = pl.rsqrt(squares * (1.0 / WIDTH) + EPS)
            for c in pl.pipeline(0, WIDTH, PART):
                part = pl.row_expand_mul(pl.cast(x[r : r + ROWS, c : c + PART], pl.FP32), factor)
                y[r : r + ROWS, c : c + PART] = pl.cast(pl.col_expand_mul(part, gamma[:, c : c + PART]), pl.BF16)


def reference(x: Array, gamma: Array, y: Array) -> list[Array]:
    x = x.astype(np.float64)
    return [x / np.sqrt((x**2).mean(axis=1, keepdims=True) + EPS) * gamma]


EXAMPLE = Example(
    rms_norm,
    sizes=[16, 20, 1],
    arguments=lambda rng, m: [
        normal(rng, m, WIDTH, dtype=BF16),
        normal(rng, 1, WIDTH),
        np.zeros((m, WIDTH), BF16),
    ],
    reference=reference,
    tolerance=4e-3,
)

if __name__ == "__main__":
    main(EXAMPLE)
