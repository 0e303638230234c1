"""The passes, in order. Each is `Program -> Program` and stands in a module of its name."""

from __future__ import annotations

from collections.abc import Callable

from pyto.ir.nodes import Program, walk
from pyto.passes.bufferize import bufferize
from pyto.passes.insert_sync import insert_sync
from pyto.passes.legalize import legalize
from pyto.passes.name_scalars import name_scalars
from pyto.passes.outline import outline
from pyto.passes.plan_memory import plan_memory
from pyto.passes.roll import roll
from pyto.passes.simplify import simplify
from pyto.passes.split_mixed import split_mixed
from pyto.passes.tile_matmul import tile_matmul
from pyto.passes.valid_shapes import valid_shapes

Pass = Callable[..., Program]

PASSES: tuple[Pass, ...] = (
    simplify,  # fold index arithmetic, decide valid shapes
    valid_shapes,  # clip stores at the ends of tensors
    outline,  # regions to device functions, blocks over cores (tensor -> tile stage)
    split_mixed,  # regions with cube and vector work to a part for each, joined by rings in GM
    roll,  # peeled first steps of reductions into their loops
    tile_matmul,  # memory spaces and L0 steps of the cube
    legalize,  # what the vector unit lacks, composed of what it has
    simplify,
    bufferize,  # buffers, in-place reuse, ping-pong slots (tile -> machine stage)
    plan_memory,  # addresses
    insert_sync,  # events and barriers
    name_scalars,  # what is computed more than once
)


def remaining(program: Program) -> tuple[Pass, ...]:
    """The passes that `program`, of any stage, has yet to go through: all of them at the tensor stage.

    At the machine stage addresses are planned unless every buffer has one, and events inserted unless there are any.
    """
    if program.stage == "tensor":
        return PASSES
    if program.stage == "tile":
        return PASSES[PASSES.index(outline) + 1 :]
    ops = [op for f in program.device for op in walk(f.body)]
    done: set[Pass] = set()
    if all(op.attrs.get("offset") is not None for op in ops if op.name == "alloc"):
        done.add(plan_memory)
    if any(op.name in EVENTS or (op.name == "barrier" and op.attrs["pipe"] != "ALL") for op in ops):
        done.add(insert_sync)
    return tuple(p for p in PASSES[PASSES.index(bufferize) + 1 :] if p not in done)


EVENTS = frozenset({"set_flag", "wait_flag"})
FOR_CHIP = frozenset({split_mixed, tile_matmul, bufferize, plan_memory})  # these take the chip as a second argument

__all__ = ["FOR_CHIP", "PASSES", "Pass", "remaining"]
