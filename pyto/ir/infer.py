"""Types of results from types of operands; what an op does not take is an `OpError` that says what to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyto.ir.nodes import (
    BF16,
    FP16,
    FP32,
    INDEX,
    INT8,
    INT16,
    INT32,
    UINT8,
    Const,
    DType,
    Expr,
    ScalarType,
    TensorType,
    TileType,
    Type,
    Var,
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


def _check_dtype(name: str, dtypes: tuple[DType, ...], d: DType) -> None:
    if dtypes and d not in dtypes:
        names = ", ".join(map(repr, dtypes))
        raise OpError(
            "op-dtype", f"{name} is not defined for {d}; it takes {names}", f"pl.cast the operand to {dtypes[0]}"
        )


def unary(name: str, dtypes: tuple[DType, ...]) -> Infer:
    def infer(args: Sequence[Any], attrs: Attrs) -> Type:
        t = tile(args[0], name, "input")
        _check_dtype(name, dtypes, t.dtype)
        return t

    return infer


def with_scalar(name: str, dtypes: tuple[DType, ...]) -> Infer:
    """A tile and a scalar."""

    def infer(args: Sequence[Any], attrs: Attrs) -> Type:
        if not isinstance(args[1], Expr):
            what = f"{name}: the second operand must be a scalar, got {describe(args[1])}"
            raise OpError("operand-kind", what, "write a number, or pl.read one element of a tensor")
        return binary(name, dtypes)((tile(args[0], name, "input"), args[1]), attrs)  # type: ignore[return-value]

    return infer


def binary(name: str, dtypes: tuple[DType, ...]) -> Infer:
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
            _check_dtype(name, dtypes, a.dtype)
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
        _check_dtype(name, dtypes, t.dtype)
        return t

    return infer


def shift(name: str, dtypes: tuple[DType, ...]) -> Infer:
    two = binary(name, dtypes)

    def infer(args: Sequence[Any], attrs: Attrs) -> Type | None:
        t = two(args, attrs)
        assert isinstance(t, TileType)
        if isinstance(args[1], Const) and not 0 <= args[1].value < t.dtype.bits:
            raise OpError(
                "out-of-range",
                f"{name}: {t.dtype} cannot be shifted by {args[1].value} bits",
                f"shift by 0 to {t.dtype.bits - 1}",
            )
        return t

    return infer


def cmp(args: Sequence[Any], attrs: Attrs) -> Type:
    t = binary("cmp", ())(args, attrs)
    assert isinstance(t, TileType)
    return TileType(t.shape, attrs["dtype"], t.valid)


def compare(args: Sequence[Any], attrs: Attrs) -> Type:
    """Bits of whole repeats of the tile as it lies, rounded up to a block."""
    t = args[0]
    lanes = 256 // t.dtype.bytes
    elements = t.shape[0] * t.pitch
    bytes_ = -(-(-(-elements // lanes) * lanes // 8) // 32) * 32
    return TileType((1, bytes_), UINT8, (const(1), const(bytes_)))


def select(args: Sequence[Any], attrs: Attrs) -> Type:
    return binary("select", ())(args[1:], attrs)  # type: ignore[return-value]


def sel(args: Sequence[Any], attrs: Attrs) -> Type:
    mask, *values = args
    mask = tile(mask, "sel", "mask")
    t = binary("sel", ())(values, attrs)
    assert isinstance(t, TileType)
    if mask.shape != t.shape:
        raise OpError("shape-mismatch", f"sel: the mask is {list(mask.shape)}, the values are {list(t.shape)}")
    return TileType(t.shape, t.dtype, meet(t.valid, mask.valid))


def three(name: str, dtypes: tuple[DType, ...]) -> Infer:
    two = binary(name, dtypes)

    def infer(args: Sequence[Any], attrs: Attrs) -> Type | None:
        return two((two(args[:2], attrs), args[2]), attrs)

    return infer


def join(a: tuple[Expr, Expr], b: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
    """The smallest valid shape around two."""
    return tuple(x if x == y else apply("max", x, y) for x, y in zip(a, b))  # type: ignore[return-value]


def part(name: str, dtypes: tuple[DType, ...]) -> Infer:
    two = binary(name, dtypes)

    def infer(args: Sequence[Any], attrs: Attrs) -> Type | None:
        a, b = tile(args[0], name, "lhs"), tile(args[1], name, "rhs")
        two(args, attrs)
        return TileType(a.shape, a.dtype, join(a.valid, b.valid))

    return infer


def clone(args: Sequence[Any], attrs: Attrs) -> Type:
    src, target = tile(args[0], "expand_clone", "src"), tile(args[1], "expand_clone", "target")
    if any(have not in (1, want) for have, want in zip(src.shape, target.shape)):
        raise OpError("shape-mismatch", f"expand_clone: {list(src.shape)} does not fit {list(target.shape)}")
    if src.dtype != target.dtype:
        raise OpError(
            "dtype-mismatch",
            f"expand_clone: element types differ: {src.dtype} and {target.dtype}",
            f"pl.cast src to {target.dtype}",
        )
    both = meet(src.valid, target.valid)
    rows, cols = (w if n == 1 else b for n, w, b in zip(src.shape, target.valid, both))
    return TileType(target.shape, src.dtype, (rows, cols))


def bitcast(args: Sequence[Any], attrs: Attrs) -> Type:
    (t,) = args
    return TileType(t.shape, attrs["dtype"], t.valid, t.space)


def every_other(args: Sequence[Any], attrs: Attrs) -> Type:
    (t,) = args
    half = t.shape[0] * t.shape[1] // 2
    return TileType((1, half), t.dtype, (const(1), const(half)))


def expand(name: str, dtypes: tuple[DType, ...], axis: int) -> Infer:
    def infer(args: Sequence[Any], attrs: Attrs) -> Type:
        a, b = tile(args[0], name, "lhs"), tile(args[1], name, "rhs")
        want = (a.shape[0], 1) if axis == 0 else (1, a.shape[1])
        if attrs.get("spread"):  # what brcb makes of a column
            want = (a.shape[0], 32 // a.dtype.bytes)
        if b.shape != want:
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
        _check_dtype(name, dtypes, a.dtype)
        valid = list(a.valid)
        valid[axis] = meet(a.valid, b.valid)[axis]
        return TileType(a.shape, a.dtype, (valid[0], valid[1]))

    return infer


def reduce(name: str, dtypes: tuple[DType, ...], axis: int) -> Infer:
    def infer(args: Sequence[Any], attrs: Attrs) -> Type:
        t = tile(args[0], name, "input")
        _check_dtype(name, dtypes, t.dtype)
        one = const(1)
        if axis == 1:
            return TileType((t.shape[0], 1), t.dtype, (t.valid[0], one))
        return TileType((1, t.shape[1]), t.dtype, (one, t.valid[1]))

    return infer


def argument(name: str, dtypes: tuple[DType, ...], axis: int) -> Infer:
    one = reduce(name, dtypes, axis)

    def infer(args: Sequence[Any], attrs: Attrs) -> Type:
        t = one(args, attrs)
        assert isinstance(t, TileType)
        return TileType(t.shape, INT32, t.valid)

    return infer


CUBE_INPUTS = {BF16: FP32, FP16: FP32, FP32: FP32, INT8: INT32}


def matmul(args: Sequence[Any], attrs: Attrs) -> Type:
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


def matmul_acc(args: Sequence[Any], attrs: Attrs) -> Type:
    acc = tile(args[0], "matmul_acc", "acc")
    product = matmul(args[1:3], attrs)
    assert isinstance(product, TileType)
    if acc.shape != product.shape or acc.dtype != product.dtype:
        raise OpError("shape-mismatch", f"matmul_acc: acc is {describe(acc)}, the product is {describe(product)}")
    return TileType(acc.shape, acc.dtype, meet(acc.valid, product.valid), acc.space)


FLOATS = (FP32, FP16, BF16)
ARITHMETIC = (FP32, FP16, BF16, INT32, INT16)
# What the chip's casts do directly; other pairs go through fp32 or fp16 (passes/legalize.py).
CAST_PAIRS = frozenset(
    {
        (FP32, BF16),
        (BF16, FP32),
        (FP32, FP16),
        (FP16, FP32),
        (FP16, INT8),
        (FP16, UINT8),
        (FP16, INT16),
        (FP16, INT32),
        (INT8, FP16),
        (UINT8, FP16),
        (INT16, FP16),
        (INT16, FP32),
        (FP32, INT16),
        (INT32, FP32),
        (FP32, INT32),
        (INT32, INT16),
        (BF16, INT32),
    }
)
CAST_MODES = {
    "rint": "CAST_RINT",
    "round": "CAST_ROUND",
    "floor": "CAST_FLOOR",
    "ceil": "CAST_CEIL",
    "trunc": "CAST_TRUNC",
}


def cast(args: Sequence[Any], attrs: Attrs) -> Type:
    t = tile(args[0], "cast", "input")
    if attrs.get("mode", "rint") not in CAST_MODES:
        raise OpError("bad-argument", f"cast: unknown mode {attrs['mode']!r}; one of {', '.join(CAST_MODES)}")
    target = attrs["target_type"]
    if target is INDEX:
        raise OpError("op-dtype", "cast: the vector unit has no elements of int64", "use pl.INT32")
    return TileType(t.shape, target, t.valid)


def load(args: Sequence[Any], attrs: Attrs) -> Type:
    (tensor, *offsets), shape = args, attrs["shape"]
    assert isinstance(tensor, TensorType)
    rows, cols, valid = attrs["rows"], attrs["cols"], []
    for axis, size in ((rows, shape[0]), (cols, shape[1])):
        if axis is None:
            valid.append(const(size))
        else:
            valid.append(apply("max", const(0), apply("min", const(size), tensor.shape[axis] - offsets[axis])))
    return TileType(shape, tensor.dtype, (valid[0], valid[1]), attrs.get("space"))


def slice(args: Sequence[Any], attrs: Attrs) -> Type:
    t, row, col = args
    shape = attrs["shape"]
    starts_anywhere = not isinstance(row, Const) or (row.value * t.dtype.bytes) % 32
    if t.shape[1] == 1 and shape[0] < t.shape[0] and starts_anywhere:
        raise OpError(
            "alignment",
            f"a window of a column [{t.shape[0]}, 1] must start at a compile-time multiple of 32 B",
            f"start at a multiple of {32 // t.dtype.bytes} rows",
        )
    for axis, (offset, size, have) in enumerate(zip((row, col), shape, t.shape)):
        if isinstance(offset, Const) and not 0 <= offset.value <= have - size:
            raise OpError(
                "out-of-bounds",
                f"slice [{offset.value}, {offset.value + size}) exceeds the {have} {('rows', 'columns')[axis]}",
            )
    column = shape[1] == 1 and t.shape[1] > 1 and shape[0] > 1  # moved element by element: starts anywhere
    if not column and isinstance(col, Const) and (col.value * t.dtype.bytes) % 32:
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


def assemble(args: Sequence[Any], attrs: Attrs) -> Type:
    t, part, row, col = args
    slice((t, row, col), {"shape": part.shape})
    if part.dtype != t.dtype:
        raise OpError(
            "dtype-mismatch",
            f"assemble: element types differ: {t.dtype} and {part.dtype}",
            f"pl.cast the part to {t.dtype}",
        )
    return t  # type: ignore[no-any-return]


def reshape(args: Sequence[Any], attrs: Attrs) -> Type:
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
        if side.shape[1] != side.pitch and side.shape[0] > 1:
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
    valid = _reshaped_valid(t, shape)
    if valid is not None:
        return TileType(shape, t.dtype, valid)
    raise OpError(
        "partial-reshape",
        f"reshape of a partly valid tile {list(t.shape)}",
        "reshape before slicing, or pl.fillpad first",
    )


def _reshaped_valid(t: TileType, shape: tuple[int, int]) -> tuple[Expr, Expr] | None:
    """Where the valid elements are the first ones in order, and are so in the other shape: its valid extents."""
    (rows, cols), (new_rows, new_cols) = t.shape, shape
    vr, vc = t.valid
    if vc == const(cols):
        if new_rows == 1:
            return const(1), vr * cols
        if cols % new_cols == 0:
            return vr * (cols // new_cols), const(new_cols)
        count: Expr = vr * cols
    elif rows == 1 or vr == const(1):
        count = vc
    else:
        return None
    if not isinstance(count, Const):
        return None
    total = int(count.value)
    if total <= new_cols:
        return const(1), count
    return (const(total // new_cols), const(new_cols)) if total % new_cols == 0 else None


def full(args: Sequence[Any], attrs: Attrs) -> Type:
    r, c = attrs["shape"]
    return TileType((r, c), attrs["dtype"], (const(r), const(c)))


def read(args: Sequence[Any], attrs: Attrs) -> Type:
    return ScalarType(args[0].dtype if args[0].dtype.kind == "f" else INDEX)


def brcb(args: Sequence[Any], attrs: Attrs) -> Type:
    (t,) = args
    lanes = 32 // t.dtype.bytes
    return TileType((t.shape[0], lanes), t.dtype, (t.valid[0], const(lanes)))


def fillpad(args: Sequence[Any], attrs: Attrs) -> Type:
    t = tile(args[0], "fillpad", "tile")
    return TileType(t.shape, t.dtype, (const(t.shape[0]), const(t.shape[1])), t.space)


def set_valid(args: Sequence[Any], attrs: Attrs) -> Type:
    t, rows, cols = args
    return TileType(t.shape, t.dtype, meet(t.valid, (rows, cols)), t.space)
