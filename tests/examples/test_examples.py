"""Every example runs and agrees with its reference; its page is what its file says."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.examples.page import NAMES, ROOT, pages

FOLDER = ROOT / "examples"


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(FOLDER))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module.EXAMPLE


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_its_reference(name: str) -> None:
    example = load(name)
    assert len(example.sizes) >= 3
    for size in example.sizes:
        assert example.error(size) <= example.tolerance, size


def test_a_wrong_kernel_would_be_noticed() -> None:
    example = load("add")
    other = type(example)(
        example.kernel, example.sizes, example.arguments, lambda x, y, z: [x - y], example.tolerance, example.outputs
    )
    assert other.error(example.sizes[0]) > 1


def test_runs_by_itself() -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, str(FOLDER / "add.py")], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3 and "error 0.0e+00" in done.stdout


def test_pages_are_fresh() -> None:
    folder = ROOT / "docs" / "examples"
    assert {p.stem for p in folder.glob("*.md")} == set(NAMES)
    for path, text in pages().items():
        assert path.read_text(encoding="utf-8") == text, "python -m tests.examples.page"
