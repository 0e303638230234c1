"""Types of results of the operations that move elements about: transposes, joins, gathers, scatters, sorts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyto.ir.infer import Attrs, OpError, describe, meet, tile
from pyto.ir.nodes import (
    FP32,
    INDEX,
    INT16,
    INT32,
    UINT16,
    UINT32,
    Const,
    DType,
    Expr,
    TileType,
    Type,
    const,
)
from pyto.ir.scalar import apply, dtype_of

PAIR = 2  # elements of a (value, index) pair of fp32
SORTED = 32  # values that sort32 orders
MAX_LIST = 4095  # pairs in one list of MrgSort
INDICES = (INT16, INT32, UINT16, UINT32)
#: Pattern of a mask -> (step, first): every step-th column from the first on.
PATTERNS = {1: (2, 0), 2: (2, 1), 3: (4, 0), 4: (4, 1), 5: (4, 2), 6: (4, 3), 7: (1, 0)}


def round_up(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _full_columns(t: TileType, op: str, param: str, remedy: str) -> None:
    if t.valid[1] != const(t.shape[1]):
        raise OpError(
            "partial-tile", f"{op}: {param} must be valid in all {t.shape[1]} columns, and may end before", remedy
        )


def _same_dtype(op: str, a: TileType, b: TileType) -> None:
    if a.dtype != b.dtype:
        raise OpError("dtype-mismatch", f"{op}: element types differ: {a.dtype} and {b.dtype}", "pl.cast one of them")


def transpose(args: Sequence[Any], attrs: Attrs) -> Type:
    t = tile(args[0], "transpose", "input")
    return TileType(t.shape[::-1], t.dtype, t.valid[::-1])


def transpose_blocks(args: Sequence[Any], attrs: Attrs) -> Type:
    """As the chip writes it: whole blocks, so rows and columns past the transposed tile."""
    t = tile(args[0], "transpose_blocks", "src")
    return TileType(
        (round_up(t.shape[1], 32 // t.dtype.bytes), round_up(t.shape[0], 16)), t.dtype, (t.valid[1], t.valid[0])
    )


def concat(args: Sequence[Any], attrs: Attrs) -> Type:
    a, b = tile(args[0], "concat", "src0"), tile(args[1], "concat", "src1")
    _same_dtype("concat", a, b)
    if a.shape[0] != b.shape[0]:
        raise OpError(
            "shape-mismatch",
            f"concat joins columns: the tiles have {a.shape[0]} and {b.shape[0]} rows",
            "make them agree",
        )
    _full_columns(a, "concat", "src0", "pl.fillpad it first")
    rows = meet(a.valid, b.valid)[0]
    return TileType((a.shape[0], a.shape[1] + b.shape[1]), a.dtype, (rows, a.shape[1] + b.valid[1]))


def arange(args: Sequence[Any], attrs: Attrs) -> Type:
    (rows, cols), dtype = attrs["shape"], attrs["dtype"]
    if rows != 1:
        raise OpError("shape-mismatch", f"arange makes one row, not {[rows, cols]}", f"write [1, {rows * cols}]")
    if dtype not in INDICES:
        raise OpError("op-dtype", f"arange is not defined for {dtype}; it takes {', '.join(map(repr, INDICES))}")
    if isinstance(args[0], Expr) and dtype_of(args[0]).kind == "f":
        raise OpError("dtype-mismatch", "arange: the start must be an integer", "pl.cast it to pl.INT32")
    return TileType((1, cols), dtype, (const(1), const(cols)))


def sort32(args: Sequence[Any], attrs: Attrs) -> Type:
    src, index = tile(args[0], "sort32", "src"), tile(args[1], "sort32", "idx")
    if src.dtype != FP32:
        raise OpError("op-dtype", f"sort32 is not defined for {src.dtype}; it takes fp32", "pl.cast it to pl.FP32")
    if index.dtype not in (UINT32, INT32):
        raise OpError(
            "op-dtype", f"sort32: idx must be uint32 or int32, got {index.dtype}", "pl.arange(0, [1, N], pl.UINT32)"
        )
    if src.shape != index.shape:
        raise OpError("shape-mismatch", f"sort32: shapes differ: {list(src.shape)} and {list(index.shape)}")
    if src.shape[1] % SORTED:
        raise OpError(
            "shape-mismatch",
            f"sort32 orders groups of {SORTED} values: {src.shape[1]} columns are no multiple of that",
            f"pl.fillpad to {round_up(src.shape[1], SORTED)} columns with pl.PadValue.min",
        )
    _full_columns(src, "sort32", "src", "pl.fillpad(tile, pl.PadValue.min) first")
    _full_columns(index, "sort32", "idx", "make it with pl.arange")
    rows = meet(src.valid, index.valid)[0]
    cols = src.shape[1] * PAIR
    return TileType((src.shape[0], cols), FP32, (rows, const(cols)))


def mrgsort(args: Sequence[Any], attrs: Attrs) -> Type:
    lists = [tile(a, "mrgsort", f"src{i}") for i, a in enumerate(args)]
    first, length = lists[0], attrs.get("block_len")
    for i, t in enumerate(lists):
        if t.dtype != FP32:
            raise OpError("op-dtype", f"mrgsort is not defined for {t.dtype}; it takes pairs of fp32 from pl.sort32")
        if t.shape[0] != first.shape[0]:
            raise OpError("shape-mismatch", f"mrgsort: src0 has {first.shape[0]} rows, src{i} has {t.shape[0]}")
        if t.shape[1] % PAIR:
            raise OpError("shape-mismatch", f"mrgsort: src{i} has {t.shape[1]} columns: pairs need an even number")
        _full_columns(t, "mrgsort", f"src{i}", "sort a tile that is filled to its end")
    if length is not None:
        if length <= 0 or length % (SORTED * PAIR):
            raise OpError(
                "bad-argument",
                f"mrgsort: block_len must be a positive multiple of {SORTED * PAIR}, got {length}",
                "64 after pl.sort32, then 256, 1024, ...",
            )
        longest = 0 if length >= first.shape[1] else length // PAIR
    else:
        longest = max(t.shape[1] for t in lists) // PAIR
    if longest > MAX_LIST:
        raise OpError("limit", f"mrgsort: a list of {longest} pairs, at most {MAX_LIST}", "merge shorter lists")
    rows, cols = first.valid[0], sum(t.shape[1] for t in lists)
    for t in lists[1:]:
        rows = meet((rows, rows), t.valid)[0]
    return TileType((first.shape[0], cols), FP32, (rows, const(cols)))


def pattern_of(op: str, attrs: Attrs) -> tuple[int, int]:
    pattern = attrs["pattern"]
    if pattern not in PATTERNS:
        raise OpError("bad-argument", f"{op}: mask_pattern must be 1 to 7, got {pattern}", "pl.tile.MaskPattern.P0101")
    return PATTERNS[pattern]


def _other_bits(op: str, t: TileType, target: DType) -> DType:
    if target is INDEX or target.kind == "b" or target.bits != t.dtype.bits:
        raise OpError(
            "dtype-mismatch", f"{op}: output_dtype must have the {t.dtype.bits} bits of {t.dtype}, got {target}"
        )
    return target


def gather_mask(args: Sequence[Any], attrs: Attrs) -> Type:
    t = tile(args[0], "gather_mask", "src")
    step, first = pattern_of("gather_mask", attrs)
    dtype = _other_bits("gather_mask", t, attrs.get("dtype") or t.dtype)
    cols = (t.shape[1] - first + step - 1) // step
    if cols < 1:
        raise OpError("shape-mismatch", f"gather_mask: the pattern takes nothing of {t.shape[1]} columns")
    valid = t.valid[1] if step == 1 else apply("floordiv", t.valid[1] + (step - 1 - first), Const(step))
    return TileType((t.shape[0], cols), dtype, (t.valid[0], valid))


def _index(op: str, t: TileType) -> None:
    if t.dtype not in (INT16, INT32):
        raise OpError("op-dtype", f"{op}: the index must be int32 or int16, got {t.dtype}", "pl.cast it to pl.INT32")


def _flat_source(op: str, param: str, t: TileType) -> None:
    if t.shape[0] > 1 and t.pitch != t.shape[1]:
        raise OpError(
            "alignment",
            f"{op} by flat indices: the rows of {param} {list(t.shape)} {t.dtype} are not a multiple of 32 B",
            "choose a width that is, or use pl.tensor's form with one index a column",
        )


def gather(args: Sequence[Any], attrs: Attrs) -> Type:
    t, index = tile(args[0], "gather", "input"), tile(args[1], "gather", "index")
    _index("gather", index)
    if attrs["flat"]:
        _flat_source("gather", "src", t)
        return TileType(index.shape, t.dtype, index.valid)
    if t.shape[0] != index.shape[0]:
        raise OpError(
            "shape-mismatch",
            f"gather: index {list(index.shape)} must have the {t.shape[0]} rows of the input {list(t.shape)}",
            "one row of indices for each row of the input",
        )
    return TileType(index.shape, t.dtype, (meet(t.valid, index.valid)[0], index.valid[1]))


def gather_bytes(args: Sequence[Any], attrs: Attrs) -> Type:
    t, offsets = args
    return TileType(offsets.shape, t.dtype, offsets.valid)


def gatherb(args: Sequence[Any], attrs: Attrs) -> Type:
    t, offset = tile(args[0], "gatherb", "src"), tile(args[1], "gatherb", "offset")
    if offset.dtype not in (UINT32, INT32):
        raise OpError("op-dtype", f"gatherb: offset must be uint32, got {offset.dtype}", "byte offsets of 32 B blocks")
    dtype = attrs.get("dtype") or t.dtype
    if dtype is INDEX or dtype.kind == "b":
        raise OpError("dtype-mismatch", f"gatherb: output_dtype cannot be {dtype}")
    if offset.shape[1] % 8:
        raise OpError(
            "shape-mismatch",
            f"gatherb takes offsets by eights, got {offset.shape[1]} columns",
            f"pl.fillpad the offsets to {round_up(offset.shape[1], 8)} columns",
        )
    _full_columns(offset, "gatherb", "offset", "pl.fillpad it first")
    cols = offset.shape[1] * (32 // dtype.bytes)
    return TileType((offset.shape[0], cols), dtype, (offset.valid[0], const(cols)))


def take_column(args: Sequence[Any], attrs: Attrs) -> Type:
    t = args[0]
    return TileType((t.shape[0], 1), t.dtype, (t.valid[0], const(1)))


def scatter(args: Sequence[Any], attrs: Attrs) -> Type:
    dst, index, src = (tile(a, "scatter", n) for a, n in zip(args, ("input", "index", "src")))
    _index("scatter", index)
    _same_dtype("scatter", dst, src)
    if index.shape != src.shape:
        raise OpError("shape-mismatch", f"scatter: shapes differ: index {list(index.shape)}, src {list(src.shape)}")
    if attrs["flat"]:
        _flat_source("scatter", "dst", dst)
    elif src.shape[0] != dst.shape[0]:
        raise OpError(
            "shape-mismatch",
            f"scatter: index {list(index.shape)} must have the {dst.shape[0]} rows of the input {list(dst.shape)}",
        )
    return dst


def scatter_mask(args: Sequence[Any], attrs: Attrs) -> Type:
    dst, src = tile(args[0], "scatter_mask", "dst"), tile(args[1], "scatter_mask", "src")
    step, _ = pattern_of("scatter_mask", attrs)
    _same_dtype("scatter_mask", dst, src)
    if dst.shape != (src.shape[0], src.shape[1] * step):
        raise OpError(
            "shape-mismatch",
            f"scatter_mask: dst must be {[src.shape[0], src.shape[1] * step]} for a source {list(src.shape)}, "
            f"got {list(dst.shape)}",
        )
    return dst


def write(args: Sequence[Any], attrs: Attrs) -> Type:
    t, row, col, value = args
    if not isinstance(value, Expr):
        raise OpError("operand-kind", f"write: the value must be a scalar, got {describe(value)}")
    check_element(t, row, col)
    return t  # type: ignore[no-any-return]


def check_element(t: TileType, row: Expr, col: Expr) -> None:
    for offset, have, name in ((row, t.shape[0], "rows"), (col, t.shape[1], "columns")):
        if isinstance(offset, Const) and not 0 <= offset.value < have:
            raise OpError("out-of-bounds", f"index {offset.value} of {have} {name}")
