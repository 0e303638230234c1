"""Mixed regions: the interpreter after every pass with its cores in any order, the simulator, and float64 agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyto import compiler, interpreter
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
