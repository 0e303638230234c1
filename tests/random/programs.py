"""Random programs of the tensor stage, from the op table: what a table's row allows is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyto.ir.builder import Builder, is_scalar
from pyto.ir.infer import CAST_MODES, CUBE_INPUTS
from pyto.ir.nodes import (
    BF16,
    BOOL,
    DTYPES,
    FP16,
    FP32,
    INDEX,
    INT8,
    INT16,
    INT32,
    Block,
    Const,
    DType,
    Expr,
    Function,
    Op,
    Param,
    Program,
    ScalarType,
    TensorType,
    TileType,
    Var,
    const,
)
from pyto.ir.ops import OPS, OpError
from pyto.ir.scalar import apply
from tests.random.choices import Choices
from tests.random.values import ULP, Facts, probe

B = Var("B", ScalarType(INDEX))
N = Var("N", ScalarType(INDEX))  # the third dim, of loops that the arguments bound
SCALE, COUNT = Var("scale", ScalarType(FP32)), Var("count", ScalarType(INT32))
LIMIT = {"f": 8.0, "i": 1000, "u": 1000, "b": 1}
ATOMIC = (FP32, INT32)
FILLED = Facts(-2.0, 2.0)
#: Operations of one result whose operands are tiles and scalars: those the table lets a program try.
TRIED = [op for op in OPS.values() if op.user and op.infer and op.numpy and op.params]
#: What an attribute may be; others are left away.
ATTRS: dict[str, tuple[Any, ...]] = {"kind": ("lt", "eq", "ne", "le", "gt", "ge"), "dtype": (BOOL, FP32, INT8)}
STORED = tuple(d for d in DTYPES.values() if d is not INDEX and d is not BOOL)
Value = tuple[Expr, Facts]


@dataclass
class Tensor:
    var: Var
    facts: Facts
    direction: str


@dataclass
class Region:
    """Where a region's block of the tensors starts, and what it has at hand."""

    row: Expr
    col: Expr
    rows: int
    cols: int
    alone: bool  # no other block has these rows
    pool: list[tuple[Var, Facts]] = field(default_factory=list)
    indices: list[Var] = field(default_factory=list)
    depth: int = 0
    exact: bool = False  # inside a loop whose carried values must stay exact


@dataclass(frozen=True)
class Made:
    """A program; the facts of what its outputs hold afterwards; its tensors' facts before."""

    program: Program
    outputs: dict[str, Facts]
    inputs: dict[str, Facts]
    rows: int
    width: int | None  # of the tensors; None: the dim W


def filled(dtype: DType) -> Facts:
    """What the arguments of an element type hold."""
    return {"f": FILLED, "i": Facts(-9, 9), "u": Facts(0, 9), "b": Facts(0, 1)}[dtype.kind]


def tile_type(value: Expr) -> TileType:
    assert isinstance(value, Var) and isinstance(value.type, TileType)
    return value.type


class Maker:
    def __init__(self, choices: Choices, name: str) -> None:
        self.c, self.name, self.b = choices, name, Builder()
        for taken in (B, N, SCALE, COUNT):
            self.b.names.fresh(taken.name)
        self.tensors: list[Tensor] = []
        self.made: list[Tensor] = []  # workspaces
        self.before: dict[str, Facts] = {}
        self.dims: list[Var] = [B]
        self.scalars: set[str] = set()
        self.added: set[str] = set()  # tensors that are only added to
        self.regions = 0

    # ------------------------------------------------------------------------------------------ program

    def program(self) -> Made:
        c = self.c
        unit = c.pick((16, 32, 48, 64, 128, 208, 8, 100, 13))
        self.cols = unit
        self.rows = c.pick((1, 4, 8, 16, 3))
        blocks = c.pick((1, 2, 3))
        tail = c.pick((0, 0, 5)) if blocks > 1 else 0
        self.width = unit * blocks - tail
        self.split = blocks > 1
        ops: list[Op] = []
        for _ in range(c.pick((1, 1, 2, 3))):
            ops += self.nest()
        params = [Param(t.var, t.direction) for t in self.tensors]
        params += [Param(v) for v in (SCALE, COUNT) if v.name in self.scalars]
        used = {v.name for t in self.tensors for v in t.var.type.shape if isinstance(v, Var)}  # type: ignore[union-attr]
        dims = tuple(d for d in self.dims if d.name in used)
        host = Function(self.name, "host", tuple(params), dims, Block((), tuple(ops)))
        outputs = {t.var.name: t.facts for t in self.tensors if t.direction != "in"}
        return Made(Program(self.name, "tensor", (host,)), outputs, self.before, self.rows, self.width)

    def nest(self) -> list[Op]:
        """One region in its loops, with the workspaces that it fills before them."""
        c = self.c
        kind = c.pick(("rows", "rows", "blocks" if self.split else "rows", "one"))
        had = len(self.made)
        row, loops = Const(0), []  # type: tuple[Expr, list[tuple[Var, Expr, int]]]
        col: Expr = Const(0)
        cols = self.cols
        if kind in ("rows", "blocks"):
            row = self.b.var("b", ScalarType(INDEX))
            loops.append((row, B, self.rows))
        if kind == "blocks":
            col = self.b.var("c", ScalarType(INDEX))
            loops.append((col, const(self.width), cols))
        region = Region(row, col, self.rows, cols, kind != "blocks")
        with self.b.block() as ops:
            if kind == "one":  # one core, all rows
                index = self.b.var("b", ScalarType(INDEX))
                region.row = index
                with self.b.block() as inner:
                    self.region(region)
                    self.b.append(Op("yield"))
                attrs = {"kind": c.pick(("range", "pipeline")), "stages": 2}
                self.b.append(Op("for", (Const(0), B, const(self.rows)), (), attrs, (Block((index,), tuple(inner)),)))
            else:
                self.region(region)
            self.b.append(Op("yield"))
        self.regions += 1
        op = Op("region", attrs={"name": f"{self.name}_{self.regions}"}, blocks=(Block((), tuple(ops)),))
        for index, limit, step in reversed(loops):
            body = Block((index,), (op, Op("yield")))  # type: ignore[arg-type]
            op = Op("for", (Const(0), limit, const(step)), (), {"kind": "parallel", "stages": 1}, (body,))
        spaces = [Op("create_tensor", (), (t.var,)) for t in self.made[had:]]
        return [*spaces, op]

    def region(self, r: Region) -> None:
        c = self.c
        r.pool.append(self.load(r, c.pick((FP32, FP32, FP16, BF16, INT32, INT16, INT8))))
        self.statements(r, c.between(1, 8))
        for _ in range(c.between(1, 2)):
            self.store(r)

    def statements(self, r: Region, count: int) -> None:
        kinds: list[tuple[Callable[[Region], None], int]] = [
            (self.operation, 40),
            (self.another, 8),
            (self.cast, 10),
            (self.spread, 8),
            (self.window, 7),
            (self.reshaped, 4),
            (self.narrowed, 4),
            (self.with_scalar, 5),
            (self.in_place, 3),
            (self.product, 6),
        ]
        if r.depth < 2:
            kinds.append((self.loop, 8))
            if "if" in OPS:
                kinds.append((self.branch, 8))
            if "while" in OPS:
                kinds.append((self.counted, 3))
        for _ in range(count):
            self.c.weighted(kinds)(r)

    # ------------------------------------------------------------------------------------------ tensors

    def tensor(self, hint: str, dtype: DType, shape: Sequence[Expr], direction: str, facts: Facts) -> Tensor:
        var = self.b.var(hint, TensorType(tuple(shape), dtype))
        found = Tensor(var, facts, direction)
        self.tensors.append(found)
        self.before[var.name] = facts
        return found

    def shaped(self, rows: bool = True) -> tuple[Expr, Expr]:
        return (B if rows else Const(1), const(self.width))

    def load(self, r: Region, dtype: DType) -> tuple[Var, Facts]:
        """The region's block of a tensor, known or new."""
        c = self.c
        known = [t for t in (*self.tensors, *self.made) if t.var.dtype == dtype and t.var.type.shape == self.shaped()]  # type: ignore[union-attr]
        known = [t for t in known if t.direction != "out" and t.facts.whole and t.var.name not in self.added]
        if known and c.chance(50):
            t = c.pick(known)
        else:
            direction = "inout" if c.chance(15) else "in"
            t = self.tensor("x", dtype, self.shaped(), direction, filled(dtype))
        return self.load_at(r, t, r.row, r.col, (r.rows, r.cols))

    def load_at(self, r: Region, t: Tensor, row: Expr, col: Expr, shape: tuple[int, int]) -> tuple[Var, Facts]:
        got = self.b.emit("load", (t.var, row, col), {"shape": shape, "rows": 0, "cols": 1})
        assert got is not None
        here = (row, col) == (r.row, r.col) or t.var.type.shape == (const(r.rows), const(r.cols))  # type: ignore[union-attr]
        whole = here and shape == (r.rows, r.cols)
        return got, t.facts.with_(whole=whole, some=here or (row == Const(0) and col == r.col))

    def store(self, r: Region) -> None:
        """To a tensor that is read too, a workspace for later regions, an output, or added to what an output holds."""
        c = self.c
        fit = [v for v in r.pool if v[0].dtype in STORED and self._storable(r, tile_type(v[0]).shape)]
        var, facts = fit[-1 - min(c.below(4), len(fit) - 1)]
        shape = tile_type(var).shape
        column = shape[1] == 1 and self.width != 1
        place = (B, Const(1)) if column else self.shaped()
        options = [t for t in self.tensors if t.direction == "inout" and t.var.type == TensorType(place, var.dtype)]
        options = [t for t in options if t.var.name not in self.added]
        options = [t for t in options if facts.within(t.facts.with_(whole=facts.whole)) or r.depth == 0]
        whole = facts.whole and shape == (r.rows, r.cols)
        if options and c.chance(40):
            t = c.pick(options)
            t.facts = t.facts.join(facts).with_(whole=True)
        elif whole and c.chance(25):
            t = Tensor(self.b.var("work", TensorType(place, var.dtype)), facts, "work")
            self.made.append(t)
        else:
            t = self.tensor("y", var.dtype, place, "out", facts)
        col = Const(0) if column else r.col
        if t.direction == "out" and var.dtype in ATOMIC and c.chance(15):
            t.direction, self.before[t.var.name] = "inout", filled(var.dtype)
            t.facts = Facts(-1e30, 1e30, facts.error and facts.error + ULP[FP32] * facts.size * 4, facts.same, True)
            self.added.add(t.var.name)
        atomic = "add" if t.var.name in self.added else None
        self.b.append(Op("store", (t.var, var, r.row, col), (), {"rows": 0, "cols": 1, "atomic": atomic}))

    @staticmethod
    def _storable(r: Region, shape: tuple[int, int]) -> bool:
        return shape[0] <= r.rows and shape[1] <= r.cols and (r.alone or shape[1] > 1 or r.cols == 1)

    # -------------------------------------------------------------------------------------------- tiles

    def choose(self, r: Region, wanted: Callable[[TileType], bool] = lambda t: True) -> tuple[Var, Facts] | None:
        """A tile of the pool, the youngest being the simplest."""
        fit = [v for v in r.pool if wanted(tile_type(v[0]))]
        return fit[-1 - self.c.below(len(fit))] if fit else None

    def add(self, r: Region, value: tuple[Var, Facts] | None) -> bool:
        if value is None or (r.exact and value[1].error):
            return False
        r.pool.append(value)
        return True

    def emit(
        self, name: str, operands: Sequence[Value], attrs: dict[str, Any] | None = None
    ) -> tuple[Var, Facts] | None:
        """An operation with the facts of its result, tamed; None where the table or the numbers do not allow it."""
        attrs, infer = attrs or {}, OPS[name].infer
        assert infer is not None
        types = [v.type if isinstance(v, Var) and not is_scalar(v) else v for v, _ in operands]
        try:
            result = infer(types, attrs)
        except OpError:
            return None
        except Exception:  # an operand of another kind than the row wants
            return None
        if not isinstance(result, TileType) or result.shape[0] * result.shape[1] > 8192:
            return None
        facts = probe(name, operands, result, attrs)
        if facts is None:
            return None
        var = self.b.emit(name, [v for v, _ in operands], attrs)
        assert var is not None
        return self.tame(var, facts)

    def tame(self, var: Var, facts: Facts, limit: float | None = None) -> tuple[Var, Facts]:
        """Clamped where the values have grown large."""
        limit = LIMIT[var.dtype.kind] if limit is None else limit
        if facts.size <= limit:
            return var, facts
        bound = int(limit) // 2 if var.dtype.kind != "f" else limit / 2
        for name, value in (("minimum", bound), ("maximum", -bound if var.dtype.kind != "u" else 0)):
            try:
                got = self.b.emit(name, (var, Const(value, var.dtype)))
            except OpError:
                return var, facts
            assert got is not None
            var = got
        return var, facts.with_(low=min(max(facts.low, -bound), bound), high=max(min(facts.high, bound), -bound))

    def positive(self, value: tuple[Var, Facts]) -> tuple[Var, Facts] | None:
        """|value| + 1: for operations that not every number is good for."""
        got = self.emit("abs", [value])
        return got and self.emit("add", [got, self.constant(got[0].dtype, 1)])

    def constant(self, dtype: DType, value: float) -> Value:
        number: float = float(value) if dtype.kind == "f" else int(value)
        return Const(number, dtype), Facts(number, number)

    def number(self, dtype: DType) -> Value:
        """A scalar operand."""
        c = self.c
        if dtype == FP32 and c.chance(20):
            self.scalars.add("scale")
            return SCALE, Facts(0.5, 0.5)
        if dtype.kind == "f":
            return self.constant(dtype, c.pick((1.0, 0.5, -1.5, 2.0, 0.0)))
        return self.constant(dtype, c.pick((1, 2, 3, 7) if dtype.kind == "u" else (1, 2, -3, 7, 0)))

    # --------------------------------------------------------------------------------------- statements

    def operation(self, r: Region) -> None:
        op = self.c.pick(TRIED)
        first = self.choose(r, lambda t: not op.ways or t.dtype in op.ways)
        if first is None:
            return
        operands: list[Value] = [first]
        for i in range(1, len(op.params)):
            if i in op.scalars and self.c.chance(35):
                operands.append(self.number(first[0].dtype))
                continue
            same = self.choose(r, lambda t: self._infers(op, [*operands], t, len(op.params)))
            if same is None and i not in op.scalars:
                return
            operands.append(same or self.number(first[0].dtype))
        if 0 in op.scalars and len(operands) == 2 and not is_scalar(operands[1][0]) and self.c.chance(15):
            operands[0] = self.number(first[0].dtype)
        attrs = {n: self.c.pick(ATTRS[n]) for n in op.attrs if n in ATTRS}
        got = self.emit(op.name, operands, attrs)
        if got is None and not isinstance(operands[-1][0], Const):
            at = len(self.b.ops)
            last = self.positive(operands[-1])  # type: ignore[arg-type]
            got = last and self.emit(op.name, [*operands[:-1], last], attrs)
            if got is None:
                del self.b.ops[at:]
        self.add(r, got)

    @staticmethod
    def _infers(op: Any, operands: list[Value], t: TileType, count: int) -> bool:
        types = [v.type if isinstance(v, Var) else v for v, _ in operands]
        try:
            op.infer([*types, t, *[t] * (count - len(types) - 1)], {n: v[0] for n, v in ATTRS.items()})
        except Exception:
            return False
        return True

    def another(self, r: Region) -> None:
        """A second tensor's block, one row for all, or one block for all."""
        dtype = self.c.pick([v.dtype for v, _ in r.pool])
        if self.c.chance(25):
            t = self.tensor("g", dtype, self.shaped(False), "in", filled(dtype))
            self.add(r, self.load_at(r, t, Const(0), r.col, (1, r.cols)))
        elif self.c.chance(30):  # as large as the block wherever that is
            t = self.tensor("f", dtype, (const(r.rows), const(r.cols)), "in", filled(dtype))
            self.add(r, self.load_at(r, t, Const(0), Const(0), (r.rows, r.cols)))
        else:
            self.add(r, self.load(r, dtype))

    def cast(self, r: Region) -> None:
        value = self.choose(r)
        assert value is not None
        target = self.c.pick([d for d in DTYPES.values() if d not in (value[0].dtype, INDEX)])
        mode = self.c.pick(tuple(CAST_MODES)) if self.c.chance(40) else "rint"
        if mode != "rint" and value[1].error:
            return
        self.add(r, self.emit("cast", [value], {"target_type": target, "mode": mode}))

    def spread(self, r: Region) -> None:
        """A reduction spread over the tile again."""
        axis, kind = self.c.pick(("row", "col")), self.c.pick(("max", "min", "sum"))
        value = self.choose(r, lambda t: t.dtype in OPS[f"{axis}_{kind}"].ways)
        if value is None:
            return
        part = self.emit(f"{axis}_{kind}", [value])
        if not self.add(r, part):
            return
        name = self.c.pick([n for n in OPS if n.startswith(f"{axis}_expand_") and OPS[n].user])
        if name.endswith("_div"):
            part = self.positive(part)  # type: ignore[arg-type]
        if part is not None:
            self.add(r, self.emit(name, [value, part]))

    def window(self, r: Region) -> None:
        """A window of a tile, alone or written over a window of another."""
        value = self.choose(r, lambda t: t.shape[1] > 1)
        if value is None:
            return
        t = tile_type(value[0])
        unit = 32 // t.dtype.bytes
        if t.shape[1] < unit:
            return
        rows = self.c.between(1, t.shape[0])
        row = self.c.between(0, t.shape[0] - rows)
        starts = t.shape[1] // unit
        width = unit * self.c.between(1, starts)
        col = unit * self.c.between(0, (t.shape[1] - width) // unit)
        if self.c.chance(20) and width > 1:
            width -= 1
        at = len(self.b.ops)
        try:
            part = self.b.emit("slice", (value[0], const(row), const(col)), {"shape": (rows, width)})
            assert part is not None
            facts = value[1].with_(whole=False, some=value[1].some and (t.is_full or row == col == 0))
            other = self.choose(r, lambda u: u.dtype == t.dtype and u.shape == t.shape)
            if other is None or self.c.chance(30):
                self.add(r, (part, facts))
                return
            row = self.c.between(0, t.shape[0] - rows)
            col = unit * self.c.between(0, (t.shape[1] - width) // unit)
            if not self._full(tile_type(part)) or not self._full(tile_type(other[0])):
                self.add(r, (part, facts))
                return
            out = self.b.emit("assemble", (other[0], part, const(row), const(col)))
        except OpError:
            del self.b.ops[at:]
            return
        assert out is not None
        self.add(r, (out, facts.join(other[1]).with_(whole=other[1].whole)))

    @staticmethod
    def _full(t: TileType) -> bool:
        return t.is_full

    def reshaped(self, r: Region) -> None:
        value = self.choose(r)
        assert value is not None
        rows, cols = tile_type(value[0]).shape
        shapes = [(1, rows * cols), (rows * cols, 1), *((rows * k, cols // k) for k in (2, 4) if cols % k == 0)]
        shapes += [(rows // k, cols * k) for k in (2, 4) if rows % k == 0]
        shape = self.c.pick(shapes)
        try:
            got = self.b.emit("reshape", (value[0],), {"shape": shape})
        except OpError:
            return
        assert got is not None
        facts = value[1].with_(whole=False)
        self.add(r, (got, facts))
        if self.c.chance(60):
            there = self.emit("add", [(got, facts), self.number(got.dtype)])
            if there is not None and self.add(r, there):
                try:
                    back = self.b.emit("reshape", (there[0],), {"shape": (rows, cols)})
                except OpError:
                    return
                assert back is not None
                self.add(r, (back, there[1].with_(whole=value[1].whole)))

    def narrowed(self, r: Region) -> None:
        """A smaller valid shape, of the argument or a constant; or the undefined lanes filled."""
        value = self.choose(r)
        assert value is not None
        t, c = tile_type(value[0]), self.c
        if OPS["fillpad"].user and c.chance(40):
            number = self.number(t.dtype)
            got = self.b.emit("fillpad", (value[0], number[0]))
            assert got is not None
            self.add(r, (got, value[1].join(number[1]).with_(whole=value[1].whole)))
            return
        rows: Expr = const(c.between(1, t.shape[0]))
        if c.chance(40):
            self.scalars.add("count")
            rows = apply("min", rows, apply("max", Const(1), apply("cast", COUNT, dtype=INDEX)))
        cols = const(c.between(1, t.shape[1]))
        got = self.b.emit("set_validshape", (value[0], rows, cols))
        assert got is not None
        self.add(r, (got, value[1].with_(whole=False)))

    def with_scalar(self, r: Region) -> None:
        """Times a number read from a tensor, or plus one of an index."""
        value = self.choose(r, lambda t: t.dtype in (FP32, INT32))
        if value is None:
            return
        dtype = value[0].dtype
        if r.indices and self.c.chance(40):
            index = self.c.pick(r.indices)
            number: Expr = apply("cast", apply("mod", index, Const(4)), dtype=dtype)
            facts = Facts(0, 3)
        else:
            known = [t for t in self.tensors if t.direction == "in" and t.var.type == TensorType((B,), dtype)]
            t = known[0] if known else self.tensor("v", dtype, (B,), "in", filled(dtype))
            scalar = self.b.emit("read", (t.var, r.row))
            assert scalar is not None
            number, facts = scalar, t.facts
        self.add(r, self.emit(self.c.pick(("mul", "add", "maximum")), [value, (number, facts)]))

    def in_place(self, r: Region) -> None:
        """A store, and a load of what was stored."""
        if r.exact or r.depth:
            return
        self.store(r)
        known = [t for t in self.tensors if t.direction == "inout" and t.var.type.shape == self.shaped()]  # type: ignore[union-attr]
        known = [t for t in known if t.var.name not in self.added]
        if known:
            self.add(r, self.load_at(r, self.c.pick(known), r.row, r.col, (r.rows, r.cols)))

    def product(self, r: Region) -> None:
        """A matrix product of the region's rows with a weight, in one step or several."""
        c = self.c
        if r.exact or r.depth:
            return
        dtype = c.pick((BF16, FP16, FP32, INT8))
        depth, steps = c.pick((16, 32, 64)), c.pick((1, 1, 2, 3))
        a_trans, b_trans = c.chance(20), c.chance(40)
        total = depth * steps - c.pick((0, 0, 3)) * (steps > 1)
        acc_type = CUBE_INPUTS[dtype]
        a = self.tensor("a", dtype, (const(total), B) if a_trans else (B, const(total)), "in", filled(dtype))
        w = self.tensor(
            "w",
            dtype,
            (const(self.width), const(total)) if b_trans else (const(total), const(self.width)),
            "in",
            filled(dtype),
        )
        attrs = {"a_trans": a_trans, "b_trans": b_trans}

        def operands(k: Expr) -> list[Expr]:
            at = (k, r.row) if a_trans else (r.row, k)
            left = self.load_at(r, a, *at, (depth, r.rows) if a_trans else (r.rows, depth))
            at = (r.col, k) if b_trans else (k, r.col)
            right = self.load_at(r, w, *at, (r.cols, depth) if b_trans else (depth, r.cols))
            return [left[0], right[0]]

        peeled = steps > 1 and c.chance(30)  # the first step stands before the loop
        if steps == 1 or peeled:
            got = self.b.emit("matmul", operands(Const(0)), attrs)
        else:
            zero = Const(0.0 if acc_type.kind == "f" else 0, acc_type)
            got = self.b.emit("full", (zero,), {"shape": (r.rows, r.cols), "dtype": acc_type})
        assert got is not None
        if steps > 1:
            index, acc = self.b.var("k", ScalarType(INDEX)), self.b.var("acc", got.type)
            with self.b.block() as ops:
                new = self.b.emit("matmul_acc", [acc, *operands(index)], attrs)
                assert new is not None
                self.b.append(Op("yield", (new,)))
            loop = {"kind": c.pick(("range", "pipeline")), "stages": 2}
            args = (const(depth if peeled else 0), const(total), const(depth), got)
            got = self.b.var("product", new.type)
            self.b.append(Op("for", args, (got,), loop, (Block((index, acc), tuple(ops)),)))
        size = total * a.facts.size * w.facts.size
        error = 0.0 if acc_type.kind == "i" else total * ULP[FP32] * size
        facts = Facts(-size, size, error, error == 0, True)
        if steps > 1 and not peeled:  # the accumulator's rows past the end of `a` are not what its type says
            rows, columns = (apply("max", Const(0), x) for x in (B - r.row, const(self.width) - r.col))
            got = self.b.emit(
                "set_validshape", (got, apply("min", const(r.rows), rows), apply("min", const(r.cols), columns))
            )
            assert got is not None
        self.add(r, self.tame(got, facts, 64.0 if acc_type.kind == "f" else 4000))

    # --------------------------------------------------------------------------------------- structure

    @contextmanager
    def inside(self, r: Region) -> Iterator[list[Op]]:
        """A block, whose tiles nobody sees afterwards."""
        pool, indices, exact = list(r.pool), list(r.indices), r.exact
        r.depth += 1
        with self.b.block() as ops:
            yield ops
        r.depth -= 1
        r.pool[:], r.indices[:], r.exact = pool, indices, exact

    def bounded(self, r: Region, value: tuple[Var, Facts], facts: Facts) -> tuple[Var, Facts] | None:
        """The value clamped to what `facts` say."""
        if value[1].within(facts):
            return value
        names = (("minimum", facts.high), ("maximum", facts.low))
        var = value[0]
        for name, bound in names:
            try:
                got = self.b.emit(name, (var, self.constant(var.dtype, bound)[0]))
            except OpError:
                return None
            assert got is not None
            var = got
        return var, value[1].with_(low=facts.low, high=facts.high)

    def carries(self, r: Region) -> list[tuple[Var, Facts]]:
        """Tiles for a loop to carry."""
        found: list[tuple[Var, Facts]] = []
        for _ in range(self.c.pick((1, 2, 0))):
            value = self.choose(r, lambda t: t.dtype.kind in "fi" and t.dtype.bits > 8)
            if value is not None and all(value[0] != v for v, _ in found):
                found.append(value)
        return found

    def carried(self, r: Region, firsts: Sequence[tuple[Var, Facts]]) -> list[tuple[Var, Facts]]:
        """The parameters of a loop's block; what they hold is bounded by what the iterations are clamped to."""
        r.exact = r.exact or (self.c.chance(50) and all(not f.error for _, f in firsts))
        params = []
        for value, facts in firsts:
            bound = 4.0 if value.dtype.kind == "f" else 100
            facts = facts.join(Facts(-bound, bound))
            if not r.exact:
                facts = facts.with_(error=max(facts.error, 1e-5 * bound), same=False)
            params.append((self.b.var("carried", value.type), facts))
        r.pool += params
        return params

    def nexts(self, r: Region, params: Sequence[tuple[Var, Facts]]) -> list[tuple[Var, Facts]]:
        """What the next iteration gets: tiles of the parameters' types."""
        out = []
        for var, facts in params:
            same = self.choose(r, lambda t, var=var: t == var.type)  # type: ignore[misc]
            assert same is not None
            got = self.bounded(r, same, facts.with_(error=1e30, whole=False, same=False))
            if got is None or (r.exact and got[1].error) or not (got[1].whole or not facts.whole):
                got = (var, facts)
            out.append(got)
        return out

    def loop(self, r: Region) -> None:
        c = self.c
        kind = c.pick(("range", "pipeline"))
        firsts = self.carries(r)
        trips = c.pick((2, 3, 1, 0))
        limit: Expr = const(trips)
        step = c.pick((1, 1, 2))
        if c.chance(30):
            self.scalars.add("count")
            limit = apply("cast", COUNT, dtype=INDEX)
        index = self.b.var("i", ScalarType(INDEX))
        with self.inside(r) as ops:
            params = self.carried(r, firsts)
            r.indices.append(index)
            if c.chance(50):
                dtype = c.pick([v.dtype for v, _ in r.pool])
                t = self.tensor("s", dtype, self.shaped(False), "in", filled(dtype))
                if c.chance(50):
                    self.add(r, self.load_at(r, t, Const(0), index * c.pick((1, 8, self.cols)), (1, r.cols)))
                else:
                    t = self.tensor("u", dtype, self.shaped(), "in", filled(dtype))
                    self.add(r, self.load_at(r, t, r.row + index, r.col, (r.rows, r.cols)))
            self.statements(r, c.between(1, 4))
            if not r.exact and c.chance(20):
                self.store_inside(r)
            ends = self.nexts(r, params)
            self.b.append(Op("yield", tuple(v for v, _ in ends)))
        self.close(
            r, "for", (Const(0), limit, const(step)), {"kind": kind, "stages": 2}, index, firsts, params, ends, ops
        )

    def store_inside(self, r: Region) -> None:
        """A store in a loop, to rows that no other block has."""
        fit = [v for v in r.pool if tile_type(v[0]).shape == (r.rows, r.cols) and v[0].dtype in STORED]
        if not fit:
            return
        var, facts = fit[-1]
        t = self.tensor("y", var.dtype, self.shaped(), "out", facts)
        self.b.append(Op("store", (t.var, var, r.row, r.col), (), {"rows": 0, "cols": 1, "atomic": None}))

    def close(
        self,
        r: Region,
        name: str,
        bounds: tuple[Expr, ...],
        attrs: dict[str, Any],
        index: Var,
        firsts: Sequence[tuple[Var, Facts]],
        params: Sequence[tuple[Var, Facts]],
        ends: Sequence[tuple[Var, Facts]],
        ops: Sequence[Op],
    ) -> None:
        """The loop, and its results in the pool."""
        results = []
        for (first, before), (_, during), (_, after) in zip(firsts, params, ends):
            facts = before.join(during).with_(whole=before.whole and after.whole)
            grown = max(before.error, after.error * 64 if after.error else 0.0)
            facts = facts.with_(error=grown, same=before.same and after.same and not grown)
            results.append((self.b.var("after", first.type), facts))
        block = Block((index, *(p for p, _ in params)), tuple(ops))
        args = (*bounds, *(f for f, _ in firsts))
        self.b.append(Op(name, args, tuple(v for v, _ in results), attrs, (block,)))
        r.pool += results

    def condition(self, r: Region) -> Expr:
        """A comparison of scalars that differs between blocks, iterations or calls."""
        c = self.c
        what = c.pick(("row", "index", "count"))
        if what == "index" and r.indices:
            return apply(c.pick(("eq", "lt", "ne")), c.pick(r.indices), const(c.pick((0, 1))))
        if what == "count":
            self.scalars.add("count")
            return apply(c.pick(("lt", "ge")), COUNT, Const(c.pick((2, 1)), INT32))
        return apply(c.pick(("lt", "ge")), r.row + r.rows, B)

    def branch(self, r: Region) -> None:
        c = self.c
        condition = self.condition(r)
        wanted: list[TileType] = []
        for _ in range(c.pick((1, 2, 0))):
            value = self.choose(r, lambda t: t.dtype.kind in "fi")
            if value is not None:
                wanted.append(tile_type(value[0]))
        blocks, outcomes = [], []
        for _ in range(2):
            with self.inside(r) as ops:
                self.statements(r, c.between(0, 3))
                if c.chance(10) and not r.exact:
                    self.store_inside(r)
                ends = []
                for t in wanted:
                    value = self.choose(r, lambda u, t=t: u == t)  # type: ignore[misc]
                    assert value is not None
                    ends.append(value)
                self.b.append(Op("yield", tuple(v for v, _ in ends)))
            blocks.append(Block((), tuple(ops)))
            outcomes.append(ends)
        results = [
            (self.b.var("chosen", t), one[1].join(other[1])) for t, one, other in zip(wanted, outcomes[0], outcomes[1])
        ]
        self.b.append(Op("if", (condition,), tuple(v for v, _ in results), {}, tuple(blocks)))
        r.pool += results

    def counted(self, r: Region) -> None:
        """A `while` that is left after as many iterations as an argument says."""
        c = self.c
        firsts = self.carries(r)
        index = self.b.var("n", ScalarType(INDEX))
        with self.inside(r) as ops:
            params = self.carried(r, firsts)
            r.indices.append(index)
            stop: Expr = const(c.pick((1, 2, 0)))
            if c.chance(50):
                self.scalars.add("count")
                stop = apply("cast", COUNT, dtype=INDEX)
            before = c.chance(70)
            leave = Op("break", (apply("ge", index, stop),))
            if before:
                self.b.append(leave)
            self.statements(r, c.between(1, 3))
            if not before:
                self.b.append(leave)
            ends = self.nexts(r, params)
            self.b.append(Op("yield", tuple(v for v, _ in ends)))
        self.close(r, "while", (), {}, index, firsts, params, ends, ops)


def make(choices: Choices, name: str) -> Made:
    return Maker(choices, name).program()


__all__ = ["B", "Made", "filled", "make"]
