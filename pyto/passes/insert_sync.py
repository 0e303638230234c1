"""Machine stage: the fewest events and barriers that order everything that must be ordered.

Every unordered pair that `ordering.Checker` finds asks for an event; events of the same two pipes in one block are then
joined where that stays right, and whatever turns out to be implied by others is taken out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyto.errors import InternalError
from pyto.ir.nodes import Apply, Block, Const, Expr, Function, Op, Program, View
from pyto.ir.scalar import apply
from pyto.passes.ordering import Conflict, Order, Plan
from pyto.passes.trace import Path, Sync, Trace, blocks_of, crossing, rotating_loop
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
        self.order = Order(self.trace)
        self.plan = Plan()

    def run(self) -> Function:
        self._cover()
        self._join()
        self._thin()
        while not self._number():
            self._thin()
        return self.function.with_(body=self._emit(self.function.body, ()))

    def _take(self, plan: Plan, changed: Sequence[Path]) -> bool:
        """Changes to a plan that orders everything."""
        if not self.order.holds(plan, changed):
            return False
        self.plan = plan
        return True

    def _cover(self) -> None:
        for _ in range(100):
            found = self.order.conflicts(self.plan)
            if found is None:
                raise InternalError(f"synchronisation of {self.function.name}: a wait has no set", self.function.loc)
            if not found:
                break
            barriers = self.plan.barriers | {c.second.path for c in found if c.first.pipe == c.second.pipe}
            events = dict.fromkeys(_event(c) for c in found if c.first.pipe != c.second.pipe)
            syncs = (*self.plan.syncs, *(e for e in events if e not in self.plan.syncs))
            self.plan = replace(self.plan, syncs=syncs, barriers=barriers)
        else:
            raise InternalError(f"synchronisation of {self.function.name} does not converge", self.function.loc)
        self._take(self.plan, ())

    def _join(self) -> None:
        i = 0
        while i < len(self.plan.syncs):
            first = self.plan.syncs[i]
            for other in self.plan.syncs[i + 1 :]:
                joined = _joined(first, other)
                if joined is None:
                    continue
                rest = self.plan.without(first).without(other).syncs
                plan = replace(self.plan, syncs=(*rest[:i], joined, *rest[i:]))
                if self._take(plan, (*_places(first), *_places(other))):
                    i -= 1
                    break
            i += 1

    def _thin(self) -> None:
        for sync in sorted(self.plan.syncs, key=lambda s: (not s.carried, -len(s.block))):
            self._take(self.plan.without(sync), _places(sync))
        for path in sorted(self.plan.barriers, reverse=True):
            self._take(replace(self.plan, barriers=self.plan.barriers - {path}), [path])

    def _number(self) -> bool:
        """Event ids for each pair of pipes, one for each sync while they last, then shared where that is safe.

        False if one was left without: a barrier of all pipes now stands in its place, which may make others needless.
        """
        together = self.order.clashes(self.plan)
        numbered: list[tuple[Sync, Sync]] = []  # as planned, and with its id
        for sync in sorted(self.plan.syncs, key=lambda s: (not s.carried, s.block, s.after, s.before)):
            same = [(s, n) for s, n in numbered if (s.src, s.dst) == (sync.src, sync.dst)]
            free = max((n.event + n.slots for _, n in same), default=0)
            if free + sync.slots > EVENT_IDS:
                taken = {n.event + k for s, n in same if (s, sync) in together for k in range(n.slots)}
                fits = (e for e in range(EVENT_IDS - sync.slots + 1) if not taken & set(range(e, e + sync.slots)))
                found = None if (sync, sync) in together else next(fits, None)
                if found is None:
                    fenced = self.plan.without(sync)
                    fence = (*sync.block, sync.before)
                    if not self._take(replace(fenced, fences=fenced.fences | {fence}), (fence, *_places(sync))):
                        raise InternalError(f"a barrier of all pipes in {self.function.name} orders less than an event")
                    return False
                free = found
            numbered.append((sync, replace(sync, event=free)))
        self.plan = replace(self.plan, syncs=tuple(n for _, n in numbered))
        return True

    # -- writing it down
    def _emit(self, block: Block, path: Path) -> Block:
        ops: list[Op] = []
        for i, op in enumerate(block.ops):
            here = (*path, i)
            if here in self.plan.fences:
                ops.append(Op("barrier", (), (), {"pipe": "ALL"}, (), op.loc))
            for s in self.plan.syncs:
                if (*s.block, s.before) == here:
                    ops.append(_flag("wait_flag", s, _slot_id(s), op))
            if here in self.plan.barriers:
                ops.append(Op("barrier", (), (), {"pipe": self.trace.by_path[here].pipe}, (), op.loc))
            homes = [s for s in self.plan.syncs if s.carried and s.home == here]
            for s in homes:
                ops += [_flag("set_flag", s, Const(s.event + n), op) for n in range(s.slots)]
            ops.append(op.with_(blocks=tuple(self._emit(b, at) for b, at in blocks_of(op, here))))
            for s in self.plan.syncs:
                if (*s.block, s.after) == here:
                    ops.append(_flag("set_flag", s, _slot_id(s), op))
            for s in self.plan.syncs:
                if s.block == here and (left := crossing(s, self.trace.breaks)) is not None:
                    ops.append(_flag("set_flag" if left else "wait_flag", s, _slot_id(s), op))
            for s in homes:
                ops += [_flag("wait_flag", s, Const(s.event + n), op) for n in range(s.slots)]
        return Block(block.params, tuple(ops))


def _places(sync: Sync) -> list[Path]:
    """The items where its sets and waits stand."""
    return [(*sync.block, sync.after), (*sync.block, sync.before), *([sync.home] if sync.carried else [])]


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
