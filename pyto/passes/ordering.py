"""Happens-before on the pipes of a core, decided on the trace of a machine-stage function.

Each pipe runs its instructions in order; a set flag lies behind all earlier instructions of its pipe, a wait flag
before all later ones. Which pairs touch the same bytes follows from the trace alone; a plan of events and barriers is
judged by a run over the trace. Plans differ little from one to the next, so a run starts where the change begins, from
what was known there under the last good plan, and ends where it knows the same again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pyto.ir.nodes import View
from pyto.passes.pairs import carrying_loop, pairs_of
from pyto.passes.trace import PIPES, Leaf, Path, Step, Sync, Trace, crossing, slot_number

STRIDE = 4  # items from one kept state of a run to the next: copies against steps run again


@dataclass(frozen=True, eq=False)
class Conflict:
    """`second` may start before `first` has ended. `loop` is the depth of the loop that carries it, or None."""

    first: Leaf
    second: Leaf
    view: View | None
    loop: int | None


@dataclass(frozen=True)
class Plan:
    """`barriers`: items with a barrier of their own pipe before them; `fences`: those with one of all pipes."""

    syncs: tuple[Sync, ...] = ()
    barriers: frozenset[Path] = frozenset()
    fences: frozenset[Path] = frozenset()

    def without(self, sync: Sync) -> Plan:
        return replace(self, syncs=tuple(s for s in self.syncs if s is not sync))


@dataclass
class _State:
    """What is known at a moment of a run. Instructions and waits are numbered; sets of them are the bits of an int.

    know: for each pipe, what is over before its next instruction starts, or is not done on this way at all.
    fenced: for each pipe, which of its own are over, by its barriers. pending: what a set flag tells who waits for it.
    waited: the last waits for each event.
    """

    know: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PIPES, 0))
    fenced: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PIPES, 0))
    pending: dict[tuple[Sync, int], int] = field(default_factory=dict)
    waited: dict[tuple[Sync, int], int] = field(default_factory=dict)

    def copy(self) -> _State:
        return _State(dict(self.know), dict(self.fenced), dict(self.pending), dict(self.waited))

    def passed_by(self, numbers: int) -> None:
        """Counts instructions of the other way as over."""
        known: list[dict[Any, int]] = [self.know, self.fenced, self.pending]
        for each in known:
            for name in each:
                each[name] |= numbers

    def meet(self, other: _State) -> None:
        """What is known whichever way was taken."""
        known: list[dict[Any, int]] = [self.know, self.fenced, self.pending]
        theirs: list[dict[Any, int]] = [other.know, other.fenced, other.pending]
        for each, there in zip(known, theirs):
            for name in each:
                each[name] &= there.get(name, 0)
        for event, waits in other.waited.items():
            self.waited[event] = self.waited.get(event, 0) | waits

    def knows_as(self, other: _State) -> bool:
        return self.know == other.know and self.fenced == other.fenced and self.pending == other.pending


class Order:
    """Judges plans for one trace, keeping the last good one."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.plan = Plan()
        self.steps = trace.steps
        self.ops = [step for step in trace.steps if step.kind == "op"]
        self.pairs = pairs_of(trace)
        self.waits: dict[tuple[int, Sync, int], int] = {}  # the numbers of waits: by step, event and slot
        self.marks: dict[int, _Mark] = {}  # the last good plan's run, before some of the items
        befores = [i for i, step in enumerate(trace.steps) if step.kind == "before"]
        self.stops = frozenset(befores[::STRIDE])

    @cached_property
    def span(self) -> dict[Path, tuple[int, int]]:
        """The first and the last step at which an item is begun or ended."""
        found: dict[Path, tuple[int, int]] = {}
        for i, step in enumerate(self.steps):
            found[step.path] = found.get(step.path, (i, i))[0], i
        return found

    def conflicts(self, plan: Plan) -> list[Conflict] | None:
        """All unordered pairs that direct events would have to order; None if a wait has no set."""
        run = _Run(self, plan, True)
        run.go(0)
        return run.result()

    def holds(self, plan: Plan, changed: Sequence[Path]) -> bool:
        """Whether `plan` orders everything; `changed` are the items where it differs from the last good plan.

        A plan that does is the last good one from then on.
        """
        whiles = (path[:-1] for path in changed if path[:-1] in self.trace.breaks)
        spans = [self.span[path] for path in (*changed, *whiles) if path in self.span]
        run, start, end = _Run(self, plan, False), 0, len(self.steps)
        if spans and self.marks:
            end = max(last for _, last in spans)
            start = max((i for i in self.marks if i <= min(first for first, _ in spans)), default=0)
        if start:
            run.resume(self.marks[start])
        met = run.go(start, end)
        if run.result() != []:
            return False
        self.plan = plan
        kept = {i: m for i, m in self.marks.items() if i < start or (met is not None and i >= met)}
        self.marks = {**kept, **run.marks}
        return True

    def clashes(self, plan: Plan) -> set[tuple[Sync, Sync]]:
        """Pairs of events (and events by themselves) that must not have one id, for one may be set while the other is
        not waited for yet."""
        run = _Run(self, plan, True, ids=True)
        run.go(0)
        return run.together


@dataclass
class _Mark:
    """A run, before the item of a step."""

    state: _State
    forks: list[tuple[_State, int, int]]
    ways: list[tuple[_State, int, int]]
    op: int
    done: dict[str, int]


class _Run:
    def __init__(self, order: Order, plan: Plan, everything: bool, ids: bool = False) -> None:
        self.order, self.everything, self.ids = order, everything, ids
        self.barriers, self.fences = plan.barriers, plan.fences
        self.syncs = plan.syncs
        self.before: dict[Path, list[tuple[Sync, bool, bool]]] = {}  # (sync, whether a set, whether every slot)
        self.after: dict[Path, list[tuple[Sync, bool, bool]]] = {}
        for s in plan.syncs:
            self.before.setdefault((*s.block, s.before), []).append((s, False, False))
            self.after.setdefault((*s.block, s.after), []).append((s, True, False))
        for s in plan.syncs:
            left = crossing(s, order.trace.breaks)
            if left is not None:
                self.after.setdefault(s.block, []).append((s, left, False))
        for s in plan.syncs:
            if s.carried:
                self.before.setdefault(s.home, []).append((s, True, True))
                self.after.setdefault(s.home, []).append((s, False, True))
        self.state = _State()
        self.next = 0  # the number of the next instruction
        self.waits = 0  # the waits met since the last fork
        self.done: dict[str, int] = dict.fromkeys(PIPES, 0)  # the instructions and waits of each pipe
        self.forks: list[tuple[_State, int, int]] = []  # the state at the fork, the next number, the waits before it
        self.ways: list[tuple[_State, int, int]] = []  # the state at the end of the first way, the next number, waits
        self.marks: dict[int, _Mark] = {}
        self.found: list[Conflict] = []
        self.broken = False
        self.together: set[tuple[Sync, Sync]] = set()

    def resume(self, mark: _Mark) -> None:
        self.state, self.done, self.next = mark.state.copy(), dict(mark.done), mark.op
        self.forks = [(s.copy(), n, w) for s, n, w in mark.forks]
        self.ways = [(s.copy(), n, w) for s, n, w in mark.ways]

    def mark(self) -> _Mark:
        forks = [(s.copy(), n, w) for s, n, w in self.forks]
        ways = [(s.copy(), n, w) for s, n, w in self.ways]
        return _Mark(self.state.copy(), forks, ways, self.next, dict(self.done))

    def result(self) -> list[Conflict] | None:
        return None if self.broken else self.found

    def go(self, start: int, changed: int | None = None) -> int | None:
        """Runs from a step on. Gives the step behind `changed` at which all is known that was known there before."""
        steps, old = self.order.steps, self.order.marks
        for i in range(start, len(steps)):
            step = steps[i]
            if step.kind == "op":
                self.op(step)
            elif step.kind == "before":
                if changed is not None and i in self.order.stops:
                    if i > changed and i in old and self._as(old[i]):
                        return i
                    self.marks[i] = self.mark()
                if step.path in self.fences:
                    self.fence()
                self.flags(i, step, self.before)
            elif step.kind == "after":
                self.flags(i, step, self.after)
            else:
                getattr(self, step.kind)()
            if self.broken or (self.found and not self.everything):
                return None
        if self.state.pending and not self.found:
            self.broken = True
        return None

    def _as(self, mark: _Mark) -> bool:
        return (
            self.state.knows_as(mark.state)
            and all(a[0].knows_as(b[0]) for a, b in zip(self.forks, mark.forks))
            and all(a[0].knows_as(b[0]) for a, b in zip(self.ways, mark.ways))
        )

    def flags(self, i: int, step: Step, table: dict[Path, list[tuple[Sync, bool, bool]]]) -> None:
        for s, is_set, every in table.get(step.path, ()):
            numbers = range(s.slots) if every else (slot_number(s.slots, s.slot, step.env),)
            for n in numbers:
                self.set(s, n) if is_set else self.wait(i, s, n)

    # -- ways that part and meet
    def fork(self) -> None:
        self.forks.append((self.state.copy(), self.next, self.waits))
        self.waits = 0

    def other(self) -> None:
        state, start, outer = self.forks.pop()
        state.passed_by(((1 << self.next) - (1 << start)) | self.waits)
        self.ways.append((self.state, self.next, outer | self.waits))
        self.state, self.waits = state, 0

    def join(self) -> None:
        first, middle, outer = self.ways.pop()
        first.passed_by(((1 << self.next) - (1 << middle)) | self.waits)
        if first.pending.keys() != self.state.pending.keys():
            self.broken = True
        self.state.meet(first)
        self.waits |= outer

    # -- what happens
    def fence(self) -> None:
        everything = 0
        for done in self.done.values():
            everything |= done
        self.state.know = dict.fromkeys(PIPES, everything)

    def set(self, s: Sync, slot: int) -> None:
        state = self.state
        known = state.know[s.src]
        if (s, slot) in state.pending:
            self.broken = True
        if self.ids:
            self.share(s, known)
        state.pending[s, slot] = known | self.done[s.src]

    def share(self, s: Sync, known: int) -> None:
        for other in self.syncs:
            if (other.src, other.dst) != (s.src, s.dst) or (s, other) in self.together:
                continue
            for n in range(other.slots):
                unknown = self.state.waited.get((other, n), 0) & ~known
                if unknown or (other is not s and (other, n) in self.state.pending):
                    self.together |= {(s, other), (other, s)}

    def wait(self, i: int, s: Sync, slot: int) -> None:
        told = self.state.pending.pop((s, slot), None)
        if told is None:
            self.broken = True
            return
        self.state.know[s.dst] |= told
        if self.ids:
            waits = self.order.waits
            bit = 1 << waits.setdefault((i, s, slot), len(self.order.ops) + len(waits))
            self.done[s.dst] |= bit
            self.waits |= bit
            self.state.waited[s, slot] = bit

    def op(self, step: Step) -> None:
        leaf, state, number = step.leaf, self.state, self.next
        assert leaf is not None
        if leaf.path in self.barriers:
            state.fenced[leaf.pipe] |= self.done[leaf.pipe]
        know, fenced = state.know[leaf.pipe], state.fenced[leaf.pipe]
        for pair in self.order.pairs[number]:
            if know >> pair.number & 1:
                continue
            earlier = self.order.ops[pair.number]
            first = earlier.leaf
            assert first is not None
            if first.pipe == leaf.pipe:
                if fenced >> pair.number & 1:
                    continue
                fenced |= self.done[first.pipe] & ((2 << pair.number) - 1)
            else:  # as if an event ordered them
                know |= self.done[first.pipe] & ((2 << pair.number) - 1)
            self.found.append(Conflict(first, leaf, pair.view, carrying_loop(first, earlier.env, leaf, step.env)))
        state.know[leaf.pipe], state.fenced[leaf.pipe] = know, fenced
        self.done[leaf.pipe] |= 1 << number
        self.next = number + 1
