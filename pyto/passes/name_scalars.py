"""Machine stage: give a name to what is computed more than once - extents of tails, slots in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from pyto.ir.builder import Names, names_of
from pyto.ir.nodes import INDEX, Apply, Block, Const, Expr, Function, Op, Program, ScalarType, Var, View
from pyto.ir.scalar import apply, variables

WORTH_NAMING = frozenset({"min", "max", "floordiv", "mod"})


def name_scalars(program: Program) -> Program:
    return program.map_device(_function)


def _function(function: Function) -> Function:
    return function.with_(body=_block(function.body, names_of(function), True))


def _block(block: Block, names: Names, outermost: bool) -> Block:
    """Names what repeats in `block` and depends on something that starts to exist in it."""
    while True:
        found = None if outermost else _repeated(block)
        if found is None:
            break
        expr, hint = found
        var = Var(names.fresh(hint), ScalarType(INDEX))
        at = _defined_at(block, expr)
        ops = [_substitute_op(op, expr, var) for op in block.ops]
        ops.insert(at, Op("let", (expr,), (var,), {}, (), block.ops[at].loc))
        block = Block(block.params, tuple(ops))
    return Block(
        block.params, tuple(op.with_(blocks=tuple(_block(b, names, False) for b in op.blocks)) for op in block.ops)
    )


def _defined_at(block: Block, expr: Expr) -> int:
    """The position behind the last op of the block that defines something `expr` reads."""
    used = variables(expr)
    return max((i + 1 for i, op in enumerate(block.ops) if used.intersection(op.results)), default=0)


def _repeated(block: Block) -> tuple[Expr, str] | None:
    """The largest expression that occurs twice and can be computed in `block` but not outside."""
    here = set(block.params) | {r for op in block.ops for r in op.results}
    inner = {p for op in _all(block) for b in op.blocks for p in b.params}
    inner |= {r for op in _all(block) for r in op.results} - here
    count: Counter[Expr] = Counter()
    hints: dict[Expr, str] = {}
    for op in _all(block):
        for expr, hint in _scalars(op):
            for part in _parts(expr):
                if (
                    not _may_fail(part)
                    and part.op in WORTH_NAMING
                    and variables(part) & here
                    and not variables(part) & inner
                ):
                    count[part] += 1
                    hints.setdefault(part, hint if part == expr else "part")
    repeated = [e for e, n in count.items() if n > 1]
    if not repeated:
        return None
    best = max(repeated, key=_size)
    return best, hints[best]


def _may_fail(expr: Apply) -> bool:
    """Whether it divides by what may be zero: then it stays behind the conditions around it."""
    return any(p.op in ("floordiv", "mod") and not isinstance(p.args[1], Const) for p in _parts(expr))


def _all(block: Block) -> Iterator[Op]:
    for op in block.ops:
        yield op
        for b in op.blocks:
            yield from _all(b)


def _scalars(op: Op) -> Iterator[tuple[Expr, str]]:
    for arg in op.args:
        if isinstance(arg, View):
            yield from (
                (arg.valid[0], "rows"),
                (arg.valid[1], "cols"),
                (arg.slot, "slot"),
                (arg.row, "row"),
                (arg.col, "col"),
            )
        elif op.name in ("set_flag", "wait_flag"):
            yield arg, "slot"
        elif op.name != "let":
            yield arg, "at"


def _parts(expr: Expr) -> Iterator[Apply]:
    if isinstance(expr, Apply):
        yield expr
        for a in expr.args:
            yield from _parts(a)


def _size(expr: Expr) -> int:
    return 1 + sum(_size(a) for a in expr.args) if isinstance(expr, Apply) else 1


def _substitute_op(op: Op, old: Expr, new: Var) -> Op:
    args = tuple(_swap(a, old, new) for a in op.args)
    blocks = tuple(Block(b.params, tuple(_substitute_op(o, old, new) for o in b.ops)) for b in op.blocks)
    return op.with_(args=args, blocks=blocks)


def _swap(expr: Expr, old: Expr, new: Var) -> Expr:
    if expr == old:
        return new
    if isinstance(expr, Apply):
        args = tuple(_swap(a, old, new) for a in expr.args)
        return expr if args == expr.args else apply(expr.op, *args, dtype=expr.dtype)
    if isinstance(expr, View):
        rows, cols = (_swap(v, old, new) for v in expr.valid)
        slot, row, col = (_swap(e, old, new) for e in (expr.slot, expr.row, expr.col))
        return replace(expr, valid=(rows, cols), slot=slot, row=row, col=col)
    return expr
