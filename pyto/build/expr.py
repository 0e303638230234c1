"""Integer expressions over dims, as they stand in a manifest: parsed once, evaluated without `eval`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache

from pyto.errors import InternalError

Evaluator = Callable[[Mapping[str, int]], int]


def _div(a: int, b: int) -> int:
    if b == 0:
        raise ZeroDivisionError
    return a // b


_BINARY: dict[type, Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: _div,
    ast.FloorDiv: _div,
    ast.Mod: lambda a, b: a % b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.BitXor: lambda a, b: a ^ b,
    ast.LShift: lambda a, b: a << b,
    ast.RShift: lambda a, b: a >> b,
}
_CALLS: dict[str, Callable[..., int]] = {
    "min": min,
    "max": max,
    "ceil_div": lambda a, b: -(-a // b),
    "align": lambda a, b: -(-a // b) * b,
}


@lru_cache(maxsize=4096)
def compile_expr(text: str) -> tuple[Evaluator, frozenset[str]]:
    """(evaluator, the dims it names). Raises InternalError for anything but the grammar of `pyto.build.program`."""
    names: set[str] = set()

    def build(node: ast.AST) -> Evaluator:
        if isinstance(node, ast.Expression):
            return build(node.body)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            value = node.value
            return lambda dims: value
        if isinstance(node, ast.Name):
            name = node.id
            names.add(name)
            return lambda dims: dims[name]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = build(node.operand)
            return lambda dims: -inner(dims)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            op, left, right = _BINARY[type(node.op)], build(node.left), build(node.right)
            return lambda dims: op(left(dims), right(dims))
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in _CALLS
            and not node.keywords
        ):
            call, args = _CALLS[node.func.id], [build(arg) for arg in node.args]
            return lambda dims: call(*(arg(dims) for arg in args))
        raise InternalError(f"expression {text!r} in a manifest: {ast.dump(node)} is not allowed", id="manifest")

    try:
        tree = ast.parse(text.strip() or "0", mode="eval")
    except SyntaxError as error:
        raise InternalError(f"expression {text!r} in a manifest: {error.msg}", id="manifest") from error
    return build(tree), frozenset(names)


def evaluate(text: str | int, dims: Mapping[str, int]) -> int:
    """The value of an expression, e.g. evaluate("align(B, 16) * 4", {"B": 5}) == 64."""
    if isinstance(text, int):
        return text
    return compile_expr(text)[0](dims)
