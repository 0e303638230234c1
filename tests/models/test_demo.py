"""The demo's table, its line counts and its verdict."""

from __future__ import annotations

import pytest

import pyto.language as pl
from pyto.models.qwen3_14b import demo
from pyto.models.qwen3_14b.stages import STAGES


@pl.jit.inline
def half(t: pl.Tensor) -> pl.Tensor:
    """Not counted."""

    # nor is this
    return t * 0.5


@pl.jit
def kernel(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[0:8, :] = half(half(x[0:8, :]))


def test_lines_of_dsl():
    assert [f.name for f in demo.functions_of(kernel)] == ["kernel", "half"]
    assert [demo.code_lines(f) for f in (kernel, half)] == [4, 3]
    names = {f.name for f in demo.functions_of(STAGES["qkv_rope"].kernel)}
    assert names == {"qkv_rope", "normalize_rows", "project", "project_tile", "norm_and_rotate"}


def test_one_stage(capsys):
    assert demo.main(["rms_norm", "--batch", "3", "--repeat", "1"]) == 0
    out = capsys.readouterr().out
    assert "rms_norm" in out and "swiglu" not in out
    assert "every stage is within its allowed error" in out


def test_an_error_beyond_its_bound_fails(capsys, monkeypatch):
    monkeypatch.setattr(demo, "relative_l2", lambda got, want: 5e-3)
    assert demo.main(["rms_norm", "--batch", "1", "--repeat", "1"]) == 1
    assert "LARGER" in capsys.readouterr().out


def test_unknown_stage():
    with pytest.raises(SystemExit):
        demo.main(["attention"])
