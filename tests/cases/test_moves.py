"""Transposes, joins, padding, columns, reshapes: exact for every element type, at every stage."""

import numpy as np
import pytest

import pyto.language as pl
from pyto.errors import CompileError
from tests.cases.harness import CORE, NUMPY, canary, check, sources, values

TYPES = [pl.FP32, pl.FP16, pl.BF16, pl.INT32, pl.INT16, pl.INT8, pl.UINT32, pl.UINT16, pl.UINT8, pl.BOOL]
NAMES = [d.name for d in TYPES]
M, N = pl.dynamic("M"), pl.dynamic("N")


def transposing(rows, cols, dtype):
    @pl.jit
    def kernel(x: pl.Tensor[[M, N], dtype], y: pl.Out[pl.Tensor[[N, M], dtype]]):
        for i in pl.parallel(0, M, rows):
            for j in pl.parallel(0, N, cols):
                with pl.at(CORE):
                    y[j : j + cols, i : i + rows] = pl.transpose(x[i : i + rows, j : j + cols], 0, 1)

    return kernel


def transposes(rng, kernel, dtype, m, n):
    x = values(rng, (m, n), dtype)
    check(kernel, {"x": x}, {"y": canary((n, m), dtype)}, {"y": x.T})


@pytest.mark.parametrize("dtype", TYPES, ids=NAMES)
def test_transpose_of_every_type(rng, dtype):
    transposes(rng, transposing(32, 32, dtype), dtype, 41, 70)


@pytest.mark.parametrize(("rows", "cols"), [(1, 64), (64, 1), (5, 17), (16, 8), (100, 24), (24, 100), (7, 1)])
@pytest.mark.parametrize("dtype", [pl.FP32, pl.FP16], ids=["fp32", "fp16"])
def test_transpose_of_every_shape(rng, rows, cols, dtype):
    kernel = transposing(rows, cols, dtype)
    transposes(rng, kernel, dtype, rows, cols)
    transposes(rng, kernel, dtype, rows + 3, cols + 1)


def test_transpose_in_few_calls():
    """R68."""

    @pl.jit
    def kernel(x: pl.Tensor[[32, 32], pl.FP16], y: pl.Out[pl.Tensor[[32, 32], pl.FP16]]):
        with pl.at(CORE):
            y[:, :] = pl.transpose(x[:, :], 0, 1)

    text = sources(kernel)
    body = text[text.index("DataCopyPad(load") :]
    assert body.count("TransposeBlocks(") == 2
    assert sum(body.count(f"{call}(") for call in ("DataCopyPad", "TransposeBlocks", "Flag")) <= 8
    assert "for (" not in body and "SetValue" not in body


def concatenating(left, right, dtype):
    @pl.jit
    def kernel(
        a: pl.Tensor[[M, left], dtype], b: pl.Tensor[[M, right], dtype], y: pl.Out[pl.Tensor[[M, left + right], dtype]]
    ):
        for i in pl.parallel(0, M, 16):
            with pl.at(CORE):
                y[i : i + 16, :] = pl.concat(a[i : i + 16, :], b[i : i + 16, :])

    return kernel


@pytest.mark.parametrize(("left", "right"), [(32, 32), (64, 5), (5, 64), (3, 4), (1, 1), (17, 16)])
@pytest.mark.parametrize("dtype", [pl.FP32, pl.BF16, pl.INT8], ids=["fp32", "bf16", "int8"])
def test_concat(rng, left, right, dtype):
    a, b = values(rng, (21, left), dtype), values(rng, (21, right), dtype)
    check(
        concatenating(left, right, dtype),
        {"a": a, "b": b},
        {"y": canary((21, left + right), dtype)},
        {"y": np.concatenate([a, b], 1)},
    )


def padding(cols, dtype, pad):
    @pl.jit
    def kernel(
        x: pl.Tensor[[16, cols], dtype],
        y: pl.Out[pl.Tensor[[16, cols], dtype]],
        r: pl.Scalar[pl.INDEX],
        c: pl.Scalar[pl.INDEX],
    ):
        with pl.at(CORE):
            y[:, :] = pl.fillpad(pl.set_validshape(x[:, :], r, c), pad)

    return kernel


@pytest.mark.parametrize("dtype", TYPES, ids=NAMES)
@pytest.mark.parametrize("pad", [pl.PadValue.zero, pl.PadValue.max, pl.PadValue.min], ids=["zero", "max", "min"])
def test_fillpad_of_every_type(rng, dtype, pad):
    kernel, x = padding(150, dtype, pad), values(rng, (16, 150), dtype)
    limits = (
        (0, 1)
        if dtype.kind == "b"
        else (-np.inf, np.inf)
        if dtype.kind == "f"
        else (np.iinfo(NUMPY[dtype]).min, np.iinfo(NUMPY[dtype]).max)
    )
    fill = {pl.PadValue.zero: 0, pl.PadValue.min: limits[0], pl.PadValue.max: limits[1]}[pad]
    for rows, cols in ((16, 150), (5, 150), (16, 1), (7, 33), (9, 128), (1, 149), (0, 0)):
        want = np.full_like(x, fill)
        want[:rows, :cols] = x[:rows, :cols]
        check(kernel, {"x": x, "r": rows, "c": cols}, {"y": canary((16, 150), dtype)}, {"y": want})


@pytest.mark.parametrize("dtype", [pl.FP32, pl.FP16, pl.INT8], ids=["fp32", "fp16", "int8"])
def test_fillpad_of_a_column(rng, dtype):
    @pl.jit
    def kernel(x: pl.Tensor[[M, 1], dtype], y: pl.Out[pl.Tensor[[40, 1], dtype]]):
        with pl.at(CORE):
            y[:, :] = pl.fillpad(x[0:40, :])

    for m in (1, 8, 13, 40):
        x = values(rng, (m, 1), dtype)
        check(kernel, {"x": x}, {"y": canary((40, 1), dtype)}, {"y": np.concatenate([x, np.zeros((40 - m, 1))])})


def test_fillpad_expand(rng):
    @pl.jit
    def kernel(x: pl.Tensor[[M, 20], pl.FP32], y: pl.Out[pl.Tensor[[16, 50], pl.FP32]]):
        with pl.at(CORE):
            y[:, :] = pl.fillpad_expand(x[0:8, :], [16, 50], pl.PadValue.max)

    x = values(rng, (6, 20), pl.FP32)
    want = np.full((16, 50), np.inf)
    want[:6, :20] = x
    check(kernel, {"x": x}, {"y": canary((16, 50), pl.FP32)}, {"y": want})


# ---------------------------------------------------------------------------------------------------- columns


def column_of(rows, cols, col, dtype):
    @pl.jit
    def kernel(x: pl.Tensor[[rows, cols], dtype], y: pl.Out[pl.Tensor[[rows, 1], dtype]]):
        with pl.at(CORE):
            t = x[:, :]
            y[:, :] = t[:, col : col + 1]

    return kernel


@pytest.mark.parametrize("dtype", TYPES, ids=NAMES)
def test_column_of_a_tile(rng, dtype):
    for rows, cols, col in ((20, 50, 0), (20, 50, 37), (3, 16, 15)):
        x = values(rng, (rows, cols), dtype)
        check(column_of(rows, cols, col, dtype), {"x": x}, {"y": canary((rows, 1), dtype)}, {"y": x[:, col : col + 1]})


def test_column_at_a_runtime_place(rng):
    @pl.jit
    def kernel(x: pl.Tensor[[12, 40], pl.FP32], y: pl.Out[pl.Tensor[[12, 1], pl.FP32]], c: pl.Scalar[pl.INDEX]):
        with pl.at(CORE):
            t = x[:, :]
            y[:, :] = t[:, c : c + 1]

    x = values(rng, (12, 40), pl.FP32)
    for c in (0, 1, 8, 39):
        check(kernel, {"x": x, "c": c}, {"y": canary((12, 1), pl.FP32)}, {"y": x[:, c : c + 1]})


@pytest.mark.parametrize("dtype", [pl.FP32, pl.BF16, pl.UINT8], ids=["fp32", "bf16", "uint8"])
def test_column_into_a_tile(rng, dtype):
    @pl.jit
    def kernel(x: pl.Tensor[[20, 33], dtype], c: pl.Tensor[[20, 1], dtype], y: pl.Out[pl.Tensor[[20, 33], dtype]]):
        with pl.at(CORE):
            t = x[:, :]
            t[:, 5:6] = c[:, :]
            y[:, :] = t

    x, c = values(rng, (20, 33), dtype), values(rng, (20, 1), dtype)
    want = x.copy()
    want[:, 5:6] = c
    check(kernel, {"x": x, "c": c}, {"y": canary((20, 33), dtype)}, {"y": want})


def column_copy(rows, width, source, target, dtype):
    @pl.jit
    def kernel(x: pl.Tensor[[M, width], dtype], y: pl.InOut[pl.Tensor[[M, width], dtype]]):
        for i in pl.parallel(0, M, rows):
            with pl.at(CORE):
                y[i : i + rows, target : target + 1] = x[i : i + rows, source : source + 1]

    return kernel


@pytest.mark.parametrize("dtype", TYPES, ids=NAMES)
def test_column_of_a_wider_tensor(rng, dtype):
    """R35: only one column is written."""
    kernel = column_copy(8, 5, 4, 1, dtype)
    for m in (8, 3, 19):
        x, y = values(rng, (m, 5), dtype), values(rng, (m, 5), dtype)
        want = y.copy()
        want[:, 1] = x[:, 4]
        check(kernel, {"x": x}, {"y": y}, {"y": want})


def test_r35(rng):
    @pl.jit
    def kernel(x: pl.Tensor[[8, 1], pl.FP32], y: pl.InOut[pl.Tensor[[8, 2], pl.FP32]]):
        with pl.at(CORE):
            y[:, 1:2] = x[:, :] * 2.0

    x, y = values(rng, (8, 1), pl.FP32), values(rng, (8, 2), pl.FP32)
    check(kernel, {"x": x}, {"y": y}, {"y": np.concatenate([y[:, :1], x * 2], 1)})


# ---------------------------------------------------------------------------------------------------- reshapes


def reshaped(shape, valid, to, new):
    @pl.jit
    def kernel(x: pl.Tensor[shape, pl.FP32], y: pl.InOut[pl.Tensor[to, pl.FP32]]):
        with pl.at(CORE):
            y[:, :] = pl.reshape(pl.set_validshape(x[:, :], valid[0], valid[1]), to)

    return kernel, new


@pytest.mark.parametrize(
    ("shape", "valid", "to", "new"),
    [
        ([8, 16], (3, 16), [16, 8], (6, 8)),
        ([8, 16], (4, 16), [4, 32], (2, 32)),
        ([8, 16], (3, 16), [1, 128], (1, 48)),
        ([1, 128], (1, 48), [8, 16], (3, 16)),
        ([1, 128], (1, 5), [8, 16], (1, 5)),
        ([8, 16], (0, 16), [16, 8], (0, 8)),
        ([5, 1], (3, 1), [1, 5], (1, 3)),
    ],
)
def test_reshape_of_a_part(rng, shape, valid, to, new):
    kernel, _ = reshaped(shape, valid, to, new)
    x, y = values(rng, tuple(shape), pl.FP32), values(rng, tuple(to), pl.FP32)
    want = y.copy()
    want[: new[0], : new[1]] = x.reshape(-1)[: new[0] * new[1]].reshape(new)
    check(kernel, {"x": x}, {"y": y}, {"y": want})


def test_reshape_without_a_meaning():
    kernel, _ = reshaped([8, 16], (3, 16), [4, 32], None)
    with pytest.raises(CompileError, match="reshape of a partly valid tile"):
        sources(kernel)


def test_window_off_a_block_is_refused():
    """R53."""

    def kernel_at(start):
        @pl.jit
        def kernel(x: pl.Tensor[[1, 16], pl.FP32], y: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
            with pl.at(CORE):
                u = x[:, :]
                y[:, :] = u[:, start : start + 8]

        return kernel

    with pytest.raises(CompileError, match="offset 4 B is not a multiple of 32 B"):
        sources(kernel_at(1))
    x = np.arange(16, dtype=np.float32)[None]
    check(kernel_at(8), {"x": x}, {"y": canary((1, 8), pl.FP32)}, {"y": x[:, 8:]})
