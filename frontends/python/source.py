"""Source text of decorated functions: the syntax tree of the whole file, so that lines and columns are the user's."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyto.errors import CompileError
from pyto.frontends.python.jumps import without_jumps
from pyto.frontends.python.liveness import Liveness
from pyto.ir.nodes import Loc

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One file. Columns of `ast` are bytes of UTF-8; `loc` gives characters."""

    file: str
    lines: tuple[str, ...]
    functions: dict[tuple[str, int], FunctionNode]
    _liveness: dict[FunctionNode, Liveness] = field(default_factory=dict)

    def liveness(self, node: FunctionNode) -> Liveness:
        found = self._liveness.get(node)
        if found is None:
            found = self._liveness[node] = Liveness(node)
        return found

    def _column(self, line: int, byte: int) -> int:
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return byte if text.isascii() else len(text.encode()[:byte].decode(errors="ignore"))

    def loc(self, node: Any) -> Loc:
        """Where `node` is; the caret of a node of several lines covers the rest of its first line."""
        line = node.lineno
        col = self._column(line, node.col_offset)
        if node.end_lineno == line:
            return Loc(self.file, line, col, self._column(line, node.end_col_offset))
        text = self.lines[line - 1].rstrip() if line <= len(self.lines) else ""
        return Loc(self.file, line, col, max(col + 1, len(text)))


_CACHE: dict[str, tuple[tuple[str, ...], Source]] = {}


def _read(file: str, module_globals: dict[str, Any]) -> Source:
    lines = tuple(linecache.getlines(file, module_globals))
    if not lines:
        raise CompileError(
            "no-source",
            f"the source of {file} is not at hand",
            remedy="put the kernel in a .py file: pyto compiles from source text",
        )
    known = _CACHE.get(file)
    if known is not None and known[0] == lines:
        return known[1]
    functions: dict[tuple[str, int], FunctionNode] = {}
    tree = ast.parse("".join(lines))
    without_jumps(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            functions[node.name, first] = node
    source = Source(file, lines, functions)
    _CACHE[file] = (lines, source)
    return source


def locate(fn: Callable[..., Any]) -> tuple[Source, FunctionNode]:
    """The file and the syntax tree of a Python function; CompileError if its source cannot be found."""
    fn = inspect.unwrap(fn)
    code = fn.__code__
    source = _read(code.co_filename, fn.__globals__)
    node = source.functions.get((code.co_name, code.co_firstlineno))
    if node is None:
        raise CompileError(
            "no-source",
            f"{code.co_name} is not at line {code.co_firstlineno} of {code.co_filename}: the file has changed",
            remedy="import it again",
        )
    return source, node
