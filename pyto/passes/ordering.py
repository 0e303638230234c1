"""Happens-before on the pipes of a core, decided on the trace of a machine-stage function.

Each pipe runs its instructions in order; a set flag lies behind all earlier instructions of its pipe, a wait flag
before all later ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
