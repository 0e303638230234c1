"""Random programs: each pass keeps what they compute, and so does C++. `python -m tests.random` runs more of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pyto.frontends.text import parse
from pyto.ir.nodes import Op, Program, walk
from pyto.ir.ops import OPS
from pyto.ir.printer import print_program
from pyto.passes import PASSES
from tests.random import check
from tests.random.check import Fault, Refused, Unfit, interpreted
from tests.random.choices import Choices
from tests.random.native import generated, simulated, through_cxx
from tests.random.programs import TRIED, make
from tests.random.shrink import fault_of, report, shrink

COUNT, PART = 300, 50
NATIVE = 60


def fail(seed: int, fault: str, native: bool = False) -> None:
    choices = Choices(seed)
    make(choices, f"r{seed}")
    small, what = shrink(choices.drawn, fault, through_cxx if native else interpreted, seed, f"r{seed}")
    path = report(small, what, seed, Path("build") / "random")
    pytest.fail(f"seed {seed}: {what}\n{path}\n{print_program(small.program)}", pytrace=False)


@pytest.mark.parametrize("first", range(0, COUNT, PART))
def test_every_pass_keeps_the_meaning(first: int) -> None:
    tally: Counter[str] = Counter()
    for seed in range(first, first + PART):
        try:
            interpreted(make(Choices(seed), f"r{seed}"), seed)
            tally["done"] += 1
        except Refused as refused:
            tally[str(refused)] += 1
        except Unfit:
            tally["unfit"] += 1
        except Fault as fault:
            fail(seed, str(fault))
    assert tally["done"] > 0.9 * PART, tally


def test_compiled() -> None:
    """Many programs in one translation unit."""
    batch = []
    for seed in range(NATIVE):
        made = make(Choices(seed), f"r{seed}")
        try:
            batch.append(generated(seed, made, interpreted(made, seed)))
        except (Refused, Unfit):
            pass
        except Fault as fault:
            fail(seed, str(fault))
    for seed, what in simulated(batch, "random").items():
        fail(seed, what, True)
    assert len(batch) > 0.9 * NATIVE


def test_programs_read_back() -> None:
    for seed in range(40):
        program = make(Choices(seed), f"r{seed}").program
        assert parse(print_program(program)) == program


def test_programs_are_of_all_sorts() -> None:
    """What the op table lets a program try is tried, and every structure is met."""
    seen: set[str] = set()
    for seed in range(400):
        program = make(Choices(seed), f"r{seed}").program
        seen |= {op.name for op in walk(program.host.body)} | {
            str(op.attrs["kind"]) for op in walk(program.host.body) if op.name == "for"
        }
    structure = {"for", "if", "while", "matmul", "matmul_acc", "read", "slice", "assemble", "reshape", "set_validshape"}
    kinds = {"parallel", "range", "pipeline"}
    missing = ({op.name for op in TRIED} | structure & OPS.keys() | kinds | {"create_tensor"}) - seen
    assert not missing


def test_a_wrong_pass_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A pass that takes the last `maximum` for a `minimum`."""

    def wrong(program: Program) -> Program:
        done = []

        def changed(op: Op) -> Op:
            if op.name == "maximum" and not done:
                done.append(op)
                return op.with_(name="minimum")
            blocks = tuple(type(b)(b.params, tuple(reversed([changed(o) for o in reversed(b.ops)]))) for b in op.blocks)
            return op.with_(blocks=blocks)

        host = program.host
        ops = tuple(reversed([changed(op) for op in reversed(host.body.ops)]))
        return type(program)(program.name, program.stage, (host.with_(body=type(host.body)((), ops)),))

    monkeypatch.setattr(check, "PASSES", (PASSES[0], wrong))
    for seed in range(20):
        choices = Choices(seed)
        made = make(choices, f"r{seed}")
        fault = fault_of(interpreted, made, seed)
        if fault is not None:
            break
    assert fault is not None and fault.startswith("after wrong")
    small, what = shrink(choices.drawn, fault, interpreted, seed, f"r{seed}", seconds=20)
    ops = [op.name for op in walk(small.program.host.body)]
    assert "maximum" in ops and len(ops) <= 10, print_program(small.program)
    path = report(small, what, seed, tmp_path)
    text = path.read_text(encoding="utf-8")
    assert f"seed {seed}" in text and parse(text) == small.program


def test_choices_replay() -> None:
    first = Choices(7)
    made = make(first, "p")
    assert make(Choices(replay=first.drawn), "p") == made
    make(Choices(replay=()), "p")
