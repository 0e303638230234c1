"""One mistake a program: its id, its text, and the caret under it.

A program in programs/*.py says what is expected in a comment below the line of the mistake: carets at the columns of
the error, its id, and a part of its text. `help: text` in a further comment is a part of the remedy.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from pyto import compiler
from pyto.errors import CompileError
from pyto.frontends.python import CompileErrors, parse
from pyto.language import JitFunction

PROGRAMS = Path(__file__).parent / "programs"
MARK = re.compile(r"^#( *)(\^+) ([a-z0-9-]+): (.*)$")
HELP = re.compile(r"^# *help: (.*)$")


@dataclass
class Expected:
    line: int
    col: int
    end_col: int
    id: str
    text: str
    help: str = ""


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"pyto_misuse_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expected(path: Path) -> list[Expected]:
    out: list[Expected] = []
    line = 0
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mark, help_ = MARK.match(text), HELP.match(text)
        if mark:
            col = 1 + len(mark[1])
            out.append(Expected(line, col, col + len(mark[2]), mark[3], mark[4]))
        elif help_:
            out[-1].help = help_[1]
        else:
            line = number
    return out


def cases() -> list[tuple[Path, str]]:
    """(file, name of a kernel): every kernel is a case, those whose names begin with `ok_` are right."""
    found = []
    for path in sorted(PROGRAMS.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        found += [(path, name) for name in re.findall(r"^@pl\.jit\ndef (\w+)", text, re.MULTILINE)]
    return found


def _calls(kernel: JitFunction, name: str) -> bool:
    return name in kernel.fn.__code__.co_names


MODULES: dict[Path, ModuleType] = {}


@pytest.mark.parametrize(("path", "name"), cases(), ids=lambda v: v.stem if isinstance(v, Path) else v)
def test_misuse(path: Path, name: str) -> None:
    module = MODULES.setdefault(path, _load(path)) if path not in MODULES else MODULES[path]
    kernel = getattr(module, name)
    assert isinstance(kernel, JitFunction)
    first = kernel.fn.__code__.co_firstlineno
    starts = sorted(
        int(m.fn.__code__.co_firstlineno) for m in vars(module).values() if isinstance(m, JitFunction) and not m.inline
    )
    end = next((s for s in starts if s > first), 10**9)
    wanted = [e for e in expected(path) if first <= e.line < end]
    called = [m for n, m in vars(module).items() if isinstance(m, JitFunction) and m.inline and _calls(kernel, n)]
    for function in called:  # mistakes in inlined functions are expected where they are
        start = function.fn.__code__.co_firstlineno
        stop = min(
            s
            for s in (
                *(f.fn.__code__.co_firstlineno for f in vars(module).values() if isinstance(f, JitFunction)),
                10**9,
            )
            if s > start
        )
        wanted = [e for e in expected(path) if start <= e.line < stop] + wanted
    if name.startswith("ok_"):
        assert not wanted
        parse(kernel)
        return
    assert wanted, "no expectation below the mistake"
    with pytest.raises(CompileError) as caught:
        compiler.lower(kernel) if path.stem == "lowered" else parse(kernel)
    errors = list(caught.value.errors) if isinstance(caught.value, CompileErrors) else [caught.value]
    got = [(e.id, e.loc.line, e.loc.col, e.loc.end_col) for e in errors if e.loc is not None]
    assert got == [(e.id, e.line, e.col, e.end_col) for e in wanted], str(caught.value)
    for error, want in zip(errors, wanted):
        assert want.text in error.message, str(error)
        assert want.help in (error.remedy or ""), str(error)
        assert f"{path}:{want.line}:{want.col + 1}: error[{want.id}]: " in str(error)
        assert "^" * (want.end_col - want.col) in str(error)


def test_every_program_is_a_case() -> None:
    assert len(cases()) > 100
    marks = sum(len(expected(path)) for path in PROGRAMS.glob("*.py"))
    lines = sum(
        bool(re.match(r"^# *\^", line)) for path in PROGRAMS.glob("*.py") for line in path.read_text().splitlines()
    )
    assert marks == lines, "a caret comment that is not understood"
