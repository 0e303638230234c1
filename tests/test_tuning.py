"""`pl.autotune`, and the estimate that ranks its configurations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import pyto.language as pl
from pyto import compiler, tuning
from pyto.errors import CompileError, UsageError
from pyto.estimate import predicted_seconds
from pyto.models.qwen3_14b.stages import STAGES

N = pl.dynamic("N")
TILE = STAGE = 0  # given by pl.autotune


@pl.autotune(TILE=[1, 32, 4096], STAGE=[1, 2], top=2)
@pl.jit
def scaled(x: pl.Tensor[[N, 128], pl.FP32], y: pl.InOut[pl.Tensor[[N, 128], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.pipeline(0, N, TILE, stage=STAGE):
            y[i : i + TILE, :] = y[i : i + TILE, :] + x[i : i + TILE, :] * 2.0


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Choices of earlier tests are forgotten; libraries are built again only where they differ."""
    monkeypatch.setattr(tuning, "_chosen", {})
    monkeypatch.setattr(tuning, "cache_dir", lambda: tmp_path)
    return tmp_path


def test_the_best_is_chosen_and_remembered(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.ones((300, 128), np.float32), np.zeros((300, 128), np.float32)
    scaled(x, y)
    assert (y == 2).all()  # the timing ran on copies
    (file,) = (cache / "v1" / "autotune").iterdir()
    best = scaled.best(x, y)
    assert best["TILE"] == 32 and (y == 2).all()
    assert json.loads(file.read_text())["constants"] == {k: repr(v) for k, v in best.items()}
    monkeypatch.setattr(tuning, "_chosen", {})
    monkeypatch.setattr(tuning, "_measure", None)  # not called again
    assert scaled.best(x, y) == best


def test_a_known_choice_compiles_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.ones((40, 128), np.float32), np.zeros((40, 128), np.float32)
    scaled(x, y)
    monkeypatch.setattr(compiler, "lower", None)
    scaled(x, y)
    assert (y == 4).all()


def test_a_broken_memory_of_choices_is_measured_again(cache: Path) -> None:
    x, y = np.ones((40, 128), np.float32), np.zeros((40, 128), np.float32)
    best = scaled.best(x, y)
    (file,) = (cache / "v1" / "autotune").iterdir()
    file.write_text("{]")
    tuning._chosen.clear()
    assert scaled.best(x, y) in ({**best, "STAGE": 1}, {**best, "STAGE": 2})


def test_larger_tiles_and_overlap_are_predicted_faster() -> None:
    def seconds(tile: int, stage: int) -> float:
        (one,) = (c for c in scaled.candidates if c.constants == {"TILE": tile, "STAGE": stage})
        return predicted_seconds(compiler.lower(one).program, {"N": 300})

    assert seconds(32, 2) < seconds(32, 1) < seconds(1, 1)


def test_what_never_fits_is_refused(cache: Path) -> None:
    x, y = np.ones((4, 128), np.float32), np.ones((4, 128), np.float32)
    with pytest.raises(UsageError, match="does not read OTHER") as refused:
        pl.autotune(TILE=[32], STAGE=[1], OTHER=[1])(pl.jit(scaled.fn))(x, y)
    assert refused.value.id == "autotune"
    with pytest.raises(CompileError) as failed:
        pl.autotune(TILE=[4096], STAGE=[1])(pl.jit(scaled.fn))(x, y)
    assert failed.value.id == "memory-overflow"


@pytest.mark.parametrize("choices", [{}, {"TILE": []}, {"TILE": 3}, {"TILE": "ab"}])
def test_bad_choices(choices: dict[str, object]) -> None:
    with pytest.raises(UsageError) as refused:
        pl.autotune(**choices)
    assert refused.value.id == "autotune"


def test_only_kernels_are_tuned() -> None:
    with pytest.raises(UsageError, match="above @pl"):
        pl.autotune(TILE=[1])(scaled.fn)


@pytest.mark.parametrize("name", sorted(STAGES))
def test_the_stages_of_qwen3_have_a_prediction(name: str) -> None:
    """More rows never take less, and no stage takes longer than three published layers."""
    program = compiler.lower(STAGES[name].kernel).program
    one, many = (predicted_seconds(program, {d.name: n for d in program.host.dims}) for n in (1, 64))
    assert 0 < one <= many < 3e-3
