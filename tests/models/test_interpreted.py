"""The four stages at small widths: the interpreter at every IR stage, and the compiled kernel, against float64."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pyto import compiler
from pyto.interpreter import run
from pyto.models.qwen3_14b.config import QWEN3_14B
from pyto.models.qwen3_14b.reference import relative_l2, wide
from pyto.models.qwen3_14b.stages import STAGES

# K of 2 and 3 tiles; query heads that are not `hidden` wide; two tiles of KV heads; a vocabulary that ends in a tile.
SMALL = replace(
    QWEN3_14B, name="small", hidden=1024, intermediate=1536, num_heads=4, num_kv_heads=1, vocab=640 + 48, real_vocab=640
)
BATCHES = (1, 5, 16, 33, 65)


@pytest.fixture(scope="module", params=list(STAGES))
def case(request):
    """A stage and the small program as every pass leaves it."""
    stage = STAGES[request.param]
    return stage, compiler.lower(stage.make(SMALL)).stages


@pytest.mark.parametrize("batch", BATCHES)
def test_every_pass_keeps_the_meaning(case, batch):
    """Blocks run in a shuffled order on a few cores, so that each core has several."""
    stage, passes = case
    arguments = stage.inputs(SMALL, batch)
    want = stage.reference(SMALL, arguments)
    for one in passes:
        got = {name: a.copy() for name, a in arguments.items()}
        run(one.program, got, seed=batch, cores=3)
        for name, value in want.items():
            assert relative_l2(got[name], value) <= stage.bound, (one.name, name)


@pytest.mark.parametrize("batch", BATCHES)
def test_compiled_equals_interpreted(case, batch):
    """Without a product or an exp in it to the last bit; else a tenth of what is allowed against float64."""
    stage, passes = case
    compiled = stage.inputs(SMALL, batch)
    interpreted = {name: a.copy() for name, a in compiled.items()}
    outputs = stage.reference(SMALL, compiled).keys()
    stage.make(SMALL)(*compiled.values())
    run(passes[-1].program, interpreted)
    for name in outputs:
        if stage.name == "rms_norm":
            np.testing.assert_array_equal(compiled[name].view(np.uint16), interpreted[name].view(np.uint16))
        else:
            assert relative_l2(compiled[name], wide(interpreted[name])) <= stage.bound / 10, name
