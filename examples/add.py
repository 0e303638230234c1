"""Sum of two matrices.

`z = x + y`: x, y, z are [M, N] fp32, M and N known at launch. Rows are shared by the cores; a core walks along its rows
in tiles of 64 x 128, of which the last may stick out: only the part inside is loaded and stored.
"""

from __future__ import annotations

import numpy as np
from harness import Example, main, normal

import pyto.language as pl

M, N = pl.dynamic("M"), pl.dynamic("N")


@pl.jit
def add(x: pl.Tensor[[M, N], pl.FP32], y: pl.Tensor[[M, N], pl.FP32], z: pl.Out[pl.Tensor[[M, N], pl.FP32]]):
    for r in pl.parallel(0, M, 64):
        with pl.at(level=pl.Level.CORE_GROUP):
            for c in pl.pipeline(0, N, 128):
                z[r : r + 64, c : c + 128] = x[r : r + 64, c : c + 128] + y[r : r + 64, c : c + 128]


EXAMPLE = Example(
    add,
    sizes=[(64, 128), (100, 300), (1, 7)],
    arguments=lambda rng, m, n: [normal(rng, m, n), normal(rng, m, n), np.zeros((m, n), np.float32)],
    reference=lambda x, y, z: [x + y],
    tolerance=0,
)

if __name__ == "__main__":
    main(EXAMPLE)
