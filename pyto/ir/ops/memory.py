"""Making tiles, windows and shapes of them, and what moves between them and device memory."""

from __future__ import annotations

from typing import Any

from pyto.ir import infer
from pyto.ir.nodes import BF16, BOOL, FP16, FP32, INDEX, INT8, INT16, INT32, UINT8, UINT16, UINT32, Const, DType, Expr
from pyto.ir.ops import data
from pyto.ir.ops.table import BEFORE_MACHINE, STAGES, Composer, declare, ways
from pyto.ir.scalar import apply


def _full(c: Composer, value: Expr, shape: tuple[int, int], dtype: DType) -> Expr:
    """Bytes are filled as fp16 and cast: no instruction fills them."""
    if dtype == BOOL:
        return c.bitcast(c.full(apply("cast", value, dtype=UINT8), shape=shape, dtype=UINT8), dtype=BOOL)  # type: ignore[no-any-return]
    low = 128 if dtype == INT8 else 0
    if not isinstance(value, Const):
        value = apply("cast", value, dtype=INDEX)
        value = apply("mod", value + low, Const(256)) - low
    return c.cast(c.full(c.scalar(value, FP16), shape=shape, dtype=FP16), dtype)  # type: ignore[no-any-return]


def _reshape(c: Composer, tile: Any, shape: tuple[int, int]) -> Expr | None:
    """The rows of a window lie apart: it is copied first."""
    whole = c.dense(tile) if c.type(tile).shape[0] > 1 else tile
    return None if whole is tile else c.reshape(whole, shape=shape)  # type: ignore[no-any-return]


declare(
    "full",
    params=("value",),
    attrs=("shape", "dtype"),
    signature="shape, dtype, value",
    infer=infer.full,
    ways=ways(FP32, FP16, BF16, INT32, INT16, UINT32, UINT16, composed=dict.fromkeys((INT8, UINT8, BOOL), _full)),
    pipe="V",
    cost="add",
    form="full",
    api="Duplicate",
    user=True,
    doc="A tile of one value.",
)
declare(
    "empty",
    attrs=("shape", "dtype"),
    infer=infer.full,
    stages=BEFORE_MACHINE,
    doc="A tile whose lanes are undefined.",
)
declare(
    "create_tensor",
    signature="shape, dtype, layout=None, manual_dep=False, init_value=None, target_memory=None",
    aliases=("create", "create_tile"),
    stages=(),
    host=STAGES,
    user=True,
    doc="Outside regions a workspace in device memory, inside a tile; the contents are undefined.",
)
declare(
    "load",
    params=("tensor",),
    attrs=("shape", "rows", "cols", "space"),
    signature="tensor, offsets, shapes, valid_shape=None, target_memory=None, clamp=False",
    infer=infer.load,
    compose=data.load_column,
    pipe="MTE2",
    api="DataCopyPad",
    user=True,
    doc="A window of a tensor as a tile; past the end of the tensor the tile is not valid.",
)
declare(
    "store",
    params=("tensor", "tile"),
    attrs=("rows", "cols", "atomic"),
    signature="tile, offsets, output_tensor, shapes=None, *, atomic=None",
    pipe="MTE3",
    api="DataCopyPad",
    user=True,
    doc="Writes the valid part of a tile to a tensor at the offsets; returns the tensor.",
)
declare(
    "slice",
    params=("tile", "row", "col"),
    attrs=("shape",),
    signature="input, shape, offset, valid_shape=None, drop_dims=None, pad_value=None, clamp=False",
    infer=infer.slice,
    compose=data.column_of,
    stages=BEFORE_MACHINE,
    user=True,
    doc="A window of a tensor (loaded) or of a tile, as a tile.",
)
declare(
    "assemble",
    params=("tile", "part", "row", "col"),
    signature="target, source, offset, *, atomic=None",
    infer=infer.assemble,
    compose=data.column_into,
    pipe="V",
    api="Copy",
    stages=BEFORE_MACHINE,
    user=True,
    doc="Writes a tile into a tensor (in place; returns it) or into a tile (returns the new tile).",
)
declare(
    "reshape",
    params=("input",),
    attrs=("shape",),
    signature="input, shape",
    infer=infer.reshape,
    compose=_reshape,
    stages=BEFORE_MACHINE,
    user=True,
    doc="The same elements as a tile of another shape.",
)
declare(
    "set_validshape",
    params=("tile", "rows", "cols"),
    signature="input, valid_rows, valid_cols",
    infer=infer.set_valid,
    stages=BEFORE_MACHINE,
    user=True,
    doc="The tile with a smaller valid shape.",
)
declare(
    "read",
    params=("tensor",),
    signature="src, offset",
    infer=infer.read,
    pipe="S",
    api="GetValue",
    user=True,
    doc="One element of a tensor or tile as a scalar.",
)
declare(
    "fillpad",
    params=("tile", "value"),
    infer=infer.fillpad,
    ways=ways(*data.MOVED, through={INT8: FP16, UINT8: FP16}, composed={BOOL: data.as_bytes("fillpad")}),
    pipe="V",
    cost="add",
    form="fillpad",
    api="Duplicate",
    doc="The tile with `value` in its undefined lanes.",
)
