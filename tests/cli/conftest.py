"""Running the command line in this process, on small kernels of the tests' own."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from pyto.cli.app import main

KERNELS = """\
import pyto.language as pl

B = pl.dynamic("B")


@pl.jit
def double(x: pl.Tensor[[B, 64], pl.FP32], out: pl.Out[pl.Tensor[[B, 64], pl.FP32]]):
    for b in pl.parallel(0, pl.tensor.dim(x, 0), 1):
        with pl.at(level=pl.Level.CORE_GROUP):
            out[b : b + 1, :] = x[b : b + 1, :] * 2.0


@pl.jit
def to_bf16(x: pl.Tensor[[B, 64], pl.FP32], out: pl.Out[pl.Tensor[[B, 64], pl.BF16]]):
    for b in pl.parallel(0, pl.tensor.dim(x, 0), 1):
        with pl.at(level=pl.Level.CORE_GROUP):
            out[b : b + 1, :] = pl.cast(x[b : b + 1, :], target_type=pl.BF16)
"""


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture(scope="session")
def session_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One build cache for the tests of this folder, unless the environment names one to share."""
    named = os.environ.get("PYTO_TEST_CACHE_DIR")
    return Path(named) if named else tmp_path_factory.mktemp("pyto-cache")


@pytest.fixture
def pyto(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, session_cache: Path, tmp_path: Path
) -> Run:
    """`pyto("run", "k.py:double")` in an empty folder: exit code, stdout, stderr."""
    monkeypatch.setenv("PYTO_CACHE_DIR", str(session_cache))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "PYTO_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> Result:
        capfd.readouterr()
        code = main(list(args))
        out, err = capfd.readouterr()
        assert not re.search(r"\x1b\[", out + err), "colour where NO_COLOR is set"
        return Result(code, out, err)

    return run


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    path = tmp_path / "k.py"
    path.write_text(KERNELS)
    return path
