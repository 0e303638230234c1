"""The op table: every operation is declared here once and everything else reads it.

The front end takes parameters and types from it, the verifier its inference and stages, the interpreter its numpy
meaning, the passes what it is composed of, code generation its Ascend C, the language reference its text.
"""

from __future__ import annotations

from pyto.ir.infer import CAST_MODES, CAST_PAIRS, CUBE_INPUTS, OpError, describe, meet
from pyto.ir.ops import (
    bitwise,
    broadcast,
    control,
    data,
    derived,
    elementwise,
    lowered,
    masks,
    matrix,
    memory,
    reductions,
)
from pyto.ir.ops.table import OPS, STAGES, Composer, OpDef, Way, declare

__all__ = [
    "CAST_MODES",
    "CAST_PAIRS",
    "CUBE_INPUTS",
    "OPS",
    "STAGES",
    "Composer",
    "OpDef",
    "OpError",
    "Way",
    "bitwise",
    "broadcast",
    "control",
    "data",
    "declare",
    "derived",
    "describe",
    "elementwise",
    "lowered",
    "masks",
    "matrix",
    "meet",
    "memory",
    "reductions",
]
