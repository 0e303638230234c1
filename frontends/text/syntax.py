"""From text to a syntax tree, by the grammar in `pto.lark`; what is not in the grammar is an error with its place."""

from __future__ import annotations

import functools
import linecache
from pathlib import Path
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from pyto.errors import CompileError
from pyto.ir.nodes import Loc

GRAMMAR = Path(__file__).with_name("pto.lark")

#: Terminals in the words of an error message; a terminal of fixed text stands for itself.
WORDS = {
    "$END": "the end of the file",
    "BOOL": "true or false",
    "DIMS": "a shape such as 16x64",
    "LOCATION": "a location such as @file.py:12:4-20",
    "NAME": "a name",
    "NUMBER": "a number",
    "OPERATOR": "an operator",
    "STRING": "a string",
    "VALUE": "a value such as %x",
    "_NL": "the end of the line",
}
_EXPRESSION = frozenset({"VALUE", "NUMBER", "BOOL", "NAME", "LPAR"})


@functools.cache
def parser() -> Lark:
    return Lark(GRAMMAR.read_text(encoding="utf-8"), parser="lalr", lexer="contextual", start="program")


def remember(text: str, file: str) -> None:
    """So that errors show the lines that were parsed, whatever the file holds later."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def place(token: Token, file: str) -> Loc:
    line, column = token.line or 1, (token.column or 1) - 1
    return Loc(file, line, column, column + max(1, len(token)))


def syntax_tree(text: str, file: str) -> Tree[Token]:
    """The tree of a whole program. Raises CompileError `pto.syntax`."""
    try:
        return parser().parse(text)
    except UnexpectedInput as error:
        raise _explained(error, text, file) from None


def _explained(error: UnexpectedInput, text: str, file: str) -> CompileError:
    expected: Any
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        expected, loc = error.accepts or error.expected, place(error.token, file)
        found = "the line ends" if error.token.type == "_NL" else f"found `{_short(str(error.token))}`"
        if error.token.type == "_NL":
            loc = Loc(file, loc.line, loc.col, loc.col + 1)
    elif isinstance(error, (UnexpectedToken, UnexpectedEOF)):
        expected = (error.accepts or error.expected) if isinstance(error, UnexpectedToken) else error.expected
        lines = text.split("\n")
        last = next((i for i in range(len(lines) - 1, -1, -1) if lines[i].strip()), 0)
        loc, found = Loc(file, last + 1, len(lines[last].rstrip()), 0), "the file ends"
    else:
        assert isinstance(error, UnexpectedCharacters)
        at = error.pos_in_stream or 0
        expected, found = error.allowed, f"found {text[at]!r}"
        loc = Loc(file, error.line, error.column - 1, error.column)
        if text[at] == '"':
            found = "found a string that does not end on its line" if "STRING" in expected else "found a string"
    return CompileError(
        "pto.syntax", f"expected {_in_words(expected)}, {found}", loc, remedy="docs/pto.md has the grammar"
    )


def _in_words(terminals: Any) -> str:
    names = set(terminals)
    words = []
    if names >= _EXPRESSION:
        names -= _EXPRESSION
        words.append("an expression")
    fixed = {t.name: t.pattern.value for t in parser().terminals if t.name not in WORDS}
    words += sorted(WORDS.get(n) or f"`{fixed.get(n, n)}`" for n in names)
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words or ["nothing more"])


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
