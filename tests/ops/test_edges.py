"""NaN and infinities, scalar arguments of every type, bits of scalars, tails, windows, masks in loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyto.ir.nodes import BF16, FP16, FP32, INT32, DType
from pyto.numerics import NUMPY
from tests.ops.kernels_of import kernel, results

Array = np.ndarray[Any, np.dtype[Any]]
HEAD = 'import pyto.language as pl\nM, N = pl.dynamic("M"), pl.dynamic("N")\nCORE = pl.Level.CORE_GROUP\n\n\n@pl.jit\n'


def check(text: str, name: str, folder: Path, given: dict[str, Any], want: dict[str, Array], bound: float = 0) -> None:
    for where, got in results(kernel(HEAD + text, name, folder), given, want):
        for out, expected in want.items():
            a, b = got[out].astype(np.float64), expected.astype(np.float64)
            with np.errstate(invalid="ignore"):
                near = np.abs(a - b) <= bound * np.abs(b)
            good = (a == b) | (np.isnan(a) & np.isnan(b)) | near
            assert good.all(), f"{out} {where}: {a[~good][:5]} for {b[~good][:5]}"


EXPRESSIONS = {
    "less": ("a < b", np.less), "less_equal": ("a <= b", np.less_equal), "equal": ("a == b", np.equal),
    "other": ("a != b", np.not_equal), "greater": ("a > b", np.greater), "at_least": ("a >= 0.0", lambda a, b: a >= 0),
    "largest": ("pl.maximum(a, b)", np.maximum), "smallest": ("pl.minimum(a, b)", np.minimum),
    "size": ("pl.abs(a)", lambda a, b: np.abs(a)), "sum_": ("a + b", np.add), "product": ("a * b", np.multiply),
    "chosen": ("pl.sel(a < b, a, b)", lambda a, b: np.where(a < b, a, b)),
    "root": ("pl.sqrt(a)", lambda a, b: np.sqrt(a)),
    "known": ("a == a", lambda a, b: a == a), "clamped": ("pl.relu(-a)", lambda a, b: np.maximum(-a, 0)),
}  # fmt: skip


@pytest.mark.parametrize("d", (FP32, FP16, BF16), ids=str)
def test_not_a_number(d: DType, tmp_path: Path) -> None:
    edges = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 3e38 if d == FP32 else 6e4])
    a, b = (x.reshape(8, 8).astype(NUMPY[d.name]) for x in np.meshgrid(edges, edges))
    lines = ["def edges(", *(f"    {n}: pl.Tensor[[8, 8], pl.{d.name.upper()}]," for n in ("xa", "xb"))]
    want = {}
    with np.errstate(all="ignore"):
        for name, (_, fn) in EXPRESSIONS.items():
            want[name] = np.asarray(fn(a.astype(np.float32), b.astype(np.float32)))
            want[name] = want[name].astype(bool if want[name].dtype == bool else a.dtype)
            kind = "BOOL" if want[name].dtype == bool else d.name.upper()
            lines.append(f"    {name}: pl.Out[pl.Tensor[[8, 8], pl.{kind}]],")
    lines += ["):", "    with pl.at(CORE):", "        a, b = xa[:, :], xb[:, :]"]
    lines += [f"        {name}[:, :] = {text}" for name, (text, _) in EXPRESSIONS.items()]
    check("\n".join(lines) + "\n", "edges", tmp_path, {"xa": a, "xb": b}, want)


@pytest.mark.parametrize(("d", "value"), ((FP32, 1.5), (FP16, 1.5), (BF16, 1.5), (INT32, -2)), ids=str)
def test_scalar_arguments(d: DType, value: float, tmp_path: Path) -> None:
    """R37."""
    text = f"""def scaled(x: pl.Tensor[[4, 24], pl.FP32], s: pl.Scalar[pl.{d.name.upper()}],
           y: pl.Out[pl.Tensor[[4, 24], pl.FP32]], z: pl.Out[pl.Tensor[[4, 24], pl.BOOL]]):
    with pl.at(CORE):
        y[:, :] = x[:, :] * s + s
        z[:, :] = x[:, :] > s
"""
    x = np.arange(96, dtype=np.float32).reshape(4, 24) / 8 - 6
    check(text, "scaled", tmp_path, {"x": x, "s": value}, {"y": x * value + value, "z": x > value})


@pytest.mark.parametrize("flag", (True, False))
def test_bool_argument(flag: bool, tmp_path: Path) -> None:
    text = """def flagged(x: pl.Tensor[[4, 24], pl.FP32], flag: pl.Scalar[pl.BOOL],
            y: pl.Out[pl.Tensor[[4, 24], pl.FP32]],
            m: pl.Out[pl.Tensor[[4, 24], pl.BOOL]]):
    with pl.at(CORE):
        m[:, :] = (x[:, :] > 0.0) & flag
        if flag:
            y[:, :] = x[:, :] + 1.0
        else:
            y[:, :] = x[:, :] * 2.0
"""
    x = np.arange(96, dtype=np.float32).reshape(4, 24) - 48
    want = {"y": x + 1 if flag else x * 2, "m": (x > 0) & flag}
    check(text, "flagged", tmp_path, {"x": x, "flag": flag}, want)


def test_bits_of_scalars(tmp_path: Path) -> None:
    text = """def bits(x: pl.Tensor[[M, 16], pl.INT32], n: pl.Scalar[pl.INT32],
         y: pl.Out[pl.Tensor[[M, 16], pl.INT32]]):
    with pl.at(CORE):
        k = (n & 12) | (n ^ 5)
        k = k + (n << 2) - (n >> 1) + pl.and_(n, M) + pl.not_(n) + (~M)
        y[0:8, :] = x[0:8, :] + k
"""
    x = np.arange(80, dtype=np.int32).reshape(5, 16)
    for n in (77, -9):
        k = ((n & 12) | (n ^ 5)) + (n << 2) - (n >> 1) + (n & 5) + ~n + ~5
        check(text, "bits", tmp_path, {"x": x, "n": n}, {"y": x + k})


def test_windows_and_columns(tmp_path: Path) -> None:
    """Comparisons of parts of tiles, which lie with gaps, and of columns; masks of one width for values of another."""
    text = """def windows(x: pl.Tensor[[M, 48], pl.FP32], h: pl.Tensor[[M, 48], pl.FP16],
            y: pl.Out[pl.Tensor[[M, 16], pl.FP32]],
            z: pl.Out[pl.Tensor[[M, 12], pl.FP16]], c: pl.Out[pl.Tensor[[M, 1], pl.FP32]]):
    with pl.at(CORE):
        t = x[0:8, :]
        a, b = t[:, 8:24], t[:, 24:40]
        y[0:8, :] = pl.sel(a > b, a, b)
        u = h[0:8, 0:12]
        z[0:8, :] = pl.sel(x[0:8, 0:12] > 0.0, u, -1.0)
        s = pl.row_sum(t)
        c[0:8, :] = pl.sel(s < 0.0, 0.0, s)
"""
    rng = np.random.default_rng(5)
    x = rng.integers(-9, 9, (6, 48)).astype(np.float32)
    h = rng.integers(-9, 9, (6, 48)).astype(np.float16)
    s = x.sum(1, keepdims=True)
    want = {"y": np.maximum(x[:, 8:24], x[:, 24:40]), "c": np.where(s < 0, 0, s).astype(np.float32),
            "z": np.where(x[:, :12] > 0, h[:, :12], -1).astype(np.float16)}  # fmt: skip
    check(text, "windows", tmp_path, {"x": x, "h": h}, want)


def test_masks_in_loops(tmp_path: Path) -> None:
    """A mask made before a loop, one carried through it, logic of masks, a pipelined load compared."""
    text = """def looped(x: pl.Tensor[[32, 40], pl.FP32], y: pl.Out[pl.Tensor[[8, 40], pl.FP32]],
           seen: pl.Out[pl.Tensor[[8, 40], pl.BOOL]]):
    with pl.at(CORE):
        first = x[0:8, :]
        positive = first > 0.0
        best = first
        any_large = first > 100.0
        for i in pl.pipeline(0, 32, 8, stage=2):
            t = x[i : i + 8, :]
            best = pl.sel((t > best) & positive, t, best)
            any_large = any_large | (t > 5.0)
        y[:, :] = best
        seen[:, :] = ~any_large
"""
    x = np.random.default_rng(6).integers(-9, 9, (32, 40)).astype(np.float32)
    groups = x.reshape(4, 8, 40)
    best = np.where(groups[0] > 0, groups.max(0), groups[0])
    check(text, "looped", tmp_path, {"x": x}, {"y": best, "seen": ~(groups > 5).any(0)})


def test_parts(tmp_path: Path) -> None:
    """part_*: of two tiles of which one is valid further than the other."""
    ops = {"part_add": np.add, "part_mul": np.multiply, "part_max": np.maximum, "part_min": np.minimum}
    text = "def parts(x: pl.Tensor[[M, 40], pl.FP32], w: pl.Tensor[[N, 40], pl.FP32],\n"
    text += ", ".join(f"{n}: pl.Out[pl.Tensor[[M, 40], pl.FP32]]" for n in ops) + "):\n    with pl.at(CORE):\n"
    text += "".join(f"        {n}[0:8, :] = pl.{n}(x[0:8, :], w[0:8, :])\n" for n in ops)
    rng = np.random.default_rng(8)
    x, w = rng.standard_normal((7, 40)).astype(np.float32), rng.standard_normal((3, 40)).astype(np.float32)
    want = {n: np.concatenate([fn(x[:3], w), x[3:]]) for n, fn in ops.items()}
    check(text, "parts", tmp_path, {"x": x, "w": w}, want)


def test_fast_variants(tmp_path: Path) -> None:
    """The chip's approximations: right to about three digits."""
    text = """def fast(x: pl.Tensor[[4, 64], pl.FP32], y: pl.Out[pl.Tensor[[4, 64], pl.FP32]],
         z: pl.Out[pl.Tensor[[4, 64], pl.FP32]], q: pl.Out[pl.Tensor[[4, 64], pl.FP32]]):
    with pl.at(CORE):
        t = x[:, :]
        y[:, :] = pl.rsqrt(t, fast=True)
        z[:, :] = pl.recip(t, fast=True)
        q[:, :] = pl.div(3.0, t, fast=True)
"""
    x = np.random.default_rng(9).uniform(0.1, 9, (4, 64)).astype(np.float32)
    fn_text = HEAD + text
    check(text, "fast", tmp_path, {"x": x}, {"y": 1 / np.sqrt(x), "z": 1 / x, "q": 3 / x}, 2e-3)
    from pyto import compiler

    source = "".join(compiler.lower(kernel(fn_text, "fast", tmp_path)).generated.sources.values())
    assert "Rsqrt(" in source and "Reciprocal(" in source and "Div(" not in source


def test_bool_in_memory_is_bytes(tmp_path: Path) -> None:
    text = """def flags(m: pl.Tensor[[M, 40], pl.BOOL], n: pl.Out[pl.Tensor[[M, 40], pl.BOOL]],
          f: pl.Out[pl.Tensor[[M, 40], pl.FP32]], k: pl.Out[pl.Tensor[[M, 40], pl.BOOL]]):
    with pl.at(CORE):
        t = m[0:16, :]
        n[0:16, :] = ~t
        f[0:16, :] = pl.cast(t, pl.FP32) * 2.0
        k[0:16, :] = t ^ pl.full([16, 40], pl.BOOL, True)
"""
    m = np.random.default_rng(3).integers(0, 2, (13, 40)).astype(bool)
    check(text, "flags", tmp_path, {"m": m}, {"n": ~m, "f": m.astype(np.float32) * 2, "k": ~m})


@pytest.mark.parametrize("flag", (0, 1))
def test_masks_of_choices(flag: int, tmp_path: Path) -> None:
    """Windows and masks that come out of branches."""
    text = """def branched(x: pl.Tensor[[M, 48], pl.FP32], flag: pl.Scalar[pl.INT32],
             y: pl.Out[pl.Tensor[[M, 16], pl.FP32]], m: pl.Out[pl.Tensor[[M, 16], pl.BOOL]]):
    with pl.at(CORE):
        t = x[0:8, :]
        if flag > 0:
            w = t[:, 8:24]
            mask = w > 0.0
        else:
            w = t[:, 24:40]
            mask = w < 3.0
        y[0:8, :] = pl.sel(mask, w, -7.0)
        m[0:8, :] = mask | (w == 2.0)
"""
    x = np.random.default_rng(2).integers(-9, 9, (6, 48)).astype(np.float32)
    w = x[:, 8:24] if flag else x[:, 24:40]
    mask = w > 0 if flag else w < 3
    want = {"y": np.where(mask, w, -7).astype(np.float32), "m": mask | (w == 2)}
    check(text, "branched", tmp_path, {"x": x, "flag": flag}, want)
