"""Rotary position embedding.

Each head's row turns by the angles of its position: x and y are [T * 8, 128] fp32 (8 heads a token), cos and sin
[T, 64] fp32. The two halves of a row are the parts of 64 complex numbers.
"""

from __future__ import annotations

import numpy as np
from harness import Array, Example, main, normal

import pyto.language as pl

T, HEADS, HALF = pl.dynamic("T"), 8, 64


@pl.jit
def rope(
    x: pl.Tensor[[T * HEADS, 2 * HALF], pl.FP32],
    cos: pl.Tensor[[T, HALF], pl.FP32],
    sin: pl.Tensor[[T, HALF], pl.FP32],
    y: pl.Out[pl.Tensor[[T * HEADS, 2 * HALF], pl.FP32]],
):
    for t in pl.parallel(T):
        with pl.at(level=pl.Level.CORE_GROUP):
            r = t * HEADS
            low, high = x[r : r + HEADS, 0:HALF], x[r : r + HEADS, HALF : 2 * HALF]
            c, s = cos[t : t + 1, :], sin[t : t + 1, :]
            y[r : r + HEADS, 0:HALF] = pl.col_expand_mul(low, c) - pl.col_expand_mul(high, s)
            y[r : r + HEADS, HALF : 2 * HALF] = pl.col_expand_mul(high, c) + pl.col_expand_mul(low, s)


def arguments(rng: np.random.Generator, tokens: int) -> list[Array]:
    angles = np.arange(tokens)[:, None] * 10000.0 ** -(np.arange(HALF) / HALF)
    table = [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]
    x = normal(rng, tokens * HEADS, 2 * HALF)
    return [x, *table, np.zeros_like(x)]


def reference(x: Array, cos: Array, sin: Array, y: Array) -> list[Array]:
    turned = (x[:, :HALF] + 1j * x[:, HALF:]) * np.repeat(cos + 1j * sin, HEADS, axis=0)
    return [np.concatenate([turned.real, turned.imag], axis=1)]


EXAMPLE = Example(rope, sizes=[1, 5, 64], arguments=arguments, reference=reference, tolerance=1e-6)

if __name__ == "__main__":
    main(EXAMPLE)
