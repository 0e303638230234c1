"""What the chip or the language does not have: refused with the numbers, before anything is emitted."""

from typing import Any

import numpy as np
import pytest

import pyto.language as pl
from pyto import compiler
from pyto.errors import CompileError
from tests.cases.harness import CORE, NUMPY, canary, check, values

M = pl.dynamic("M")


def refused(kernel: Any, **options: Any) -> CompileError:
    with pytest.raises(CompileError) as caught:
        compiler.lower(kernel, **options)
    assert caught.value.loc is not None and caught.value.loc.file == __file__
    return caught.value


def three_tiles(rows: int, dtype: Any) -> Any:
    shape = [rows, 192]

    @pl.jit
    def kernel(x: pl.Tensor[shape, dtype], w: pl.Tensor[shape, dtype], y: pl.Out[pl.Tensor[shape, dtype]]):
        with pl.at(CORE):
            a = x[:, :]
            b = w[:, :]
            c = a + b
            y[:, :] = c * a - b

    return kernel


def test_more_than_the_buffer_holds():  # R51
    error = refused(three_tiles(128, pl.FP32))
    assert error.id == "memory-overflow"
    assert error.message.startswith("UB needs 294912 B, has 188416 B (910B2)")
    assert error.details is not None
    rows = error.details.splitlines()[1:]
    assert len(rows) == 3 and all(row.split()[0] == "98304" and "line" in row for row in rows)
    assert any("a = x[:, :]" in row for row in rows) and any("b = w[:, :]" in row for row in rows)


@pytest.mark.parametrize("dtype", [pl.FP32, pl.FP16, pl.INT32], ids=lambda d: d.name)
def test_the_last_size_that_fits(rng, dtype):  # R51
    """Three tiles of up to 188416 B in all compile and run; one row more does not."""
    largest = 188416 // 3 // (192 * dtype.bytes)
    kernel = three_tiles(largest, dtype)
    if dtype.kind == "f":
        x, w = values(rng, (largest, 192), dtype), values(rng, (largest, 192), dtype)
    else:
        x, w = (rng.integers(-99, 99, (largest, 192)).astype(NUMPY[dtype]) for _ in range(2))
    y = canary((largest, 192), dtype)
    kernel(x, w, y)
    np.testing.assert_array_equal(y, ((x + w) * x - w).astype(y.dtype))
    needed = 3 * (largest + 1) * 192 * dtype.bytes
    assert f"UB needs {needed} B, has 188416 B" in refused(three_tiles(largest + 1, dtype)).message


def test_memory_that_must_not_be_shared():  # R51, R48
    shape = [64, 192]

    @pl.jit
    def chain(x: pl.Tensor[shape, pl.FP32], y: pl.Out[pl.Tensor[shape, pl.FP32]]):
        with pl.at(CORE):
            for i in pl.unroll(4):
                y[:, :] = pl.exp(x[:, :]) * (i + 1.0)

    compiler.lower(chain)
    error = refused(chain, memory="distinct")
    assert error.id == "memory-overflow" and error.details is not None and "without sharing" in error.details


def test_64_bit_tiles():  # R52
    """Elements of 64 bits: refused in the signature, by name."""

    @pl.jit
    def kernel(x: pl.Tensor[[8, 8], pl.INT64], y: pl.Out[pl.Tensor[[8, 8], pl.INT64]]):
        with pl.at(CORE):
            y[:, :] = pl.and_(x[:, :], x[:, :])

    error = refused(kernel)
    assert "x: a tensor cannot hold index" in error.message or "int64" in error.message
    assert "int32" in (error.remedy or "").lower()


@pytest.mark.parametrize("make", ["full", "create_tensor", "cast"])
def test_64_bit_tiles_inside_a_kernel(make):  # R52
    @pl.jit
    def kernel(x: pl.Tensor[[8, 8], pl.INT32], y: pl.Out[pl.Tensor[[8, 8], pl.INT32]]):
        with pl.at(CORE):
            if make == "full":
                t = pl.full([8, 8], dtype=pl.INT64, value=1)
            elif make == "create_tensor":
                t = pl.create_tensor([8, 8], dtype=pl.INT64)
            else:
                t = pl.cast(x[:, :], pl.INT64)
            y[:, :] = pl.cast(t, pl.INT32)

    assert refused(kernel).id == "op-dtype"


def test_tile_shape_of_a_run_time_value():  # R55
    @pl.jit
    def argument(n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        with pl.at(CORE):
            y[0:8, :] = pl.create_tensor([n, 64], dtype=pl.FP32)

    @pl.jit
    def dimension(x: pl.Tensor[[M, 64], pl.FP32], y: pl.Out[pl.Tensor[[M, 64], pl.FP32]]):
        with pl.at(CORE):
            y[:, :] = x[:, :] + 1.0

    @pl.jit
    def loaded(i: pl.Tensor[[8], pl.INT32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        with pl.at(CORE):
            y[0:8, :] = pl.full([pl.read(i, [0]), 64], dtype=pl.FP32, value=0.0)

    for kernel in (argument, dimension, loaded):
        error = refused(kernel)
        assert error.id == "dynamic-shape"
        assert "tile shape must be a compile-time integer" in error.message and error.remedy


def test_tile_shape_of_a_scalar_that_is_known(rng):  # R55
    """The same where the number is known when the kernel is compiled."""
    n = 8

    @pl.jit
    def kernel(x: pl.Tensor[[64, 64], pl.FP32], y: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]):
        with pl.at(CORE):
            m = n * 2 - 8
            y[0:m, :] = pl.full([m, 64], dtype=pl.FP32, value=1.0) + x[m : 2 * m, :]

    x = values(rng, (64, 64), pl.FP32)
    want = np.full((64, 64), 77.0)
    want[:8] = 1 + x[8:16]
    check(kernel, {"x": x}, {"y": canary((64, 64), pl.FP32)}, {"y": want}, 1e-6)
