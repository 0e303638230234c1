"""What offsets are certain multiples of, and which windows of tiles the cube can address."""

from __future__ import annotations

from pyto.ir.nodes import Apply, Const, Expr, Function, TileType, Var, walk
from pyto.ir.scalar import linear
from pyto.target import BLOCK, FRACTAL


class Multiples:
    """`multiples(expr, unit)`: whether an offset in a function is certainly a multiple of `unit`."""

    def __init__(self, function: Function) -> None:
        self.steps: dict[Expr, tuple[Expr, ...]] = {}  # what a scalar is a sum of multiples of
        for op in walk(function.body):
            if op.name == "for":
                self.steps[op.blocks[0].params[0]] = op.args[0], op.args[2]
            elif op.name == "let":
                self.steps[op.result] = (op.args[0],)

    def __call__(self, expr: Expr, unit: int) -> bool:
        terms, rest = linear(expr)
        return rest % unit == 0 and all(c % unit == 0 or self._atom(a, c, unit) for a, c in terms.items())

    def _atom(self, atom: Expr, factor: int, unit: int) -> bool:
        if isinstance(atom, Apply) and atom.op in ("min", "max", "select"):
            return all(self(a * factor, unit) for a in atom.args[atom.op == "select" :])
        return isinstance(atom, Var) and atom in self.steps and all(self(e * factor, unit) for e in self.steps[atom])

    def operand(self, t: TileType, row: Expr, col: Expr) -> bool:
        """Whether the cube can take a window that starts there in L1."""
        unit = max(FRACTAL, BLOCK // t.dtype.bytes)
        return self(row, unit) and self(col, unit)

    def accumulator(self, whole: TileType, part: TileType, row: Expr, col: Expr) -> bool:
        """Whether a product can be added to a window of an accumulator: whole fractals, and blocks of rows."""
        height = part.shape[0]
        if height == whole.shape[0]:
            return row == Const(0) and self(col, FRACTAL)
        return height % FRACTAL == 0 and self(row, height) and self(col, FRACTAL)
