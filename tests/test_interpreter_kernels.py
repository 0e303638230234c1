"""Kernels of many kinds: every pass keeps their meaning under the interpreter, and the meaning is numpy's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pyto.language as pl
from pyto import compiler
from pyto.interpreter import run
from pyto.numerics import widen

BF = ml_dtypes.bfloat16
B = pl.dynamic("B")
N = pl.dynamic("N")
CORE = pl.Level.CORE_GROUP


@pl.jit
def softmax(x: pl.Tensor[[B, 200], pl.FP32], y: pl.Out[pl.Tensor[[B, 200], pl.FP32]]):
    for b in pl.parallel(0, B, 8):
        with pl.at(level=CORE, name_hint="rows"):
            t = x[b : b + 8, :]
            e = pl.exp(pl.row_expand_sub(t, pl.row_max(t)))
            y[b : b + 8, :] = pl.row_expand_div(e, pl.row_sum(e))


def softmax_numpy(x):
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pl.jit
def layer_norm(
    x: pl.Tensor[[B, 256], pl.FP32],
    gamma: pl.Tensor[[1, 256], pl.FP32],
    beta: pl.Tensor[[1, 256], pl.FP32],
    y: pl.Out[pl.Tensor[[B, 256], pl.BF16]],
):
    for b in pl.parallel(0, B, 16):
        with pl.at(level=CORE, name_hint="rows"):
            total = pl.full([1, 16], dtype=pl.FP32, value=0.0)
            square = pl.full([1, 16], dtype=pl.FP32, value=0.0)
            for k in pl.range(0, 256, 64):
                t = x[b : b + 16, k : k + 64]
                total = pl.add(total, pl.reshape(pl.row_sum(t), [1, 16]))
                square = pl.add(square, pl.reshape(pl.row_sum(t * t), [1, 16]))
            mean = total * (1.0 / 256)
            scale = pl.reshape(pl.rsqrt(square * (1.0 / 256) - mean * mean + 1e-5), [16, 1])
            shift = pl.reshape(mean, [16, 1])
            for k in pl.range(0, 256, 64):
                t = pl.row_expand_mul(pl.row_expand_sub(x[b : b + 16, k : k + 64], shift), scale)
                t = pl.col_expand_add(pl.col_expand_mul(t, gamma[:, k : k + 64]), beta[:, k : k + 64])
                y[b : b + 16, k : k + 64] = pl.cast(t, target_type=pl.BF16)


def layer_norm_numpy(x, gamma, beta):
    x = x.astype(np.float64)
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * gamma + beta


@pl.jit
def column_tail(x: pl.Tensor[[B, N], pl.FP32], y: pl.Out[pl.Tensor[[B, N], pl.FP32]]):
    for b in pl.parallel(0, B, 4):
        for n in pl.parallel(0, N, 48):
            with pl.at(level=CORE, name_hint="tile"):
                t = x[b : b + 4, n : n + 48]
                t = pl.row_expand_sub(t, pl.row_min(t))
                y[b : b + 4, n : n + 48] = pl.maximum(t, 0.5) + pl.abs(t - 1.0)


def column_tail_numpy(x):
    out = np.empty_like(x)
    for n in range(0, x.shape[1], 48):
        t = x[:, n : n + 48] - x[:, n : n + 48].min(axis=1, keepdims=True)
        out[:, n : n + 48] = np.maximum(t, 0.5) + np.abs(t - 1)
    return out


@pl.jit
def columns(x: pl.Tensor[[40, N], pl.FP32], y: pl.Out[pl.Tensor[[3, N], pl.FP32]]):
    for n in pl.parallel(0, N, 64):
        with pl.at(level=CORE, name_hint="tile"):
            t = x[0:40, n : n + 64]
            top = pl.col_max(t)
            y[0:1, n : n + 64] = pl.col_sum(t)
            y[1:2, n : n + 64] = top
            y[2:3, n : n + 64] = pl.col_sum(pl.exp(pl.col_expand_sub(t, top)))


def columns_numpy(x):
    top = x.max(axis=0)
    return np.stack([x.astype(np.float64).sum(axis=0), top, np.exp(x.astype(np.float64) - top).sum(axis=0)])


@pl.jit
def short_floats(
    x: pl.Tensor[[B, 96], pl.BF16], w: pl.Tensor[[B, 96], pl.FP16], y: pl.Out[pl.Tensor[[B, 96], pl.BF16]]
):
    for b in pl.parallel(0, B, 1):
        with pl.at(level=CORE, name_hint="row"):
            t = x[b : b + 1, :]
            u = pl.cast(w[b : b + 1, :] * 2.0, target_type=pl.FP32)
            t = pl.relu(t * t - 0.25)
            y[b : b + 1, :] = pl.cast(pl.cast(t, target_type=pl.FP32) + u, target_type=pl.BF16)


def short_floats_numpy(x, w):
    x = x.astype(np.float32)
    square = (x * x).astype(BF).astype(np.float32)
    t = np.maximum((square - np.float32(0.25)).astype(BF).astype(np.float32), 0)
    return t + (w.astype(np.float32) * 2).astype(np.float16).astype(np.float32)


@pl.jit
def integers(
    x: pl.Tensor[[B, 64], pl.INT32], y: pl.Out[pl.Tensor[[B, 64], pl.INT32]], z: pl.Out[pl.Tensor[[B, 64], pl.FP32]]
):
    for b in pl.parallel(0, B, 8):
        with pl.at(level=CORE, name_hint="rows"):
            t = x[b : b + 8, :]
            y[b : b + 8, :] = pl.minimum(t * 3 + 1, 1000) - t
            z[b : b + 8, :] = pl.cast(t, target_type=pl.FP32) * 0.5


def integers_numpy(x):
    return np.minimum(x * 3 + 1, 1000) - x, x * 0.5


@pl.jit
def heads(x: pl.Tensor[[B, 6, 64], pl.FP32], at: pl.Tensor[[B], pl.INT32], y: pl.Out[pl.Tensor[[B, 6, 64], pl.FP32]]):
    for b in pl.parallel(0, B, 1):
        with pl.at(level=CORE, name_hint="heads"):
            row = pl.read(at, [b])
            t = x[row, :, :]
            turned = pl.create_tensor([6, 64], dtype=pl.FP32)
            turned[:, 0:32] = pl.neg(t[:, 32:64])
            turned[:, 32:64] = t[:, 0:32]
            y[b, :, :] = t + turned * 0.5


def heads_numpy(x, at):
    t = x[at]
    return t + np.concatenate([-t[..., 32:], t[..., :32]], axis=-1) * np.float32(0.5)


def gemm(
    a_trans: bool, b_trans: bool, dtype: Any, out_dtype: Any, m_tile: int = 32, n_tile: int = 48, k_tile: int = 64
):
    K, COLS = 192, 96
    a_shape, b_shape = ([K, B] if a_trans else [B, K]), ([COLS, K] if b_trans else [K, COLS])

    @pl.jit
    def product(a: pl.Tensor[a_shape, dtype], w: pl.Tensor[b_shape, dtype], c: pl.Out[pl.Tensor[[B, COLS], out_dtype]]):
        for m in pl.parallel(0, B, m_tile):
            for n in pl.parallel(0, COLS, n_tile):
                with pl.at(level=CORE, name_hint="tile"):
                    acc = pl.full([m_tile, n_tile], dtype=out_dtype, value=0)
                    for k in pl.range(0, K, k_tile):
                        left = a[k : k + k_tile, m : m + m_tile] if a_trans else a[m : m + m_tile, k : k + k_tile]
                        right = w[n : n + n_tile, k : k + k_tile] if b_trans else w[k : k + k_tile, n : n + n_tile]
                        acc = pl.matmul_acc(acc, left, right, a_trans=a_trans, b_trans=b_trans)
                    c[m : m + m_tile, n : n + n_tile] = acc

    def reference(a, w):
        x, y = a.astype(np.float64), w.astype(np.float64)
        return (x.T if a_trans else x) @ (y.T if b_trans else y)

    return product, reference


def normal(*shape, dtype=np.float32):
    return lambda rng: rng.standard_normal(shape).astype(dtype)


def whole(*shape, low, high, dtype=np.int32):
    return lambda rng: rng.integers(low, high, shape).astype(dtype)


@dataclass(frozen=True)
class Case:
    kernel: Any
    reference: Callable[..., Any]
    inputs: tuple[Any, ...]
    outputs: tuple[tuple[tuple[int, ...], Any], ...]
    bound: float = 1e-6


def gemm_case(a_trans, b_trans, dtype, out_dtype, kind, bound=1e-6, rows=41):
    make = (
        (lambda *s: whole(*s, low=-128, high=128, dtype=np.int8))
        if kind == np.int8
        else lambda *s: normal(*s, dtype=kind)
    )
    a, w = make(*((192, rows) if a_trans else (rows, 192))), make(*((96, 192) if b_trans else (192, 96)))
    out = np.int32 if kind == np.int8 else np.float32
    return Case(*gemm(a_trans, b_trans, dtype, out_dtype), (a, w), (((rows, 96), out),), bound)


ONE = normal(1, 256)
CASES = {
    "softmax": Case(softmax, softmax_numpy, (normal(13, 200),), (((13, 200), np.float32),)),
    "layer_norm": Case(layer_norm, layer_norm_numpy, (normal(21, 256), ONE, ONE), (((21, 256), BF),), 3e-3),
    "column_tail": Case(column_tail, column_tail_numpy, (normal(7, 101),), (((7, 101), np.float32),)),
    "one_column_tail": Case(column_tail, column_tail_numpy, (normal(1, 97),), (((1, 97), np.float32),)),
    "columns": Case(columns, columns_numpy, (normal(40, 150),), (((3, 150), np.float32),)),
    "short_floats": Case(
        short_floats,
        short_floats_numpy,
        (normal(3, 96, dtype=BF), normal(3, 96, dtype=np.float16)),
        (((3, 96), BF),),
        3e-3,
    ),
    "integers": Case(
        integers,
        integers_numpy,
        (whole(11, 64, low=-500, high=500),),
        (((11, 64), np.int32), ((11, 64), np.float32)),
        0,
    ),
    "heads": Case(heads, heads_numpy, (normal(5, 6, 64), whole(5, low=0, high=5)), (((5, 6, 64), np.float32),)),
    "gemm_nn": gemm_case(False, False, pl.BF16, pl.FP32, BF),
    "gemm_nt": gemm_case(False, True, pl.FP16, pl.FP32, np.float16),
    "gemm_tn": gemm_case(True, False, pl.BF16, pl.FP32, BF),
    "gemm_tt": gemm_case(True, True, pl.BF16, pl.FP32, BF),
    "gemm_fp32": gemm_case(False, True, pl.FP32, pl.FP32, np.float32),
    "gemm_int8": gemm_case(False, True, pl.INT8, pl.INT32, np.int8, 0),
}


def arguments(case: Case) -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(7)
    inputs = [make(rng) for make in case.inputs]
    return inputs, [np.zeros(shape, dtype) for shape, dtype in case.outputs]


def check(case: Case, inputs: list[Any], outputs: list[Any], where: str) -> None:
    wants = case.reference(*inputs)
    for got, want in zip(outputs, wants if isinstance(wants, tuple) else (wants,)):
        error = np.linalg.norm(widen(got).astype(np.float64) - want) / np.linalg.norm(want)
        assert error <= case.bound, (where, error)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", [None, 0])
def test_every_pass_keeps_the_meaning(name, seed):
    case = CASES[name]
    for stage in compiler.lower(case.kernel).stages:
        inputs, outputs = arguments(case)
        names = [p.var.name for p in stage.program.host.params]
        run(stage.program, dict(zip(names, [*inputs, *outputs])), seed=seed, cores=2)
        check(case, inputs, outputs, stage.name)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_compiled(name):
    case = CASES[name]
    inputs, outputs = arguments(case)
    case.kernel(*inputs, *outputs)
    check(case, inputs, outputs, "compiled")
