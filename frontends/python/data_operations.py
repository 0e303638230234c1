"""Functions of `pl` that move elements about: transposes, joins, gathers, scatters, sorts, single elements."""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np

from pyto.frontends.python import library
from pyto.frontends.python.calls import Arguments, operation
from pyto.frontends.python.frame import Frame
from pyto.frontends.python.inline import call_with
from pyto.frontends.python.operations import _operands, _pair, tile_shape
from pyto.frontends.python.subscripts import (
    assemble_tile,
    read_element,
    window,
    write_element,
)
from pyto.frontends.python.values import describe, is_number, is_runtime_scalar, is_tensor, is_tile
from pyto.ir.nodes import INT32, Const, DType, TensorType, TileType, Var
from pyto.ir.scalar import apply
from pyto.language.enums import PadValue
from pyto.language.jit import JitFunction

# ------------------------------------------------------------------------------------------------------------- padding


def pad_constant(frame: Frame, value: Any, dtype: DType, node: ast.AST) -> Const:
    """A PadValue, or 0, inf or -inf for it, in an element type."""
    if isinstance(value, PadValue):
        kind = value
    elif is_number(value) and value in (0, math.inf, -math.inf):
        kind = PadValue.zero if value == 0 else PadValue.max if value > 0 else PadValue.min
    else:
        raise frame.error(
            "bad-argument",
            f"pad_value must be a pl.PadValue, 0 or an infinity, got {describe(value)}",
            node,
            "pl.PadValue.min",
        )
    if kind is PadValue.null:
        raise frame.error("bad-argument", "pl.PadValue.null fills with nothing", node, "leave the call away")
    if kind is PadValue.zero:
        return Const(False if dtype.kind == "b" else 0.0 if dtype.kind == "f" else 0, dtype)
    if dtype.kind == "f":
        return Const(math.inf if kind is PadValue.max else -math.inf, dtype)
    if dtype.kind == "b":
        return Const(kind is PadValue.max, dtype)
    limits = np.iinfo(dtype.numpy)
    return Const(int(limits.max if kind is PadValue.max else limits.min), dtype)


@operation("fillpad")
@operation("fillpad_inplace")
def _fillpad(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    tile = frame.tile(*_pair(arguments["value"], node), "the operand of pl.fillpad")
    fill = pad_constant(frame, arguments["pad_value"][0], tile.dtype, arguments["pad_value"][1] or node)
    assert isinstance(tile.type, TileType)
    return tile if tile.type.is_full else frame.emit("fillpad", (tile, fill), {}, node, hint)


@operation("fillpad_expand")
def _fillpad_expand(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    tile = frame.tile(*_pair(arguments["value"], node), "the operand of pl.fillpad_expand")
    shape = tile_shape(frame, *_pair(arguments["shape"], node))
    fill = pad_constant(frame, arguments["pad_value"][0], tile.dtype, arguments["pad_value"][1] or node)
    assert isinstance(tile.type, TileType)
    (rows, cols), (new_rows, new_cols) = tile.type.shape, shape
    if new_rows < rows or new_cols < cols:
        raise frame.error(
            "shape-mismatch", f"fillpad_expand: {list(shape)} is smaller than the tile {[rows, cols]}", node
        )
    full = {"dtype": tile.dtype}
    if not tile.type.is_full:
        tile = frame.emit("fillpad", (tile, fill), {}, node, hint)
    if new_cols > cols:
        more = frame.emit("full", (fill,), {**full, "shape": (rows, new_cols - cols)}, node)
        tile = frame.emit("concat", (tile, more), {}, node, hint)
    if new_rows > rows:
        whole = frame.emit("full", (fill,), {**full, "shape": shape}, node)
        tile = frame.emit("assemble", (whole, tile, Const(0), Const(0)), {}, node, hint)
    return tile


# ------------------------------------------------------------------------------------------------ shape and order


@operation("transpose")
def _transpose(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    tile = frame.tile(*_pair(arguments["input"], node), "input of pl.transpose")
    axes = []
    for name in ("axis1", "axis2"):
        axis = frame.static_int(*_pair(arguments[name], node), name)
        if not -2 <= axis < 2:
            raise frame.error(
                "out-of-bounds", f"a tile has two axes, there is no axis {axis}", arguments[name][1] or node
            )
        axes.append(axis % 2)
    return tile if axes[0] == axes[1] else frame.emit("transpose", (tile,), {}, node, hint)


@operation("arange")
def _arange(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    dtype = frame.dtype(*_pair(arguments["dtype"], node), "dtype") if arguments["dtype"][0] is not None else INT32
    shape = tile_shape(frame, *_pair(arguments["shape"], node))
    start = frame.integer(*_pair(arguments["start"], node), "start")
    descending = bool(arguments["descending"][0])
    return frame.emit("arange", (start,), {"shape": shape, "dtype": dtype, "descending": descending}, node, hint)


@operation("sort32")
def _sort32(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    return frame.emit("sort32", _operands(frame, "sort32", node, arguments), {}, node, hint)


@operation("mrgsort")
def _mrgsort(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    names = [n for n in ("src0", "src1", "src2", "src3") if arguments[n][0] is not None]
    lists = [frame.tile(*_pair(arguments[n], node), f"{n} of pl.mrgsort") for n in names]
    length, at = arguments["block_len"]
    if length is None:
        if len(lists) < 2 or len(names) < len(lists):
            raise frame.error(
                "bad-argument",
                "mrgsort merges two to four tiles, or the runs of one",
                node,
                "pl.mrgsort(pairs, block_len=64)",
            )
        return frame.emit("mrgsort", lists, {"block_len": None}, node, hint)
    if len(lists) > 1:
        raise frame.error("bad-argument", "mrgsort: block_len is for the runs of one tile", at or node, "leave it away")
    length = frame.static_int(length, at or node, "block_len")
    return frame.emit("mrgsort", lists, {"block_len": length}, node, hint)


# ------------------------------------------------------------------------------------------------------------- gathers


def _mask_attrs(frame: Frame, arguments: Arguments, node: ast.AST) -> dict[str, Any]:
    pattern = frame.static_int(*_pair(arguments["mask_pattern"], node), "mask_pattern")
    dtype, at = arguments.get("output_dtype", (None, None))
    return {"pattern": pattern, "dtype": None if dtype is None else frame.dtype(dtype, at or node, "output_dtype")}


@operation("gather_mask")
def _gather_mask(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    src = frame.tile(*_pair(arguments["src"], node), "src of pl.gather_mask")
    return frame.emit("gather_mask", (src,), _mask_attrs(frame, arguments, node), node, hint)


def _last_axis(frame: Frame, arguments: Arguments, node: ast.AST, name: str) -> None:
    axis = frame.static_int(*_pair(arguments["dim"], node), "dim")
    if axis not in (-1, 1):
        raise frame.error(
            "unsupported",
            f"pl.{name} goes along the columns (dim=-1), not along axis {axis}",
            arguments["dim"][1] or node,
            "pl.transpose before and after",
        )


@operation("gather")
def _gather(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    src = frame.tile(*_pair(arguments["input"], node), "input of pl.gather")
    given = {n for n in arguments if arguments[n][0] is not None}
    forms = [bool(given & g) for g in ({"dim", "index"}, {"mask_pattern"}, {"kvalue", "cmp_mode", "out_cols"})]
    if sum(forms) != 1:
        raise frame.error(
            "bad-argument",
            "gather takes dim and index, or mask_pattern",
            node,
            "pl.gather(tile, dim=-1, index=indices)",
        )
    if forms[2]:
        raise frame.error(
            "unsupported", "pl.gather by comparison is not supported yet", node, "compare, then pl.sort32"
        )
    if forms[1]:
        return frame.emit("gather_mask", (src,), _mask_attrs(frame, arguments, node), node, hint)
    if not {"dim", "index"} <= given or "output_dtype" in given:
        raise frame.error(
            "bad-argument", "gather by index takes dim and index", node, "pl.gather(tile, dim=-1, index=i)"
        )
    _last_axis(frame, arguments, node, "gather")
    index = frame.tile(*_pair(arguments["index"], node), "index of pl.gather")
    return frame.emit("gather", (src, index), {"flat": False}, node, hint)


@operation("gather_flat")
def _gather_flat(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    src = frame.tile(*_pair(arguments["src"], node), "src of pl.tile.gather")
    index = frame.tile(*_pair(arguments["indices"], node), "indices of pl.tile.gather")
    return frame.emit("gather", (src, index), {"flat": True}, node, hint)


@operation("gatherb")
def _gatherb(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    src, offset = _operands(frame, "gatherb", node, arguments)
    dtype, at = arguments["output_dtype"]
    attrs = {"dtype": None if dtype is None else frame.dtype(dtype, at or node, "output_dtype")}
    return frame.emit("gatherb", (src, offset), attrs, node, hint)


@operation("gather_row")
def _gather_row(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    """A window of a tensor into a window of a tile."""
    from pyto.frontends.python.operations import _take

    acc = frame.tile(*_pair(arguments["acc"], node), "acc of pl.gather_row")
    src = frame.tensor(*_pair(arguments["src"], node), "src of pl.gather_row"), node
    shapes, offsets = _pair(arguments["shapes"], node), _pair(arguments["src_offset"], node)
    part = _take(frame, node, src, shapes, offsets, {"valid_shape": arguments["valid_shape"]}, "")
    if arguments["transpose"][0]:
        part = frame.emit("transpose", (part,), {}, node)
    target, at = _pair(arguments["dst_offset"], node)
    axes = window(frame, acc, target, part.type.shape, at)
    return assemble_tile(frame, acc, axes, part, node, hint or acc.name)


# ------------------------------------------------------------------------------------------------------------ scatters


@operation("scatter")
def _scatter(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    first = frame.tile(*_pair(arguments["input"], node), "input of pl.scatter")
    given = {n for n in arguments if arguments[n][0] is not None}
    if given & {"mask_pattern", "dst"}:
        if given != {"input", "mask_pattern", "dst"}:
            raise frame.error("bad-argument", "scatter by mask takes input, mask_pattern and dst", node)
        dst = frame.tile(*_pair(arguments["dst"], node), "dst of pl.scatter")
        return _masked(frame, dst, first, arguments, node, hint)
    if not {"dim", "index", "src"} <= given:
        raise frame.error(
            "bad-argument", "scatter takes dim, index and src", node, "pl.scatter(tile, dim=-1, index=i, src=values)"
        )
    _last_axis(frame, arguments, node, "scatter")
    index, src = (frame.tile(*_pair(arguments[n], node), f"{n} of pl.scatter") for n in ("index", "src"))
    return frame.emit("scatter", (first, index, src), {"flat": False}, node, hint)


@operation("scatter_flat")
def _scatter_flat(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    names = ("dst", "indexes", "src")
    dst, index, src = (frame.tile(*_pair(arguments[n], node), f"{n} of pl.tile.scatter") for n in names)
    return frame.emit("scatter", (dst, index, src), {"flat": True}, node, hint)


@operation("scatter_mask")
def _scatter_mask(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    dst, src = _operands(frame, "scatter_mask", node, arguments)
    return _masked(frame, dst, src, arguments, node, hint)


def _masked(frame: Frame, dst: Var, src: Var, arguments: Arguments, node: ast.AST, hint: str) -> Any:
    pattern = frame.static_int(*_pair(arguments["mask_pattern"], node), "mask_pattern")
    return frame.emit("scatter_mask", (dst, src), {"pattern": pattern}, node, hint)


@operation("scatter_update")
def _scatter_update(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    """Rows of src to the rows of the target that the index names, one after the other."""
    target, at = _pair(arguments["input"], node)
    given = {n: arguments[n] for n in ("dim", "index", "src") if arguments[n][1] is not None}
    operands = list(arguments["operands"])
    if operands and is_number(operands[0][0]) and "dim" not in given:
        given["dim"] = operands.pop(0)
    free = [n for n in ("index", "src") if n not in given]
    if len(operands) != len(free):
        raise frame.error(
            "bad-argument",
            "scatter_update takes dim, index and src",
            node,
            "pl.scatter_update(tensor, -2, index, rows)",
        )
    given |= dict(zip(free, operands))
    (index, index_node), (src, src_node) = given["index"], given["src"]
    dim, dim_node = given.get("dim", (None, None))
    if dim is not None and frame.static_int(dim, dim_node or node, "dim") != -2:
        raise frame.error("unsupported", "pl.scatter_update goes along the rows (dim=-2)", dim_node or node)
    tile = frame.tile(src, src_node or node, "src of pl.scatter_update")
    if not (is_tile(index) or is_tensor(index)):
        raise frame.error(
            "operand-kind", f"index must be a tile or a tensor, got {describe(index)}", index_node or node
        )
    assert isinstance(tile.type, TileType)
    rows, count = tile.type.shape[0], _index_count(frame, index, index_node or node)
    if count != rows:
        raise frame.error("shape-mismatch", f"scatter_update: {count} indices for {rows} rows", index_node or node)
    if not is_tensor(target):
        target = frame.tile(target, at, "input of pl.scatter_update")
    return _library(frame, library.update_rows, {"target": target, "index": index, "rows": tile}, node)


def _library(frame: Frame, function: JitFunction, values: dict[str, Any], node: ast.Call) -> Any:
    return call_with(frame, function, [(name, value, node) for name, value in values.items()], node)


def _index_count(frame: Frame, index: Var, node: ast.AST) -> int:
    assert isinstance(index.type, (TensorType, TileType))
    count = 1
    for extent in index.type.shape:
        count *= frame.static_int(extent, node, "the size of the index", "dynamic-shape")
    return count


@operation("mscatter")
def _mscatter(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    """Elements of a tile to the elements of a tensor that the index names, counted in order."""
    src, index = (frame.tile(*_pair(arguments[n], node), f"{n} of pl.mscatter") for n in ("src", "idx"))
    tensor = frame.tensor(*_pair(arguments["output_tensor"], node), "output_tensor of pl.mscatter")
    if src.type.shape != index.type.shape:  # type: ignore[union-attr]
        raise frame.error("shape-mismatch", "mscatter: one index for each element of src", node)
    return _library(frame, library.scatter_elements, {"source": src, "index": index, "tensor": tensor}, node)


_COALESCE = {"row": "row", "elem": "elem", 0: "row", 1: "elem"}
_BEYOND = {"undefined": "", "clamp": "clamp", "wrap": "wrap", 0: "", 1: "clamp", 2: "wrap"}


@operation("mgather")
def _mgather(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    """Rows or elements of a tensor by index."""
    tensor = frame.tensor(*_pair(arguments["mem"], node), "mem of pl.mgather")
    index, at = _pair(arguments["idx"], node)
    if not (is_tile(index) or is_tensor(index)):
        raise frame.error("operand-kind", f"idx must be a tile or a tensor, got {describe(index)}", at)
    by, mode = (table.get(arguments[n][0]) for n, table in (("coalesce", _COALESCE), ("gather_oob", _BEYOND)))
    if by is None or mode is None:
        name = "coalesce" if by is None else "gather_oob"
        raise frame.error(
            "unsupported", f"pl.mgather({name}={arguments[name][0]!r}) is not supported", arguments[name][1] or node
        )
    assert isinstance(tensor.type, TensorType)
    if by == "row":
        width = frame.static_int(tensor.type.shape[-1], node, "the width of mem", "dynamic-shape")
        shape = _index_count(frame, index, at), width
        out = frame.emit("empty", (), {"shape": shape, "dtype": tensor.dtype}, node, hint)
        values = {"out": out, "tensor": tensor, "index": index, "mode": mode}
        return _library(frame, library.gather_rows, values, node)
    shape = tile_shape(frame, [e.value if isinstance(e, Const) else e for e in index.type.shape], at)
    out = frame.emit("empty", (), {"shape": shape, "dtype": tensor.dtype}, node, hint)
    count: Any = Const(1)
    for extent in tensor.type.shape:
        count = count * extent
    values = {"out": out, "tensor": tensor, "index": index, "mode": mode, "count": frame.simplified(count)}
    return _library(frame, library.gather_elements, values, node)


@operation("paged_gather")
def _paged_gather(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    """Rows of a pool of pages: index -> page by the table, and row in it."""
    names = {"source": "src", "index": "indices", "table": "block_table"}
    values: dict[str, Any] = {
        n: frame.tensor(*_pair(arguments[p], node), f"{p} of pl.paged_gather") for n, p in names.items()
    }
    sizes = {
        n: frame.static_int(*_pair(arguments[n], node), n) for n in ("block_size", "size", "max_indices", "col_off")
    }
    shape = sizes["max_indices"], sizes["size"]
    out = frame.emit("empty", (), {"shape": shape, "dtype": values["source"].dtype}, node, hint)
    count: Any = Const(1)
    for extent in values["index"].type.shape:
        count = count * extent
    count = frame.simplified(apply("min", count, Const(shape[0])))
    values |= {"out": out, "page": sizes["block_size"], "count": count, "col": sizes["col_off"]}
    out = _library(frame, library.gather_pages, values, node)
    return frame.emit("transpose", (out,), {}, node, hint) if arguments["is_trans"][0] else out


# ------------------------------------------------------------------------------------------------------ single elements


@operation("read")
def _read(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    source, at = _pair(arguments["src"], node)
    if not (is_tile(source) or is_tensor(source)):
        raise frame.error("operand-kind", f"src of pl.read must be a tensor or a tile, got {describe(source)}", at)
    return read_element(frame, source, _place(frame, source, arguments["offset"], node), node, hint)


def _place(frame: Frame, base: Var, argument: tuple[Any, ast.AST | None], node: ast.AST) -> list[Any]:
    value, where = _pair(argument, node)
    flat_index = not isinstance(value, (list, tuple))  # counted in order
    indices = [value] if flat_index else value
    if is_tile(base) and flat_index:
        cols = base.type.shape[1]  # type: ignore[union-attr]
        flat = frame.integer(indices[0], where, "the index")
        indices = [flat // cols, flat % cols]
    elif is_tensor(base) and flat_index:
        extents, flat = base.type.shape, frame.integer(indices[0], where, "the index")  # type: ignore[union-attr]
        indices = []
        for extent in reversed(extents[1:]):
            indices.insert(0, flat % extent)
            flat = flat // extent
        indices.insert(0, flat)
    return [a.offset for a in window(frame, base, indices, [1] * len(indices), where)]


@operation("write")
def _write(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    base, at = _pair(arguments["dst"], node)
    if not (is_tile(base) or is_tensor(base)):
        raise frame.error("operand-kind", f"dst of pl.write must be a tensor or a tile, got {describe(base)}", at)
    value, value_node = _pair(arguments["value"], node)
    if not (is_number(value) or is_runtime_scalar(value)):
        raise frame.error("operand-kind", f"value of pl.write must be a scalar, got {describe(value)}", value_node)
    place = _place(frame, base, arguments["offset"], node)
    write_element(frame, base, place, value, node, value_node, at)
    return base if is_tensor(base) else None  # a statement


__all__ = ["pad_constant"]
