"""Where the tiles of a device function are defined and used, in program order."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyto.ir.nodes import LOOPS, Block, Expr, Function, Op, TileType, Var
from pyto.ir.scalar import variables


def is_tile(value: Expr) -> bool:
    return isinstance(value, Var) and isinstance(value.type, TileType)


@dataclass
class Life:
    """`start` and `uses` are positions; `loops` are the loops around the definition, each named by its index."""

    start: int
    loops: tuple[Var, ...]
    uses: list[int] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.uses[-1] if self.uses else self.start


class Liveness:
    """`of[value]`; a use inside a loop of a value from outside lasts until that loop ends."""

    def __init__(self, function: Function) -> None:
        self.of: dict[Var, Life] = {}
        self.clock = 0
        self.branches: list[tuple[int, int, int]] = []  # of each `if`: start, end of the first block, end
        self.carried: list[tuple[Var, ...]] = []  # by the loops around
        self._block(function.body, ())

    def needed_after(self, value: Var, position: int) -> bool:
        """Whether a use follows `position` on a path through it: what the other block of an `if` does is on none."""
        return any(use > position and not self._apart(position, use) for use in self.of[value].uses)

    def _apart(self, position: int, use: int) -> bool:
        return any(start < position <= middle < use <= end for start, middle, end in self.branches)

    def _block(self, block: Block, loops: tuple[Var, ...]) -> None:
        for op in block.ops:
            self.clock += 1
            for arg in op.args:
                for var in variables(arg):
                    if var in self.of:
                        self.of[var].uses.append(self.clock)
            if op.name == "break":  # the loop's results are what it carries here
                for param in self.carried[-1]:
                    if param in self.of:
                        self.of[param].uses.append(self.clock)
            if op.name in LOOPS:
                self._loop(op, loops)
            elif op.name == "if":
                start = self.clock
                self._block(op.blocks[0], loops)
                middle = self.clock
                self._block(op.blocks[1], loops)
                self.branches.append((start, middle, self.clock))
                self.clock += 1
            for result in op.results:
                if is_tile(result):
                    self.of[result] = Life(self.clock, loops)

    def _loop(self, op: Op, loops: tuple[Var, ...]) -> None:
        (body,) = op.blocks
        inner = (*loops, body.params[0])
        started = self.clock
        for param in body.params:
            if is_tile(param):
                self.of[param] = Life(self.clock, inner)
        self.carried.append(body.params[1:])
        self._block(body, inner)
        self.carried.pop()
        self.clock += 1
        for life in self.of.values():
            if life.end > started and life.loops[: len(inner)] != inner:
                life.uses.append(self.clock)
