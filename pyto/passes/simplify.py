"""Fold index arithmetic, decide valid shapes that ranges decide, drop what nobody uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyto.ir.nodes import LOOPS, Block, Function, Op, Program, Var
from pyto.ir.scalar import type_variables, variables
from pyto.passes.rewrite import rewrite

EFFECTS = frozenset(
    {"store", "launch", "set_flag", "wait_flag", "barrier", "cross_set", "cross_wait", "break", "print", "assert"}
)


def simplify(program: Program) -> Program:
    return replace(program, functions=tuple(drop_dead(rewrite(f, {})) for f in program.functions))


def drop_dead(function: Function) -> Function:
    """Without ops whose results nobody reads and loops that do nothing."""
    used: set[Var] = set()
    return function.with_(body=_drop(function.body, used))


def _has_effect(op: Op) -> bool:
    if op.name == "yield":
        return True
    return op.name in EFFECTS or any(
        o.name not in ("yield", "break") and _has_effect(o) for b in op.blocks for o in b.ops
    )


def _drop(block: Block, used: set[Var]) -> Block:
    kept: list[Op] = []
    for op in reversed(block.ops):
        if not _has_effect(op) and not used.intersection(op.results):
            continue
        if op.name == "if":
            op = _used_results(op, used)
        if op.name in LOOPS and op.results:
            op = _used_carried(op, used)
        blocks = []
        if op.blocks:
            blocks = [_drop(b, used) for b in op.blocks]
        for arg in op.args:
            used |= variables(arg)
        for var in (*op.results, *(p for b in op.blocks for p in b.params)):
            used |= type_variables(var)
        kept.append(op.with_(blocks=tuple(blocks)))
    return Block(block.params, tuple(reversed(kept)))


def _used_carried(op: Op, used: set[Var]) -> Op:
    """A loop that carries only what somebody reads: its results' readers, or its block for what these need."""
    (body,) = op.blocks
    index, *carried = body.params
    end, first = body.ops[-1], len(op.args) - len(carried)
    mentioned = used.union(*(type_variables(r) for r in op.results if r in used))
    kept = [r in mentioned for r in op.results]

    def shortened(values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(v for v, keep in zip(values, kept) if keep)

    while True:
        ends = end.with_(args=shortened(end.args))
        read: set[Var] = set()
        block = _drop(Block(body.params, (*body.ops[:-1], ends)), read)
        read = read.union(*(type_variables(c) for c in carried if c in read))
        wanted = [keep or c in read for keep, c in zip(kept, carried)]
        if wanted == kept:
            break
        kept = wanted
    return op.with_(
        args=(*op.args[:first], *shortened(op.args[first:])),
        results=shortened(op.results),
        blocks=(Block((index, *shortened(carried)), block.ops),),
    )


def _used_results(op: Op, used: set[Var]) -> Op:
    """An `if` that gives only what somebody reads."""
    mentioned = used.union(*(type_variables(r) for r in op.results if r in used))
    kept = [i for i, r in enumerate(op.results) if r in mentioned]
    blocks = tuple(
        Block(b.params, (*b.ops[:-1], b.ops[-1].with_(args=tuple(b.ops[-1].args[i] for i in kept)))) for b in op.blocks
    )
    return op.with_(results=tuple(op.results[i] for i in kept), blocks=blocks)
