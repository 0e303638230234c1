"""Calls of functions: the body is parsed again with the caller's values bound to the parameters.

The body of an incore function that host code calls is a region.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from pyto.frontends.python.calls import _plain_arguments
from pyto.frontends.python.frame import Frame
from pyto.frontends.python.signature import bind_parameter, parameters_of
from pyto.frontends.python.source import locate
from pyto.frontends.python.statements import region, run
from pyto.frontends.python.values import describe, is_tensor
from pyto.ir.nodes import Expr
from pyto.ir.scalar import variables
from pyto.language.jit import JitFunction

MAX_DEPTH = 64


Given = Sequence[tuple[str | None, Any, ast.AST]]  # (keyword or None, value, where)


def inline_call(frame: Frame, callee: JitFunction, node: ast.Call, hint: str) -> Any:
    given = [(keyword, frame.expr(arg), arg) for keyword, arg in _plain_arguments(frame, node)]
    return call_with(frame, callee, given, node)


def call_with(frame: Frame, callee: JitFunction, given: Given, node: ast.Call) -> Any:
    """A call of a function with values."""
    depth, outer = 0, frame
    while outer.parent is not None:
        depth, outer = depth + 1, outer.parent
    if depth >= MAX_DEPTH:
        raise frame.error(
            "recursion",
            f"{callee.name} is inlined into itself without end",
            node,
            "recursion is not part of the language: use a loop",
        )
    source, function = locate(callee.fn)
    inner = Frame(frame.session, source, function, callee, frame)
    inner.call_loc = frame.loc(node)
    values = _bind(frame, inner, callee, given, node)
    for parameter in parameters_of(inner):
        value, where = values[parameter.name]
        bind_parameter(inner, parameter, value, where, frame)
    inner.nested = 0
    errors = len(frame.session.errors)
    if callee.kind == "incore" and frame.session.region is None:
        before = frozenset(frame.session.builder.names.used)
        region(inner, function.body, (callee.name, function), function, whole=True)
        _check_returned(frame, inner, before, node)
    else:
        run(inner, function.body)
    if len(frame.session.errors) > errors and inner.returned is None:
        from pyto.frontends.python.values import Cascade

        raise Cascade("cascade", callee.name)
    if inner.returned is None and inner.lost_writes:
        name, where = inner.lost_writes[0]
        raise inner.error(
            "lost-write",
            f"{name} is a tile: assigning its elements here changes nothing for the caller",
            where,
            f"return {name}, and assign what the call returns",
        )
    return inner.returned


def _check_returned(frame: Frame, inner: Frame, before: frozenset[str], node: ast.Call) -> None:
    """What a region made ends with it, tensors excepted."""
    returned = inner.returned if isinstance(inner.returned, (tuple, list)) else (inner.returned,)
    for value in returned:
        if isinstance(value, Expr) and not is_tensor(value) and any(v.name not in before for v in variables(value)):
            raise frame.error(
                "bad-return",
                f"{inner.function.name} returns {describe(value)} of its region, which ends with it",
                node,
                "store it to a tensor, and read that where it is needed",
            )


def _bind(
    frame: Frame, inner: Frame, callee: JitFunction, given: Given, node: ast.Call
) -> dict[str, tuple[Any, ast.AST]]:
    parameters = parameters_of(inner)
    names = [p.name for p in parameters]
    values: dict[str, tuple[Any, ast.AST]] = {}
    for i, (keyword, value, arg) in enumerate(given):
        if keyword is None and i >= len(names):
            raise frame.error("bad-argument", f"{callee.name} takes {len(names)} arguments, got {i + 1}", arg)
        name = names[i] if keyword is None else keyword
        if name not in names:
            raise frame.error(
                "bad-argument", f"{callee.name} has no parameter {name!r}", arg, f"{callee.name}({', '.join(names)})"
            )
        if name in values:
            raise frame.error("bad-argument", f"{callee.name}: argument {name!r} is given twice", arg)
        values[name] = (value, arg)
    for parameter in parameters:
        if parameter.name not in values:
            if parameter.default is parameter.MISSING:
                raise frame.error(
                    "bad-argument",
                    f"{callee.name}: argument {parameter.name!r} is missing",
                    node,
                    f"{callee.name}({', '.join(names)})",
                )
            values[parameter.name] = (inner.resolve(parameter.default, node), node)
    return values
