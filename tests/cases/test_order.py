"""Loops, branches, stores and reuse of memory: everything happens as if in the order of the program."""

from typing import Any

import numpy as np
import pytest

import pyto.language as pl
from pyto import compiler, interpreter, runtime
from pyto.errors import CompileError
from pyto.ir.nodes import Block, Function, Op, walk
from pyto.passes.insert_sync import insert_sync
from pyto.passes.name_scalars import name_scalars
from pyto.passes.ordering import Order, Plan
from pyto.passes.plan_memory import _buffer
from pyto.passes.trace import Trace
from pyto.target import DEFAULT_CHIP
from tests.cases.harness import CORE, canary, check, sources, values

M, N = pl.dynamic("M"), pl.dynamic("N")
SQUARE = pl.Tensor[[64, 64], pl.FP32]
ROW = pl.Tensor[[1, 64], pl.FP32]


@pytest.mark.parametrize(
    ("start", "stop", "stages"), [(0, 3, 2), (0, 2, 3), (2, 6, 2), (5, 5, 2), (0, 8, 4), (3, 4, 3)]
)
def test_pipelined_sums(rng, start, stop, stages):  # R13
    @pl.jit
    def kernel(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[ROW]):
        with pl.at(CORE):
            acc = pl.full([1, 64], dtype=pl.FP32, value=0.0)
            for i in pl.pipeline(start, stop, stage=stages):
                acc = acc + x[i : i + 1, :]
            y[:, :] = acc

    x = values(rng, (8, 64), pl.FP32)
    check(kernel, {"x": x}, {"y": canary((1, 64), pl.FP32)}, {"y": x[start:stop].sum(0, keepdims=True)}, 1e-6)


@pytest.mark.parametrize("stages", [2, 3])
def test_pipelined_sums_of_run_time_length(rng, stages):  # R13
    @pl.jit
    def kernel(x: pl.Tensor[[8, 64], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[ROW]):
        with pl.at(CORE):
            acc = pl.full([1, 64], dtype=pl.FP32, value=0.0)
            for i in pl.pipeline(n, stage=stages):
                acc = acc + x[i : i + 1, :]
            y[:, :] = acc

    x = values(rng, (8, 64), pl.FP32)
    for n in (*range(8), -1):
        want = x[: max(n, 0)].sum(0, keepdims=True)
        check(kernel, {"x": x, "n": n}, {"y": canary((1, 64), pl.FP32)}, {"y": want}, 1e-6)


@pytest.mark.parametrize("flag", [0, 1])
def test_value_of_both_branches(rng, flag):  # R16
    """Also with a temporary in one branch only, with valid rows that differ, and nested."""

    @pl.jit
    def kernel(x: pl.Tensor[[32, 64], pl.FP32], flag: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[32, 64], pl.FP32]]):
        with pl.at(CORE):
            t = x[:, :]
            if flag > 0:
                e = pl.exp(t)
                r = e + t
            elif flag < 0:
                r = pl.set_validshape(t, 5, 64)
            else:
                r = t * 2.0
                if flag == 0:
                    r = r - 1.0
            y[:, :] = r

    x = values(rng, (32, 64), pl.FP32)
    for f in (flag, -1):
        want = np.exp(x) + x if f > 0 else x * 2 - 1 if f == 0 else np.where(np.arange(32)[:, None] < 5, x, 77)
        check(kernel, {"x": x, "flag": f}, {"y": canary((32, 64), pl.FP32)}, {"y": want}, 1e-5)


@pl.jit
def adds_up(x: pl.Tensor[[16, 64], pl.FP32], y: pl.InOut[pl.Tensor[[16, 64], pl.FP32]]):
    with pl.at(CORE):
        pl.assemble(y, x[:, :], [0, 0], atomic=pl.AtomicType.Add)


@pl.jit
def copies(x: pl.Tensor[[16, 64], pl.FP32], y: pl.InOut[pl.Tensor[[16, 64], pl.FP32]]):
    with pl.at(CORE):
        y[:, :] = x[:, :]


@pl.jit
def adds_then_copies(
    x: pl.Tensor[[16, 64], pl.FP32], y: pl.InOut[pl.Tensor[[16, 64], pl.FP32]], z: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
):
    with pl.at(CORE):
        pl.assemble(y, x[:, :], [0, 0], atomic=pl.AtomicType.Add)
        z[:, :] = x[:, :]
    with pl.at(CORE):
        z[0:8, :] = x[8:16, :]


def test_atomic_mode_ends_with_its_store(rng):  # R29
    x = values(rng, (16, 64), pl.FP32)
    y = canary((16, 64), pl.FP32)
    adds_up(x, y)
    np.testing.assert_array_equal(y, 77 + x)
    copies(x, y)
    np.testing.assert_array_equal(y, x)
    want = x.copy()
    want[:8] = x[8:]
    writes = {"y": canary((16, 64), pl.FP32), "z": canary((16, 64), pl.FP32)}
    check(adds_then_copies, {"x": x}, writes, {"y": 77 + x, "z": want})


@pytest.mark.parametrize("dtype", [pl.FP32, pl.INT32, pl.FP16], ids=lambda d: d.name)
def test_two_outputs(rng, dtype):  # R32
    @pl.jit
    def kernel(
        a: pl.Tensor[[16, 16], dtype], y: pl.Out[pl.Tensor[[16, 16], dtype]], z: pl.Out[pl.Tensor[[16, 16], dtype]]
    ):
        with pl.at(CORE):
            t = a[:, :]
            y[:, :] = t + 1
            z[:, :] = t * 2

    a = (rng.integers(-99, 99, (16, 16))).astype(
        {"fp32": np.float32, "int32": np.int32, "fp16": np.float16}[dtype.name]
    )
    writes = {"y": canary((16, 16), dtype), "z": canary((16, 16), dtype)}
    check(kernel, {"a": a}, writes, {"y": a + 1, "z": a * 2})
    first, second = kernel(a)
    np.testing.assert_array_equal(first, a + 1)
    np.testing.assert_array_equal(second, a * 2)


@pl.jit
def double_buffered(x: pl.Tensor[[M, 64], pl.FP32], y: pl.Out[pl.Tensor[[M, 64], pl.FP32]]):
    with pl.at(CORE):
        for i in pl.pipeline(0, M, 4, stage=2):
            y[i : i + 4, :] = pl.exp(x[i : i + 4, :]) + 1.0


def orders(kernel: Any, memory: str = "auto") -> list[Order]:
    program = next(s.program for s in compiler.lower(kernel, memory=memory).stages if s.name == "plan_memory")
    return [Order(Trace(f)) for f in program.device]


def syncs(function: Function) -> list[str]:
    return [
        f"{op.name} {op.attrs} {op.args}"
        for op in walk(function.body)
        if op.name in ("set_flag", "wait_flag", "barrier")
    ]


def test_slots_are_free_before_they_are_filled(rng):  # R43
    """Whatever order copies end in: a load into a slot waits for what read it two iterations ago."""
    x = values(rng, (43, 64), pl.FP32)
    check(double_buffered, {"x": x}, {"y": canary((43, 64), pl.FP32)}, {"y": np.exp(x) + 1}, 1e-6)
    (order,) = orders(double_buffered)
    conflicts = order.conflicts(Plan())
    assert conflicts is not None
    assert {("V", "MTE2"), ("MTE3", "V")} <= {(c.first.pipe, c.second.pipe) for c in conflicts}
    (function,) = compiler.lower(double_buffered).program.device
    primed = [op for op in function.body.ops if op.name == "set_flag"]
    assert sorted(op.attrs["src"] for op in primed) == ["MTE3", "MTE3", "V", "V"]  # two slots of either
    assert all(op.attrs["slots"] == 2 for op in function.body.ops if op.name == "alloc" and op.result.name != "full")


@pytest.mark.parametrize("flag", [False, True])
def test_store_in_one_branch_then_a_load(rng, flag):  # R45
    @pl.jit
    def kernel(x: SQUARE, flag: pl.Scalar[pl.BOOL], z: pl.InOut[SQUARE], y: pl.Out[SQUARE]):
        with pl.at(CORE):
            if flag:
                z[:, :] = x[:, :] + 1.0
            y[:, :] = z[:, :] * 2.0

    x, z = values(rng, (64, 64), pl.FP32), values(rng, (64, 64), pl.FP32)
    after = x + 1 if flag else z
    check(kernel, {"x": x, "flag": flag}, {"z": z, "y": canary((64, 64), pl.FP32)}, {"z": after, "y": after * 2})
    (function,) = compiler.lower(kernel).program.device
    assert not unbalanced(function.body)


def unbalanced(block: Block) -> dict[tuple[str, str, str], int]:
    """Events that a path through a block sets and does not wait for; branches must not differ."""
    count: dict[tuple[str, str, str], int] = {}

    def add(op: Op, by: int) -> None:
        key = op.attrs["src"], op.attrs["dst"], repr(op.args[0])
        count[key] = count.get(key, 0) + by

    for op in block.ops:
        if op.name in ("set_flag", "wait_flag"):
            add(op, 1 if op.name == "set_flag" else -1)
        for inner in op.blocks:
            assert not unbalanced(inner)
    return {k: n for k, n in count.items() if n}


def test_flags_by_hand_are_refused():  # R46
    for name in ("sync_src", "sync_dst", "bar_v", "bar_all", "sync_set", "sync_wait", "syncall"):
        assert "pyto inserts every event" in getattr(pl.system, name).refused

    @pl.jit
    def flagged(x: SQUARE, y: pl.Out[SQUARE]):
        with pl.at(CORE):
            t = x[:, :]
            pl.system.sync_src(set_pipe=1, wait_pipe=2, event_id=0)
            y[:, :] = t

    with pytest.raises(CompileError, match=r"pl\.system\.sync_src: pyto inserts every event") as error:
        compiler.lower(flagged)
    assert error.value.id == "unsupported"


@pl.jit
def reused(x: SQUARE, y: pl.Out[SQUARE], z: pl.Out[SQUARE]):
    with pl.at(CORE):
        y[:, :] = x[:, :] + 1.0
        w = x[:, :]
        z[:, :] = w * w


@pl.jit
def three_tiles(x: SQUARE, w: SQUARE, y: pl.Out[SQUARE], z: pl.Out[SQUARE]):
    with pl.at(CORE):
        a = x[:, :]
        b = w[:, :]
        c = a * b
        y[:, :] = c
        d = pl.exp(b) - c
        z[:, :] = d * a


def run(kernel: Any, memory: str, **arrays: Any) -> None:
    artifact = compiler.build(kernel, toolchain="cxx", memory=memory)
    runtime.load(artifact.so, artifact.manifest)(**arrays)


@pytest.mark.parametrize("memory", ["auto", "distinct", "reuse"])
def test_memory_plans_agree(rng, memory):  # R47, R48
    """compiler.lower(kernel, memory="reuse"), `pyto compile --memory reuse`: the same numbers, and no race."""
    x, w = values(rng, (64, 64), pl.FP32), values(rng, (64, 64), pl.FP32)
    y, z = canary((64, 64), pl.FP32), canary((64, 64), pl.FP32)
    run(reused, memory, x=x, y=y, z=z)
    np.testing.assert_array_equal(y, x + 1)
    np.testing.assert_array_equal(z, x * x)
    run(three_tiles, memory, x=x, w=w, y=y, z=z)
    np.testing.assert_array_equal(y, x * w)
    np.testing.assert_allclose(z, (np.exp(w) - x * w) * x, 1e-5, 1e-5)
    got = {"y": canary((64, 64), pl.FP32), "z": canary((64, 64), pl.FP32)}
    interpreter.run(compiler.lower(three_tiles, memory=memory).program, {"x": x, "w": w, **got}, {}, seed=1)
    np.testing.assert_allclose(got["z"], z, 1e-6, 1e-6)


def test_a_vector_op_waits_for_the_store_of_its_buffer():  # R47
    def offsets(memory: str) -> set[int]:
        (function,) = compiler.lower(reused, memory=memory).program.device
        return {op.attrs["offset"] for op in function.body.ops if op.name == "alloc"}

    assert len(offsets("reuse")) < len(offsets("distinct"))
    assert "HardEvent::MTE3_MTE2" in sources_of(reused, "reuse") or "HardEvent::MTE3_V" in sources_of(reused, "reuse")
    assert "HardEvent::MTE3_" not in sources_of(reused, "distinct")


def sources_of(kernel: Any, memory: str) -> str:
    return "\n".join(compiler.lower(kernel, memory=memory).generated.sources.values())


@pytest.mark.parametrize("kernel", [three_tiles, double_buffered, reused], ids=lambda k: k.name)
def test_synchronisation_does_not_depend_on_addresses(kernel):  # R48
    """Three layouts of tiles that share nothing: the same events and barriers, whatever the addresses."""
    program = next(s.program for s in compiler.lower(kernel, memory="distinct").stages if s.name == "plan_memory")
    found = []
    for layout in ("as planned", "backwards", "apart"):

        def moved(function: Function, layout: str = layout) -> Function:
            allocs = [op for op in function.body.ops if op.name == "alloc"]
            top = max(op.attrs["offset"] for op in allocs) + 32768
            place = {
                "as planned": lambda op: op.attrs["offset"],
                "backwards": lambda op: top - op.attrs["offset"] - _buffer(op, DEFAULT_CHIP).size,
                "apart": lambda op: op.attrs["offset"] * 2,
            }[layout]
            ops = [
                op.with_(attrs={**op.attrs, "offset": place(op)}) if op.name == "alloc" else op
                for op in function.body.ops
            ]
            return function.with_(body=Block(function.body.params, tuple(ops)))

        shifted = program.map_device(moved)
        for function in shifted.device:
            order = Order(Trace(function))
            assert order.conflicts(Plan())
        ordered = insert_sync(shifted)
        found.append([syncs(f) for f in name_scalars(ordered).device])
    assert found[0] == found[1] == found[2] and any(found[0])
    assert "PipeBarrier" in sources(kernel) or "SetFlag" in sources(kernel)
