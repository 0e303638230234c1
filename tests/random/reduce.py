"""Programs that are a little smaller than one: without a region, an operation, a value that a loop carries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyto.ir.nodes import Block, Function, Op, Program, TileType, Var, walk
from pyto.ir.scalar import type_variables, variables
from pyto.passes.rewrite import rewrite
from pyto.passes.simplify import drop_dead

Path = tuple[int, ...]  # to an operation: its place in a block, the block, its place in that, ...


def smaller(host: Function) -> Iterator[Function]:
    """Candidates, the boldest first, for `finished` to make whole; some break the rules of the IR."""
    for path, op in list(_paths(host.body, ())):
        if op.name in ("region", "for", "if", "while", "store") and not op.results:
            yield host.with_(body=_replaced(host.body, path, ()))
        if op.name in ("if", "region") and len(op.blocks) == 2:
            for block in op.blocks:  # one branch alone
                same = tuple(zip(op.results, block.ops[-1].args))
                yield _substituted(host, path, block.ops[:-1], same)
    for path, op in list(_paths(host.body, ())):
        if op.name in ("for", "while") and op.results:
            for i in range(len(op.results)):
                yield _not_carried(host, path, op, i)
    for path, op in list(_paths(host.body, ())):
        for other in _alike(op, host):
            yield _substituted(host, path, (), ((op.results[0], other),))


def _paths(block: Block, prefix: Path) -> Iterator[tuple[Path, Op]]:
    for i, op in enumerate(block.ops):
        yield (*prefix, i), op
        for j, inner in enumerate(op.blocks):
            yield from _paths(inner, (*prefix, i, j))


def _replaced(block: Block, path: Path, ops: tuple[Op, ...]) -> Block:
    at = path[0]
    if len(path) > 1:
        op = block.ops[at]
        inner = _replaced(op.blocks[path[1]], path[2:], ops)
        ops = (op.with_(blocks=(*op.blocks[: path[1]], inner, *op.blocks[path[1] + 1 :])),)
    return Block(block.params, (*block.ops[:at], *ops, *block.ops[at + 1 :]))


def _substituted(host: Function, path: Path, ops: tuple[Op, ...], pairs: tuple[tuple[Var, object], ...]) -> Function:
    """The operation at `path` replaced by `ops`, its results by other values."""
    env = dict(pairs)

    def seen(block: Block) -> Block:
        out = []
        for op in block.ops:
            args = tuple(env.get(a, a) if isinstance(a, Var) else a for a in op.args)
            out.append(op.with_(args=args, blocks=tuple(seen(b) for b in op.blocks)))
        return Block(block.params, tuple(out))

    return host.with_(body=seen(_replaced(host.body, path, ops)))


def _not_carried(host: Function, path: Path, op: Op, i: int) -> Function:
    """A loop that no longer carries its i-th value: it stays what it was before the loop."""
    first = 3 if op.name == "for" else 0
    (body,) = op.blocks
    init = op.args[first + i]
    end = body.ops[-1]
    block = Block(
        (*body.params[: 1 + i], *body.params[2 + i :]),
        (*body.ops[:-1], end.with_(args=(*end.args[:i], *end.args[i + 1 :]))),
    )
    new = op.with_(
        args=(*op.args[: first + i], *op.args[first + i + 1 :]),
        results=(*op.results[:i], *op.results[i + 1 :]),
        blocks=(block,),
    )
    return _substituted(host, path, (new,), ((body.params[1 + i], init), (op.results[i], init)))


def _alike(op: Op, host: Function) -> Iterator[Var]:
    """Operands that can stand for an operation's result: of its shape and element type."""
    if len(op.results) != 1 or not isinstance(op.result.type, TileType) or op.blocks:
        return
    for arg in op.args:
        if isinstance(arg, Var) and isinstance(arg.type, TileType):
            if (arg.type.shape, arg.dtype) == (op.result.type.shape, op.result.dtype):
                yield arg


def finished(program: Program, host: Function) -> Program:
    """Types inferred again, what nobody reads dropped, parameters too."""
    host = drop_dead(rewrite(host, {}))
    used: set[Var] = set()
    for op in walk(host.body):
        for value in op.args:
            used |= variables(value)
        for var in (*op.results, *(p for b in op.blocks for p in b.params)):
            used |= type_variables(var)
    params = tuple(p for p in host.params if p.var in used)
    for p in params:
        used |= type_variables(p.var)
    dims = tuple(d for d in host.dims if any(d in type_variables(p.var) for p in params))
    return replace(program, functions=(host.with_(params=params, dims=dims),))


__all__ = ["finished", "smaller"]
