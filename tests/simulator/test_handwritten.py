"""Kernels as engineers write them by hand, unchanged, against numpy."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tests.simulator.handwritten import KERNELS, In, InOut, Out, Program

BF16 = ml_dtypes.bfloat16


def relative(got: np.ndarray, expected: np.ndarray) -> float:
    """Relative L2 error in float64; infinite if anything is not finite."""
    difference = got.astype(np.float64) - expected.astype(np.float64)
    return float(np.linalg.norm(difference) / np.linalg.norm(expected.astype(np.float64)))


def nothing(shape: tuple[int, ...] | int, dtype: object = np.float32) -> np.ndarray:
    """An array of a value that no kernel here produces."""
    return np.full(shape, 77, dtype)  # type: ignore[call-overload]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240)


@pytest.mark.parametrize("blocks", [1, 3, 48])
@pytest.mark.parametrize("count", [7, 1000, 20_003])
def test_vector_add(rng: np.random.Generator, count: int, blocks: int) -> None:
    x, y = rng.standard_normal((2, count)).astype(np.float32)
    z = nothing(count)
    Program("vector_add").call("vector_add", blocks, In(x), In(y), Out(z), count)
    assert np.array_equal(z, x + y)


@pytest.mark.parametrize(("rows", "hidden"), [(1, 64), (5, 320), (16, 5120)])
def test_rms_norm(rng: np.random.Generator, rows: int, hidden: int) -> None:
    x = (rng.standard_normal((rows, hidden)) * 3).astype(BF16)
    gamma = rng.standard_normal(hidden).astype(BF16)
    y = nothing((rows, hidden), BF16)
    Program("rms_norm").call("rms_norm", 4, In(x), In(gamma), Out(y), rows, hidden)
    wide = x.astype(np.float64)
    expected = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-6) * gamma.astype(np.float64)
    assert relative(y, expected) < 2.5e-3
    assert (np.abs(y.astype(np.float64) - expected) <= np.abs(expected) * 2**-8 + 1e-30).all()


@pytest.mark.parametrize(("rows", "cols"), [(1, 64), (37, 320), (32, 1024)])
def test_softmax(rng: np.random.Generator, rows: int, cols: int) -> None:
    x = (rng.standard_normal((rows, cols)) * 5).astype(np.float32)
    y = nothing((rows, cols))
    Program("softmax").call("softmax", 3, In(x), Out(y), rows, cols)
    expected = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    assert relative(y, expected) < 1e-6


@pytest.mark.parametrize(("m", "n", "k"), [(16, 512, 5120), (16, 200, 1296), (5, 64, 512), (1, 130, 256), (2, 16, 16)])
def test_matmul_nk(rng: np.random.Generator, m: int, n: int, k: int) -> None:
    a = rng.standard_normal((m, k)).astype(BF16)
    w = rng.standard_normal((n, k)).astype(BF16)
    c = nothing((m, n), BF16)
    Program("matmul_nk").call("matmul_nk", 3, In(a), In(w), Out(c), m, k, n)
    assert relative(c, a.astype(np.float64) @ w.astype(np.float64).T) < 2.5e-3


@pytest.mark.parametrize(("m", "n", "k"), [(48, 160, 304), (128, 256, 384), (16, 16, 16), (272, 144, 128)])
def test_matmul_kn(rng: np.random.Generator, m: int, n: int, k: int) -> None:
    a = rng.standard_normal((m, k)).astype(BF16)
    b = rng.standard_normal((k, n)).astype(BF16)
    c = nothing((m, n))
    Program("matmul_kn").call("matmul_kn", 2, In(a), In(b), Out(c), m, n, k)
    assert relative(c, a.astype(np.float64) @ b.astype(np.float64)) < 1e-6


@pytest.mark.parametrize("layout", ["nk", "kn"])
@pytest.mark.parametrize(("m", "n", "k"), [(20, 224, 544), (64, 128, 256), (1, 32, 32)])
def test_matmul_int8(rng: np.random.Generator, m: int, n: int, k: int, layout: str) -> None:
    a = rng.integers(-128, 128, (m, k)).astype(np.int8)
    w = rng.integers(-128, 128, (n, k)).astype(np.int8)
    scale = rng.uniform(1e-5, 1e-4, n).astype(np.float32)
    stored, scales = (w, scale) if layout == "nk" else (np.ascontiguousarray(w.T), scale[:1])
    c = nothing((m, n), np.float16)
    bits = scales.view(np.uint32).astype(np.uint64)
    Program("matmul_int8").call(f"matmul_int8_{layout}", 2, In(a), In(stored), In(bits), Out(c), m, k, n)
    sums = a.astype(np.int64) @ w.astype(np.int64).T
    expected = sums.astype(np.float64) * scales.astype(np.float64)
    # the unit keeps the upper 19 bits of a scale
    assert (np.abs(c.astype(np.float64) - expected) <= np.abs(expected) * 2**-9 + 1e-7).all()


@pytest.mark.parametrize("rows", [1, 5])
def test_topk(rng: np.random.Generator, rows: int) -> None:
    x = rng.permuted(np.arange(rows * 2048).reshape(rows, 2048), axis=1).astype(np.float32)
    values, indices = nothing((rows, 64)), nothing((rows, 64), np.uint32)
    Program("topk").call("topk", 2, In(x), Out(values), Out(indices), rows)
    order = np.argsort(-x, axis=1)[:, :64]
    assert np.array_equal(indices, order)
    assert np.array_equal(values, np.take_along_axis(x, order, axis=1))


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize(("m", "n", "k"), [(100, 320, 176), (300, 128, 64), (1, 64, 32)])
def test_gemm_bias_relu(rng: np.random.Generator, m: int, n: int, k: int, blocks: int) -> None:
    x = rng.standard_normal((m, k)).astype(np.float16)
    w = rng.standard_normal((n, k)).astype(np.float16)
    bias = (rng.standard_normal(n) * 5).astype(np.float32)
    ring = nothing(blocks * 2 * 64 * 128)
    y = nothing((m, n), np.float16)
    Program("gemm_bias_relu").call("gemm_bias_relu", blocks, In(x), In(w), In(bias), InOut(ring), Out(y), m, n, k)
    expected = np.maximum(x.astype(np.float64) @ w.astype(np.float64).T + bias, 0)
    assert relative(y, expected) < 5e-4
    assert ((y == 0) | (expected > -1e-2)).all()


@pytest.mark.parametrize("blocks", [1, 3, 8])
@pytest.mark.parametrize(("m", "n", "k"), [(5, 112, 1040), (16, 64, 4096)])
def test_split_k(rng: np.random.Generator, m: int, n: int, k: int, blocks: int) -> None:
    a = rng.standard_normal((m, k)).astype(BF16)
    w = rng.standard_normal((n, k)).astype(BF16)
    alpha = np.array([0.37], np.float32)
    sums, y = nothing((m, n)), nothing((m, n), BF16)
    Program("split_k").call("split_k", blocks, In(a), In(w), In(alpha), InOut(sums), Out(y), m, n, k)
    expected = a.astype(np.float64) @ w.astype(np.float64).T
    assert relative(sums, expected) < 1e-6
    assert relative(y, expected * np.float64(alpha[0])) < 2.5e-3


def test_masked(rng: np.random.Generator) -> None:
    entries, tiles = 2000, 5
    table = rng.standard_normal(entries).astype(np.float32)
    index = rng.integers(0, entries, (tiles, 1024)).astype(np.int32)
    x = rng.standard_normal((tiles, 1024)).astype(np.float32)
    kept, larger, packed = (nothing((tiles, 1024)) for _ in range(3))
    counts, turned = nothing(tiles, np.int32), nothing((tiles, 4, 16, 16), np.float16)
    outs = [Out(a) for a in (kept, larger, packed, counts, turned)]
    Program("masked").call("masked", 2, In(table), In(index), In(x), *outs, entries, tiles)
    g = table[index]
    expected = np.where(g > 0.25, g, np.float32(-1))
    assert np.array_equal(kept, expected)
    assert np.array_equal(larger, np.maximum(g, x))
    assert np.array_equal(turned, expected.astype(np.float16).reshape(tiles, 4, 16, 16).transpose(0, 1, 3, 2))
    for tile in range(tiles):
        chosen = g[tile][g[tile] > 0.25]
        assert counts[tile] == chosen.size
        assert np.array_equal(packed[tile, : chosen.size], chosen)
        assert (packed[tile, chosen.size :] == 77).all()


@pytest.mark.parametrize(("c1", "height", "width", "out"), [(2, 7, 10, 48), (1, 12, 20, 64), (3, 5, 3, 16)])
def test_conv2d(rng: np.random.Generator, c1: int, height: int, width: int, out: int) -> None:
    image = rng.standard_normal((c1, height, width, 16)).astype(np.float16)
    weight = rng.standard_normal((out, c1 * 16, 3, 3)).astype(np.float16)
    fractals = weight.reshape(out // 16, 16, c1, 16, 9).transpose(2, 4, 0, 1, 3)
    y = nothing((height * width, out))
    Program("conv2d").call("conv2d", 2, In(image), In(np.ascontiguousarray(fractals)), Out(y), c1, height, width, out)
    planes = image.transpose(0, 3, 1, 2).reshape(c1 * 16, height, width).astype(np.float64)
    padded = np.pad(planes, ((0, 0), (1, 1), (1, 1)))
    expected = np.zeros((height, width, out))
    for dy in range(3):
        for dx in range(3):
            window = padded[:, dy : dy + height, dx : dx + width]
            expected += np.einsum("chw,oc->hwo", window, weight[:, :, dy, dx].astype(np.float64))
    assert relative(y, expected.reshape(height * width, out)) < 1e-6


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.cpp")), ids=lambda path: path.stem)
def test_nothing_of_the_simulator(path: Path) -> None:
    """Only the public header is included, and nothing asks where it is compiled."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("#")] == ['#include "kernel_operator.h"']
    assert not any("pyto" in line.lower() for line in lines)
