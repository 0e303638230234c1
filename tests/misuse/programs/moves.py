# ruff: noqa
# fmt: off
"""Moving elements: transposes, joins, gathers, sorts, single elements."""
import pyto.language as pl

CORE = pl.Level.CORE_GROUP
N = pl.dynamic("N")


@pl.jit
def transpose_axis(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.transpose(x[:, :], 0, 2)
#                                          ^ out-of-bounds: a tile has two axes, there is no axis 2


@pl.jit
def transpose_shape(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.transpose(x[:, :], 0, 1)
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^ shape-mismatch: the tile is [64, 8], the window of x is [8, 64]


@pl.jit
def concat_rows(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 128], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.concat(x[:, :], x[0:4, :])
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ shape-mismatch: concat joins columns: the tiles have 8 and 4 rows


@pl.jit
def concat_of_a_part(x: pl.Tensor[[8, N], pl.FP32], y: pl.Out[pl.Tensor[[8, 128], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.concat(x[:, 0:64], x[:, 64:128])
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ partial-tile: concat: src0 must be valid in all 64 columns
#   help: pl.fillpad


@pl.jit
def pad_with_a_number(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.fillpad(x[:, :], 1.0)
#                                     ^^^ bad-argument: pad_value must be a pl.PadValue, 0 or an infinity, got 1.0


@pl.jit
def arange_of_rows(x: pl.InOut[pl.Tensor[[8, 64], pl.INT32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.arange(0, [8, 64])
#                 ^^^^^^^^^^^^^^^^^^^^^ shape-mismatch: arange makes one row, not [8, 64]


@pl.jit
def arange_of_floats(x: pl.InOut[pl.Tensor[[1, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.arange(0, [1, 64], dtype=pl.FP32)
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ op-dtype: arange is not defined for fp32


@pl.jit
def sort_halves(x: pl.Tensor[[1, 64], pl.FP16], y: pl.Out[pl.Tensor[[1, 128], pl.FP16]]):
    with pl.at(level=CORE):
        y[:, :] = pl.sort32(x[:, :], pl.arange(0, [1, 64], dtype=pl.UINT32))
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ op-dtype: sort32 is not defined for fp16; it takes fp32
#   help: pl.cast


@pl.jit
def sort_odd(x: pl.Tensor[[1, 40], pl.FP32], y: pl.Out[pl.Tensor[[1, 80], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.sort32(x[:, :], pl.arange(0, [1, 40], dtype=pl.UINT32))
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ shape-mismatch: 40 columns are no multiple of that
#   help: pl.fillpad to 64 columns


@pl.jit
def merge_length(x: pl.InOut[pl.Tensor[[1, 256], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.mrgsort(x[:, :], block_len=48)
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ bad-argument: block_len must be a positive multiple of 64, got 48


@pl.jit
def merge_nothing(x: pl.InOut[pl.Tensor[[1, 256], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.mrgsort(x[:, :])
#                 ^^^^^^^^^^^^^^^^^^^ bad-argument: mrgsort merges two to four tiles, or the runs of one


@pl.jit
def gather_along_rows(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], i: pl.Tensor[[8, 64], pl.INT32]):
    with pl.at(level=CORE):
        x[:, :] = pl.gather(x[:, :], dim=0, index=i[:, :])
#                                        ^ unsupported: pl.gather goes along the columns (dim=-1), not along axis 0


@pl.jit
def gather_by_floats(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.gather(x[:, :], dim=-1, index=x[:, :])
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ op-dtype: gather: the index must be int32 or int16, got fp32


@pl.jit
def gather_two_forms(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], i: pl.Tensor[[8, 64], pl.INT32]):
    with pl.at(level=CORE):
        x[:, :] = pl.gather(x[:, :], dim=-1, index=i[:, :], mask_pattern=1)
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ bad-argument: gather takes dim and index, or mask_pattern


@pl.jit
def mask_pattern(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 32], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.gather(x[:, :], mask_pattern=8)
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ bad-argument: mask_pattern must be 1 to 7, got 8


@pl.jit
def mask_bits(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 32], pl.INT16]]):
    with pl.at(level=CORE):
        y[:, :] = pl.gather(x[:, :], mask_pattern=1, output_dtype=pl.INT16)
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ dtype-mismatch: output_dtype must have the 32 bits of fp32, got int16


@pl.jit
def scatter_shapes(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], i: pl.Tensor[[8, 4], pl.INT32], s: pl.Tensor[[8, 8], pl.FP32]):
    with pl.at(level=CORE):
        x[:, :] = pl.scatter(x[:, :], dim=-1, index=i[:, :], src=s[:, :])
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ shape-mismatch: scatter: shapes differ: index [8, 4], src [8, 8]


@pl.jit
def write_a_tile(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        pl.write(x, [0, 0], x[0:1, 0:8])
#                           ^^^^^^^^^^^ operand-kind: value of pl.write must be a scalar


@pl.jit
def write_outside(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        pl.write(x, [8, 0], 1.0)
#                   ^^^^^^ out-of-bounds: axis 0 of x has 8 elements, the index is 8


@pl.jit
def write_an_input(x: pl.Tensor[[8, 64], pl.FP32]):
    with pl.at(level=CORE):
        pl.write(x, [7, 0], 1.0)
#       ^^^^^^^^^^^^^^^^^^^^^^^^ not-writable: x is an input of the kernel and cannot be written


@pl.jit
def atomic_on_unsigned(x: pl.InOut[pl.Tensor[[1, 64], pl.UINT32]]):
    with pl.at(level=CORE):
        pl.assemble(x, pl.arange(0, [1, 64], dtype=pl.UINT32), [0, 0], atomic=pl.AtomicType.Add)
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ op-dtype: atomic stores are not defined for uint32


@pl.jit
def reshape_of_a_part(x: pl.Tensor[[8, 16], pl.FP32], y: pl.InOut[pl.Tensor[[4, 32], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.reshape(pl.set_validshape(x[:, :], 3, 16), [4, 32])
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ partial-reshape: reshape of a partly valid tile [8, 16]
