"""How accumulators lie in L0C: [columns / 16][rows][16], the rows those of one Mmad.

Where all who touch an accumulator agree on its valid rows, it has only so many (rounded up to 16). One whose rows are
written by several Mmads lies in blocks of rows, each as above.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyto.errors import CompileError
from pyto.ir.nodes import Block, Const, Expr, Op, Space, TileType, Var, View
from pyto.ir.scalar import variables
from pyto.target import FRACTAL


@dataclass(frozen=True)
class Layout:
    """rows: of a block, as an expression. block: rows of a block where there are several, else None."""

    rows: Expr
    block: int | None
    shape: tuple[int, int]


@dataclass(frozen=True)
class _Use:
    op: Op
    view: View
    loops: tuple[Op, ...]


def layouts(body: Block) -> dict[Var, Layout]:
    uses: dict[Var, list[_Use]] = {}
    for op, loops in _walk(body, ()):
        if op.name in ("mmad", "store"):
            view = op.args[0 if op.name == "mmad" else 1]
            if isinstance(view, View) and view.space == Space.L0C:
                uses.setdefault(view.buffer, []).append(_Use(op, view, loops))
    return {buffer: _layout(buffer, found) for buffer, found in uses.items()}


def _walk(block: Block, loops: tuple[Op, ...]) -> Iterator[tuple[Op, tuple[Op, ...]]]:
    for op in block.ops:
        yield op, loops
        for inner in op.blocks:
            yield from _walk(inner, (*loops, op))


def _layout(buffer: Var, uses: list[_Use]) -> Layout:
    assert isinstance(buffer.type, TileType)
    shape = buffer.type.shape
    products = [u for u in uses if u.op.name == "mmad" and not u.op.attrs.get("fill")]
    heights = {min(shape[0], -(-u.view.shape[0] // FRACTAL) * FRACTAL) for u in products}
    if heights and heights != {shape[0]}:
        (height, *others) = sorted(heights)
        odd = next((u for u in uses if u.op.name == "store" and u.view.shape[0] % height), None)
        if others or odd:
            sizes = [height, *others] if others else [height, odd.view.shape[0]]  # type: ignore[union-attr]
            raise CompileError(
                "accumulator-window",
                f"parts of {sizes[0]} and of {sizes[1]} rows of one accumulator are used together",
                (odd or products[-1]).op.loc,
                remedy="use parts of one height, or an accumulator for each",
            )
        return Layout(Const(height), height, shape)
    rows = {u.view.valid[0] for u in [*products, *(u for u in uses if u.op.name == "store")]}
    whole = all(u.view.row == Const(0) and u.view.shape[0] >= min(shape[0], u.view.shape[0]) for u in uses)
    if len(rows) == 1 and whole and not variables(next(iter(rows))) & _changing(uses):
        (found,) = rows
        return Layout((found + (FRACTAL - 1)) // FRACTAL * FRACTAL, None, shape)
    return Layout(Const(shape[0]), None, shape)


def _changing(uses: list[_Use]) -> set[Var]:
    """Scalars that may change while the accumulator lasts."""
    inits: set[Var] = set()
    for u in uses:
        if u.op.name == "mmad":
            inits |= variables(u.op.args[3])
    common = uses[0].loops
    for u in uses[1:]:
        n = 0
        while n < min(len(common), len(u.loops)) and common[n] is u.loops[n]:
            n += 1
        common = common[:n]
    for depth, loop in enumerate(common):  # a loop whose index decides where the sum starts carries it
        if inits & {p for b in loop.blocks for p in b.params}:
            common = common[:depth]
            break
    fixed = {id(loop) for loop in common}
    changing: set[Var] = set()
    for u in uses:
        for loop in u.loops:
            if id(loop) not in fixed:
                for block in loop.blocks:
                    changing |= set(block.params) | {r for o in block.ops for r in o.results}
    return changing
