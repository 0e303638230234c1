"""Runs a kernel in the interpreter after every pass and in the simulator, and compares with numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

import pyto.language as pl
from pyto import compiler, interpreter

Array = np.ndarray[Any, Any]
CORE = pl.Level.CORE_GROUP
NUMPY = {
    pl.FP32: np.dtype(np.float32), pl.FP16: np.dtype(np.float16), pl.BF16: np.dtype(ml_dtypes.bfloat16),
    pl.INT32: np.dtype(np.int32), pl.INT16: np.dtype(np.int16), pl.INT8: np.dtype(np.int8),
    pl.UINT32: np.dtype(np.uint32), pl.UINT16: np.dtype(np.uint16), pl.UINT8: np.dtype(np.uint8),
    pl.BOOL: np.dtype(np.bool_),
}  # fmt: skip


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Array:
    """Elements of a type of `pl`, integers over all of its range."""
    np_ = NUMPY[dtype]
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(np_)
    if dtype.kind != "f":
        limits = np.iinfo(np_)
        return rng.integers(limits.min, limits.max, shape, endpoint=True).astype(np_)
    return rng.standard_normal(shape).astype(np.float32).astype(np_)


def sources(kernel: Any) -> str:
    return "\n".join(compiler.lower(kernel).generated.sources.values())


def _same(got: Array, want: Array, bound: float, where: str) -> None:
    want = np.asarray(want).astype(got.dtype) if bound == 0 else want
    assert got.shape == want.shape, where
    if bound == 0:
        np.testing.assert_array_equal(got, want, err_msg=where)
    else:
        np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), bound, bound, err_msg=where)


def check(
    kernel: Any,
    reads: Mapping[str, Any],
    writes: Mapping[str, Array],
    expected: Mapping[str, Array],
    bound: float = 0.0,
) -> None:
    """`reads`: inputs, arrays and scalars; `writes`: what out and inout tensors hold before, `expected` after."""
    arrays = {n: v for n, v in reads.items() if isinstance(v, np.ndarray)}
    scalars = {n: v for n, v in reads.items() if not isinstance(v, np.ndarray)}
    for stage in compiler.lower(kernel).stages:
        if stage.changed:
            got = {n: v.copy() for n, v in writes.items()}
            interpreter.run(stage.program, {**arrays, **got}, scalars, seed=3)
            for name, want in expected.items():
                _same(got[name], want, bound, f"{name} after {stage.name}")
    got = {n: v.copy() for n, v in writes.items()}
    kernel(**reads, **got)
    for name, want in expected.items():
        _same(got[name], want, bound, f"{name} in the simulator")


def canary(shape: tuple[int, ...], dtype: Any) -> Array:
    """What must stay where nothing is written."""
    return np.full(shape, 77, NUMPY[dtype])
