"""A GEMM written by hand in Ascend C beside the same product written in Python, at a 14B width."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyto.language as pl
from benchmarks.child import child
from benchmarks.registry import Figure, Options, benchmark, interleaved_ms
from pyto.models.qwen3_14b.projection import project

CODE = """
import json, sys
from benchmarks.gemm_by_hand import measure
print(json.dumps(measure(**json.loads(sys.argv[1]))))
"""
DEPTH, COLS = 5120, 17408
BATCH_DYN = pl.dynamic("BATCH_DYN")


@pl.jit
def gemm(
    a: pl.Tensor[[BATCH_DYN, DEPTH], pl.BF16],
    w: pl.Tensor[[COLS, DEPTH], pl.BF16],
    c: pl.Out[pl.Tensor[[BATCH_DYN, COLS], pl.BF16]],
):
    project(a, w, c)


@benchmark("gemm by hand")
def gemm_by_hand(options: Options) -> Iterator[Figure]:
    """Share of the read rate that each form reaches; both read the weights once. The hand-written one takes 16 rows."""
    settings = {"rows": min(options.batch, 16), "threads": options.threads, "repeat": options.repeat}
    result = child(CODE, json.dumps(settings), PYTO_THREADS=str(options.threads))
    for form in ("python", "hand"):
        share = result["floor"] / result[form]
        compared = f"of the measured {result['rate']:.1f} GB/s; {settings['rows']} x {DEPTH} x {COLS} bf16"
        yield Figure(f"gemm.{form}.bandwidth", share * result["rate"], "GB/s", share, compared)
    yield Figure(
        "gemm.hand", result["hand"], "ms", result["python"] / result["hand"], "time of the Python form over it"
    )


def measure(rows: int, threads: int, repeat: int) -> dict[str, Any]:
    """Median ms of both forms and of reading the weights at the measured rate, in a process of its own."""
    import ml_dtypes
    import numpy as np

    from benchmarks.bandwidth import BYTES, Reader
    from tests.simulator.handwritten import In, Out, Program

    rng = np.random.default_rng(5)
    a = rng.standard_normal((rows, DEPTH), np.float32).astype(ml_dtypes.bfloat16)
    w = rng.standard_normal((COLS, DEPTH), np.float32).astype(ml_dtypes.bfloat16)
    c, by_hand = np.empty((2, rows, COLS), ml_dtypes.bfloat16)
    blocks = 24
    hand = Program("matmul_nk").bind("matmul_nk", blocks, In(a), In(w), Out(by_hand), rows, DEPTH, COLS)
    gemm(a, w, c)
    hand()
    difference = np.abs(c.astype(np.float32) - by_hand.astype(np.float32)).max()
    assert difference <= 2.0, f"the two forms differ by {difference}"  # an ulp of bf16 at the largest values
    reader = Reader(threads)
    ms = interleaved_ms({"python": lambda: gemm(a, w, c), "hand": hand, "read": reader}, repeat)
    reader.close()
    rate = BYTES / ms.pop("read") / 1e6
    return {**ms, "rate": rate, "floor": w.nbytes / rate / 1e6}
