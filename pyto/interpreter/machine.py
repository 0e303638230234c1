"""Machine stage: each operation reads and writes the bytes of the core's memories where the plan put its operands."""

from __future__ import annotations

import numpy as np

from pyto.errors import InternalError
from pyto.interpreter.core import MACHINE, Core, Extent, gm_window, handles, memory_of, store
from pyto.interpreter.masks import compare_bits, select_by
from pyto.interpreter.tiles import ELEMENTWISE, elementwise, reduction
from pyto.ir.nodes import Expr, Op, Space, TileType, View, slot_bytes
from pyto.ir.ops import OPS
from pyto.ir.scalar import dtype_of
from pyto.numerics import NUMPY, Array, cast, compute, product
from pyto.target import DEFAULT_CHIP


@handles(MACHINE, "alloc")
def _alloc(core: Core, op: Op) -> None:
    core.env[op.result.name] = op


def _at(core: Core, view: Expr, extent: Extent | None = None) -> Array:
    """A view's memory as a writable array: of its valid extents, or of `extent`."""
    assert isinstance(view, View)
    t, alloc = view.buffer.type, core.env[view.buffer.name]
    assert isinstance(t, TileType) and t.space is not None
    rows, cols = extent or core.extent(view.valid, view.shape)
    slot, row, col, size = core.value(view.slot), core.value(view.row), core.value(view.col), view.dtype.bytes
    pitch = view.pitch if t.space == Space.UB else t.shape[1]
    first = row * pitch + col
    last = first + (rows - 1) * pitch + cols if rows > 0 else 0
    room = slot_bytes(t, DEFAULT_CHIP.alignment[t.space])
    if not 0 <= slot < alloc.attrs["slots"] or first < 0 or last * size > room:
        raise InternalError(
            f"a view leaves its buffer {view.buffer.name}: slot {slot}, elements {first} to {last}", alloc.loc
        )
    if rows <= 0 or cols <= 0:
        return np.empty((max(0, rows), max(0, cols)), NUMPY[view.dtype.name])
    memory, offset = memory_of(alloc)
    offset += slot * room + first * size
    return np.ndarray((rows, cols), NUMPY[view.dtype.name], core.memory[memory].data, offset, (pitch * size, size))


@handles(MACHINE, "load")
def _load(core: Core, op: Op) -> None:
    dst, tensor, *offsets = op.args
    target = _at(core, dst)
    target[...] = gm_window(core, op, core.value(tensor), offsets, target.shape)


@handles(MACHINE, "store")
def _store(core: Core, op: Op) -> None:
    tensor, src, *offsets = op.args
    values = _at(core, src)
    store(op, gm_window(core, op, core.value(tensor), offsets, values.shape), values, dtype_of(tensor))


@handles(MACHINE, *ELEMENTWISE)
def _elementwise(core: Core, op: Op) -> None:
    target = _at(core, op.args[0])
    rows, cols = target.shape
    second = {"row_expand": (rows, 1), "col_expand": (1, cols)}.get(op.name[:10], (rows, cols))
    values = [
        _at(core, a, extent) if isinstance(a, View) else core.value(a)
        for a, extent in zip(op.args[1:], ((rows, cols), second))
    ]
    target[...] = elementwise(op, values, dtype_of(op.args[0]))


def _whole(view: View) -> TileType:
    return TileType(view.shape, view.dtype, view.valid)


@handles(MACHINE, "compare")
def _compare(core: Core, op: Op) -> None:
    bits, a, b = op.args
    assert isinstance(a, View)
    extent = core.extent(a.valid, a.shape)
    if isinstance(b, View):
        rows, cols = core.extent(b.valid, b.shape)
        extent = min(extent[0], rows), min(extent[1], cols)
    values = _at(core, a, extent), _at(core, b, extent) if isinstance(b, View) else core.value(b)
    target = _at(core, bits)
    target[...] = compare_bits(op, *values, _whole(a), target.shape[1])


@handles(MACHINE, "select")
def _select(core: Core, op: Op) -> None:
    dst, bits, a, b = op.args
    target = _at(core, dst)
    other = _at(core, b, target.shape) if isinstance(b, View) else core.value(b)
    assert isinstance(dst, View)
    target[...] = select_by(_at(core, bits), _at(core, a, target.shape), other, _whole(dst))


@handles(MACHINE, "every_other")
def _every_other(core: Core, op: Op) -> None:
    dst, src = op.args
    assert isinstance(src, View)
    target, flat = _at(core, dst), _at(core, src, src.shape).reshape(1, -1)
    target[...] = flat[:, op.attrs["odd"] :: 2]


@handles(MACHINE, "whole_reduce")
def _whole_reduce(core: Core, op: Op) -> None:
    fn, (dst, src) = OPS[reduction(op)].numpy, op.args
    assert fn is not None
    _at(core, dst)[...] = compute(fn, dtype_of(dst), [_at(core, src)])


@handles(MACHINE, "full", "fill_l0")
def _full(core: Core, op: Op) -> None:
    _at(core, op.args[0])[...] = compute(np.asarray, dtype_of(op.args[0]), [core.value(op.args[1])])


@handles(MACHINE, "cast", "copy")
def _cast(core: Core, op: Op) -> None:
    dst, src = op.args
    target = _at(core, dst)
    target[...] = cast(_at(core, src, target.shape).copy(), dtype_of(dst), op.attrs.get("mode", "rint"))


@handles(MACHINE, "fillpad")
def _fillpad(core: Core, op: Op) -> None:
    """Fills what the source, the same memory, holds no values in."""
    dst, src, value = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    target, (rows, cols) = _at(core, dst, dst.shape), core.extent(src.valid, src.shape)
    fill = compute(np.asarray, dtype_of(dst), [core.value(value)])
    target[rows:] = fill
    target[:, cols:] = fill


@handles(MACHINE, "brcb")
def _brcb(core: Core, op: Op) -> None:
    dst, src = op.args
    target = _at(core, dst)
    target[...] = _at(core, src, (target.shape[0], 1)).copy()


@handles(MACHINE, "load_a", "load_b")
def _load_operand(core: Core, op: Op) -> None:
    dst, src = op.args
    target = _at(core, dst)
    target[...] = _at(core, src, target.shape[::-1]).T if op.attrs.get("trans") else _at(core, src, target.shape)


@handles(MACHINE, "mmad")
def _mmad(core: Core, op: Op) -> None:
    acc, a, b, init = op.args
    x, y = _at(core, a), _at(core, b)
    k = min(x.shape[1], y.shape[0])
    target = _at(core, acc, (x.shape[0], y.shape[1]))
    target[...] = product(x[:, :k], y[:k]) + (0 if core.value(init) else target)
