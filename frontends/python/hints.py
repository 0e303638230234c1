"""Names of the language that place or order work. Statements already run in order and pyto places tiles itself, so
most of them are the value they are given."""

from __future__ import annotations

import ast
from typing import Any

from pyto.frontends.python.calls import OPERATIONS, Arguments, operation
from pyto.frontends.python.frame import Frame
from pyto.frontends.python.values import TaskId, Transposed, describe
from pyto.ir.nodes import Expr
from pyto.ir.printer import show
from pyto.language.jit import JitFunction


def _itself(name: str, parameter: str) -> None:
    def build(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
        return arguments[parameter][0]

    OPERATIONS[name] = build


_itself("no_dep", "tensor")


@operation("move")
def _move(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    value, at = arguments["tile"]
    return value if isinstance(value, Transposed) else frame.tile(value, at or node, "tile of pl.move")


@operation("create_l1")
def _create_l1(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    return OPERATIONS["create_tensor"](
        frame, node, {**arguments, "layout": (None, None), "init_value": (None, None)}, hint
    )


@operation("transpose_view")
def _transpose_view(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    value, at = arguments["tile"]
    if isinstance(value, Transposed):
        return value.tile
    return Transposed(frame.tile(value, at or node, "tile of pl.tile.transpose_view"))


@operation("static_print")
def _static_print(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> None:
    place = frame.loc(node)
    if place in frame.session.shown:  # bodies of loops are parsed more than once
        return
    frame.session.shown.add(place)
    print(f"{place.file}:{place.line}:", *(_said(value) for value, _ in arguments["values"]))


def _said(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Expr):
        return f"{show(value)}: {describe(value)}"
    return describe(value)


@operation("yield_")
def _yield(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    """At the end of a branch: the values that the names left of it get."""
    if not frame.session.branches:
        raise frame.error(
            "misplaced",
            "pl.yield_ is not a value",
            node,
            "it ends the body of a loop with init_values, or of both branches of an if",
        )
    values = tuple(value for value, _ in arguments["values"])
    return values[0] if len(values) == 1 else values


@operation("cond")
def _cond(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    raise frame.error("misplaced", "pl.cond begins the body of a pl.while_ loop", node, "use `if` or `while`")


def _nothing(name: str, value: Any) -> None:
    def build(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
        return value

    OPERATIONS[name] = build


_nothing("func_attr", None)
_nothing("dump_tag", None)
_nothing("task_array", TaskId())
_nothing("task_dummy", TaskId())
_nothing("task_invalid", TaskId())


@operation("submit")
def _submit(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> Any:
    """The call, and a task id behind what it returns."""
    from pyto.frontends.python.inline import call_with

    (callee, _), *rest = arguments["call"] or [(None, node)]
    if not isinstance(callee, JitFunction):
        raise frame.error("bad-argument", "pl.submit takes a function and its arguments", node, "pl.submit(f, a, b)")
    returned = call_with(frame, callee, [(None, value, at) for value, at in rest], node)
    values = returned if isinstance(returned, (tuple, list)) else () if returned is None else (returned,)
    return (*values, TaskId())
