# ruff: noqa
# fmt: off
"""Element types, conditions and operands of the newer operations."""
import pyto.language as pl

CORE = pl.Level.CORE_GROUP
S = pl.Tensor[[8, 64], pl.FP32]
I = pl.Tensor[[8, 64], pl.INT32]
U = pl.Tensor[[8, 64], pl.UINT8]
L = pl.Tensor[[8, 64], pl.BOOL]


@pl.jit
def compared_types(x: S, i: I, y: pl.Out[S]):
    with pl.at(level=CORE):
        y[:, :] = pl.sel(x[:, :] > i[:, :], x[:, :], 0.0)
#                        ^^^^^^^^^^^^^^^^^ dtype-mismatch: cmp: element types differ: fp32 and int32
#   help: pl.cast one of them


@pl.jit
def condition_of_a_tile(x: S, y: pl.Out[S]):
    with pl.at(level=CORE):
        t = x[:, :]
        if t > 0.0:
#          ^^^^^^^ operand-kind: a condition must be a scalar, got a tile [8, 64] of bool
            y[:, :] = t


@pl.jit
def shifted_floats(x: S, y: pl.Out[S]):
    with pl.at(level=CORE):
        y[:, :] = x[:, :] << 2
#                 ^^^^^^^^^^^^ op-dtype: shl is not defined for fp32
#   help: pl.cast the operand to int32


@pl.jit
def product_of_bools(x: L, y: pl.Out[L]):
    with pl.at(level=CORE):
        y[:, :] = x[:, :] * x[:, :]
#                 ^^^^^^^^^^^^^^^^^ op-dtype: mul is not defined for bool
#   help: pl.cast the operand to fp32


@pl.jit
def too_large_for_its_type(y: pl.Out[U]):
    with pl.at(level=CORE):
        y[:, :] = pl.full([8, 64], dtype=pl.UINT8, value=-1)
#                                                        ^^ out-of-range: -1 does not fit uint8


@pl.jit
def larger_than_a_word(n: pl.Scalar[pl.INT64], y: pl.Out[I]):
    with pl.at(level=CORE):
        y[:, :] = pl.full([8, 64], dtype=pl.INT32, value=n - 2**64)
#                                                        ^^^^^^^^^ out-of-range: the right side of - does not fit 64 bits


@pl.jit
def tile_of_64_bits(x: I, y: pl.Out[I]):
    with pl.at(level=CORE):
        t = pl.cast(x[:, :], pl.INT64)
#           ^^^^^^^^^^^^^^^^^^^^^^^^^^ op-dtype: cast: the vector unit has no elements of int64
#   help: use pl.INT32
        y[:, :] = pl.cast(t, pl.INT32)


@pl.jit
def scalar_to_16_bits(a: pl.Scalar[pl.FP32], y: pl.Out[S]):
    with pl.at(level=CORE):
        y[:, :] = pl.full([8, 64], dtype=pl.FP32, value=pl.cast(a, pl.BF16))
#                                                               ^ unsupported: a run-time scalar cannot be rounded to bf16
#   help: leave the cast out


@pl.jit
def constant_out_of_range(y: pl.Out[I]):
    with pl.at(level=CORE):
        y[:, :] = pl.full([8, 64], dtype=pl.INT32, value=pl.cast(1e12, pl.INT32))
#                                                                ^^^^ out-of-range: 1000000000000.0 does not fit int32


@pl.jit
def other_type_in_a_branch(n: pl.Scalar[pl.INT32], x: S, y: pl.Out[S]):
    with pl.at(level=CORE):
        if n > 0:
            t = x[:, :]
        else:
            t = pl.cast(x[:, :], pl.FP16)
        y[:, :] = t
#                 ^ undefined-name: t is a tile [8, 64] of fp32 in one branch and a tile [8, 64] of fp16 in the other
#   help: use two names


@pl.jit
def flag_by_hand(x: S, y: pl.Out[S]):
    with pl.at(level=CORE):
        pl.system.bar_v()
#       ^^^^^^^^^^^^^^^^^ unsupported: pl.system.bar_v: pyto inserts every event
        y[:, :] = x[:, :]


@pl.jit
def four_at_once(x: S, y: pl.Out[S]):
    with pl.at(level=CORE):
        a = pl.expp(x[:, :])
#           ^^^^^^^ unknown-attribute: pl has no 'expp'
#   help: did you mean pl.exp?
        b = x[:, :] + undefined_thing
#                     ^^^^^^^^^^^^^^^ undefined-name: 'undefined_thing' is not defined
        c = x[0:4, :] + x[:, :]
#           ^^^^^^^^^^^^^^^^^^^ shape-mismatch: add: shapes differ: [4, 64] and [8, 64]
        y[:, 0:8] = x[:, 0:16]
#                   ^^^^^^^^^^ shape-mismatch: the tile is [8, 16], the window of y is [8, 8]
        y[:, :] = c * a + b
