"""Statements: assignments, regions, conditions, returns; loops are in loops.py."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any

from pyto.errors import CompileError
from pyto.frontends.python.branches import run_branches
from pyto.frontends.python.escapes import escape, promote
from pyto.frontends.python.expressions import decide, evaluate
from pyto.frontends.python.frame import Frame, PeelFirst
from pyto.frontends.python.liveness import assigned
from pyto.frontends.python.proofs import at_most, settle
from pyto.frontends.python.subscripts import store_subscript
from pyto.frontends.python.values import Poison, TaskId, describe, is_runtime_scalar, is_tensor, is_tile
from pyto.ir.builder import identifier
from pyto.ir.nodes import Block, Const, Expr, Op, Var
from pyto.ir.scalar import substitute, variables
from pyto.language.enums import Level
from pyto.language.intrinsics import Intrinsic

CONTEXTS = ("at", "spmd", "incore", "manual_scope", "scope", "cluster")
REFUSED_STATEMENTS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Try: ("try", "errors are found when the kernel is compiled"),
    ast.Raise: ("raise", "use pl.static_assert for compile-time conditions"),
    ast.ClassDef: ("a class", "define it outside the kernel"),
    ast.FunctionDef: ("a nested function", "define it outside the kernel and decorate it with @pl.jit.inline"),
    ast.AsyncFunctionDef: ("async def", "kernels are not asynchronous"),
    ast.AsyncFor: ("async for", "kernels are not asynchronous"),
    ast.AsyncWith: ("async with", "kernels are not asynchronous"),
    ast.Global: ("global", "globals of Python are constants of a kernel: assign to a local name"),
    ast.Nonlocal: ("nonlocal", "closures of Python are constants of a kernel: assign to a local name"),
    ast.Import: ("import", "import at the top of the file"),
    ast.ImportFrom: ("import", "import at the top of the file"),
    ast.Delete: ("del", "leave it away: values end with their last use"),
    ast.Break: ("break", "loops run to their end: choose the bounds"),
    ast.Continue: ("continue here", "put it under an `if` of the loop's body"),
}
if hasattr(ast, "Match"):
    REFUSED_STATEMENTS[ast.Match] = ("match", "use if")
if hasattr(ast, "TryStar"):
    REFUSED_STATEMENTS[ast.TryStar] = ("try", "errors are found when the kernel is compiled")


def run(frame: Frame, statements: Sequence[ast.stmt]) -> None:
    """Parse statements in order. An error is noted and the rest is parsed, so that one run shows them all."""
    for statement in statements:
        if frame.has_returned:
            return
        frame.session.at = (frame, statement)
        handler = HANDLERS.get(type(statement))
        try:
            if handler is None:
                what, instead = REFUSED_STATEMENTS.get(
                    type(statement), (type(statement).__name__, "write it with what pl has")
                )
                raise frame.error("unsupported-python", f"{what} is not part of the language", statement, instead)
            handler(frame, statement)
        except CompileError as error:
            frame.session.report(error)
            for name in assigned([statement]):
                if not is_tensor(frame.env.get(name)):
                    frame.env[name] = Poison(None)


# -------------------------------------------------------------------------------------- assignment


def bind(frame: Frame, name: str, value: Any, node: ast.AST) -> None:
    """`name = value`."""
    if value is None and isinstance(node, ast.Call):
        raise frame.error("no-value", "this call returns nothing", node)
    if isinstance(value, Expr) and is_runtime_scalar(value):
        value = frame.name_scalar(name, value, node)
    frame.env[name] = value


def assign(frame: Frame, target: ast.expr, value: Any, statement: ast.stmt, value_node: ast.AST) -> None:
    if isinstance(target, ast.Name):
        bind(frame, target.id, value, value_node)
    elif isinstance(target, (ast.Tuple, ast.List)):
        if not isinstance(value, (tuple, list)):
            raise frame.error("unpack", f"{describe(value)} cannot be unpacked into {len(target.elts)} names", target)
        if any(isinstance(e, ast.Starred) for e in target.elts):
            raise frame.error(
                "unsupported-python", "a starred target is not part of the language", target, "write the names out"
            )
        if len(value) != len(target.elts):
            raise frame.error("unpack", f"{len(value)} values for {len(target.elts)} names", target)
        for element, item in zip(target.elts, value):
            assign(frame, element, item, statement, value_node)
    elif isinstance(target, ast.Subscript):
        store_subscript(frame, target, value, statement)
    else:
        raise frame.error("bad-target", "kernels assign to names, and to elements of tensors and tiles", target)


def _assign(frame: Frame, node: ast.Assign) -> None:
    only = node.targets[0]
    if (
        isinstance(only, (ast.Tuple, ast.List))
        and isinstance(node.value, (ast.Tuple, ast.List))
        and len(only.elts) == len(node.value.elts)
    ):
        # Name each result after its target.
        value: Any = tuple(
            evaluate(frame, v, t.id if isinstance(t, ast.Name) else "") for t, v in zip(only.elts, node.value.elts)
        )
    else:
        value = evaluate(frame, node.value, only.id if isinstance(only, ast.Name) else "")
    for target in node.targets:
        assign(frame, target, value, node, node.value)


def _annotated(frame: Frame, node: ast.AnnAssign) -> None:
    if node.value is None:
        raise frame.error(
            "unsupported-python", "a declaration without a value is not part of the language", node, "assign a value"
        )
    value = evaluate(frame, node.value, node.target.id if isinstance(node.target, ast.Name) else "")
    assign(frame, node.target, value, node, node.value)


def _augmented(frame: Frame, node: ast.AugAssign) -> None:
    from pyto.frontends.python.expressions import binary

    if isinstance(node.target, ast.Subscript):
        store_subscript(frame, node.target, frame.expr(node.value), node, node.op)
        return
    if not isinstance(node.target, ast.Name):
        raise frame.error("bad-target", "kernels assign to names, and to elements of tensors and tiles", node.target)
    old = frame.lookup(node.target)
    value = binary(frame, node.op, old, frame.expr(node.value), node, node.target.id, (node.target, node.value))  # type: ignore[arg-type]
    bind(frame, node.target.id, value, node.value)


def _expression(frame: Frame, node: ast.Expr) -> None:
    value = node.value
    if isinstance(value, ast.Constant):
        return  # a docstring, or ...
    if isinstance(value, ast.Call):
        if is_tile(evaluate(frame, value)):
            raise frame.error(
                "no-effect",
                "this computes a tile that nobody gets",
                value,
                "assign it to a name, or store it to a tensor",
            )
        return
    if type(value) in (
        ast.Name,
        ast.Attribute,
        ast.BinOp,
        ast.UnaryOp,
        ast.Compare,
        ast.BoolOp,
        ast.Subscript,
        ast.IfExp,
        ast.Tuple,
        ast.List,
    ):
        raise frame.error(
            "no-effect", "this expression has no effect", value, "assign it to a name, or store it to a tensor"
        )
    evaluate(frame, value)


def _pass(frame: Frame, node: ast.stmt) -> None:
    pass


def _assert(frame: Frame, node: ast.Assert) -> None:
    from pyto.frontends.python.debug import check

    message = frame.expr(node.msg) if node.msg is not None else None
    check(frame, frame.expr(node.test), node.test, message, node)


# ------------------------------------------------------------------------------------ control flow


def _if(frame: Frame, node: ast.If) -> None:
    condition = frame.expr(node.test)
    decided = decide(frame, condition, node.test)
    if decided is None:
        _peel(frame, condition)
        run_branches(frame, condition, node)
        return
    with frame.session.branch():
        run(frame, node.body if decided else node.orelse)


def _peel(frame: Frame, condition: Expr) -> None:
    """Raise PeelFirst if `condition` is known in all iterations but the first of a loop around."""
    session = frame.session
    condition = substitute(condition, session.lets)
    for index, (start, stop, step) in reversed(session.loops):
        if index not in variables(condition) or not at_most(start + 1, stop, session.ranges):
            continue
        later = settle(condition, {**session.ranges, index: (start + step, session.ranges[index][1])})
        if isinstance(later, Const):
            raise PeelFirst(index)


def _return(frame: Frame, node: ast.Return) -> None:
    if frame.nested:
        raise frame.error(
            "early-return",
            "return inside a loop or region is not part of the language",
            node,
            "return at the end of the function",
        )
    value = evaluate(frame, node.value) if node.value is not None else None
    if frame.parent is None and value is not None:
        for item in value if isinstance(value, (tuple, list)) else [value]:
            if is_tensor(item) and promote(frame, item):
                continue
            if not is_tensor(item) or frame.session.directions.get(item) not in ("out", "inout"):
                raise frame.error(
                    "bad-return",
                    f"a kernel returns its outputs and tensors that it made, not {describe(item)}",
                    node.value or node,
                    "store the result to an out parameter and return that",
                )
    frame.returned = value
    frame.has_returned = True


# ----------------------------------------------------------------------------------------- regions


def _with(frame: Frame, node: ast.With) -> None:
    from pyto.frontends.python.calls import bind_arguments
    from pyto.frontends.python.loops import spmd_block

    if len(node.items) != 1:
        raise frame.error("unsupported-python", "`with` takes one item", node.items[1].context_expr, "nest the blocks")
    item = node.items[0]
    call = item.context_expr
    callee = frame.expr(call.func) if isinstance(call, ast.Call) else None
    if (
        not isinstance(call, ast.Call)
        or not isinstance(callee, Intrinsic)
        or callee.name not in CONTEXTS
        or callee.refused
    ):
        if isinstance(callee, Intrinsic) and callee.refused:
            raise frame.error("unsupported", f"{callee.spelled}: {callee.refused}", call)
        raise frame.error(
            "unsupported-python", "`with` is for pl.at and pl.spmd", call, "with pl.at(level=pl.Level.CORE_GROUP):"
        )
    task = item.optional_vars
    if task is not None:
        if not isinstance(task, ast.Name):
            raise frame.error("bad-target", "the task id needs a plain name", task)
        frame.env[task.id] = TaskId()
    arguments = bind_arguments(frame, callee, call)
    if callee.name == "spmd":
        spmd_block(frame, node, call, arguments)
        return
    if callee.name in ("manual_scope", "scope", "cluster"):
        run(frame, node.body)
        return
    level, level_node = arguments.get("level", (None, None))
    if level not in (None, Level.CORE_GROUP):
        raise frame.error(
            "unsupported",
            f"pl.at runs on a core group, not on {describe(level)}",
            level_node or call,
            "level=pl.Level.CORE_GROUP",
        )
    live = frame.source.liveness(frame.node).after_with.get(node, frozenset())
    region(frame, node.body, arguments["name_hint"], call, live)


def region(
    frame: Frame,
    body: Sequence[ast.stmt],
    hint: tuple[Any, ast.AST | None],
    node: ast.AST,
    live: frozenset[str] = frozenset(),
    whole: bool = False,
) -> None:
    """One region with `body`. Tiles that are `live` behind it become tensors. `whole`: it is a function's whole body,
    and what that returns is live."""
    session = frame.session
    if session.region is not None:
        raise frame.error(
            "nested-region",
            f"a region inside the region of line {session.region.line}",
            node,
            "regions run on one core and do not nest",
        )
    name, name_node = hint
    if not isinstance(name, str):
        raise frame.error("operand-kind", f"name_hint must be a string, got {describe(name)}", name_node or node)
    before = dict(frame.env)
    session.region = frame.loc(node)
    frame.nested += not whole
    try:
        with session.builder.block() as ops:
            run(frame, body)
            kept = escape(frame, before, live, node)
            session.builder.append(Op("yield", loc=frame.loc(node)))
    finally:
        region_line = session.region.line
        session.region = None
        frame.nested -= not whole
    for tensor in kept:
        session.builder.append(Op("create_tensor", (), (tensor,), {}, loc=frame.loc(node)))
    op = Op("region", attrs={"name": _region_name(frame, name)}, blocks=(Block((), tuple(ops)),), loc=frame.loc(node))
    session.builder.append(op)
    _close(frame, before, region_line)


def _region_name(frame: Frame, hint: str) -> str:
    base = identifier(re.sub(r"\W+", "_", hint).strip("_") or frame.function.name, symbol=True)
    name, number = base, 0
    while name in frame.session.region_names:
        number += 1
        name = f"{base}_{number}"
    frame.session.region_names.add(name)
    return name


def _close(frame: Frame, before: dict[str, Any], line: int) -> None:
    for name, value in frame.env.items():
        if before.get(name) is value or isinstance(value, (Poison, TaskId)) or is_tensor(value):
            continue
        values = value if isinstance(value, (tuple, list)) else [value]
        if any(
            (isinstance(v, Var) and not is_tensor(v)) or (isinstance(v, Expr) and not isinstance(v, Var))
            for v in values
        ):
            what = "tile" if any(is_tile(v) for v in values) else "value"
            frame.env[name] = Poison(
                f"{name} is a {what} of the region at line {line}, which has ended",
                "store it to a tensor (pl.create_tensor before the region), and load it in the next",
            )


def _for(frame: Frame, node: ast.For) -> None:
    from pyto.frontends.python.loops import for_loop

    for_loop(frame, node)


def _while(frame: Frame, node: ast.While) -> None:
    from pyto.frontends.python.loops import while_loop

    while_loop(frame, node)


HANDLERS: dict[type[ast.AST], Callable[[Frame, Any], None]] = {
    ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: _augmented, ast.Expr: _expression, ast.Pass: _pass,
    ast.Assert: _assert, ast.If: _if, ast.Return: _return, ast.With: _with, ast.For: _for,
    ast.While: _while,
}  # fmt: skip

__all__ = ["assign", "bind", "region", "run"]
