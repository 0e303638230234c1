"""Memory planning: what is alive together does not overlap, and what does not fit is refused with the numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

import pyto.language as pl
from pyto import compiler
from pyto.errors import CompileError
from pyto.frontends.text import parse
from pyto.models.qwen3_14b.stages import STAGES
from pyto.passes.plan_memory import _buffer, _lifetimes
from pyto.target import DEFAULT_CHIP

KERNELS = compiler.find_kernels(Path(__file__).parents[1] / "codegen" / "kernels.py")
ALL = {**KERNELS, **{name: stage.kernel for name, stage in STAGES.items()}}


@pytest.mark.parametrize("name", sorted(ALL))
def test_live_buffers_are_apart_and_inside(name: str) -> None:
    program = next(s.program for s in compiler.lower(ALL[name]).stages if s.name == "plan_memory")
    for function in program.device:
        buffers = {op.result: _buffer(op, DEFAULT_CHIP) for op in function.body.ops if op.name == "alloc"}
        _lifetimes(function.body, buffers)
        placed = [(b, b.op.attrs["offset"]) for b in buffers.values()]
        for i, (a, at) in enumerate(placed):
            assert at % DEFAULT_CHIP.alignment[a.space] == 0
            assert at >= 0 and at + a.size <= DEFAULT_CHIP.capacity[a.space]
            for b, other in placed[i + 1 :]:
                if a.space == b.space and a.alive_with(b):
                    assert at + a.size <= other or other + b.size <= at, f"{a.name} and {b.name} in {function.name}"


@pl.jit
def too_wide(x: pl.Tensor[[128, 192], pl.FP32], y: pl.Out[pl.Tensor[[128, 192], pl.FP32]]):
    with pl.at(pl.Level.CORE_GROUP):
        a = x[:, :]
        b = pl.exp(a)
        c = pl.sqrt(a)
        y[:, :] = a * b + c


@pytest.mark.parametrize("offset", ["4000000", "188415", "12"])
def test_addresses_written_by_hand_lie_inside(offset: str) -> None:
    program = next(s for s in compiler.lower(KERNELS["add_one"]).stages if s.name == "plan_memory").text
    assert "offset = 0," in program
    compiler.lower(parse(program))
    with pytest.raises(CompileError, match="of UB, which has 188416 B") as raised:
        compiler.lower(parse(program.replace("offset = 0,", f"offset = {offset},")))
    assert raised.value.id == "memory-overflow"


def test_overflow_names_the_live_tiles() -> None:
    with pytest.raises(CompileError) as raised:
        compiler.lower(too_wide)
    error = raised.value
    assert error.id == "memory-overflow"
    assert error.message.startswith("UB needs 294912 B, has 188416 B (910B2)")
    assert error.details is not None
    lines = error.details.splitlines()
    assert len(lines) == 4  # a heading and three tiles of 98304 B
    assert all(line.split()[0] == "98304" for line in lines[1:])
    assert "a = x[:, :]" in lines[1] + lines[2] + lines[3]
    assert error.loc is not None and error.loc.file.endswith("test_memory.py")


@pl.jit
def reuse(
    x: pl.Tensor[[128, 96], pl.FP32], y: pl.Out[pl.Tensor[[128, 96], pl.FP32]], z: pl.Out[pl.Tensor[[128, 96], pl.FP32]]
):
    with pl.at(pl.Level.CORE_GROUP):
        a = x[:, :]
        y[:, :] = pl.exp(a)
        b = x[:, :]
        c = b * b
        z[:, :] = c - b
        d = x[:, :]
        y[:, :] = pl.cast(pl.cast(d, pl.BF16), pl.FP32)


def test_memory_is_reused_when_it_must() -> None:
    program = compiler.lower(reuse).program
    sizes = [op for op in program.device[0].body.ops if op.name == "alloc"]
    total = sum(_buffer(op, DEFAULT_CHIP).size for op in sizes)
    assert total > DEFAULT_CHIP.capacity["ub"]  # so that the plan had to share
