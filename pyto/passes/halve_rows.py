"""The vector part of a mixed region on the two vector cores of a block.

Each core works on half of the rows of a tile where every operation on it, and on what is made with it, treats rows
apart. All other tiles both cores make as a whole, and the first core stores them.
"""

from __future__ import annotations

from dataclasses import replace

from pyto.ir.builder import names_of
from pyto.ir.nodes import BOOL, LOOPS, Block, Const, Expr, Function, Op, TileType, Type, Var, const
from pyto.ir.ops import OPS
from pyto.ir.scalar import apply, substitute
from pyto.passes.homes import PRODUCTS, carried_values
from pyto.passes.rewrite import rewrite

BY_ROWS = frozenset(  # forms of operations
    {"elementwise", "composed", "part", "cmp", "sel", "cast", "row_expand", "col_expand", "full", "fillpad"}
)
ALSO_BY_ROWS = frozenset({"set_validshape", "empty"})
EITHER_CORE = frozenset({"store", "yield", "break", "barrier", "cross_set", "cross_wait"})
UNIT = 16  # rows: half of them are whole blocks of a column of 32-bit elements


def halved_tiles(body: Block, tiles: set[Var]) -> set[Var]:
    """Those of `tiles` of which each core takes half of the rows."""
    return _Halves(body, tiles).found()


class _Halves:
    """Tiles that are halved together or not at all."""

    def __init__(self, body: Block, tiles: set[Var]) -> None:
        self.tiles = tiles
        self.parent: dict[Var, Var] = {v: v for v in tiles}
        self.whole = {v for v in tiles if rows_of(v) % UNIT}
        self._block(body)

    def found(self) -> set[Var]:
        whole = {self._root(v) for v in self.whole}
        return {v for v in self.tiles if self._root(v) not in whole}

    def _root(self, v: Var) -> Var:
        while self.parent[v] != v:
            v = self.parent[v]
        return v

    def _together(self, *values: Expr) -> None:
        found = [v for v in values if v in self.tiles]
        for v in found[1:]:
            self.parent[self._root(v)] = self._root(found[0])  # type: ignore[arg-type, index]

    def _block(self, block: Block) -> None:
        for op in block.ops:
            for inner in op.blocks:
                self._block(inner)
            if op.name in LOOPS:
                for (param, first, last), result in zip(carried_values(op), op.results):
                    self._together(param, first, last, result)
            elif op.name == "if":
                for i, result in enumerate(op.results):
                    self._together(result, *(b.ops[-1].args[i] for b in op.blocks))
            elif op.name not in PRODUCTS and op.name != "yield":
                values = [v for v in (*op.results, *op.args) if v in self.tiles]
                several = [v for v in values if rows_of(v) > 1]
                if _by_rows(op) and len({rows_of(v) for v in several}) < 2:
                    self._together(*several)
                else:
                    self.whole.update(values)


def rows_of(value: Expr) -> int:
    assert isinstance(value, Var) and isinstance(value.type, TileType)
    return value.type.shape[0]


def _by_rows(op: Op) -> bool:
    """Whether an operation treats the rows of its tiles apart: row i of its result comes from row i of its operands."""
    if op.name in ("load", "store"):
        return op.attrs["rows"] is not None
    if op.name in ("slice", "assemble"):
        part = op.result if op.name == "slice" else op.args[1]
        return op.args[-2] == Const(0) and rows_of(part) == rows_of(op.args[0])
    if OPS[op.name].form == "reduce":
        return op.name.startswith("row_")
    return OPS[op.name].form in BY_ROWS or op.name in ALSO_BY_ROWS


def halve_rows(function: Function, halved: set[Var]) -> Function:
    """The function with half of the rows of the `halved` tiles, by its parameter for which of the two cores it is."""
    return rewrite(_Halver(function, halved).run(), {})


class _Halver:
    def __init__(self, function: Function, halved: set[Var]) -> None:
        self.function, self.names = function, names_of(function)
        self.sub = function.body.params[2]
        self.env: dict[Var, Expr] = {v: Var(v.name, self._half(v.type)) for v in halved}

    def run(self) -> Function:
        return self.function.with_(body=self._block(self.function.body))

    def _half(self, t: Type) -> TileType:
        assert isinstance(t, TileType)
        middle = t.shape[0] // 2
        return replace(t, shape=(middle, t.shape[1]), valid=(self._rows(t.valid[0], middle), t.valid[1]))

    def _rows(self, rows: Expr, middle: int) -> Expr:
        """How many of a tile's valid rows lie in this core's half."""
        if rows == const(2 * middle):
            return const(middle)
        return apply("max", Const(0), apply("min", const(middle), rows - self.sub * middle))

    def _var(self, v: Var) -> Var:
        return self.env.get(v, v)  # type: ignore[return-value]

    def _block(self, block: Block) -> Block:
        ops: list[Op] = []
        for op in block.ops:
            self._op(op, ops)
        return Block(tuple(self._var(p) for p in block.params), tuple(ops))

    def _op(self, op: Op, out: list[Op]) -> None:
        attrs = op.attrs
        made = next((r for r in op.results if r in self.env), None)
        if made is not None and "shape" in attrs:
            attrs = {**attrs, "shape": (rows_of(self._var(made)), attrs["shape"][1])}
        args = [substitute(a, self.env) for a in op.args]
        if made is not None and op.name == "load":
            args[1 + attrs["rows"]] += self.sub * rows_of(self._var(made))
        elif made is not None and op.name == "set_validshape":
            args[1] = self._rows(op.args[1], rows_of(self._var(made)))
        elif op.name == "store" and op.args[1] in self.env:
            args[2 + attrs["rows"]] += self.sub * rows_of(args[1])
        elif op.name == "store":
            args[1] = self._of_first(op.args[1], op, out)
        results = tuple(self._var(r) for r in op.results)
        blocks = tuple(self._block(b) for b in op.blocks)
        op = op.with_(args=tuple(args), results=results, attrs=attrs, blocks=blocks)
        if op.results or op.blocks or op.name in EITHER_CORE:
            out.append(op)
        else:  # an effect that is to happen once
            done = Op("yield", loc=op.loc)
            branches = Block((), (op, done)), Block((), (done,))
            out.append(Op("if", (apply("eq", self.sub, Const(0), dtype=BOOL),), (), {}, branches, op.loc))

    def _of_first(self, tile: Expr, op: Op, out: list[Op]) -> Var:
        """The tile on the first core; on the second one its valid part is empty."""
        assert isinstance(tile, Var) and isinstance(tile.type, TileType)
        valid = tile.type.valid[0] * (Const(1) - self.sub), tile.type.valid[1]
        mine = Var(self.names.fresh(tile.name), replace(tile.type, valid=valid))
        out.append(Op("set_validshape", (tile, *valid), (mine,), {}, (), op.loc))
        return mine
