"""Golden text of the tensor stage: the four stages of the model, and a kernel of everything else."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

import pyto.language as pl
from pyto.frontends.python import parse
from pyto.ir.printer import print_program
from pyto.language import JitFunction
from pyto.models.qwen3_14b.qkv_rope import qkv_rope
from pyto.models.qwen3_14b.rms_lm_head import rms_lm_head
from pyto.models.qwen3_14b.rms_norm import rms_norm
from pyto.models.qwen3_14b.swiglu import swiglu

B, N = pl.dynamic("B"), pl.dynamic("N")
CORE = pl.Level.CORE_GROUP
STAGES = (rms_norm, qkv_rope, swiglu, rms_lm_head)


@pl.jit.inline
def softmax_rows(t):
    e = pl.exp(pl.row_expand_sub(t, pl.row_max(t)))
    return e, pl.row_sum(e)


@pl.jit
def everything(
    x: pl.Tensor[[B, 4, 96], pl.FP32],
    w: pl.Tensor[[96, 128], pl.BF16],
    ids: pl.Tensor[[B], pl.INT32],
    scale: pl.Scalar[pl.FP32],
    acc: pl.InOut[pl.Tensor[[B, 128], pl.FP32]],
    y: pl.Out[pl.Tensor[[B, 4, 96], pl.BF16]],
):
    rows = pl.tensor.dim(x, 0)
    work = pl.create_tensor([rows, 96], dtype=pl.BF16)
    for b in pl.parallel(rows):
        with pl.at(level=CORE, name_hint="soft max"):
            i = pl.read(ids, [b])
            e, total = softmax_rows(x[i, :, :])
            e /= 2.0
            y[b, ...] = pl.cast(pl.row_expand_div(e, total) * scale, pl.BF16)
            work[b, :] = pl.cast(x[b, 0:1, 0:96] - 1, target_type=pl.BF16, mode="floor")
    for m in pl.spmd((rows + 15) // 16, name_hint="product"):
        m0 = m * 16
        valid = pl.min(16, rows - m0)
        a = pl.slice(work, [16, 96], [m0, 0], valid_shape=[valid, 96])
        product = pl.matmul(a, w[:, :])
        pl.assemble(acc, product, [m0, 0], atomic=pl.AtomicType.Add)
    with pl.spmd(2):
        core = pl.get_block_idx()
        for r in pl.range(core, N if False else rows, 2):
            t = acc[r, :]
            for k in pl.unroll(2):
                t[:, k * 64 : k * 64 + 64] = t[:, 64 - k * 64 : 128 - k * 64] * (k + 1)
            for _, (u,) in pl.pipeline(3, stage=2, init_values=(-t,)):
                v = pl.yield_(pl.maximum(u, 0.5) / (2.0 - u))
            acc[r, :] += v
    return y


@pytest.mark.parametrize("kernel", [*STAGES, everything], ids=lambda k: k.name)
def test_tensor_stage(kernel: JitFunction, golden: Callable[[str, str], None]) -> None:
    golden(f"tensor/{kernel.name}.pto", print_program(parse(kernel), locations=kernel is everything))


def test_parsing_is_deterministic() -> None:
    for kernel in STAGES:
        assert parse(kernel) == parse(kernel)


def test_parsing_is_quick() -> None:
    """The four stages in a small part of the time that compiling them may take (1.5 s on the reference machine)."""
    for kernel in STAGES:
        parse(kernel)
    started = time.process_time()
    for kernel in STAGES:
        parse(kernel)
    assert time.process_time() - started < 0.3
