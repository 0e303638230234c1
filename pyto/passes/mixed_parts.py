"""One side of a mixed region: its share of the operations, with what it sends and receives.

A ring's slot follows from how often the block that its tile is made in has run, which loops and branches carry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyto.ir.builder import Names
from pyto.ir.nodes import (
    INDEX,
    LOOPS,
    Block,
    Const,
    Expr,
    Function,
    Loc,
    Op,
    Param,
    ScalarType,
    TileType,
    Var,
    first_values,
)
from pyto.ir.scalar import apply, variables
from pyto.passes.homes import CUBE, PRODUCTS, VECTOR
from pyto.passes.liveness import is_tile
from pyto.passes.shared_tensors import tensors_of
from pyto.passes.simplify import drop_dead
from pyto.passes.skew import apart

SLOTS = 2  # of a ring: its maker fills one while its user empties the other
STORE_PIPE = {CUBE: "FIX", VECTOR: "MTE3"}
LAST = 2  # behind both halves of a loop
ARRIVED, GO_ON = 0, 1  # flags of meetings


@dataclass(eq=False)
class Crossing:
    """A tile on its way from `source` to `target`, where it is called `received`."""

    value: Var
    received: Var
    source: str
    target: str
    ring: Var
    block: Block  # where it is made
    once: bool  # in no loop, so that its slot is used once
    ready: int = -1
    free: int = -1

    @property
    def within(self) -> bool:
        """Whether it stays on its core, only that an operand has to come from GM."""
        return self.source == self.target

    @property
    def counted(self) -> bool:
        return not self.once and not self.within


class Split(Protocol):
    """Who does what in a mixed region."""

    function: Function
    names: Names
    blocks: int
    runs: dict[str, set[Var]]
    crossings: dict[tuple[Var, str], Crossing]
    shared: set[Var]
    in_order: bool  # whether all tiles of a direction come in as they were sent
    half: dict[int, int]  # of the operations of loops whose halves go apart, by their ids
    loops_apart: set[int]

    def effect_side(self, op: Op) -> str: ...

    def copied(self, old: Var, new: Var) -> None: ...


def part(split: Split, side: str, name: str, attrs: Mapping[str, Any]) -> Function:
    """The function of the cube core or of a vector core."""
    return _Part(split, side).write(name, attrs)


class _Part:
    def __init__(self, split: Split, side: str) -> None:
        self.split, self.side = split, side
        self.half: dict[int, int] = {}  # of the operations written so far, by their ids
        self.kept: list[Op] = []  # those operations, so that no other one gets the id
        self.count: dict[int, Expr] = {id(c.block): Const(0) for c in split.crossings.values() if c.counted}

    def write(self, name: str, attrs: Mapping[str, Any]) -> Function:
        f, crossings = self.split.function, self.split.crossings.values()
        *ops, done = self._block(f.body, None, f.body.params).ops
        comes, goes = (
            dict.fromkeys(c.free for c in crossings if c.free >= 0 and end(c) == self.side)
            for end in (lambda c: c.target, lambda c: c.source)
        )
        free = [_set(flag, "MTE2", f.loc) for flag in comes for _ in range(SLOTS)]
        last = [_wait(flag, f.loc) for flag in goes for _ in range(SLOTS)]
        params = (*f.params, *(Param(c.ring, "inout") for c in crossings))
        body = Block(f.body.params, (*free, *ops, *last, done))
        return drop_dead(f.with_(name=name, kind=self.side, params=params, body=body, attrs=attrs))

    def _block(self, block: Block, kept: list[int] | None, params: tuple[Var, ...]) -> Block:
        """This side of a block; of what it yields, the `kept` positions."""
        out: list[Op] = []
        arrivals: list[tuple[Crossing, int]] = []  # from which position on
        for param in block.params:
            self._sent(param, out, arrivals, None)
        for op in block.ops:
            start = len(out)
            if any(t in self.split.shared for t in tensors_of(op)):
                out += self._meeting(op.loc)
            out += self._op(op, kept)
            for result in op.results:
                self._sent(result, out, arrivals, op.loc)
            self._tag(out[start:], self.split.half.get(id(op)))
        return Block(params, tuple(self._with_receives(out, arrivals)))

    def _tag(self, ops: Sequence[Op], half: int | None) -> None:
        if half is not None:
            self.kept += ops
            self.half |= {id(op): half for op in ops}

    def _with_receives(self, ops: list[Op], arrivals: Sequence[tuple[Crossing, int]]) -> list[Op]:
        """Each tile comes in before its first use, in a loop whose halves go apart before that in the first half."""
        before: dict[int, list[Op]] = {}
        for c, start in arrivals:
            uses = [i for i in range(start, len(ops)) if _mentions(ops[i], c.received)]
            at = (
                start
                if self.split.in_order and not c.within
                else min(uses, key=lambda i: (self.half.get(id(ops[i]), LAST), i))
            )
            comes = self._receive(c, ops[at].loc)
            self._tag(comes, self.half.get(id(ops[at]), self.split.half.get(id(c.value), None)))
            before.setdefault(at, []).extend(comes)
        return [new for i, op in enumerate(ops) for new in (*before.get(i, ()), op)]

    def _op(self, op: Op, kept: list[int] | None) -> list[Op]:
        split = self.split
        if op.name == "yield":
            return [op if kept is None else op.with_(args=tuple(op.args[i] for i in kept))]
        if op.blocks:
            done = self._structure(op)
            return self._apart(done) if id(op) in split.loops_apart else [done]
        if self.side == CUBE and not any(is_tile(r) for r in op.results) and any(is_tile(a) for a in op.args):
            if op.name != "store" or split.effect_side(op) != CUBE:
                return []
        if not op.results and op.name != "break" and split.effect_side(op) != self.side:
            return []
        if any(is_tile(r) and r not in split.runs[self.side] for r in op.results):
            return []
        if op.name in PRODUCTS:
            first = 1 if op.name == "matmul_acc" else 0
            operands = (split.crossings.get((a, CUBE)) for a in op.args[first:])  # type: ignore[arg-type]
            args = (c.received if c else a for c, a in zip(operands, op.args[first:]))
            return [op.with_(args=(*op.args[:first], *args))]
        return [op]

    def _apart(self, loop: Op) -> list[Op]:
        lo, hi, _ = loop.args[:3]
        certain = isinstance(lo, Const) and isinstance(hi, Const) and lo.value < hi.value
        return apart(loop, self.half, self.split.names, self.split.copied, certain)

    def _structure(self, op: Op) -> Op:
        """A loop or an `if`; it carries how often each block with rings inside has run."""
        kept = [i for i, r in enumerate(op.results) if not is_tile(r) or r in self.split.runs[self.side]]
        counted = [k for k in self.count if k in {id(b) for b in _blocks(op)}]
        before, loop = dict(self.count), op.name in LOOPS
        blocks = []
        for b in op.blocks:
            self.count = dict(before)
            params = b.params
            if loop:
                counters = [self._counter() for _ in counted]
                self.count |= zip(counted, counters)
                params = (b.params[0], *(b.params[1 + i] for i in kept), *counters)
            done = self._block(b, kept, params)
            counts = (self.count[k] + int(k == id(b)) for k in counted)
            blocks.append(Block(params, (*done.ops[:-1], _more(done.ops[-1], counts))))
        counters = [self._counter() for _ in counted]
        self.count = before | dict(zip(counted, counters))
        inits = first_values(op) if loop else ()
        args = op.args[: len(op.args) - len(inits)]
        if loop:
            args = (*args, *(inits[i] for i in kept), *(before[k] for k in counted))
        results = (*(op.results[i] for i in kept), *counters)
        return op.with_(args=args, results=results, blocks=tuple(blocks))

    def _counter(self) -> Var:
        return Var(self.split.names.fresh("count"), ScalarType(INDEX))

    def _sent(self, value: Var, out: list[Op], arrivals: list[tuple[Crossing, int]], loc: Loc | None) -> None:
        """Behind the definition of a tile that crosses: its sending, or a note that it comes in."""
        for target in (CUBE, VECTOR):
            c = self.split.crossings.get((value, target))
            if c is not None and c.source == self.side:
                out += self._send(c, loc)
            if c is not None and c.target == self.side:
                arrivals.append((c, len(out)))

    def _slot(self, c: Crossing) -> tuple[Expr, ...]:
        block = self.split.function.body.params[0] if self.split.blocks > 1 else Const(0)
        slot = apply("mod", self.count[id(c.block)], Const(SLOTS)) if c.counted else Const(0)
        return c.ring, block, slot

    def _send(self, c: Crossing, loc: Loc | None) -> list[Op]:
        ring, *slot = self._slot(c)
        attrs = {"rows": 2, "cols": 3, "atomic": None, "ring": True}
        store = Op("store", (ring, c.value, *slot, Const(0), Const(0)), (), attrs, (), loc)
        if c.within:
            return [store]
        free = [] if c.free < 0 else [_wait(c.free, loc)]
        return [*free, store, _set(c.ready, STORE_PIPE[c.source], loc)]

    def _receive(self, c: Crossing, loc: Loc | None) -> list[Op]:
        t = c.received.type
        assert isinstance(t, TileType)
        attrs = {"shape": t.shape, "rows": 2, "cols": 3, "space": t.space, "ring": True}
        load = Op("load", (*self._slot(c), Const(0), Const(0)), (c.received,), attrs, (), loc)
        if c.within:
            return [load]
        free = [] if c.free < 0 else [_set(c.free, "MTE2", loc)]
        return [_wait(c.ready, loc), load, *free]

    def _meeting(self, loc: Loc | None) -> list[Op]:
        """All cores of the block come here with all their work done before one goes on."""
        done = Op("barrier", (), (), {"pipe": "ALL"}, (), loc)
        if self.side == CUBE:
            return [done, _wait(ARRIVED, loc), _set(GO_ON, STORE_PIPE[CUBE], loc)]
        return [done, _set(ARRIVED, STORE_PIPE[VECTOR], loc), _wait(GO_ON, loc)]


def _set(flag: int, pipe: str, loc: Loc | None) -> Op:
    return Op("cross_set", (), (), {"flag": flag, "pipe": pipe}, (), loc)


def _wait(flag: int, loc: Loc | None) -> Op:
    return Op("cross_wait", (), (), {"flag": flag}, (), loc)


def _more(op: Op, args: Iterator[Expr]) -> Op:
    return op.with_(args=(*op.args, *args))


def _blocks(op: Op) -> Iterator[Block]:
    for block in op.blocks:
        yield block
        for inner in block.ops:
            yield from _blocks(inner)


def _mentions(op: Op, value: Var) -> bool:
    return any(value in variables(a) for a in op.args) or any(_mentions(o, value) for b in op.blocks for o in b.ops)
