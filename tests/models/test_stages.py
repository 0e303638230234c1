"""The four stages at the 14B widths, compiled and run on this CPU, against float64; one build serves every batch."""

from __future__ import annotations

import numpy as np
import pytest

from pyto.models.qwen3_14b.config import QWEN3_14B
from pyto.models.qwen3_14b.reference import relative_l2
from pyto.models.qwen3_14b.stages import STAGES

BATCHES = (1, 5, 16, 33, 64)
ROWS = max(BATCHES)


@pytest.fixture(scope="module", params=list(STAGES))
def case(request):
    """A stage, its arguments for the largest batch, and what they give in float64: rows do not depend on each other."""
    stage = STAGES[request.param]
    arguments = stage.inputs(QWEN3_14B, ROWS, seed=14)
    return stage, arguments, stage.reference(QWEN3_14B, arguments)


def first_rows(arrays, batch):
    """The arguments of the first `batch` rows: what is ROWS long is cut, weights and tables are not."""
    return {name: a[:batch].copy() if a.shape[0] == ROWS else a for name, a in arrays.items()}


@pytest.mark.parametrize("batch", BATCHES)
def test_against_float64(case, batch):
    stage, arguments, want = case
    args = first_rows(arguments, batch)
    stage.kernel(*args.values())
    for name, value in want.items():
        assert relative_l2(args[name], value[:batch]) <= stage.bound, name
        # No single row hides among the others.
        for row in range(batch):
            assert relative_l2(args[name][row], value[row]) <= 2 * stage.bound, (name, row)
    if stage.name == "swiglu":  # the residual is the larger part of x: what was added has to be right by itself
        added = want["x"][:batch] - arguments["x"][:batch]
        assert relative_l2(args["x"] - arguments["x"][:batch], added) <= 5e-4


def test_same_input_same_bits(case):
    stage, arguments, want = case
    one, two = first_rows(arguments, 16), first_rows(arguments, 16)
    stage.kernel(*one.values())
    stage.kernel(*two.values())
    for name in want:
        np.testing.assert_array_equal(one[name].view(np.uint8), two[name].view(np.uint8))
