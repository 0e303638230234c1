"""Calls: functions of `pl`, inlined functions, and the few of Python that are folded."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Callable, Sequence
from typing import Any

from pyto.frontends.python.frame import Frame
from pyto.frontends.python.values import describe, is_number, is_runtime_scalar, plain
from pyto.ir.nodes import FP32, INDEX, Expr
from pyto.ir.scalar import apply
from pyto.language.intrinsics import REQUIRED, Intrinsic
from pyto.language.jit import JitFunction

Arguments = dict[str, Any]  # name -> (value, node or None); of a variadic parameter a list of such pairs
Operation = Callable[[Frame, ast.Call, Arguments, str], Any]
OPERATIONS: dict[str, Operation] = {}

_FOLDED = {builtins.abs, builtins.int, builtins.float, builtins.bool, builtins.len, builtins.round, builtins.sum}
# Scheduling hints: whatever they are, the result is the same.
_HINTS = frozenset({"deps", "optimizations", "dumps", "no_dep_args", "attrs", "target_memory", "blayout", "slayout"})
_INSTEAD = {
    "print": "print outside the kernel, or look at `pyto ir`",
    "range": "use pl.range, pl.unroll, pl.parallel or pl.pipeline",
    "enumerate": "use pl.unroll over the indices",
    "zip": "use pl.unroll over the indices",
}


def operation(name: str) -> Callable[[Operation], Operation]:
    def register(fn: Operation) -> Operation:
        OPERATIONS[name] = fn
        return fn

    return register


def call(frame: Frame, node: ast.Call, hint: str) -> Any:
    callee = frame.expr(node.func)
    if isinstance(callee, Intrinsic):
        if callee.refused:
            raise frame.error("unsupported", f"{callee.spelled}: {callee.refused}", node)
        arguments = bind_arguments(frame, callee, node)
        return OPERATIONS[callee.name](frame, node, arguments, hint)
    if isinstance(callee, JitFunction):
        from pyto.frontends.python.inline import inline_call

        return inline_call(frame, callee, node, hint)
    return _python_call(frame, callee, node)


def _plain_arguments(frame: Frame, node: ast.Call) -> list[tuple[str | None, ast.expr]]:
    out: list[tuple[str | None, ast.expr]] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            raise frame.error(
                "unsupported-python", "*args in a call is not part of the language", arg, "write the arguments out"
            )
        out.append((None, arg))
    for keyword in node.keywords:
        if keyword.arg is None:
            raise frame.error(
                "unsupported-python",
                "**kwargs in a call is not part of the language",
                keyword.value,
                "write the arguments out",
            )
        out.append((keyword.arg, keyword.value))
    return out


def bind_arguments(frame: Frame, callee: Intrinsic, node: ast.Call) -> Arguments:
    """The arguments of a call by parameter name."""
    bound: Arguments = {}
    positional = [p for p in callee.parameters if not p.keyword_only]
    variadic = positional and positional[-1].variadic
    if variadic:
        bound[positional[-1].name] = []
    by_name = {p.name: p for p in callee.parameters if not p.variadic}
    for i, (keyword, arg) in enumerate(_plain_arguments(frame, node)):
        if keyword is None:
            if variadic and i >= len(positional) - 1:
                bound[positional[-1].name].append((frame.expr(arg), arg))
                continue
            if i >= len(positional):
                raise frame.error(
                    "bad-argument",
                    f"{callee.spelled} takes {len(positional)} positional arguments",
                    arg,
                    f"{callee.spelled}({callee.signature})",
                )
            name = positional[i].name
        else:
            name = keyword
            if name not in by_name:
                close = difflib.get_close_matches(name, by_name, 1)
                remedy = f"did you mean {close[0]}=?" if close else f"{callee.spelled}({callee.signature})"
                raise frame.error("bad-argument", f"{callee.spelled} has no argument {name!r}", arg, remedy)
        if name in bound:
            raise frame.error("bad-argument", f"{callee.spelled}: argument {name!r} is given twice", arg)
        bound[name] = (frame.expr(arg) if name not in _HINTS else None, arg)
    for parameter in callee.parameters:
        if parameter.name in bound:
            continue
        if parameter.default is REQUIRED:
            raise frame.error(
                "bad-argument",
                f"{callee.spelled}: argument {parameter.name!r} is missing",
                node,
                f"{callee.spelled}({callee.signature})",
            )
        bound[parameter.name] = (parameter.default, None)
    return bound


# ------------------------------------------------------------------------------------ Python's own


def _python_call(frame: Frame, callee: Any, node: ast.Call) -> Any:
    arguments = _plain_arguments(frame, node)
    if callee is builtins.min or callee is builtins.max:
        return _extreme(frame, callee, node, arguments)
    math_function = getattr(callee, "__module__", None) == "math"
    if not math_function and (not isinstance(callee, (type, type(len))) or callee not in _FOLDED):
        raise _refused_call(frame, callee, node)
    values = [frame.expr(arg) for _, arg in arguments]
    if any(isinstance(v, Expr) for v in values):
        value = values[0]
        if len(values) == 1 and is_runtime_scalar(value):
            kind = value.dtype.kind  # type: ignore[union-attr]
            if (callee is int and kind in "iu") or (callee is float and kind == "f"):
                return value
            if callee is float:
                return apply("cast", value, dtype=FP32)
            if callee is int:
                return apply("cast", value, dtype=INDEX)
        name = getattr(callee, "__name__", "")
        remedy = f"use pl.{name}" if name in OPERATIONS else "it is folded for compile-time numbers only"
        raise frame.error("unsupported-python", f"Python's {name} does not take {describe(value)}", node, remedy)
    if any(_holds_value(v) for v in values):
        text = f"Python's {getattr(callee, '__name__', '')} takes compile-time numbers only"
        raise frame.error("unsupported-python", text, node, "write the operation out with the functions of pl")
    try:
        return plain(callee(*values))
    except Exception as error:
        raise frame.error("python-error", f"{callee.__name__}: {error}", node) from None


def _holds_value(value: Any) -> bool:
    """Whether a run-time value stands in a list or tuple."""
    return isinstance(value, (list, tuple)) and any(isinstance(v, Expr) or _holds_value(v) for v in value)


def _extreme(frame: Frame, callee: Any, node: ast.Call, arguments: Sequence[tuple[str | None, ast.expr]]) -> Any:
    from pyto.frontends.python.expressions import scalar_apply

    values = [frame.expr(arg) for _, arg in arguments]
    nodes = [arg for _, arg in arguments]
    if len(values) == 1 and isinstance(values[0], (list, tuple)):
        values, nodes = list(values[0]), [nodes[0]] * len(values[0])
    if not values or any(k is not None for k, _ in arguments):
        raise frame.error("bad-argument", f"{callee.__name__} takes numbers", node)
    result = values[0]
    for value, where in zip(values[1:], nodes[1:]):
        if is_number(result) and is_number(value):
            result = callee(result, value)
            continue
        x, y = (
            frame.scalar(result, nodes[0], f"an operand of {callee.__name__}"),
            frame.scalar(value, where, f"an operand of {callee.__name__}"),
        )
        result = scalar_apply(frame, callee.__name__, [x, y], node)
    return result


def _refused_call(frame: Frame, callee: Any, node: ast.Call) -> Exception:
    name = getattr(callee, "__name__", "") or type(callee).__name__
    module = (getattr(callee, "__module__", "") or "").partition(".")[0]
    if module in ("numpy", "torch"):
        return frame.error(
            "unsupported-python",
            f"{module} functions are not part of the language",
            node,
            f"use the functions of pl, or compute {name}(...) outside the kernel",
        )
    if name in _INSTEAD and module == "builtins":
        return frame.error("unsupported-python", f"Python's {name} is not part of the language", node, _INSTEAD[name])
    if not callable(callee):
        return frame.error("operand-kind", f"{describe(callee)} cannot be called", node)
    remedy = f"decorate {name} with @pl.jit.inline, or call it outside the kernel and use the result"
    return frame.error("unsupported-python", f"{name} is a plain Python function", node, remedy)
