# ruff: noqa
# fmt: off
"""Calls: arguments, names, inlined functions."""
from dataclasses import dataclass

import pyto.language as pl

B = pl.dynamic("B")
CORE = pl.Level.CORE_GROUP


@dataclass(frozen=True)
class Config:
    hidden: int = 64


CFG = Config()


@pl.jit.inline
def scaled(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Tensor[[8, 64], pl.FP32], s: pl.Scalar[pl.FP32], k=2):
    with pl.at(level=CORE):
        y[:, :] = x[:, :] * s * k


@pl.jit.inline
def same_rows(a: pl.Tensor[[B, 64], pl.FP32], b: pl.Tensor[[B, 64], pl.FP32]):
    return B


@pl.jit.inline
def endless(n):
    return endless(n)
#          ^^^^^^^^^^ recursion: endless is inlined into itself without end


@pl.jit.inline
def wrong_inside(x):
    return x + pl.nothing
#              ^^^^^^^^^^ unknown-attribute: pl has no 'nothing'


@pl.jit.inline
def tile_only(t: pl.Tile):
    return pl.exp(t)


@pl.jit.inline
def writes_its_tile(t):
    t[:, 0:8] = t[:, 8:16]
#   ^^^^^^^^^ lost-write: t is a tile: assigning its elements here changes nothing for the caller
#   help: return t


@pl.jit
def lost_write(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        t = x[:, :]
        writes_its_tile(t)
        x[:, :] = t


@pl.jit
def misspelled(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.row_summ(x[:, :])
#                 ^^^^^^^^^^^ unknown-attribute: pl has no 'row_summ'
#   help: pl.row_sum


@pl.jit
def later(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.tri(0, [8, 64])
#                 ^^^^^^^^^^^^^^^^^^ unsupported: pl.tri: it is not supported yet


@pl.jit
def never(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        pl.tpush_to_aiv(x[:, :], split=1)
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ unsupported: pl.tpush_to_aiv: pyto places the hand-over


@pl.jit
def missing_argument(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.cast(x[:, :])
#                 ^^^^^^^^^^^^^^^^ bad-argument: pl.cast: argument 'target_type' is missing
#   help: pl.cast(input, target_type, mode='rint')


@pl.jit
def unknown_argument(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.cast(x[:, :], target_typ=pl.FP32)
#                                             ^^^^^^^ bad-argument: pl.cast has no argument 'target_typ'
#   help: did you mean target_type=?


@pl.jit
def twice(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.cast(x[:, :], pl.FP32, target_type=pl.FP32)
#                                                       ^^^^^^^ bad-argument: pl.cast: argument 'target_type' is given twice


@pl.jit
def too_many(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.exp(x[:, :], 2)
#                                 ^ bad-argument: pl.exp takes 1 positional arguments


@pl.jit
def config_field(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    n = CFG.width
#       ^^^^^^^^^ unknown-attribute: an object of type Config has no 'width'


@pl.jit
def undefined(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        tile_x = x[:, :]
        x[:, :] = tile_y + 1.0
#                 ^^^^^^ undefined-name: 'tile_y' is not defined
#   help: did you mean 'tile_x'?


@pl.jit
def not_callable(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    n = CFG(3)
#       ^^^^^^ operand-kind: an object of type Config cannot be called


@pl.jit
def loop_as_value(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    n = pl.range(3)
#       ^^^^^^^^^^^ misplaced: pl.range is not a value
#   help: for i in pl.range(...)


@pl.jit
def region_as_value(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    pl.at(level=CORE)
#   ^^^^^^^^^^^^^^^^^ misplaced: pl.at is not a value


@pl.jit
def wrong_level(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=pl.Level.HOST):
#                    ^^^^^^^^^^^^^ unsupported: pl.at runs on a core group
        x[:, :] += 1.0


@pl.jit
def inline_dtype(x: pl.Tensor[[8, 64], pl.BF16], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    scaled(x, y, 2.0)
#          ^ dtype-mismatch: x of scaled is fp32, x is bf16


@pl.jit
def inline_shape(x: pl.Tensor[[4, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    scaled(x, y, 2.0)
#          ^ shape-mismatch: axis 0 of x of scaled is 8, that of x is 4


@pl.jit
def inline_rank(x: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    scaled(x, y, 2.0)
#          ^ rank-mismatch: x of scaled has 2 axes, x has 1


@pl.jit
def inline_kind(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    scaled(x, y, x)
#                ^ operand-kind: s of scaled must be a scalar, got a tensor of rank 2 of fp32


@pl.jit
def inline_missing(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    scaled(x, y)
#   ^^^^^^^^^^^^ bad-argument: scaled: argument 's' is missing


@pl.jit
def inline_unknown(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    scaled(x, y, scale=2.0)
#                      ^^^ bad-argument: scaled has no parameter 'scale'


@pl.jit
def inline_dims(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Tensor[[4, 64], pl.FP32]):
    n = same_rows(x, y)
#                    ^ dim-conflict: axis 0 of b of same_rows is B = 8, that of y is 4


@pl.jit
def inline_dims_run_time(x: pl.Tensor[[B, 64], pl.FP32], y: pl.Tensor[[8, 64], pl.FP32]):
    n = same_rows(x, y)
#                    ^ dim-conflict: axis 0 of b of same_rows is B = B, that of y is 8


@pl.jit
def inline_tile(x: pl.Tensor[[8, 64], pl.FP32]):
    t = tile_only(x)
#                 ^ operand-kind: t of tile_only must be a tile, got a tensor


@pl.jit
def inline_returns_nothing(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    z = scaled(x, y, 2.0)
#       ^^^^^^^^^^^^^^^^^ no-value: this call returns nothing


@pl.jit
def ok_inline(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    assert same_rows(x, x) == 8
    scaled(x, y, s=2, k=3)


@pl.jit
def two_mistakes(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        a = pl.expp(x[:, :])
#           ^^^^^^^ unknown-attribute: pl has no 'expp'
        b = a + 1.0
        c = pl.cast(x[:, :], mode="rint")
#           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ bad-argument: pl.cast: argument 'target_type' is missing
        x[:, :] = b + c


@pl.jit
def two_lines(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.row_expand_mul(
            x[:, :],
            pl.row_sum(
                undefined_name
#               ^^^^^^^^^^^^^^ undefined-name: 'undefined_name' is not defined
            ),
        )


@pl.jit
def wide_characters(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        größe = x[:, :]; x[:, :] = größe + ünbekannt
#                                          ^^^^^^^^^ undefined-name: 'ünbekannt' is not defined


@pl.jit
def multi_line_call(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = pl.add(
#                 ^^^^^^^ shape-mismatch: add: shapes differ: [8, 64] and [4, 64]
            x[:, :],
            x[0:4, :],
        )


@pl.jit
def deep(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    n = endless(3)


@pl.jit
def inside(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, :] = wrong_inside(x[:, :]) * 2.0


@pl.jit
def too_large(x: pl.InOut[pl.Tensor[[8, 64], pl.INT16]]):
    with pl.at(level=CORE):
        x[:, :] = x[:, :] + 40000
#                           ^^^^^ out-of-range: 40000 does not fit int16


@pl.jit
def predicate(x: pl.InOut[pl.Tensor[[8, 64], pl.INT16]], n: pl.Scalar[pl.INT32]):
    for i in pl.spmd(8, predicate=n > 3):
#                                 ^^^^^ unsupported: pl.spmd(predicate=...) is not supported yet
        x[i, :] += 1


@pl.jit
def sum_of_tiles(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = x[:, :]
        x[:, :] = sum([t, t])
#                 ^^^^^^^^^^^ unsupported-python: Python's sum takes compile-time numbers only


@pl.jit
def number_out_of_range(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = x[:, :]
        x[:, :] = t * (10**400)
#       ^^^^^^^^^^^^^^^^^^^^^^^ not-constant: a number is out of range


@pl.jit
def ok_column_of_a_tile(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = x[:, :]
        x[:, :] = pl.row_expand_mul(t, t[:, 8:9])


@pl.jit
def window_of_a_column(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        s = pl.row_sum(x[:, :])
        x[0:4, :] = pl.row_expand_mul(x[0:4, :], s[2:6, :])
#                                                ^^^^^^^^^ alignment: a window of a column [8, 1] must start
