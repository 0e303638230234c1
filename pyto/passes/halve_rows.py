"""The vector part of a mixed region on the two vector cores of a block.

Each core works on half of the rows of a tile where every operation on it, and on what is made with it, treats rows
apart. All other tiles both cores make as a whole, and the first core stores them.
"""

from __future__ import annotations

from dataclasses import replace

from pyto.ir.nodes import Block, Const, Expr, Function, Op, TileType, Type, Var, const
from pyto.ir.ops import OPS
from pyto.ir.scalar import apply, simplify
from pyto.passes.homes import PRODUCTS, carried_values
from pyto.passes.rewrite import Handler, Rewriter, rewrite, substitute_type

BY_ROWS = frozenset({"elementwise", "cast", "row_expand", "col_expand", "full", "fillpad"})  # forms of operations
ALSO_BY_ROWS = frozenset({"row_sum", "row_max", "row_min", "set_validshape", "empty"})
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
            if op.name in ("for", "while"):
                for (param, first, last), result in zip(carried_values(op), op.results):
                    self._together(param, first, last, result)
            elif op.name == "if":
                for i, result in enumerate(op.results):
                    self._together(result, *(b.ops[-1].args[i] for b in op.blocks))
            elif op.name not in PRODUCTS and op.name != "yield":
                values = [v for v in (*op.results, *op.args) if v in self.tiles]
                if _by_rows(op):
                    self._together(*(v for v in values if rows_of(v) > 1))
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
    return OPS[op.name].form in BY_ROWS or op.name in ALSO_BY_ROWS


def halve_rows(function: Function, halved: set[Var]) -> Function:
    """The function with half of the rows of the `halved` tiles, by its parameter for which of the two cores it is."""
    sub = function.body.params[2]

    def type_of(t: Type) -> Type:
        assert isinstance(t, TileType)
        rows, middle = t.valid[0], t.shape[0] // 2
        valid = const(middle) if rows == const(t.shape[0]) else clipped(rows - sub * middle, middle)
        return replace(t, shape=(middle, t.shape[1]), valid=(valid, t.valid[1]))

    def clipped(rows: Expr, middle: int) -> Expr:
        return apply("max", Const(0), apply("min", const(middle), rows))

    def shaped(rewriter: Rewriter, op: Op) -> None:
        """What makes a tile of a given shape: half of it."""
        if op.result not in halved:
            rewriter.keep(op)
            return
        middle = op.result.type.shape[0] // 2  # type: ignore[union-attr]
        args = op.args
        if op.name == "load":
            args = (args[0], *moved(args[1:], op.attrs["rows"], middle))
        attrs = {**op.attrs, "shape": (middle, op.attrs["shape"][1])}
        t = substitute_type(type_of(op.result.type), rewriter.env)
        rewriter.keep(op.with_(args=args, attrs=attrs, results=(Var(op.result.name, t),)))
        rewriter.bind(op.result, rewriter.out[-1].result)

    def moved(offsets: tuple[Expr, ...], axis: int, middle: int) -> tuple[Expr, ...]:
        return tuple(o + sub * middle if i == axis else o for i, o in enumerate(offsets))

    def set_valid(rewriter: Rewriter, op: Op) -> None:
        tile, rows, cols = op.args
        if op.result in halved and rows != const(op.result.type.shape[0]):  # type: ignore[union-attr]
            middle = op.result.type.shape[0] // 2  # type: ignore[union-attr]
            op = op.with_(args=(tile, clipped(rows - sub * middle, middle), cols))
        rewriter.keep(op)

    def store(rewriter: Rewriter, op: Op) -> None:
        tensor, tile, *offsets = op.args
        assert isinstance(tile, Var) and isinstance(tile.type, TileType)
        if tile.name in names:
            op = op.with_(args=(tensor, tile, *moved(tuple(offsets), op.attrs["rows"], tile.type.shape[0])))
        else:  # the first core
            rows, cols = tile.type.valid
            mine = replace(tile.type, valid=(simplify(rows * (Const(1) - sub), rewriter.ranges), cols))
            tile = rewriter.make("set_validshape", tile, *mine.valid, hint=tile.name, type=mine)
            op = op.with_(args=(tensor, tile, *offsets))
        rewriter.keep(op)

    def branches(rewriter: Rewriter, op: Op) -> None:
        types = (type_of(r.type) if r in halved else r.type for r in op.results)
        rewriter.keep(op.with_(results=tuple(Var(r.name, t) for r, t in zip(op.results, types))))
        for old, new in zip(op.results, rewriter.out[-1].results):
            rewriter.bind(old, new)

    names = {v.name for v in halved}
    handlers: dict[str, Handler] = dict.fromkeys(("load", "full", "empty", "slice"), shaped)
    handlers |= {"set_validshape": set_valid, "store": store, "if": branches}
    return rewrite(function, handlers)

