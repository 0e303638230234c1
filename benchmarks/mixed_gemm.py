"""A product with a residual added in the same region: its time over that of the product alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyto.language as pl
from benchmarks.calm import compare
from benchmarks.child import child
from benchmarks.registry import Figure, Options, benchmark

CODE = """
import json, sys
from benchmarks.mixed_gemm import measure
print(json.dumps(measure(**json.loads(sys.argv[1]))))
"""
ROWS, WIDTH, N_TILE, K_TILE = 16, 8192, 64, 512
CORE = pl.Level.CORE_GROUP


@pl.jit.inline
def product(a: pl.Tensor, w: pl.Tensor, j: pl.Scalar) -> pl.Tensor:
    acc = pl.full([ROWS, N_TILE], pl.FP32, 0.0)
    for k in pl.pipeline(0, WIDTH, K_TILE, stage=2):
        acc = pl.matmul_acc(acc, a[:, k : k + K_TILE], w[j : j + N_TILE, k : k + K_TILE], b_trans=True)
    return acc


@pl.jit
def gemm_alone(
    a: pl.Tensor[[ROWS, WIDTH], pl.BF16],
    w: pl.Tensor[[WIDTH, WIDTH], pl.BF16],
    c: pl.Out[pl.Tensor[[ROWS, WIDTH], pl.BF16]],
):
    for j in pl.parallel(0, WIDTH, N_TILE):
        with pl.at(CORE):
            c[:, j : j + N_TILE] = pl.cast(product(a, w, j), pl.BF16)


@pl.jit
def gemm_residual(
    a: pl.Tensor[[ROWS, WIDTH], pl.BF16],
    w: pl.Tensor[[WIDTH, WIDTH], pl.BF16],
    r: pl.Tensor[[ROWS, WIDTH], pl.BF16],
    c: pl.Out[pl.Tensor[[ROWS, WIDTH], pl.BF16]],
):
    for j in pl.parallel(0, WIDTH, N_TILE):
        with pl.at(CORE):
            total = product(a, w, j) + pl.cast(r[:, j : j + N_TILE], pl.FP32)
            c[:, j : j + N_TILE] = pl.cast(total, pl.BF16)


@benchmark("mixed gemm")
def mixed_gemm(options: Options) -> Iterator[Figure]:
    """ms of the mixed region and its ratio to the pure cube region."""
    settings = {"repeat": options.repeat}
    result = child(CODE, json.dumps(settings), PYTO_THREADS=str(options.threads))
    ratio = result["mixed"] / result["cube"]
    compared = f"over the product alone, {result['cube']:.2f} ms; {ROWS} x {WIDTH} x {WIDTH} bf16"
    if result["disturbed"]:
        compared += "; DISTURBED: others used the machine"
    yield Figure("gemm.residual", result["mixed"], "ms", ratio, compared)


def measure(repeat: int) -> dict[str, Any]:
    """Median ms of both, in a process of its own."""
    import ml_dtypes
    import numpy as np

    rng = np.random.default_rng(5)
    a, w, r = (
        rng.standard_normal(shape, np.float32).astype(ml_dtypes.bfloat16)
        for shape in ((ROWS, WIDTH), (WIDTH, WIDTH), (ROWS, WIDTH))
    )
    c, d = np.empty((2, ROWS, WIDTH), ml_dtypes.bfloat16)
    gemm_alone(a, w, c)
    gemm_residual(a, w, r, d)
    difference = np.abs(d.astype(np.float32) - c.astype(np.float32) - r.astype(np.float32)).max()
    assert difference <= 3.0, f"the two differ by {difference}"  # ulps of bf16 at the largest values
    timings = compare({"cube": lambda: gemm_alone(a, w, c), "mixed": lambda: gemm_residual(a, w, r, d)}, repeat)
    disturbed = any(timing.disturbed for timing in timings.values())
    return {**{name: timing.ms for name, timing in timings.items()}, "disturbed": disturbed}
