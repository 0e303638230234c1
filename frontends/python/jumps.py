"""`continue`, and `return` under an `if`, written away: what follows goes to the other side of the condition."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

_OWN_BODIES = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
RETURNED = "_returned"  # the name of what a function returns on its ways


def without_jumps(tree: ast.AST) -> None:
    """Rewrites the bodies of all loops and functions of `tree` in place."""
    for node in reversed(list(ast.walk(tree))):  # inner loops before those around them
        if isinstance(node, (ast.For, ast.While)) and any(_jumps(s, ast.Continue) for s in node.body):
            node.body = _or_pass(_lower(node.body, ast.Continue), node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if any(isinstance(s, ast.If) and _jumps(s, ast.Return) for s in node.body):
                last = node.body[-1]
                value = ast.copy_location(ast.Name(RETURNED, ast.Load()), last)
                node.body = [*_lower(node.body, ast.Return), ast.copy_location(ast.Return(value), last)]


def _jumps(node: ast.AST, kind: type[ast.stmt]) -> bool:
    """Whether a statement may leave the body it stands in; a jump out of a loop or a `with` is not one of these."""
    if isinstance(node, kind):
        return True
    inside = (*_OWN_BODIES, ast.With) if kind is ast.Return else _OWN_BODIES
    return not isinstance(node, inside) and any(_jumps(child, kind) for child in ast.iter_child_nodes(node))


def _lower(statements: Sequence[ast.stmt], kind: type[ast.stmt]) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for i, statement in enumerate(statements):
        if isinstance(statement, kind):
            return [*out, *_result(statement)]
        if isinstance(statement, ast.If) and _jumps(statement, kind):
            rest = statements[i + 1 :]
            body = _lower([*statement.body, *copy.deepcopy(rest)], kind)
            orelse = _lower([*statement.orelse, *rest], kind)
            replaced = ast.If(statement.test, _or_pass(body, statement), orelse)
            return [*out, ast.copy_location(replaced, statement)]
        out.append(statement)
    if kind is ast.Return and statements:
        out += _result(ast.copy_location(ast.Return(None), statements[-1]))
    return out


def _result(jump: ast.stmt) -> list[ast.stmt]:
    if not isinstance(jump, ast.Return):
        return []
    value = jump.value or ast.copy_location(ast.Constant(None), jump)
    target = ast.copy_location(ast.Name(RETURNED, ast.Store()), jump)
    return [ast.copy_location(ast.Assign([target], value), jump)]


def _or_pass(body: list[ast.stmt], near: ast.stmt) -> list[ast.stmt]:
    return body or [ast.copy_location(ast.Pass(), near)]
