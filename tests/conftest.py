"""Fixtures of all tests."""

from __future__ import annotations

import difflib
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

# Before numpy is loaded: on a busy machine small products wait far longer for BLAS threads than they run.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

from pyto.build import Cache, Simulator, load_simulator

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


def _minisim() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pyto_tests_minisim", Path(__file__).parent / "build" / "minisim.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def mini_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a simulator of three macros, for tests of the build that must compile in a blink."""
    root: Path = _minisim().write(tmp_path_factory.mktemp("minisim") / "sim")
    return root


@pytest.fixture
def mini(mini_root: Path) -> Simulator:
    return load_simulator(mini_root)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """A build cache of the test's own."""
    return Cache(tmp_path / "cache")
