"""Random programs through C++: many in one translation unit, one library for all."""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyto import build, runtime
from pyto.codegen.ascendc import generate
from pyto.errors import BuildError, CompileError, PytoError
from pyto.ir.nodes import Program
from tests.random.check import Fault, Refused, cases, compare, interpreted, wanted
from tests.random.programs import Made

INCLUDE = re.compile(r'^#include "[a-z_]+\.h"$', re.M)
CHIP = "ascend910b2"
SECONDS = 60  # that a batch may run


@dataclass(frozen=True)
class Generated:
    """A program's sources and manifest."""

    seed: int
    made: Made
    device: str
    host: str
    manifest: dict[str, Any]


def generated(seed: int, made: Made, machine: Program) -> Generated:
    """Raises Refused or Fault."""
    try:
        texts, manifest = generate(machine)
    except CompileError as error:
        raise Refused(error.id) from error
    except Exception as error:
        raise Fault(f"generate: {type(error).__name__}: {error}") from error
    return Generated(seed, made, texts[f"{machine.name}.cpp"], texts[f"{machine.name}_host.cpp"], manifest)


def library(batch: Sequence[Generated], name: str) -> Path:
    """One library of all programs, each in a namespace of its own in one device and one host source."""
    device, host = ['#include "kernel_operator.h"'], ['#include "pyto_launch.h"']
    for one in batch:
        for target, text in ((device, one.device), (host, one.host)):
            target.append(f"namespace {one.manifest['name']} {{\n{INCLUDE.sub('', text)}\n}}")
    return build.build_sources(name, {f"{name}.cpp": "\n".join(device), f"{name}_host.cpp": "\n".join(host)}, "cxx")


def simulated(batch: Sequence[Generated], name: str) -> dict[int, str]:
    """What is wrong, by seed: the simulator's results compared with the interpreter's.

    Programs run in a process of their own; one that ends it, or cannot be compiled, is found by halving the batch.
    """
    if not batch:
        return {}
    try:
        path = library(batch, name)
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe(False)
        worker = context.Process(target=_work, args=(batch, path, theirs))
        worker.start()
        theirs.close()
        found = ours.recv() if ours.poll(SECONDS) else None
        worker.join(1)
        if worker.is_alive():
            worker.kill()
            worker.join()
        if found is not None:
            return dict(found)
        fault = f"simulator: the process ended with {worker.exitcode}"
    except EOFError:
        worker.join()
        fault = f"simulator: the process ended with {worker.exitcode}"
    except BuildError as error:
        fault = f"c++: {error}"
    if len(batch) == 1:
        return {batch[0].seed: fault}
    half = len(batch) // 2
    return simulated(batch[:half], f"{name}a") | simulated(batch[half:], f"{name}b")


def _work(batch: Sequence[Generated], path: Path, answer: Any) -> None:
    wrong = {}
    for one in batch:
        try:
            manifest = build.complete_manifest(build.Generated("batch", {}, [], one.manifest), CHIP)
            _run(one, runtime.load(path, manifest))
        except Fault as fault:
            wrong[one.seed] = str(fault)
    answer.send(wrong)


def _run(one: Generated, program: runtime.Program) -> None:
    for case in cases(one.made, one.seed):
        got = case.copies()
        names = [p.var.name for p in one.made.program.host.params]
        try:
            program(*(got[n] if n in got else case.scalars[n] for n in names))
        except PytoError as error:
            raise Fault(f"simulator: {error.message}") from error
        sizes = ", ".join(f"{k} {list(v.shape)}" for k, v in got.items())
        compare(got, wanted(one.made, case), one.made.outputs, False, f"simulator, {sizes}")


def through_cxx(made: Made, seed: int) -> None:
    """One program by itself, for shrinking. Raises Fault, Refused or Unfit."""
    one = generated(seed, made, interpreted(made, seed))
    for fault in simulated([one], "random_one").values():
        raise Fault(fault)


__all__ = ["Generated", "generated", "simulated", "through_cxx"]
