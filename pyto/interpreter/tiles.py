"""Tensor and tile stage: each operation makes a new tile, poisoned outside its valid shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyto.errors import InternalError
from pyto.interpreter.core import TILES, Core, Extent, gm_window, handles, store
from pyto.interpreter.masks import compare_bits, select_by
from pyto.ir.nodes import DType, Expr, Op, TileType, Var
from pyto.ir.ops import OPS
from pyto.ir.scalar import dtype_of
from pyto.numerics import BY_NUMPY, NUMPY, Array, cast, compute, poisoned, product, scalar

REDUCTIONS = tuple(name for name, op in OPS.items() if op.numpy and op.form == "reduce")
ELEMENTWISE = tuple(name for name, op in OPS.items() if op.numpy and op.form not in ("reduce", "part"))
PARTS = tuple(name for name, op in OPS.items() if op.form == "part")


def _type(expr: Expr) -> TileType:
    assert isinstance(expr, Var) and isinstance(expr.type, TileType), expr
    return expr.type


@handles(TILES, "load")
def _load(core: Core, op: Op) -> None:
    t = _type(op.result)
    tensor, extent = core.value(op.args[0]), core.extent(t.valid, t.shape)
    part = gm_window(core, op, tensor, op.args[1:], extent)
    if extent == t.shape:
        core.env[op.result.name] = part.copy() if tensor.flags.writeable else part
        return
    out = poisoned(t.shape, t.dtype)
    out[: extent[0], : extent[1]] = part
    core.env[op.result.name] = out


@handles(TILES, "store")
def _store(core: Core, op: Op) -> None:
    tensor, tile, *offsets = op.args
    t, array = _type(tile), core.value(tensor)
    extent = list(core.extent(t.valid, t.shape))
    for i, axis in enumerate((op.attrs["rows"], op.attrs["cols"])):
        if axis is not None:
            extent[i] = max(0, min(extent[i], array.shape[axis] - core.value(offsets[axis])))
    rows, cols = extent
    store(op, gm_window(core, op, array, offsets, (rows, cols)), core.value(tile)[:rows, :cols], dtype_of(tensor))


def _column(op: Op, args: list[Any]) -> list[Any]:
    """row_expand_* broadcasts a column, which may come as what brcb makes of it."""
    return [args[0], args[1][:, :1]] if op.attrs.get("spread") else args


@handles(TILES, *ELEMENTWISE)
def _elementwise(core: Core, op: Op) -> None:
    core.define(op, elementwise(op, _column(op, [core.value(a) for a in op.args]), op.result.dtype))


def elementwise(op: Op, values: list[Any], dtype: DType) -> Array:
    """The table's meaning of `op`: scalars are of the type of the tiles whose places they may take."""
    table = OPS[op.name]
    assert table.numpy is not None
    arrays = [v for i, v in enumerate(values) if isinstance(v, np.ndarray) and i in table.scalars]
    like = BY_NUMPY[arrays[0].dtype] if arrays else dtype
    numbers = [v if isinstance(v, np.ndarray) else scalar(v, like) for v in values]
    attrs = {name: op.attrs[name] for name in table.numpy_attrs}
    return compute(lambda *args: table.numpy(*args, **attrs), dtype, numbers)  # type: ignore[misc]


@handles(TILES, *REDUCTIONS, "whole_reduce")
def _reduce(core: Core, op: Op) -> None:
    fn = OPS[reduction(op)].numpy
    assert fn is not None
    t = _type(op.args[0])
    rows, cols = core.extent(t.valid, t.shape)
    out = poisoned(_type(op.result).shape, op.result.dtype)
    part = compute(fn, op.result.dtype, [core.value(op.args[0])[:rows, :cols]])
    out[: part.shape[0], : part.shape[1]] = part  # of no elements: the neutral one
    core.define(op, out)


@handles(TILES, *PARTS)
def _part(core: Core, op: Op) -> None:
    """Where only one operand is valid, that one."""
    a, b = (core.value(x) for x in op.args)
    extents = [core.extent(_type(x).valid, _type(x).shape) for x in op.args]
    out = poisoned(_type(op.result).shape, op.result.dtype)
    for (rows, cols), value in zip(extents, (a, b)):
        out[:rows, :cols] = value[:rows, :cols]
    rows, cols = (min(n, m) for n, m in zip(*extents))
    out[:rows, :cols] = elementwise(op, [a[:rows, :cols], b[:rows, :cols]], op.result.dtype)
    core.define(op, out)


def reduction(op: Op) -> str:
    return f"row_{op.attrs['kind']}" if op.name == "whole_reduce" else op.name


@handles(TILES, "cast")
def _cast(core: Core, op: Op) -> None:
    core.define(op, cast(core.value(op.args[0]), op.result.dtype, op.attrs.get("mode", "rint")))


@handles(TILES, "matmul", "matmul_acc")
def _matmul(core: Core, op: Op) -> None:
    a, b = op.args[-2:] if op.name == "matmul" else op.args[1:3]
    x, (m, kx) = _factor(core, a, op.attrs.get("a_trans"))
    y, (ky, n) = _factor(core, b, op.attrs.get("b_trans"))
    k = min(kx, ky)
    out = poisoned(_type(op.result).shape, op.result.dtype)
    out[:m, :n] = product(x[:m, :k], y[:k, :n])
    if op.name == "matmul_acc" and not (len(op.args) > 3 and core.value(op.args[3])):
        out[:m, :n] += core.value(op.args[0])[:m, :n]
    core.define(op, out)


def _factor(core: Core, tile: Expr, transposed: bool | None) -> tuple[Array, Extent]:
    t = _type(tile)
    array, extent = core.value(tile), core.extent(t.valid, t.shape)
    return (array.T, extent[::-1]) if transposed else (array, extent)


@handles(TILES, "mmad")
def _mmad(core: Core, op: Op) -> None:
    acc, a, b, row, col, init = op.args
    (x, (m, kx)), (y, (ky, n)) = _factor(core, a, False), _factor(core, b, False)
    k, out = min(kx, ky), core.value(acc).copy()
    at = _window(core, row, col, (m, n))
    out[at] = product(x[:m, :k], y[:k, :n]) + (0 if core.value(init) else out[at])
    core.define(op, out)


def _window(core: Core, row: Expr, col: Expr, shape: Extent) -> tuple[slice, slice]:
    r, c = core.value(row), core.value(col)
    return slice(r, r + shape[0]), slice(c, c + shape[1])


@handles(TILES, "load_a", "load_b")
def _load_operand(core: Core, op: Op) -> None:
    """A window of an L1 tile; the fractal layout pads the tile, and the padding is poison."""
    t, (tile, row, col) = _type(op.result), op.args
    shape = t.shape[::-1] if op.attrs.get("trans") else t.shape
    have, at = core.value(tile), _window(core, row, col, shape)
    out = poisoned(shape, t.dtype)
    part = have[at]
    out[: part.shape[0], : part.shape[1]] = part
    core.define(op, out.T if op.attrs.get("trans") else out)


@handles(TILES, "full", "empty", "fill_l0")
def _full(core: Core, op: Op) -> None:
    t = _type(op.result)
    out = poisoned(t.shape, t.dtype)
    if op.args:
        out[...] = compute(np.asarray, t.dtype, [core.value(op.args[0])])
    core.define(op, out)


@handles(TILES, "slice")
def _slice(core: Core, op: Op) -> None:
    tile, row, col = op.args
    part = core.value(tile)[_window(core, row, col, op.attrs["shape"])]
    if part.shape != tuple(op.attrs["shape"]):
        raise InternalError(f"slice leaves its tile: {part.shape} of {op.attrs['shape']}", op.loc)
    core.define(op, part)


@handles(TILES, "assemble")
def _assemble(core: Core, op: Op) -> None:
    tile, part, row, col = op.args
    out = core.value(tile).copy()
    window = out[_window(core, row, col, _type(part).shape)]  # what lies beyond the tile is cut off
    window[...] = core.value(part)[: window.shape[0], : window.shape[1]]
    core.define(op, out)


@handles(TILES, "reshape")
def _reshape(core: Core, op: Op) -> None:
    core.define(op, core.value(op.args[0]).reshape(op.attrs["shape"]))


@handles(TILES, "bitcast")
def _bitcast(core: Core, op: Op) -> None:
    core.define(op, np.ascontiguousarray(core.value(op.args[0])).view(NUMPY[op.attrs["dtype"].name]))


@handles(TILES, "compare")
def _compare(core: Core, op: Op) -> None:
    a, b = (core.value(x) for x in op.args)
    core.define(op, compare_bits(op, a, b, _type(op.args[0]), _type(op.result).shape[1]))


@handles(TILES, "select")
def _select(core: Core, op: Op) -> None:
    bits, a, b = (core.value(x) for x in op.args)
    core.define(op, select_by(bits, a, b, _type(op.result)))


@handles(TILES, "every_other")
def _every_other(core: Core, op: Op) -> None:
    core.define(op, core.value(op.args[0]).reshape(1, -1)[:, op.attrs["odd"] :: 2])


@handles(TILES, "set_validshape", "copy")
def _same(core: Core, op: Op) -> None:
    core.define(op, core.value(op.args[0]))


@handles(TILES, "fillpad")
def _fillpad(core: Core, op: Op) -> None:
    t = _type(op.args[0])
    rows, cols = core.extent(t.valid, t.shape)
    out = np.full(t.shape, compute(np.asarray, t.dtype, [core.value(op.args[1])])[()])
    out[:rows, :cols] = core.value(op.args[0])[:rows, :cols]
    core.define(op, out)


@handles(TILES, "brcb")
def _brcb(core: Core, op: Op) -> None:
    core.define(op, np.repeat(core.value(op.args[0]), _type(op.result).shape[1], axis=1))
