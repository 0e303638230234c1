"""Vector operations as compositions of what the chip has, as the op table says.

bf16 arithmetic goes through fp32, missing casts through a third type, accurate reciprocals through Div, broadcasts of
a column through Brcb, reductions through a tree of Adds and one WholeReduce.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyto.errors import CompileError
from pyto.ir.nodes import FP32, INDEX, INT16, UINT8, UINT16, Const, DType, Expr, Function, Op, Program, TileType, Var
from pyto.ir.ops import OPS, OpDef
from pyto.ir.ops.data import spread_column
from pyto.ir.scalar import apply
from pyto.passes.casts import cast
from pyto.passes.rewrite import Rewriter
from pyto.target import REPEAT


def legalize(program: Program) -> Program:
    return program.map_device(lambda f: _function(f) if f.kind == "vector" else f)


def _function(function: Function) -> Function:
    return function.with_(body=Legalizer(function).block(function.body))


def _is_tile(value: Any) -> bool:
    return isinstance(value, Var) and isinstance(value.type, TileType)


class Composing:
    """The Composer of the op table: makes operations in a function that is being rewritten."""

    def __init__(self, rewriter: Legalizer) -> None:
        self.rewriter = rewriter

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in OPS:
            raise AttributeError(name)
        return lambda *args, **attrs: self.make(name, *args, **attrs)

    def make(self, name: str, *args: Any, hint: str = "", **attrs: Any) -> Expr:
        dtype = next((a.type.dtype for a in reversed(args) if _is_tile(a)), attrs.get("dtype"))
        operands = tuple(a if isinstance(a, Expr) else _number(a, dtype) for a in args)
        op = self.rewriter.op(name, *operands, hint=hint, attrs=attrs)
        lower(self.rewriter, op)
        return self.rewriter.env.get(op.result, op.result)

    def type(self, value: Any) -> Any:
        return value.type if _is_tile(value) else None

    def lanes(self, value: Any) -> int:
        return REPEAT // int(value.type.dtype.bytes)

    def flat(self, column: Any, op: str) -> Any:
        t = column.type
        unit = 32 // t.dtype.bytes
        if t.shape[0] % unit:
            raise CompileError(
                "alignment",
                f"{op} of a column [{t.shape[0]}, 1] of {t.dtype} needs a multiple of {unit} rows",
                self.rewriter.loc,
                remedy=f"make it {-(-t.shape[0] // unit) * unit} rows: those past the tensor's end do not count",
            )
        return self.make("reshape", column, shape=(1, t.shape[0]))

    def cast(self, value: Any, target: DType, mode: str = "rint") -> Any:
        return cast(self, value, target, mode)

    def instruction(self, value: Any, target: DType, mode: str) -> Any:
        """A cast that the chip does."""
        return self.rewriter.make("cast", value, attrs={"target_type": target, "mode": mode})

    def scalar(self, value: Any, dtype: DType, plus: int = 0) -> Any:
        if not isinstance(value, Const):
            if plus:
                value = apply("cast", value, dtype=INDEX) + plus
            return apply("cast", value, dtype=FP32) if dtype.kind == "f" and value.dtype.kind != "f" else value
        number = value.value + plus
        if dtype.kind == "f":
            return Const(float(number), dtype)
        span = 1 << dtype.bits
        number = int(number) % span
        return Const(number - span if dtype.kind == "i" and number >= span // 2 else number, dtype)

    def as_type(self, value: Any, dtype: DType) -> Any:
        return self.cast(value, dtype) if _is_tile(value) else self.scalar(value, dtype)

    def wrapped(self, value: Any, dtype: DType) -> Any:
        if dtype == UINT8:
            value = self.make("bitcast", value, dtype=UINT16)
        value = self.make("shr", self.make("shl", value, 8), 8)
        if dtype == UINT8:
            value = self.make("bitcast", value, dtype=INT16)
        return self.cast(value, dtype)

    def dense(self, value: Any) -> Any:
        return self.make("copy", value) if value in self.rewriter.windows else value

    def limited(self, value: Any, valid: Any) -> Any:
        return value if value.type.valid == tuple(valid) else self.make("set_validshape", value, *valid)

    def remember(self, mask: Any, bits: Any, like: Any) -> Any:
        self.rewriter.bits[mask] = Bits(bits, like.shape, like.pitch)
        return mask

    def known_bits(self, mask: Any, like: Any) -> Any:
        found = self.rewriter.bits.get(mask)
        same = found is not None and (found.shape, found.pitch) == (like.shape, like.pitch)
        return found.bits if found is not None and same else None


@dataclass(frozen=True)
class Bits:
    """What is known of a mask: its bits, one an element of a tile of that shape and pitch."""

    bits: Expr
    shape: tuple[int, int]
    pitch: int


class Legalizer(Rewriter):
    """windows: tiles that are parts of others, and so may lie with gaps. bits: of masks."""

    def __init__(self, function: Function) -> None:
        super().__init__(function, HANDLERS)
        self.windows: set[Expr] = set()
        self.bits: dict[Expr, Bits] = {}


def _number(value: Any, dtype: DType | None) -> Const:
    assert dtype is not None
    return Const(float(value) if dtype.kind == "f" else value, dtype if dtype.bits == 32 or dtype.kind != "f" else FP32)


def lower(rewriter: Rewriter, op: Op) -> None:
    """Emits what stands for `op`, the new value bound to its result and, if it was made here, under its name."""
    assert isinstance(rewriter, Legalizer)
    start = len(rewriter.out)
    made = _composed(rewriter, op)
    if made is None:
        rewriter.keep(op)
        made = rewriter.env.get(op.result, op.result)
        if op.name == "slice" or (op.name in SHARES and op.args[0] in rewriter.windows):
            rewriter.windows.add(made)
        _logic(rewriter, op, made)
        return
    expected = rewriter.inferred(op)
    if isinstance(expected, TileType) and made.type.valid != expected.valid:  # type: ignore[attr-defined]
        made = Composing(rewriter).limited(made, expected.valid)
    last = rewriter.out[-1] if len(rewriter.out) > start else None
    if last is not None and last.results == (made,):
        assert isinstance(made, Var)
        named = Var(op.result.name, made.type)
        rewriter.out[-1] = last.with_(results=(named,))
        if made in rewriter.bits:
            rewriter.bits[named] = rewriter.bits.pop(made)
        if made in rewriter.windows:
            rewriter.windows.add(named)
        made = named
    rewriter.bind(op.result, made)


def _logic(rewriter: Legalizer, op: Op, made: Expr) -> None:
    """What is known of masks is known of their logic."""
    known = [rewriter.bits.get(a) for a in op.args]
    first = known[0] if known else None
    if op.name not in ("and_", "or_") or first is None or None in known:
        return
    if all(k is not None and (k.shape, k.pitch) == (first.shape, first.pitch) for k in known):
        bits = rewriter.make(op.name, *(k.bits for k in known if k is not None))
        rewriter.bits[made] = Bits(bits, first.shape, first.pitch)


def _composed(rewriter: Legalizer, op: Op) -> Expr | None:
    table, c = OPS[op.name], Composing(rewriter)
    if op.name == "cast":
        return c.cast(op.args[0], op.attrs["target_type"], op.attrs.get("mode", "rint"))  # type: ignore[no-any-return]
    tiles = [a.type.dtype for a in op.args if _is_tile(a)]  # type: ignore[attr-defined]
    dtype = op.result.dtype if table.form in ("full", "sel", "select") else tiles[0] if tiles else None
    way = table.ways.get(dtype) if dtype is not None else None
    if way is not None and way.kind in ("through", "wrapping"):
        assert way.dtype is not None
        wide = c.make(op.name, *(c.as_type(a, way.dtype) for a in op.args), **op.attrs)
        return c.cast(wide, op.result.dtype) if way.kind == "through" else c.wrapped(wide, op.result.dtype)  # type: ignore[no-any-return]
    compose = way.compose if way is not None and way.compose is not None else table.compose
    made = compose(c, *op.args, **op.attrs) if compose is not None else None
    return _scalar_operands(c, table, op) if made is None else made


def _scalar_operands(c: Composing, table: OpDef, op: Op) -> Expr | None:
    """A scalar operand goes last, into a tile of its own where no instruction takes it."""
    tiles = [a for a in op.args if _is_tile(a)]
    if table.form != "elementwise" or len(tiles) == len(op.args):
        return None
    if table.scalar_api and not _is_tile(op.args[-1]):
        return None
    if table.scalar_api and table.swaps:
        return c.make(op.name, *op.args[::-1], **op.attrs)
    t = tiles[0].type  # type: ignore[attr-defined]
    spread = [
        a if _is_tile(a) else c.limited(c.make("full", a, shape=t.shape, dtype=t.dtype), t.valid) for a in op.args
    ]
    return c.make(op.name, *spread, **op.attrs)


def _store(rewriter: Rewriter, op: Op) -> None:
    assert isinstance(rewriter, Legalizer)
    tensor, tile, *offsets = op.args
    tile = spread_column(Composing(rewriter), tensor, tile, op.attrs["rows"])
    rewriter.keep(op.with_(args=(tensor, tile, *offsets)))


SHARES = ("reshape", "set_validshape", "bitcast")  # their result is their operand's buffer
HANDLERS = dict.fromkeys((*(name for name, op in OPS.items() if op.ways or op.compose), "slice", *SHARES), lower) | {
    "store": _store
}
