"""Cube functions: operands to L1, products in L0-sized steps, accumulators and windows of them in L0C.

An accumulator that starts as `full` is filled by a product of its own, unless the first product can start it: then it
counts as zero in the first step, and is filled only where there is no step at all. A product larger than L0C is
computed and stored piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pyto.errors import CompileError
from pyto.ir.infer import slice as window_type
from pyto.ir.nodes import (
    BF16,
    BOOL,
    FP16,
    FP32,
    INDEX,
    Block,
    Const,
    Expr,
    Function,
    Op,
    Program,
    ScalarType,
    Space,
    TileType,
    Var,
)
from pyto.ir.ops import meet
from pyto.ir.ranges import index_range
from pyto.ir.scalar import apply, simplify
from pyto.passes.accumulate import first_product, products_into_windows, replaced
from pyto.passes.alignment import Multiples
from pyto.passes.matmul_steps import FALSE, TRUE, Operand, Product, divisors, fill, padded, unit_of
from pyto.passes.rewrite import Rewriter, operand_type, rewrite
from pyto.target import BLOCK, DEFAULT_CHIP, FRACTAL, Chip


def tile_matmul(program: Program, chip: Chip = DEFAULT_CHIP) -> Program:
    return program.map_device(lambda f: _cube_function(f, chip) if f.kind == "cube" else f)


def _cube_function(function: Function, chip: Chip) -> Function:
    function = products_into_windows(function)
    cube = _Cube(function, chip)
    names = ("load", "full", "empty", "slice", "assemble", "reshape", "set_validshape", "matmul", "matmul_acc", "cast",
             "store", "for", "while", "yield")  # fmt: skip
    return rewrite(function, {name: getattr(cube, f"do_{name}") for name in names})


@dataclass(frozen=True)
class Part:
    """A window of an accumulator: of `origin` before, and of `now` after what was done to it."""

    origin: Var
    now: Var
    row: Expr
    col: Expr
    type: TileType


def _type(value: Expr) -> TileType:
    assert isinstance(value, Var) and isinstance(value.type, TileType), value
    return value.type


def _refuse(op: Op, message: str, remedy: str) -> CompileError:
    return CompileError("accumulator-window", message, op.loc, remedy=remedy)


class _Cube:
    def __init__(self, function: Function, chip: Chip) -> None:
        self.chip = chip
        self.starts: dict[Var, Op] = {}  # `full` and `empty` tiles: an accumulator is made where one is needed
        self.windows: dict[Var, Operand] = {}  # of L1 tiles
        self.parts: dict[Var, Part] = {}  # of accumulators
        self.large: dict[Var, tuple[Op, Operand, Operand]] = {}  # products that do not fit L0C
        self.home: dict[Var, list[Op]] = {}  # the block that each of `starts` stands in
        self.multiples = Multiples(function)

    # -- operands
    def do_load(self, rw: Rewriter, op: Op) -> None:
        rw.keep(op.with_(attrs={**op.attrs, "space": Space.L1}))

    def operand(self, value: Expr, op: Op, trans: bool) -> Operand:
        if value in self.windows:
            return replace(self.windows[value], trans=trans)  # type: ignore[index]
        if isinstance(value, Var) and isinstance(value.type, TileType) and value.type.space == Space.L1:
            return Operand(value, Const(0), Const(0), value.type.shape, value.type.valid, trans)
        raise CompileError(
            "matmul-operand",
            "an operand of matmul must be a slice of a tensor in GM",
            op.loc,
            remedy="store it to a pl.create_tensor workspace in an earlier pl.at, and load it from there",
        )

    def operands(self, op: Op, first: int) -> tuple[Operand, Operand]:
        flags = bool(op.attrs.get("a_trans")), bool(op.attrs.get("b_trans"))
        a, b = (self.operand(v, op, t) for v, t in zip(op.args[first : first + 2], flags))
        return a, b

    # -- accumulators
    def accumulator(self, rw: Rewriter, value: Expr, op: Op) -> Var:
        """The accumulator that a value is; one is made of a `full` or `empty` tile."""
        if value in self.starts:
            return self.start(rw, value, filled=True)  # type: ignore[arg-type]
        if value in self.large:
            made, a, b = self.large.pop(value)  # type: ignore[arg-type]
            return self.product(rw, made, a, b)
        if isinstance(value, Var) and isinstance(value.type, TileType) and value.type.space == Space.L0C:
            return value
        raise CompileError(
            "matmul-operand",
            "acc of matmul_acc must be a product of this region, or pl.full(..., 0.0)",
            op.loc,
            remedy="start with acc = pl.matmul(...)",
        )

    def start(self, rw: Rewriter, value: Var, filled: bool) -> Var:
        made = self.starts[value]
        t = replace(_type(value), space=Space.L0C)
        acc = rw.make("empty", hint="acc", type=t, attrs={"shape": t.shape, "dtype": t.dtype})
        if made.name == "empty" or not filled:
            return acc
        return fill(rw, acc, made.args[0], Const(0), Const(0), t.shape, t.valid[0])

    def do_full(self, rw: Rewriter, op: Op) -> None:
        t = _type(op.result)
        value = op.args[0]
        if t.dtype.name not in ("fp32", "int32"):
            raise CompileError(
                "mixed-region",
                f"beside matmul pl.full makes an accumulator, of fp32 or int32, not of {t.dtype}",
                op.loc,
                remedy="do the other work in a second pl.at",
            )
        if t.dtype.kind == "i" and value != Const(0, t.dtype) and not (isinstance(value, Const) and value.value == 0):
            raise CompileError(
                "op-dtype", "an int32 accumulator can start as 0 only", op.loc, remedy="add the value in a second pl.at"
            )
        self._starts(rw, op.result, op)

    def _starts(self, rw: Rewriter, value: Var, made: Op) -> None:
        self.starts[value], self.home[value] = made, rw.out

    def do_empty(self, rw: Rewriter, op: Op) -> None:
        if _type(op.result).space is not None:  # made by a pass
            rw.keep(op)
        else:
            self._starts(rw, op.result, op)

    def do_set_validshape(self, rw: Rewriter, op: Op) -> None:
        source = op.args[0]
        t = _type(source) if source not in self.parts else self.parts[source].type  # type: ignore[index]
        valid = tuple(simplify(v, rw.ranges) for v in meet(t.valid, (op.args[1], op.args[2])))
        narrow = Var(op.result.name, replace(t, valid=valid))  # type: ignore[arg-type]
        if source in self.starts:
            self._starts(rw, narrow, self.starts[source])  # type: ignore[index]
        elif source in self.large:
            self.large[narrow] = self.large[source]  # type: ignore[index]
        elif source in self.windows:
            self.windows[narrow] = replace(self.windows[source], valid=valid)  # type: ignore[index, arg-type]
        elif source in self.parts:
            self.parts[narrow] = replace(self.parts[source], type=narrow.type)  # type: ignore[index, arg-type]
        else:
            rw.keep(op)
            return
        rw.bind(op.result, narrow)

    def do_reshape(self, rw: Rewriter, op: Op) -> None:
        raise CompileError(
            "mixed-region",
            "beside matmul a tile cannot be reshaped: it lies in fractals",
            op.loc,
            remedy="slice the tensor in the shape that the product needs, or reshape in a second pl.at",
        )

    # -- windows
    def do_slice(self, rw: Rewriter, op: Op) -> None:
        source, row, col = op.args
        t = replace(_type(op.result), valid=self._window_valid(rw, op))
        window = Var(op.result.name, t)
        rw.bind(op.result, window)
        if source in self.windows or _type(source).space == Space.L1:
            whole = self.operand(source, op, False)
            row, col = whole.row + row, whole.col + col
            if not self.multiples.operand(t, row, col):
                unit = max(FRACTAL, BLOCK // t.dtype.bytes)
                raise CompileError(
                    "alignment",
                    f"a part of an operand of matmul must start at multiples of {unit} rows and columns ({t.dtype})",
                    op.loc,
                    remedy="slice the tensor instead: GM offsets are free",
                )
            self.windows[window] = Operand(whole.tile, row, col, t.shape, t.valid)
            return
        acc = self._owned(rw, source, op)
        self._check_window(op, _type(acc), t, row, col)
        self.parts[window] = Part(acc, acc, row, col, replace(t, space=Space.L0C))

    def _window_valid(self, rw: Rewriter, op: Op) -> tuple[Expr, Expr]:
        source = op.args[0]
        of = self.parts[source].type if source in self.parts else _type(source)  # type: ignore[index]
        rows, cols = (simplify(v, rw.ranges) for v in window_type((of, *op.args[1:]), op.attrs).valid)  # type: ignore[union-attr]
        return rows, cols

    def _owned(self, rw: Rewriter, value: Expr, op: Op) -> Var:
        """The accumulator of a value whose windows are used: one for all of them."""
        acc = self.accumulator(rw, value, op)
        if acc is not value and self.home.get(value) is rw.out:  # type: ignore[call-overload]
            rw.bind(value, acc)  # type: ignore[arg-type]
            for old, new in list(rw.env.items()):
                if new == value:
                    rw.bind(old, acc)
        return acc

    def do_assemble(self, rw: Rewriter, op: Op) -> None:
        target, part, row, col = op.args
        window = self.parts.get(part)  # type: ignore[call-overload]
        if window is not None and (window.row, window.col) == (row, col) and window.origin == target:
            rw.bind(op.result, window.now)
            return
        if part in self.starts:
            acc, made = self._owned(rw, target, op), self.starts[part]  # type: ignore[index]
            t = _type(part)
            self._check_window(op, _type(acc), t, row, col)
            rw.bind(op.result, fill(rw, acc, made.args[0], row, col, t.shape, t.valid[0]) if made.args else acc)
            return
        same = isinstance(part, Var) and isinstance(part.type, TileType) and part.type.space == Space.L0C
        if same and part.type.shape == _type(op.result).shape and (row, col) == (Const(0), Const(0)):  # type: ignore[attr-defined]
            rw.bind(op.result, part)
            return
        raise _refuse(
            op,
            "only a product that adds to this window of the accumulator can be written there",
            "write acc[:, a:b] = pl.matmul_acc(acc[:, a:b], lhs, rhs), or store the parts one by one",
        )

    # -- products
    def do_matmul(self, rw: Rewriter, op: Op) -> None:
        a, b = self.operands(op, 0)
        out = _type(op.result)
        made = op.with_(results=(Var(op.result.name, replace(out, valid=self._valid(rw, a, b))),))
        if padded(out.shape[0], FRACTAL) * padded(out.shape[1], FRACTAL) * 4 > self.chip.capacity[Space.L0C]:
            self.large[made.result] = made, a, b
            rw.bind(op.result, made.result)
            return
        rw.bind(op.result, self.product(rw, made, a, b))

    def _valid(self, rw: Rewriter, a: Operand, b: Operand) -> tuple[Expr, Expr]:
        return simplify(a.extent[0], rw.ranges), simplify(b.extent[1], rw.ranges)

    def product(self, rw: Rewriter, op: Op, a: Operand, b: Operand) -> Var:
        """A product in an accumulator of its own."""
        t = replace(_type(op.result), space=Space.L0C)
        acc = rw.make("empty", hint="acc", type=t, attrs={"shape": t.shape, "dtype": t.dtype})
        return Product(rw, a, b, TRUE, self.chip, op.loc).into(acc)

    def do_matmul_acc(self, rw: Rewriter, op: Op) -> None:
        given, init = op.args[0], op.args[3] if len(op.args) > 3 else FALSE
        a, b = self.operands(op, 1)
        window = self.parts.get(given)  # type: ignore[call-overload]
        if window is None:
            if init == TRUE and given in self.starts:
                acc = self.start(rw, given, filled=False)  # type: ignore[arg-type]
            else:
                acc = self.accumulator(rw, given, op)
            rw.bind(op.result, self._narrowed(rw, Product(rw, a, b, init, self.chip, op.loc).into(acc), a, b))
            return
        self._check_columns(op, window, b)
        now = Product(rw, a, b, init, self.chip, op.loc, window.row, window.col).into(window.now)
        valid = tuple(simplify(v, rw.ranges) for v in meet(window.type.valid, self._valid(rw, a, b)))
        t = replace(window.type, valid=valid)  # type: ignore[arg-type]
        result = Var(op.result.name, t)
        self.parts[result] = replace(window, now=now, type=t)
        rw.bind(op.result, result)

    def _narrowed(self, rw: Rewriter, acc: Var, a: Operand, b: Operand) -> Var:
        """The sum is valid where both the accumulator and the product are."""
        valid = tuple(simplify(v, rw.ranges) for v in meet(_type(acc).valid, self._valid(rw, a, b)))
        if valid == _type(acc).valid:
            return acc
        return rw.make("set_validshape", acc, *valid, hint=acc.name)

    def _check_window(self, op: Op, whole: TileType, part: TileType, row: Expr, col: Expr) -> None:
        if not self.multiples.accumulator(whole, part, row, col):
            raise _refuse(
                op,
                f"a window of an accumulator must start at multiples of {FRACTAL} columns, and of its own rows",
                "use an accumulator for each part",
            )

    def _check_columns(self, op: Op, window: Part, b: Operand) -> None:
        unit = unit_of(b.tile.dtype, not b.trans)
        if b.size[1] % unit and window.type.shape[1] < _type(window.now).shape[1]:
            raise _refuse(
                op,
                f"an int8 product of {b.size[1]} columns cannot be added to a part of an accumulator",
                f"take a multiple of {unit} columns, or keep rhs as [N, K] with b_trans=True",
            )

    # -- leaving L0C
    def do_cast(self, rw: Rewriter, op: Op) -> None:
        """Fixpipe narrows while it stores: the cast of an accumulator is left to the store."""
        source = op.args[0]
        known = source in self.parts or source in self.large or source in self.starts
        good = known or (isinstance(source, Var) and isinstance(source.type, TileType) and source.type.space == "l0c")
        if not good or op.attrs["target_type"] not in (BF16, FP16) or op.attrs.get("mode", "rint") != "rint":
            raise CompileError(
                "mixed-region",
                "beside matmul only products can be cast, to bf16 or fp16, with mode='rint'",
                op.loc,
                remedy="do the cast in a second pl.at",
            )
        rw.bind(op.result, source)

    def do_store(self, rw: Rewriter, op: Op) -> None:
        tensor, value, *offsets = op.args
        if value in self.large:
            self._store_large(rw, op)
            return
        if value in self.parts:
            part = self.parts[value]  # type: ignore[index]
            value = rw.make("slice", part.now, part.row, part.col, hint=value.name, type=part.type,  # type: ignore[attr-defined]
                            attrs={"shape": part.type.shape})  # fmt: skip
        elif value in self.windows or operand_type(value).space == Space.L1:
            raise CompileError(
                "mixed-region",
                "beside matmul only products can be stored",
                op.loc,
                remedy="copy from tensor to tensor in a second pl.at",
            )
        else:
            value = self.accumulator(rw, value, op)
        rw.emit(op.with_(args=(tensor, value, *offsets)))

    def _store_large(self, rw: Rewriter, op: Op) -> None:
        """Piece by piece: each a product that fits half of L0C."""
        tensor, value, *offsets = op.args
        made, a, b = self.large[value]  # type: ignore[index]
        t = _type(value)
        rows, cols = op.attrs["rows"], op.attrs["cols"]
        m_unit, n_unit = unit_of(a.tile.dtype, a.trans), unit_of(b.tile.dtype, not b.trans)
        half = self.chip.capacity[Space.L0C] // 2
        m = next(d for d in divisors(padded(t.shape[0], m_unit), m_unit) if d <= 128 or d == m_unit)
        n = next((d for d in divisors(padded(t.shape[1], n_unit), n_unit) if d * m * 4 <= half), n_unit)

        def piece(i: Expr, j: Expr) -> None:
            valid = tuple(
                simplify(apply("min", Const(s), v - o), rw.ranges)
                for s, v, o in ((m, t.valid[0], i), (n, t.valid[1], j))
            )
            left, right = _window(a, i, m, valid[0], 0), _window(b, j, n, valid[1], 1)
            name = Var(rw.names.fresh(made.result.name), replace(t, shape=(m, n), valid=valid))  # type: ignore[arg-type]
            acc = self.product(rw, made.with_(results=(name,)), left, right)
            at = list(offsets)
            if rows is not None:
                at[rows] = at[rows] + i
            at[cols] = at[cols] + j
            rw.emit(op.with_(args=(tensor, acc, *at)))

        def over(hint: str, axis: int, step: int, body: Callable[[Expr], None]) -> None:
            if step >= t.shape[axis]:
                body(Const(0))
                return
            index = Var(rw.names.fresh(hint), ScalarType(INDEX))
            args = Const(0), t.valid[axis], Const(step)
            rw.ranges[index] = index_range(*args)
            outer, rw.out = rw.out, []
            body(index)
            rw.emit(Op("yield", loc=op.loc))
            ops, rw.out = rw.out, outer
            rw.emit(Op("for", args, (), {"kind": "pipeline", "stages": 2}, (Block((index,), tuple(ops)),), op.loc))

        over("m", 0, m, lambda i: over("n", 1, n, lambda j: piece(i, j)))

    # -- loops
    def do_for(self, rw: Rewriter, op: Op) -> None:
        lo, hi, step, *inits = op.args
        (body,) = op.blocks
        carried = body.params[1:]
        for position, (param, init) in enumerate(zip(carried, inits)):
            if init in self.starts:
                inits[position], body = self._start_of_loop(rw, op, body, param, init)
            elif init in self.parts or init in self.windows:
                raise _refuse(
                    op, f"{param.name} is a part of a tile, and a loop cannot carry one", "carry the whole tile"
                )
            elif init in self.large:
                inits[position] = self.accumulator(rw, init, op)
        rw.keep_loop(op.with_(args=(lo, hi, step, *inits), blocks=(body,)))

    def do_while(self, rw: Rewriter, op: Op) -> None:
        rw.keep_loop(op.with_(args=tuple(self._handed_on(rw, a, op) for a in op.args)))

    def do_yield(self, rw: Rewriter, op: Op) -> None:
        rw.emit(op.with_(args=tuple(self._handed_on(rw, a, op) for a in op.args)))

    def _handed_on(self, rw: Rewriter, value: Expr, op: Op) -> Expr:
        """What a block is given or gives: whole accumulators."""
        if value in self.starts or value in self.large:
            return self.accumulator(rw, value, op)
        if value in self.parts or value in self.windows:
            raise _refuse(op, "a part of a tile cannot leave a loop or a branch", "hand on the whole tile")
        return value

    def _start_of_loop(self, rw: Rewriter, op: Op, body: Block, param: Var, init: Var) -> tuple[Var, Block]:
        """The accumulator that a loop starts with, and its body: the first product there may be what starts it."""
        made = self.starts[init]
        zero = bool(made.args) and isinstance(made.args[0], Const) and made.args[0].value == 0
        chain = first_product(op.with_(blocks=(body,)), param) if zero else None
        if chain is None:
            return self.start(rw, init, filled=True), body
        *loops, product = chain
        first: Expr = TRUE
        nothing: Expr = FALSE
        for each in loops:
            lo, hi = each.args[:2]
            at_start = apply("eq", each.blocks[0].params[0], lo, dtype=BOOL)
            empty = simplify(apply("le", hi, lo, dtype=BOOL), rw.ranges)
            first = at_start if first == TRUE else apply("and", first, at_start, dtype=BOOL)
            if empty != FALSE:
                nothing = empty if nothing == FALSE else apply("or", nothing, empty, dtype=BOOL)
        acc = self.start(rw, init, filled=False)
        t = _type(acc)
        acc = fill(rw, acc, Const(0.0, FP32), Const(0), Const(0), t.shape, t.valid[0], nothing)
        return acc, replaced(body, product, product.with_(args=(*product.args, first)))


def _window(operand: Operand, offset: Expr, size: int, valid: Expr, axis: int) -> Operand:
    """`size` rows (axis 0, of the lhs) or columns (axis 1, of the rhs) of an operand."""
    if operand.trans:
        axis = 1 - axis
    shape, extent, at = list(operand.shape), list(operand.valid), [operand.row, operand.col]
    shape[axis], extent[axis], at[axis] = size, valid, at[axis] + offset
    (rows, cols), (valid_rows, valid_cols) = shape, extent
    return replace(operand, shape=(rows, cols), valid=(valid_rows, valid_cols), row=at[0], col=at[1])
