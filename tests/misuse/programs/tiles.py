# ruff: noqa
# fmt: off
"""Tiles: shapes, element types, operands."""
import pyto.language as pl

B, N = pl.dynamic("B"), pl.dynamic("N")
CORE = pl.Level.CORE_GROUP


@pl.jit
def shape_mismatch(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = x[:, :] + x[0:4, :]
#                 ^^^^^^^^^^^^^^^^^^^ shape-mismatch: add: shapes differ: [8, 64] and [4, 64]


@pl.jit
def column_without_expand(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, :]
        y[:, :] = t / pl.row_sum(t)
#                 ^^^^^^^^^^^^^^^^^ shape-mismatch: div: shapes differ: [8, 64] and [8, 1]
#   help: pl.row_expand_div(tile, column)


@pl.jit
def clone_of_another_type(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP16]]):
    with pl.at(level=CORE):
        t = pl.cast(x[:, :], pl.FP16)
        y[:, :] = pl.expand_clone(x[0:1, :], t)
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ dtype-mismatch: expand_clone: element types differ: fp32 and fp16
#   help: pl.cast src to fp16


@pl.jit
def tile_for_a_scalar(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, :]
        y[:, :] = pl.lrelu(t, t)
#                 ^^^^^^^^^^^^^^ operand-kind: lrelu: the second operand must be a scalar, got a tile [8, 64] of fp32
#   help: write a number


@pl.jit
def row_without_expand(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, :]
        y[:, :] = pl.mul(t, x[0:1, :])
#                 ^^^^^^^^^^^^^^^^^^^^ shape-mismatch: mul: shapes differ: [8, 64] and [1, 64]
#   help: pl.col_expand_mul(tile, row)


@pl.jit
def dtype_mismatch(x: pl.Tensor[[8, 64], pl.FP32], w: pl.Tensor[[8, 64], pl.BF16], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = x[:, :] * w[:, :]
#                 ^^^^^^^^^^^^^^^^^ dtype-mismatch: mul: element types differ: fp32 and bf16
#   help: pl.cast one of them


@pl.jit
def float_on_int(x: pl.InOut[pl.Tensor[[8, 64], pl.INT32]]):
    with pl.at(level=CORE):
        x[:, :] = x[:, :] * 0.5
#                 ^^^^^^^^^^^^^ dtype-mismatch: mul: a float scalar does not fit a tile of int32
#   help: pl.cast the tile to fp32


@pl.jit
def unsupported_dtype(x: pl.InOut[pl.Tensor[[8, 64], pl.INT8]]):
    with pl.at(level=CORE):
        x[:, :] = pl.exp(x[:, :])
#                 ^^^^^^^^^^^^^^^ op-dtype: exp is not defined for int8; it takes fp32, fp16, bf16


@pl.jit
def store_dtype(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.BF16]]):
    with pl.at(level=CORE):
        y[:, :] = x[:, :]
#                 ^^^^^^^ dtype-mismatch: the tile is fp32, y is bf16
#   help: pl.cast(..., pl.BF16)


@pl.jit
def store_shape(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[0:4, :] = x[:, :]
#                   ^^^^^^^ shape-mismatch: the tile is [8, 64], the window of y is [4, 64]


@pl.jit
def run_time_width(x: pl.Tensor[[B, N], pl.FP32], y: pl.Out[pl.Tensor[[B, N], pl.FP32]]):
    for b in pl.spmd(B):
        t = x[b : b + 1, :]
#                        ^ dynamic-shape: axis 1 of x has a run-time size: a tile shape must be a compile-time integer
#   help: x[i : i + N]
        y[b : b + 1, 0:8] = t


@pl.jit
def run_time_length(x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[0:n, :]
#             ^^^ dynamic-shape: the slice of axis 0 of x has a run-time length: a tile shape must be a compile-time integer
        y[0:8, :] = t


@pl.jit
def run_time_tile(n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = pl.create_tensor([n, 64], dtype=pl.FP32)
#                            ^^^^^^^ dynamic-shape: a tile shape must be a compile-time integer
#   help: it depends on n
        y[0:8, :] = t


@pl.jit
def run_time_full(n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[0:8, :] = pl.full([n + 1, 64], dtype=pl.FP32, value=0.0)
#                           ^^^^^^^^^^^ dynamic-shape: a tile shape must be a compile-time integer


@pl.jit
def three_axes(y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = pl.full([2, 4, 64], dtype=pl.FP32, value=0.0)
#                   ^^^^^^^^^^ not-2d: tiles have two axes, got 3
        y[0:8, :] = t


@pl.jit
def two_wide_axes(x: pl.Tensor[[4, 8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = x[0:2, :, :]
#                 ^^^^^^^^^^^^ not-2d: a window [2, 8, 64] has more than two axes longer than 1


@pl.jit
def slice_beyond(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, :]
        y[:, 0:32] = t[:, 40:72]
#                    ^^^^^^^^^^^ out-of-bounds: slice [40, 72) exceeds the 64 columns


@pl.jit
def slice_unaligned(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        u = x[:, :]
        y[:, 0:8] = u[:, 1:9]
#                   ^^^^^^^^^ alignment: offset 4 B is not a multiple of 32 B
#   help: multiple of 8 columns


@pl.jit
def matmul_inner(x: pl.Tensor[[16, 64], pl.BF16], w: pl.Tensor[[32, 64], pl.BF16], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.matmul(x[:, :], w[:, :])
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^ shape-mismatch: matmul: inner extents differ: lhs has 64, rhs has 32
#   help: a_trans and b_trans


@pl.jit
def matmul_out_dtype(x: pl.Tensor[[16, 64], pl.BF16], w: pl.Tensor[[32, 64], pl.BF16], y: pl.Out[pl.Tensor[[16, 32], pl.BF16]]):
    with pl.at(level=CORE):
        y[:, :] = pl.matmul(x[:, :], w[:, :], out_dtype=pl.BF16, b_trans=True)
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ op-dtype: matmul of bf16 gives fp32, not bf16


@pl.jit
def matmul_flag(x: pl.Tensor[[16, 64], pl.BF16], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.matmul(x[:, :], x[:, :], b_trans="yes")
#                                                     ^^^^^ bad-argument: b_trans must be True or False, got 'yes'


@pl.jit
def acc_shape(x: pl.Tensor[[16, 64], pl.BF16], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    with pl.at(level=CORE):
        acc = pl.create_tensor([16, 32], dtype=pl.FP32)
        y[:, :] = pl.matmul_acc(acc, x[:, :], x[:, :], b_trans=True)
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ shape-mismatch: matmul_acc: acc is a tile [16, 32] of fp32, the product is a tile [16, 16] of fp32


@pl.jit
def reshape_count(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.reshape(x[:, :], [8, 32])
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ shape-mismatch: reshape: [8, 64] has 512 elements, [8, 32] has 256


@pl.jit
def cast_mode(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.BF16]]):
    with pl.at(level=CORE):
        y[:, :] = pl.cast(x[:, :], target_type=pl.BF16, mode="nearest")
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ bad-argument: cast: unknown mode 'nearest'


@pl.jit
def cast_type(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.BF16]]):
    with pl.at(level=CORE):
        y[:, :] = pl.cast(x[:, :], "bf16")
#                                  ^^^^^^ operand-kind: target_type must be an element type, got 'bf16'
#   help: pl.FP32


@pl.jit
def comparison(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        m = x[:, :] > 0.0
        y[:, :] = m
#                 ^ dtype-mismatch: the tile is bool, y is fp32


@pl.jit
def bits_of_floats(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = x[:, :] & x[:, :]
#                 ^^^^^^^^^^^^^^^^^ op-dtype: and_ is not defined for fp32


@pl.jit
def quotient_of_integers(x: pl.Tensor[[8, 64], pl.INT32], y: pl.Out[pl.Tensor[[8, 64], pl.INT32]]):
    with pl.at(level=CORE):
        y[:, :] = x[:, :] / 3
#                 ^^^^^^^^^^^ op-dtype: div is not defined for int32


@pl.jit
def shift_too_far(x: pl.Tensor[[8, 64], pl.INT16], y: pl.Out[pl.Tensor[[8, 64], pl.INT16]]):
    with pl.at(level=CORE):
        y[:, :] = x[:, :] << 16
#                 ^^^^^^^^^^^^^ out-of-range: shl: int16 cannot be shifted by 16 bits


@pl.jit
def sum_of_bytes(x: pl.Tensor[[8, 64], pl.INT8], y: pl.Out[pl.Tensor[[8, 1], pl.INT8]]):
    with pl.at(level=CORE):
        y[:, :] = pl.row_sum(x[:, :])
#                 ^^^^^^^^^^^^^^^^^^^ op-dtype: row_sum is not defined for int8


@pl.jit
def mask_of_another_shape(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 32], pl.FP32]]):
    with pl.at(level=CORE):
        m = x[:, :] > 0.0
        y[:, :] = pl.sel(m, x[:, 0:32], 0.0)
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^ shape-mismatch: sel: the mask is [8, 64], the values are [8, 32]


@pl.jit
def comparison_number(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.cmp(x[:, :], 0.0, cmp_type=6)
#                                               ^ bad-argument: cmp_type must be 0 to 5, got 6


@pl.jit
def sine(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.sin(x[:, :])
#                 ^^^^^^^^^^^^^^^ unsupported: pl.sin: the chip has no instruction for it


@pl.jit
def power(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = x[:, :] ** 2
#                 ^^^^^^^^^^^^ operand-kind: ** is not defined for tiles


@pl.jit
def tensor_as_tile(x: pl.Tensor[[B, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.exp(x)
#                        ^ operand-kind: input of pl.exp must be a tile, got a tensor of rank 2 of fp32
#   help: load a part of it: x[a:b, c:d]


@pl.jit
def tensor_in_arithmetic(x: pl.Tensor[[B, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = 1.0 - x
#                       ^ operand-kind: x is a tensor in device memory: - works on tiles
#   help: x[a:b, a:b]


@pl.jit
def string_operand(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.maximum(x[:, :], "zero")
#                                     ^^^^^^ operand-kind: the operand must be a scalar, got 'zero'


@pl.jit
def tile_attribute(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:, :] = x[:, :].exp()
#                 ^^^^^^^^^^^ unknown-attribute: tiles have .shape and .dtype, not .exp
#   help: pl.exp(...)


@pl.jit
def tile_element(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, :]
        y[:, :] = t * t[0, 64]
#                          ^^ out-of-bounds: axis 1 of t has 64 elements, the index is 64


@pl.jit
def assemble_shape(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = pl.create_tensor([8, 64], dtype=pl.FP32)
        t[:, 0:32] = x[:, 0:16]
#       ^^^^^^^^^^ shape-mismatch: the tile is [8, 16], the window is [8, 32]
        y[:, :] = t


@pl.jit
def index_tile(y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = pl.create_tensor([8, 64], dtype=pl.INDEX)
#           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ op-dtype: a tensor cannot hold index
        y[:, :] = t


@pl.jit
def full_float_in_int(y: pl.Out[pl.Tensor[[8, 64], pl.INT32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.full([8, 64], dtype=pl.INT32, value=0.5)
#                                                        ^^^ dtype-mismatch: a float does not fit a tile of int32


@pl.jit
def negative_size(y: pl.Out[pl.Tensor[[8, 64], pl.INT32]]):
    with pl.at(level=CORE):
        y[:, :] = pl.full([8, -64], dtype=pl.INT32, value=0)
#                         ^^^^^^^^ bad-argument: sizes must be positive, got [8, -64]
