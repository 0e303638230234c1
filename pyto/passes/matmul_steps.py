"""One product as L0-sized steps with ping-pong: windows of the L1 operands into L0, multiplied into a window of L0C.

A step is as deep in K as half of L0A and L0B allow (long rows of the operands), then as wide in N as fits beside it;
the A operand of a step is loaded once for all its N steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyto.ir.nodes import (
    BF16,
    BOOL,
    FP32,
    INDEX,
    INT8,
    INT32,
    Block,
    Const,
    DType,
    Expr,
    Loc,
    Op,
    ScalarType,
    Space,
    TileType,
    Var,
    const,
)
from pyto.ir.ranges import index_range
from pyto.ir.scalar import apply, bound, simplify
from pyto.passes.rewrite import Rewriter
from pyto.target import BLOCK, DEFAULT_CHIP, FRACTAL, Chip

ROW_BYTES = 512  # longest useful row of one L0 step: an L2 line
TRUE = Const(True, BOOL)
FALSE = Const(False, BOOL)
FIRST = Const(0)
Body = Callable[[Expr, Var], Var]


@dataclass(frozen=True)
class Steps:
    m: int
    n: int
    k: int


def padded(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def divisors(size: int, unit: int) -> list[int]:
    """Multiples of `unit` that divide `size`, largest first."""
    return [d for d in range(size, 0, -unit) if size % d == 0]


def choose_steps(
    m: int, n: int, k: int, dtype: DType, chip: Chip = DEFAULT_CHIP, units: tuple[int, int] = (FRACTAL, FRACTAL)
) -> Steps:
    """Extents of one Mmad for a product of [m, k] and [k, n], in whole fractals: the deepest k, then m, then n.

    units: what m and n are multiples of.
    """
    unit = max(FRACTAL, BLOCK // dtype.bytes)
    m, n, k = padded(m, units[0]), padded(n, units[1]), padded(k, unit)
    half_a, half_b = chip.capacity[Space.L0A] // 2, chip.capacity[Space.L0B] // 2
    best: Steps | None = None
    for kt in divisors(k, unit):
        if kt * dtype.bytes > ROW_BYTES and kt != unit:
            continue
        mt = next((d for d in divisors(m, units[0]) if d * kt * dtype.bytes <= half_a), 0)
        nt = next((d for d in divisors(n, units[1]) if d * kt * dtype.bytes <= half_b), 0)
        if not mt or not nt:
            continue
        steps = Steps(mt, nt, kt)
        if mt == m:
            return steps
        best = best or steps
    assert best is not None
    return best


@dataclass(frozen=True)
class Operand:
    """A window of an L1 tile: where it starts, its shape and valid part, and whether the product transposes it."""

    tile: Var
    row: Expr
    col: Expr
    shape: tuple[int, int]
    valid: tuple[Expr, Expr]
    trans: bool = False

    @property
    def size(self) -> tuple[int, int]:
        return self.shape[::-1] if self.trans else self.shape

    @property
    def extent(self) -> tuple[Expr, Expr]:
        return self.valid[::-1] if self.trans else self.valid


def unit_of(dtype: DType, turned: bool) -> int:
    """8-bit operands are turned in squares of 32 x 32."""
    return BLOCK if turned and dtype.bytes == 1 else FRACTAL


def loop(
    rw: Rewriter, hint: str, args: tuple[Expr, Expr, Expr], kind: str, acc: Var, body: Body, loc: Loc | None
) -> Var:
    """A loop that carries the accumulator."""
    index = Var(rw.names.fresh(hint), ScalarType(INDEX))
    carried = Var(rw.names.fresh("acc"), acc.type)
    rw.ranges[index] = index_range(*args)
    outer, rw.out = rw.out, []
    last = body(index, carried)
    rw.emit(Op("yield", (last,), loc=loc))
    ops, rw.out = rw.out, outer
    result = Var(rw.names.fresh("acc"), acc.type)
    attrs = {"kind": kind, "stages": 2 if kind == "pipeline" else 1}
    rw.emit(Op("for", (*args, acc), (result,), attrs, (Block((index, carried), tuple(ops)),), loc))
    return result


def fill(
    rw: Rewriter, acc: Var, value: Expr, row: Expr, col: Expr, shape: tuple[int, int], rows: Expr, when: Expr = TRUE
) -> Var:
    """`value` in a window of the accumulator: a product of a column of it and a row of ones (or zeros of anything).

    Where `when` does not hold the instructions are there, and do nothing.
    """
    when = simplify(when, rw.ranges)
    if when == FALSE:
        return acc
    assert isinstance(acc.type, TileType)
    zero = isinstance(value, Const) and value.value == 0
    dtype = INT8 if acc.type.dtype == INT32 else BF16 if zero else FP32
    c0 = BLOCK // dtype.bytes
    deep = const(c0 if zero else 1)
    left, right = (Const(0.0 if dtype.kind == "f" else 0, dtype),) * 2 if zero else (value, Const(1.0, FP32))
    columns = const(shape[1])
    if when != TRUE:
        rows, columns = (apply("select", when, size, Const(0)) for size in (rows, columns))
    a = TileType((shape[0], c0), dtype, (rows, deep), Space.L0A)
    b = TileType((c0, shape[1]), dtype, (deep, columns), Space.L0B)
    x = rw.make("fill_l0", left, hint="fill", type=a, attrs={"shape": a.shape, "dtype": dtype})
    y = rw.make("fill_l0", right, hint="fill", type=b, attrs={"shape": b.shape, "dtype": dtype})
    attrs = {"fill": True, "n_unit": FRACTAL, "wide_k": False}
    return rw.make("mmad", acc, x, y, row, col, TRUE, hint="acc", type=acc.type, attrs=attrs)


@dataclass
class Product:
    """Emits the loops over k, m and n steps of one product into the window at (row, col) of an accumulator.

    init: where it holds, what the window had counts as zero.
    """

    rw: Rewriter
    a: Operand
    b: Operand
    init: Expr
    chip: Chip
    loc: Loc | None
    row: Expr = FIRST
    col: Expr = FIRST

    def __post_init__(self) -> None:
        dtype = self.a.tile.dtype
        self.n_unit = unit_of(dtype, not self.b.trans)
        (self.m, self.k), (_, self.n) = self.a.size, self.b.size
        (self.vm, vk), (vkb, self.vn) = self.a.extent, self.b.extent
        self.vk = simplify(vk if vk == vkb else apply("min", vk, vkb), self.rw.ranges)
        units = unit_of(dtype, self.a.trans), self.n_unit
        self.steps = choose_steps(self.m, self.n, self.k, dtype, self.chip, units)
        self.attrs = {"n_unit": self.n_unit, "wide_k": self.a.trans and dtype.bytes == 4}

    def into(self, acc: Var) -> Var:
        least = bound(self.vk, self.rw.ranges, False)
        if self.init != FALSE and (least is None or least < 1):  # nothing to add up: zeros all the same
            none = apply("le", self.vk, Const(0), dtype=BOOL)
            if self.init != TRUE:
                none = apply("and", self.init, none, dtype=BOOL)
            shape = self.m, self.n
            acc = fill(self.rw, acc, Const(0.0, FP32), self.row, self.col, shape, self.vm, none)
            if self.steps.k >= self.k:  # a loop all the same, of one step or none
                args = Const(0), self.vk, Const(self.steps.k)
                return loop(self.rw, "k", args, "range", acc, self.m_steps, self.loc)
        return self.over("k", self.vk, self.k, self.steps.k, acc, self.m_steps)

    def over(self, hint: str, valid: Expr, extent: int, step: int, acc: Var, body: Body) -> Var:
        """A loop of steps, left out where one step is all."""
        if step >= extent:
            return body(Const(0), acc)
        return loop(self.rw, hint, (Const(0), valid, Const(step)), "pipeline", acc, body, self.loc)

    def window(self, valid: Expr, size: int, offset: Expr) -> Expr:
        return simplify(apply("min", const(size), valid - offset), self.rw.ranges)

    def load(self, name: str, operand: Operand, shape: tuple[int, int], valid: tuple[Expr, Expr],
             at: tuple[Expr, Expr], space: str) -> Var:  # fmt: skip
        t = TileType(shape, operand.tile.dtype, valid, space)
        row, col = at[::-1] if operand.trans else at
        row, col = (simplify(e, self.rw.ranges) for e in (operand.row + row, operand.col + col))
        return self.rw.make(
            name, operand.tile, row, col, hint=f"{operand.tile.name}_{space}", type=t,
            attrs={"shape": shape, "trans": operand.trans},
        )  # fmt: skip

    def m_steps(self, k: Expr, acc: Var) -> Var:
        s = self.steps

        def body(m: Expr, acc: Var) -> Var:
            valid = self.window(self.vm, s.m, m), self.window(self.vk, s.k, k)
            a = self.load("load_a", self.a, (s.m, s.k), valid, (m, k), Space.L0A)
            return self.n_steps(a, m, k, acc)

        return self.over("m", self.vm, padded(self.m, FRACTAL), s.m, acc, body)

    def n_steps(self, a: Var, m: Expr, k: Expr, acc: Var) -> Var:
        s = self.steps
        init = self.init
        if init != FALSE and k != Const(0):
            at_start = apply("eq", k, Const(0), dtype=BOOL)
            init = at_start if init == TRUE else apply("and", init, at_start, dtype=BOOL)

        def body(n: Expr, acc: Var) -> Var:
            valid = self.window(self.vk, s.k, k), self.window(self.vn, s.n, n)
            b = self.load("load_b", self.b, (s.k, s.n), valid, (k, n), Space.L0B)
            row, col = (simplify(e, self.rw.ranges) for e in (self.row + m, self.col + n))
            return self.rw.make("mmad", acc, a, b, row, col, init, hint="acc", type=acc.type, attrs=self.attrs)

        return self.over("n", self.vn, padded(self.n, FRACTAL), s.n, acc, body)
