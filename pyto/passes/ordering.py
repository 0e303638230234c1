"""Happens-before on the pipes of a core, decided on a short unrolled trace of a machine-stage function.

Each pipe runs its instructions in order; a set flag lies behind all earlier instructions of its pipe, a wait flag before
all later ones. Loops are unrolled just far enough for every slot of a rotated buffer to come round again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pyto.ir.nodes import Block, Const, Expr, Function, Op, Space, TileType, Var, View
from pyto.ir.ops import OPS
from pyto.ir.scalar import linear, substitute, variables
from pyto.passes.plan_memory import slot_bytes
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
    """One instruction: where it stands, which buffers and tensors it touches."""

    op: Op
    path: Path
    loops: tuple[Op, ...]
    pipe: str
    reads: list[View] = field(default_factory=list)
    writes: list[View] = field(default_factory=list)


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
    slot: Expr = Const(0)
    event: int = 0


def leaves(function: Function) -> list[Leaf]:
    found: list[Leaf] = []

    def visit(block: Block, path: Path, loops: tuple[Op, ...]) -> None:
        for i, op in enumerate(block.ops):
            if op.name == "for":
                visit(op.blocks[0], (*path, i), (*loops, op))
            elif pipe_of(op):
                found.append(_leaf(op, (*path, i), loops))

    visit(function.body, (), ())
    return found


def _leaf(op: Op, path: Path, loops: tuple[Op, ...]) -> Leaf:
    leaf = Leaf(op, path, loops, pipe_of(op))
    views = [a for a in op.args if isinstance(a, View)]
    if op.name == "store":
        leaf.reads = views
    elif views:
        leaf.writes, leaf.reads = views[:1], views[1:]
        if op.name == "mmad":
            leaf.reads = [*leaf.reads, views[0]]
    return leaf


@dataclass(eq=False)
class Step:
    """A moment of the trace: before or after the item at `path`, or (with `leaf`) the instruction itself."""

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

    def _run(self, block: Block, path: Path, env: dict[Var, int]) -> Iterator[Step]:
        for i, op in enumerate(block.ops):
            here = (*path, i)
            if op.name == "for":
                yield Step("before", here, env)
                for n in range(self._trips(op)):
                    yield from self._run(op.blocks[0], here, {**env, op.blocks[0].params[0]: n})
                yield Step("after", here, env)
            elif here in self.by_path:
                leaf = self.by_path[here]
                touched = [(self._key(v, env), False, v) for v in leaf.reads]
                touched += [(self._key(v, env), True, v) for v in leaf.writes]
                yield Step("before", here, env)
                yield Step("op", here, env, leaf, tuple(touched))
                yield Step("after", here, env)

    def _trips(self, loop: Op) -> int:
        """Enough for every slot to come round again, but not more than there are."""
        trips = 2
        for leaf in self.leaves:
            if any(loop is other for other in leaf.loops):
                for view in (*leaf.reads, *leaf.writes):
                    depth = rotating_loop(view.slot, leaf.loops)
                    if depth >= 0 and leaf.loops[depth] is loop:
                        trips = max(trips, 1 + self.slots[view.buffer])
        lo, hi, step = loop.args[:3]
        if isinstance(lo, Const) and isinstance(hi, Const) and isinstance(step, Const):
            trips = min(trips, max(1, -(-(hi.value - lo.value) // step.value)))  # type: ignore[type-var, arg-type]
        return trips

    def _key(self, view: View, env: dict[Var, int]) -> Key:
        return view.buffer, slot_number(self.slots[view.buffer], view.slot, env), Window.of(view)


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
    return tensor if isinstance(tensor, Var) else None


@dataclass(frozen=True, eq=False)
class Conflict:
    """`second` may start before `first` has ended. `loop` is the depth of the loop that carries it, or None."""

    first: Leaf
    second: Leaf
    view: View | None
    loop: int | None


def conflicts(
    trace: Trace, syncs: Sequence[Sync], barriers: frozenset[Path], fences: frozenset[Path], first_only: bool = True
) -> list[Conflict] | None:
    """Unordered pairs of instructions (one, or all that direct events would have to order); None if a wait has no set.

    `barriers` are the items with a barrier of their own pipe before them, `fences` those with one of all pipes.
    """
    return _Run(trace, syncs, barriers, fences, first_only).run()


def events_apart(trace: Trace, syncs: Sequence[Sync], barriers: frozenset[Path], fences: frozenset[Path]) -> bool:
    """Whether no event is set again before the wait for its last set is known to be over."""
    run = _Run(trace, syncs, barriers, fences, False)
    run.run()
    return not run.overlap


class _Run:
    def __init__(
        self,
        trace: Trace,
        syncs: Sequence[Sync],
        barriers: frozenset[Path],
        fences: frozenset[Path],
        first_only: bool,
    ) -> None:
        self.trace, self.first_only, self.barriers, self.fences = trace, first_only, barriers, fences
        self.before: dict[Path, list[tuple[Sync, bool, bool]]] = {}  # (sync, whether a set, whether every slot)
        self.after: dict[Path, list[tuple[Sync, bool, bool]]] = {}
        for s in syncs:
            self.before.setdefault((*s.block, s.before), []).append((s, False, False))
            self.after.setdefault((*s.block, s.after), []).append((s, True, False))
        for s in syncs:
            if s.carried:
                self.before.setdefault(s.home, []).append((s, True, True))
                self.after.setdefault(s.home, []).append((s, False, True))
        self.count: dict[str, int] = {}
        self.know: dict[str, dict[str, int]] = {}
        self.fenced: dict[str, int] = {}
        self.pending: dict[tuple[Sync, int], dict[str, int]] = {}
        self.access: dict[Key, dict[tuple[str, bool], tuple[int, Leaf, dict[Var, int]]]] = {}
        self.gm: dict[Var, list[tuple[int, Leaf, dict[Var, int], bool]]] = {}
        self.found: list[Conflict] = []
        self.broken = False
        self.overlap = False
        self.waited: dict[tuple[str, str, int], int | None] = {}  # event -> instructions of dst before its last wait

    def run(self) -> list[Conflict] | None:
        for step in self.trace.steps:
            if step.kind == "op":
                self.op(step)
            else:
                if step.kind == "before" and step.path in self.fences:
                    self.fence()
                for s, is_set, every in (self.before if step.kind == "before" else self.after).get(step.path, ()):
                    numbers = range(s.slots) if every else (slot_number(s.slots, s.slot, step.env),)
                    for n in numbers:
                        self.set(s, n) if is_set else self.wait(s, n)
            if self.broken or (self.first_only and self.found):
                break
        return None if self.broken or (self.pending and not self.found) else self.found

    def fence(self) -> None:
        self.know = {pipe: dict(self.count) for pipe in PIPES}
        self.waited = {event: None if at is None else -1 for event, at in self.waited.items()}

    def set(self, s: Sync, slot: int) -> None:
        if (s, slot) in self.pending:
            self.broken = True
        event = s.src, s.dst, s.event + slot
        last = self.waited.get(event, -1)
        if last is None or last >= self.know.get(s.src, {}).get(s.dst, 0):
            self.overlap = True
        self.waited[event] = None
        state = dict(self.know.get(s.src, {}))
        state[s.src] = self.count.get(s.src, 0)
        self.pending[s, slot] = state

    def wait(self, s: Sync, slot: int) -> None:
        state = self.pending.pop((s, slot), None)
        if state is None:
            self.broken = True
            return
        self.waited[s.src, s.dst, s.event + slot] = self.count.get(s.dst, 0)
        mine = self.know.setdefault(s.dst, {})
        for pipe, done in state.items():
            mine[pipe] = max(mine.get(pipe, 0), done)

    def op(self, step: Step) -> None:
        leaf = step.leaf
        assert leaf is not None
        if leaf.path in self.barriers:
            self.fenced[leaf.pipe] = self.count.get(leaf.pipe, 0)
        for key, write, view in step.touched:
            for other in self.trace.overlapping(key):
                for (_, was_write), (n, first, at) in self.access.get(other, {}).items():
                    if write or was_write:
                        self.compare(n, first, at, step, view)
        self.count[leaf.pipe] = now = self.count.get(leaf.pipe, 0) + 1
        for key, write, _ in step.touched:
            self.access.setdefault(key, {})[leaf.pipe, write] = (now, leaf, step.env)
        tensor = tensor_of(leaf.op)
        if tensor in self.trace.shared_tensors:
            assert tensor is not None
            self.touch_gm(tensor, step, now)

    def compare(self, n: int, first: Leaf, at: dict[Var, int], step: Step, view: View | None) -> None:
        second = step.leaf
        assert second is not None
        known = self.know.setdefault(second.pipe, {})
        if known.get(first.pipe, 0) >= n:
            return
        if first.pipe == second.pipe:
            if self.fenced.get(second.pipe, 0) >= n or not needs_barrier(first, second):
                return
            self.fenced[second.pipe] = n
        else:
            known[first.pipe] = n  # as if an event ordered them
        self.found.append(Conflict(first, second, view, carrying_loop(first, at, second, step.env)))

    def touch_gm(self, tensor: Var, step: Step, now: int) -> None:
        leaf = step.leaf
        assert leaf is not None
        write = leaf.op.name == "store"
        for n, first, at, was_write in self.gm.get(tensor, []):
            if (write or was_write) and not _disjoint(first, at, leaf, step.env):
                self.compare(n, first, at, step, None)
        self.gm.setdefault(tensor, []).append((now, leaf, step.env, write))


def needs_barrier(first: Leaf, second: Leaf) -> bool:
    """Whether two overlapping accesses on one pipe need a PipeBarrier of it. Scalars run one after the other."""
    if second.pipe == "S":
        return False
    if second.pipe == "M":
        return second.op.attrs.get("small", False) if first.op.name == "mmad" else False
    return True


def carrying_loop(first: Leaf, at: dict[Var, int], second: Leaf, env: dict[Var, int]) -> int | None:
    for depth, (a, b) in enumerate(zip(first.loops, second.loops)):
        if a is not b:
            return None
        index = a.blocks[0].params[0]
        if at[index] != env[index]:
            return depth
    return None


def _gm_window(leaf: Leaf) -> list[tuple[Expr, int]]:
    """Offset and extent on each axis of the tensor that a load, store or read touches."""
    op = leaf.op
    if op.name == "read":
        return [(o, 1) for o in op.args[1:]]
    view = op.args[0] if op.name == "load" else op.args[1]
    assert isinstance(view, View)
    extents = {op.attrs["rows"]: view.shape[0], op.attrs["cols"]: view.shape[1]}
    return [(o, extents.get(axis, 1)) for axis, o in enumerate(op.args[2:])]


def _disjoint(first: Leaf, at: dict[Var, int], second: Leaf, env: dict[Var, int]) -> bool:
    """Whether two accesses to one tensor cannot touch, by an axis along which their windows are known to lie apart."""
    depth = carrying_loop(first, at, second, env)
    for (a, size_a), (b, size_b) in zip(_gm_window(first), _gm_window(second)):
        fa, fb = linear(_expand(a, first)), linear(_expand(b, second))
        if depth is None:
            rest = {k: fb[0].get(k, 0) - fa[0].get(k, 0) for k in {*fa[0], *fb[0]}}
            gap = fb[1] - fa[1]
            if not any(rest.values()) and (gap >= size_a or -gap >= size_b):
                return True
            continue
        loop = second.loops[depth]
        index, step = loop.blocks[0].params[0], loop.args[2]
        inner = {x.blocks[0].params[0] for x in (*first.loops[depth + 1 :], *second.loops[depth + 1 :])}
        if fa != fb or inner & set().union(*(variables(k) for k in fa[0])):
            continue
        stride = abs(fa[0].get(index, 0)) * (step.value if isinstance(step, Const) else 1)
        if stride >= max(size_a, size_b):
            return True
    return False


def _expand(expr: Expr, leaf: Leaf) -> Expr:
    """An offset with the `let`s around the access replaced by what they name."""
    env: dict[Var, Expr] = {}
    for loop in leaf.loops:
        for op in loop.blocks[0].ops:
            if op.name == "let":
                env[op.result] = substitute(op.args[0], env)
    return substitute(expr, env)
