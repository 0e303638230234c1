"""A short unrolled run of a machine-stage function: which instruction touches which bytes, in order.

Loops are unrolled just far enough for every slot of a rotated buffer to come round again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyto.ir.nodes import (
    LOOPS,
    Block,
    Const,
    Expr,
    Function,
    Op,
    Space,
    TensorType,
    TileType,
    Var,
    View,
    slot_bytes,
)
from pyto.ir.ops import OPS
from pyto.ir.scalar import variables
from pyto.target import DEFAULT_CHIP

PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")
Path = tuple[int, ...]


def pipe_of(op: Op) -> str:
    """The pipe that runs an operation; a store leaves L0C by the fixpipe."""
    if op.name == "store" and isinstance(op.args[1], View) and op.args[1].space == Space.L0C:
        return "FIX"
    return OPS[op.name].pipe


@dataclass(frozen=True)
class Window:
    """A part of a buffer at a fixed place: first row and column, rows and columns, in rows of `pitch` elements."""

    row: int
    col: int
    shape: tuple[int, int]
    pitch: int

    @staticmethod
    def of(view: View) -> Window | None:
        if isinstance(view.row, Const) and isinstance(view.col, Const) and view.space == Space.UB:
            return Window(int(view.row.value), int(view.col.value), view.shape, view.pitch)
        return None

    def touches(self, other: Window) -> bool:
        return (
            self.row < other.row + other.shape[0]
            and other.row < self.row + self.shape[0]
            and self.col < other.col + other.shape[1]
            and other.col < self.col + self.shape[1]
        )


Key = tuple[Var, int, "Window | None"]  # a slot of a buffer, or a window of it


@dataclass(eq=False)
class Leaf:
    """One instruction: where it stands, which buffers and tensors it touches.

    A path names an item of nested blocks: the position in the outermost, then in the block of that item, and so on; the
    blocks of an `if` are told apart by a number of their own. `bodies` are the paths of the blocks of `loops`.
    """

    op: Op
    path: Path
    loops: tuple[Op, ...]
    bodies: tuple[Path, ...]
    pipe: str
    reads: list[View] = field(default_factory=list)
    writes: list[View] = field(default_factory=list)


FIRST = Const(0)


@dataclass(frozen=True)
class Sync:
    """A set after item `after` of the block at `block` and a wait before its item `before`.

    `carried`: the wait is for the set of an earlier iteration; first sets stand before the loop at `home`, last waits
    behind it. With `slots` > 1 there is one event a slot, named by `slot`.
    """

    src: str
    dst: str
    block: Path
    after: int
    before: int
    carried: bool = False
    home: Path = ()
    slots: int = 1
    slot: Expr = FIRST
    event: int = 0

    def __hash__(self) -> int:  # quick: few differ in the rest alone
        return hash((self.src, self.dst, self.block, self.after, self.before))


def blocks_of(op: Op, path: Path) -> list[tuple[Block, Path]]:
    """The blocks of the item at `path`, with their own paths."""
    if op.name == "if":
        return [(block, (*path, n)) for n, block in enumerate(op.blocks)]
    return [(block, path) for block in op.blocks]


def breaks_of(function: Function) -> dict[Path, int]:
    """The position of the `break` in the block of each `while`, by the block's path."""
    found: dict[Path, int] = {}

    def visit(block: Block, path: Path) -> None:
        for i, op in enumerate(block.ops):
            if op.name == "break":
                found[path] = i
            for inner, at in blocks_of(op, (*path, i)):
                visit(inner, at)

    visit(function.body, ())
    return found


def crossing(sync: Sync, breaks: Mapping[Path, int]) -> bool | None:
    """Whether a set (True) or a wait (False) has to follow the `while` whose `break` stands between the two: the last
    iteration ends there. None if it ends behind both or before both."""
    at = breaks.get(sync.block)
    if at is None or (sync.after < at) == (sync.before < at):
        return None
    return sync.before < at


def leaves(function: Function) -> list[Leaf]:
    found: list[Leaf] = []

    def visit(block: Block, path: Path, loops: tuple[Op, ...], bodies: tuple[Path, ...]) -> None:
        for i, op in enumerate(block.ops):
            here = (*path, i)
            inside = ((*loops, op), (*bodies, here)) if op.name in LOOPS else (loops, bodies)
            for inner, at in blocks_of(op, here):
                visit(inner, at, *inside)
            if pipe_of(op):
                found.append(_leaf(op, here, loops, bodies))

    visit(function.body, (), (), ())
    return found


def _leaf(op: Op, path: Path, loops: tuple[Op, ...], bodies: tuple[Path, ...]) -> Leaf:
    leaf = Leaf(op, path, loops, bodies, pipe_of(op))
    views = [a for a in op.args if isinstance(a, View)]
    if op.name in ("store", "print", "read"):
        leaf.reads = views
    elif views:
        leaf.writes, leaf.reads = views[:1], views[1:]
        if op.name == "mmad":
            leaf.reads = [*leaf.reads, views[0]]
    return leaf


@dataclass(eq=False)
class Step:
    """A moment of the trace: before or after the item at `path`, or (with `leaf`) the instruction itself.

    What may be passed by stands between "fork" and "join"; "other" begins the other way.
    """

    kind: str
    path: Path
    env: dict[Var, int]
    leaf: Leaf | None = None
    touched: tuple[tuple[Key, bool, View], ...] = ()  # (slot of a buffer, written, operand)


class Trace:
    """The unrolled run of a function, and which of its buffers' slots overlap."""

    def __init__(self, function: Function) -> None:
        self.leaves = leaves(function)
        self.by_path = {leaf.path: leaf for leaf in self.leaves}
        self.buffers = {op.result: op for op in function.body.ops if op.name == "alloc"}
        self.slots = {b: op.attrs["slots"] for b, op in self.buffers.items()}
        self.breaks = breaks_of(function)
        self._overlaps: dict[Key, list[Key]] = {}
        self.shared_tensors = self._shared_tensors()
        self.steps = list(self._run(function.body, (), {}))

    def overlapping(self, key: Key) -> list[Key]:
        """The keys met so far that share bytes with `key`, itself included."""
        if key not in self._overlaps:
            mine = [k for k in self._overlaps if self._touch(key, k)]
            for other in mine:
                self._overlaps[other].append(key)
            self._overlaps[key] = [*mine, key]
        return self._overlaps[key]

    def _touch(self, a: Key, b: Key) -> bool:
        if a[:2] == b[:2]:
            return a[2] is None or b[2] is None or a[2].pitch != b[2].pitch or a[2].touches(b[2])
        (space, start, end), (other, low, high) = self._span(a), self._span(b)
        return space == other and start < high and low < end

    def _span(self, key: Key) -> tuple[str, int, int]:
        t, op = key[0].type, self.buffers[key[0]]
        assert isinstance(t, TileType) and t.space
        size = slot_bytes(t, DEFAULT_CHIP.alignment[t.space])
        start = op.attrs["offset"] + key[1] * size
        return t.space, start, start + size

    def _shared_tensors(self) -> set[Var]:
        """Tensors that are written and touched more than once."""
        count: dict[Var, int] = {}
        written: set[Var] = set()
        for leaf in self.leaves:
            tensor = tensor_of(leaf.op)
            if tensor is not None:
                count[tensor] = count.get(tensor, 0) + 1
                if leaf.op.name == "store":
                    written.add(tensor)
        return {t for t in written if count[t] > 1}

    def _run(
        self, block: Block, path: Path, env: dict[Var, int], start: int = 0, stop: int | None = None
    ) -> Iterator[Step]:
        for i, op in enumerate(block.ops[start:stop], start):
            here = (*path, i)
            if op.name in LOOPS:
                yield Step("before", here, env)
                yield from self._loop(op, here, env)
                yield Step("after", here, env)
            elif op.name == "if":
                yield Step("before", here, env)
                yield Step("fork", here, env)
                yield from self._run(op.blocks[0], (*here, 0), env)
                yield Step("other", here, env)
                yield from self._run(op.blocks[1], (*here, 1), env)
                yield Step("join", here, env)
                yield Step("after", here, env)
            elif here in self.by_path:
                leaf = self.by_path[here]
                touched = [(self._key(v, env), False, v) for v in leaf.reads]
                touched += [(self._key(v, env), True, v) for v in leaf.writes]
                yield Step("before", here, env)
                yield Step("op", here, env, leaf, tuple(touched))
                yield Step("after", here, env)

    def _loop(self, op: Op, here: Path, env: dict[Var, int]) -> Iterator[Step]:
        """Its iterations; it may end before any that is not certain to come."""
        certain, forks, trips = _certain_trips(op), 0, self._trips(op)
        leaves = self.breaks.get(here, 0)
        for n in range(trips + (op.name == "while")):
            inside = {**env, op.blocks[0].params[0]: n}
            yield from self._run(op.blocks[0], here, inside, 0, leaves)  # a `while` always comes to its `break`
            if n == trips:
                break
            if n >= certain:
                yield Step("fork", here, env)
                forks += 1
            yield from self._run(op.blocks[0], here, inside, leaves)
        for _ in range(forks):
            yield Step("other", here, env)
            yield Step("join", here, env)

    def _trips(self, loop: Op) -> int:
        """Enough for every slot to come round again, but not more than there are."""
        trips = 2
        for leaf in self.leaves:
            if any(loop is other for other in leaf.loops):
                for view in (*leaf.reads, *leaf.writes):
                    depth = rotating_loop(view.slot, leaf.loops)
                    if depth >= 0 and leaf.loops[depth] is loop:
                        trips = max(trips, 1 + self.slots[view.buffer])
        return max(1, min(trips, _certain_trips(loop))) if _has_fixed_trips(loop) else trips

    def _key(self, view: View, env: dict[Var, int]) -> Key:
        return view.buffer, slot_number(self.slots[view.buffer], view.slot, env), Window.of(view)


def _has_fixed_trips(loop: Op) -> bool:
    return loop.name == "for" and all(isinstance(e, Const) for e in loop.args[:3])


def _certain_trips(loop: Op) -> int:
    """Iterations that a loop is certain to run. A block of a launch has a point of the grid, or it would not run."""
    if _has_fixed_trips(loop):
        lo, hi, step = (int(e.value) for e in loop.args[:3])  # type: ignore[attr-defined]
        return -(-(hi - lo) // step)
    return 1 if loop.attrs.get("kind") == "blocks" else 0


def slot_number(slots: int, slot: Expr, env: dict[Var, int]) -> int:
    """Which slot an expression names in the iteration `env`: rotated buffers take their slots in turn."""
    if slots == 1:
        return 0
    used = variables(slot)
    return next(n for index, n in reversed(env.items()) if index in used) % slots


def rotating_loop(slot: Expr, loops: Sequence[Op]) -> int:
    """Depth of the loop that rotates a slot, the innermost whose index it names; -1 if none does."""
    used = variables(slot)
    return max((depth for depth, loop in enumerate(loops) if loop.blocks[0].params[0] in used), default=-1)


def tensor_of(op: Op) -> Var | None:
    """The GM tensor that a load, store or read touches."""
    position = {"load": 1, "store": 0, "read": 0}.get(op.name)
    tensor = None if position is None else op.args[position]
    return tensor if isinstance(tensor, Var) and isinstance(tensor.type, TensorType) else None
