"""`continue` written away: what follows it in the body goes to the other side of its condition."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

_OWN_BODIES = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def without_continues(tree: ast.AST) -> None:
    """Rewrites the bodies of all loops of `tree` in place."""
    for node in reversed(list(ast.walk(tree))):  # inner loops before those around them
        if isinstance(node, (ast.For, ast.While)) and any(_continues(s) for s in node.body):
            node.body = _or_pass(_lower(node.body), node)


def _continues(node: ast.AST) -> bool:
    """Whether a statement may go on to the next iteration of the loop around it."""
    if isinstance(node, ast.Continue):
        return True
    return not isinstance(node, _OWN_BODIES) and any(_continues(child) for child in ast.iter_child_nodes(node))


def _lower(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for i, statement in enumerate(statements):
        if isinstance(statement, ast.Continue):
            return out
        if isinstance(statement, ast.If) and _continues(statement):
            rest = statements[i + 1 :]
            body = _lower([*statement.body, *copy.deepcopy(rest)])
            orelse = _lower([*statement.orelse, *rest])
            replaced = ast.If(statement.test, _or_pass(body, statement), orelse)
            return [*out, ast.copy_location(replaced, statement)]
        out.append(statement)
    return out


def _or_pass(body: list[ast.stmt], near: ast.stmt) -> list[ast.stmt]:
    return body or [ast.copy_location(ast.Pass(), near)]
