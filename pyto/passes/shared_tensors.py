"""Which GM tensors more than one core of a mixed region's block touches in a way that needs their accesses in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pyto.ir.nodes import LOOPS, Block, Const, Expr, Op, TensorType, TileType, Var
from pyto.ir.scalar import linear, substitute, variables

READS = frozenset({"load", "read"})


@dataclass(frozen=True)
class Place:
    """Who runs an access of GM: `cores` by name, and whether each vector core takes half of the rows."""

    cores: frozenset[str]
    halved: bool = False


@dataclass(frozen=True, eq=False)
class _Access:
    op: Op
    place: Place
    writes: bool
    offsets: tuple[Expr, ...]
    sizes: tuple[int, ...]  # elements along each axis; none for what is no window


def tensors_of(op: Op) -> Iterator[Var]:
    for arg in op.args:
        if isinstance(arg, Var) and isinstance(arg.type, TensorType):
            yield arg


def shared_tensors(body: Block, place: Callable[[Op], Place]) -> set[Var]:
    """Tensors with two accesses, one of them writing, that different cores may make to the same elements."""
    return _Shared(body, place).found


class _Shared:
    def __init__(self, body: Block, place: Callable[[Op], Place]) -> None:
        self.place = place
        self.accesses: dict[Var, list[_Access]] = {}
        self.lets: dict[Var, Expr] = {}
        self.steps: dict[Var, int] = {}  # of loops inside the region: elements of the index from trip to trip, or 0
        self._visit(body, False)
        self.found = {t for t, found in self.accesses.items() if self._meet(found)}

    def _visit(self, block: Block, inside: bool) -> None:
        for op in block.ops:
            loop = op.name in LOOPS and op.attrs.get("kind") != "blocks"
            if loop:
                index, *carried = op.blocks[0].params
                step = op.args[2] if op.name == "for" else Const(0)
                self.steps[index] = int(step.value) if isinstance(step, Const) else 0
                self.steps |= dict.fromkeys(carried, 0)
            if op.name == "let":
                self.lets[op.result] = substitute(op.args[0], self.lets)
            elif inside:
                self.steps |= dict.fromkeys(op.results, 0)
            for tensor in tensors_of(op):
                self.accesses.setdefault(tensor, []).append(self._access(op, tensor))
            for inner in op.blocks:
                self._visit(inner, inside or loop)

    def _access(self, op: Op, tensor: Var) -> _Access:
        rank = len(tensor.type.shape)  # type: ignore[union-attr]
        offsets = tuple(substitute(a, self.lets) for a in op.args[len(op.args) - rank :])
        sizes: tuple[int, ...] = ()
        tile: Any = op.result.type if op.name == "load" else op.args[1].type if op.name == "store" else None  # type: ignore[attr-defined]
        if isinstance(tile, TileType):
            extent = {op.attrs["rows"]: tile.shape[0], op.attrs["cols"]: tile.shape[1]}
            sizes = tuple(extent.get(axis, 1) for axis in range(rank))
        return _Access(op, self.place(op), op.name not in READS, offsets, sizes)

    def _meet(self, found: list[_Access]) -> bool:
        pairs = ((a, b) for i, a in enumerate(found) for b in found[i:])
        return any((a.writes or b.writes) and not self._apart(a, b) for a, b in pairs)

    def _apart(self, a: _Access, b: _Access) -> bool:
        """Whether no two cores make the accesses to the same elements, or in any order."""
        if len(a.place.cores | b.place.cores) < 2:
            return True
        if a.op.attrs.get("atomic") and b.op.attrs.get("atomic"):
            return True
        if not a.sizes or not b.sizes:
            return False
        if a is not b and any(self._never(*x) for x in zip(a.offsets, b.offsets, a.sizes, b.sizes)):
            return True
        axis = a.op.attrs["rows"]
        return (
            a.place.halved
            and b.place.halved
            and axis == b.op.attrs["rows"]
            and (a.offsets[axis], a.sizes[axis]) == (b.offsets[axis], b.sizes[axis])
            and self._windows_apart(a.offsets[axis], a.sizes[axis])
        )

    def _never(self, a: Expr, b: Expr, size_a: int, size_b: int) -> bool:
        """Whether two windows of an axis lie apart in all iterations."""
        terms, gap = linear(b - a)
        fixed = not any(v in self.steps for v in variables(a) | variables(b))
        return not terms and fixed and (gap >= size_a or -gap >= size_b)

    def _windows_apart(self, offset: Expr, size: int) -> bool:
        """Whether the windows of different iterations are the same or lie apart."""
        moving = [(term, c) for term, c in linear(offset)[0].items() if variables(term) & self.steps.keys()]
        if not moving:
            return True
        (term, coefficient), *others = moving
        return not others and isinstance(term, Var) and abs(coefficient * self.steps[term]) >= size
