"""Kernels mean what their Python says: the interpreter on what the front end makes, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import pyto.language as pl
from pyto.frontends.python import parse
from pyto.interpreter import run

B, N = pl.dynamic("B"), pl.dynamic("N")
CORE = pl.Level.CORE_GROUP


def evaluate(kernel, scalars=None, **tensors: np.ndarray) -> dict[str, np.ndarray]:
    program = parse(kernel)
    for seed in (None, 0):
        arrays = {k: v.copy() for k, v in tensors.items()}
        run(program, arrays, scalars, seed=seed)
    return arrays


def grid(rows: int, cols: int) -> np.ndarray:
    return np.random.default_rng(rows * cols).standard_normal((rows, cols)).astype(np.float32)


@pl.jit
def operators(x: pl.Tensor[[B, 64], pl.FP32], y: pl.Out[pl.Tensor[[B, 64], pl.FP32]]):
    for b in pl.parallel(0, B, 4):
        with pl.at(level=CORE):
            t = x[b : b + 4, :]
            u = 2 - t * 0.5 + (1.0 / (t * t + 1)) - (-t)
            u -= t / 4
            u *= +2
            y[b : b + 4, :] = pl.maximum(u, 0) + pl.minimum(0.25, t)


def test_operators() -> None:
    x = grid(10, 64)
    u = (2 - x * 0.5 + 1 / (x * x + 1) + x - x / 4) * 2
    want = np.maximum(u, 0) + np.minimum(0.25, x)
    np.testing.assert_allclose(evaluate(operators, x=x, y=np.zeros_like(x))["y"], want, rtol=1e-5, atol=1e-6)


@pl.jit
def tails(x: pl.Tensor[[B, N], pl.FP32], y: pl.Out[pl.Tensor[[B, N], pl.FP32]]):
    """Tiles end where the tensor ends, whether they were loaded or made."""
    for b in pl.parallel(0, B, 8):
        for n in pl.parallel(0, N, 16):
            with pl.at(level=CORE):
                y[b : b + 8, n : n + 16] = pl.full([8, 16], dtype=pl.FP32, value=1.0)
                y[b : b + 8, n : n + 16] += x[b : b + 8, n : n + 16]


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (8, 16), (9, 17), (23, 40)])
def test_tails(rows: int, cols: int) -> None:
    x = grid(rows, cols)
    assert (evaluate(tails, x=x, y=np.zeros_like(x))["y"] == x + 1).all()


@pl.jit
def carried(x: pl.Tensor[[B, 64], pl.FP32], y: pl.Out[pl.Tensor[[3, 64], pl.FP32]]):
    """Two values that exchange their names, one that stays, one of its own in each iteration."""
    with pl.at(level=CORE):
        a, b = x[0, :], x[1, :]
        fixed = a * 3.0
        count = 0.0
        for i in pl.range(2, B):
            t = x[i, :]
            a, b = b, a + t
            count = count + 1.0
        y[0, :] = a
        y[1, :] = b
        y[2, :] = fixed + count


@pytest.mark.parametrize("rows", [2, 3, 7])
def test_carried(rows: int) -> None:
    x = grid(rows, 64)
    a, b = x[0], x[1]
    for i in range(2, rows):
        a, b = b, a + x[i]
    got = evaluate(carried, x=x, y=np.zeros((3, 64), np.float32))["y"]
    np.testing.assert_array_equal(got, np.stack([a, b, x[0] * np.float32(3) + np.float32(rows - 2)]))


@pl.jit
def narrowing(x: pl.Tensor[[B, 64], pl.FP32], y: pl.Out[pl.Tensor[[B, 64], pl.FP32]]):
    """A full start value meets partly valid tiles: the loop carries what is valid in both."""
    for b in pl.parallel(0, B, 8):
        with pl.at(level=CORE):
            acc = pl.full([8, 64], dtype=pl.FP32, value=0.0)
            for _ in pl.range(3):
                acc += x[b : b + 8, :]
            y[b : b + 8, :] = acc


def test_narrowing() -> None:
    x = grid(13, 64)
    assert (evaluate(narrowing, x=x, y=np.zeros_like(x))["y"] == x + x + x).all()
    loop = parse(narrowing).host.body.ops[0].blocks[0].ops[0].blocks[0].ops
    assert [op.name for op in loop] == ["full", "set_validshape", "for", "store", "yield"]


@pl.jit
def init_values(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[2, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i, (s, m) in pl.range(1, 8, init_values=(x[0, :], x[0, :])):
            s_out, m_out = pl.yield_(s + x[i, :], pl.maximum(m, x[i, :]))
        y[0, :] = s_out
        y[1, :] = m_out


def test_init_values() -> None:
    x = grid(8, 64)
    got = evaluate(init_values, x=x, y=np.zeros((2, 64), np.float32))["y"]
    np.testing.assert_allclose(got, np.stack([x.sum(0), x.max(0)]), rtol=1e-5, atol=1e-6)


@pl.jit
def spmd_forms(x: pl.Tensor[[B, 64], pl.FP32], y: pl.Out[pl.Tensor[[B, 64], pl.FP32]]):
    with pl.spmd(2, name_hint="first"):
        for b in pl.range(pl.get_block_idx(), B, 2):
            y[b, :] = x[b, :]
    for core in pl.spmd(3):
        with pl.at(level=CORE, name_hint="second") as task:
            for b in pl.pipeline(core, B, 3, stage=2):
                y[b, :] += 1.0
    for b in pl.spmd(B, deps=[task]):
        y[b, :] *= 2.0


def test_spmd_forms() -> None:
    x = grid(7, 64)
    assert (evaluate(spmd_forms, x=x, y=np.zeros_like(x))["y"] == (x + 1) * 2).all()
    names = [op.blocks[0].ops[0].attrs["name"] for op in parse(spmd_forms).host.body.ops]
    assert names == ["first", "second", "spmd_forms"]


@pl.jit
def windows(x: pl.Tensor[[3, 5, 64], pl.FP32], v: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[3, 5, 64], pl.FP32]]):
    for a in pl.parallel(3):
        with pl.at(level=CORE):
            y[a, :, 0:32] = x[a, :, 0:32] * 2.0
            y[a : a + 1, 0:4, 32:64] = pl.slice(x, [1, 4, 32], [a, 1, 32])
            pl.store(pl.load(v, [32], [32]), [a, 4, 32], y)
            y = pl.assemble(y, pl.full([1, 8], dtype=pl.FP32, value=7.0), [a, 0, 0])


def test_windows() -> None:
    x, v = grid(15, 64).reshape(3, 5, 64), grid(1, 64)[0]
    want = x * 2
    want[:, 0:4, 32:] = x[:, 1:5, 32:]
    want[:, 4, 32:] = v[32:]
    want[:, 0, :8] = 7
    assert (evaluate(windows, x=x, v=v, y=np.zeros_like(x))["y"] == want).all()


@pl.jit
def indices(ids: pl.Tensor[[B], pl.INT32], x: pl.Tensor[[N, 64], pl.FP32], y: pl.Out[pl.Tensor[[B, 64], pl.FP32]]):
    for b in pl.spmd(B):
        i = ids[b]
        j = pl.max(0, min(i, N - 1))
        even = 1 if i % 2 == 0 else 0
        y[b, :] = x[j, :] * (even + 1)


def test_indices() -> None:
    x, ids = grid(6, 64), np.array([5, 0, 3, 99, -4, 2], np.int32)
    clipped = np.clip(ids, 0, 5)
    want = x[clipped] * (1 + (ids % 2 == 0))[:, None]
    assert (evaluate(indices, ids=ids, x=x, y=np.zeros_like(x))["y"] == want.astype(np.float32)).all()


@pl.jit
def scalars(a: pl.Scalar[pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    offset = n * 2 + 1
    with pl.at(level=CORE):
        y[:, :] = pl.full([8, 64], dtype=pl.FP32, value=a) * offset + n / 4


def test_scalars() -> None:
    got = evaluate(scalars, {"a": 0.5, "n": 3}, y=np.zeros((8, 64), np.float32))["y"]
    assert (got == 0.5 * 7 + 0.75).all()


@pl.jit
def tile_writes(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, :]
        old = t
        for k in pl.range(4):
            t[:, k * 16 : k * 16 + 8] = old[:, k * 16 + 8 : k * 16 + 16] + 1.0
        t[0:4, :] *= 2.0
        y[:, :] = t


def test_tile_writes() -> None:
    x = grid(8, 64)
    want = x.copy().reshape(8, 4, 2, 8)
    want[:, :, 0] = want[:, :, 1] + 1
    want = want.reshape(8, 64)
    want[:4] *= 2
    assert (evaluate(tile_writes, x=x, y=np.zeros_like(x))["y"] == want).all()


@pl.jit
def first_iteration(x: pl.Tensor[[6, 64], pl.FP32], y: pl.Out[pl.Tensor[[2, 64], pl.FP32]]):
    """An `if` that tells the first iteration from the others needs no run-time branch: the first is written out."""
    with pl.at(level=CORE):
        acc = pl.create_tensor([1, 64], dtype=pl.FP32)
        low = pl.create_tensor([1, 64], dtype=pl.FP32)
        for i in pl.range(3):
            for k in pl.pipeline(2, stage=2):
                t = x[i * 2 + k, :]
                started = k > 0
                if i == 0 and not started:
                    acc = t * 1.0
                    low = t
                else:
                    acc = acc + t
                    if i != 0:
                        low = pl.minimum(low, t)
        y[0, :] = acc
        y[1, :] = low


def test_first_iteration() -> None:
    x = grid(6, 64)
    got = evaluate(first_iteration, x=x, y=np.zeros((2, 64), np.float32))["y"]
    want = np.stack([x.sum(0), np.minimum(x[0], x[2:].min(0))])
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pl.jit
def first_of_init_values(x: pl.Tensor[[6, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i, (a,) in pl.range(0, 6, 2, init_values=(x[0, :],)):
            if i == 0:
                b = a * 2.0
            else:
                b = a + x[i, :]
            c = pl.yield_(b)
        y[:, :] = c


def test_first_of_init_values() -> None:
    x = grid(6, 64)
    got = evaluate(first_of_init_values, x=x, y=np.zeros((1, 64), np.float32))["y"]
    np.testing.assert_allclose(got[0], x[0] * 2 + x[2] + x[4], rtol=1e-5, atol=1e-6)
