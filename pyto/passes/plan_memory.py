"""Machine stage: an address for every buffer.

`memory` says how: "auto" gives buffers memory of their own while it lasts, for reuse costs synchronisation, and lets
those that are never alive together share otherwise; "distinct" never shares; "reuse" always does. A program that does
not fit is refused with the buffers that are alive where it is worst.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyto.errors import CompileError, source_line
from pyto.ir.nodes import LOOPS, Block, Function, Op, Program, TileType, Var, slot_bytes
from pyto.ir.scalar import variables
from pyto.target import DEFAULT_CHIP, SPACE_NAMES, Chip


@dataclass
class Buffer:
    op: Op
    space: str
    size: int
    start: int = 0
    end: int = 0
    offset: int = 0

    @property
    def name(self) -> str:
        return self.op.result.name

    def alive_with(self, other: Buffer) -> bool:
        return self.start <= other.end and other.start <= self.end


def check_memory(program: Program, chip: Chip) -> None:
    """Refuses buffers, placed by hand in IR as text, that do not lie in their memory."""
    for function in program.device:
        for op in function.body.ops:
            if op.name == "alloc" and op.attrs["offset"] is not None:
                t = op.result.type
                assert isinstance(t, TileType) and t.space
                capacity, unit = chip.capacity.get(t.space), chip.alignment.get(t.space, 1)
                if capacity is None:
                    continue
                buffer = _buffer(op, chip)
                end = op.attrs["offset"] + buffer.size
                if end > capacity or op.attrs["offset"] % unit:
                    raise CompileError(
                        "memory-overflow",
                        f"{buffer.name} lies from {op.attrs['offset']} to {end} B of {SPACE_NAMES[t.space]}, which has "
                        f"{capacity} B",
                        op.loc or function.loc,
                        remedy=f"place it inside, at a multiple of {unit} B, or write `offset = none`",
                    )


MEMORY = ("auto", "distinct", "reuse")


def plan_memory(program: Program, chip: Chip = DEFAULT_CHIP, memory: str = "auto") -> Program:
    return program.map_device(lambda f: _plan(f, chip, memory))


def _plan(function: Function, chip: Chip, memory: str) -> Function:
    buffers = {op.result: _buffer(op, chip) for op in function.body.ops if op.name == "alloc"}
    _lifetimes(function.body, buffers)
    for space, capacity in chip.capacity.items():
        here = [b for b in buffers.values() if b.space == space]
        distinct = memory == "distinct" or (memory == "auto" and sum(b.size for b in here) <= capacity)
        _place(here, distinct)
        if max((b.offset + b.size for b in here), default=0) > capacity:
            _refuse(function, here, space, capacity, chip, distinct)
    ops = tuple(
        op.with_(attrs={**op.attrs, "offset": buffers[op.result].offset}) if op.name == "alloc" else op
        for op in function.body.ops
    )
    return function.with_(body=Block(function.body.params, ops))


def fits(function: Function, chip: Chip) -> bool:
    """Whether there is a plan for its buffers."""
    try:
        _plan(function, chip, "auto")
    except CompileError:
        return False
    return True


def _buffer(op: Op, chip: Chip) -> Buffer:
    t = op.result.type
    assert isinstance(t, TileType) and t.space
    return Buffer(op, t.space, op.attrs["slots"] * slot_bytes(t, chip.alignment[t.space]))


def _lifetimes(body: Block, buffers: dict[Var, Buffer]) -> None:
    """From first to last access; in a loop that does not hold them all, or that rotates slots, for the whole loop."""
    clock = 0
    touched: dict[Var, list[tuple[int, tuple[int, ...]]]] = {b: [] for b in buffers}
    spans: dict[int, tuple[int, int]] = {}

    def visit(block: Block, loops: tuple[int, ...]) -> None:
        nonlocal clock
        for op in block.ops:
            if op.name == "alloc":
                continue
            clock += 1
            here = clock
            for arg in op.args:
                for var in variables(arg):
                    if var in touched:
                        touched[var].append((here, loops))
            for inner in op.blocks:
                visit(inner, (*loops, here) if op.name in LOOPS else loops)
            if op.name in LOOPS:
                clock += 1
                spans[here] = (here, clock)

    visit(body, ())
    for var, uses in touched.items():
        if not uses:
            continue
        shared = set(uses[0][1]).intersection(*(set(loops) for _, loops in uses))
        if buffers[var].op.attrs["slots"] > 1 and shared:
            shared.discard(max(shared))
        points = [p for p, _ in uses]
        for _, loops in uses:
            points += [edge for loop in loops if loop not in shared for edge in spans[loop]]
        buffers[var].start, buffers[var].end = min(points), max(points)


def _place(buffers: list[Buffer], distinct: bool) -> None:
    placed: list[Buffer] = []
    for buffer in (
        sorted(buffers, key=lambda b: (b.start, -b.size, b.name))
        if distinct
        else sorted(buffers, key=lambda b: (-b.size, b.start, b.name))
    ):
        busy = sorted((p.offset, p.offset + p.size) for p in placed if distinct or p.alive_with(buffer))
        offset = 0
        for low, high in busy:
            if offset + buffer.size <= low:
                break
            offset = max(offset, high)
        buffer.offset = offset
        placed.append(buffer)


def _refuse(function: Function, buffers: list[Buffer], space: str, capacity: int, chip: Chip, distinct: bool) -> None:
    moment = max((b.start for b in buffers), key=lambda t: sum(b.size for b in buffers if b.start <= t <= b.end))
    alive = sorted((b for b in buffers if distinct or b.start <= moment <= b.end), key=lambda b: -b.size)
    total = sum(b.size for b in alive)
    needed = max(total, max(b.offset + b.size for b in buffers))
    rows = []
    for b in alive:
        t, slots = b.op.result.type, b.op.attrs["slots"]
        assert isinstance(t, TileType)
        loc = b.op.loc
        text = (source_line(loc.file, loc.line) or "").strip() if loc else ""
        times = f" x {slots} stages" if slots > 1 else ""
        where = f"line {loc.line}" if loc else ""
        rows.append(f"  {b.size:>8} B  {b.name} [{t.shape[0]}, {t.shape[1]}] {t.dtype}{times}  {where}  {text}")
    short = chip.name.removeprefix("ascend").upper()
    raise CompileError(
        "memory-overflow",
        f"{SPACE_NAMES[space]} needs {needed} B, has {capacity} B ({short}) in region {function.name}",
        alive[0].op.loc or function.loc,
        details=("without sharing" if distinct else "alive at the same time") + ":\n" + "\n".join(rows),
        remedy="make the tiles smaller"
        + (", or pl.pipeline's stage" if any(b.op.attrs["slots"] > 1 for b in alive) else ""),
    )
