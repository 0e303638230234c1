"""The largest numbers of each row, with their places.

`values, places = top 16 of x`: x is [M, 1024] fp32, values [M, 16] fp32, places [M, 16] int32. `pl.sort32` sorts runs
of 32 into (value, index) pairs, `pl.mrgsort` merges four runs at a time; column masks take the pairs apart.
"""

from __future__ import annotations

import numpy as np
from harness import Array, Example, main, normal

import pyto.language as pl

M, N, K = pl.dynamic("M"), 1024, 16


@pl.jit
def topk(
    x: pl.Tensor[[M, N], pl.FP32],
    values: pl.Out[pl.Tensor[[M, K], pl.FP32]],
    places: pl.Out[pl.Tensor[[M, K], pl.INT32]],
):
    for r in pl.parallel(M):
        with pl.at(level=pl.Level.CORE_GROUP):
            pairs = pl.sort32(x[r : r + 1, :], pl.arange(0, [1, N], dtype=pl.UINT32))
            for block in pl.unroll(3):  # runs of 64, 256 and 1024 columns; then the row is one
                pairs = pl.mrgsort(pairs, block_len=64 * 4**block)
            best = pairs[:, 0 : 2 * K]
            values[r : r + 1, :] = pl.gather(best, mask_pattern=pl.tile.MaskPattern.P0101)
            places[r : r + 1, :] = pl.gather(best, mask_pattern=pl.tile.MaskPattern.P1010, output_dtype=pl.INT32)


def reference(x: Array, values: Array, places: Array) -> list[Array]:
    order = np.argsort(-x, axis=1, kind="stable")[:, :K]
    return [np.take_along_axis(x, order, axis=1), order]


EXAMPLE = Example(
    topk,
    sizes=[1, 5, 60],
    arguments=lambda rng, m: [normal(rng, m, N), np.zeros((m, K), np.float32), np.zeros((m, K), np.int32)],
    reference=reference,
    tolerance=0,
    outputs=2,
)

if __name__ == "__main__":
    main(EXAMPLE)
