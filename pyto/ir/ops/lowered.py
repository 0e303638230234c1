"""Operations of the vector unit that only passes make."""

from __future__ import annotations

from pyto.ir import infer
from pyto.ir.ops.table import LOWERED, declare

declare(
    "brcb",
    params=("src",),
    infer=infer.brcb,
    pipe="V",
    cost="add",
    form="brcb",
    api="Brcb",
    stages=LOWERED,
    doc="Each source element to a block of 32 B: [R, 1] -> [R, 8 or 16].",
)
declare(
    "copy",
    params=("src",),
    infer=lambda args, attrs: args[0],
    pipe="V",
    cost="add",
    form="copy",
    api="Copy",
    in_place=(0,),
    stages=LOWERED,
    doc="UB to UB.",
)
