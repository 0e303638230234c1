"""What each function of `pl` means: arguments in, operations out."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import ml_dtypes  # noqa: F401  (numpy learns of bfloat16)
import numpy as np

from pyto.frontends.python.calls import OPERATIONS, Arguments, operation
from pyto.frontends.python.expressions import known, scalar_apply, tile_compare
from pyto.frontends.python.frame import Frame
from pyto.frontends.python.matrix import starts_over
from pyto.frontends.python.proofs import at_most, not_negative
from pyto.frontends.python.subscripts import Axis, assemble_tile, load, slice_tile, store, window
from pyto.frontends.python.values import Transposed, describe, is_number, is_runtime_scalar, is_tensor, is_tile
from pyto.ir.nodes import BF16, FP16, INDEX, Const, DType, Expr, Op, TensorType, TileType, Var, const
from pyto.ir.ops import OPS, OpDef
from pyto.ir.ops.masks import KINDS
from pyto.ir.scalar import apply, dtype_of, substitute, variables
from pyto.language.enums import AtomicType, TensorLayout


def _operands(frame: Frame, name: str, node: ast.Call, arguments: Arguments) -> list[Var]:
    return [frame.tile(*_pair(arguments[p], node), f"{p} of pl.{name}") for p in OPS[name].params]


def _pair(argument: tuple[Any, ast.AST | None], node: ast.AST) -> tuple[Any, ast.AST]:
    return argument[0], argument[1] or node


def _vector_operation(op: OpDef) -> None:
    def build(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
        pairs = [(frame.whole(v, at), at) for v, at in (_pair(arguments[p], node) for p in op.params)]
        tile = next((v for v, _ in pairs if is_tile(v)), None)
        if tile is None and op.scalar:
            for value, where in pairs:
                if is_tensor(value):
                    frame.tile(value, where, f"the operand of pl.{op.name}")
            scalars = [frame.scalar(v, at, f"{p} of pl.{op.name}") for (v, at), p in zip(pairs, op.params)]
            return scalar_apply(frame, op.scalar, scalars, node)
        tile = next((v for i, (v, _) in enumerate(pairs) if i in op.scalars and is_tile(v)), tile)
        operands = []
        for i, ((value, where), param) in enumerate(zip(pairs, op.params)):
            if tile is not None and i in op.scalars and not is_tile(value) and not is_tensor(value):
                operands.append(frame.as_dtype(value, tile.dtype, where))
            else:
                what = "the operand" if len(op.scalars) == len(pairs) else param
                operands.append(frame.tile(value, where, f"{what} of pl.{op.name}"))
        flags = {name: True for name in op.attrs if name == "fast" and _flag(frame, arguments, name, node)}
        return frame.emit(op.name, operands, flags, node, hint)

    OPERATIONS[op.name] = build


for _op in OPS.values():
    if _op.user and _op.ways:
        _vector_operation(_op)


def _scalar_extreme(name: str) -> None:
    def build(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
        (a, at_a), (b, at_b) = arguments["lhs"], arguments["rhs"]
        if is_tile(a) or is_tile(b):
            raise frame.error("operand-kind", f"pl.{name} is for scalars", node, f"use pl.{name}imum")
        x, y = frame.scalar(a, at_a, f"lhs of pl.{name}"), frame.scalar(b, at_b, f"rhs of pl.{name}")
        return scalar_apply(frame, name, [x, y], node)

    OPERATIONS[name] = build


_scalar_extreme("min")
_scalar_extreme("max")


CAST_CODES = ("none", "rint", "round", "floor", "ceil", "trunc", "odd")  # by number, as the original language has them


@operation("cast")
def _cast(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    value, at = arguments["input"]
    target = frame.dtype(*_pair(arguments["target_type"], node), "target_type")
    if is_number(value) or is_runtime_scalar(value):
        return _cast_scalar(frame, value, target, at)
    tile = frame.tile(value, at, "input of pl.cast")
    mode, mode_node = arguments["mode"]
    if isinstance(mode, int) and not isinstance(mode, bool) and 0 <= mode < len(CAST_CODES):
        mode = CAST_CODES[mode]
    mode = "rint" if mode == "none" else mode  # a cast that need not round, or the nearest
    if not isinstance(mode, str):
        raise frame.error(
            "bad-argument", f"mode must be a string, got {describe(mode)}", mode_node or node, "mode='rint'"
        )
    if target == tile.dtype:
        return tile
    return frame.emit("cast", (tile,), {"target_type": target, "mode": mode}, node, hint)


def _cast_scalar(frame: Frame, value: Any, target: DType, node: ast.AST) -> Any:
    """A scalar of another type: to an integer towards zero; 16-bit floats are known at compile time only."""
    expr = frame.scalar(value, node)
    if isinstance(expr, Const):
        try:
            with np.errstate(all="ignore"):
                number = float(expr.value)
                if target.kind == "f":
                    return known(
                        Const(float(np.array(number).astype(np.float32).astype(np.dtype(target.numpy))), target)
                    )
            number = expr.value if isinstance(expr.value, int) else int(number)
        except (OverflowError, ValueError):
            raise frame.error("out-of-range", f"{expr.value} does not fit {target}", node) from None
        if target.kind in "iu" and not np.iinfo(target.numpy).min <= number <= np.iinfo(target.numpy).max:
            raise frame.error("out-of-range", f"{expr.value} does not fit {target}", node)
    elif target in (FP16, BF16) and dtype_of(expr) != target:
        raise frame.error(
            "unsupported",
            f"a run-time scalar cannot be rounded to {target}: scalars are computed in fp32",
            node,
            f"leave the cast out, or pl.cast the tile it goes into to {target}",
        )
    return known(apply("cast", expr, dtype=target))


def _flag(frame: Frame, arguments: Arguments, name: str, node: ast.AST) -> bool:
    value, at = arguments[name]
    if isinstance(value, Expr) or not isinstance(value, (bool, int)):
        raise frame.error("bad-argument", f"{name} must be True or False, got {describe(value)}", at or node)
    return bool(value)


@operation("cmp")
def _cmp(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    number, at = _pair(arguments["cmp_type"], node)
    kind = frame.static_int(number, at, "cmp_type")
    if not 0 <= kind < len(KINDS):
        raise frame.error(
            "bad-argument", f"cmp_type must be 0 to 5, got {kind}", at, "0 ==, 1 !=, 2 <, 3 <=, 4 >, 5 >="
        )
    (a, at_a), (b, at_b) = _pair(arguments["lhs"], node), _pair(arguments["rhs"], node)
    if not is_tile(a) and not is_tile(b) and not is_tensor(a) and not is_tensor(b):
        scalars = [frame.scalar(a, at_a, "lhs of pl.cmp"), frame.scalar(b, at_b, "rhs of pl.cmp")]
        return scalar_apply(frame, KINDS[kind], scalars, node)
    return tile_compare(frame, KINDS[kind], a, b, node, hint, (at_a, at_b))


@operation("sels")
def _sels(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    arguments = {"mask": arguments["mask"], "lhs": arguments["src"], "rhs": arguments["scalar"]}
    return OPERATIONS["sel"](frame, node, arguments, hint)


def _transposes(frame: Frame, arguments: Arguments, node: ast.AST) -> dict[str, Any]:
    """`a_trans` and `b_trans`; a transposed view as an operand turns its flag round."""
    attrs = {}
    for flag, operand in (("a_trans", "lhs"), ("b_trans", "rhs")):
        attrs[flag] = _flag(frame, arguments, flag, node)
        value, at = arguments[operand]
        if isinstance(value, Transposed):
            attrs[flag] = not attrs[flag]
            arguments[operand] = value.tile, at
    return attrs


@operation("matmul")
def _matmul(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    attrs = _transposes(frame, arguments, node)
    if _flag(frame, arguments, "c_matrix_nz", node):
        raise frame.error("unsupported", "c_matrix_nz: pyto places tiles in memories itself", node, "leave it away")
    lhs, rhs = _operands(frame, "matmul", node, arguments)
    out_dtype, at = arguments["out_dtype"]
    if out_dtype is not None:
        attrs["out_dtype"] = frame.dtype(out_dtype, at or node, "out_dtype")
    result = frame.emit("matmul", (lhs, rhs), attrs, node, hint)
    return result


@operation("matmul_acc")
def _matmul_acc(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    attrs = _transposes(frame, arguments, node)
    operands = (*_operands(frame, "matmul_acc", node, arguments), *starts_over(frame, node, arguments))
    return frame.emit("matmul_acc", operands, attrs, node, hint)


# -------------------------------------------------------------------------------- making and shape


def tile_shape(frame: Frame, value: Any, node: ast.AST) -> tuple[int, int]:
    """A compile-time shape of one or two axes, as two."""
    if not isinstance(value, (list, tuple)):
        raise frame.error(
            "operand-kind", f"a shape must be a list, got {describe(value)}", node, "write [rows, columns]"
        )
    sizes = [frame.static_int(v, node, "a tile shape", "dynamic-shape") for v in value]
    if not 1 <= len(sizes) <= 2:
        raise frame.error("not-2d", f"tiles have two axes, got {len(sizes)}", node, "write [rows, columns]")
    if min(sizes) <= 0:
        raise frame.error("bad-argument", f"sizes must be positive, got {sizes}", node)
    return (1, sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1])


@operation("create_tensor")
def _create(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    shape, at = _pair(arguments["shape"], node)
    dtype = frame.dtype(*_pair(arguments["dtype"], node), "dtype")
    for name, plain in (("layout", (None, TensorLayout.ND)), ("init_value", (None,))):
        value, where = arguments[name]
        if value not in plain:
            raise frame.error(
                "unsupported", f"pl.create_tensor({name}={describe(value)}) is not supported yet", where or node
            )
    session = frame.session
    if dtype is INDEX:
        raise frame.error("op-dtype", f"a tensor cannot hold {dtype}", node)
    if session.region is not None:
        return frame.emit("empty", (), {"shape": tile_shape(frame, shape, at), "dtype": dtype}, node, hint)
    if not isinstance(shape, (list, tuple)) or not shape:
        raise frame.error("operand-kind", f"a shape must be a list, got {describe(shape)}", at, "write [rows, columns]")
    extents = tuple(frame.simplified(frame.integer(v, at, "an extent")) for v in shape)
    for extent in extents:
        if isinstance(extent, Const) and extent.value <= 0:
            raise frame.error("bad-argument", f"extents must be positive, got {extent.value}", at)
        if not variables(substitute(extent, session.lets)) <= set(session.dims.values()):
            raise frame.error(
                "dynamic-workspace",
                "the size of a workspace must follow from the dims of the signature alone",
                node,
                "make it as large as it can become",
            )
    result = session.builder.var(hint or "create_tensor", TensorType(extents, dtype))
    session.builder.append(Op("create_tensor", (), (result,), {}, loc=frame.loc(node)))
    session.directions[result] = "workspace"
    return result


@operation("full")
def _full(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    dtype = frame.dtype(*_pair(arguments["dtype"], node), "dtype")
    value, at = _pair(arguments["value"], node)
    expr = frame.as_dtype(value, dtype, at)
    if dtype.kind != "f" and expr.dtype.kind == "f":  # type: ignore[attr-defined]
        raise frame.error("dtype-mismatch", f"a float does not fit a tile of {dtype}", at)
    return frame.emit(
        "full", (expr,), {"shape": tile_shape(frame, *_pair(arguments["shape"], node)), "dtype": dtype}, node, hint
    )


@operation("reshape")
def _reshape(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    tile = frame.tile(*_pair(arguments["input"], node), "input of pl.reshape")
    shape = tile_shape(frame, *_pair(arguments["shape"], node))
    if shape == tile.type.shape:  # type: ignore[union-attr]
        return tile
    return frame.emit("reshape", (tile,), {"shape": shape}, node, hint)


@operation("set_validshape")
def _set_validshape(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    tile = frame.tile(*_pair(arguments["input"], node), "input of pl.set_validshape")
    sizes = [frame.integer(*_pair(arguments[n], node), n) for n in ("valid_rows", "valid_cols")]
    return _with_valid(frame, tile, sizes, node, hint)


def _with_valid(frame: Frame, tile: Var, sizes: list[Expr], node: ast.AST, hint: str) -> Any:
    assert isinstance(tile.type, TileType)
    for size in sizes:
        if isinstance(size, Const) and size.value < 0:
            raise frame.error("bad-argument", f"a valid shape cannot be negative, got {size.value}", node)
    ranges = frame.session.ranges
    limits = [not_negative(apply("min", const(have), size), ranges) for have, size in zip(tile.type.shape, sizes)]
    if all(at_most(valid, limit, ranges) for valid, limit in zip(tile.type.valid, limits)):
        return tile
    return frame.emit("set_validshape", (tile, *limits), {}, node, hint or tile.name)


@operation("const")
def _const(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    value, at = arguments["value"]
    return _cast_scalar(frame, value, frame.dtype(*_pair(arguments["dtype"], node), "dtype"), at)


# ----------------------------------------------------------------------------------- memory access


def _window_shape(frame: Frame, base: Var, value: Any, node: ast.AST) -> list[int]:
    rank = len(base.type.shape)  # type: ignore[union-attr]
    if not isinstance(value, (list, tuple)):
        raise frame.error(
            "operand-kind", f"a shape must be a list, got {describe(value)}", node, "write [rows, columns]"
        )
    if len(value) != rank:
        raise frame.error("rank-mismatch", f"{base.name} has {rank} axes, the shape has {len(value)}", node)
    sizes = [frame.static_int(v, node, "a tile shape", "dynamic-shape") for v in value]
    if min(sizes) <= 0:
        raise frame.error("bad-argument", f"sizes must be positive, got {sizes}", node)
    return sizes


def _take(
    frame: Frame, node: ast.Call, base: tuple[Any, ast.AST], shape: Any, offset: Any, arguments: Arguments, hint: str
) -> Any:
    source, at = base
    if not (is_tensor(source) or is_tile(source)):
        raise frame.error("operand-kind", f"a tensor or a tile is needed, got {describe(source)}", at)
    for name in ("drop_dims", "pad_value"):
        value, where = arguments.get(name, (None, None))
        if value is not None:
            raise frame.error("unsupported", f"{name} is not supported yet", where or node)
    sizes = _window_shape(frame, source, *shape)
    axes = window(frame, source, offset[0], sizes, offset[1])
    valid, valid_node = arguments["valid_shape"]
    if is_tensor(source):
        tile = load(frame, source, axes, node, hint)
    else:
        tile = slice_tile(frame, source, axes, node, hint)
    if valid is None:
        return tile
    return _with_valid(frame, tile, _valid_sizes(frame, valid, axes, source, valid_node or node), node, hint)


def _valid_sizes(frame: Frame, valid: Any, axes: list[Axis], base: Var, node: ast.AST) -> list[Expr]:
    from pyto.frontends.python.subscripts import collapse

    if not isinstance(valid, (list, tuple)) or len(valid) != len(axes):
        raise frame.error("rank-mismatch", f"valid_shape must have {len(axes)} sizes, got {describe(valid)}", node)
    _, rows, cols = collapse(frame, base, [a.size or 1 for a in axes], node)
    return [const(1) if i is None else frame.integer(valid[i], node, "a valid size") for i in (rows, cols)]


@operation("slice")
def _slice(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    return _take(
        frame,
        node,
        _pair(arguments["input"], node),
        _pair(arguments["shape"], node),
        _pair(arguments["offset"], node),
        arguments,
        hint,
    )


@operation("load")
def _load(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    tensor = frame.tensor(*_pair(arguments["tensor"], node), "tensor of pl.load"), node
    return _take(
        frame, node, tensor, _pair(arguments["shapes"], node), _pair(arguments["offsets"], node), arguments, hint
    )


def _atomic(frame: Frame, arguments: Arguments, node: ast.AST) -> str | None:
    value, at = arguments["atomic"]
    if value is None or isinstance(value, AtomicType):
        return value.value if value is not None else None
    raise frame.error(
        "bad-argument", f"atomic must be a pl.AtomicType, got {describe(value)}", at or node, "atomic=pl.AtomicType.Add"
    )


def _store_at(
    frame: Frame,
    tensor: Var,
    tile: Var,
    offsets: tuple[Any, ast.AST],
    node: ast.Call,
    source: ast.AST,
    atomic: str | None,
) -> Var:
    assert isinstance(tensor.type, TensorType) and isinstance(tile.type, TileType)
    rank = len(tensor.type.shape)
    rows, cols = tile.type.shape
    if rank == 1 and rows != 1:
        raise frame.error(
            "shape-mismatch",
            f"a tile of {rows} rows does not fit {tensor.name}, which has one axis",
            source,
            "pl.reshape it to one row",
        )
    sizes = [1] * (rank - 2) + [rows, cols] if rank > 1 else [cols]
    axes = window(frame, tensor, offsets[0], sizes, offsets[1])
    store(frame, tensor, axes, tile, node, source, atomic)
    return tensor


@operation("store")
def _store(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    tile, at = _pair(arguments["tile"], node)
    tile = frame.tile(tile, at, "tile of pl.store")
    tensor = frame.tensor(*_pair(arguments["output_tensor"], node), "output_tensor of pl.store")
    return _store_at(frame, tensor, tile, _pair(arguments["offsets"], node), node, at, _atomic(frame, arguments, node))


@operation("assemble")
def _assemble(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    target, at = _pair(arguments["target"], node)
    source, source_node = _pair(arguments["source"], node)
    tile = frame.tile(source, source_node, "source of pl.assemble")
    offsets = _pair(arguments["offset"], node)
    atomic = _atomic(frame, arguments, node)
    if is_tensor(target):
        return _store_at(frame, target, tile, offsets, node, source_node, atomic)
    target = frame.tile(target, at, "target of pl.assemble")
    if atomic:
        raise frame.error("bad-argument", "atomic is for tensors", node)
    axes = window(frame, target, offsets[0], tile.type.shape, offsets[1])  # type: ignore[union-attr, arg-type]
    return assemble_tile(frame, target, axes, tile, node, hint or target.name)


@operation("dim")
def _dim(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    value, at = arguments["tensor"]
    if not (is_tensor(value) or is_tile(value)):
        raise frame.error("operand-kind", f"tensor of pl.tensor.dim must be a tensor, got {describe(value)}", at)
    number, axis_node = arguments["axis"]
    axis = frame.static_int(number, axis_node, "axis")
    shape = value.type.shape
    if not -len(shape) <= axis < len(shape):
        raise frame.error(
            "out-of-bounds", f"{value.name} has {len(shape)} axes, there is no axis {axis}", arguments["axis"][1]
        )
    extent = shape[axis]
    return extent.value if isinstance(extent, Const) else extent


def _of_spmd(name: str, what: str, values: Callable[[Frame], list[Any]]) -> None:
    def build(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
        if not values(frame):
            raise frame.error(
                "outside-spmd",
                f"pl.{name}() is {what} of a pl.spmd, and there is none around it",
                node,
                "with pl.spmd(n):",
            )
        return values(frame)[-1]

    OPERATIONS[name] = build


_of_spmd("get_block_idx", "the index", lambda frame: frame.session.spmd_indices)
_of_spmd("get_block_num", "the number of regions", lambda frame: frame.session.spmd_counts)


@operation("static_assert")
def _static_assert(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    from pyto.frontends.python.expressions import decide

    condition, at = arguments["condition"]
    decided = decide(frame, condition, at)
    if decided is None:
        raise frame.error("not-constant", "the condition of pl.static_assert must be a compile-time value", at)
    if not decided:
        message = arguments["msg"][0]
        raise frame.error("assertion", f"assertion failed: {message}" if message else "assertion failed", at)
    return None


def _misplaced(name: str, how: str) -> None:
    def build(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
        raise frame.error("misplaced", f"pl.{name} is not a value", node, how)

    OPERATIONS[name] = build


for _name in ("range", "parallel", "pipeline", "unroll"):
    _misplaced(_name, f"for i in pl.{_name}(...):")
_misplaced("spmd", "for i in pl.spmd(n):")
_misplaced("at", "with pl.at(level=pl.Level.CORE_GROUP):")
_misplaced("while_", "for (a, b) in pl.while_(init_values=(x, y)):")
for _name in ("manual_scope", "scope", "cluster", "incore"):
    _misplaced(_name, f"with pl.{_name}():")

__all__ = ["OPERATIONS", "tile_shape"]
