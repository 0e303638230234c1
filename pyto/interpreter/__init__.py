"""What the IR means, on numpy: the oracle that code generation and the simulator are tested against.

`run` gives all three stages their meaning. Tensor and tile stage work on SSA tiles; lanes outside a tile's valid shape
are poisoned (NaN, or a pattern for integers), so that a result that depends on them shows. The machine stage works on
bytes of the core's memories at the planned addresses, so that a wrong plan shows. Events have no numeric meaning.

Numbers: fp32 in fp32; fp16 and bf16 elementwise in fp32, then rounded; matmul of floats accumulates in fp32, of int8 in
int32; casts to floats round to nearest even, to integers they saturate and NaN becomes 0.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np

from pyto.interpreter import data, machine, tiles  # noqa: F401 - they register what their operations mean
from pyto.interpreter.arguments import bind
from pyto.interpreter.core import Core
from pyto.ir.nodes import Program
from pyto.numerics import Array


def run(
    program: Program,
    tensors: Mapping[str, Array],
    scalars: Mapping[str, int | float] | None = None,
    *,
    seed: int | None = None,
    cores: int = 48,
) -> None:
    """Runs a program of any stage; out and inout arrays are written in place.

    tensors: the host function's tensors by name, C order, of exactly the dtypes and extents of the signature; bf16 as
    `ml_dtypes.bfloat16`. Dims are bound from them. scalars: its scalar parameters. seed: run parallel iterations and
    blocks in an order shuffled by it instead of ascending. cores: at most so many blocks a launch.
    Raises LaunchError for arguments that do not fit and for indices that leave their tensor or tile, InternalError for
    a program that has no meaning.
    """
    order = random.Random(seed) if seed is not None else None
    core = Core(program, bind(program.host, tensors, scalars or {}), order, cores)
    with np.errstate(all="ignore"):
        core.block(program.host.body)


__all__ = ["run"]
