"""Histogram, added up by all cores.

`counts[b] += how often b stands in x`: x is [M, 256] int32 with numbers from 0 to 31, counts [32] int32. A core counts
in its rows, then adds its counts to those in device memory atomically: the order of the cores does not matter.
"""

from __future__ import annotations

import numpy as np
from harness import Array, Example, main

import pyto.language as pl

M, N, BINS, ROWS = pl.dynamic("M"), 256, 32, 8


@pl.jit
def histogram(x: pl.Tensor[[M, N], pl.INT32], counts: pl.InOut[pl.Tensor[[BINS], pl.INT32]]):
    for r in pl.parallel(0, M, ROWS):
        with pl.at(level=pl.Level.CORE_GROUP):
            numbers = pl.cast(x[r : r + ROWS, :], pl.FP32)
            bins = pl.cast(pl.arange(0, [1, BINS]), pl.FP32)
            found = pl.full([1, BINS], pl.FP32, 0.0)
            for b in pl.range(BINS):
                hits = pl.col_sum(pl.row_sum(pl.cmp(numbers, pl.cast(b, pl.FP32))))
                found = found + pl.row_expand_mul(pl.cmp(bins, pl.cast(b, pl.FP32)), hits)
            pl.store(pl.cast(found, pl.INT32), [0], counts, atomic=pl.AtomicType.Add)


def arguments(rng: np.random.Generator, m: int) -> list[Array]:
    return [rng.integers(0, BINS, (m, N), dtype=np.int32), np.arange(BINS, dtype=np.int32)]


EXAMPLE = Example(
    histogram,
    sizes=[8, 100, 1],
    arguments=arguments,
    reference=lambda x, counts: [counts + np.bincount(x.ravel(), minlength=BINS)],
    tolerance=0,
)

if __name__ == "__main__":
    main(EXAMPLE)
