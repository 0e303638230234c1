"""What the operations mean that move elements about, at every stage."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyto.errors import LaunchError
from pyto.interpreter.core import MACHINE, STRUCTURE, TILES, Core, handles, outside
from pyto.interpreter.machine import _at
from pyto.ir.infer_data import PAIR, PATTERNS, SORTED
from pyto.ir.nodes import Op, TileType, Var, View
from pyto.ir.scalar import dtype_of
from pyto.numerics import NUMPY, Array, compute, poisoned


def _tile(core: Core, arg: Any) -> Array:
    """The valid part of a tile of any stage."""
    if isinstance(arg, View):
        return _at(core, arg)
    t = arg.type
    rows, cols = core.extent(t.valid, t.shape)
    whole: Array = core.value(arg)
    return whole[:rows, :cols]


def _whole(core: Core, arg: Any) -> Array:
    return _at(core, arg, arg.shape) if isinstance(arg, View) else core.value(arg)


def _is_tile(arg: Any) -> bool:
    return isinstance(arg, View) or (isinstance(arg, Var) and isinstance(arg.type, TileType))


def computes(*names: str) -> Any:
    """Registers `fn(core, op, operands) -> the valid part of the result` for all stages."""

    def register(fn: Any) -> Any:
        @handles(TILES, *names)
        def tiles(core: Core, op: Op) -> None:
            t = op.result.type
            assert isinstance(t, TileType)
            out, values = poisoned(t.shape, t.dtype), fn(core, op, op.args)
            rows, cols = core.extent(t.valid, t.shape)
            out[:rows, :cols] = values[:rows, :cols]
            core.env[op.result.name] = out

        @handles(MACHINE, *names)
        def machine(core: Core, op: Op) -> None:
            values = fn(core, op, op.args[1:]).copy()
            target = _at(core, op.args[0])
            rows, cols = target.shape
            target[...] = values[:rows, :cols]

        return fn

    return register


def changes(*names: str) -> Any:
    """Registers `fn(core, op, array, operands)`, which changes the first operand's array, for all stages."""

    def register(fn: Any) -> Any:
        @handles(TILES, *names)
        def tiles(core: Core, op: Op) -> None:
            array = core.value(op.args[0]).copy()
            fn(core, op, array, op.args[1:])
            core.env[op.result.name] = array

        @handles(MACHINE, *names)
        def machine(core: Core, op: Op) -> None:
            fn(core, op, _at(core, op.args[0], op.args[0].shape), op.args[2:])  # type: ignore[attr-defined]

        return fn

    return register


def _outside(op: Op, what: str, value: Any, size: int) -> LaunchError:
    return LaunchError(
        "out-of-bounds", f"{op.name}: {what} {value} of {size}", op.loc, remedy="clamp it, or check where it comes from"
    )


def _checked(op: Op, index: Array, size: int) -> Array:
    wrong = (index < 0) | (index >= size)
    if wrong.any():
        raise _outside(op, "index", int(index[wrong].flat[0]), size)
    return index


@computes("transpose", "transpose_blocks")
def _transpose(core: Core, op: Op, args: Any) -> Array:
    return _tile(core, args[0]).T


@computes("concat")
def _concat(core: Core, op: Op, args: Any) -> Array:
    a, b = (_tile(core, x) for x in args)
    rows = min(len(a), len(b))
    return np.concatenate([a[:rows], b[:rows]], axis=1)


@computes("arange")
def _arange(core: Core, op: Op, args: Any) -> Array:
    cols = op.attrs["shape"][1]
    steps = np.arange(cols, dtype=np.int64) * (-1 if op.attrs.get("descending") else 1)
    return (int(core.value(args[0])) + steps).astype(NUMPY[op.attrs["dtype"].name])[None]


def _keys(scores: Array) -> Array:
    """Integers that order like the scores as the chip compares them, the largest first: the two zeros are equal."""
    bits = (scores + np.float32(0)).view(np.int32).astype(np.int64)
    return -(bits ^ ((bits >> 31) & 0x7FFFFFFF))


@computes("sort32")
def _sort32(core: Core, op: Op, args: Any) -> Array:
    scores, index = (np.ascontiguousarray(_tile(core, a)) for a in args)
    rows = min(len(scores), len(index))
    scores, index = scores[:rows].reshape(-1, SORTED), index[:rows].reshape(-1, SORTED)
    order = np.argsort(_keys(scores), axis=1, kind="stable")
    pairs = np.stack([np.take_along_axis(a.view(np.uint32), order, 1) for a in (scores, index)], axis=-1)
    return pairs.reshape(rows, -1).view(np.float32)


@computes("mrgsort")
def _mrgsort(core: Core, op: Op, args: Any) -> Array:
    """Stable: of equal values that of the earlier list comes first."""
    tiles = [np.ascontiguousarray(_tile(core, a)) for a in args]
    rows = min(len(t) for t in tiles)
    joined = np.concatenate([t[:rows] for t in tiles], axis=1).view(np.uint32).reshape(rows, -1, PAIR)
    length = op.attrs.get("block_len")
    group = joined.shape[1] if length is None else 4 * length // PAIR
    out = joined.copy()
    for start in range(0, joined.shape[1], group):
        part = joined[:, start : start + group]
        order = np.argsort(_keys(np.ascontiguousarray(part[..., 0]).view(np.float32)), axis=1, kind="stable")
        out[:, start : start + group] = np.take_along_axis(part, order[..., None], 1)
    return out.reshape(rows, -1).view(np.float32)


@computes("gather_mask")
def _gather_mask(core: Core, op: Op, args: Any) -> Array:
    step, first = PATTERNS[op.attrs["pattern"]]
    part = np.ascontiguousarray(_tile(core, args[0])[:, first::step])
    return part.view(NUMPY[(op.attrs.get("dtype") or dtype_of(args[0])).name])


@computes("gather")
def _gather(core: Core, op: Op, args: Any) -> Array:
    index = _tile(core, args[1]).astype(np.int64)
    if op.attrs["flat"]:
        flat = _whole(core, args[0]).reshape(-1)
        return flat[_checked(op, index, flat.size)]
    source = _whole(core, args[0])
    _checked(op, index, _tile(core, args[0]).shape[1])
    rows = min(len(index), len(source))
    return np.take_along_axis(source[:rows], index[:rows], 1)


@computes("gather_bytes")
def _gather_bytes(core: Core, op: Op, args: Any) -> Array:
    source, offsets = args
    pitch = source.pitch if isinstance(source, View) else source.type.pitch
    rows, cols = (source if isinstance(source, View) else source.type).shape
    at = _tile(core, offsets).astype(np.int64) // dtype_of(source).bytes
    limit = rows * pitch if op.attrs["flat"] else cols
    _checked(op, at, limit)
    whole = _whole(core, source)
    if op.attrs["flat"]:
        return whole[at // pitch, at % pitch]
    count = min(len(at), rows)
    return np.take_along_axis(whole[:count], at[:count], 1)


@computes("gatherb")
def _gatherb(core: Core, op: Op, args: Any) -> Array:
    source, offsets = args
    whole, dtype = _whole(core, source), NUMPY[(op.attrs.get("dtype") or dtype_of(source)).name]
    pitch = source.pitch if isinstance(source, View) else source.type.pitch
    memory = np.zeros((whole.shape[0], pitch), whole.dtype)
    memory[:, : whole.shape[1]] = whole
    blocks = memory.view(np.uint8).reshape(-1, 32)
    at = _tile(core, offsets).view(np.uint32).astype(np.int64)
    if (at % 32).any():
        raise LaunchError("alignment", f"gatherb: offset {int(at[at % 32 != 0].flat[0])} is no multiple of 32", op.loc)
    picked = np.ascontiguousarray(blocks[_checked(op, at // 32, len(blocks))])
    return picked.reshape(len(at), -1).view(dtype)


@computes("take_column")
def _take_column(core: Core, op: Op, args: Any) -> Array:
    source, col = args[0], op.attrs["col"]
    rows = len(_tile(core, source))
    return _whole(core, source)[:rows, col : col + 1]


@changes("write")
def _write(core: Core, op: Op, array: Array, args: Any) -> None:
    row, col, value = (core.value(a) for a in args)
    _inside(op, (row, col), array.shape)
    array[row, col] = compute(np.asarray, dtype_of(op.args[0]), [value])[()]


def _inside(op: Op, index: tuple[int, ...], shape: tuple[int, ...]) -> None:
    for i, n in zip(index, shape):
        if not 0 <= i < n:
            raise _outside(op, "index", i, n)


@changes("scatter")
def _scatter(core: Core, op: Op, array: Array, args: Any) -> None:
    index, source = _tile(core, args[0]).astype(np.int64), _tile(core, args[1]).copy()
    rows, cols = min(len(index), len(source)), min(index.shape[1], source.shape[1])
    if not op.attrs["flat"]:
        rows = min(rows, len(array))
    _checked(op, index[:rows, :cols], array.size if op.attrs["flat"] else array.shape[1])
    for r in range(rows):
        for k in range(cols):
            at = int(index[r, k])
            place = divmod(at, array.shape[1]) if op.attrs["flat"] else (r, at)
            array[place] = source[r, k]


@changes("scatter_mask")
def _scatter_mask(core: Core, op: Op, array: Array, args: Any) -> None:
    step, first = PATTERNS[op.attrs["pattern"]]
    source = _tile(core, args[0])
    array[: len(source), first : first + source.shape[1] * step : step] = source


@handles(STRUCTURE, "read")
def _read(core: Core, op: Op) -> None:
    """One element of a tensor, or of a tile of any stage."""
    index = tuple(core.value(a) for a in op.args[1:])
    if _is_tile(op.args[0]):
        array = _whole(core, op.args[0])
        _inside(op, index, array.shape)
    else:
        array = core.value(op.args[0])
        if not all(0 <= i < n for i, n in zip(index, array.shape)):
            raise outside(f"read leaves its tensor: {list(index)} of {list(array.shape)}", op)
    core.env[op.result.name] = float(array[index]) if op.result.dtype.kind == "f" else int(array[index])
