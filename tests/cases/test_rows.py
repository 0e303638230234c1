"""Rows and columns that end anywhere: loads, reductions, broadcasts, stores of parts."""

import numpy as np
import pytest

import pyto.language as pl
from pyto import compiler
from tests.cases.harness import CORE, NUMPY, canary, check, values

M, N = pl.dynamic("M"), pl.dynamic("N")
FLOATS = [pl.FP32, pl.FP16, pl.BF16]
BOUND = {pl.FP32: 1e-5, pl.FP16: 1e-3, pl.BF16: 8e-3}


@pytest.mark.parametrize(("rows", "cols"), [(128, 126), (17, 126), (16, 1), (31, 7)])
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_whole_rows_of_any_width(rng, rows, cols, dtype):
    """R01: what lies behind the tensor stays."""

    @pl.jit
    def kernel(x: pl.Tensor[[M, cols], dtype], y: pl.Out[pl.Tensor[[M, cols], dtype]]):
        for i in pl.parallel(0, M, 16):
            with pl.at(CORE):
                y[i : i + 16, :] = x[i : i + 16, :] + 1.0

    x = values(rng, (rows, cols), dtype)
    want = (x.astype(np.float32) + 1).astype(x.dtype)
    check(kernel, {"x": x}, {"y": canary((rows, cols), dtype)}, {"y": want})
    memory = np.full(rows * cols + 64, 77, NUMPY[dtype])
    kernel(x, memory[: rows * cols].reshape(rows, cols))
    np.testing.assert_array_equal(memory[: rows * cols].reshape(rows, cols), want)
    assert (memory[rows * cols :] == 77).all()


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_row_max_then_broadcast(rng, dtype):
    """R02."""

    @pl.jit
    def kernel(
        x: pl.Tensor[[M, 128], dtype], m: pl.InOut[pl.Tensor[[M, 1], dtype]], y: pl.Out[pl.Tensor[[M, 64], dtype]]
    ):
        with pl.at(CORE):
            m[0:16, :] = pl.row_max(x[0:16, :])
        with pl.at(CORE):
            y[0:16, :] = pl.row_expand_add(pl.full([16, 64], dtype=dtype, value=0.0), m[0:16, :])

    for rows in (16, 2):
        x = values(rng, (rows, 128), dtype)
        want = x.max(1, keepdims=True)
        writes = {"m": canary((rows, 1), dtype), "y": canary((rows, 64), dtype)}
        check(kernel, {"x": x}, writes, {"m": want, "y": np.repeat(want, 64, 1)})


@pytest.mark.parametrize(("block", "width"), [(4, 16), (1, 16), (3, 9), (5, 40)])
def test_narrow_columns(rng, block, width):
    """R05."""

    @pl.jit
    def kernel(x: pl.Tensor[[2, width], pl.FP32], y: pl.Out[pl.Tensor[[2, block], pl.FP32]], c: pl.Scalar[pl.INDEX]):
        with pl.at(CORE):
            y[:, :] = x[:, c : c + block] + 1.0

    x = values(rng, (2, width), pl.FP32)
    for c in (0, 1, width - block):
        check(kernel, {"x": x, "c": c}, {"y": canary((2, block), pl.FP32)}, {"y": x[:, c : c + block] + 1})


def test_sums_of_halves(rng):
    """R07: 16-bit inputs are summed in fp32."""

    @pl.jit
    def columns(x: pl.Tensor[[16, 128], pl.FP16], y: pl.Out[pl.Tensor[[1, 128], pl.FP16]]):
        with pl.at(CORE):
            y[:, :] = pl.col_sum(x[:, :])

    @pl.jit
    def row(x: pl.Tensor[[1, 1024], pl.FP16], y: pl.Out[pl.Tensor[[1, 1], pl.FP16]]):
        with pl.at(CORE):
            y[:, :] = pl.row_sum(x[:, :])

    x, r = values(rng, (16, 128), pl.FP16), values(rng, (1, 1024), pl.FP16)
    check(columns, {"x": x}, {"y": canary((1, 128), pl.FP16)}, {"y": x.astype(float).sum(0, keepdims=True)}, 1e-3)
    check(row, {"x": r}, {"y": canary((1, 1), pl.FP16)}, {"y": r.astype(float).sum(1, keepdims=True)}, 1e-3)


@pytest.mark.parametrize("dtype", [pl.FP32, pl.FP16], ids=["fp32", "fp16"])
def test_sum_of_many_ones(dtype):
    """R07: 2049, which fp16 rounds to 2048."""

    @pl.jit
    def kernel(x: pl.Tensor[[1, 2049], dtype], y: pl.Out[pl.Tensor[[1, 1], dtype]]):
        with pl.at(CORE):
            y[:, :] = pl.row_sum(x[:, :])

    want = np.array([[2049.0 if dtype is pl.FP32 else 2048.0]])
    check(kernel, {"x": np.ones((1, 2049), NUMPY[dtype])}, {"y": canary((1, 1), dtype)}, {"y": want})


@pytest.mark.parametrize("tmp", [1, 64])
def test_reduction_with_a_scratch_tile(rng, tmp):
    """R19: whatever scratch tile the kernel brings."""

    @pl.jit
    def kernel(x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 1], pl.FP32]]):
        with pl.at(CORE):
            y[:, :] = pl.row_max(x[:, :], pl.create_tensor([16, tmp], dtype=pl.FP32))

    x = values(rng, (16, 64), pl.FP32)
    check(kernel, {"x": x}, {"y": canary((16, 1), pl.FP32)}, {"y": x.max(1, keepdims=True)})


@pytest.mark.parametrize("dtype", [pl.FP32, pl.BF16], ids=["fp32", "bf16"])
def test_a_chain_on_some_rows(rng, dtype):
    """R20: rows past the valid ones stay."""

    @pl.jit
    def kernel(x: pl.Tensor[[8, 32], dtype], y: pl.InOut[pl.Tensor[[16, 128], pl.FP32]], n: pl.Scalar[pl.INDEX]):
        with pl.at(CORE):
            t = pl.cast(pl.set_validshape(x[:, :], n, 32), pl.FP32)
            t = pl.row_expand_div(t, pl.row_sum(t))
            y[0:5, 0:32] = t[0:5, :]

    x, y = abs(values(rng, (8, 32), dtype)), values(rng, (16, 128), pl.FP32)
    for n in (4, 1, 5, 8, 0):
        want, rows = y.copy(), min(n, 5)
        wide = x[:rows].astype(np.float64)
        want[:rows, :32] = wide / wide.sum(1, keepdims=True)
        check(kernel, {"x": x, "n": n}, {"y": y}, {"y": want}, 1e-5)


def test_reduction_of_a_long_row(rng):
    """R64: what it needs beside its operands stands in the memory map."""

    @pl.jit
    def kernel(x: pl.Tensor[[1, 8192], pl.FP32], y: pl.Out[pl.Tensor[[1, 1], pl.FP32]]):
        with pl.at(CORE):
            y[:, :] = pl.row_sum(x[:, :])

    x = values(rng, (1, 8192), pl.FP32)
    check(kernel, {"x": x}, {"y": canary((1, 1), pl.FP32)}, {"y": x.astype(float).sum(1, keepdims=True)}, 1e-4)
    planned = next(s for s in compiler.lower(kernel).stages if s.name == "plan_memory").text
    assert "tile[1x8192, fp32, ub]" in planned and "tile[1x4096, fp32, ub]" in planned and "offset = " in planned


@pytest.mark.parametrize("cols", [16, 64, 200])
@pytest.mark.parametrize(("kind", "empty"), [("sum", 0.0), ("max", -np.inf), ("min", np.inf)])
def test_reduction_of_nothing(rng, cols, kind, empty):
    """R65."""
    reduce = getattr(pl, f"row_{kind}")

    @pl.jit
    def kernel(x: pl.Tensor[[8, cols], pl.FP32], y: pl.Out[pl.Tensor[[8, 1], pl.FP32]], n: pl.Scalar[pl.INDEX]):
        with pl.at(CORE):
            y[:, :] = reduce(pl.set_validshape(x[:, :], 8, n))

    x = values(rng, (8, cols), pl.FP32)
    check(kernel, {"x": x, "n": 0}, {"y": canary((8, 1), pl.FP32)}, {"y": np.full((8, 1), empty)})
    want = getattr(x[:, :5].astype(float), kind)(1, keepdims=True)
    check(kernel, {"x": x, "n": 5}, {"y": canary((8, 1), pl.FP32)}, {"y": want}, 1e-5)


@pytest.mark.parametrize("cols", [65, 129, 7])
def test_reduction_with_one_column_over(rng, cols):
    @pl.jit
    def kernel(x: pl.Tensor[[9, cols], pl.FP32], y: pl.Out[pl.Tensor[[9, 1], pl.FP32]]):
        with pl.at(CORE):
            y[:, :] = pl.row_max(x[:, :])

    x = values(rng, (9, cols), pl.FP32)
    check(kernel, {"x": x}, {"y": canary((9, 1), pl.FP32)}, {"y": x.max(1, keepdims=True)})


@pytest.mark.parametrize("dtype", [pl.FP32, pl.FP16, pl.INT32], ids=lambda d: d.name)
def test_part_of_a_row_into_a_tile(rng, dtype):
    """What lies behind the part in its block of 32 bytes stays."""

    @pl.jit
    def kernel(
        x: pl.Tensor[[4, 48], dtype], p: pl.Tensor[[2, 5], dtype], q: pl.Tensor[[3, 1], dtype],
        y: pl.Out[pl.Tensor[[4, 48], dtype]], z: pl.Out[pl.Tensor[[4, 1], dtype]],
    ):  # fmt: skip
        with pl.at(CORE):
            t = x[:, :]
            t[1:3, 16:21] = p[:, :]
            t[0:1, 0:5] = p[0:1, :]
            y[:, :] = t
            c = x[:, 0:1]
            c[0:3, :] = q[:, :]
            z[:, :] = c

    x, p, q = values(rng, (4, 48), dtype), values(rng, (2, 5), dtype), values(rng, (3, 1), dtype)
    want, wz = x.copy(), x[:, :1].copy()
    want[1:3, 16:21], want[0, :5], wz[:3] = p, p[0], q
    check(
        kernel, {"x": x, "p": p, "q": q}, {"y": canary((4, 48), dtype), "z": canary((4, 1), dtype)},
        {"y": want, "z": wz},
    )  # fmt: skip
