# ruff: noqa
# fmt: off
"""Python that is outside the language."""
import math

import numpy as np

import pyto.language as pl

CORE = pl.Level.CORE_GROUP
TABLE = {"a": 1}
SIZES = (4, 8)


def helper(a):
    return a + 1


@pl.jit
def try_block(n: pl.Scalar[pl.INT32]):
    try:
#   ^^^^ unsupported-python: try is not part of the language
        pass
    except ValueError:
        pass


@pl.jit
def raises(n: pl.Scalar[pl.INT32]):
    raise ValueError("no")
#   ^^^^^^^^^^^^^^^^^^^^^^ unsupported-python: raise is not part of the language


@pl.jit
def a_lambda(n: pl.Scalar[pl.INT32]):
    f = lambda x: x + 1
#       ^^^^^^^^^^^^^^^ unsupported-python: a lambda is not part of the language
#   help: @pl.jit.inline


@pl.jit
def comprehension(n: pl.Scalar[pl.INT32]):
    xs = [i for i in SIZES]
#        ^^^^^^^^^^^^^^^^^^ unsupported-python: a list comprehension is not part of the language


@pl.jit
def generator(n: pl.Scalar[pl.INT32]):
    xs = sum(i for i in SIZES)
#           ^^^^^^^^^^^^^^^^^^ unsupported-python: a generator expression is not part of the language


@pl.jit
def dict_literal(n: pl.Scalar[pl.INT32]):
    d = {"a": 1}
#       ^^^^^^^^ unsupported-python: a dict is not part of the language


@pl.jit
def nested_class(n: pl.Scalar[pl.INT32]):
    class A:
#   ^^^^^^^^ unsupported-python: a class is not part of the language
        pass


@pl.jit
def nested_function(n: pl.Scalar[pl.INT32]):
    def f(x):
#   ^^^^^^^^^ unsupported-python: a nested function is not part of the language
        return x


@pl.jit
def a_global(n: pl.Scalar[pl.INT32]):
    global SIZES
#   ^^^^^^^^^^^^ unsupported-python: global is not part of the language


@pl.jit
def yields(n: pl.Scalar[pl.INT32]):
    yield n
#   ^^^^^^^ unsupported-python: yield is not part of the language


@pl.jit
def star_args(n: pl.Scalar[pl.INT32]):
    a = max(*SIZES)
#           ^^^^^^ unsupported-python: *args in a call is not part of the language


@pl.jit
def star_kwargs(n: pl.Scalar[pl.INT32]):
    a = pl.full([4, 8], **TABLE)
#                         ^^^^^ unsupported-python: **kwargs in a call is not part of the language


@pl.jit
def starred_target(n: pl.Scalar[pl.INT32]):
    a, *b = SIZES
#   ^^^^^ unsupported-python: a starred target is not part of the language


@pl.jit
def string_addition(n: pl.Scalar[pl.INT32]):
    s = "a" + "b"
#       ^^^^^^^^^ unsupported-python: string operations are not part of the language


@pl.jit
def f_string(n: pl.Scalar[pl.INT32]):
    with pl.at(level=CORE, name_hint=f"r{1}"):
#                                    ^^^^^^^ unsupported-python: an f-string is not part of the language
        pass


@pl.jit
def prints(n: pl.Scalar[pl.INT32]):
    print(n)
#   ^^^^^^^^ unsupported-python: Python's print is not part of the language


@pl.jit
def numpy_call(x: pl.Tensor[[4, 8], pl.FP32]):
    with pl.at(level=CORE):
        y = np.exp(x[0:4, :])
#           ^^^^^^^^^^^^^^^^^ unsupported-python: numpy functions are not part of the language


@pl.jit
def plain_function(n: pl.Scalar[pl.INT32]):
    a = helper(n)
#       ^^^^^^^^^ unsupported-python: helper is a plain Python function
#   help: decorate helper with @pl.jit.inline


@pl.jit
def python_range(x: pl.InOut[pl.Tensor[[4, 8], pl.FP32]]):
    with pl.at(level=CORE):
        for i in range(4):
#                ^^^^^^^^ bad-loop: Python's range is not a loop of the language
#   help: pl.range
            x[i : i + 1, :] += 1.0


@pl.jit
def loop_over_tuple(x: pl.InOut[pl.Tensor[[4, 8], pl.FP32]]):
    for i in SIZES:
#            ^^^^^ bad-loop: this is not a loop of the language
        pass


@pl.jit
def break_out(x: pl.InOut[pl.Tensor[[4, 8], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.range(4):
            x[i : i + 1, :] += 1.0
            break
#           ^^^^^ unsupported-python: break is not part of the language


@pl.jit
def for_else(x: pl.InOut[pl.Tensor[[4, 8], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.range(4):
            x[i : i + 1, :] += 1.0
        else:
            x[0:1, :] += 1.0
#           ^^^^^^^^^^^^^^^^ unsupported-python: `else` of a loop is not part of the language


@pl.jit
def walrus(n: pl.Scalar[pl.INT32]):
    a = (b := 3) + 1
#        ^^^^^^ unsupported-python: an assignment expression (:=) is not part of the language


@pl.jit
def declaration(n: pl.Scalar[pl.INT32]):
    a: int
#   ^^^^^^ unsupported-python: a declaration without a value is not part of the language


@pl.jit
def method(n: pl.Scalar[pl.INT32]):
    a = SIZES.index(4)
#       ^^^^^^^^^^^ unsupported-python: methods of tuple are not part of the language


@pl.jit
def math_of_runtime(n: pl.Scalar[pl.FP32]):
    a = math.sqrt(n)
#       ^^^^^^^^^^^^ unsupported-python: Python's sqrt does not take a scalar of fp32
#   help: use pl.sqrt


@pl.jit
def math_fails(n: pl.Scalar[pl.FP32]):
    a = math.sqrt(-1)
#       ^^^^^^^^^^^^^ python-error: sqrt: math domain error


@pl.jit
def divides_by_zero(n: pl.Scalar[pl.FP32]):
    a = 1 // (SIZES[0] - 4)
#       ^^^^^^^^^^^^^^^^^^^ division-by-zero: 1 // 0 divides by zero


@pl.jit
def divides_a_scalar_by_zero(n: pl.Scalar[pl.INT32]):
    a = n % (SIZES[0] - 4)
#       ^^^^^^^^^^^^^^^^^^ division-by-zero: % divides by zero


@pl.jit
def huge_power(n: pl.Scalar[pl.INT32]):
    a = 10 ** 10 ** 10
#       ^^^^^^^^^^^^^^ python-error: 10 ** 10000000000 is too large


@pl.jit
def bytes_literal(n: pl.Scalar[pl.FP32]):
    a = b"x"
#       ^^^^ unsupported-python: a bytes literal is not part of the language


@pl.jit
def no_effect(n: pl.Scalar[pl.FP32]):
    n + 1.0
#   ^^^^^^^ no-effect: this expression has no effect


@pl.jit
def two_with_items(n: pl.Scalar[pl.FP32]):
    with pl.at(level=CORE), pl.at(level=CORE):
#                           ^^^^^^^^^^^^^^^^^ unsupported-python: `with` takes one item
        pass


@pl.jit
def with_file(n: pl.Scalar[pl.FP32]):
    with open("x"):
#        ^^^^^^^^^ unsupported-python: `with` is for pl.at and pl.spmd
        pass


@pl.jit
def attribute_target(n: pl.Scalar[pl.FP32]):
    n.x = 3
#   ^^^ bad-target: kernels assign to names


@pl.jit
def run_time_assert(n: pl.Scalar[pl.INT32]):
    assert n > 3
#   ^^^^^^^^^^^^ outside-region: a run-time assert runs on a core, and this is host code
#   help: put it into a region


@pl.jit
def failed_assert(n: pl.Scalar[pl.INT32]):
    assert SIZES[0] == 8, "four is not eight"
#          ^^^^^^^^^^^^^ assertion: assertion failed: four is not eight


@pl.jit
def failed_static_assert(n: pl.Scalar[pl.INT32]):
    pl.static_assert(SIZES[0] == 8, "four is not eight")
#                    ^^^^^^^^^^^^^ assertion: assertion failed: four is not eight


@pl.jit
def early_return(y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    with pl.at(level=CORE):
        y[0:4, :] = pl.full([4, 8], dtype=pl.FP32, value=0.0)
        return y
#       ^^^^^^^^ early-return: return inside a loop or region is not part of the language


@pl.jit
def tuple_index(n: pl.Scalar[pl.INT32]):
    a = SIZES[2]
#       ^^^^^^^^ out-of-bounds: index 2 of 2 elements


@pl.jit
def unpack_count(n: pl.Scalar[pl.INT32]):
    a, b, c = SIZES
#   ^^^^^^^ unpack: 2 values for 3 names


@pl.jit
def ok_folding(n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    """A docstring."""
    a, b = SIZES
    assert a * 2 == b and 3 in (1, 2, 3) and not None
    c = max(a, b) // 2 if a < b else helper
    d = int(math.sqrt(16.0)) + len(SIZES) - abs(-2)
    if d == c:
        with pl.at(level=CORE):
            y[0:d, :] = pl.full([c, b], dtype=pl.FP32, value=float("inf"))
    else:
        helper(n)
    pass


@pl.jit
def result_unused(x: pl.InOut[pl.Tensor[[16, 64], pl.BF16]], w: pl.Tensor[[64, 64], pl.BF16], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    with pl.at(level=CORE):
        acc = pl.matmul(x[:, :], w[:, :])
        pl.matmul_acc(acc, x[:, :], w[:, :])
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ no-effect: this computes a tile that nobody gets
#   help: assign it to a name
        y[:, :] = acc
