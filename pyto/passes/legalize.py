"""Vector operations as compositions of what the chip has, as the op table says.

bf16 arithmetic goes through fp32, missing casts through a third type, accurate reciprocals through Div, broadcasts of
a column through Brcb, reductions through a tree of Adds and one WholeReduce.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyto.errors import CompileError
from pyto.ir.nodes import FP16, FP32, INT8, UINT8, Const, DType, Expr, Op, Program, TileType, Var
from pyto.ir.ops import CAST_PAIRS, OPS, OpDef
from pyto.passes.rewrite import Rewriter, rewrite
from pyto.target import REPEAT


def legalize(program: Program) -> Program:
    return program.map_device(lambda f: rewrite(f, HANDLERS) if f.kind == "vector" else f)


def _is_tile(value: Any) -> bool:
    return isinstance(value, Var) and isinstance(value.type, TileType)


class Composing:
    """The Composer of the op table: makes operations in a function that is being rewritten."""

    def __init__(self, rewriter: Rewriter) -> None:
        self.rewriter = rewriter

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in OPS:
            raise AttributeError(name)
        return lambda *args, **attrs: self.make(name, *args, **attrs)

    def make(self, name: str, *args: Any, hint: str = "", **attrs: Any) -> Expr:
        dtype = next((a.type.dtype for a in args if _is_tile(a)), None)
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
        source = value.type.dtype
        if source == target:
            return value
        if (source, target) not in CAST_PAIRS:
            via = FP16 if {source, target} & {INT8, UINT8} else FP32
            value = self.cast(value, via, mode)
        return self.rewriter.make("cast", value, attrs={"target_type": target, "mode": mode})


def _number(value: Any, dtype: DType | None) -> Const:
    assert dtype is not None
    return Const(float(value) if dtype.kind == "f" else value, dtype)


def lower(rewriter: Rewriter, op: Op) -> None:
    """Emits what stands for `op`, the new value bound to its result and, if it was made here, under its name."""
    start = len(rewriter.out)
    made = _composed(rewriter, op)
    if made is None:
        rewriter.keep(op)
        return
    last = rewriter.out[-1] if len(rewriter.out) > start else None
    if last is not None and last.results == (made,):
        assert isinstance(made, Var)
        made = Var(op.result.name, made.type)
        rewriter.out[-1] = last.with_(results=(made,))
    rewriter.bind(op.result, made)


def _composed(rewriter: Rewriter, op: Op) -> Expr | None:
    table, c = OPS[op.name], Composing(rewriter)
    if op.name == "cast":
        return c.cast(op.args[0], op.attrs["target_type"], op.attrs.get("mode", "rint"))
    tile = next((a for a in op.args if _is_tile(a)), None)
    way = table.ways.get(tile.type.dtype) if tile is not None else None  # type: ignore[attr-defined]
    if way is not None and way.kind == "through":
        assert way.dtype is not None
        wide = [c.cast(a, way.dtype) if _is_tile(a) else a for a in op.args]
        return c.cast(c.make(op.name, *wide, hint=op.result.name, **op.attrs), op.result.dtype)  # type: ignore[no-any-return]
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
    spread = [a if _is_tile(a) else c.make("full", a, shape=t.shape, dtype=t.dtype) for a in op.args]
    return c.make(op.name, *spread, **op.attrs)


HANDLERS = {name: lower for name, op in OPS.items() if op.ways or op.compose or name == "cast"}
