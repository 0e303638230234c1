"""Mixed regions: the interpreter after every pass with its cores in any order, the simulator, and float64 agree."""

from __future__ import annotations

from pathlib import Path

import pytest

import pyto.language as pl
from pyto import compiler, interpreter
from pyto.errors import CompileError, InternalError
from pyto.ir.nodes import Block, Function, Op, Program, walk
from pyto.ir.scalar import type_variables
from tests.codegen.mixed_cases import MAKERS, cases

KERNELS = compiler.find_kernels(Path(__file__).parent / "mixed_kernels.py")


def test_every_kernel_has_cases() -> None:
    assert set(KERNELS) == set(MAKERS)


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_interpreter_at_every_stage(name: str) -> None:
    compiled = compiler.lower(KERNELS[name])
    for number, case in enumerate(cases(name)):
        for stage in compiled.stages:
            if not stage.changed:
                continue
            for seed in (None, number):
                got = {k: v.copy() for k, v in case.writes.items()}
                interpreter.run(stage.program, {**case.arrays, **got}, case.scalars, seed=seed)
                assert case.error(got) <= case.bound, f"{name} {case.shape} after {stage.name}, seed {seed}"


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_simulator(name: str) -> None:
    for case in cases(name):
        got = {k: v.copy() for k, v in case.writes.items()}
        KERNELS[name](**case.reads, **got)
        assert case.error(got) <= case.bound, f"{name} {case.shape}"


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_generated_text(name: str, golden) -> None:  # type: ignore[no-untyped-def]
    sources = compiler.lower(KERNELS[name]).generated.sources
    golden(f"mixed/{name}.txt", "\n".join(f"==== {f}\n{sources[f]}" for f in sorted(sources)))


def without(program: Program, gone: set[int]) -> Program:
    """The program without the flags between cores of those numbers."""

    def block(b: Block) -> Block:
        kept = (o for o in b.ops if o.attrs.get("flag") not in gone)
        return Block(b.params, tuple(o.with_(blocks=tuple(block(i) for i in o.blocks)) for o in kept))

    return program.map_device(lambda f: f.with_(body=block(f.body)))


def notices(name: str, program: Program) -> bool:
    """Whether a run of any case, with the cores in some order, goes wrong."""
    for case in cases(name):
        for seed in (None, *range(20)):
            got = {k: v.copy() for k, v in case.writes.items()}
            try:
                interpreter.run(program, {**case.arrays, **got}, case.scalars, seed=seed)
                if case.error(got) > case.bound:
                    return True
            except (InternalError, AssertionError):
                return True
    return False


def flags(program: Program) -> set[int]:
    return {o.attrs["flag"] for f in program.device for o in walk(f.body) if "flag" in o.attrs}


@pytest.mark.parametrize("name", ["gemm_bias_relu", "no_trips", "through_a_tensor"])
def test_every_flag_between_cores_is_needed(name: str) -> None:
    program = compiler.lower(KERNELS[name]).program
    assert flags(program)
    for flag in sorted(flags(program)):
        assert notices(name, without(program, {flag})), f"flag {flag} is redundant"


def test_a_missing_set_or_wait_is_noticed() -> None:
    program = compiler.lower(KERNELS["no_trips"]).program
    positions = [(f.name, o) for f in program.device for o in walk(f.body) if "flag" in o.attrs]
    for number in range(len(positions)):
        found = iter(range(len(positions)))

        def block(b: Block, number: int = number, found: object = found) -> Block:
            ops: list[Op] = []
            for o in b.ops:
                if "flag" in o.attrs and next(found) == number:  # type: ignore[call-overload]
                    continue
                ops.append(o.with_(blocks=tuple(block(i, number, found) for i in o.blocks)))
            return Block(b.params, tuple(ops))

        changed = program.map_device(lambda f, block=block: f.with_(body=block(f.body)))
        assert notices("no_trips", changed), positions[number]


def part(name: str, kind: str, stage: str = "split_mixed") -> Function:
    program = next(s.program for s in compiler.lower(KERNELS[name]).stages if s.name == stage)
    return next(f for f in program.device if f.kind == kind)


def test_vector_cores_share_the_rows() -> None:
    shapes = {r.type.shape for o in walk(part("gemm_residual", "vector").body) for r in o.results if o.name == "cast"}  # type: ignore[union-attr]
    assert shapes == {(32, 128)}  # of 64 rows


def test_what_mixes_rows_is_whole_on_the_first_core() -> None:
    vector = part("column_sums", "vector")
    (store,) = [o for o in walk(vector.body) if o.name == "store"]
    assert vector.body.params[2] in type_variables(store.args[1])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["attention", "attention_of_four_blocks"])
def test_the_cube_core_multiplies_ahead(name: str) -> None:
    """In the steady loop the next block's scores are on their way before the cube core waits for probabilities."""
    loops = [o for o in walk(part(name, "cube").body) if o.name == "for" and o.attrs["kind"] != "blocks"]
    (steady,) = [o for o in loops if any(i.name == "cross_wait" for i in o.blocks[0].ops)]
    names = [o.name if "ring" not in o.attrs else f"ring {o.name}" for o in steady.blocks[0].ops]
    assert names.index("ring store") < names.index("ring load")


M = pl.dynamic("M")


@pl.jit
def scalar_for_the_cube(
    a: pl.Tensor[[M, 64], pl.BF16], b: pl.Tensor[[64, 64], pl.BF16], c: pl.Out[pl.Tensor[[M, 64], pl.FP32]]
):
    with pl.at(pl.Level.CORE_GROUP):
        s = pl.matmul(a[0:16, :], b[:, :], b_trans=True)
        if pl.read(s, [0, 0]) > 0.0:
            s = s + pl.matmul(a[0:16, :], b[:, :])
        c[0:16, :] = s


def test_refused_by_name() -> None:
    with pytest.raises(CompileError, match="is read from a tile of a vector core") as caught:
        compiler.lower(scalar_for_the_cube)
    assert caught.value.id == "mixed-region"
    assert caught.value.loc is not None
