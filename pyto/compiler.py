"""The driver: front end -> passes -> code generation -> build -> a callable program.

`language` reaches it through the one hook that this module registers when it is imported.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyto import build as builder
from pyto.codegen.ascendc import generate
from pyto.errors import CompileError, InternalError, PytoError, UsageError
from pyto.frontends import text
from pyto.frontends.python import parse
from pyto.ir.nodes import Program
from pyto.ir.printer import print_program
from pyto.ir.verifier import verify
from pyto.language import hooks
from pyto.language.jit import JitFunction, JitProgram
from pyto.passes import FOR_CHIP, Pass, remaining
from pyto.passes.plan_memory import MEMORY, check_memory, plan_memory
from pyto.runtime import program as runtime
from pyto.specialize import specialize
from pyto.target import CHIPS, DEFAULT_CHIP, Chip


@dataclass(frozen=True)
class Stage:
    """A program as a pass left it; `ms` is what the pass took."""

    name: str
    program: Program
    ms: float
    changed: bool

    @property
    def text(self) -> str:
        return print_program(self.program)

    def __getitem__(self, i: int) -> Any:
        return (self.name, self.text, self.ms)[i]


@dataclass(frozen=True)
class Compiled:
    """A kernel lowered to Ascend C."""

    name: str
    chip: Chip
    stages: list[Stage]
    generated: builder.Generated

    @property
    def program(self) -> Program:
        return self.stages[-1].program


@dataclass(frozen=True)
class Artifact:
    """A built library, its manifest, and the folder they are in."""

    so: Path
    manifest: dict[str, Any]
    dir: Path


def find_kernels(path: str | Path) -> dict[str, JitFunction | Program]:
    """The kernels (`@pl.jit`) that a Python file defines at module level, by name, or the program of a .pto file.

    A Python file is imported.
    """
    if Path(path).suffix == ".pto":
        program = text.load(path)
        return {program.name: program}
    path = Path(path).resolve()
    module = _import(path)
    found: dict[str, JitFunction | Program] = {}
    for name, value in vars(module).items():
        if isinstance(value, JitProgram):
            value = value.entry
            name = value.name
        if isinstance(value, JitFunction) and not value.inline and _defined_in(value, path):
            found.setdefault(value.name, value)
            if name != value.name and name not in found and value.name not in vars(module):
                found[name] = found.pop(value.name)
    return found


def _defined_in(kernel: JitFunction, path: Path) -> bool:
    return Path(kernel.fn.__code__.co_filename).resolve() == path


def _import(path: Path) -> Any:
    """The module of a file: by its package's name if it is one that Python finds, else under a private name."""
    parts = [path.stem]
    folder = path.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    for dotted in (".".join(parts), ".".join(["pyto", *parts])):
        if len(parts) > 1:
            try:
                spec = importlib.util.find_spec(dotted)
            except (ImportError, ValueError):
                continue
            if spec is not None and spec.origin is not None and Path(spec.origin).resolve() == path:
                return importlib.import_module(dotted)
    name = f"pyto_user_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError("usage.path", f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


class Dump:
    """Writes to `folder`/KERNEL what each pass did: NN_PASS.pto, and NN_PASS.diff against the stage before.

    A pass that changed nothing leaves no file; index.txt lists all passes with their milliseconds.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.before = ""
        self.index: list[str] = []

    def __call__(self, stage: Stage) -> None:
        number = len(self.index)
        here = self.folder / stage.program.name
        self.index.append(f"{number:02} {stage.name:16} {stage.ms:8.2f} ms{'' if stage.changed else '  no change'}\n")
        try:
            here.mkdir(parents=True, exist_ok=True)
            (here / "index.txt").write_text("".join(self.index), encoding="utf-8")
            if stage.changed:
                text, stem = stage.text, f"{number:02}_{stage.name}"
                (here / f"{stem}.pto").write_text(text, encoding="utf-8")
                if self.before:
                    lines = self.before.splitlines(), text.splitlines()
                    diff = difflib.unified_diff(*lines, "before", stage.name, lineterm="")
                    (here / f"{stem}.diff").write_text("\n".join(diff) + "\n", encoding="utf-8")
                self.before = text
        except OSError as error:
            raise UsageError("usage.dump", f"cannot write to {here}: {error.strerror or error}") from error


def lower(
    kernel: JitFunction | Program,
    chip: str | Chip = DEFAULT_CHIP,
    dump: Callable[[Stage], None] | None = None,
    memory: str = "auto",
) -> Compiled:
    """Parse a kernel, run all passes, generate Ascend C; a program goes on from its stage. Raises CompileError.

    `dump` sees every stage as it is done; without it, PYTO_DUMP=FOLDER writes them there (`Dump`).
    `memory`: whether tiles that are never alive together share on-chip memory, see `passes.plan_memory`.
    """
    if memory not in MEMORY:
        raise UsageError("usage.memory", f"no memory plan {memory!r}", remedy=f"use one of {', '.join(MEMORY)}")
    if dump is None and os.environ.get("PYTO_DUMP"):
        dump = Dump(os.environ["PYTO_DUMP"])
    target = CHIPS[chip] if isinstance(chip, str) else chip
    stages: list[Stage] = []

    def done(name: str, program: Program, started: float, before: Program | None) -> Program:
        verify(program)
        stage = Stage(name, program, (time.perf_counter() - started) * 1e3, program != before)
        stages.append(stage)
        if dump is not None:
            dump(stage)
        return program

    started = time.perf_counter()
    written = isinstance(kernel, Program)
    program = done("parse", kernel if isinstance(kernel, Program) else parse(kernel), started, None)
    if written and program.stage == "machine":
        check_memory(program, target)
    for one in remaining(program):
        started = time.perf_counter()
        with _refusing(written, one.__name__, program):
            after = _after(one, program, target, memory)
            program = done(_unique(one.__name__, stages), after, started, program)
    with _refusing(written, "generate", program):
        sources, manifest = generate(program, target)
    generated = builder.Generated(program.name, sources, manifest["kernels"], manifest)
    return Compiled(program.name, target, stages, generated)


def _after(one: Pass, program: Program, chip: Chip, memory: str) -> Program:
    if one is plan_memory:
        return plan_memory(program, chip, memory)
    return one(program, chip) if one in FOR_CHIP else one(program)


@contextmanager
def _refusing(written: bool, name: str, program: Program) -> Iterator[None]:
    """A program that was `written` as IR can hold what no front end makes: a pass that fails on it refuses it."""
    try:
        yield
    except Exception as error:
        if not written or (isinstance(error, PytoError) and not isinstance(error, InternalError)):
            raise
        what = error.message if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
        loc = error.loc if isinstance(error, InternalError) and error.loc is not None else program.host.loc
        raise CompileError(
            "pto.unsupported",
            f"{name} cannot take this {program.stage}-stage program: {what}",
            loc,
            remedy="compare it with what `pyto ir --after` prints of a Python kernel before that pass",
        ) from error


def _unique(name: str, stages: Sequence[Stage]) -> str:
    taken = {s.name for s in stages}
    n, out = 1, name
    while out in taken:
        n += 1
        out = f"{name}_{n}"
    return out


def build(
    kernel: JitFunction | Program | Compiled,
    chip: str | Chip = DEFAULT_CHIP,
    toolchain: str = "auto",
    out_dir: str | Path | None = None,
    memory: str = "auto",
) -> Artifact:
    """Build a kernel's library, in `out_dir` or in the cache. Raises CompileError or BuildError."""
    compiled = kernel if isinstance(kernel, Compiled) else lower(kernel, chip, memory=memory)
    so = builder.build_program(compiled.generated, toolchain, compiled.chip.name, out_dir)
    manifest = builder.complete_manifest(compiled.generated, compiled.chip.name)
    return Artifact(so, manifest, so.parent)


_programs: dict[tuple[int, str, str], tuple[JitFunction, runtime.Program]] = {}
_lock = threading.Lock()


def load(kernel: JitFunction, toolchain: str = "cxx", chip: str | Chip = DEFAULT_CHIP) -> runtime.Program:
    """The callable program of a kernel: compiled and built once a process, and found in the cache after that."""
    key = id(kernel), toolchain, chip if isinstance(chip, str) else chip.name
    found = _programs.get(key)
    if found is None:
        with _lock:
            found = _programs.get(key)
            if found is None:
                artifact = build(kernel, chip, toolchain)
                found = _programs[key] = kernel, runtime.load(artifact.so, artifact.manifest)
    return found[1]


def _call(kernel: JitFunction, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    if kernel.generic:
        kernel, args = specialize(kernel, args, kwargs)
        kwargs = {}
    program = load(kernel, runtime.toolchain_for((*args, *kwargs.values())))
    if kwargs:  # a name that C++ does not take has another there
        code = kernel.fn.__code__
        written = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if len(written) == len(program.plan.names):
            names = dict(zip(written, program.plan.names))
            kwargs = {names.get(name, name): value for name, value in kwargs.items()}
    return program(*args, **kwargs)


hooks.call = _call
