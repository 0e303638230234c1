"""Tile to machine stage: SSA tiles become buffers, ops write their destination, loops carry nothing.

A result takes its operand's buffer when the op works in place and nobody needs the operand any more; windows and
reshapes share their source's buffer. What a `pl.pipeline` loop loads or stores gets one buffer slot a stage, so that
the pipes of consecutive iterations overlap; the in-order queues of the hardware do the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from pyto.errors import CompileError
from pyto.ir.builder import names_of
from pyto.ir.nodes import (
    Block,
    Const,
    Expr,
    Function,
    Op,
    Program,
    Space,
    TileType,
    Var,
    View,
    const,
    first_values,
)
from pyto.ir.scalar import apply, simplify
from pyto.passes.liveness import is_tile
from pyto.passes.plan_memory import fits
from pyto.passes.sharing import CHANGES, Group, Sharing
from pyto.target import BLOCK, DEFAULT_CHIP, FRACTAL, Chip


def bufferize(program: Program, chip: Chip = DEFAULT_CHIP) -> Program:
    return replace(program.map_device(lambda f: _bufferize(f, chip)), stage="machine")


def _bufferize(function: Function, chip: Chip) -> Function:
    """Results do not take the place of what a loop loads, so that the next load need not wait: if memory allows."""
    done = _Bufferizer(function).run()
    return done if fits(done, chip) else _Bufferizer(function, tight=True).run()


class _Bufferizer(Sharing):
    def __init__(self, function: Function, tight: bool = False) -> None:
        super().__init__(function, tight)
        self.names = names_of(function)
        self.views: dict[Var, View] = {}
        self.allocs: list[Op] = []

    def run(self) -> Function:
        ops = self._lower(self.function.body)
        return self.function.with_(body=Block(self.function.body.params, (*self.allocs, *ops)))

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
