"""Which core of a mixed region makes each tile: the cube core, a vector core, or either."""

from __future__ import annotations

from collections.abc import Iterator

from pyto.errors import CompileError
from pyto.ir.nodes import (
    BF16,
    FP16,
    FP32,
    INT32,
    LOOPS,
    Block,
    Const,
    Expr,
    Function,
    Op,
    TileType,
    Var,
    first_values,
    walk,
)
from pyto.ir.scalar import variables
from pyto.passes.alignment import Multiples
from pyto.passes.liveness import is_tile
from pyto.passes.rewrite import Rewriter, rewrite

CUBE, VECTOR, EITHER = "cube", "vector", "either"
PRODUCTS = frozenset({"matmul", "matmul_acc"})
LOADED = frozenset({"load", "slice", "set_validshape"})  # what an operand of the cube may be made by, in L1


class Homes:
    """`of[tile]`, who makes each tile.

    `made`: its op; `carried`: the loop and the position of what a loop carries; `block`: where it is defined.
    """

    def __init__(self, function: Function) -> None:
        self.of: dict[Var, str] = {}
        self.made: dict[Var, Op] = {}
        self.carried: dict[Var, tuple[Op, int]] = {}
        self.block: dict[Var, Block] = {}
        self.multiples = Multiples(function)
        self.uses: dict[Var, list[Op]] = {}
        for op in walk(function.body):
            for arg in op.args:
                for v in variables(arg):
                    self.uses.setdefault(v, []).append(op)
        self._block(function.body)

    def _block(self, block: Block) -> None:
        for op in block.ops:
            if op.name in LOOPS:
                self._loop(op)
            elif op.name == "if":
                self._branches(op)
            for result in op.results:
                self.made[result], self.block[result] = op, block
                if is_tile(result) and not op.blocks:
                    self.of[result] = self._home(op)

    def _home(self, op: Op) -> str:
        source = self.of.get(op.args[0], EITHER) if op.args else EITHER  # type: ignore[call-overload]
        if op.name == "matmul":
            return CUBE
        if op.name == "matmul_acc":
            return CUBE if source == CUBE or self.is_start(op.args[0]) else VECTOR
        if op.name in ("load", "full", "empty"):
            return EITHER
        if op.name == "set_validshape":
            return source
        if op.name == "slice" and (source == CUBE or self.is_start(op.args[0])):
            adds = all(use.name == "matmul_acc" for use in self.uses.get(op.result, ()))
            return CUBE if (adds or source == CUBE) and self._is_window(op.result, *op.args) else VECTOR
        if op.name == "assemble":
            starts = source == CUBE or self.is_start(op.args[0])
            return CUBE if starts and self._adds_to_window(op, self.made) else VECTOR
        if op.name == "cast" and source == CUBE and _narrows(op):
            return CUBE
        return VECTOR

    def _loop(self, op: Op) -> None:
        (body,) = op.blocks
        inside = {r: o for o in walk(body) for r in o.results}
        for i, (param, first, last) in enumerate(carried_values(op)):
            self.carried[param], self.block[param] = (op, i), body
            if is_tile(param):
                starts = self.of.get(first) == CUBE or self.is_start(first)  # type: ignore[call-overload]
                adds = last != param and self._accumulates(last, param, inside)
                self.of[param] = self.of[op.results[i]] = CUBE if starts and adds else VECTOR
        self._block(body)

    def _branches(self, op: Op) -> None:
        for block in op.blocks:
            self._block(block)
        for i, result in enumerate(op.results):
            if is_tile(result):
                homes = {self.of.get(b.ops[-1].args[i], EITHER) for b in op.blocks}  # type: ignore[call-overload]
                self.of[result] = CUBE if homes == {CUBE} else VECTOR

    def is_start(self, value: Expr) -> bool:
        """Whether an accumulator may start from a tile: one value, or undefined."""
        op = self.made.get(value)  # type: ignore[call-overload]
        if op is None or op.name not in ("full", "empty", "set_validshape"):
            return False
        if op.name == "set_validshape":
            return self.is_start(op.args[0])
        if op.result.dtype not in (FP32, INT32):
            return False
        zero = op.name == "full" and isinstance(op.args[0], Const) and op.args[0].value == 0
        return op.name == "empty" or zero or op.result.dtype == FP32

    def _is_window(self, part: Var, whole: Expr, row: Expr, col: Expr) -> bool:
        assert isinstance(whole, Var) and isinstance(whole.type, TileType) and isinstance(part.type, TileType)
        return self.multiples.accumulator(whole.type, part.type, row, col)

    def _adds_to_window(self, op: Op, made: dict[Var, Op]) -> bool:
        """Whether an assemble writes back a window of its tile with nothing but products added, or a product."""
        tile, part, row, col = op.args
        if not self._is_window(part, tile, row, col):  # type: ignore[arg-type]
            return False
        while isinstance(part, Var) and (source := made.get(part)) is not None:
            if source.name == "matmul":
                return len(self.uses[part]) == 1
            if source.name == "slice":
                return source.args == (tile, row, col)
            if source.name not in ("matmul_acc", "set_validshape"):
                return False
            part = source.args[0]
        return False

    def _accumulates(self, value: Expr, start: Var, inside: dict[Var, Op]) -> bool:
        """Whether `value` is `start` with nothing but products added."""
        if value == start:
            return True
        op = inside.get(value)  # type: ignore[call-overload]
        if op is None:
            return False
        if op.name in ("matmul_acc", "set_validshape"):
            return self._accumulates(op.args[0], start, inside)
        if op.name == "assemble":
            return self._accumulates(op.args[0], start, inside) and self._adds_to_window(op, inside)
        if op.name in LOOPS:
            param, first, last = list(carried_values(op))[op.results.index(value)]  # type: ignore[arg-type]
            return self._accumulates(first, start, inside) and self._accumulates(last, param, inside)
        if op.name == "if":
            i = op.results.index(value)  # type: ignore[arg-type]
            return all(self._accumulates(b.ops[-1].args[i], start, inside) for b in op.blocks)
        return False

    def is_operand(self, value: Var) -> bool:
        """Whether the cube core can have a tile in L1 by loading it."""
        op = self.made.get(value)
        if op is None or op.name not in LOADED:
            return False
        if op.name == "slice" and not self.multiples.operand(op.result.type, *op.args[1:]):  # type: ignore[arg-type]
            return False
        return op.name == "load" or self.is_operand(op.args[0])  # type: ignore[arg-type]

    def is_product(self, value: Var) -> bool:
        """Whether a tile of the cube core is an accumulator itself, not another form of one."""
        op = self.made.get(value)
        return op is None or op.name in PRODUCTS or op.name == "assemble" or bool(op.blocks)


def carried_values(loop: Op) -> Iterator[tuple[Var, Expr, Expr]]:
    """The param, the first and the next value of all that a loop carries."""
    (body,) = loop.blocks
    return zip(body.params[1:], first_values(loop), body.ops[-1].args)


def _narrows(op: Op) -> bool:
    """Whether the fixpipe can do a cast while it stores."""
    source = op.args[0]
    assert isinstance(source, Var)
    rounds = op.attrs.get("mode", "rint") == "rint"
    return source.dtype == FP32 and op.attrs["target_type"] in (BF16, FP16) and rounds


def add_on_vector_cores(function: Function) -> Function:
    """Products that are added to what a vector core makes: multiplied on the cube core, added on the vector core."""
    homes = Homes(function)

    def apart(rewriter: Rewriter, op: Op) -> None:
        if homes.of[op.result] == CUBE:
            rewriter.keep(op)
            return
        if len(op.args) > 3:
            raise CompileError(
                "mixed-region",
                "matmul_acc with init cannot add to a tile that vector operations made",
                op.loc,
                remedy="multiply with pl.matmul and pl.add the product",
            )
        product = rewriter.make("matmul", *op.args[1:], hint=f"{op.result.name}_product", attrs=op.attrs)
        rewriter.bind(op.result, rewriter.make("add", op.args[0], product, hint=op.result.name))

    return rewrite(function, {"matmul_acc": apart})
