"""What random programs found, made small and mended: `found/*.pto`, each with what was wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyto.frontends.text import load
from pyto.ir.nodes import TensorType, TileType, walk
from tests.random.check import interpreted
from tests.random.native import generated, simulated
from tests.random.programs import Made, filled
from tests.random.values import Facts

FOUND = sorted((Path(__file__).parent / "found").glob("*.pto"))


def made(path: Path) -> Made:
    program = load(path)
    tensors = [p for p in program.host.params if isinstance(p.var.type, TensorType)]
    outputs = {
        p.var.name: Facts(-1e30, 1e30, 1e-4 if p.var.dtype.kind == "f" else 0.0, p.var.dtype.kind != "f")
        for p in tensors
        if p.direction != "in"
    }
    tiles = [r.type for op in walk(program.host.body) for r in op.results if isinstance(r.type, TileType)]
    return Made(program, outputs, {p.var.name: filled(p.var.dtype) for p in tensors}, tiles[0].shape[0], None)


@pytest.mark.parametrize("path", FOUND, ids=lambda p: p.stem)
def test_every_pass_keeps_the_meaning(path: Path) -> None:
    for seed in range(3):  # `count` is 2, 1 and 0
        interpreted(made(path), seed)


def test_compiled() -> None:
    for seed in range(2):
        batch = []
        for i, path in enumerate(FOUND):
            one = made(path)
            batch.append(generated(3 * i + seed, one, interpreted(one, seed)))
        assert not simulated(batch, "random_found")
