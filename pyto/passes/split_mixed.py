"""Mixed regions: one part for the cube core, one for the two vector cores of a block, joined by rings in GM.

A tile that the other side needs goes through a ring of slots in GM, one ring for each block: its maker stores it and
sets a flag, its user waits for the flag, loads it, and sets another flag that frees the slot. Control flow and scalars
are the same on both sides, so that sends and receives pair up; both stand where the sequential program has them, the
send behind the tile's definition and the receive before its first use, so that no wait can be in vain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyto.errors import CompileError
from pyto.ir.builder import Names, names_of
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
    Program,
    ScalarType,
    Space,
    TensorType,
    TileType,
    Var,
    walk,
)
from pyto.ir.scalar import apply, variables
from pyto.passes.halve_rows import halve_rows, halved_tiles
from pyto.passes.homes import CUBE, PRODUCTS, VECTOR, Homes, add_on_vector_cores, carried_values
from pyto.passes.liveness import is_tile
from pyto.passes.simplify import drop_dead
from pyto.target import CROSS_FLAGS, DEFAULT_CHIP, Chip

SLOTS = 1
STORE_PIPE = {CUBE: "FIX", VECTOR: "MTE3"}
SUFFIX = {CUBE: "aic", VECTOR: "aiv"}


def split_mixed(program: Program, chip: Chip = DEFAULT_CHIP) -> Program:
    names = names_of(program.host)
    host, devices, rings = program.host, [], []
    for f in program.device:
        if f.kind != "mixed":
            devices.append(f)
            continue
        split = _Split(add_on_vector_cores(f), names, _most_blocks(host.body, f.name, chip.cube_cores))
        devices += split.run()
        created = [c.ring for c in split.crossings.values()]
        rings += [Op("create_tensor", (), (ring,), {}, (), f.loc) for ring in created]
        host = host.with_(body=_hand_over(host.body, f.name, created, chip.cube_cores))
    body = Block(host.body.params, (*rings, *host.body.ops))
    return replace(program, functions=(host.with_(body=body), *devices))


def _most_blocks(host: Block, kernel: str, cores: int) -> int:
    grids = [op.args[0] for op in walk(host) if op.name == "launch" and op.attrs["kernel"] == kernel]
    return max(min(int(g.value), cores) if isinstance(g, Const) else cores for g in grids)


def _hand_over(block: Block, kernel: str, rings: Sequence[Var], cores: int) -> Block:
    """Host code whose launches of `kernel` hand the rings over, and start no more blocks than these have room for."""
    ops = []
    for op in block.ops:
        op = op.with_(blocks=tuple(_hand_over(b, kernel, rings, cores) for b in op.blocks))
        if op.name == "launch" and op.attrs["kernel"] == kernel and rings:
            grid = apply("min", op.args[0], Const(cores)) if not isinstance(op.args[0], Const) else op.args[0]
            op = op.with_(args=(grid, *op.args[1:], *rings))
        ops.append(op)
    return Block(block.params, tuple(ops))


@dataclass(eq=False)
class Crossing:
    """A tile on its way from `source` to `target`, where it is called `received`."""

    value: Var
    received: Var
    source: str
    target: str
    ring: Var
    once: bool  # made outside of loops, so that its slot is used once
    ready: int = -1
    free: int = -1


class _Split:
    def __init__(self, function: Function, host_names: Names, blocks: int) -> None:
        self.function, self.blocks = function, blocks
        self.names = names_of(function)
        self.host_names = host_names
        self.homes = Homes(function)
        self.runs: dict[str, set[Var]] = {CUBE: set(), VECTOR: set()}  # the tiles that each side makes
        self.crossings: dict[tuple[Var, str], Crossing] = {}
        self.vector_work = False

    def run(self) -> list[Function]:
        self._effects(self.function.body)
        self._number()
        received = {c.received for c in self.crossings.values() if c.target == VECTOR}
        self.halved = halved_tiles(self.function.body, self.runs[VECTOR] | received)
        f = self.function
        if not self.vector_work and not self.runs[VECTOR]:
            return [self._part(CUBE, f.name, f.attrs)]
        if not self.runs[CUBE]:
            return [f.with_(kind="vector")]
        attrs = {**f.attrs, "kernel": f.name}
        cube, vector = (self._part(s, self.host_names.fresh(f"{f.name}_{SUFFIX[s]}"), attrs) for s in (CUBE, VECTOR))
        half = Var(self.names.fresh("sub"), ScalarType(INDEX))
        vector = vector.with_(body=Block((*vector.body.params, half), vector.body.ops))
        return [cube, halve_rows(vector, self.halved)]

    # -- who makes what
    def _effects(self, block: Block) -> None:
        """What each store needs, on the side that does it."""
        for op in block.ops:
            for inner in op.blocks:
                self._effects(inner)
            if op.name == "store":
                self._demand(op.args[1], self._store_side(op))
                self.vector_work |= self._store_side(op) == VECTOR

    def _store_side(self, op: Op) -> str:
        return CUBE if self.homes.of[op.args[1]] == CUBE else VECTOR  # type: ignore[index]

    def _demand(self, value: Expr, side: str, operand: bool = False) -> None:
        """See to it that `side` has a tile; an `operand` has to lie in L1."""
        if not is_tile(value):
            return
        assert isinstance(value, Var)
        home = self.homes.of[value]
        away = operand and not self.homes.is_operand(value) if side == CUBE else home == CUBE
        if away and (side == CUBE or self.homes.is_product(value)):
            self._cross(value, CUBE if home == CUBE else VECTOR, side)
        elif value not in self.runs[side]:
            self.runs[side].add(value)
            for source, operand_ in self._sources(value, operand):
                self._demand(source, side, operand_)

    def _sources(self, value: Var, operand: bool) -> list[tuple[Expr, bool]]:
        """What a tile is made of, and whether as an operand of the cube."""
        if value in self.homes.carried:
            loop, i = self.homes.carried[value]
            _, first, last = list(carried_values(loop))[i]
            return [(first, False), (last, False), (loop.results[i], False)]
        op = self.homes.made[value]
        if op.name in PRODUCTS:
            return [(a, op.name == "matmul" or i > 0) for i, a in enumerate(op.args)]
        if op.name in LOOPS:
            return [(op.blocks[0].params[1 + op.results.index(value)], False)]
        if op.name == "if":
            return [(b.ops[-1].args[op.results.index(value)], False) for b in op.blocks]
        return [(a, operand) for a in op.args]

    def _cross(self, value: Var, source: str, target: str) -> None:
        if (value, target) in self.crossings:
            return
        t = value.type
        assert isinstance(t, TileType)
        received = value
        if target == CUBE:
            received = Var(self.names.fresh(f"{value.name}_l1"), replace(t, space=Space.L1))
        name = self.host_names.fresh(f"{value.name}_ring")
        self.names.used.add(name)
        once = self.homes.depth[value] == 0
        shape = tuple(Const(n) for n in (self.blocks, 1 if once else SLOTS, *t.shape))
        ring = Var(name, TensorType(shape, t.dtype))
        self.crossings[value, target] = Crossing(value, received, source, target, ring, once)
        self._demand(value, source)

    def _number(self) -> None:
        flag = 0
        for c in self.crossings.values():
            if c.source == c.target:
                continue
            c.ready, c.free = flag, -1 if c.once else flag + 1
            flag += 1 if c.once else 2
        if flag > CROSS_FLAGS:
            raise CompileError(
                "mixed-region",
                f"{len(self.crossings)} tiles go between cube and vector cores, which takes {flag} flags of "
                f"{CROSS_FLAGS}",
                self.function.loc,
                remedy="make it two regions",
            )

    # -- writing the parts
    def _part(self, side: str, name: str, attrs: Mapping[str, Any]) -> Function:
        f = self.function
        ops = self._block(f.body, side, None).ops
        rings = [c for c in self.crossings.values() if not c.once and c.source != c.target]
        credit = [
            _set(c.free, "MTE2", f.loc) for c in rings if c.target == side for _ in range(SLOTS)
        ]  # every slot is free
        last = [_wait(c.free, f.loc) for c in rings if c.source == side for _ in range(SLOTS)]
        params = (*f.params, *(Param(c.ring, "inout") for c in self.crossings.values()))
        body = Block(f.body.params, (*credit, *ops[:-1], *last, ops[-1]))
        return drop_dead(f.with_(name=name, kind=side, params=params, body=body, attrs=attrs))

    def _block(self, block: Block, side: str, kept: list[int] | None) -> Block:
        """What `side` does of a block; of what it yields, the `kept` positions."""
        out: list[Op] = []
        waiting: list[Crossing] = []
        for param in block.params:
            self._sent(param, side, out, waiting, None)
        for op in block.ops:
            mine = self._op(op, side, kept)
            if mine is not None:
                for c in [c for c in waiting if _mentions(mine, c.received)]:
                    waiting.remove(c)
                    out += self._receive(c, op.loc)
                out.append(mine)
            for result in op.results:
                self._sent(result, side, out, waiting, op.loc)
        assert not waiting, waiting
        return Block(block.params, tuple(out))

    def _op(self, op: Op, side: str, kept: list[int] | None) -> Op | None:
        if op.name == "yield":
            return op if kept is None else op.with_(args=tuple(op.args[i] for i in kept))
        if op.blocks:
            return self._structure(op, side)
        if op.name == "store" and self._store_side(op) != side:
            return None
        if any(is_tile(r) and r not in self.runs[side] for r in op.results):
            return None
        if op.name in PRODUCTS:
            first = 1 if op.name == "matmul_acc" else 0
            operands = (self.crossings.get((a, CUBE)) for a in op.args[first:])  # type: ignore[arg-type]
            args = (c.received if c else a for c, a in zip(operands, op.args[first:]))
            return op.with_(args=(*op.args[:first], *args))
        return op

    def _structure(self, op: Op, side: str) -> Op:
        kept = [i for i, r in enumerate(op.results) if not is_tile(r) or r in self.runs[side]]
        first = {"for": 3, "if": 1}.get(op.name, 0)
        inits = op.args[first:]
        blocks = []
        for b in op.blocks:
            params = b.params
            if op.name != "if":
                params = (b.params[0], *(b.params[1 + i] for i in kept))
                b = Block(params, b.ops)
            blocks.append(self._block(b, side, kept))
        args = (*op.args[:first], *(inits[i] for i in kept if inits))
        return op.with_(args=args, results=tuple(op.results[i] for i in kept), blocks=tuple(blocks))

    def _sent(self, value: Var, side: str, out: list[Op], waiting: list[Crossing], loc: Loc | None) -> None:
        """Behind the definition of a tile that crosses: its sending, or a note that it comes in."""
        for target in (CUBE, VECTOR):
            c = self.crossings.get((value, target))
            if c is not None and c.source == side:
                out += self._send(c, loc)
            if c is not None and c.target == side:
                waiting.append(c)

    def _slot(self, c: Crossing) -> tuple[Expr, ...]:
        block = self.function.body.params[0] if self.blocks > 1 else Const(0)
        return c.ring, block, Const(0)

    def _send(self, c: Crossing, loc: Loc | None) -> list[Op]:
        ring, *slot = self._slot(c)
        attrs = {"rows": 2, "cols": 3, "atomic": None, "ring": True}
        store = Op("store", (ring, c.value, *slot, Const(0), Const(0)), (), attrs, (), loc)
        if c.source == c.target:
            return [store]
        free = [] if c.once else [_wait(c.free, loc)]
        return [*free, store, _set(c.ready, STORE_PIPE[c.source], loc)]

    def _receive(self, c: Crossing, loc: Loc | None) -> list[Op]:
        t = c.received.type
        assert isinstance(t, TileType)
        attrs = {"shape": t.shape, "rows": 2, "cols": 3, "space": t.space, "ring": True}
        load = Op("load", (*self._slot(c), Const(0), Const(0)), (c.received,), attrs, (), loc)
        if c.source == c.target:
            return [load]
        free = [] if c.once else [_set(c.free, "MTE2", loc)]
        return [_wait(c.ready, loc), load, *free]


def _set(flag: int, pipe: str, loc: Loc | None) -> Op:
    return Op("cross_set", (), (), {"flag": flag, "pipe": pipe}, (), loc)


def _wait(flag: int, loc: Loc | None) -> Op:
    return Op("cross_wait", (), (), {"flag": flag}, (), loc)


def _mentions(op: Op, value: Var) -> bool:
    return any(value in variables(a) for a in op.args) or any(_mentions(o, value) for b in op.blocks for o in b.ops)
