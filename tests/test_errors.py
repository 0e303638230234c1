"""What an error looks like."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path

import pytest

from pyto.errors import BuildError, CompileError, InternalError, LaunchError, PytoError, UsageError


@dataclass(frozen=True)
class Loc:
    file: str
    line: int
    col: int
    end_col: int


def test_line_and_caret(tmp_path: Path) -> None:
    file = tmp_path / "k.py"
    file.write_text("x = 1\n\ty = pl.frobnicate(x)\n")
    error = CompileError("op.unknown", "no op frobnicate", Loc(str(file), 2, 5, 18), remedy="did you mean\npl.cast?")
    assert str(error) == (
        f"{file}:2:6: error[op.unknown]: no op frobnicate\n"
        "    2 | \ty = pl.frobnicate(x)\n"
        "      | \t    ^^^^^^^^^^^^^\n"
        "  help: did you mean\n"
        "        pl.cast?"
    )


@pytest.mark.parametrize("col,end_col,carets", [(4, 0, "^"), (4, 3, "^"), (2, 99, "^^^"), (99, 100, "^")])
def test_caret_stays_inside_the_line(tmp_path: Path, col: int, end_col: int, carets: str) -> None:
    file = tmp_path / "k.py"
    file.write_text("a = b\n")
    last = str(CompileError("x", "m", Loc(str(file), 1, col, end_col))).splitlines()[2]
    assert last.split("|")[1].strip() == carets


def test_source_not_at_hand() -> None:
    assert str(CompileError("x", "m", Loc("<string>", 3, 0, 1))) == "<string>:3:1: error[x]: m"


def test_families_and_exit_codes() -> None:
    codes = {CompileError: 1, UsageError: 2, BuildError: 3, LaunchError: 4}
    for family, code in codes.items():
        assert issubclass(family, PytoError) and family("x", "m").exit_code == code
    internal = InternalError("boom", log="/somewhere/log")
    assert internal.exit_code == 70 and "report" in str(internal) and "/somewhere/log" in str(internal)


@pytest.mark.parametrize("error", [CompileError("x", "m", remedy="r"), InternalError("boom")])
def test_survives_another_process(error: PytoError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.id == error.id
