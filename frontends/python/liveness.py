"""Which names a loop carries: those that its body assigns and that a later iteration, or the code after it, reads."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

Live = frozenset[str]
_NONE: Live = frozenset()


def _reads(node: ast.AST | None) -> set[str]:
    if node is None:
        return set()
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that statements bind, writes of elements (`name[...] = value`, `pl.write(name, ...)`) included."""
    out: set[str] = set()
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                out.add(node.id)
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                base = node.value
                if isinstance(base, ast.Name):
                    out.add(base.id)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "write":
                targets = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "dst")]
                out.update(t.id for t in targets if isinstance(t, ast.Name))
    return out


class Liveness:
    """Backward liveness of the names of one function. `carried[for node]` are the names that the loop carries,
    `after_if[if node]` and `after_with[with node]` those that are read after the block."""

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.carried: dict[ast.AST, Live] = {}
        self.after_if: dict[ast.AST, Live] = {}
        self.after_with: dict[ast.AST, Live] = {}
        self._block(function.body, _NONE)

    def _block(self, statements: Sequence[ast.stmt], live: Live) -> Live:
        for statement in reversed(statements):
            live = self._statement(statement, live)
        return live

    def _statement(self, node: ast.stmt, live: Live) -> Live:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            killed = {
                n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
            reads = _reads(node.value).union(*(_reads(t) for t in targets))
            if isinstance(node, ast.AugAssign):
                reads |= killed
            return frozenset((live - killed) | reads)
        if isinstance(node, (ast.For, ast.While)):
            head = live
            if isinstance(node, ast.While):
                head |= _reads(node.test)
            target = assigned([node.target]) if isinstance(node, ast.For) else set()
            while True:
                entry = self._block(node.body, head) - target
                if entry <= head:
                    break
                head |= entry
            self.carried[node] = frozenset(assigned(node.body) & head - target)
            outside = _reads(node.iter) if isinstance(node, ast.For) else set()
            return frozenset(head | outside)
        if isinstance(node, ast.If):
            self.after_if[node] = live
            return self._block(node.body, live) | self._block(node.orelse, live) | _reads(node.test)
        if isinstance(node, ast.With):
            self.after_with[node] = live
            live = self._block(node.body, live)
            bound = assigned(i.optional_vars for i in node.items if i.optional_vars)
            return frozenset((live - bound).union(*(_reads(i.context_expr) for i in node.items)))
        if isinstance(node, ast.Return):
            return frozenset(_reads(node.value))
        return frozenset(live | _reads(node))
