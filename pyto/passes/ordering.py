"""Happens-before on the pipes of a core, decided on the trace of a machine-stage function.

Each pipe runs its instructions in order; a set flag lies behind all earlier instructions of its pipe, a wait flag
before all later ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pyto.ir.nodes import Const, Expr, Var, View
from pyto.ir.scalar import linear, substitute, variables
from pyto.passes.trace import PIPES, Key, Leaf, Path, Step, Sync, Trace, slot_number, tensor_of


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


Access = dict[Key, dict[tuple[str, bool], tuple[tuple[int, Leaf, dict[Var, int]], ...]]]
Touches = dict[Var, tuple[tuple[int, Leaf, dict[Var, int], bool], ...]]


@dataclass
class _State:
    """What is known at a moment of a run. Instructions and waits are numbered; sets of them are the bits of an int.

    know: for each pipe, what is over before its next instruction starts, or is not done on this way at all.
    fenced: for each pipe, which of its own are over, by its barriers. pending: what a set flag tells who waits for it.
    access, gm: who touched a buffer or a tensor last. waited: of each event the last waits; None while it is set.
    """

    know: dict[str, int] = field(default_factory=dict)
    fenced: dict[str, int] = field(default_factory=dict)
    pending: dict[tuple[Sync, int], int] = field(default_factory=dict)
    access: Access = field(default_factory=dict)
    gm: Touches = field(default_factory=dict)
    waited: dict[tuple[str, str, int], int | None] = field(default_factory=dict)

    def copy(self) -> _State:
        access = {key: dict(touched) for key, touched in self.access.items()}
        return _State(
            dict(self.know), dict(self.fenced), dict(self.pending), access, dict(self.gm), dict(self.waited)
        )  # fmt: skip

    def passed_by(self, numbers: int) -> None:
        """Counts instructions of the other way as over."""
        known: tuple[dict[Any, int], ...] = (self.know, self.fenced, self.pending)
        for each in known:
            for name in each:
                each[name] |= numbers
        for pipe in PIPES:
            self.know.setdefault(pipe, numbers)
            self.fenced.setdefault(pipe, numbers)

    def meet(self, other: _State) -> None:
        """What is known whichever way was taken."""
        known: list[dict[Any, int]] = [self.know, self.fenced, self.pending]
        theirs: list[dict[Any, int]] = [other.know, other.fenced, other.pending]
        for each, there in zip(known, theirs):
            for name in each:
                each[name] &= there.get(name, 0)
        for key, touched in other.access.items():
            here = self.access.setdefault(key, {})
            for who, last in touched.items():
                here[who] = (*here.get(who, ()), *(t for t in last if t not in here.get(who, ())))
        for tensor, touches in other.gm.items():
            have = self.gm.get(tensor, ())
            self.gm[tensor] = (*have, *(t for t in touches if t not in have))
        for event, waits in other.waited.items():
            mine_waits = self.waited.get(event, 0)
            self.waited[event] = None if waits is None or mine_waits is None else waits | mine_waits


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
        self.next = 0
        self.done: dict[str, int] = dict.fromkeys(PIPES, 0)  # the instructions and waits of each pipe
        self.state = _State()
        self.forks: list[tuple[_State, int]] = []  # the state at the fork, and the next number there
        self.ways: list[tuple[_State, int]] = []  # the state at the end of the first way, and the next number there
        self.found: list[Conflict] = []
        self.broken = False
        self.overlap = False

    def run(self) -> list[Conflict] | None:
        for step in self.trace.steps:
            if step.kind == "op":
                self.op(step)
            elif step.kind in ("before", "after"):
                if step.kind == "before" and step.path in self.fences:
                    self.fence()
                for s, is_set, every in (self.before if step.kind == "before" else self.after).get(step.path, ()):
                    numbers = range(s.slots) if every else (slot_number(s.slots, s.slot, step.env),)
                    for n in numbers:
                        self.set(s, n) if is_set else self.wait(s, n)
            else:
                getattr(self, step.kind)()
            if self.broken or (self.first_only and self.found):
                break
        return None if self.broken or (self.state.pending and not self.found) else self.found

    # -- ways that part and meet
    def fork(self) -> None:
        self.forks.append((self.state.copy(), self.next))

    def other(self) -> None:
        state, start = self.forks.pop()
        state.passed_by((1 << self.next) - (1 << start))
        self.ways.append((self.state, self.next))
        self.state = state

    def join(self) -> None:
        first, middle = self.ways.pop()
        first.passed_by((1 << self.next) - (1 << middle))
        if first.pending.keys() != self.state.pending.keys():
            self.broken = True
        self.state.meet(first)

    # -- what happens
    def number(self, pipe: str) -> int:
        now = self.next
        self.next += 1
        self.done[pipe] |= 1 << now
        return now

    def fence(self) -> None:
        everything = (1 << self.next) - 1
        self.state.know = dict.fromkeys(PIPES, everything)

    def set(self, s: Sync, slot: int) -> None:
        state = self.state
        if (s, slot) in state.pending:
            self.broken = True
        event = s.src, s.dst, s.event + slot
        last, known = state.waited.get(event, 0), state.know.get(s.src, 0)
        if last is None or last & ~known:
            self.overlap = True
        state.waited[event] = None
        state.pending[s, slot] = known | self.done[s.src]

    def wait(self, s: Sync, slot: int) -> None:
        told = self.state.pending.pop((s, slot), None)
        if told is None:
            self.broken = True
            return
        self.state.know[s.dst] = self.state.know.get(s.dst, 0) | told
        self.state.waited[s.src, s.dst, s.event + slot] = 1 << self.number(s.dst)

    def op(self, step: Step) -> None:
        leaf, state = step.leaf, self.state
        assert leaf is not None
        if leaf.path in self.barriers:
            state.fenced[leaf.pipe] = self.done[leaf.pipe] | state.fenced.get(leaf.pipe, 0)
        for key, write, view in step.touched:
            for other in self.trace.overlapping(key):
                for (_, was_write), last in state.access.get(other, {}).items():
                    if write or was_write:
                        for n, first, at in last:
                            self.compare(n, first, at, step, view)
        now = self.number(leaf.pipe)
        for key, write, _ in step.touched:
            state.access.setdefault(key, {})[leaf.pipe, write] = ((now, leaf, step.env),)
        tensor = tensor_of(leaf.op)
        if tensor in self.trace.shared_tensors:
            assert tensor is not None
            self.touch_gm(tensor, step, now)

    def compare(self, n: int, first: Leaf, at: dict[Var, int], step: Step, view: View | None) -> None:
        second, state = step.leaf, self.state
        assert second is not None
        if state.know.get(second.pipe, 0) >> n & 1:
            return
        earlier = self.done[first.pipe] & ((2 << n) - 1)
        if first.pipe == second.pipe:
            if state.fenced.get(second.pipe, 0) >> n & 1 or not needs_barrier(first, second):
                return
            state.fenced[second.pipe] = state.fenced.get(second.pipe, 0) | earlier
        else:
            state.know[second.pipe] = state.know.get(second.pipe, 0) | earlier  # as if an event ordered them
        self.found.append(Conflict(first, second, view, carrying_loop(first, at, second, step.env)))

    def touch_gm(self, tensor: Var, step: Step, now: int) -> None:
        leaf = step.leaf
        assert leaf is not None
        write = leaf.op.name == "store"
        touches = self.state.gm.get(tensor, ())
        for n, first, at, was_write in touches:
            if (write or was_write) and not _disjoint(first, at, leaf, step.env):
                self.compare(n, first, at, step, None)
        self.state.gm[tensor] = (*touches, (now, leaf, step.env, write))


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
