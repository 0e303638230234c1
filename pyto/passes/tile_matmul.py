"""Cube functions: operands to L1, products in L0-sized steps with ping-pong, results out of L0C.

A step is as deep in K as half of L0A and L0B allow (long rows of the operands), then as wide in N as fits beside it;
the A operand of a step is loaded once for all its N steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyto.errors import CompileError
from pyto.ir.nodes import (
    BF16,
    BOOL,
    FP16,
    INDEX,
    Block,
    Const,
    DType,
    Expr,
    Op,
    Program,
    ScalarType,
    Space,
    TileType,
    Var,
    const,
)
from pyto.ir.ops import meet
from pyto.ir.ranges import index_range
from pyto.ir.scalar import apply, simplify
from pyto.passes.rewrite import Handler, Rewriter, rewrite
from pyto.target import DEFAULT_CHIP, FRACTAL, Chip

ROW_BYTES = 512  # longest useful row of one L0 step: an L2 line


@dataclass(frozen=True)
class Steps:
    m: int
    n: int
    k: int


def tile_matmul(program: Program, chip: Chip = DEFAULT_CHIP) -> Program:
    def product(rewriter: Rewriter, op: Op) -> None:
        _matmul(rewriter, op, chip)

    handlers: dict[str, Handler] = {"load": _load, "matmul": product, "matmul_acc": product, "cast": _cast}
    return program.map_device(lambda f: rewrite(f, handlers) if f.kind == "cube" else f)


def _padded(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _divisors(size: int, unit: int) -> list[int]:
    """Multiples of `unit` that divide `size`, largest first."""
    return [d for d in range(size, 0, -unit) if size % d == 0]


def choose_steps(m: int, n: int, k: int, dtype: DType, chip: Chip = DEFAULT_CHIP) -> Steps:
    """Extents of one Mmad for a product of [m, k] and [k, n], in whole fractals: the deepest k, then m, then n."""
    unit = max(FRACTAL, 32 // dtype.bytes)
    m, n, k = _padded(m, FRACTAL), _padded(n, FRACTAL), _padded(k, unit)
    half_a, half_b = chip.capacity[Space.L0A] // 2, chip.capacity[Space.L0B] // 2
    best: Steps | None = None
    for kt in _divisors(k, unit):
        if kt * dtype.bytes > ROW_BYTES and kt != unit:
            continue
        mt = next((d for d in _divisors(m, FRACTAL) if d * kt * dtype.bytes <= half_a), 0)
        nt = next((d for d in _divisors(n, FRACTAL) if d * kt * dtype.bytes <= half_b), 0)
        if not mt or not nt:
            continue
        steps = Steps(mt, nt, kt)
        if mt == m:
            return steps
        best = best or steps
    assert best is not None
    return best


def _load(rewriter: Rewriter, op: Op) -> None:
    rewriter.keep(op.with_(attrs={**op.attrs, "space": Space.L1}))


def _operand(value: Expr, op: Op) -> Var:
    if isinstance(value, Var) and isinstance(value.type, TileType) and value.type.space == Space.L1:
        return value
    raise CompileError(
        "matmul-operand",
        "an operand of matmul must be a slice of a tensor in GM",
        op.loc,
        remedy="store it to a pl.create_tensor workspace in an earlier pl.at, and load it from there",
    )


def _matmul(rewriter: Rewriter, op: Op, chip: Chip) -> None:
    first = op.name == "matmul"
    init: Expr = Const(False, BOOL)
    a, b = (_operand(v, op) for v in op.args[:2]) if first else (_operand(v, op) for v in op.args[1:3])
    assert isinstance(a.type, TileType) and isinstance(b.type, TileType)
    a_trans, b_trans = bool(op.attrs.get("a_trans")), bool(op.attrs.get("b_trans"))
    (m, k), (vm, vk) = (a.type.shape, a.type.valid) if not a_trans else (a.type.shape[::-1], a.type.valid[::-1])
    (_, n), (vkb, vn) = (b.type.shape, b.type.valid) if not b_trans else (b.type.shape[::-1], b.type.valid[::-1])
    steps = choose_steps(m, n, k, a.type.dtype, chip)
    if first:
        out = op.result.type
        assert isinstance(out, TileType)
        valid = simplify(vm, rewriter.ranges), simplify(vn, rewriter.ranges)
        acc: Var = rewriter.make(
            "empty",
            hint="acc",
            type=replace(out, valid=valid, space=Space.L0C),
            attrs={"shape": out.shape, "dtype": out.dtype},
        )
    else:
        given = op.args[0]
        assert isinstance(given, Var)
        acc, init = given, op.args[3] if len(op.args) > 3 else init
        if not isinstance(acc.type, TileType) or acc.type.space != Space.L0C:
            raise CompileError(
                "matmul-operand",
                "acc of matmul_acc must be a product of this region, or pl.full(..., 0.0)",
                op.loc,
                remedy="start with acc = pl.matmul(...)",
            )
    emit = _Steps(
        rewriter, op, a, b, a_trans, b_trans, steps, (m, n, k), (vm, vn, meet((vk, vk), (vkb, vkb))[0]), first, init
    )
    rewriter.bind(op.result, emit.k_loop(acc))


@dataclass
class _Steps:
    """Emits the loops over k, m and n steps of one product; loops of one step are left out."""

    rewriter: Rewriter
    op: Op
    a: Var
    b: Var
    a_trans: bool
    b_trans: bool
    steps: Steps
    shape: tuple[int, int, int]
    valid: tuple[Expr, Expr, Expr]
    first: bool
    init: Expr

    def loop(self, hint: str, axis: int, extent: int, step: int, acc: Var, body) -> Var:  # type: ignore[no-untyped-def]
        if step >= extent:
            return body(Const(0), acc)  # type: ignore[no-any-return]
        rw = self.rewriter
        index = Var(rw.names.fresh(hint), ScalarType(INDEX))
        carried = Var(rw.names.fresh("acc"), acc.type)
        args = (Const(0), self.valid[axis], Const(step))
        rw.ranges[index] = index_range(*args)
        outer, rw.out = rw.out, []
        last = body(index, carried)
        rw.emit(Op("yield", (last,), loc=self.op.loc))
        ops, rw.out = rw.out, outer
        result = Var(rw.names.fresh("acc"), acc.type)
        rw.emit(
            Op(
                "for",
                (*args, acc),
                (result,),
                {"kind": "pipeline", "stages": 2},
                (Block((index, carried), tuple(ops)),),
                self.op.loc,
            )
        )
        return result

    def window(self, valid: Expr, size: int, offset: Expr) -> Expr:
        return simplify(apply("min", const(size), valid - offset), self.rewriter.ranges)

    def operand(
        self,
        name: str,
        tile: Var,
        trans: bool,
        shape: tuple[int, int],
        valid: tuple[Expr, Expr],
        at: tuple[Expr, Expr],
        space: str,
    ) -> Var:
        t = TileType(shape, tile.dtype, valid, space)
        row, col = at[::-1] if trans else at
        return self.rewriter.make(
            name, tile, row, col, hint=f"{tile.name}_{space}", type=t, attrs={"shape": shape, "trans": trans}
        )

    def k_loop(self, acc: Var) -> Var:
        return self.loop("k", 2, _padded(self.shape[2], FRACTAL), self.steps.k, acc, self.m_loop)

    def m_loop(self, k: Expr, acc: Var) -> Var:
        s = self.steps

        def body(m: Expr, acc: Var) -> Var:
            valid = self.window(self.valid[0], s.m, m), self.window(self.valid[2], s.k, k)
            a = self.operand("load_a", self.a, self.a_trans, (s.m, s.k), valid, (m, k), Space.L0A)
            return self.n_loop(a, m, k, acc)

        return self.loop("m", 0, _padded(self.shape[0], FRACTAL), s.m, acc, body)

    def n_loop(self, a: Var, m: Expr, k: Expr, acc: Var) -> Var:
        s = self.steps
        at_start = apply("eq", k, Const(0), dtype=BOOL)
        init = (
            at_start
            if self.first
            else apply("and", self.init, at_start, dtype=BOOL)
            if self.init != Const(False, BOOL)
            else self.init
        )
        if isinstance(at_start, Const) and not self.first:
            init = self.init

        def body(n: Expr, acc: Var) -> Var:
            valid = self.window(self.valid[2], s.k, k), self.window(self.valid[1], s.n, n)
            b = self.operand("load_b", self.b, self.b_trans, (s.k, s.n), valid, (k, n), Space.L0B)
            return self.rewriter.make("mmad", acc, a, b, m, n, init, hint="acc", type=acc.type)

        return self.loop("n", 1, _padded(self.shape[1], FRACTAL), s.n, acc, body)


def _cast(rewriter: Rewriter, op: Op) -> None:
    """Fixpipe narrows while it stores: the cast of an accumulator is left to the store."""
    target = op.attrs["target_type"]
    source = op.args[0]
    if (
        not isinstance(source, Var)
        or not isinstance(source.type, TileType)
        or source.type.space != Space.L0C
        or target not in (BF16, FP16)
    ):
        raise CompileError(
            "mixed-region",
            "beside matmul only products can be cast, to bf16 or fp16",
            op.loc,
            remedy="do the cast in a second pl.at",
        )
    rewriter.bind(op.result, source)
