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
declare(
    "bitcast",
    params=("src",),
    attrs=("dtype",),
    infer=infer.bitcast,
    stages=("tile",),
    doc="The same bytes as elements of another type of the same width; shares memory.",
)
declare(
    "every_other",
    params=("src",),
    attrs=("odd",),
    infer=infer.every_other,
    pipe="V",
    cost="reduce",
    form="every_other",
    api="GatherMask",
    stages=LOWERED,
    doc="The even (or odd) elements of a tile without gaps, side by side: [R, C] -> [1, R * C / 2].",
)
