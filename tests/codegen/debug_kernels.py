"""A kernel that says what it does."""

import pyto.language as pl

N = pl.dynamic("N")


@pl.jit
def talks(
    x: pl.Tensor[[N, 64], pl.FP32],
    k: pl.Scalar[pl.INT32],
    y: pl.Out[pl.Tensor[[N, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(0, N, 8):
            t = x[i : i + 8, :]
            pl.print("i =", i, "k:", k, 2.5, "50%")
            pl.print(t)
            assert i + k < 20, "too far"
            y[i : i + 8, :] = t + 1.0
