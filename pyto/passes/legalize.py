"""Vector operations as compositions of what the chip has.

bf16 arithmetic goes through fp32, missing casts through a third type, accurate reciprocals through Div, broadcasts of
a column through Brcb, reductions through a tree of Adds and one WholeReduce.
"""

from __future__ import annotations

from dataclasses import replace

from pyto.errors import CompileError
from pyto.ir.nodes import BF16, FP16, FP32, INT8, UINT8, Const, DType, Expr, Op, Program, TileType, Var, const
from pyto.ir.ops import CAST_PAIRS, OPS
from pyto.ir.scalar import apply
from pyto.passes.rewrite import Handler, Rewriter, rewrite
from pyto.target import REPEAT

NEUTRAL = {"sum": 0.0, "max": float("-inf"), "min": float("inf")}
COMBINE = {"sum": "add", "max": "maximum", "min": "minimum"}


def legalize(program: Program) -> Program:
    return program.map_device(lambda f: rewrite(f, HANDLERS) if f.kind == "vector" else f)


def _type(value: Expr) -> TileType:
    assert isinstance(value, Var) and isinstance(value.type, TileType), value
    return value.type


def _in_fp32(handler: Handler) -> Handler:
    """`handler` for an op whose bf16 tiles are computed in fp32 and rounded once."""

    def wrapped(rewriter: Rewriter, op: Op) -> None:
        if _type(op.result).dtype != BF16 and not (
            op.name in ("row_sum", "col_sum") and _type(op.result).dtype == FP16
        ):
            handler(rewriter, op)
            return
        wide = tuple(
            _cast(rewriter, a, FP32) if isinstance(a, Var) and isinstance(a.type, TileType) else a for a in op.args
        )
        t = replace(_type(op.result), dtype=FP32)
        result = Var(rewriter.names.fresh(op.result.name), t)
        handler(rewriter, op.with_(args=wide, results=(result,)))
        narrow = _cast(rewriter, rewriter.env.get(result, result), _type(op.result).dtype)
        rewriter.bind(op.result, narrow)

    return wrapped


def _cast(rewriter: Rewriter, value: Expr, target: DType, mode: str = "rint") -> Expr:
    source = _type(value).dtype
    if source == target:
        return value
    if (source, target) not in CAST_PAIRS:
        via = FP16 if {source, target} & {INT8, UINT8} else FP32
        value = _cast(rewriter, value, via, mode)
    return rewriter.make("cast", value, attrs={"target_type": target, "mode": mode})


def _do_cast(rewriter: Rewriter, op: Op) -> None:
    rewriter.bind(op.result, _cast(rewriter, op.args[0], op.attrs["target_type"], op.attrs.get("mode", "rint")))


def _keep(rewriter: Rewriter, op: Op) -> None:
    rewriter.keep(op)


def _ones(rewriter: Rewriter, like: TileType, value: float = 1.0) -> Var:
    return rewriter.make("full", Const(value, like.dtype), hint="one", attrs={"shape": like.shape, "dtype": like.dtype})


def _neg(rewriter: Rewriter, op: Op) -> None:
    t = _type(op.args[0])
    rewriter.bind(
        op.result,
        rewriter.make("mul", op.args[0], Const(-1.0 if t.dtype.kind == "f" else -1, t.dtype), hint=op.result.name),
    )


def _recip(rewriter: Rewriter, op: Op) -> None:
    x = op.args[0] if op.name == "recip" else rewriter.make("sqrt", op.args[0])
    rewriter.bind(op.result, rewriter.make("div", _ones(rewriter, _type(x)), x, hint=op.result.name))


def _binary(rewriter: Rewriter, op: Op) -> None:
    a, b = op.args
    scalar_first = not (isinstance(a, Var) and isinstance(a.type, TileType))
    scalar = a if scalar_first else b
    if isinstance(scalar, Var) and isinstance(scalar.type, TileType):
        rewriter.keep(op)
        return
    tile = b if scalar_first else a
    t = _type(tile)
    if op.name == "sub":
        if scalar_first:
            minus: Expr = rewriter.make("mul", tile, Const(-1.0 if t.dtype.kind == "f" else -1, t.dtype))
            op = op.with_(name="add", args=(minus, scalar))
        else:
            op = op.with_(name="add", args=(tile, apply("neg", scalar)))
    elif op.name == "div":
        spread = rewriter.make("full", scalar, attrs={"shape": t.shape, "dtype": t.dtype})
        op = op.with_(args=(spread, tile) if scalar_first else (tile, spread))
    elif scalar_first:
        op = op.with_(args=(tile, scalar))
    rewriter.keep(op)


def _row_expand(rewriter: Rewriter, op: Op) -> None:
    a, column = op.args
    if _type(a).shape[1] == 1:
        name = {"max": "maximum", "min": "minimum"}.get(op.name[11:], op.name[11:])
        rewriter.keep(op.with_(name=name))
    else:
        rewriter.keep(op.with_(args=(a, rewriter.make("brcb", column))))


def _flat(rewriter: Rewriter, op: Op) -> Expr:
    """The column [R, 1] that an op takes, as a row: the same bytes."""
    t = _type(op.args[0])
    unit = 32 // t.dtype.bytes
    if t.shape[0] % unit:
        raise CompileError(
            "alignment",
            f"{op.name} of a column [{t.shape[0]}, 1] of {t.dtype} needs a multiple of {unit} rows",
            op.loc,
            remedy=f"make it {-(-t.shape[0] // unit) * unit} rows: those past the tensor's end do not count",
        )
    return rewriter.make("reshape", op.args[0], attrs={"shape": (1, t.shape[0])})


def _col_expand(rewriter: Rewriter, op: Op) -> None:
    rows, cols = _type(op.args[0]).shape
    if cols == 1 and rows > 1:  # one value for all rows: the column lies like a row, so spread it over that
        value = rewriter.make("brcb", op.args[1])
        spread = rewriter.make(f"row_expand_{op.name[11:]}", _flat(rewriter, op), value)
        rewriter.bind(op.result, rewriter.make("reshape", spread, hint=op.result.name, attrs={"shape": (rows, 1)}))
        return
    if rows == 1:
        op = op.with_(name={"max": "maximum", "min": "minimum"}.get(op.name[11:], op.name[11:]))
    rewriter.keep(op)


def _fill(rewriter: Rewriter, value: Expr, axis: int, kind: str) -> Expr:
    """The tile with neutral elements where `axis` is not valid (the other axis keeps its valid extent)."""
    t = _type(value)
    if t.valid[axis] == const(t.shape[axis]):
        return value
    padded = rewriter.make("fillpad", value, Const(NEUTRAL[kind], t.dtype))
    keep = (t.valid[0], const(t.shape[1])) if axis == 1 else (const(t.shape[0]), t.valid[1])
    return rewriter.make("set_validshape", padded, *keep)


def _window(rewriter: Rewriter, value: Expr, row: int, col: int, shape: tuple[int, int]) -> Expr:
    return (
        value
        if shape == _type(value).shape
        else rewriter.make("slice", value, Const(row), Const(col), attrs={"shape": shape})
    )


def _row_reduce(rewriter: Rewriter, op: Op) -> None:
    kind = op.name[4:]
    value = _fill(rewriter, op.args[0], 1, kind)
    rows, cols = _type(value).shape
    lanes = REPEAT // _type(value).dtype.bytes
    if cols == 1:
        rewriter.bind(op.result, value)
        return
    while cols % 2 == 0 and (cols // 2) % lanes == 0:
        cols //= 2
        halves = (_window(rewriter, value, 0, c, (rows, cols)) for c in (0, cols))
        value = rewriter.make(COMBINE[kind], *halves, hint="half")
    if cols > lanes:
        part = _window(rewriter, value, 0, 0, (rows, lanes))
        for c in range(lanes, cols - lanes + 1, lanes):
            part = rewriter.make(COMBINE[kind], part, _window(rewriter, value, 0, c, (rows, lanes)), hint="part")
        total: Expr = rewriter.make("whole_reduce", part, attrs={"kind": kind})
        if cols % lanes:
            rest = _window(rewriter, value, 0, cols - cols % lanes, (rows, cols % lanes))
            tail = rewriter.make("whole_reduce", rest, hint="tail", attrs={"kind": kind})
            total = rewriter.make(COMBINE[kind], total, tail)
    else:
        total = rewriter.make("whole_reduce", value, hint=op.result.name, attrs={"kind": kind})
    rewriter.bind(op.result, total)


def _col_reduce(rewriter: Rewriter, op: Op) -> None:
    kind = op.name[4:]
    rows, cols = _type(op.args[0]).shape
    if cols == 1 and rows > 1:  # a column lies like a row
        flat = _flat(rewriter, op)
        _row_reduce(rewriter, op.with_(name=f"row_{kind}", args=(flat,)))
        return
    value = _fill(rewriter, op.args[0], 0, kind)
    parts: list[Expr] = []
    while rows > 1:
        if rows % 2:
            parts.append(_window(rewriter, value, rows - 1, 0, (1, cols)))
        rows //= 2
        halves = (_window(rewriter, value, r, 0, (rows, cols)) for r in (0, rows))
        value = rewriter.make(COMBINE[kind], *halves, hint="half")
    for part in parts:
        value = rewriter.make(COMBINE[kind], value, part, hint="part")
    rewriter.bind(op.result, value)


HANDLERS: dict[str, Handler] = {
    "cast": _do_cast,
    "neg": _in_fp32(_neg),
    "recip": _in_fp32(_recip),
    "rsqrt": _in_fp32(_recip),
    **{n: _in_fp32(_keep) for n in ("abs", "exp", "log", "sqrt", "relu")},
    **{n: _in_fp32(_binary) for n in ("add", "sub", "mul", "div", "maximum", "minimum")},
    **{n: _in_fp32(_row_expand) for n in OPS if n.startswith("row_expand_")},
    **{n: _in_fp32(_col_expand) for n in OPS if n.startswith("col_expand_")},
    **{f"row_{k}": _in_fp32(_row_reduce) for k in COMBINE},
    **{f"col_{k}": _in_fp32(_col_reduce) for k in COMBINE},
}
