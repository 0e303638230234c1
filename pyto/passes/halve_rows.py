"""The vector part of a mixed region on the two vector cores of a block.

Both cores run the same code; what they store in GM, the first one stores.
"""

from __future__ import annotations

from dataclasses import replace

from pyto.ir.nodes import Const, Function, Op, TileType, Var
from pyto.passes.rewrite import Rewriter, rewrite


def halve_rows(function: Function) -> Function:
    half = function.body.params[2]

    def store(rewriter: Rewriter, op: Op) -> None:
        tensor, tile, *offsets = op.args
        assert isinstance(tile, Var) and isinstance(tile.type, TileType)
        rows, cols = tile.type.valid
        mine = replace(tile.type, valid=(rows * (Const(1) - half), cols))
        rewriter.keep(op.with_(args=(tensor, rewriter.make("set_validshape", tile, *mine.valid, type=mine), *offsets)))

    return rewrite(function, {"store": store})
