"""A failing program made small: choices are dropped and lowered for as long as it fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from pyto.ir.printer import print_program
from pyto.ir.verifier import verify
from tests.random.check import Fault, Refused, Unfit
from tests.random.choices import Choices
from tests.random.programs import Made, make
from tests.random.reduce import finished
from tests.random.reduce import smaller as smaller_programs

Check = Callable[[Made, int], object]  # raises Fault, Refused or Unfit


def fault_of(check: Check, made: Made, seed: int) -> str | None:
    try:
        check(made, seed)
    except Fault as fault:
        return str(fault)
    except (Refused, Unfit):
        pass
    return None


def kind(fault: str) -> str:
    """What is the same of two faults of one cause: the pass, and the sort of failure."""
    head, _, rest = fault.partition(":")
    return f"{head.partition(',')[0]}: {rest.strip().partition(':')[0] if ',' not in head else ''}"


def smaller(choices: list[int]) -> Iterator[list[int]]:
    for size in (32, 16, 8, 4, 2, 1):
        for at in range(len(choices) - size, -1, -size):
            yield choices[:at] + choices[at + size :]
    for at in range(len(choices) - 1, -1, -1):
        for value in (0, choices[at] // 2, choices[at] - 1):
            if 0 <= value < choices[at]:
                yield [*choices[:at], value, *choices[at + 1 :]]


def weight(choices: list[int]) -> tuple[int, int]:
    return len(choices), sum(choices)


def shrink(choices: list[int], fault: str, check: Check, seed: int, name: str, seconds: float = 60) -> tuple[Made, str]:
    """The smallest program found that has the fault of `choices`, and that fault: by choices, then by operations."""
    until = time.monotonic() + seconds / 2
    best, made = choices, make(Choices(replay=choices), name)
    found = fault
    improved = True
    while improved and time.monotonic() < until:
        improved = False
        for candidate in smaller(best):
            if time.monotonic() > until:
                break
            drawn = Choices(replay=candidate)
            try:
                other = make(drawn, name)
            except Exception:  # choices that mean nothing
                continue
            if weight(drawn.drawn) >= weight(best):
                continue
            now = fault_of(check, other, seed)
            if now is not None and kind(now) == kind(fault):
                best, made, found, improved = drawn.drawn, other, now, True
                break
    return _reduced(made, found, check, seed, time.monotonic() + seconds / 2)


def _reduced(made: Made, fault: str, check: Check, seed: int, until: float) -> tuple[Made, str]:
    found, improved = fault, True
    while improved and time.monotonic() < until:
        improved = False
        seen = len(print_program(made.program))
        for host in smaller_programs(made.program.host):
            if time.monotonic() > until:
                break
            try:
                program = finished(made.program, host)
                verify(program)
            except Exception:  # not every candidate keeps the rules
                continue
            if len(print_program(program)) >= seen:
                continue
            names = {p.var.name for p in program.host.params}
            outputs = {k: v for k, v in made.outputs.items() if k in names}
            other = replace(made, program=program, outputs=outputs)
            now = fault_of(check, other, seed)
            if now is not None and kind(now) == kind(fault):
                made, found, improved = other, now, True
                break
    return made, found


def report(made: Made, fault: str, seed: int, folder: Path) -> Path:
    """Writes the program with what is wrong with it; where to."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{made.program.name}.pto"
    lines = "\n".join(f"# {line}" for line in [f"seed {seed}", *fault.splitlines()])
    path.write_text(f"{lines}\n{print_program(made.program)}", encoding="utf-8")
    return path


__all__ = ["fault_of", "report", "shrink"]
