"""Windows of tensors and tiles: subscripts, loads, stores, slices, assemblies."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyto.frontends.python.frame import Frame
from pyto.frontends.python.proofs import at_most, not_negative
from pyto.frontends.python.values import TaskId, describe, is_number, is_runtime_scalar, is_tensor, is_tile
from pyto.ir.nodes import BF16, FP16, FP32, INDEX, INT8, INT16, INT32, Const, Expr, TensorType, TileType, Var, const
from pyto.ir.scalar import apply

ATOMIC = (FP32, FP16, BF16, INT32, INT16, INT8)  # element types that copies to device memory combine


@dataclass
class Axis:
    """One axis of a window. `size` None: as far as the other side says. `single`: an index, not a slice."""

    offset: Expr
    size: int | None
    single: bool
    node: ast.AST


def _items(node: ast.Subscript, rank: int, frame: Frame) -> list[ast.expr]:
    index = node.slice
    items = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    dots = [i for i, e in enumerate(items) if isinstance(e, ast.Constant) and e.value is Ellipsis]
    if len(dots) > 1:
        raise frame.error("bad-index", "more than one ... in an index", items[dots[1]])
    everything = ast.copy_location(ast.Slice(None, None, None), node)
    if dots:
        missing = rank - (len(items) - 1)
        items[dots[0] : dots[0] + 1] = [everything] * max(missing, 0)
    if len(items) > rank:
        raise frame.error("bad-index", f"{len(items)} indices for {rank} axes", items[rank])
    return items + [everything] * (rank - len(items))


def _shape(base: Var) -> list[Expr]:
    assert isinstance(base.type, (TensorType, TileType))
    return [const(e) for e in base.type.shape]


def parse_window(frame: Frame, base: Var, node: ast.Subscript) -> list[Axis]:
    """The window that `base[...]` names."""
    shape = _shape(base)
    return [
        _axis(frame, base, i, extent, item)
        for i, (item, extent) in enumerate(zip(_items(node, len(shape), frame), shape))
    ]


def _axis(frame: Frame, base: Var, axis: int, extent: Expr, item: ast.expr) -> Axis:
    where = f"axis {axis} of {base.name}"
    if not isinstance(item, ast.Slice):
        value = frame.expr(item)
        if is_tile(value) or is_tensor(value):
            raise frame.error(
                "bad-index",
                f"{where} is indexed by {describe(value)}",
                item,
                "indices are integers: pl.read(tensor, [i]) gives one",
            )
        offset = frame.integer(value, item, f"the index of {where}")
        _check_offset(frame, offset, extent, where, item)
        return Axis(offset, 1, True, item)
    if item.step is not None:
        step = frame.expr(item.step)
        if step != 1:
            raise frame.error(
                "slice-step",
                "slices with a step are not part of the language",
                item.step,
                "load the whole range, or loop over it",
            )
    lower = frame.expr(item.lower) if item.lower is not None else 0
    upper = frame.expr(item.upper) if item.upper is not None else None
    start = frame.integer(lower, item.lower or item, f"the start of the slice of {where}")
    _check_offset(frame, start, extent, where, item.lower or item)
    if upper is None:
        stop = extent
    else:
        assert item.upper is not None
        stop = frame.integer(upper, item.upper, f"the end of the slice of {where}")
        if isinstance(stop, Const) and stop.value < 0:
            raise frame.error(
                "negative-index",
                f"the slice of {where} ends at {stop.value}: negative indices are not part of the language",
                item.upper,
                "count from the start",
            )
    size = frame.session.constant(stop - start)
    if size is None:
        if upper is None and start == Const(0):
            return Axis(start, None, False, item)
        message = f"the slice of {where} has a run-time length: a tile shape must be a compile-time integer"
        raise frame.error(
            "dynamic-shape",
            message,
            item,
            "write x[i : i + N] with a constant N; the part past the end of the tensor is left out by itself",
        )
    if size <= 0:
        raise frame.error(
            "empty-slice", f"the slice of {where} has {size} elements", item, "the end must be above the start"
        )
    return Axis(start, size, False, item)


def _check_offset(frame: Frame, offset: Expr, extent: Expr, where: str, node: ast.AST) -> None:
    if not isinstance(offset, Const):
        return
    if offset.value < 0:
        raise frame.error(
            "negative-index",
            f"{where} is indexed at {offset.value}: negative indices are not part of the language",
            node,
            "count from the start",
        )
    if isinstance(extent, Const) and offset.value >= extent.value:
        raise frame.error("out-of-bounds", f"{where} has {extent.value} elements, the index is {offset.value}", node)


def window(frame: Frame, base: Var, offsets: Any, sizes: Sequence[int], offsets_node: ast.AST) -> list[Axis]:
    """The window of given offsets and sizes, one each per axis."""
    shape = _shape(base)
    if not isinstance(offsets, (list, tuple)):
        raise frame.error(
            "operand-kind",
            f"offsets must be a list, got {describe(offsets)}",
            offsets_node,
            f"write {['0'] * len(shape)}".replace("'", ""),
        )
    if len(offsets) != len(shape):
        raise frame.error(
            "rank-mismatch", f"{base.name} has {len(shape)} axes, the offsets have {len(offsets)}", offsets_node
        )
    axes = []
    for i, (value, size, extent) in enumerate(zip(offsets, sizes, shape)):
        offset = frame.integer(value, offsets_node, f"the offset of axis {i} of {base.name}")
        _check_offset(frame, offset, extent, f"axis {i} of {base.name}", offsets_node)
        axes.append(Axis(offset, size, False, offsets_node))
    return axes


# ----------------------------------------------------------------------------------------- reading


def load_subscript(frame: Frame, node: ast.Subscript, hint: str = "") -> Any:
    """`base[...]` as a value."""
    base = frame.expr(node.value)
    if isinstance(base, (list, tuple, str)):
        return _element(frame, base, node)
    if isinstance(base, TaskId):
        return base
    if not (is_tensor(base) or is_tile(base)):
        raise frame.error("operand-kind", f"{describe(base)} cannot be indexed", node)
    axes = parse_window(frame, base, node)
    if all(a.single for a in axes):
        return read_element(frame, base, [a.offset for a in axes], node, hint)
    return load(frame, base, axes, node, hint) if is_tensor(base) else slice_tile(frame, base, axes, node, hint)


def _element(frame: Frame, base: Any, node: ast.Subscript) -> Any:
    if isinstance(node.slice, ast.Slice):
        bounds = [
            None if e is None else frame.static_int(frame.expr(e), e, "a slice of a tuple")
            for e in (node.slice.lower, node.slice.upper, node.slice.step)
        ]
        return base[slice(*bounds)]
    index = frame.static_int(frame.expr(node.slice), node.slice, "the index of a tuple")
    try:
        return base[index]
    except IndexError:
        raise frame.error("out-of-bounds", f"index {index} of {len(base)} elements", node) from None


def _sizes(frame: Frame, base: Var, axes: list[Axis]) -> list[int]:
    out = []
    for i, axis in enumerate(axes):
        if axis.size is None:
            extent = _shape(base)[i]
            message = f"axis {i} of {base.name} has a run-time size: a tile shape must be a compile-time integer"
            raise frame.error(
                "dynamic-shape",
                message,
                axis.node,
                f"load a fixed number, {base.name}[i : i + N]: what lies past {_text(extent)} is left out by itself",
            )
        out.append(axis.size)
    return out


def _text(expr: Expr) -> str:
    from pyto.ir.printer import show

    return show(expr).replace("%", "")


def collapse(frame: Frame, base: Var, sizes: Sequence[int], node: ast.AST) -> tuple[tuple[int, int], int | None, int]:
    """The 2-D shape of a window, and the axes that are its rows and columns."""
    cols = len(sizes) - 1
    if not cols:
        return (1, sizes[0]), None, 0
    wide = [i for i, s in enumerate(sizes[:-1]) if s > 1]
    if len(wide) > 1:
        raise frame.error(
            "not-2d",
            f"a window {list(sizes)} has more than two axes longer than 1: tiles have two",
            node,
            "loop over one of them",
        )
    rows = wide[0] if wide else cols - 1
    return (sizes[rows], sizes[cols]), rows, cols


def _varying(axes: Sequence[Axis], rows: int | None) -> int | None:
    """The axis of the rows, if it may end before the window does: an index names an element that must be there."""
    return None if rows is None or axes[rows].single else rows


def load(
    frame: Frame, tensor: Var, axes: list[Axis], node: ast.AST, hint: str = "", valid: tuple[Expr, Expr] | None = None
) -> Any:
    """A window of a tensor as a tile."""
    if tensor.dtype is INDEX:  # type: ignore[attr-defined]
        text = f"{tensor.name} holds 64-bit integers, which tiles cannot hold"
        raise frame.error("op-dtype", text, node, f"read single values, pl.read({tensor.name}, [i]), or use pl.INT32")
    sizes = _sizes(frame, tensor, axes)
    shape, rows, cols = collapse(frame, tensor, sizes, node)
    rows = _varying(axes, rows)
    check_readable(frame, tensor, node)
    attrs: dict[str, Any] = {"shape": shape, "rows": rows, "cols": cols}
    if valid is not None:
        attrs["valid"] = valid
    if frame.session.region is None:
        raise frame.error(
            "outside-region",
            f"{tensor.name}[...] loads a tile, and this is host code",
            node,
            "put it into `with pl.at(level=pl.Level.CORE_GROUP):` or a `for i in pl.spmd(n):` loop",
        )
    return frame.emit("load", (tensor, *(a.offset for a in axes)), attrs, node, hint)


def read(frame: Frame, tensor: Var, offsets: Sequence[Expr], node: ast.AST, hint: str = "") -> Any:
    """One element of a tensor as a scalar."""
    if frame.session.region is None:
        raise frame.error(
            "host-read",
            f"host code cannot read {tensor.name}: it is in device memory",
            node,
            "read it in a region (pl.at or pl.spmd), or pass the value as a pl.Scalar",
        )
    if len(offsets) != len(_shape(tensor)):
        raise frame.error(
            "rank-mismatch", f"{tensor.name} has {len(_shape(tensor))} axes, the index has {len(offsets)}", node
        )
    check_readable(frame, tensor, node)
    return frame.emit("read", (tensor, *offsets), {}, node, hint)


def read_element(frame: Frame, base: Var, place: Sequence[Expr], node: ast.AST, hint: str = "") -> Any:
    """One element of a tensor or tile as a scalar."""
    if is_tensor(base):
        return read(frame, base, place, node, hint)
    return frame.emit("read", (base, *place), {}, node, hint)


def check_readable(frame: Frame, tensor: Var, node: ast.AST) -> None:
    """An out parameter or a workspace holds nothing before it is written."""
    session = frame.session
    direction = session.directions.get(tensor)
    if tensor in session.written or direction not in ("out", "workspace"):
        return
    if direction == "out":
        raise frame.error(
            "read-before-write",
            f"{tensor.name} is pl.Out and is read before anything is written to it",
            node,
            "declare it pl.InOut",
        )
    raise frame.error(
        "read-before-write",
        f"{tensor.name} is read before anything is written to it",
        node,
        "write it in an earlier region",
    )


def slice_tile(frame: Frame, tile: Var, axes: list[Axis], node: ast.AST, hint: str = "") -> Any:
    """A window of a tile as a tile."""
    sizes = _sizes(frame, tile, axes)
    offsets = [a.offset for a in axes]
    if tuple(sizes) == tile.type.shape and all(o == Const(0) for o in offsets):  # type: ignore[union-attr]
        return tile
    return frame.emit("slice", (tile, *offsets), {"shape": tuple(sizes)}, node, hint)


# ----------------------------------------------------------------------------------------- writing


def store_subscript(
    frame: Frame, target: ast.Subscript, value: Any, node: ast.stmt, augment: ast.operator | None = None
) -> None:
    """`base[...] = value`, or `base[...] op= value`."""
    if not isinstance(target.value, ast.Name):
        raise frame.error(
            "bad-target", "elements of a named tensor or tile can be assigned, nothing else", target.value
        )
    name = target.value.id
    base = frame.expr(target.value)
    if isinstance(base, TaskId):
        return
    if not (is_tensor(base) or is_tile(base)):
        raise frame.error("bad-target", f"{describe(base)} has no elements to assign", target.value)
    axes = parse_window(frame, base, target)
    single = all(a.single for a in axes)
    if augment is not None:
        from pyto.frontends.python.expressions import binary

        old: Any
        if single:
            old = read_element(frame, base, [a.offset for a in axes], target)
        else:
            old = load(frame, base, axes, target) if is_tensor(base) else slice_tile(frame, base, axes, target)
        assert isinstance(node, ast.AugAssign)
        value = binary(frame, augment, old, value, node, at=(target, node.value))  # type: ignore[arg-type]
    source: ast.AST = getattr(node, "value", node)
    if is_number(value) or is_runtime_scalar(value):
        if single:
            write_element(frame, base, [a.offset for a in axes], value, target, source, target.value)
            return
        value = _filled(frame, base, axes, value, target, source)
    value = frame.tile(value, source, "the assigned value")
    if is_tensor(base):
        store(frame, base, axes, value, target, source)
    else:
        if frame.parent is not None and any(a.arg == name for a in frame.node.args.args):
            frame.lost_writes.append((name, target))
        frame.env[name] = assemble_tile(frame, base, axes, value, target, name)


def write_element(
    frame: Frame, base: Var, place: Sequence[Expr], value: Any, node: ast.AST, source: ast.AST, target: ast.AST
) -> None:
    """One element of a tensor, or of the tile that a name holds. A tensor's goes by way of a tile of one element, so
    that all writes to device memory are copies: in order, and of exactly these bytes."""
    if is_tensor(base):
        if len(place) != len(_shape(base)):
            raise frame.error(
                "rank-mismatch", f"{base.name} has {len(_shape(base))} axes, the index has {len(place)}", node
            )
        one = frame.emit("empty", (), {"shape": (1, 1), "dtype": base.dtype}, node, f"{base.name}_one")
        one = _written(frame, one, [Const(0), Const(0)], value, node, source)
        store(frame, base, [Axis(o, 1, True, node) for o in place], one, node, source)
        return
    if not isinstance(target, ast.Name):
        raise frame.error(
            "bad-target", "elements of a named tile can be written, nothing else", target, "name it first"
        )
    written = _written(frame, base, place, value, node, source, target.id)
    if frame.parent is not None and any(a.arg == target.id for a in frame.node.args.args):
        frame.lost_writes.append((target.id, node))
    frame.env[target.id] = written


def _written(
    frame: Frame, tile: Var, place: Sequence[Expr], value: Any, node: ast.AST, source: ast.AST, hint: str = ""
) -> Any:
    expr = frame.as_dtype(value, tile.dtype, source)
    if tile.dtype.kind != "f" and expr.dtype.kind == "f":  # type: ignore[attr-defined]
        raise frame.error("dtype-mismatch", f"a float does not fit {tile.dtype}", source, "pl.cast it")
    return frame.emit("write", (tile, *place, expr), {}, node, hint)


def _filled(frame: Frame, base: Var, axes: list[Axis], value: Any, target: ast.AST, source: ast.AST) -> Any:
    shape, _, _ = collapse(frame, base, _sizes(frame, base, axes), target)
    return frame.emit(
        "full", (frame.as_dtype(value, base.dtype, source),), {"shape": shape, "dtype": base.dtype}, source
    )


def store(
    frame: Frame, tensor: Var, axes: list[Axis], tile: Var, node: ast.AST, source: ast.AST, atomic: str | None = None
) -> None:
    """Writes the valid part of a tile, as far as the tensor reaches."""
    assert isinstance(tile.type, TileType) and isinstance(tensor.type, TensorType)
    _check_writable(frame, tensor, node, atomic)
    for i, (axis, have) in enumerate(zip(reversed(axes), reversed(tile.type.shape))):
        if axis.size is None and i < 2:
            axis.size = have
    shape, rows, cols = collapse(frame, tensor, _sizes(frame, tensor, axes), node)
    if shape != tile.type.shape:
        message = f"the tile is {list(tile.type.shape)}, the window of {tensor.name} is {list(shape)}"
        raise frame.error("shape-mismatch", message, source, "make them agree; pl.reshape changes the shape of a tile")
    if tile.dtype != tensor.dtype:
        message = f"the tile is {tile.dtype}, {tensor.name} is {tensor.dtype}"
        raise frame.error("dtype-mismatch", message, source, f"pl.cast(..., pl.{tensor.dtype.name.upper()})")
    rows = _varying(axes, rows)
    if atomic and tensor.dtype not in ATOMIC:
        names = ", ".join(map(repr, ATOMIC))
        raise frame.error(
            "op-dtype", f"atomic stores are not defined for {tensor.dtype}; they take {names}", node, "use another type"
        )
    tile = _clip(frame, tensor, axes, (rows, cols), tile, node)
    if frame.session.region is None:
        raise frame.error(
            "outside-region",
            f"{tensor.name}[...] stores a tile, and this is host code",
            node,
            "put it into `with pl.at(level=pl.Level.CORE_GROUP):` or a `for i in pl.spmd(n):` loop",
        )
    frame.emit("store", (tensor, tile, *(a.offset for a in axes)), {"rows": rows, "cols": cols, "atomic": atomic}, node)
    frame.session.written.add(tensor)


def _clip(
    frame: Frame, tensor: Var, axes: list[Axis], varying: tuple[int | None, int], tile: Var, node: ast.AST
) -> Var:
    """The tile without what lies past the end of the tensor."""
    assert isinstance(tile.type, TileType) and isinstance(tensor.type, TensorType)
    ranges = frame.session.ranges
    limits, cut = list(tile.type.valid), False
    for i, axis in enumerate(varying):
        if axis is None:
            continue
        room = frame.simplified(tensor.type.shape[axis] - axes[axis].offset)
        if not at_most(tile.type.valid[i], room, ranges):
            limits[i] = not_negative(apply("min", const(tile.type.shape[i]), room), ranges)
            cut = True
    if not cut:
        return tile
    if Const(0) in limits:
        raise frame.error("out-of-bounds", f"the window lies past the end of {tensor.name}", node)
    clipped: Var = frame.emit("set_validshape", (tile, *limits), {}, node, tile.name)
    return clipped


def _check_writable(frame: Frame, tensor: Var, node: ast.AST, atomic: str | None) -> None:
    direction = frame.session.directions.get(tensor)
    if direction == "in":
        raise frame.error(
            "not-writable",
            f"{tensor.name} is an input of the kernel and cannot be written",
            node,
            f"declare it {tensor.name}: pl.Out[pl.Tensor[...]] or pl.InOut[...]",
        )
    if atomic and direction == "out" and tensor not in frame.session.written:
        raise frame.error(
            "read-before-write",
            f"{tensor.name} is pl.Out and is added to before anything is written to it",
            node,
            "declare it pl.InOut, or store zeros first",
        )


def assemble_tile(frame: Frame, tile: Var, axes: list[Axis], part: Var, node: ast.AST, hint: str = "") -> Any:
    """The tile with a window replaced."""
    assert isinstance(tile.type, TileType) and isinstance(part.type, TileType)
    sizes = tuple(_sizes(frame, tile, axes))
    if sizes != part.type.shape:
        raise frame.error("shape-mismatch", f"the tile is {list(part.type.shape)}, the window is {list(sizes)}", node)
    return frame.emit("assemble", (tile, part, *(a.offset for a in axes)), {}, node, hint)
