"""The op table: every operation is declared here once and everything else reads it.

The front end takes parameters and types from it, the verifier its inference, the interpreter its numpy meaning, code
generation its Ascend C name, the language reference its text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyto.ir.nodes import (
    BF16,
    FP16,
    FP32,
    INDEX,
    INT8,
    INT16,
    INT32,
    UINT8,
    UINT16,
    UINT32,
    Const,
    DType,
    Expr,
    ScalarType,
    TensorType,
    TileType,
    Type,
    Var,
    View,
    const,
)
from pyto.ir.scalar import apply, dtype_of


class OpError(Exception):
    """Operands that an op does not take. `id` names the error, `remedy` says what to write instead."""

    def __init__(self, id: str, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.id, self.message, self.remedy = id, message, remedy


Attrs = Mapping[str, Any]
Infer = Callable[[Sequence[Any], Attrs], "Type | None"]


@dataclass(frozen=True)
class OpDef:
    """One operation.

    name: as in the text form and, where users may call it, in `pl`.
    params: the names of its value operands, in order; attrs: those of its compile-time arguments.
    infer: operand types (scalars as expressions) and attributes -> result type, or None; raises OpError.
    pipe: the hardware pipe that runs it ("" for structure). api: its Ascend C function.
    numpy: operand arrays -> result array, in the element type of the result.
    user: callable as `pl.NAME`.
    """

    name: str
    params: tuple[str, ...] = ()
    infer: Infer | None = None
    pipe: str = ""
    api: str = ""
    numpy: Callable[..., Any] | None = None
    attrs: tuple[str, ...] = ()
    dtypes: tuple[DType, ...] = ()
    scalar_api: str = ""
    user: bool = False
    doc: str = ""


OPS: dict[str, OpDef] = {}


def declare(name: str, **fields: Any) -> OpDef:
    OPS[name] = OpDef(name, **fields)
    return OPS[name]


# --------------------------------------------------------------------------------------------------------- type inference


def describe(value: Any) -> str:
    """A type in the words of an error message."""
    t = value.type if isinstance(value, Var) else value
    if isinstance(t, TileType):
        return f"a tile [{t.shape[0]}, {t.shape[1]}] of {t.dtype}"
    if isinstance(t, TensorType):
        return f"a tensor of rank {len(t.shape)} of {t.dtype}"
    if isinstance(t, Expr):
        return f"a scalar of {dtype_of(t)}"
    return f"a scalar of {t.dtype}" if isinstance(t, ScalarType) else repr(t)


def tile(value: Any, op: str, param: str) -> TileType:
    if not isinstance(value, TileType):
        raise OpError(
            "operand-kind", f"{op}: {param} must be a tile, got {describe(value)}", "load a slice of it first"
        )
    return value


def meet(a: tuple[Expr, Expr], b: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
    """The intersection of two valid shapes."""
    return tuple(x if x == y else apply("min", x, y) for x, y in zip(a, b))  # type: ignore[return-value]


def _check_dtype(op: OpDef, d: DType) -> None:
    if op.dtypes and d not in op.dtypes:
        names = ", ".join(map(repr, op.dtypes))
        raise OpError(
            "op-dtype", f"{op.name} is not defined for {d}; it takes {names}", f"pl.cast the operand to {op.dtypes[0]}"
        )


def _unary(name: str) -> Infer:
    def infer(args: Sequence[Any], attrs: Attrs) -> Type:
        t = tile(args[0], name, "input")
        _check_dtype(OPS[name], t.dtype)
        return t

    return infer


def _binary(name: str) -> Infer:
    def infer(args: Sequence[Any], attrs: Attrs) -> Type:
        a, b = args
        if isinstance(a, Expr) and isinstance(b, Expr):
            raise OpError("operand-kind", f"{name}: one operand must be a tile")
        if isinstance(a, TileType) and isinstance(b, TileType):
            if a.shape != b.shape:
                hint = None
                if a.shape[0] == b.shape[0] and 1 in (a.shape[1], b.shape[1]):
                    hint = f"use pl.row_expand_{name}(tile, column) to broadcast [{b.shape[0]}, 1] over the columns"
                elif a.shape[1] == b.shape[1] and 1 in (a.shape[0], b.shape[0]):
                    hint = f"use pl.col_expand_{name}(tile, row) to broadcast [1, {b.shape[1]}] over the rows"
                raise OpError("shape-mismatch", f"{name}: shapes differ: {list(a.shape)} and {list(b.shape)}", hint)
            if a.dtype != b.dtype:
                raise OpError(
                    "dtype-mismatch",
                    f"{name}: element types differ: {a.dtype} and {b.dtype}",
                    f"pl.cast one of them, e.g. to {max(a.dtype, b.dtype, key=lambda d: d.bits)}",
                )
            _check_dtype(OPS[name], a.dtype)
            return TileType(a.shape, a.dtype, meet(a.valid, b.valid))
        t, s = (a, b) if isinstance(a, TileType) else (b, a)
        t = tile(t, name, "lhs")
        if not isinstance(s, Expr):
            raise OpError(
                "operand-kind", f"{name}: expected a tile or a scalar, got {describe(s)}", "load a slice of it first"
            )
        if dtype_of(s).kind == "f" and t.dtype.kind != "f":
            raise OpError(
                "dtype-mismatch", f"{name}: a float scalar does not fit a tile of {t.dtype}", "pl.cast the tile to fp32"
            )
        _check_dtype(OPS[name], t.dtype)
        return t

    return infer


def _expand(name: str, base: str, axis: int) -> Infer:
    def infer(args: Sequence[Any], attrs: Attrs) -> Type:
        a, b = tile(args[0], name, "lhs"), tile(args[1], name, "rhs")
        want = (a.shape[0], 1) if axis == 0 else (1, a.shape[1])
        blocks = (a.shape[0], 32 // a.dtype.bytes)  # what brcb makes of a column
        if b.shape != want and not (axis == 0 and b.shape == blocks):
            raise OpError(
                "shape-mismatch",
                f"{name}: rhs must have shape {list(want)} for a tile {list(a.shape)}, got {list(b.shape)}",
            )
        if a.dtype != b.dtype:
            raise OpError(
                "dtype-mismatch",
                f"{name}: element types differ: {a.dtype} and {b.dtype}",
                f"pl.cast one of them, e.g. to {max(a.dtype, b.dtype, key=lambda d: d.bits)}",
            )
        _check_dtype(OPS[base], a.dtype)
        valid = list(a.valid)
        valid[axis] = meet(a.valid, b.valid)[axis]
        return TileType(a.shape, a.dtype, (valid[0], valid[1]))

    return infer


def _reduce(name: str, axis: int) -> Infer:
    def infer(args: Sequence[Any], attrs: Attrs) -> Type:
        t = tile(args[0], name, "input")
        _check_dtype(OPS[name], t.dtype)
        one = const(1)
        if axis == 1:
            return TileType((t.shape[0], 1), t.dtype, (t.valid[0], one))
        return TileType((1, t.shape[1]), t.dtype, (one, t.valid[1]))

    return infer


CUBE_INPUTS = {BF16: FP32, FP16: FP32, FP32: FP32, INT8: INT32}


def _matmul(args: Sequence[Any], attrs: Attrs) -> Type:
    a, b = tile(args[0], "matmul", "lhs"), tile(args[1], "matmul", "rhs")
    (m, ka), (vm, _) = (a.shape[::-1], a.valid[::-1]) if attrs.get("a_trans") else (a.shape, a.valid)
    (kb, n), (_, vn) = (b.shape[::-1], b.valid[::-1]) if attrs.get("b_trans") else (b.shape, b.valid)
    if ka != kb:
        raise OpError(
            "shape-mismatch",
            f"matmul: inner extents differ: lhs has {ka}, rhs has {kb}",
            "check a_trans and b_trans: lhs is [M, K], rhs [K, N] unless transposed",
        )
    if a.dtype != b.dtype:
        raise OpError("dtype-mismatch", f"matmul: element types differ: {a.dtype} and {b.dtype}", "pl.cast one of them")
    if a.dtype not in CUBE_INPUTS:
        raise OpError(
            "op-dtype",
            f"matmul is not defined for {a.dtype}; it takes {', '.join(map(repr, CUBE_INPUTS))}",
            "pl.cast the operands to bf16",
        )
    out = CUBE_INPUTS[a.dtype]
    wanted = attrs.get("out_dtype") or out
    if wanted != out:
        raise OpError(
            "op-dtype",
            f"matmul of {a.dtype} gives {out}, not {wanted}",
            f"leave out_dtype away and pl.cast the result to {wanted}",
        )
    return TileType((m, n), out, (vm, vn))


def _matmul_acc(args: Sequence[Any], attrs: Attrs) -> Type:
    acc = tile(args[0], "matmul_acc", "acc")
    product = _matmul(args[1:3], attrs)
    assert isinstance(product, TileType)
    if acc.shape != product.shape or acc.dtype != product.dtype:
        raise OpError("shape-mismatch", f"matmul_acc: acc is {describe(acc)}, the product is {describe(product)}")
    return acc


FLOATS = (FP32, FP16, BF16)
ARITHMETIC = (FP32, FP16, BF16, INT32, INT16)
# What the chip's casts do directly (specs of the Cast API); other pairs go through fp32 or fp16, see passes/legalize.py.
CAST_PAIRS = frozenset({
    (FP32, BF16), (BF16, FP32), (FP32, FP16), (FP16, FP32), (FP16, INT8), (FP16, UINT8), (FP16, INT16), (FP16, INT32),
    (INT8, FP16), (UINT8, FP16), (INT16, FP16), (INT16, FP32), (FP32, INT16), (INT32, FP32), (FP32, INT32),
    (INT32, INT16), (BF16, INT32),
})  # fmt: skip
CAST_MODES = {
    "rint": "CAST_RINT",
    "round": "CAST_ROUND",
    "floor": "CAST_FLOOR",
    "ceil": "CAST_CEIL",
    "trunc": "CAST_TRUNC",
}


def _cast(args: Sequence[Any], attrs: Attrs) -> Type:
    t = tile(args[0], "cast", "input")
    if attrs.get("mode", "rint") not in CAST_MODES:
        raise OpError("bad-argument", f"cast: unknown mode {attrs['mode']!r}; one of {', '.join(CAST_MODES)}")
    target = attrs["target_type"]
    if target is INDEX or target.kind == "b":
        raise OpError("op-dtype", f"cast: a tile cannot hold {target}")
    return TileType(t.shape, target, t.valid)


def _load(args: Sequence[Any], attrs: Attrs) -> Type:
    (tensor, *offsets), shape = args, attrs["shape"]
    assert isinstance(tensor, TensorType)
    rows, cols, valid = attrs["rows"], attrs["cols"], []
    for axis, size in ((rows, shape[0]), (cols, shape[1])):
        if axis is None:
            valid.append(const(size))
        else:
            valid.append(apply("max", const(0), apply("min", const(size), tensor.shape[axis] - offsets[axis])))
    return TileType(shape, tensor.dtype, (valid[0], valid[1]), attrs.get("space"))


def _slice(args: Sequence[Any], attrs: Attrs) -> Type:
    t, row, col = args
    shape = attrs["shape"]
    for axis, (offset, size, have) in enumerate(zip((row, col), shape, t.shape)):
        if isinstance(offset, Const) and not 0 <= offset.value <= have - size:
            raise OpError(
                "out-of-bounds",
                f"slice [{offset.value}, {offset.value + size}) exceeds the tile's {'rows' if axis == 0 else 'columns'} ({have})",
            )
    if isinstance(col, Const) and (col.value * t.dtype.bytes) % 32:
        raise OpError(
            "alignment",
            f"offset {col.value * t.dtype.bytes} B is not a multiple of 32 B",
            f"start the slice at a multiple of {32 // t.dtype.bytes} columns",
        )
    valid = [
        const(size) if v == const(have) else apply("max", const(0), apply("min", const(size), v - o))
        for size, v, o, have in zip(shape, t.valid, (row, col), t.shape)
    ]
    return TileType(shape, t.dtype, (valid[0], valid[1]))


def _assemble(args: Sequence[Any], attrs: Attrs) -> Type:
    t, part, row, col = args
    _slice((t, row, col), {"shape": part.shape})
    if part.dtype != t.dtype:
        raise OpError(
            "dtype-mismatch",
            f"assemble: element types differ: {t.dtype} and {part.dtype}",
            f"pl.cast the part to {t.dtype}",
        )
    return t  # type: ignore[no-any-return]


def _reshape(args: Sequence[Any], attrs: Attrs) -> Type:
    t = tile(args[0], "reshape", "input")
    shape = attrs["shape"]
    if shape[0] * shape[1] != t.shape[0] * t.shape[1]:
        raise OpError(
            "shape-mismatch",
            f"reshape: {list(t.shape)} has {t.shape[0] * t.shape[1]} elements, {list(shape)} has {shape[0] * shape[1]}",
        )
    if shape == t.shape:
        return t
    new = TileType(shape, t.dtype, (const(shape[0]), const(shape[1])))
    for side in (t, new):
        if side.shape[1] != side.pitch:
            raise OpError(
                "alignment",
                f"reshape: rows of {list(side.shape)} {t.dtype} are not a multiple of 32 B",
                "choose a width that is",
            )
    vectors = {(1, shape[0] * shape[1]), (shape[0] * shape[1], 1)}
    if t.is_full:
        return new
    if t.shape in vectors and shape in vectors:
        count = t.valid[0] if t.shape[1] == 1 else t.valid[1]
        return TileType(shape, t.dtype, (count, const(1)) if shape[1] == 1 else (const(1), count))
    if t.valid[1] == const(t.shape[1]) and t.shape[0] == 1:  # pragma: no cover - a full row is full
        return new
    raise OpError(
        "partial-reshape",
        f"reshape of a partly valid tile {list(t.shape)}",
        "reshape before slicing, or pl.fillpad first",
    )


def _full(args: Sequence[Any], attrs: Attrs) -> Type:
    r, c = attrs["shape"]
    return TileType((r, c), attrs["dtype"], (const(r), const(c)))


def _read(args: Sequence[Any], attrs: Attrs) -> Type:
    return ScalarType(args[0].dtype if args[0].dtype.kind == "f" else INDEX)


def _brcb(args: Sequence[Any], attrs: Attrs) -> Type:
    (t,) = args
    lanes = 32 // t.dtype.bytes
    return TileType((t.shape[0], lanes), t.dtype, (t.valid[0], const(lanes)))


def _fillpad(args: Sequence[Any], attrs: Attrs) -> Type:
    t = tile(args[0], "fillpad", "tile")
    return TileType(t.shape, t.dtype, (const(t.shape[0]), const(t.shape[1])), t.space)


def _set_valid(args: Sequence[Any], attrs: Attrs) -> Type:
    t, rows, cols = args
    return TileType(t.shape, t.dtype, meet(t.valid, (rows, cols)), t.space)


# --------------------------------------------------------------------------------------------------------------- the table


def _elementwise(
    name: str, np_: Callable[..., Any], api: str, dtypes: tuple[DType, ...], doc: str, scalar_api: str = ""
) -> None:
    two = np_ is not None and getattr(np_, "nin", np_.__code__.co_argcount if hasattr(np_, "__code__") else 1) == 2
    declare(
        name,
        params=("lhs", "rhs") if two else ("input",),
        infer=(_binary if two else _unary)(name),
        pipe="V", api=api, scalar_api=scalar_api, numpy=np_, dtypes=dtypes, user=True, doc=doc,
    )  # fmt: skip


def _log(x: Any) -> Any:
    return np.log(x)


_elementwise("add", np.add, "Add", ARITHMETIC, "lhs + rhs; rhs a tile of the same shape or a scalar.", "Adds")
_elementwise("sub", np.subtract, "Sub", ARITHMETIC, "lhs - rhs.", "Adds")
_elementwise("mul", np.multiply, "Mul", ARITHMETIC, "lhs * rhs.", "Muls")
_elementwise("div", np.divide, "Div", FLOATS, "lhs / rhs, correctly rounded in fp32.")
_elementwise("maximum", np.maximum, "Max", ARITHMETIC, "The larger of lhs and rhs.", "Maxs")
_elementwise("minimum", np.minimum, "Min", ARITHMETIC, "The smaller of lhs and rhs.", "Mins")
_elementwise("neg", np.negative, "", ARITHMETIC, "-input.")
_elementwise("abs", np.abs, "Abs", FLOATS, "|input|.")
_elementwise("exp", np.exp, "Exp", FLOATS, "e to the input.")
_elementwise("log", _log, "Ln", FLOATS, "Natural logarithm.")
_elementwise("sqrt", np.sqrt, "Sqrt", FLOATS, "Square root.")
_elementwise("rsqrt", lambda x: np.float32(1) / np.sqrt(x), "", FLOATS, "1 / sqrt(input), by Sqrt and Div (accurate).")
_elementwise("recip", lambda x: np.float32(1) / x, "", FLOATS, "1 / input, by Div (accurate).")
_elementwise("relu", lambda x: np.maximum(x, 0), "Relu", (FP32, FP16, BF16, INT32), "max(input, 0).")

for _name in ("add", "sub", "mul", "div", "maximum", "minimum"):
    _base = OPS[_name]
    _suffix = {"maximum": "max", "minimum": "min"}.get(_name, _name)
    declare(
        f"row_expand_{_suffix}", params=("lhs", "rhs"), infer=_expand(f"row_expand_{_suffix}", _name, 0), pipe="V",
        api=_base.api, numpy=_base.numpy, dtypes=_base.dtypes, user=True,
        doc=f"{_name} of lhs [R, C] and the column rhs [R, 1] broadcast over the columns.",
    )  # fmt: skip
    declare(
        f"col_expand_{_suffix}", params=("lhs", "rhs"), infer=_expand(f"col_expand_{_suffix}", _name, 1), pipe="V",
        api=_base.api, numpy=_base.numpy, dtypes=_base.dtypes, user=True,
        doc=f"{_name} of lhs [R, C] and the row rhs [1, C] broadcast over the rows.",
    )  # fmt: skip

EMPTY = {"sum": 0.0, "max": -np.inf, "min": np.inf}
for _name, _fn, _combine, _api in (("sum", np.sum, "add", "WholeReduceSum"), ("max", np.max, "maximum", "WholeReduceMax"), ("min", np.min, "minimum", "WholeReduceMin")):  # fmt: skip
    for _prefix, _axis in (("row", 1), ("col", 0)):
        declare(
            f"{_prefix}_{_name}", params=("input",), infer=_reduce(f"{_prefix}_{_name}", _axis), pipe="V",
            api=_api if _axis else "", scalar_api=_combine, dtypes=FLOATS, user=True,
            numpy=lambda x, fn=_fn, axis=_axis, empty=EMPTY[_name]: fn(x, axis=axis, keepdims=True, initial=empty),
            doc=f"{_name} over the valid {'columns' if _axis else 'rows'}: [R, C] -> {'[R, 1]' if _axis else '[1, C]'}"
            + ("; 16-bit inputs are summed in fp32." if _name == "sum" else "."),
        )  # fmt: skip

declare("cast", params=("input",), attrs=("target_type", "mode"), infer=_cast, pipe="V", api="Cast", user=True,
        doc="Another element type; to floats round to nearest even, to integers saturating (mode: rint, round, floor, ceil, trunc).")  # fmt: skip
declare("matmul", params=("lhs", "rhs"), attrs=("a_trans", "b_trans", "out_dtype"), infer=_matmul, pipe="M", api="Mmad", user=True,
        doc="lhs [M, K] times rhs [K, N] (transposed operands by flag), accumulated in fp32 (int8: int32).")  # fmt: skip
declare("matmul_acc", params=("acc", "lhs", "rhs"), attrs=("a_trans", "b_trans", "out_dtype"), infer=_matmul_acc, pipe="M", api="Mmad",
        user=True, doc="acc + lhs times rhs, in place.")  # fmt: skip
declare(
    "full",
    params=("value",),
    attrs=("shape", "dtype"),
    infer=_full,
    pipe="V",
    api="Duplicate",
    doc="A tile of one value.",
)
declare("empty", attrs=("shape", "dtype"), infer=_full, doc="A tile whose lanes are undefined.")
declare("load", params=("tensor",), attrs=("shape", "rows", "cols", "space"), infer=_load, pipe="MTE2", api="DataCopyPad",
        doc="GM to a tile: `shape` elements from the offsets; `rows` and `cols` name the tensor's axes that vary.")  # fmt: skip
declare("store", params=("tensor", "tile"), attrs=("rows", "cols", "atomic"), pipe="MTE3", api="DataCopyPad",
        doc="The valid part of a tile to GM at the offsets.")  # fmt: skip
declare(
    "slice", params=("tile", "row", "col"), attrs=("shape",), infer=_slice, doc="A window of a tile; shares its memory."
)
declare(
    "assemble",
    params=("tile", "part", "row", "col"),
    infer=_assemble,
    pipe="V",
    api="Copy",
    doc="The tile with a window replaced.",
)
declare(
    "reshape",
    params=("input",),
    attrs=("shape",),
    infer=_reshape,
    doc="The same elements in another 2-D shape; shares memory.",
)
declare("set_validshape", params=("tile", "rows", "cols"), infer=_set_valid, doc="The tile with a smaller valid shape.")
declare(
    "read", params=("tensor",), infer=_read, pipe="S", api="GetValue", doc="One element of a GM tensor as a scalar."
)

# Structure: `for` carries values (block params: the index, then the carried), `region` is one core's work, `yield` ends a
# block, `let` names a scalar, `create_tensor` makes a GM workspace, `launch` starts a device function over a grid.
for _name in ("for", "region", "yield", "let", "create_tensor", "launch", "alloc"):
    declare(_name)

# Tile and machine stages, cube side: operands of one Mmad, and the multiply itself into a window of an accumulator.
declare(
    "load_a", params=("tile", "row", "col"), attrs=("shape", "trans"), pipe="MTE1", api="LoadData", doc="L1 to L0A."
)
declare(
    "load_b",
    params=("tile", "row", "col"),
    attrs=("shape", "trans"),
    pipe="MTE1",
    api="LoadData",
    doc="L1 to L0B, as [K, N].",
)
declare("mmad", params=("acc", "lhs", "rhs", "row", "col", "init"), pipe="M", api="Mmad",
        doc="Adds lhs times rhs to the window at (row, col) of acc; starts from zero where init holds.")  # fmt: skip

# What passes compose vector operations of.
declare(
    "brcb",
    params=("src",),
    infer=_brcb,
    pipe="V",
    api="Brcb",
    doc="Each source element to a block of 32 B: [R, 1] -> [R, 8 or 16].",
)
declare("whole_reduce", params=("src",), attrs=("kind",), infer=_reduce("whole_reduce", 1), pipe="V", api="WholeReduceSum",
        doc="One repeat a row: [R, <= 64] -> [R, 1].")  # fmt: skip
declare(
    "fillpad",
    params=("tile", "value"),
    infer=_fillpad,
    pipe="V",
    api="Duplicate",
    doc="The tile with `value` in its undefined lanes.",
)
declare("copy", params=("src",), infer=lambda args, attrs: args[0], pipe="V", api="Copy", doc="UB to UB.")

# Machine stage, order: events between pipes and barriers on one.
declare("set_flag", params=("id",), attrs=("src", "dst"))
declare("wait_flag", params=("id",), attrs=("src", "dst"))
declare("barrier", attrs=("pipe",))

ALL_DTYPES = (FP32, FP16, BF16, INT8, INT16, INT32, UINT8, UINT16, UINT32)

__all__ = [
    "ALL_DTYPES",
    "CAST_MODES",
    "CAST_PAIRS",
    "CUBE_INPUTS",
    "OPS",
    "OpDef",
    "OpError",
    "View",
    "declare",
    "describe",
    "meet",
]
