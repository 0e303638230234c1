"""Where the tiles of a device function are defined and last used, in program order."""

from __future__ import annotations

from dataclasses import dataclass

from pyto.ir.nodes import Block, Expr, Function, Op, TileType, Var
from pyto.ir.scalar import variables


def is_tile(value: Expr) -> bool:
    return isinstance(value, Var) and isinstance(value.type, TileType)


@dataclass
class Life:
    """`start` and `end` are positions; `loops` are the loops around the definition, each named by its index."""

    start: int
    end: int
    loops: tuple[Var, ...]


class Liveness:
    """`of[value]`; a use inside a loop of a value from outside lasts until that loop ends."""

    def __init__(self, function: Function) -> None:
        self.of: dict[Var, Life] = {}
        self.clock = 0
        self._block(function.body, ())

    def _block(self, block: Block, loops: tuple[Var, ...]) -> None:
        for op in block.ops:
            self.clock += 1
            for arg in op.args:
                for var in variables(arg):
                    if var in self.of:
                        self.of[var].end = self.clock
            if op.name == "for":
                self._loop(op, loops)
            for result in op.results:
                if is_tile(result):
                    self.of[result] = Life(self.clock, self.clock, loops)

    def _loop(self, op: Op, loops: tuple[Var, ...]) -> None:
        (body,) = op.blocks
        inner = (*loops, body.params[0])
        started = self.clock
        for param in body.params:
            if is_tile(param):
                self.of[param] = Life(self.clock, self.clock, inner)
        self._block(body, inner)
        self.clock += 1
        for life in self.of.values():
            if life.end > started and life.loops[: len(inner)] != inner:
                life.end = self.clock
