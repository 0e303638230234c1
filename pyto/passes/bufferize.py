"""Tile to machine stage: SSA tiles become buffers, ops write their destination, loops carry nothing.

A result takes its operand's buffer when the op works in place and nobody needs the operand any more; windows and
reshapes share their source's buffer. What a `pl.pipeline` loop loads or stores gets one buffer slot a stage, so that
the pipes of consecutive iterations overlap; the in-order queues of the hardware do the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from pyto.errors import CompileError
from pyto.ir.builder import names_of
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
    TileType,
    Var,
    View,
    const,
    first_values,
    walk,
)
from pyto.ir.ops import OPS
from pyto.ir.scalar import apply, simplify
from pyto.passes.liveness import Life, Liveness, is_tile
from pyto.passes.plan_memory import fits
from pyto.target import BLOCK, BRCB_ROWS, DEFAULT_CHIP, FRACTAL, REPEAT, SQUARE, Chip

ALIASES = frozenset({"slice", "reshape", "set_validshape", "bitcast"})
# The result is the first operand, changed.
CHANGES = frozenset({"mmad", "assemble", "fillpad", "write", "scatter", "scatter_mask"})
IN_WINDOW = frozenset(n for n, op in OPS.items() if op.form in ("elementwise", "copy", "cast", "full"))
WHOLE_REPEATS = frozenset({"compare"})
FLAT = frozenset({"compare", "select", "every_other"})
LOADS = frozenset({"load", "load_a", "load_b"})
NOT_MADE = ALIASES | CHANGES | LOOPS | {"if"}  # what these give is not made by an op that could write elsewhere


def bufferize(program: Program, chip: Chip = DEFAULT_CHIP) -> Program:
    return replace(program.map_device(lambda f: _bufferize(f, chip)), stage="machine")


def _bufferize(function: Function, chip: Chip) -> Function:
    """Results do not take the place of what a loop loads, so that the next load need not wait: if memory allows."""
    done = _Bufferizer(function).run()
    return done if fits(done, chip) else _Bufferizer(function, tight=True).run()


FIRST = Const(0)
NO_LOOP = Var("", ScalarType(INDEX))


@dataclass
class Group:
    """Values that live in one buffer."""

    first: Var
    loops: tuple[Var, ...]
    members: set[Var] = field(default_factory=set)
    transferred: set[Var] = field(default_factory=set)  # loops in which an MTE loads or stores it
    row_unit: int = 1  # the instruction that fills it writes whole multiples of so many rows
    byte_unit: int = 1  # an instruction reads it in whole multiples of so many bytes
    col_unit: int = 1  # and columns
    buffer: Var | None = None
    slot: Expr = FIRST


class _Bufferizer:
    def __init__(self, function: Function, tight: bool = False) -> None:
        self.function = function
        self.tight = tight
        self.names = names_of(function)
        self.liveness = Liveness(function)
        self.life: dict[Var, Life] = self.liveness.of
        self.group: dict[Var, Group] = {}
        self.windows: set[Var] = set()  # values that are a part or another shape of their buffer
        self.loop_ops: dict[Var, Op] = {}
        self.made_by: dict[Var, str] = {}
        self.in_place: dict[Var, Op] = {}  # parts that are made in their window, and the assemble that puts them there
        self.views: dict[Var, View] = {}
        self.allocs: list[Op] = []
        # Tiles that instructions take as they lie, gaps included: they must not lie in another.
        self.flat = {
            a for op in walk(function.body) if OPS[op.name].form in FLAT for a in (*op.args, *op.results) if is_tile(a)
        }

    def run(self) -> Function:
        self._share(self.function.body, ())
        ops = self._lower(self.function.body)
        return self.function.with_(body=Block(self.function.body.params, (*self.allocs, *ops)))

    # -- which values share a buffer
    def _new(self, var: Var) -> Group:
        if var not in self.group:
            self.group[var] = Group(var, self.life[var].loops, {var})
        return self.group[var]

    def _join(self, var: Var, group: Group) -> None:
        old = self.group.get(var)
        if old is group:
            return
        for member in old.members if old else {var}:
            self.group[member] = group
            group.members.add(member)
            group.loops = _common(group.loops, self.life[member].loops)
        if old:
            group.transferred |= old.transferred
            group.row_unit = max(group.row_unit, old.row_unit)
            group.byte_unit = max(group.byte_unit, old.byte_unit)
            group.col_unit = max(group.col_unit, old.col_unit)

    def _free_after(self, value: Expr, position: int) -> bool:
        """Whether nobody reads `value`'s buffer after `position` (a whole-buffer value only)."""
        assert isinstance(value, Var)
        return value not in self.windows and self._rests(self._new(value), position)

    def _rests(self, group: Group, position: int) -> bool:
        return not any(self.liveness.needed_after(member, position) for member in group.members)

    def _share(self, block: Block, loops: tuple[Var, ...]) -> None:
        for op in block.ops:
            if op.name in LOOPS:
                self._share_loop(op, loops)
            elif op.name == "if":
                self._share_if(op, loops)
            elif op.name == "store":
                self._new(op.args[1]).transferred.update(loops[-1:] or (NO_LOOP,))  # type: ignore[arg-type]
            elif op.results and is_tile(op.result):
                self._share_result(op, loops)

    def _share_result(self, op: Op, loops: tuple[Var, ...]) -> None:
        result, at = op.result, self.life[op.result].start
        source = next((a for a in op.args if is_tile(a)), None)
        if op.name in ALIASES:
            assert isinstance(source, Var)
            self._join(result, self._new(source))
            if op.name not in ("set_validshape", "bitcast") or source in self.windows:
                self.windows.add(result)
        elif op.name == "assemble" and self._free_after(source, at):  # type: ignore[arg-type]
            self._join(result, self._new(source))  # type: ignore[arg-type]
            self._make_in_place(op)
        elif op.name in CHANGES and self._free_after(source, at):  # type: ignore[arg-type]
            self._join(result, self._new(source))  # type: ignore[arg-type]
        else:
            for arg in (op.args[i] for i in OPS[op.name].in_place if i < len(op.args)):
                if result in self.group or not is_tile(arg) or not self._free_after(arg, at):
                    continue
                same = isinstance(arg, Var) and arg.type.shape == result.type.shape and arg.dtype == result.dtype  # type: ignore[union-attr]
                if same and (self.tight or not self._new(arg).transferred):  # type: ignore[arg-type]
                    self._join(result, self._new(arg))  # type: ignore[arg-type]
        if OPS[op.name].form in WHOLE_REPEATS:
            for arg in op.args:
                if is_tile(arg):
                    self._new(arg).byte_unit = REPEAT  # type: ignore[arg-type]
        group = self._new(result)
        self.made_by[result] = op.name
        if op.name == "brcb":
            group.row_unit = BRCB_ROWS
        if op.name == "mmad":
            group.col_unit = max(group.col_unit, op.attrs["n_unit"])
        if op.name in ("load_a", "load_b") and (op.name == "load_a") == op.attrs["trans"] and result.dtype.bytes == 1:
            group.row_unit = self._new(source).row_unit = SQUARE  # type: ignore[arg-type]  # turned in squares
        if op.name in LOADS and loops:
            group.transferred.add(loops[-1])

    def _make_in_place(self, op: Op) -> None:
        """Let the op that makes the part of an assemble write it where it belongs, if the tile rests meanwhile."""
        tile, part, row, col = op.args
        if not isinstance(part, Var) or part in self.windows or part not in self.made_by:
            return
        made, (start, end) = self.made_by[part], (self.life[part].start, self.life[part].end)
        alone = self._new(part).members == {part}
        fixed = isinstance(row, Const) and isinstance(col, Const)
        rests = all(
            life.start < start and (life.end <= start or life.end >= end)
            for v in self._new(tile).members - {op.result}  # type: ignore[arg-type]
            for life in (self.life[v],)
        )
        plain = part.dtype.bits > 8 and not self.flat & self._new(part).members
        once = end == self.life[op.result].start and self.life[part].loops == self.life[op.result].loops
        if alone and fixed and rests and once and plain and made in IN_WINDOW:
            self.in_place[part] = op

    def _share_loop(self, op: Op, loops: tuple[Var, ...]) -> None:
        (body,) = op.blocks
        index, *carried = body.params
        self.loop_ops[index] = op
        handed: set[Expr] = set()
        for param, init, result, last in zip(carried, first_values(op), op.results, body.ops[-1].args):
            if not is_tile(param):
                continue
            assert isinstance(last, Var)
            group = self._new(param)
            if self._free_after(init, self.life[param].start):
                self._join(param, self._new(init))  # type: ignore[arg-type]
                group = self.group[param]
            made = next((o for o in body.ops if last in o.results), None)
            again = last in handed  # two carried values may get one tile, but have a buffer each
            handed.add(last)
            if made is None or again or made.name in NOT_MADE:
                continue
            if self._rests(group, self.life[result].start):
                if self.life[param].end <= self.life[last].start:
                    self._join(last, group)
        self._share(body, (*loops, index))
        for param, result in zip(carried, op.results):
            if is_tile(param):
                self._join(result, self._new(param))

    def _share_if(self, op: Op, loops: tuple[Var, ...]) -> None:
        """A result lives where a branch leaves it, if that is free from then on; the other branch makes it there too,
        or copies it there."""
        bounds = []
        for block in op.blocks:
            self._share(block, loops)
            made = {r for o in walk(block) for r in (*o.results, *(p for b in o.blocks for p in b.params))}
            bounds.append({v for v in made if is_tile(v)})
        for result, *ends in zip(op.results, *(b.ops[-1].args for b in op.blocks)):
            if not is_tile(result):
                continue
            for end in ends:  # first the values from outside of the branches: they have no other place to go
                if not any(end in made for made in bounds):
                    self._give(result, end)
            for end, made in zip(ends, bounds):
                if end in made:
                    self._give(result, end) if result not in self.group else self._move_in(end, result, made)

    def _give(self, result: Var, end: Expr) -> None:
        if result not in self.group and self._free_after(end, self.life[result].start):
            self._join(result, self._new(end))  # type: ignore[arg-type]

    def _move_in(self, end: Expr, result: Var, made: set[Var]) -> None:
        """Let a branch make `end` where `result` lies, if that place rests from then on in the branch."""
        assert isinstance(end, Var)
        group, place = self._new(end), self._new(result)
        if group is place or end in self.windows or not group.members <= made or group.transferred | place.transferred:
            return
        first = min(group.members, key=lambda v: self.life[v].start)
        start = self.life[first].start
        in_place = first in self.made_by and bool(OPS[self.made_by[first]].in_place)
        busy = [v for v in place.members - {result} if self.liveness.needed_after(v, start - (not in_place))]
        inside = [v for v in place.members & made if self.life[v].start >= start]
        same = group.first.type.shape == place.first.type.shape  # type: ignore[union-attr]
        if same and not busy and not inside:
            self._join(end, place)

    # -- buffers and views
    def _view(self, var: Var) -> View:
        if var in self.in_place and var not in self.views:
            tile, _, row, col = self.in_place[var].args
            assert isinstance(var.type, TileType)
            assert isinstance(tile, Var)
            self.views[var] = replace(
                self._view(tile),
                shape=var.type.shape,
                valid=var.type.valid,
                row=row,
                col=col,  # type: ignore[arg-type]
            )
        if var not in self.views:
            group = self._new(var)
            if group.buffer is None:
                self._allocate(group)
            assert (
                group.buffer is not None and isinstance(var.type, TileType) and isinstance(group.buffer.type, TileType)
            )
            self.views[var] = View(
                group.buffer,
                var.type.shape,
                var.type.valid,
                group.slot,
                Const(0),
                Const(0),
                group.buffer.type.pitch,
                var.dtype if var.dtype != group.buffer.dtype else None,
            )
        return self.views[var]

    def _allocate(self, group: Group) -> None:
        t = group.first.type
        assert isinstance(t, TileType)
        space = t.space or Space.UB
        gap = math.gcd(group.byte_unit, t.pitch * t.dtype.bytes)
        units = math.lcm(group.row_unit, group.byte_unit // gap), 1
        if space != Space.UB:
            deep = FRACTAL if space == Space.L0C else BLOCK // t.dtype.bytes
            units = max(FRACTAL, group.row_unit), max(FRACTAL, group.col_unit, deep)
        rows, cols = (-(-size // unit) * unit for size, unit in zip(t.shape, units))
        shape = rows, cols
        group.buffer = Var(group.first.name, TileType(shape, t.dtype, (const(shape[0]), const(shape[1])), space))
        slots = 1
        innermost = group.loops[-1] if group.loops else None
        if (
            innermost is not None
            and innermost in group.transferred
            and self.loop_ops[innermost].attrs.get("kind") == "pipeline"
        ):
            loop = self.loop_ops[innermost]
            slots = loop.attrs["stages"] if space in (Space.UB, Space.L1) else 2
            lo, _, step = loop.args[:3]
            group.slot = (
                apply("mod", simplify(apply("floordiv", innermost - lo, step), {}), Const(slots))
                if slots > 1
                else Const(0)
            )
        self.allocs.append(Op("alloc", (), (group.buffer,), {"slots": slots, "offset": None}, (), self._loc))

    _loc = None

    # -- machine operations
    def _lower(self, block: Block) -> list[Op]:
        out: list[Op] = []
        for op in block.ops:
            self._loc = op.loc  # type: ignore[assignment]
            handler = self.HANDLERS.get(op.name)
            if handler is not None:
                handler(self, op, out)
            elif op.results and is_tile(op.result):
                source = op.args[0] if op.args else Const(0)
                self._detach(op, source, out)
                out.append(op.with_(args=(self._view(op.result), *self._operands(op)), results=()))
            else:
                out.append(op.with_(args=self._operands(op)))
        return out

    def _operands(self, op: Op) -> tuple[Expr, ...]:
        return tuple(self._view(a) if is_tile(a) else a for a in op.args)  # type: ignore[arg-type]

    def _detach(self, op: Op, source: Expr, out: list[Op]) -> None:
        """Before an op changes `source` in place: a copy of it, if somebody still needs the old value."""
        if op.name in CHANGES and self._new(op.result) is not self._new(source):  # type: ignore[arg-type]
            self._copy(replace(self._view(op.result), valid=source.type.valid), self._view(source), op, out)  # type: ignore[arg-type, attr-defined]

    def _copy(self, target: View, source: View, op: Op, out: list[Op]) -> None:
        if target.space != Space.UB:
            raise CompileError(
                "accumulator-reused",
                "an accumulator is needed again after it was changed",
                op.loc,
                remedy="multiply into a second accumulator, or store the first before",
            )
        out.append(Op("copy", (target, source), (), {}, (), op.loc))

    def _do_loop(self, op: Op, out: list[Op]) -> None:
        (body,) = op.blocks
        index, *carried = body.params
        inits = first_values(op)
        for param, init in zip(carried, inits):
            if is_tile(param) and self._new(param) is not self._new(init):  # type: ignore[arg-type]
                self._copy(self._view(param), self._view(init), op, out)  # type: ignore[arg-type]
        ops = self._lower(Block(body.params, body.ops[:-1]))
        self._move(carried, body.ops[-1].args, op, ops)
        scalars = [i for i, p in enumerate(carried) if not is_tile(p)]
        params = (index, *(carried[i] for i in scalars))
        end = Op("yield", tuple(body.ops[-1].args[i] for i in scalars), loc=body.ops[-1].loc)
        args = (*op.args[: len(op.args) - len(inits)], *(inits[i] for i in scalars))
        results = tuple(op.results[i] for i in scalars)
        out.append(op.with_(args=args, results=results, blocks=(Block(params, (*ops, end)),)))

    def _do_if(self, op: Op, out: list[Op]) -> None:
        scalars = [i for i, r in enumerate(op.results) if not is_tile(r)]
        blocks = []
        for block in op.blocks:
            ops = self._lower(Block(block.params, block.ops[:-1]))
            ends = block.ops[-1].args
            self._move(op.results, ends, op, ops)
            ops.append(Op("yield", tuple(ends[i] for i in scalars), loc=block.ops[-1].loc))
            blocks.append(Block((), tuple(ops)))
        out.append(op.with_(results=tuple(op.results[i] for i in scalars), blocks=tuple(blocks)))

    def _move(self, targets: Sequence[Var], ends: Sequence[Expr], op: Op, ops: list[Op]) -> None:
        """At the end of a block: its tiles to where the loop or the `if` around keeps them."""
        moves = [
            (replace(self._view(target), valid=end.type.valid), self._view(end))  # type: ignore[arg-type, attr-defined]
            for target, end in zip(targets, ends)
            if is_tile(target) and self._new(target) is not self._new(end)  # type: ignore[arg-type]
        ]
        if {target.buffer for target, _ in moves} & {source.buffer for _, source in moves}:
            moves = self._aside(moves, op, ops)
        for target, source in moves:
            self._copy(target, source, op, ops)

    def _aside(self, moves: list[tuple[View, View]], op: Op, out: list[Op]) -> list[tuple[View, View]]:
        """Moves that happen at once (a, b = b, a): every source first goes to a buffer of its own."""
        apart = []
        for target, source in moves:
            name = self.names.fresh(f"{target.buffer.name}_next")
            buffer = Var(name, target.buffer.type)
            self.allocs.append(Op("alloc", (), (buffer,), {"slots": 1, "offset": None}, (), op.loc))
            parked = replace(target, buffer=buffer, slot=Const(0), valid=source.valid)
            self._copy(parked, source, op, out)
            apart.append((target, parked))
        return apart

    def _do_alias(self, op: Op, out: list[Op]) -> None:
        source = self._view(op.args[0])  # type: ignore[arg-type]
        t = op.result.type
        assert isinstance(t, TileType)
        view = replace(source, shape=t.shape, valid=t.valid)
        if op.name == "bitcast":
            view = replace(view, element=t.dtype)
        elif op.name == "slice":
            view = replace(view, row=source.row + op.args[1], col=source.col + op.args[2])
        elif op.name == "reshape":
            offset = simplify(source.row * source.pitch + source.col, {})
            row, col = (apply(f, offset, Const(t.pitch)) for f in ("floordiv", "mod"))
            view = replace(view, pitch=t.pitch, row=simplify(row, {}), col=simplify(col, {}))
        self.views[op.result] = view

    def _do_empty(self, op: Op, out: list[Op]) -> None:
        self._view(op.result)

    def _do_operand(self, op: Op, out: list[Op]) -> None:
        target = self._view(op.result)
        shape, valid = (
            (target.shape, target.valid) if not op.attrs["trans"] else (target.shape[::-1], target.valid[::-1])
        )
        source = replace(self._view(op.args[0]), shape=shape, valid=valid, row=op.args[1], col=op.args[2])  # type: ignore[arg-type]
        out.append(op.with_(args=(target, source), results=()))

    def _do_mmad(self, op: Op, out: list[Op]) -> None:
        acc, a, b, row, col, init = op.args
        self._detach(op, acc, out)
        left, right = self._view(a), self._view(b)  # type: ignore[arg-type]
        whole = self._view(op.result)
        buffer = whole.buffer.type
        assert isinstance(buffer, TileType)
        room = buffer.shape
        window = replace(
            whole,
            shape=(min(left.shape[0], room[0]), min(right.shape[1], room[1])),
            valid=(left.valid[0], right.valid[1]),
            row=row,
            col=col,
        )
        out.append(op.with_(args=(window, left, right, init), results=()))

    def _do_assemble(self, op: Op, out: list[Op]) -> None:
        tile, part, row, col = op.args
        self._detach(op, tile, out)
        if part in self.in_place:
            return
        source = self._view(part)  # type: ignore[arg-type]
        whole = self._view(op.result)
        limits = (apply("min", v, const(size) - o) for v, size, o in zip(source.valid, whole.shape, (row, col)))
        rows, cols = (
            v if isinstance(o, Const) else apply("max", Const(0), limit)
            for v, o, limit in zip(source.valid, (row, col), limits)
        )
        source = replace(source, valid=(rows, cols))
        out.append(
            Op(
                "copy",
                (replace(whole, shape=source.shape, valid=source.valid, row=row, col=col), source),
                (),
                {},
                (),
                op.loc,
            )
        )

    HANDLERS: ClassVar = {
        "for": _do_loop,
        "while": _do_loop,
        "if": _do_if,
        "slice": _do_alias,
        "reshape": _do_alias,
        "set_validshape": _do_alias,
        "bitcast": _do_alias,
        "empty": _do_empty,
        "load_a": _do_operand,
        "load_b": _do_operand,
        "mmad": _do_mmad,
        "assemble": _do_assemble,
    }


def _common(a: tuple[Var, ...], b: tuple[Var, ...]) -> tuple[Var, ...]:
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return a[:n]
