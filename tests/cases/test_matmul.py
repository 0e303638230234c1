"""Matrix products against float64: the interpreter after every pass, and the simulator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyto import compiler, interpreter
from pyto.errors import CompileError, LaunchError
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


def test_rows_that_start_by_a_condition() -> None:
    rng = np.random.default_rng(8)
    a, b = values(rng, (64, 70), "bf16"), values(rng, (70, 80), "bf16")
    want = {"c": a.astype(F64) @ b.astype(F64)}
    check(kernels.rows_by_condition, {"a": a, "b": b}, {"c": np.zeros((64, 80), np.float32)}, want, 1e-6)


def test_vectors_and_bias() -> None:
    rng = np.random.default_rng(9)
    x, w = values(rng, (1, 128), "fp16"), values(rng, (128, 100), "fp16")
    bias = values(rng, (1, 100), "fp32")
    product = x.astype(F64) @ w.astype(F64)
    writes = {name: np.zeros((1, 100), np.float32) for name in "yz"}
    check(kernels.vectors, {"x": x, "w": w, "bias": bias}, writes, {"y": product, "z": product + bias}, 1e-6)


def test_bias_of_integers() -> None:
    rng = np.random.default_rng(10)
    a, b = values(rng, (40, 64), "int8"), values(rng, (64, 48), "int8")
    bias = rng.integers(-(10**6), 10**6, (1, 48)).astype(np.int32)
    want = {"c": a.astype(F64) @ b.astype(F64) + bias}
    writes = {"c": np.zeros((40, 48), np.int32)}
    check(kernels.bias_of_int8, {"a": a, "b": b, "bias": bias}, writes, want, 0.0)


@pytest.mark.parametrize("rows", [1, 16, 17, 48, 64])
@pytest.mark.parametrize("dtype", ["int8", "bf16"])
def test_runtime_valid_rows(dtype: str, rows: int) -> None:
    """R24: rows past the valid ones are untouched."""
    kernel = kernels.valid_rows_int8 if dtype == "int8" else kernels.valid_rows_bf16
    rng = np.random.default_rng(rows)
    a, b = values(rng, (64, 64), dtype), values(rng, (64, 512), dtype)
    want = np.full((64, 512), float(CANARY))
    want[:rows] = (a.astype(F64) @ b.astype(F64))[:rows]
    writes = {"c": np.full((64, 512), CANARY, accumulated(dtype))}
    bound = 0.0 if dtype == "int8" else 1e-6
    check(kernel, {"a": a, "b": b}, writes, {"c": want}, bound, {"r": rows}, interpreted=rows == 17)


def test_sums_in_fp32() -> None:
    """R70: in bf16 the small terms would be lost."""
    x = np.where(np.arange(4096) % 2 == 0, 1.0, 2.0**-8).astype(DTYPES["bf16"])[None, :]
    w = np.ones((4096, 16), DTYPES["bf16"])
    want = {"y": x.astype(F64) @ w.astype(F64)}
    check(kernels.fp32_sums, {"x": x, "w": w}, {"y": np.zeros((1, 16), np.float32)}, want, 1e-7)


def test_output_listed_first() -> None:
    """R61, R58: one build for every number of rows."""
    for m in (1, 3, 16, 33, 130):
        rng = np.random.default_rng(m)
        a, b = values(rng, (m, 70), "bf16"), values(rng, (70, 32), "bf16")
        want = {"c": a.astype(F64) @ b.astype(F64)}
        check(kernels.output_first, {"a": a, "b": b}, {"c": np.zeros((m, 32), np.float32)}, want, 1e-6)


def test_dimensions_that_do_not_agree() -> None:
    """R62: both sizes and who brought them."""
    a, b = np.zeros((4, 70), DTYPES["bf16"]), np.zeros((71, 32), DTYPES["bf16"])
    with pytest.raises(LaunchError, match=r"(?s)K.*70.*71|K.*71.*70"):
        kernels.output_first(np.zeros((4, 32), np.float32), a, b)


def test_residual_is_added_once() -> None:
    """R17."""
    rng = np.random.default_rng(11)
    a, b, r = (values(rng, s, "bf16") for s in ((64, 256), (256, 128), (64, 128)))
    want = {"c": a.astype(F64) @ b.astype(F64) + r.astype(F64)}
    writes = {"c": np.zeros((64, 128), DTYPES["bf16"])}
    check(kernels.residual, {"a": a, "b": b, "r": r}, writes, want, 8e-3)


@pytest.mark.parametrize(
    ("name", "id", "text"),
    [
        ("narrow_int8_window", "accumulator-window", "an int8 product of 16 columns"),
        ("uneven_rows", "accumulator-window", "parts of 16 and of 32 rows"),
        ("too_large_for_l1", "memory-overflow", "L1 needs 2359296 B, has 524288 B"),
        ("too_large_to_carry", "memory-overflow", "L0C needs 262144 B, has 131072 B"),
    ],
)
def test_refused(name: str, id: str, text: str) -> None:
    """R09, R56: what no split can help is refused with the memory and its bytes."""
    with pytest.raises(CompileError) as caught:
        compiler.lower(getattr(kernels, name))
    assert caught.value.id == id and text in str(caught.value)
    assert caught.value.loc is not None
