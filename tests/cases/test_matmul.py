"""Matrix products against float64: the interpreter after every pass, and the simulator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyto import compiler, interpreter
from tests.cases import matmul_kernels as kernels

Array = np.ndarray[Any, np.dtype[Any]]
DTYPES = {
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp16": np.dtype(np.float16),
    "fp32": np.dtype(np.float32),
    "int8": np.dtype(np.int8),
}
CANARY = 77


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    if dtype == "int8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    return rng.standard_normal(shape).astype(np.float32).astype(DTYPES[dtype])


def accumulated(dtype: str) -> np.dtype[Any]:
    return np.dtype(np.int32 if dtype == "int8" else np.float32)


def error(got: Array, want: Array) -> float:
    difference = np.linalg.norm(got.astype(np.float64) - want)
    return float(difference / max(np.linalg.norm(want), 1e-30))


def check(
    kernel: Any,
    reads: dict[str, Array],
    writes: dict[str, Array],
    want: dict[str, Array],
    bound: float,
    scalars: dict[str, Any] | None = None,
    interpreted: bool = True,
) -> None:
    """Both ways to run a kernel give `want`, within a relative L2 error."""
    scalars = scalars or {}
    stages = [s for s in compiler.lower(kernel).stages if s.changed] if interpreted else []
    for stage in stages:
        got = {k: v.copy() for k, v in writes.items()}
        interpreter.run(stage.program, {**reads, **got}, scalars, seed=3)
        for name, expected in want.items():
            assert error(got[name], expected) <= bound, f"{name} after {stage.name}"
    got = {k: v.copy() for k, v in writes.items()}
    kernel(**reads, **got, **scalars)
    for name, expected in want.items():
        assert error(got[name], expected) <= bound, f"{name} in the simulator"


SIZES = [(1, 5, 100), (5, 17, 129), (8, 17, 9), (17, 5, 200), (40, 70, 129), (100, 17, 64), (250, 130, 200)]


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_every_way_round_with_tails(dtype: str) -> None:
    """R08, R25, R58: one build for every size."""
    kernel = kernels.FORMS[dtype]
    for m, n, k in SIZES:
        rng = np.random.default_rng(m + n)
        a, b = values(rng, (m, k), dtype), values(rng, (k, n), dtype)
        want = a.astype(np.float64) @ b.astype(np.float64)
        reads = {"a": a, "at": np.ascontiguousarray(a.T), "b": b, "bt": np.ascontiguousarray(b.T)}
        outs = {name: np.full((m, n), CANARY, accumulated(dtype)) for name in ("nn", "nt", "tn", "tt")}
        bound = 0.0 if dtype == "int8" else 1e-6
        check(kernel, reads, outs, dict.fromkeys(outs, want), bound, interpreted=m * n * k < 200_000)


F64 = np.float64


def test_accumulator_through_two_loops() -> None:
    for m, n in ((5, 17), (50, 100)):
        rng = np.random.default_rng(m)
        a, b = values(rng, (4, m, 64), "bf16"), values(rng, (4, 64, n), "bf16")
        want = np.einsum("hmk,hkn->mn", a.astype(F64), b.astype(F64))
        check(kernels.two_loops, {"a": a, "b": b}, {"c": np.zeros((m, n), np.float32)}, {"c": want}, 1e-6)


@pytest.mark.parametrize("depth", [0, 1, 16, 30, 40])
def test_a_loop_of_no_steps_gives_zeros(depth: int) -> None:
    rng = np.random.default_rng(depth)
    a, b = values(rng, (20, 40), "bf16"), values(rng, (40, 48), "bf16")
    read = min(40, -(-depth // 16) * 16)
    want = {"c": a.astype(F64)[:, :read] @ b.astype(F64)[:read]}
    writes = {"c": np.full((20, 48), CANARY, np.float32)}
    check(kernels.runtime_depth, {"a": a, "b": b}, writes, want, 1e-6, {"depth": depth})


@pytest.mark.parametrize("depth", [0, 1, 40, 64])
def test_no_valid_depth_gives_zeros(depth: int) -> None:
    rng = np.random.default_rng(depth)
    a, b = values(rng, (20, 64), "bf16"), values(rng, (64, 48), "bf16")
    want = {"c": a.astype(F64)[:, :depth] @ b.astype(F64)[:depth]}
    writes = {"c": np.full((20, 48), CANARY, np.float32)}
    check(kernels.runtime_valid_depth, {"a": a, "b": b}, writes, want, 1e-6, {"depth": depth})


@pytest.mark.parametrize("m", [5, 50])
def test_columns_of_an_accumulator(m: int) -> None:
    """R26."""
    rng = np.random.default_rng(m)
    a, b = values(rng, (m, 100), "bf16"), values(rng, (100, 64), "bf16")
    want = np.full((m, 128), 2.5)
    want[:, 64:] += a.astype(F64) @ b.astype(F64)
    check(kernels.column_windows, {"a": a, "b": b}, {"c": np.zeros((m, 128), np.float32)}, {"c": want}, 1e-6)


def test_halves_that_start_as_products() -> None:
    rng = np.random.default_rng(2)
    a, b = values(rng, (20, 64), "int8"), values(rng, (64, 64), "int8")
    wide = a.astype(F64), b.astype(F64)
    want = wide[0] @ wide[1] + wide[0] @ wide[1].T
    check(kernels.two_halves, {"a": a, "b": b}, {"c": np.zeros((20, 64), np.int32)}, {"c": want}, 0.0)


def test_rows_of_an_accumulator() -> None:
    rng = np.random.default_rng(3)
    a, b = values(rng, (64, 70), "fp16"), values(rng, (70, 80), "fp16")
    want = {"c": a.astype(F64) @ b.astype(F64)}
    check(kernels.row_windows, {"a": a, "b": b}, {"c": np.zeros((64, 80), np.float16)}, want, 1e-3)


def test_two_products_of_one_start() -> None:
    rng = np.random.default_rng(4)
    a, b, d = (values(rng, shape, "bf16") for shape in ((20, 64), (64, 32), (64, 32)))
    x, y, z = (v.astype(F64) for v in (a, b, d))
    writes = {name: np.zeros((20, 32), np.float32) for name in "ce"}
    want = {"c": 1 + x @ y, "e": 1 + x @ z + x @ y}
    check(kernels.twice_the_same, {"a": a, "b": b, "d": d}, writes, want, 1e-6)


def test_larger_than_l0c() -> None:
    """R09."""
    rng = np.random.default_rng(5)
    a, b = values(rng, (256, 128), "fp32"), values(rng, (128, 300), "fp32")
    want = {"c": (a.astype(F64) @ b.astype(F64))[:200]}
    check(kernels.larger_than_l0c, {"a": a, "b": b}, {"c": np.zeros((200, 300), np.float32)}, want, 1e-6)


def test_more_rows_than_l0a() -> None:
    rng = np.random.default_rng(6)
    a, b = values(rng, (1900, 32), "fp16"), values(rng, (32, 16), "fp16")
    want = {"c": a.astype(F64) @ b.astype(F64)}
    check(kernels.tall, {"a": a, "b": b}, {"c": np.zeros((1900, 16), np.float16)}, want, 1e-3)


def test_parts_of_an_operand_that_is_loaded_once() -> None:
    rng = np.random.default_rng(7)
    a, b = values(rng, (50, 256), "bf16"), values(rng, (256, 48), "bf16")
    want = {"c": a.astype(F64) @ b.astype(F64)}
    check(kernels.sliced_operand, {"a": a, "b": b}, {"c": np.zeros((50, 48), np.float32)}, want, 1e-6)


def test_accumulators_stay_on_the_cube_core() -> None:
    """None of these needs a vector core."""
    for kernel in (kernels.two_loops, kernels.column_windows, kernels.row_windows, kernels.sliced_operand):
        assert [f.kind for f in compiler.lower(kernel).program.device] == ["cube"], kernel.name
