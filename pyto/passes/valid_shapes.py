"""Clip stores at the ends of their tensors, and refuse what the memories' alignment cannot hold."""

from __future__ import annotations

from dataclasses import replace

from pyto.errors import CompileError
from pyto.ir.nodes import Const, Op, Program, TensorType, TileType, Var
from pyto.ir.ops import meet
from pyto.ir.scalar import apply, simplify
from pyto.passes.rewrite import Rewriter, rewrite


def valid_shapes(program: Program) -> Program:
    return replace(program, functions=tuple(rewrite(f, {"store": _store}) for f in program.functions))


def _store(rewriter: Rewriter, op: Op) -> None:
    tensor, tile, *offsets = op.args
    assert isinstance(tensor, Var) and isinstance(tensor.type, TensorType)
    assert isinstance(tile, Var) and isinstance(tile.type, TileType)
    room = []
    for axis, size in ((op.attrs["rows"], tile.type.shape[0]), (op.attrs["cols"], tile.type.shape[1])):
        left = Const(size) if axis is None else apply("max", Const(0), tensor.type.shape[axis] - offsets[axis])
        room.append(simplify(left, rewriter.ranges))
    valid = tuple(simplify(v, rewriter.ranges) for v in meet(tile.type.valid, (room[0], room[1])))
    if valid != tile.type.valid:
        if Const(0) in room:
            raise CompileError(
                "out-of-bounds", "the store starts beyond the end of the tensor", op.loc, remedy="check its offsets"
            )
        tile = rewriter.make("set_validshape", tile, room[0], room[1], hint=tile.name)
    rewriter.keep(op.with_(args=(tensor, tile, *offsets)))
