"""Which instructions of a trace touch the same bytes: the pairs that a plan of events has to order."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyto.ir.nodes import Const, Expr, Op, Var, View, walk
from pyto.ir.scalar import linear, substitute, variables
from pyto.passes.trace import Key, Leaf, Step, Trace, tensor_of


@dataclass(frozen=True)
class Pair:
    """An instruction that must be over before another starts: its number, and the operand of the other."""

    number: int
    view: View | None


@dataclass
class _Touches:
    """The last accesses to each slot of a buffer by each pipe, and all those to tensors, as numbers."""

    buffers: dict[Key, dict[tuple[str, bool], tuple[int, ...]]] = field(default_factory=dict)
    tensors: dict[Var, tuple[tuple[int, bool], ...]] = field(default_factory=dict)

    def copy(self) -> _Touches:
        return _Touches({key: dict(touched) for key, touched in self.buffers.items()}, dict(self.tensors))

    def merge(self, other: _Touches) -> None:
        for key, touched in other.buffers.items():
            here = self.buffers.setdefault(key, {})
            for who, last in touched.items():
                here[who] = tuple(sorted({*here.get(who, ()), *last}))
        for tensor, touches in other.tensors.items():
            self.tensors[tensor] = tuple(sorted({*self.tensors.get(tensor, ()), *touches}))


def pairs_of(trace: Trace) -> list[list[Pair]]:
    """For each instruction of the trace those before it that touch what it touches, one of them writing.

    Of the accesses of one pipe to one slot the last stands for those before it: pipes run in order.
    """
    ops: list[Step] = []
    pairs: list[list[Pair]] = []
    touches, stack = _Touches(), []
    for step in trace.steps:
        if step.kind == "fork":
            stack.append(touches.copy())
        elif step.kind == "other":
            touches, stack[-1] = stack[-1], touches
        elif step.kind == "join":
            touches.merge(stack.pop())
        elif step.kind == "op":
            pairs.append(_before(trace, step, touches, ops))
            ops.append(step)
    return pairs


def _before(trace: Trace, step: Step, touches: _Touches, ops: list[Step]) -> list[Pair]:
    leaf, number = step.leaf, len(ops)
    assert leaf is not None
    found: dict[int, View | None] = {}
    for key, write, view in step.touched:
        for other in trace.overlapping(key):
            for (_, was_write), last in touches.buffers.get(other, {}).items():
                if write or was_write:
                    for n in last:
                        found.setdefault(n, view)
    for key, write, _ in step.touched:
        touches.buffers.setdefault(key, {})[leaf.pipe, write] = (number,)
    tensor = tensor_of(leaf.op)
    if tensor is not None and tensor in trace.shared_tensors:
        write = leaf.op.name == "store"
        earlier = touches.tensors.get(tensor, ())
        for n, was_write in earlier:
            first = ops[n].leaf
            assert first is not None
            if (write or was_write) and not _disjoint(first, ops[n].env, leaf, step.env):
                found.setdefault(n, None)
        touches.tensors[tensor] = (*earlier, (number, write))
    out = []
    for n, operand in found.items():
        first = ops[n].leaf
        assert first is not None
        if first.pipe != leaf.pipe or needs_barrier(first, leaf):
            out.append(Pair(n, operand))
    return out


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
    if depth is not None and second.loops[depth].name != "for":
        return False  # nothing is known of how far the iterations of a `while` lie apart
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
        if fa != fb or _made_in(loop) & set().union(*(variables(k) for k in fa[0])):
            continue
        stride = abs(fa[0].get(index, 0)) * (step.value if isinstance(step, Const) else 1)
        if stride >= max(size_a, size_b):
            return True
    return False


def _made_in(loop: Op) -> set[Var]:
    """What may have another value in another iteration of the loop, its index aside."""
    (body,) = loop.blocks
    return set(body.params[1:]).union(*(set(o.results).union(*(b.params for b in o.blocks)) for o in walk(body)))


def _expand(expr: Expr, leaf: Leaf) -> Expr:
    """An offset with the `let`s around the access replaced by what they name."""
    env: dict[Var, Expr] = {}
    for loop in leaf.loops:
        for op in loop.blocks[0].ops:
            if op.name == "let":
                env[op.result] = substitute(op.args[0], env)
    return substitute(expr, env)
