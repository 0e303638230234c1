"""Moving elements about: transposes, joins, columns, gathers, scatters, sorts, single elements.

Tiles of 8-bit elements go through fp16, which holds them all exactly. What starts off a boundary of 32 bytes is moved
while it is transposed: columns are then rows, and rows start anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyto.ir import infer_data as infer
from pyto.ir.infer import slice as infer_slice
from pyto.ir.nodes import (
    BF16,
    BOOL,
    FP16,
    FP32,
    INT8,
    INT16,
    INT32,
    UINT8,
    UINT16,
    UINT32,
    Const,
    Expr,
    TensorType,
    TileType,
    const,
)
from pyto.ir.ops.table import BEFORE_MACHINE, LOWERED, Compose, Composer, Ways, declare, ways
from pyto.ir.scalar import apply

BLOCK = 32
MOVED = (FP32, FP16, BF16, INT32, UINT32, INT16, UINT16)


def as_bytes(name: str) -> Compose:
    """`name` of bools, by that of bytes of 0 and 1."""

    def compose(c: Composer, *args: Any, **attrs: Any) -> Expr:
        operands = (c.bitcast(a, dtype=UINT8) if c.type(a) is not None else apply("cast", a, dtype=UINT8) for a in args)
        return c.bitcast(c.make(name, *operands, **attrs), dtype=BOOL)  # type: ignore[no-any-return]

    return compose


def all_types(name: str) -> Ways:
    return ways(*MOVED, through={INT8: FP16, UINT8: FP16}, composed={BOOL: as_bytes(name)})


def _window(c: Composer, value: Any, row: Any, col: Any, shape: tuple[int, int]) -> Any:
    return value if shape == c.type(value).shape else c.slice(value, const(row), const(col), shape=shape)


def _block(t: TileType) -> int:
    return BLOCK // t.dtype.bytes


# ------------------------------------------------------------------------------------------------------- transposition


def _transpose(c: Composer, value: Any) -> Expr:
    rows, cols = c.type(value).shape
    if rows == cols == 1:
        return value  # type: ignore[no-any-return]
    if 1 in (rows, cols):  # the same bytes
        return c.reshape(value, shape=(cols, rows))  # type: ignore[no-any-return]
    return _window(c, c.make("transpose_blocks", value, hint="turned"), 0, 0, (cols, rows))  # type: ignore[no-any-return]


def _concat(c: Composer, a: Any, b: Any) -> Expr:
    t, width = infer.concat((c.type(a), c.type(b)), {}), c.type(a).shape[1]
    assert isinstance(t, TileType)
    if width % _block(t) == 0:
        out = c.make("empty", shape=t.shape, dtype=t.dtype)
        for part, at in ((a, 0), (b, width)):
            out = c.assemble(out, part, Const(0), Const(at))
    else:
        out = c.make("empty", shape=t.shape[::-1], dtype=t.dtype)
        for part, at in ((a, 0), (b, width)):
            out = c.assemble(out, c.transpose(part), Const(at), Const(0))
        out = c.transpose(out)
    return c.limited(out, t.valid)  # type: ignore[no-any-return]


declare(
    "transpose",
    params=("input",),
    signature="input, axis1, axis2, tmp_tile=None",
    infer=infer.transpose,
    ways=all_types("transpose"),
    compose=_transpose,
    pipe="V",
    stages=BEFORE_MACHINE,
    user=True,
    doc="Rows become columns: [R, C] -> [C, R].",
)
declare(
    "transpose_blocks",
    params=("src",),
    infer=infer.transpose_blocks,
    pipe="V",
    cost="add",
    form="transpose_blocks",
    api="TransDataTo5HD",
    stages=LOWERED,
    doc="Blocks of 16 rows and 32 bytes, transposed.",
)
declare(
    "concat",
    params=("src0", "src1"),
    infer=infer.concat,
    ways=all_types("concat"),
    compose=_concat,
    pipe="V",
    stages=BEFORE_MACHINE,
    user=True,
    doc="The columns of src0, then those of src1.",
)

# ------------------------------------------------------------------------------------------------------------- columns


def _by_halves(c: Composer, make: Callable[..., Any], *tiles: Any) -> Expr:
    """What `make` does with tiles of bytes, done with tiles of fp16."""
    dtype = c.type(tiles[0]).dtype
    if dtype == BOOL:
        tiles = tuple(c.bitcast(t, dtype=UINT8) for t in tiles)
    made = c.cast(make(*(c.cast(t, FP16) for t in tiles)), UINT8 if dtype == BOOL else dtype)
    return c.bitcast(made, dtype=BOOL) if dtype == BOOL else made  # type: ignore[no-any-return]


def column_of(c: Composer, tile: Any, row: Any, col: Any, shape: tuple[int, int]) -> Expr | None:
    """One column of a tile, whose elements lie apart; None for other windows."""
    t, rows = c.type(tile), shape[0]
    if shape[1] != 1 or rows == 1 or t.shape[1] == 1:
        return None
    result = infer_slice((t, row, col), {"shape": shape})
    assert isinstance(result, TileType)
    if t.dtype.bits == 8:
        return _by_halves(c, lambda x: c.slice(x, row, col, shape=shape), tile)
    if not isinstance(col, Const):
        return c.limited(c.transpose(_window(c, c.transpose(tile), col, row, (1, rows))), result.valid)  # type: ignore[no-any-return]
    place = int(col.value)
    if rows < t.shape[0]:
        first = place // _block(t) * _block(t)
        tile = _window(c, tile, row, first, (rows, min(_block(t), t.shape[1] - first)))
        place -= first
    operands = [tile]
    if place % _block(t):
        bits = UINT32 if t.dtype.bytes == 4 else UINT16
        mark = Const(1 << place % _block(t), bits)
        operands.append(c.make("full", mark, hint="bits", shape=(1, _block(t)), dtype=bits))
    return c.limited(c.take_column(*operands, col=place), result.valid)  # type: ignore[no-any-return]


def column_into(c: Composer, tile: Any, part: Any, row: Any, col: Any) -> Expr | None:
    """The tile with one column replaced; None for other windows."""
    rows, cols = c.type(part).shape
    if cols != 1 or rows == 1 or c.type(tile).shape[1] == 1:
        return None
    if c.type(tile).dtype.bits == 8:
        return _by_halves(c, lambda x, y: c.assemble(x, y, row, col), tile, part)
    return c.limited(c.transpose(c.assemble(c.transpose(tile), c.transpose(part), col, row)), c.type(tile).valid)  # type: ignore[no-any-return]


def elements_apart(tensor: TensorType, shape: tuple[int, int], rows: int | None) -> bool:
    """Whether a load or store moves a column of a tensor whose rows are longer than one element."""
    if shape[1] != 1 or shape[0] == 1 or rows is None:
        return False
    pitch: Expr = Const(1)
    for extent in tensor.shape[rows + 1 :]:
        pitch = pitch * extent
    return pitch != const(1)


def load_column(
    c: Composer, tensor: Any, *offsets: Any, shape: tuple[int, int], rows: Any, **attrs: Any
) -> Expr | None:
    """A column of a wider tensor: some columns of each of its rows, then the first of them."""
    if attrs.get("space") not in (None, "ub") or not elements_apart(tensor.type, shape, rows):
        return None
    wide = shape[0], BLOCK // tensor.type.dtype.bytes
    loaded = c.load(tensor, *offsets, shape=wide, rows=rows, **attrs)
    return c.slice(loaded, Const(0), Const(0), shape=shape)  # type: ignore[no-any-return]


def spread_column(c: Composer, tensor: Any, tile: Any, rows: Any) -> Any:
    """What a store copies to a column of a wider tensor: a row of 32 bytes for each element."""
    t = c.type(tile)
    if not elements_apart(tensor.type, t.shape, rows):
        return tile
    spread = _by_halves(c, c.brcb, tile) if t.dtype.bits == 8 else c.brcb(tile)
    return c.set_validshape(spread, *t.valid)


declare(
    "take_column",
    params=("src",),
    attrs=("col",),
    infer=infer.take_column,
    pipe="V",
    cost="add",
    form="take_column",
    api="GatherMask",
    stages=LOWERED,
    doc="One column of a tile, side by side; with a second operand, the column whose bit that row of 32 bytes has.",
)

# ------------------------------------------------------------------------------------------------------------- sorting


def _mrgsort(c: Composer, *lists: Any, block_len: int | None) -> Any:
    if block_len is not None and block_len >= c.type(lists[0]).shape[1]:
        return lists[0]  # one run is sorted
    return None


declare(
    "arange",
    params=("start",),
    attrs=("shape", "dtype", "descending"),
    signature="start, shape, dtype=None, descending=False",
    aliases=("ci",),
    infer=infer.arange,
    pipe="V",
    cost="add",
    form="arange",
    api="Adds",
    user=True,
    doc="start, start + 1, ... as a row [1, N] of integers (int32 unless dtype says); start - 1, ... if descending.",
)
declare(
    "sort32",
    params=("src", "idx"),
    infer=infer.sort32,
    pipe="V",
    cost="add",
    form="sort32",
    api="Sort32",
    user=True,
    doc="Each 32 columns of src sorted, largest first, with their indices: [R, C] -> [R, 2 C] of (value, index) pairs;"
    " equal values keep their order. The bits of an index stand in the place of an fp32: see pl.gather_mask.",
)
declare(
    "mrgsort",
    params=("src0",),
    attrs=("block_len",),
    signature="src0, src1=None, src2=None, src3=None, tmp=None, exhausted=False, *, block_len=None",
    infer=infer.mrgsort,
    compose=_mrgsort,
    pipe="V",
    cost="add",
    form="mrgsort",
    api="MrgSort",
    user=True,
    doc="Sorted pairs merged: each four runs of block_len columns to one run, or the rows of two to four tiles.",
)

# ------------------------------------------------------------------------------------------------ gathers and scatters


def _gather(c: Composer, source: Any, index: Any, flat: bool) -> Any:
    """Indices to byte offsets; a column of results is made as a row."""
    t, rows = c.type(source), c.type(index).shape[0]
    result = infer.gather((t, c.type(index)), {"flat": flat})
    assert isinstance(result, TileType)
    if t.dtype.bits == 8:
        return _by_halves(c, lambda x: c.gather(x, index, flat=flat), source)
    offsets = c.mul(c.cast(index, INT32), t.dtype.bytes)
    if result.shape[1] > 1 or rows == 1:
        return c.limited(c.gather_bytes(source, offsets, flat=flat), result.valid)
    offsets = c.reshape(offsets, shape=(1, rows))
    if not flat:
        steps = c.arange(Const(0), shape=(1, rows), dtype=INT32, descending=False)
        offsets = c.add(offsets, c.mul(steps, t.pitch * t.dtype.bytes))
    return c.limited(c.reshape(c.gather_bytes(source, offsets, flat=True), shape=(rows, 1)), result.valid)


def _gather_mask(c: Composer, source: Any, pattern: int, dtype: Any = None) -> Any:
    t = c.type(source)
    if t.dtype.bits != 8:
        return None
    return _by_halves(c, lambda x: c.gather_mask(x, pattern=pattern, dtype=None), source)


declare(
    "gather",
    params=("input", "index"),
    attrs=("flat",),
    signature="input, dim=None, index=None, *, mask_pattern=None, output_dtype=None, kvalue=None, cmp_mode=None,"
    " out_cols=None, offset=None, count_dtype=None",
    infer=infer.gather,
    compose=_gather,
    pipe="V",
    stages=BEFORE_MACHINE,
    user=True,
    doc="out[r, k] = input[r, index[r, k]]: elements of each row by index. By mask_pattern: see pl.gather_mask.",
)
declare(
    "gather_bytes",
    params=("src", "offsets"),
    attrs=("flat",),
    infer=infer.gather_bytes,
    pipe="V",
    cost="add",
    form="gather_bytes",
    api="Gather",
    stages=LOWERED,
    doc="Elements at byte offsets from the start of the tile (flat), or of the same row.",
)
declare(
    "gather_mask",
    params=("src",),
    attrs=("pattern", "dtype"),
    signature="src, mask_pattern, *, output_dtype=None",
    infer=infer.gather_mask,
    compose=_gather_mask,
    pipe="V",
    cost="add",
    form="gather_mask",
    api="GatherMask",
    user=True,
    doc="The columns that a pattern marks (pl.tile.MaskPattern), side by side; output_dtype: their bits as that type.",
)
declare(
    "gatherb",
    params=("src", "offset"),
    attrs=("dtype",),
    signature="src, offset, *, output_dtype=None",
    infer=infer.gatherb,
    pipe="V",
    cost="add",
    form="gatherb",
    api="Gatherb",
    user=True,
    doc="Blocks of 32 bytes of src at byte offsets (multiples of 32): [R, C] offsets -> [R, C * 32 / element size].",
)
declare(
    "scatter",
    params=("input", "index", "src"),
    attrs=("flat",),
    signature="input, dim=None, index=None, src=None, *, mask_pattern=None, dst=None",
    infer=infer.scatter,
    pipe="S",
    form="scatter",
    api="SetValue",
    user=True,
    doc="input with out[r, index[r, k]] = src[r, k], in order: the last of equal indices counts.",
)
declare(
    "scatter_mask",
    params=("dst", "src"),
    attrs=("pattern",),
    signature="dst, src, mask_pattern",
    infer=infer.scatter_mask,
    pipe="S",
    form="scatter_mask",
    api="SetValue",
    user=True,
    doc="dst with the columns of src in the columns that a pattern marks.",
)
declare(
    "write",
    params=("dst", "row", "col", "value"),
    signature="dst, offset, value",
    infer=infer.write,
    pipe="S",
    form="write",
    api="SetValue",
    user=True,
    doc="One element of a tile or of a tensor, in place.",
)
