"""Happens-before on the pipes of a core, decided on a short unrolled trace of a machine-stage function.

Each pipe runs its instructions in order; a set flag lies behind all earlier instructions of its pipe, a wait flag before
all later ones. Loops are unrolled just far enough for every slot of a rotated buffer to come round again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pyto.ir.nodes import Block, Const, Expr, Function, Op, Space, TensorType, TileType, Var, View
from pyto.ir.ops import OPS
from pyto.ir.scalar import evaluate, linear, variables
from pyto.passes.plan_memory import slot_bytes
from pyto.target import DEFAULT_CHIP

Path = tuple[int, ...]


def pipe_of(op: Op) -> str:
    """The pipe that runs an operation; a store leaves L0C by the fixpipe."""
    if op.name == "store" and isinstance(op.args[1], View) and op.args[1].space == Space.L0C:
        return "FIX"
    return OPS[op.name].pipe


@dataclass(eq=False)
class Leaf:
    """One instruction: where it stands, which buffers and tensors it touches."""

    op: Op
    path: Path
    loops: tuple[Op, ...]
    pipe: str
    reads: list[View] = field(default_factory=list)
    writes: list[View] = field(default_factory=list)


@dataclass(eq=False)
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


class Trace:
    """The unrolled run of a function: `events` are ("op", leaf, iterations), ("enter" | "leave", path, ...) marks."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.leaves = leaves(function)
        self.slots = {op.result: op.attrs["slots"] for op in function.body.ops if op.name == "alloc"}
        self.ranges: dict[Var, tuple[str, int, int]] = {}
        for op in function.body.ops:
            if op.name == "alloc":
                t = op.result.type
                assert isinstance(t, TileType) and t.space
                self.ranges[op.result] = (t.space, op.attrs["offset"], slot_bytes(t, DEFAULT_CHIP.alignment[t.space]))
        self.by_path = {leaf.path: leaf for leaf in self.leaves}
        self.shared_tensors = self._shared_tensors()
        self.steps = list(self._run(function.body, (), {}))
        self.keys = self._keys()

    def _shared_tensors(self) -> set[Var]:
        """Tensors that are written and touched more than once."""
        count: dict[Var, int] = {}
        written: set[Var] = set()
        for leaf in self.leaves:
            tensor = (
                leaf.op.args[1]
                if leaf.op.name == "load"
                else leaf.op.args[0]
                if leaf.op.name in ("store", "read")
                else None
            )
            if isinstance(tensor, Var) and isinstance(tensor.type, TensorType):
                count[tensor] = count.get(tensor, 0) + 1
                if leaf.op.name == "store":
                    written.add(tensor)
        return {t for t in written if count[t] > 1}

    def _run(self, block: Block, path: Path, env: dict[Var, int]) -> Iterator[tuple[str, Path, dict[Var, int]]]:
        for i, op in enumerate(block.ops):
            here = (*path, i)
            yield "before", here, env
            if op.name == "for":
                trips = 1 + max([self.slots[b] for b in self._rotated(op)], default=1)
                for n in range(trips):
                    yield from self._run(op.blocks[0], here, {**env, op.blocks[0].params[0]: n})
            elif here in self.by_path:
                yield "op", here, env
            yield "after", here, env

    def _rotated(self, loop: Op) -> set[Var]:
        index = loop.blocks[0].params[0]
        return {
            v.buffer
            for leaf in self.leaves
            if loop in leaf.loops
            for v in (*leaf.reads, *leaf.writes)
            if index in variables(v.slot)
        }

    def _keys(self) -> dict[tuple[Var, int], list[tuple[Var, int]]]:
        """For each slot of a buffer, the slots of buffers that overlap it, itself included."""
        spans = {
            (b, s): (space, offset + s * size, offset + (s + 1) * size)
            for b, (space, offset, size) in self.ranges.items()
            for s in range(self.slots[b])
        }
        return {
            k: [o for o, y in spans.items() if x[0] == y[0] and x[1] < y[2] and y[1] < x[2]] for k, x in spans.items()
        }

    def slot(self, view: View, env: dict[Var, int], loops: Sequence[Op]) -> int:
        n = self.slots[view.buffer]
        if n == 1:
            return 0
        rotating = next(v for v in variables(view.slot))
        return env[rotating] % n

    def sync_slot(self, sync: Sync, env: dict[Var, int]) -> int:
        if sync.slots == 1:
            return 0
        return env[next(v for v in variables(sync.slot))] % sync.slots


@dataclass(frozen=True, eq=False)
class Conflict:
    """`second` may start before `first` has ended. `loop` is the depth of the loop that carries it, or None."""

    first: Leaf
    second: Leaf
    view: View | None
    loop: int | None


class Checker:
    """Runs a trace with given synchronisation and finds what is not ordered."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def conflicts(
        self, syncs: Sequence[Sync], barriers: frozenset[Path], limit: int | None = None
    ) -> list[Conflict] | None:
        """Unordered pairs, the first `limit` of them; None if a wait has no set."""
        return _Run(self.trace, syncs, barriers, limit).run()


class _Run:
    def __init__(self, trace: Trace, syncs: Sequence[Sync], barriers: frozenset[Path], limit: int | None) -> None:
        self.trace, self.limit, self.barriers = trace, limit, barriers
        self.waits_before: dict[Path, list[Sync]] = {}
        self.sets_after: dict[Path, list[Sync]] = {}
        self.primes: dict[Path, list[Sync]] = {}
        for s in syncs:
            self.waits_before.setdefault((*s.block, s.before), []).append(s)
            self.sets_after.setdefault((*s.block, s.after), []).append(s)
            if s.carried:
                self.primes.setdefault(s.home, []).append(s)
        self.count: dict[str, int] = {}
        self.know: dict[str, dict[str, int]] = {}
        self.fenced: dict[str, int] = {}
        self.pending: dict[tuple[Sync, int], dict[str, int]] = {}
        self.access: dict[tuple[Var, int], dict[tuple[str, bool], tuple[int, Leaf, dict[Var, int]]]] = {}
        self.gm: dict[Var, list[tuple[int, Leaf, dict[Var, int], bool]]] = {}
        self.found: list[Conflict] = []
        self.broken = False

    def run(self) -> list[Conflict] | None:
        for kind, path, env in self.trace.steps:
            if kind == "before":
                for s in self.waits_before.get(path, ()):
                    self.wait(s, self.trace.sync_slot(s, env))
                for s in self.primes.get(path, ()):
                    for slot in range(s.slots):
                        self.set(s, slot)
            elif kind == "op":
                self.op(self.trace.by_path[path], env)
            else:
                for s in self.sets_after.get(path, ()):
                    self.set(s, self.trace.sync_slot(s, env))
                for s in self.primes.get(path, ()):
                    for slot in range(s.slots):
                        self.wait(s, slot)
            if self.broken or (self.limit is not None and len(self.found) >= self.limit):
                break
        return None if self.broken or (any(self.pending.values()) and not self.found) else self.found

    def set(self, s: Sync, slot: int) -> None:
        if self.pending.get((s, slot)) is not None:
            self.broken = True
        state = dict(self.know.get(s.src, {}))
        state[s.src] = self.count.get(s.src, 0)
        self.pending[s, slot] = state

    def wait(self, s: Sync, slot: int) -> None:
        state = self.pending.pop((s, slot), None)
        if state is None:
            self.broken = True
            return
        mine = self.know.setdefault(s.dst, {})
        for pipe, done in state.items():
            mine[pipe] = max(mine.get(pipe, 0), done)

    def op(self, leaf: Leaf, env: dict[Var, int]) -> None:
        if leaf.path in self.barriers:
            self.fenced[leaf.pipe] = self.count.get(leaf.pipe, 0)
        for views, write in ((leaf.reads, False), (leaf.writes, True)):
            for view in views:
                key = view.buffer, self.trace.slot(view, env, leaf.loops)
                for other in self.trace.keys[key]:
                    for (_, was_write), (n, first, at) in self.access.get(other, {}).items():
                        if write or was_write:
                            self.compare(n, first, at, leaf, env, view)
        self.count[leaf.pipe] = now = self.count.get(leaf.pipe, 0) + 1
        for views, write in ((leaf.reads, False), (leaf.writes, True)):
            for view in views:
                key = view.buffer, self.trace.slot(view, env, leaf.loops)
                self.access.setdefault(key, {})[leaf.pipe, write] = (now, leaf, env)
        self.touch_gm(leaf, env, now)

    def compare(
        self, n: int, first: Leaf, at: dict[Var, int], second: Leaf, env: dict[Var, int], view: View | None
    ) -> None:
        if first.pipe == second.pipe:
            done = max(self.fenced.get(second.pipe, 0), self.know.get(second.pipe, {}).get(second.pipe, 0))
            if done >= n or not needs_barrier(first, second):
                return
        elif self.know.get(second.pipe, {}).get(first.pipe, 0) >= n:
            return
        self.found.append(Conflict(first, second, view, carrying_loop(first, at, second, env)))

    def touch_gm(self, leaf: Leaf, env: dict[Var, int], now: int) -> None:
        if leaf.op.name not in ("load", "store", "read"):
            return
        tensor = leaf.op.args[1] if leaf.op.name == "load" else leaf.op.args[0]
        if tensor not in self.trace.shared_tensors:
            return
        assert isinstance(tensor, Var)
        write = leaf.op.name == "store"
        for n, first, at, was_write in self.gm.get(tensor, []):
            if (write or was_write) and not _disjoint(first, at, leaf, env):
                self.compare(n, first, at, leaf, env, None)
        self.gm.setdefault(tensor, []).append((now, leaf, env, write))


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
    from pyto.ir.scalar import substitute

    env: dict[Var, Expr] = {}
    for loop in leaf.loops:
        for op in loop.blocks[0].ops:
            if op.name == "let":
                env[op.result] = substitute(op.args[0], env)
    return substitute(expr, env)


__all__ = [
    "Checker",
    "Conflict",
    "Leaf",
    "Sync",
    "Trace",
    "carrying_loop",
    "evaluate",
    "leaves",
    "needs_barrier",
    "pipe_of",
]
