"""Elements of rows by index, and rows of a table by index.

`picked[r, c] = x[r, index[r, c]]`, `spread[r, index[r, c]] = x[r, c]`: x, picked and spread are [M, 64] fp32, index
[M, 64] int32, a permutation a row. `looked_up[r] = table[row[r]]`: table [64, 64] fp32, row [M] int32: here the index
is a scalar that the region reads.
"""

from __future__ import annotations

import numpy as np
from harness import Array, Example, main, normal

import pyto.language as pl

M, N, ROWS = pl.dynamic("M"), 64, 8


@pl.jit
def gather_scatter(
    x: pl.Tensor[[M, N], pl.FP32],
    index: pl.Tensor[[M, N], pl.INT32],
    table: pl.Tensor[[N, N], pl.FP32],
    row: pl.Tensor[[M], pl.INT32],
    picked: pl.Out[pl.Tensor[[M, N], pl.FP32]],
    spread: pl.Out[pl.Tensor[[M, N], pl.FP32]],
    looked_up: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    for r in pl.parallel(0, M, ROWS):
        with pl.at(level=pl.Level.CORE_GROUP):
            rows, places = x[r : r + ROWS, :], index[r : r + ROWS, :]
            picked[r : r + ROWS, :] = pl.gather(rows, 1, places)
            empty = pl.full([ROWS, N], pl.FP32, 0.0)
            spread[r : r + ROWS, :] = pl.scatter(empty, 1, places, rows)
            for i in pl.range(r, pl.min(r + ROWS, M)):
                at = pl.read(row, [i])
                looked_up[i : i + 1, :] = table[at : at + 1, :]


def arguments(rng: np.random.Generator, m: int) -> list[Array]:
    index = np.stack([rng.permutation(N) for _ in range(m)]).astype(np.int32)
    row = rng.integers(0, N, m, dtype=np.int32)
    return [normal(rng, m, N), index, normal(rng, N, N), row, *(np.zeros((m, N), np.float32) for _ in range(3))]


def reference(x: Array, index: Array, table: Array, row: Array, *outputs: Array) -> list[Array]:
    spread = np.zeros_like(x)
    np.put_along_axis(spread, index, x, axis=1)
    return [np.take_along_axis(x, index, axis=1), spread, table[row]]


EXAMPLE = Example(gather_scatter, sizes=[8, 30, 1], arguments=arguments, reference=reference, tolerance=0, outputs=3)

if __name__ == "__main__":
    main(EXAMPLE)
