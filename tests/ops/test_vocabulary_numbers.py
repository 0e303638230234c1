"""Every vector operation in every element type: interpreter after each pass, and simulator, against numpy.

One kernel an element type, with an output an operation.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyto.ir.nodes import BOOL, FP16, FP32, INT8, INT32, DType
from pyto.ir.ops import OPS
from pyto.ir.ops.types import ALL
from pyto.numerics import BFLOAT16, NUMPY
from tests.ops.kernels_of import kernel, results
from tests.ops.vocabulary import ROWS_OF

Array = np.ndarray[Any, np.dtype[Any]]
SHAPE = (13, 37)  # of the tensors; tiles are [16, 40]
ARGUMENTS = {"a": "a", "b": "b", "c": "c", "col": "b[0:16, 0:1]", "row": "b[0:1, :]", "m": "m"}
# Relative to the largest value that goes into a result.
BOUNDS = {"float32": 2e-6, "float16": 2e-3, "bfloat16": 1.6e-2}


def test_every_operation_has_a_row() -> None:
    vector = {op.name for op in OPS.values() if op.user and op.ways and op.form not in ("full", "cast")}
    assert vector - {"transpose", "concat"} == set(ROWS_OF)  # those: tests/cases/test_moves.py


def rows_of(d: DType) -> list[tuple[str, str, Any]]:
    """All spellings for the types that stand for the others, the first of each operation for the rest."""
    rows = {name: rows if d in (FP32, INT32) else rows[:1] for name, rows in ROWS_OF.items() if d in OPS[name].ways}
    return [(name, text, fn) for name, spellings in rows.items() for text, fn in spellings]


def values(d: DType, seed: int, shape: tuple[int, int] = SHAPE) -> Array:
    """Small numbers and, of integers, all that there are; extremes among them."""
    rng, dtype = np.random.default_rng([seed, d.bits]), NUMPY[d.name]
    if d == BOOL:
        return rng.integers(0, 2, shape).astype(bool)
    if d.kind == "f":
        x = rng.standard_normal(shape) * 2
        x.flat[:4] = (0.0, -0.0, 1.0, -1.5)
        return np.where(np.abs(x) < 1e-3, 0.25, x).astype(dtype)
    limits = np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, shape, endpoint=True)
    x[1::2] = rng.integers(max(limits.min, -9), 10, x[1::2].shape)
    x.flat[:6] = (limits.min, limits.max, limits.min, limits.max, 0, 1)
    return x.astype(dtype)


def result_dtype(d: DType, text: str) -> DType:
    if "_arg" in text:
        return INT32
    return BOOL if re.search(r"^a\b.* (<|<=|>|>=|==|!=) ", text) else d


def result_shape(text: str) -> str:
    reduced = re.match(r"pl\.(row|col)_(arg)?(sum|max|min|prod)", text)
    return {"row": "16, 1", "col": "1, 40"}[reduced[1]] if reduced else "16, 40"


def source(d: DType) -> str:
    kind = f"pl.{d.name.upper()}"
    lines, body = [], []
    for i, (_, text, _) in enumerate(rows_of(d)):
        rows, cols = (f"{n}" if n == "1" else s for n, s in zip(result_shape(text).split(", "), ("M", "N")))
        out = f"pl.{result_dtype(d, text).name.upper()}"
        lines.append(f"    o{i}: pl.Out[pl.Tensor[[{rows}, {cols}], {out}]],")
        wanted = sorted(set(re.findall(r"\b(a|b|c|m|col|row)\b", re.sub(r"pl\.\w+", "", text))))
        body.append("    with pl.at(pl.Level.CORE_GROUP):")
        for name in wanted:
            tensor = {"col": "b", "row": "b"}.get(name, name)
            window = {"col": "0:16, 0:1", "row": "0:1, 0:40"}.get(name, "0:16, 0:40")
            body.append(f"        {name} = {'x' + tensor if name != 'col' else 'xk'}[{window}]")
        rows, cols = result_shape(text).split(", ")
        body.append(f"        o{i}[0:{rows}, 0:{cols}] = {text}")
    given = "\n".join(f"    x{n}: pl.Tensor[[M, N], {kind}]," for n in "abc")
    return "\n".join((
        "import pyto.language as pl", 'M, N = pl.dynamic("M"), pl.dynamic("N")', "", "", "@pl.jit",
        f"def {d.name}_ops(",
        given, f"    xk: pl.Tensor[[M, 1], {kind}],", "    xm: pl.Tensor[[M, N], pl.BOOL],", *lines, "):", *body, "",
    ))  # fmt: skip


def inputs(d: DType, shape: tuple[int, int] = SHAPE) -> dict[str, Array]:
    given = {f"x{n}": values(d, i, shape) for i, n in enumerate("abc")}
    if d.kind == "f":
        given["xb"] = np.where(given["xb"] == 0, 1, given["xb"]).astype(given["xb"].dtype)
    return given | {"xk": given["xb"][:, :1].copy(), "xm": values(BOOL, 7, shape)}


def expected(d: DType, given: dict[str, Array]) -> list[Array]:
    wide = {k: v.astype(np.float64) if d.kind == "f" and v.dtype != bool else v for k, v in given.items()}
    arrays = {n: wide[f"x{n}"] for n in "abcm"} | {"col": wide["xk"], "row": wide["xb"][:1]}
    out = []
    with np.errstate(all="ignore"):
        for _, text, fn in rows_of(d):
            wanted = list(dict.fromkeys(re.findall(r"\b(a|b|c|m|col|row)\b", re.sub(r"pl\.\w+", "", text))))
            want = fn(*(arrays[n] for n in wanted))
            out.append(np.asarray(want).astype(NUMPY[result_dtype(d, text).name]))
    return out


def check(d: DType, got: list[Array], want: list[Array], where: str) -> None:
    wrong = []
    for (name, text, _), x, y in zip(rows_of(d), got, want):
        if x.dtype.kind in "iub" or x.dtype not in (np.float32, np.float16, BFLOAT16):
            if not np.array_equal(x, y):
                wrong.append(f"{text}: {int((x != y).sum())} of {x.size}: {x[x != y][:3]} for {y[x != y][:3]}")
            continue
        a, b = x.astype(np.float64), y.astype(np.float64)
        room = BOUNDS[str(x.dtype)] * np.maximum(np.abs(b), 20 if "sum" in name or "m" in name else 4)
        with np.errstate(invalid="ignore"):
            near = np.abs(a - b) <= room
        bad = ~((a == b) | (np.isnan(a) & np.isnan(b)) | near)
        if bad.any():
            wrong.append(f"{text}: {int(bad.sum())} of {x.size}: {a[bad][:3]} for {b[bad][:3]}")
    assert not wrong, f"{d} {where}\n" + "\n".join(wrong)


@pytest.mark.parametrize("d", ALL, ids=str)
def test_numbers(d: DType, tmp_path: Path) -> None:
    fn = kernel(source(d), f"{d.name}_ops", tmp_path)
    given, want = inputs(d), expected(d, inputs(d))
    for where, got in results(fn, given, {f"o{i}": w for i, w in enumerate(want)}):
        check(d, list(got.values()), want, where)


@pytest.mark.parametrize("shape", ((9, 200), (5, 8), (1, 70), (32, 1)), ids=str)
@pytest.mark.parametrize("d", (FP32, FP16, INT32, INT8, BOOL), ids=str)
def test_shapes(d: DType, shape: tuple[int, int], tmp_path: Path) -> None:
    """Tiles known to be full, wide, small, of one row or one column: other instructions, the same numbers."""
    rows, cols = map(str, shape)
    text = source(d).replace('M, N = pl.dynamic("M"), pl.dynamic("N")', "")
    for name, size, tile in (("M", rows, "16"), ("N", cols, "40")):
        text = re.sub(rf"\b{name}\b", size, text).replace(f"0:{tile}", f"0:{size}")
    fn = kernel(text.replace("[16, 40]", f"[{rows}, {cols}]"), f"{d.name}_ops", tmp_path)
    given, want = inputs(d, shape), expected(d, inputs(d, shape))
    for where, got in results(fn, given, {f"o{i}": w for i, w in enumerate(want)}, simulator=False):
        check(d, list(got.values()), want, where)
