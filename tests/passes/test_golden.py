"""Each pass on a small kernel: the text before and after."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyto import compiler
from pyto.passes import PASSES

CODEGEN = Path(__file__).parents[1] / "codegen"
KERNELS = {
    **compiler.find_kernels(CODEGEN / "kernels.py"),
    **compiler.find_kernels(CODEGEN / "mixed_kernels.py"),
}
SHOWN = {
    "simplify": "add_one",
    "valid_shapes": "add_one",
    "outline": "add_one",
    "split_mixed": "there_and_back",
    "roll": "matmul_peeled",
    "tile_matmul": "matmul_peeled",
    "legalize": "softmax",
    "bufferize": "pipelined_scale",
    "plan_memory": "pipelined_scale",
    "insert_sync": "pipelined_scale",
    "name_scalars": "pipelined_scale",
}


@pytest.mark.parametrize("name", SHOWN)
def test_before_and_after(name: str, golden) -> None:  # type: ignore[no-untyped-def]
    stages = compiler.lower(KERNELS[SHOWN[name]]).stages
    at = [s.name for s in stages].index(name)
    golden(f"passes/{name}.txt", f"==== before\n{stages[at - 1].text}\n==== after {name}\n{stages[at].text}")


def test_every_pass_is_shown() -> None:
    assert {p.__name__ for p in PASSES} == set(SHOWN)
