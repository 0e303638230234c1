"""What passes share: fresh names, substitution while walking, ranges of scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyto.ir.builder import names_of
from pyto.ir.nodes import (
    LOOPS,
    Block,
    Const,
    Expr,
    Function,
    Loc,
    Op,
    ScalarType,
    TensorType,
    TileType,
    Type,
    Var,
    first_values,
)
from pyto.ir.ops import OPS
from pyto.ir.ranges import Range, index_range, let_range
from pyto.ir.scalar import KnownRanges, simplify, substitute


def simplify_type(t: Type, ranges: Mapping[Var, Range]) -> Type:
    if isinstance(t, TileType):
        rows, cols = (simplify(v, ranges) for v in t.valid)
        return replace(t, valid=(rows, cols))
    if isinstance(t, TensorType):
        return replace(t, shape=tuple(simplify(e, ranges) for e in t.shape))
    return t


def substitute_type(t: Type, env: Mapping[Var, Expr]) -> Type:
    if isinstance(t, TileType):
        rows, cols = (substitute(v, env) for v in t.valid)
        return replace(t, valid=(rows, cols))
    if isinstance(t, TensorType):
        return replace(t, shape=tuple(substitute(e, env) for e in t.shape))
    return t


Handler = Callable[["Rewriter", Op], None]


class Rewriter:
    """Walks a function in order, replacing values by `env`, re-inferring types and collecting scalar ranges.

    `handlers[op.name](rewriter, op)` sees each op with its operands already replaced and emits what stands for it; an
    op without a handler is kept. Handlers bind old results with `bind`.
    """

    def __init__(self, function: Function, handlers: Mapping[str, Handler] | None = None) -> None:
        self.names = names_of(function)
        self.handlers = dict(handlers or {})
        self.env: dict[Var, Expr] = {}
        self.ranges: dict[Var, Range] = KnownRanges({d: (Const(0), None) for d in function.dims})
        self.ranges |= {
            p.var: (Const(0), None) for p in function.params if p.var.name in function.attrs.get("dims", ())
        }
        if len(function.body.params) > 2:  # which of the two vector cores of a block
            self.ranges[function.body.params[2]] = (Const(0), Const(1))
        self.out: list[Op] = []
        self.loc: Loc | None = None

    # -- emitting
    def emit(self, op: Op) -> None:
        self.out.append(op)

    def make(
        self, name: str, *args: Expr, hint: str = "", type: Type | None = None, attrs: Mapping[str, Any] | None = None
    ) -> Var:
        """Emit a new op with one result; its type comes from the op table unless given."""
        op = self.op(name, *args, hint=hint, type=type, attrs=attrs)
        self.emit(op)
        return op.result

    def op(
        self, name: str, *args: Expr, hint: str = "", type: Type | None = None, attrs: Mapping[str, Any] | None = None
    ) -> Op:
        """A new op with one result, not emitted."""
        op = Op(name, args, (), dict(attrs or {}), (), self.loc)
        type = self.inferred(op) if type is None else type
        assert type is not None, name
        return op.with_(results=(Var(self.names.fresh(hint or name), type),))

    def inferred(self, op: Op) -> Type | None:
        """The type of `op`'s result, as its operands and the table have it."""
        infer = OPS[op.name].infer
        found = infer([operand_type(a) for a in op.args], op.attrs) if infer is not None else None
        return simplify_type(found, self.ranges) if found is not None else None

    def bind(self, old: Var, new: Expr) -> None:
        self.env[old] = new

    # -- walking
    def block(self, block: Block, params: tuple[Var, ...] | None = None) -> Block:
        outer, self.out = self.out, []
        for op in block.ops:
            self.visit(op)
        ops, self.out = self.out, outer
        return Block(block.params if params is None else params, tuple(ops))

    def visit(self, op: Op) -> None:
        self.loc = op.loc
        op = op.with_(args=tuple(simplify(substitute(a, self.env), self.ranges) for a in op.args))
        handler = self.handlers.get(op.name)
        if handler is not None:
            handler(self, op)
        else:
            self.keep(op)

    def keep(self, op: Op) -> None:
        """Emit `op` as it is (operands already replaced), its blocks walked and its results retyped."""
        if op.name in LOOPS:
            self.keep_loop(op)
            return
        if op.name == "if":
            self.keep_if(op)
            return
        blocks = tuple(self.block(b) for b in op.blocks)
        self.emit(op.with_(blocks=blocks, results=self.retype(op)))
        if op.name == "let":
            self.ranges[self.out[-1].result] = let_range(op)

    def keep_loop(self, op: Op, attrs: Mapping[str, Any] | None = None) -> None:
        (body,) = op.blocks
        index, *carried = body.params
        new_carried = []
        for var, init in zip(carried, first_values(op)):
            new = Var(var.name, self._type(var, init))
            new_carried.append(new)
            self.bind(var, new)
        self.ranges[index] = index_range(*op.args[:3]) if op.name == "for" else (Const(0), None)
        block = self.block(body, (index, *new_carried))
        self._emit_with(op, (block,), tuple(new_carried), op.attrs if attrs is None else attrs)

    def keep_if(self, op: Op) -> None:
        blocks = tuple(self.block(b) for b in op.blocks)
        self._emit_with(op, blocks, blocks[0].ops[-1].args, op.attrs)

    def _emit_with(self, op: Op, blocks: tuple[Block, ...], like: Sequence[Expr], attrs: Mapping[str, Any]) -> None:
        results = []
        for old, value in zip(op.results, like):
            new = Var(old.name, self._type(old, value))
            self.bind(old, new)
            results.append(new)
        self.loc = op.loc
        self.emit(op.with_(blocks=blocks, results=tuple(results), attrs=attrs))

    def _type(self, var: Var, like: Expr) -> Type:
        """The type of a value that a block is given or gives, in the memory that `like` lies in."""
        t = simplify_type(substitute_type(var.type, self.env), self.ranges)
        if isinstance(t, TileType) and isinstance(like, Var) and isinstance(like.type, TileType):
            t = replace(t, space=like.type.space)
        return t

    def retype(self, op: Op) -> tuple[Var, ...]:
        out = []
        for r in op.results:
            # What an empty tile will hold, or a slot of a ring holds, is known by who made it, not by its shape.
            infer = OPS[op.name].infer if op.name != "empty" and not op.attrs.get("ring") else None
            t: Type | None = infer([operand_type(a) for a in op.args], op.attrs) if infer else None
            new = Var(r.name, simplify_type(t or substitute_type(r.type, self.env), self.ranges))
            if isinstance(new.type, TileType) and isinstance(r.type, TileType) and r.type.space:
                new = Var(r.name, replace(new.type, space=r.type.space))
            self.bind(r, new)
            out.append(new)
        return tuple(out)


def operand_type(arg: Expr) -> Any:
    """What `infer` functions take: a tile's or tensor's type, or a scalar as its expression."""
    return arg.type if isinstance(arg, Var) and not isinstance(arg.type, ScalarType) else arg


def rewrite(function: Function, handlers: Mapping[str, Handler]) -> Function:
    rewriter = Rewriter(function, handlers)
    return function.with_(body=rewriter.block(function.body))
