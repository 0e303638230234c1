"""A random program through the passes: what it computes must stay what it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyto.errors import CompileError, InternalError, PytoError
from pyto.interpreter import run
from pyto.ir.nodes import Program, TensorType
from pyto.ir.scalar import evaluate
from pyto.ir.verifier import verify
from pyto.numerics import NUMPY, Array, widen
from pyto.passes import FOR_CHIP, PASSES
from pyto.target import DEFAULT_CHIP
from tests.random.programs import Made
from tests.random.values import Facts

SCALARS = ({"scale": 0.5, "count": 2}, {"scale": 0.5, "count": 1}, {"scale": 0.5, "count": 0})


class Refused(Exception):
    """The compiler does not take the program, and says so."""


class Unfit(Exception):
    """The program computes what cannot be compared: no number, or one that lies outside of what was foreseen."""


class Fault(Exception):
    """The compiler or the simulator does wrong: `what`."""


@dataclass(frozen=True)
class Case:
    arrays: dict[str, Array]
    scalars: dict[str, Any]

    def copies(self) -> dict[str, Array]:
        return {k: v.copy() for k, v in self.arrays.items()}


def cases(made: Made, seed: int) -> Iterator[Case]:
    """Arguments of a size below one block, and of some blocks and a part of one."""
    host = made.program.host
    for i, rows in enumerate((max(1, made.rows - 1), 2 * made.rows + 1)):
        rng = np.random.default_rng(seed + i)
        env = dict.fromkeys(host.dims, rows)
        arrays, scalars = {}, {}
        for p in host.params:
            if not isinstance(p.var.type, TensorType):
                scalars[p.var.name] = SCALARS[(seed + i) % len(SCALARS)][p.var.name]
                continue
            shape = tuple(evaluate(e, env) for e in p.var.type.shape)
            facts, dtype = made.inputs[p.var.name], NUMPY[p.var.dtype.name]
            if p.direction == "out":
                arrays[p.var.name] = np.zeros(shape, dtype)
            elif p.var.dtype.kind == "f":
                arrays[p.var.name] = rng.uniform(facts.low, facts.high, shape).astype(np.float32).astype(dtype)
            else:
                arrays[p.var.name] = rng.integers(int(facts.low), int(facts.high) + 1, shape).astype(dtype)
        yield Case(arrays, scalars)


def wanted(made: Made, case: Case) -> dict[str, Array]:
    """What the program means: the tensor stage."""
    got = case.copies()
    try:
        run(made.program, got, case.scalars)
    except InternalError as error:
        raise Unfit(f"the generator made a program without a meaning: {error}") from error
    for name in made.outputs:
        if not np.isfinite(widen(got[name]).astype(np.float64)).all():
            raise Unfit(f"{name} is not finite")
    return {name: got[name] for name in made.outputs}


def compare(got: dict[str, Array], want: dict[str, Array], outputs: dict[str, Facts], exact: bool, where: str) -> None:
    """exact: implementations differ by what the passes reorder only."""
    for name, facts in outputs.items():
        a, b = got[name], want[name]
        if (facts.same and exact) or not facts.error:
            good = np.array_equal(a, b)
            bound = 0.0
        else:
            bound = 4 * facts.error
            good = bool((np.abs(widen(a).astype(np.float64) - widen(b).astype(np.float64)) <= bound).all())
        if not good:
            wide = np.abs(widen(a).astype(np.float64) - widen(b).astype(np.float64))
            at = tuple(int(i) for i in np.unravel_index(int(np.nan_to_num(wide, nan=np.inf).argmax()), wide.shape))
            raise Fault(f"{where}: {name}{list(at)} is {a[at]}, not {b[at]} (allowed: {bound:.3g})")


def stages(program: Program, each: Any = lambda name, program: None) -> Program:
    """All passes, `each` seeing what a pass changed. Raises Refused or Fault."""
    for one in PASSES:
        try:
            after = one(program, DEFAULT_CHIP) if one in FOR_CHIP else one(program)
            verify(after)
        except InternalError as error:
            raise Fault(f"{one.__name__}: {error}") from error
        except CompileError as error:
            raise Refused(error.id) from error
        except Exception as error:
            raise Fault(f"{one.__name__}: {type(error).__name__}: {error}") from error
        if after != program:
            each(one.__name__, after)
        program = after
    return program


def interpreted(made: Made, seed: int, cores: int = 2) -> Program:
    """Every pass keeps what the program computes; the program of the machine stage."""
    verify(made.program)
    table = [(case, wanted(made, case)) for case in cases(made, seed)]

    def each(name: str, program: Program) -> None:
        for case, want in table:
            got = case.copies()
            try:
                run(program, got, case.scalars, seed=seed, cores=cores)
            except PytoError as error:
                raise Fault(f"{name}: the interpreter fails: {error.message}") from error
            except Exception as error:
                raise Fault(f"{name}: the interpreter fails: {type(error).__name__}: {error}") from error
            compare(got, want, made.outputs, True, f"after {name}, {_sizes(case)}")

    return stages(made.program, each)


def _sizes(case: Case) -> str:
    return ", ".join(f"{k} {list(v.shape)}" for k, v in case.arrays.items())


__all__ = ["Case", "Fault", "Refused", "Unfit", "cases", "compare", "interpreted", "stages", "wanted"]
