"""Fixtures of all tests."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write tests/golden/* anew from what the code produces now"
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)`: text equals tests/golden/<name>; `pytest --update-golden` writes the file instead."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        assert path.resolve().is_relative_to(GOLDEN.resolve()), f"{name} leaves tests/golden"
        text = text.rstrip("\n") + "\n"
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        if not path.exists():
            pytest.fail(f"no tests/golden/{name}: run `pytest --update-golden` and read what it writes", pytrace=False)
        expected = path.read_text(encoding="utf-8")
        if expected != text:
            diff = difflib.unified_diff(
                expected.splitlines(), text.splitlines(), f"tests/golden/{name}", "produced now", lineterm=""
            )
            shown = "\n".join(list(diff)[:120])
            pytest.fail(f"{shown}\n\nif the change is meant: pytest --update-golden", pytrace=False)

    return check
