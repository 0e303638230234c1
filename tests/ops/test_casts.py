"""Casts between all element types, in all modes: nearest even to floats, saturating to integers, NaN to 0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyto.ir.nodes import BF16, BOOL, FP16, FP32, INT16, DType
from pyto.ir.ops.types import ALL
from pyto.numerics import NUMPY
from tests.ops.kernels_of import kernel, results

Array = np.ndarray[Any, np.dtype[Any]]
SHAPE = (5, 43)
MODES = {"rint": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
         "round": lambda x: np.trunc(x) + np.sign(x) * (np.abs(x - np.trunc(x)) >= 0.5)}  # fmt: skip


def values(d: DType) -> Array:
    rng, dtype = np.random.default_rng(d.bits), NUMPY[d.name]
    if d == BOOL:
        return rng.integers(0, 2, SHAPE).astype(bool)
    if d.kind == "f":
        x = rng.standard_normal(SHAPE) * 10.0 ** rng.integers(-3, 11, SHAPE)
        edges = [-2.5, -1.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, 127.5, 128.5, -128.5, 255.5, 256, 32767.5, -32768.5, 65535,
                 65535.5, 2147483520, 2147483648, -2147483648, 4294967040, 4294967296, 1e30, -1e30, np.inf, -np.inf,
                 np.nan, 0.50001, -0.50001, 0.49999, 16777217, 3e9]  # fmt: skip
        x.flat[: len(edges)] = edges
        with np.errstate(over="ignore"):
            return x.astype(dtype)
    limits = np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, SHAPE, endpoint=True)
    x[::2] = rng.integers(max(limits.min, -300), min(limits.max, 300), x[::2].shape, endpoint=True)
    x.flat[:6] = (limits.min, limits.max, limits.min + 1, limits.max - 1, 0, 1)
    return x.astype(dtype)


def expected(x: Array, target: DType, mode: str) -> Array:
    dtype = NUMPY[target.name]
    if target == BOOL:
        return x.astype(np.float64) != 0
    if target.kind == "f":
        with np.errstate(over="ignore"):
            return x.astype(np.float32).astype(dtype) if target != FP32 else x.astype(dtype)
    wide = x.astype(np.float64)
    limits = np.iinfo(dtype)
    with np.errstate(invalid="ignore"):
        whole = np.where(np.isnan(wide), 0, MODES[mode](wide))
    return np.clip(whole, limits.min, limits.max).astype(np.int64).astype(dtype)


def same(a: Array, b: Array) -> bool:
    return np.array_equal(a, b) or (a.dtype.kind not in "iub" and bool(np.all((a == b) | ((a != a) & (b != b)))))


@pytest.mark.parametrize("source", ALL, ids=str)
def test_casts(source: DType, tmp_path: Path) -> None:
    modes = MODES if source == FP32 else ("rint", "floor") if source.kind == "f" else ("rint",)
    wanted = {f"{t}_{mode}": (t, mode) for t in ALL if t != source for mode in (modes if t.kind in "iu" else ("rint",))}
    x = values(source)
    want = {name: expected(x, *pair) for name, pair in wanted.items()}
    outs = [f"    {name}: pl.Out[pl.Tensor[[M, N], pl.{t.name.upper()}]]," for name, (t, _) in wanted.items()]
    head = ["import pyto.language as pl", 'M, N = pl.dynamic("M"), pl.dynamic("N")', "", "", "@pl.jit", "def casts("]
    lines = [*head, f"    x: pl.Tensor[[M, N], pl.{source.name.upper()}],", *outs, "):"]
    for name, (t, mode) in wanted.items():
        lines.append("    with pl.at(pl.Level.CORE_GROUP):")
        lines.append(f'        {name}[0:8, 0:48] = pl.cast(x[0:8, 0:48], pl.{t.name.upper()}, mode="{mode}")')
    fn = kernel("\n".join(lines) + "\n", "casts", tmp_path)
    for where, got in results(fn, {"x": x}, want):
        wrong = {n: (got[n][got[n] != w][:4], w[got[n] != w][:4], x[got[n] != w][:4]) for n, w in want.items()
                 if not same(got[n], w)}  # fmt: skip
        assert not wrong, f"{source} {where}: {wrong}"


FLOATS = (FP32, FP16, BF16)


@pytest.mark.parametrize("d", FLOATS, ids=str)
def test_modes_by_number(d: DType, tmp_path: Path) -> None:
    modes = ((0, "rint"), (1, "rint"), (2, "round"), (3, "floor"), (4, "ceil"), (5, "trunc"))
    x = values(d)
    outs = "\n".join(f"    o{n}: pl.Out[pl.Tensor[[5, 43], pl.INT16]]," for n, _ in modes)
    body = "".join(f"        o{n}[:, :] = pl.cast(x[:, :], pl.INT16, {n})\n" for n, _ in modes)
    text = f"""import pyto.language as pl


@pl.jit
def numbered(
    x: pl.Tensor[[5, 43], pl.{d.name.upper()}],
{outs}
):
    with pl.at(pl.Level.CORE_GROUP):
{body}"""
    want = {f"o{n}": expected(x, INT16, mode) for n, mode in modes}
    for where, got in results(kernel(text, "numbered", tmp_path), {"x": x}, want):
        assert all(same(got[name], w) for name, w in want.items()), where


@pytest.mark.parametrize("d", FLOATS, ids=str)
def test_round_to_even(d: DType, tmp_path: Path) -> None:
    """R15: there and back."""
    text = f"""import pyto.language as pl


@pl.jit
def rounded(x: pl.Tensor[[1, 6], pl.{d.name.upper()}], y: pl.Out[pl.Tensor[[1, 6], pl.{d.name.upper()}]]):
    with pl.at(pl.Level.CORE_GROUP):
        y[:, :] = pl.cast(pl.cast(x[:, :], pl.INT32, mode="rint"), pl.{d.name.upper()})
"""
    x = np.array([[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]]).astype(NUMPY[d.name])
    want = np.array([[-2, -2, 0, 0, 2, 2]]).astype(NUMPY[d.name])
    for where, got in results(kernel(text, "rounded", tmp_path), {"x": x}, {"y": want}):
        assert np.array_equal(got["y"], want), where
