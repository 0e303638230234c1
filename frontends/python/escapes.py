"""Values that outlive the code that made them: tiles read behind their region, new tensors that a kernel returns."""

from __future__ import annotations

import ast
from typing import Any

from pyto.frontends.python.frame import Frame
from pyto.frontends.python.values import is_tensor, is_tile
from pyto.ir.nodes import BOOL, Const, Param, TensorType, TileType, Var, const


def escape(frame: Frame, before: dict[str, Any], live: frozenset[str], node: ast.AST) -> list[Var]:
    """At the end of a region: stores each tile that is read behind it to a tensor of its own. Gives those tensors.

    A tile of which a part only is valid stays what it is: the tensor would not know which.
    """
    kept: dict[Var, Var] = {}
    for name, value in list(frame.env.items()):
        if name in live and before.get(name) is not value and _fits(value):
            frame.env[name] = _stored(frame, value, name, kept, node)
    if isinstance(frame.returned, (tuple, list)):
        frame.returned = tuple(_stored(frame, v, "", kept, node) if _fits(v) else v for v in frame.returned)
    elif _fits(frame.returned):
        frame.returned = _stored(frame, frame.returned, "", kept, node)
    return list(kept.values())


def _fits(value: Any) -> bool:
    if not is_tile(value):
        return False
    type = value.type
    assert isinstance(type, TileType)
    return type.dtype != BOOL and type.valid == tuple(const(s) for s in type.shape)


def _stored(frame: Frame, tile: Var, name: str, kept: dict[Var, Var], node: ast.AST) -> Var:
    if tile not in kept:
        assert isinstance(tile.type, TileType)
        session = frame.session
        shape = tuple(const(s) for s in tile.type.shape)
        tensor = session.builder.var(name or tile.name, TensorType(shape, tile.type.dtype))
        frame.emit("store", (tensor, tile, Const(0), Const(0)), {"rows": 0, "cols": 1, "atomic": None}, node)
        session.written.add(tensor)
        session.directions[tensor] = "workspace"
        kept[tile] = tensor
    return kept[tile]


def promote(frame: Frame, tensor: Var) -> bool:
    """Makes a tensor that the kernel created an output behind its parameters, if it is one for all of the kernel."""
    session = frame.session
    if session.directions.get(tensor) != "workspace" or not is_tensor(tensor):
        return False
    for i, op in enumerate(session.builder.ops):
        if op.name == "create_tensor" and op.results == (tensor,):
            del session.builder.ops[i]
            session.outputs.append(Param(tensor, "out", op.loc))
            session.directions[tensor] = "out"
            return True
    return False


__all__ = ["escape", "promote"]
