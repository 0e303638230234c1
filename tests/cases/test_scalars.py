"""Scalar arguments of every type, rounding, and scalars that are not numbers."""

import ml_dtypes
import numpy as np
import pytest

import pyto.language as pl
from pyto import compiler, interpreter
from pyto.errors import CompileError, LaunchError
from tests.cases.harness import CORE, canary, check

SHAPE = [8, 64]
INTEGERS = [pl.INT8, pl.INT16, pl.INT32, pl.INDEX, pl.UINT8, pl.UINT16, pl.UINT32]
FLOATS = {pl.FP32: np.float32, pl.FP16: np.float16, pl.BF16: ml_dtypes.bfloat16}


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
@pytest.mark.parametrize("value", [1.5, -2, 0.1, 1e-7, 65504.0, float("inf"), float("nan")])
def test_float_arguments(dtype, value):  # R37
    """A value is rounded to its type when it is passed, and computed with in fp32 from there."""

    @pl.jit
    def kernel(s: pl.Scalar[dtype], y: pl.Out[pl.Tensor[SHAPE, pl.FP32]]):
        with pl.at(CORE):
            y[:, :] = pl.full(SHAPE, dtype=pl.FP32, value=s) + s * 3.0

    with np.errstate(over="ignore"):
        s = np.float32(np.array(value).astype(np.float32).astype(FLOATS[dtype]))
        want = s + s * np.float32(3)
    check(kernel, {"s": value}, {"y": canary((8, 64), pl.FP32)}, {"y": np.full((8, 64), want)})


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_float_arguments_with_tiles_of_their_type(dtype):  # R37
    @pl.jit
    def kernel(s: pl.Scalar[dtype], x: pl.Tensor[SHAPE, dtype], y: pl.Out[pl.Tensor[SHAPE, dtype]]):
        with pl.at(CORE):
            y[:, :] = pl.maximum(x[:, :] * s, s)

    x = np.linspace(-4, 4, 512).reshape(8, 64).astype(FLOATS[dtype])
    for s in (1.5, -2):
        want = np.maximum((x.astype(np.float32) * s).astype(FLOATS[dtype]), s)
        check(kernel, {"s": s, "x": x}, {"y": canary((8, 64), dtype)}, {"y": want})


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.name)
def test_integer_arguments(dtype):  # R37
    @pl.jit
    def kernel(n: pl.Scalar[dtype], y: pl.Out[pl.Tensor[SHAPE, pl.INT32]]):
        with pl.at(CORE):
            y[:, :] = pl.full(SHAPE, dtype=pl.INT32, value=n) + n // 3 - n % 5

    low = 0 if dtype.kind == "u" else -(2 ** (dtype.bits - 1))
    limits = [0, 1, 7, low, low + 2**dtype.bits - 1] if dtype.bits < 32 else [0, 1, 7, 2**30]
    for n in [*limits, *([-7] if low else [])]:
        check(kernel, {"n": n}, {"y": canary((8, 64), pl.INT32)}, {"y": np.full((8, 64), n + n // 3 - n % 5)})
    if dtype.bits < 64:
        with pytest.raises(LaunchError, match=f"n = {low + 2**dtype.bits} does not fit {dtype.numpy}"):
            kernel(low + 2**dtype.bits, np.zeros((8, 64), np.int32))


@pytest.mark.parametrize("flag", [True, False])
def test_bool_arguments(flag):  # R37
    """A bool counts as 0 or 1, also beside integers of other types."""

    @pl.jit
    def kernel(
        flag: pl.Scalar[pl.BOOL],
        n: pl.Scalar[pl.INT32],
        y: pl.Out[pl.Tensor[SHAPE, pl.FP32]],
        z: pl.Out[pl.Tensor[SHAPE, pl.INT32]],
    ):
        with pl.at(CORE):
            y[:, :] = pl.full(SHAPE, dtype=pl.FP32, value=2.5 if flag else 1)
            z[:, :] = pl.full(SHAPE, dtype=pl.INT32, value=pl.max(flag, n)) + (flag + flag) * 10 + (n if flag else 3)

    want = max(int(flag), -4) + 20 * flag + (-4 if flag else 3)
    check(
        kernel,
        {"flag": flag, "n": -4},
        {"y": canary((8, 64), pl.FP32), "z": canary((8, 64), pl.INT32)},
        {"y": np.full((8, 64), 2.5 if flag else 1.0), "z": np.full((8, 64), want)},
    )


@pytest.mark.parametrize("a", [float("nan"), -0.0, 2.5, float("inf")])
@pytest.mark.parametrize("n", [2, 3])
def test_extremes_of_mixed_types(a, n):
    """min and max mean what Python's do, for floats beside integers, for NaN, on the host and on a core."""

    @pl.jit
    def kernel(
        a: pl.Scalar[pl.FP32], h: pl.Scalar[pl.FP16], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]
    ):
        low = pl.min(a, n)
        high = pl.max(0.5, a)
        with pl.at(CORE):
            y[0:1, :] = pl.full([1, 8], dtype=pl.FP32, value=low)
            y[1:2, :] = pl.full([1, 8], dtype=pl.FP32, value=high)
            y[2:3, :] = pl.full([1, 8], dtype=pl.FP32, value=max(n, a) / 2)
            y[3:4, :] = pl.full([1, 8], dtype=pl.FP32, value=pl.min(n, h) if a < n else a)

    rows = [min(a, n), max(0.5, a), max(n, a) / 2, min(n, 2.25) if a < n else a]
    want = np.repeat(np.array(rows, np.float32)[:, None], 8, 1)
    check(kernel, {"a": a, "h": 2.25, "n": n}, {"y": canary((4, 8), pl.FP32)}, {"y": want})


@pytest.mark.parametrize("a", [float("nan"), 1.0, -1.0, float("-inf")])
def test_conditions_on_nan(a):
    @pl.jit
    def kernel(a: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[6, 8], pl.FP32]]):
        with pl.at(CORE):
            for i in pl.unroll(6):
                r = 0.0
                if [a > 0, a <= 0, a == a, a != a, not (a > 0), a > 0 or a <= 0][i]:
                    r = 1.0
                y[i : i + 1, :] = pl.full([1, 8], dtype=pl.FP32, value=r)

    rows = [a > 0, a <= 0, a == a, a != a, not (a > 0), a > 0 or a <= 0]
    want = np.repeat(np.array(rows, np.float32)[:, None], 8, 1)
    check(kernel, {"a": a}, {"y": canary((6, 8), pl.FP32)}, {"y": want})


def test_floats_divide_by_ieee():
    @pl.jit
    def kernel(a: pl.Scalar[pl.FP32], b: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
        with pl.at(CORE):
            y[:, :] = pl.full([1, 8], dtype=pl.FP32, value=a / b)

    for a, b in ((1.0, 3.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 0.0), (3e38, 1e-5)):
        with np.errstate(all="ignore"):
            want = np.full((1, 8), np.float32(a) / np.float32(b))
        check(kernel, {"a": a, "b": b}, {"y": canary((1, 8), pl.FP32)}, {"y": want})


def test_scalars_of_16_bits_are_rounded_at_compile_time_only():
    @pl.jit
    def constant(y: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
        with pl.at(CORE):
            y[:, :] = pl.full([1, 8], dtype=pl.FP32, value=pl.const(0.1, pl.FP16)) + pl.cast(0.1, pl.BF16)

    want = np.float32(np.float16(0.1)) + np.float32(ml_dtypes.bfloat16(0.1))
    check(constant, {}, {"y": canary((1, 8), pl.FP32)}, {"y": np.full((1, 8), want)})

    @pl.jit
    def runtime(a: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
        with pl.at(CORE):
            y[:, :] = pl.full([1, 8], dtype=pl.FP32, value=pl.cast(a, pl.FP16))

    with pytest.raises(CompileError, match="a run-time scalar cannot be rounded to fp16"):
        compiler.lower(runtime)


@pytest.mark.parametrize("dtype", [pl.FP32, pl.FP16], ids=lambda d: d.name)
def test_rounding_to_even(dtype):  # R15
    """mode="rint": halves to the even neighbour; through int32 and back, where -0 is 0."""

    @pl.jit
    def kernel(
        x: pl.Tensor[[1, 6], dtype], y: pl.Out[pl.Tensor[[1, 6], dtype]], z: pl.Out[pl.Tensor[[1, 6], pl.INT32]]
    ):
        with pl.at(CORE):
            t = pl.cast(x[:, :], pl.INT32, mode="rint")
            z[:, :] = t
            y[:, :] = pl.cast(t, dtype)

    x = np.array([[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]]).astype(FLOATS[dtype])
    want = np.array([[-2, -2, 0, 0, 2, 2]])
    check(kernel, {"x": x}, {"y": canary((1, 6), dtype), "z": canary((1, 6), pl.INT32)}, {"y": want, "z": want})


def test_interpreter_rounds_scalars_as_the_chip_does():
    @pl.jit
    def kernel(a: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
        with pl.at(CORE):
            r = 0.0
            if a + 0.1 == 0.3:
                r = 1.0
            y[:, :] = pl.full([1, 8], dtype=pl.FP32, value=r)

    y = np.zeros((1, 8), np.float32)
    interpreter.run(compiler.lower(kernel).program, {"y": y}, {"a": 0.2})
    want = np.float32(0.2) + np.float32(0.1) == np.float32(0.3)
    check(kernel, {"a": 0.2}, {"y": y}, {"y": np.full((1, 8), float(want))})
    assert y[0, 0] == float(want)
