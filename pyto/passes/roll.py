"""Make the first step of a matmul reduction part of its loop, so that it is pipelined like the others.

`acc = matmul(first); for k in rest: acc = matmul_acc(acc, step)` becomes one loop whose accumulator counts as zero in
its first step, when the peeled step is what the loop would do one step earlier.
"""

from __future__ import annotations

from typing import Any

from pyto.ir.nodes import BOOL, Block, Const, Expr, Op, Program, Space, TileType, Var, replace
from pyto.ir.ranges import index_range
from pyto.ir.scalar import apply, bound, substitute
from pyto.passes.rewrite import Rewriter, rewrite, substitute_type
from pyto.passes.simplify import drop_dead


def roll(program: Program) -> Program:
    return program.map_device(lambda f: drop_dead(rewrite(f, {"for": _loop})) if f.kind == "cube" else f)


def _loop(rewriter: Rewriter, op: Op) -> None:
    lo, hi, step, *inits = op.args
    (body,) = op.blocks
    index, *carried = body.params
    made = {r: o for o in rewriter.out for r in o.results}
    inside = {r: o for o in body.ops for r in o.results}
    constant = all(isinstance(e, Const) for e in (lo, hi, step))
    for position, (param, init, last) in enumerate(zip(carried, inits, body.ops[-1].args)):
        start, acc = made.get(init), inside.get(last)  # type: ignore[call-overload]
        if acc is None or start is None or acc.name != "matmul_acc" or acc.args[0] != param or len(acc.args) > 3:
            continue
        peeled = constant and start.name == "matmul" and len(inits) == 1
        if not (peeled and _same_step(rewriter, op, acc, start, made, inside)):
            continue
        first = lo - step
        empty = _accumulator(rewriter, param)
        marked = acc.with_(args=(*acc.args, apply("eq", index, first, dtype=BOOL)))
        ops = tuple(marked if o is acc else o for o in body.ops)
        args = [first, hi, step, *inits]
        args[3 + position] = empty
        op = op.with_(args=tuple(args), blocks=(Block(body.params, ops),))
        (body,) = op.blocks
        lo, inits = first, list(args[3:])
    rewriter.keep_loop(op)


def _accumulator(rewriter: Rewriter, param: Var) -> Var:
    t = substitute_type(param.type, rewriter.env)
    assert isinstance(t, TileType)
    return rewriter.make(
        "empty",
        hint="acc",
        type=replace(t, space=Space.L0C),
        attrs={"shape": t.shape, "dtype": t.dtype},
    )


def _same_step(rewriter: Rewriter, loop: Op, acc: Op, first: Op, made: dict[Any, Op], inside: dict[Any, Op]) -> bool:
    """Whether `first` is what the loop's step `acc` would compute one step before the loop starts."""
    lo, hi, step = loop.args[:3]
    index = loop.blocks[0].params[0]
    if hi.value <= lo.value:  # type: ignore[attr-defined]
        return False
    ranges = dict(rewriter.ranges)
    ranges[index] = index_range(lo - step, lo, step)
    for o in loop.blocks[0].ops:
        if o.name == "let":
            ranges[o.result] = (o.args[0], o.args[0])
    ranges[index] = (lo - step, lo - step)
    flags = ("a_trans", "b_trans")
    if any(bool(acc.attrs.get(f)) != bool(first.attrs.get(f)) for f in flags):
        return False
    for mine, theirs in zip(acc.args[1:3], first.args):
        a, b = inside.get(mine), made.get(theirs)  # type: ignore[call-overload]
        if a is None or b is None or not a.name == b.name == "load" or a.attrs != b.attrs:
            return False
        tensors = substitute(a.args[0], rewriter.env), b.args[0]
        if tensors[0] != tensors[1]:
            return False
        for x, y in zip(a.args[1:], b.args[1:]):
            difference: Expr = substitute(x, rewriter.env) - y
            if not bound(difference, ranges, False) == bound(difference, ranges, True) == 0:
                return False
    return True
