"""Mixed regions: one part for the cube core, one for the two vector cores of a block, joined by rings in GM.

A tile that the other side needs goes through a ring of slots in GM, one ring for each block: its maker stores it and
sets a flag, its user waits for the flag, loads it, and sets another flag that frees the slot. Control flow and scalars
are the same on both sides, so that sends and receives pair up; both stand where the sequential program has them, the
send behind the tile's definition and the receive before its first use, so that no wait can be in vain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyto.errors import CompileError
from pyto.ir.builder import Names, names_of
from pyto.ir.nodes import (
    INDEX,
    LOOPS,
    Block,
    Const,
    Expr,
    Function,
    Op,
    Program,
    ScalarType,
    Space,
    TensorType,
    TileType,
    Var,
    walk,
)
from pyto.ir.scalar import apply, type_variables, variables
from pyto.passes.halve_rows import halve_rows, halved_tiles
from pyto.passes.homes import CUBE, PRODUCTS, VECTOR, Homes, add_on_vector_cores, carried_values
from pyto.passes.liveness import is_tile
from pyto.passes.mixed_parts import SLOTS, Crossing, part
from pyto.passes.shared_tensors import Place, shared_tensors
from pyto.passes.skew import halves
from pyto.target import CROSS_FLAGS, DEFAULT_CHIP, Chip

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


class _Split:
    def __init__(self, function: Function, host_names: Names, blocks: int) -> None:
        self.function, self.blocks = function, blocks
        self.names = names_of(function)
        self.host_names = host_names
        self.homes = Homes(function)
        self.runs: dict[str, set[Var]] = {CUBE: set(), VECTOR: set()}  # the tiles that each side makes
        self.crossings: dict[tuple[Var, str], Crossing] = {}
        self.vector_work = False
        self.in_order = False
        self.half: dict[int, int] = {}
        self.loops_apart: set[int] = set()

    def run(self) -> list[Function]:
        self._effects(self.function.body)
        received = {c.received for c in self.crossings.values() if c.target == VECTOR}
        self.halved = halved_tiles(self.function.body, self.runs[VECTOR] | received)
        self.shared = shared_tensors(self.function.body, self._place)
        self._number()
        if not self.in_order:
            self._pull_apart(self.function.body)
        f = self.function
        if not self.vector_work and not self.runs[VECTOR]:
            return [part(self, CUBE, f.name, f.attrs)]
        if not self.runs[CUBE]:
            return [f.with_(kind="vector")]
        attrs = {**f.attrs, "kernel": f.name}
        cube, vector = (part(self, s, self.host_names.fresh(f"{f.name}_{SUFFIX[s]}"), attrs) for s in (CUBE, VECTOR))
        _refuse_scalars(cube)
        half = Var(self.names.fresh("sub"), ScalarType(INDEX))
        vector = vector.with_(body=Block((*vector.body.params, half), vector.body.ops))
        return [cube, halve_rows(vector, self.halved)]

    # -- who makes what
    def _effects(self, block: Block) -> None:
        """What each operation that makes no tile needs, on the side that does it."""
        for op in block.ops:
            for inner in op.blocks:
                self._effects(inner)
            if not op.blocks and op.name not in ("yield", "break") and not any(is_tile(r) for r in op.results):
                side = self.effect_side(op)
                self.vector_work |= side == VECTOR and not op.results
                for arg in op.args:
                    self._demand(arg, side)

    def effect_side(self, op: Op) -> str:
        return CUBE if op.name == "store" and self.homes.of[op.args[1]] == CUBE else VECTOR  # type: ignore[index]

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
        block = self.homes.block[value]
        c = Crossing(value, received, source, target, Var(name, t), block, block is self.function.body)
        shape = tuple(Const(n) for n in (self.blocks, SLOTS if c.counted else 1, *t.shape))
        c.ring = Var(name, TensorType(shape, t.dtype))
        self.crossings[value, target] = c
        self._demand(value, source)

    def _pull_apart(self, block: Block) -> bool:
        """Finds the innermost loops whose halves can run apart; whether there is one in the block."""
        found = False
        for op in block.ops:
            inside = sum(self._pull_apart(b) for b in op.blocks) > 0
            crossing = any(c.value in b.params for c in self.crossings.values() for b in op.blocks)
            if not inside and op.blocks and not crossing:
                half = halves(op, self._goes_to_cube, lambda v: v in self.runs[CUBE], self.shared)
                if half is not None:
                    self.half |= half
                    self.loops_apart.add(id(op))
                    inside = True
            found |= inside
        return found

    def _goes_to_cube(self, value: Expr) -> bool:
        c = self.crossings.get((value, CUBE))  # type: ignore[arg-type]
        return c is not None and c.source == VECTOR

    def copied(self, old: Var, new: Var) -> None:
        if old in self.halved:
            self.halved.add(new)

    def _place(self, op: Op) -> Place:
        """Which cores make an access of GM."""
        if not op.results:
            tile, cube = op.args[1], self.effect_side(op) == CUBE
            halved = op.name == "store" and tile in self.halved
            return Place(frozenset("c" if cube else "01" if halved else "0"), halved and not cube)
        if any(is_tile(r) for r in op.results):
            cube, vector = (any(r in self.runs[side] for r in op.results) for side in (CUBE, VECTOR))
            cores = frozenset(("c" if cube else "") + ("01" if vector else ""))
            return Place(cores, op.name == "load" and op.result in self.halved and not cube)
        return Place(frozenset("c01"))

    def _number(self) -> None:
        """Flags of each ring; where they do not suffice, of all rings of a direction, which then are used in order."""
        first = 2 if self.shared else 0  # the first two are those of meetings
        apart = [c for c in self.crossings.values() if not c.within]
        self.in_order = first + sum(1 if c.once else 2 for c in apart) > CROSS_FLAGS
        flag = first
        for c in apart:
            if self.in_order:
                c.ready = first + (0 if c.source == CUBE else 2)
                c.free = c.ready + 1
            else:
                c.ready, c.free = flag, -1 if c.once else flag + 1
                flag += 1 if c.once else 2


def _refuse_scalars(cube: Function) -> None:
    """Scalars that a vector core reads from its tiles do not reach the cube core."""

    def visit(block: Block, known: set[Var]) -> None:
        known = known | set(block.params)
        for op in block.ops:
            needs = {v for a in op.args for v in variables(a)} | {v for r in op.results for v in type_variables(r)}
            missing = sorted(v.name for v in needs - known - set(op.results) if isinstance(v.type, ScalarType))
            if missing:
                raise CompileError(
                    "mixed-region",
                    f"{missing[0]} is read from a tile of a vector core, and the cube core needs it",
                    op.loc,
                    remedy="read it from a tensor, or make two regions of this one",
                )
            for inner in op.blocks:
                visit(inner, known)
            known |= set(op.results)

    visit(cube.body, {p.var for p in cube.params})
