"""The synchronisation that the compiler inserts is enough, and none of it can go."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

import pyto.language as pl
from pyto import compiler
from pyto.ir.nodes import Block, Function, Op, walk
from pyto.models.qwen3_14b.stages import STAGES
from pyto.passes.insert_sync import _mark_small, _Planner
from pyto.passes.ordering import Order, Plan
from pyto.passes.trace import Trace

CODEGEN = Path(__file__).parents[1] / "codegen"
KERNELS = compiler.find_kernels(CODEGEN / "kernels.py")
CONTROL = compiler.find_kernels(CODEGEN / "control_kernels.py")
MIXED = compiler.find_kernels(CODEGEN / "mixed_kernels.py")
ALL = {**KERNELS, **CONTROL, **MIXED, **{name: stage.kernel for name, stage in STAGES.items()}}


def planned(kernel: object) -> list[tuple[str, _Planner]]:
    program = next(s.program for s in compiler.lower(kernel).stages if s.name == "plan_memory")  # type: ignore[arg-type]
    planners = []
    for function in program.device:
        planner = _Planner(_mark_small(function))
        planner.run()
        planners.append((function.name, planner))
    return planners


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_event_and_barrier_is_needed(name: str) -> None:
    for function, planner in planned(ALL[name]):
        order, plan = Order(planner.trace), planner.plan
        assert order.conflicts(plan) == []
        for sync in plan.syncs:
            assert order.conflicts(plan.without(sync)), f"{function}: {sync} is redundant"
        for barrier in plan.barriers:
            rest = replace(plan, barriers=plan.barriers - {barrier})
            assert order.conflicts(rest), f"{function}: {barrier} is redundant"


@pytest.mark.parametrize("name", sorted(ALL))
def test_flags_balance(name: str) -> None:
    """Every event is set as often as it is waited for, in every function, on every path."""
    for function in compiler.lower(ALL[name]).program.device:
        assert not _unbalanced(function.body)


def _unbalanced(block: Block) -> dict[tuple[str, str, str], int]:
    count: dict[tuple[str, str, str], int] = {}
    for op in block.ops:
        if op.name in ("set_flag", "wait_flag"):
            key = op.attrs["src"], op.attrs["dst"], repr(op.args[0])
            count[key] = count.get(key, 0) + (1 if op.name == "set_flag" else -1)
        for inner in op.blocks:
            left = {k: n for k, n in _unbalanced(inner).items() if n}
            if op.name == "while":  # the last iteration ends at the break: what follows the loop makes up for it
                at = next(i for i, o in enumerate(inner.ops) if o.name == "break")
                for key, n in _unbalanced(Block((), inner.ops[:at])).items():
                    count[key] = count.get(key, 0) + n
            assert not left
    return {k: n for k, n in count.items() if n}


def test_a_missing_event_is_a_conflict() -> None:
    program = next(s.program for s in compiler.lower(KERNELS["add_one"]).stages if s.name == "plan_memory")
    found = Order(Trace(program.device[0])).conflicts(Plan())
    assert found is not None
    assert {(c.first.pipe, c.second.pipe) for c in found} >= {("MTE2", "V"), ("V", "MTE3")}


def ops(function: Function, name: str) -> list[Op]:
    return [op for op in walk(function.body) if op.name == name]


def test_pipelined_loop_has_an_event_for_each_slot() -> None:
    (function,) = compiler.lower(KERNELS["pipelined_scale"]).program.device
    primed = [op for op in function.body.ops if op.name == "set_flag"]
    assert {(op.attrs["src"], op.attrs["dst"]) for op in primed} == {("V", "MTE2"), ("MTE3", "V")}
    assert len(primed) == 4  # two slots each
    moved = {op.args[0 if op.name == "load" else 1].buffer for op in [*ops(function, "load"), *ops(function, "store")]}  # type: ignore[attr-defined]
    assert {op.attrs["slots"] for op in ops(function, "alloc") if op.result in moved} == {2}


@pl.jit
def unrolled(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.unroll(64):
            row = x[i : i + 1, :]
            y[i : i + 1, :] = row * 2.0 + 1.0


def test_long_straight_code_is_planned_quickly() -> None:
    started = time.process_time()
    program = compiler.lower(unrolled).program
    assert time.process_time() - started < 10  # about 1 s; it was a minute when each change ran the whole trace
    assert any(op.name == "barrier" and op.attrs["pipe"] == "ALL" for f in program.device for op in walk(f.body))
