# ruff: noqa
# fmt: off
"""Mistakes that show when a kernel is lowered: memories, the cube's accumulators, limits of the chip."""
import pyto.language as pl

M = pl.dynamic("M")
CORE = pl.Level.CORE_GROUP


@pl.jit
def too_much_memory(x: pl.Tensor[[128, 192], pl.FP32], w: pl.Tensor[[128, 192], pl.FP32], y: pl.Out[pl.Tensor[[128, 192], pl.FP32]]):
    with pl.at(level=CORE):
        a = x[:, :]
#           ^^^^^^^ memory-overflow: UB needs 294912 B, has 188416 B (910B2) in region
#   help: make the tiles smaller
        b = w[:, :]
        c = a + b
        y[:, :] = c * a - b


@pl.jit
def accumulator_used_again(a: pl.Tensor[[16, 64], pl.BF16], b: pl.Tensor[[64, 64], pl.BF16], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]], z: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    with pl.at(level=CORE):
        p = pl.matmul(a[:, :], b[:, :])
        q = pl.matmul_acc(p, a[:, :], b[:, :])
#           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ accumulator-reused: an accumulator is needed again after it was changed
#   help: multiply into a second accumulator
        y[:, :] = p
        z[:, :] = q


@pl.jit
def part_of_an_int8_accumulator(a: pl.Tensor[[64, 64], pl.INT8], b: pl.Tensor[[64, 64], pl.INT8], y: pl.Out[pl.Tensor[[64, 64], pl.INT32]]):
    with pl.at(level=CORE):
        c = pl.create_tensor([64, 64], dtype=pl.INT32)
        c[:, 0:16] = pl.matmul(a[:, :], b[:, 0:16])
#                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ accumulator-window: an int8 product of 16 columns cannot be added to a part of an accumulator
#   help: take a multiple of 32 columns
        c[:, 16:64] = pl.matmul(a[:, :], b[:, 16:64])
        y[:, :] = c


@pl.jit
def list_too_long(x: pl.Tensor[[1, 16384], pl.FP32], y: pl.Out[pl.Tensor[[1, 32768], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, :]
        y[:, :] = pl.mrgsort(t, t)
#                 ^^^^^^^^^^^^^^^^ limit: mrgsort: a list of 8192 pairs
