"""Machine stage: the fewest events and barriers that order everything that must be ordered.

Every unordered pair that `ordering.Checker` finds asks for an event; events of the same two pipes in one block are then
joined where that stays right, and whatever turns out to be implied by others is taken out again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyto.errors import InternalError
from pyto.ir.nodes import Apply, Block, Const, Expr, Function, Op, Program, View
from pyto.ir.scalar import apply
from pyto.passes.ordering import Conflict, conflicts, events_apart
from pyto.passes.trace import Path, Sync, Trace, blocks_of, rotating_loop
from pyto.target import EVENT_IDS, FRACTAL, MMAD_BARRIER_FRACTALS


def insert_sync(program: Program) -> Program:
    return program.map_device(lambda f: _Planner(_mark_small(f)).run())


def _mark_small(function: Function) -> Function:
    """Mark the Mmads that cover so few fractals that a chain of them needs a barrier."""

    def visit(block: Block) -> Block:
        ops = []
        for op in block.ops:
            op = op.with_(blocks=tuple(visit(b) for b in op.blocks))
            if op.name == "mmad":
                window = op.args[0]
                assert isinstance(window, View)
                rows = window.shape[0] if isinstance(window.valid[0], Const) else 1
                fractals = -(-rows // FRACTAL) * -(-window.shape[1] // FRACTAL)
                op = op.with_(attrs={**op.attrs, "small": fractals < MMAD_BARRIER_FRACTALS})
            ops.append(op)
        return Block(block.params, tuple(ops))

    return function.with_(body=visit(function.body))


class _Planner:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.trace = Trace(function)
        self.syncs: list[Sync] = []
        self.barriers: frozenset[Path] = frozenset()  # items with a barrier of their pipe before them
        self.fences: frozenset[Path] = frozenset()  # items with a barrier of all pipes before them

    def run(self) -> Function:
        self._cover()
        self._join()
        self._thin()
        while not self._number():
            self._thin()
        return self.function.with_(body=self._emit(self.function.body, ()))

    def _holds(self, syncs: list[Sync], barriers: frozenset[Path] | None = None) -> bool:
        return conflicts(self.trace, syncs, self.barriers if barriers is None else barriers, self.fences) == []

    def _cover(self) -> None:
        for _ in range(100):
            found = conflicts(self.trace, self.syncs, self.barriers, self.fences, first_only=False)
            if found is None:
                raise InternalError(f"synchronisation of {self.function.name}: a wait has no set", self.function.loc)
            if not found:
                return
            self.barriers |= {c.second.path for c in found if c.first.pipe == c.second.pipe}
            for sync in (_event(c) for c in found if c.first.pipe != c.second.pipe):
                if sync not in self.syncs:
                    self.syncs.append(sync)
        raise InternalError(f"synchronisation of {self.function.name} does not converge", self.function.loc)

    def _join(self) -> None:
        i = 0
        while i < len(self.syncs):
            for other in self.syncs[i + 1 :]:
                joined = _joined(self.syncs[i], other)
                if joined is None:
                    continue
                rest = [s for s in self.syncs if s is not self.syncs[i] and s is not other]
                if self._holds([*rest[:i], joined, *rest[i:]]):
                    self.syncs = [*rest[:i], joined, *rest[i:]]
                    i -= 1
                    break
            i += 1

    def _thin(self) -> None:
        for sync in sorted(self.syncs, key=lambda s: (not s.carried, -len(s.block))):
            rest = [s for s in self.syncs if s is not sync]
            if self._holds(rest):
                self.syncs = rest
        for path in sorted(self.barriers, reverse=True):
            if self._holds(self.syncs, self.barriers - {path}):
                self.barriers -= {path}

    def _number(self) -> bool:
        """Event ids for each pair of pipes, one for each sync while they last, then shared where that is safe.

        False if one was left without: a barrier of all pipes now stands in its place, which may make others needless.
        """
        numbered: list[Sync] = []
        for sync in sorted(self.syncs, key=lambda s: (not s.carried, s.block, s.after, s.before)):
            pair = [s for s in numbered if (s.src, s.dst) == (sync.src, sync.dst)]
            free = max((s.event + s.slots for s in pair), default=0)
            if free + sync.slots <= EVENT_IDS:
                numbered.append(replace(sync, event=free))
                continue
            shared = (replace(sync, event=e) for e in range(EVENT_IDS - sync.slots + 1))
            safe = next((s for s in shared if self._apart([*numbered, s])), None)
            if safe is None:
                self.fences |= {(*sync.block, sync.before)}
                self.syncs = [s for s in self.syncs if s is not sync]
                return False
            numbered.append(safe)
        self.syncs = numbered
        return True

    def _apart(self, numbered: list[Sync]) -> bool:
        """Whether the ids of `numbered` are never set twice; syncs without an id yet count as ids of their own."""
        have = {replace(s, event=0) for s in numbered}
        others = [replace(s, event=1000 + 100 * i) for i, s in enumerate(self.syncs) if replace(s, event=0) not in have]
        return events_apart(self.trace, [*numbered, *others], self.barriers, self.fences)

    # -- writing it down
    def _emit(self, block: Block, path: Path) -> Block:
        ops: list[Op] = []
        for i, op in enumerate(block.ops):
            here = (*path, i)
            if here in self.fences:
                ops.append(Op("barrier", (), (), {"pipe": "ALL"}, (), op.loc))
            for s in self.syncs:
                if (*s.block, s.before) == here:
                    ops.append(_flag("wait_flag", s, _slot_id(s), op))
            if here in self.barriers:
                ops.append(Op("barrier", (), (), {"pipe": self.trace.by_path[here].pipe}, (), op.loc))
            homes = [s for s in self.syncs if s.carried and s.home == here]
            for s in homes:
                ops += [_flag("set_flag", s, Const(s.event + n), op) for n in range(s.slots)]
            ops.append(op.with_(blocks=tuple(self._emit(b, at) for b, at in blocks_of(op, here))))
            for s in self.syncs:
                if (*s.block, s.after) == here:
                    ops.append(_flag("set_flag", s, _slot_id(s), op))
            for s in homes:
                ops += [_flag("wait_flag", s, Const(s.event + n), op) for n in range(s.slots)]
        return Block(block.params, tuple(ops))


def _flag(name: str, sync: Sync, event: Expr, near: Op) -> Op:
    return Op(name, (event,), (), {"src": sync.src, "dst": sync.dst}, (), near.loc)


def _slot_id(sync: Sync) -> Expr:
    return Const(sync.event) if sync.slots == 1 else apply("add", sync.slot, Const(sync.event))


def _event(conflict: Conflict) -> Sync:
    """The event that orders a conflict: in the innermost block that holds both, or carried by the loop between them."""
    first, second = conflict.first, conflict.second
    if conflict.loop is None:
        depth = 0
        while first.path[depth] == second.path[depth]:
            depth += 1
        block = first.path[:depth]
        return Sync(first.pipe, second.pipe, block, first.path[depth], second.path[depth], **_rotation(conflict, block))
    block, home = first.bodies[max(conflict.loop, _rotating_loop(conflict))], first.path[:1]
    after, before = first.path[len(block)], second.path[len(block)]
    if after < before:  # pipes run in order: what waits for this iteration has waited for the one before
        return Sync(first.pipe, second.pipe, block, after, before, **_rotation(conflict, block))
    return Sync(first.pipe, second.pipe, block, after, before, True, home, **_rotation(conflict, block))


def _rotating_loop(conflict: Conflict) -> int:
    """Depth of the loop around both instructions that rotates the buffer in conflict, or -1.

    An event for each slot in there orders the slot's uses across outer loops too, and leaves the other slots alone.
    """
    if conflict.view is None:
        return -1
    depth = rotating_loop(conflict.view.slot, conflict.second.loops)
    loops = conflict.first.loops
    return depth if 0 <= depth < len(loops) and loops[depth] is conflict.second.loops[depth] else -1


def _rotation(conflict: Conflict, block: Path) -> dict[str, Any]:
    """Slots of the buffer in conflict, where the loop that rotates them holds the event's block."""
    depth = _rotating_loop(conflict)
    if depth < 0 or len(conflict.first.bodies[depth]) > len(block):
        return {}
    assert conflict.view is not None and isinstance(conflict.view.slot, Apply)
    slots = conflict.view.slot.args[1]
    assert isinstance(slots, Const)
    return {"slots": slots.value, "slot": conflict.view.slot}


def _joined(a: Sync, b: Sync) -> Sync | None:
    if (a.src, a.dst, a.block, a.carried, a.slots, a.slot) != (b.src, b.dst, b.block, b.carried, b.slots, b.slot):
        return None
    joined = replace(a, after=max(a.after, b.after), before=min(a.before, b.before))
    return joined if joined.carried or joined.after < joined.before else None
