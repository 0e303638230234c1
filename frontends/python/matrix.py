"""Forms of the matrix product that are written with `matmul`, `matmul_acc` and vector operations."""

from __future__ import annotations

import ast
from typing import Any

from pyto.frontends.python.calls import OPERATIONS, Arguments, operation
from pyto.frontends.python.frame import Frame
from pyto.frontends.python.values import describe, is_tile
from pyto.ir.nodes import BOOL, Const, Expr, TileType

_PHASES = ("unspecified", "partial", "final")  # of an accumulation: a hint that changes no result
_PLAIN: Arguments = {
    "out_dtype": (None, None),
    "a_trans": (False, None),
    "b_trans": (False, None),
    "c_matrix_nz": (False, None),
}


def starts_over(frame: Frame, node: ast.Call, arguments: Arguments) -> tuple[Expr, ...]:
    """`init_cond` of matmul_acc as an operand: where it holds, what the accumulator held counts as zero."""
    value, at = arguments["init_cond"]
    if value is None or value is False:
        return ()
    if value is True:
        return (Const(True, BOOL),)
    condition = frame.scalar(value, at or node, "init_cond")
    if condition.dtype != BOOL:  # type: ignore[attr-defined]
        raise frame.error(
            "bad-argument", f"init_cond must be a condition, got {describe(value)}", at or node, "init_cond=(k == 0)"
        )
    return (condition,)


def _one_row(frame: Frame, node: ast.Call, arguments: Arguments, name: str) -> None:
    value, at = arguments["lhs"]
    if is_tile(value) and (rows := value.type.shape[0]) != 1:
        raise frame.error(
            "shape-mismatch", f"pl.{name} takes a lhs of one row, this one has {rows}", at or node, "use pl.matmul"
        )
    phase, where = arguments["acc_phase"]
    if phase not in _PHASES:
        text = f"acc_phase must be one of {', '.join(map(repr, _PHASES))}, got {describe(phase)}"
        raise frame.error("bad-argument", text, where or node)


def _product(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    return OPERATIONS["matmul"](frame, node, {**_PLAIN, "lhs": arguments["lhs"], "rhs": arguments["rhs"]}, hint)


def _plus_bias(frame: Frame, node: ast.Call, arguments: Arguments, hint: str, name: str) -> Any:
    bias, at = arguments["bias"]
    bias = frame.tile(bias, at or node, f"bias of pl.{name}")
    assert isinstance(bias.type, TileType)
    product = _product(frame, node, arguments, f"{hint or name}_product")
    assert isinstance(product.type, TileType)
    want = (1, product.type.shape[1])
    if bias.type.shape != want or bias.dtype != product.dtype:
        text = f"pl.{name}: bias must be a tile {list(want)} of {product.dtype}, got {describe(bias)}"
        raise frame.error("shape-mismatch", text, at or node, f"load it as {list(want)}, and pl.cast it")
    return frame.emit("col_expand_add", (product, bias), {}, node, hint)


@operation("matmul_bias")
def _matmul_bias(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    return _plus_bias(frame, node, arguments, hint, "matmul_bias")


@operation("gemv")
def _gemv(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    _one_row(frame, node, arguments, "gemv")
    return _product(frame, node, arguments, hint)


@operation("gemv_acc")
def _gemv_acc(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    _one_row(frame, node, arguments, "gemv_acc")
    given = {n: arguments[n] for n in ("acc", "lhs", "rhs")}
    return OPERATIONS["matmul_acc"](frame, node, {**_PLAIN, **given, "init_cond": (None, None)}, hint)


@operation("gemv_bias")
def _gemv_bias(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    _one_row(frame, node, arguments, "gemv_bias")
    return _plus_bias(frame, node, arguments, hint, "gemv_bias")


__all__ = ["starts_over"]
