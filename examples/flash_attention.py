"""Attention without the matrix of scores.

`o = softmax(q @ k^T / sqrt(D)) @ v`: q is [M, 64], k and v [N, 64] bf16, o [M, 64] fp32. For 32 queries a region walks
along the keys in blocks of 64 and keeps the maximum, the sum and the output of the keys so far; a new maximum scales
both down. Scores and output are made by the cube core, everything between by the vector cores.
"""

from __future__ import annotations

import numpy as np
from harness import BF16, Array, Example, main, normal

import pyto.language as pl

M, N, D, ROWS, BLOCK = pl.dynamic("M"), pl.dynamic("N"), 64, 32, 64


@pl.jit
def flash_attention(
    q: pl.Tensor[[M, D], pl.BF16],
    k: pl.Tensor[[N, D], pl.BF16],
    v: pl.Tensor[[N, D], pl.BF16],
    o: pl.Out[pl.Tensor[[M, D], pl.FP32]],
):
    for i in pl.parallel(0, M, ROWS):
        with pl.at(level=pl.Level.CORE_GROUP):
            query = q[i : i + ROWS, :]
            top = pl.full([ROWS, 1], pl.FP32, -1e30)
            total = pl.full([ROWS, 1], pl.FP32, 0.0)
            out = pl.full([ROWS, D], pl.FP32, 0.0)
            for j in pl.pipeline(0, N, BLOCK, stage=2):
                scores = pl.matmul(query, k[j : j + BLOCK, :], b_trans=True) * D**-0.5
                higher = pl.maximum(top, pl.row_max(scores))
                shrink = pl.exp(top - higher)
                weights = pl.exp(pl.row_expand_sub(scores, higher))
                total = total * shrink + pl.row_sum(weights)
                out = pl.row_expand_mul(out, shrink) + pl.matmul(pl.cast(weights, pl.BF16), v[j : j + BLOCK, :])
                top = higher
            o[i : i + ROWS, :] = pl.row_expand_div(out, total)


def reference(q: Array, k: Array, v: Array, o: Array) -> list[Array]:
    scores = q.astype(np.float64) @ k.astype(np.float64).T * D**-0.5
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return [weights @ v.astype(np.float64) / weights.sum(axis=1, keepdims=True)]


EXAMPLE = Example(
    flash_attention,
    sizes=[(32, 64), (50, 200), (1, 300)],
    arguments=lambda rng, m, n: [
        normal(rng, m, D, dtype=BF16),
        normal(rng, n, D, dtype=BF16),
        normal(rng, n, D, dtype=BF16),
        np.zeros((m, D), np.float32),
    ],
    reference=reference,
    tolerance=1e-2,
)

if __name__ == "__main__":
    main(EXAMPLE)
