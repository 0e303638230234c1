"""`pl.print`, `pl.assert_` and Python's `assert`: what a kernel says while it runs."""

from __future__ import annotations

import ast
from typing import Any

from pyto.frontends.python.branches import truth
from pyto.frontends.python.calls import Arguments, operation
from pyto.frontends.python.expressions import decide
from pyto.frontends.python.frame import Frame
from pyto.frontends.python.values import describe, is_number, is_runtime_scalar, is_tile
from pyto.ir.nodes import Expr, Op


def _plain(text: str) -> str:
    """Without what ends a string in C, and without the marks of the places of values."""
    return text.replace("{", "(").replace("}", ")").replace("\0", "")


def _need_region(frame: Frame, name: str, node: ast.AST) -> None:
    if frame.session.region is None:
        raise frame.error(
            "outside-region",
            f"{name} runs on a core, and this is host code",
            node,
            "put it into a region (`with pl.at(...)`), or use pl.static_assert for compile-time conditions",
        )


@operation("print")
def _print(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> None:
    _need_region(frame, "pl.print", node)
    builder, loc = frame.session.builder, frame.loc(node)
    words: list[str] = []
    values: list[Expr] = []

    def say() -> None:
        if words:
            builder.append(Op("print", tuple(values), (), {"text": " ".join(words) + "\n"}, (), loc))
        words.clear()
        values.clear()

    for value, at in arguments["values"]:
        if is_tile(value):
            say()
            builder.append(Op("print", (value,), (), {"text": "{}\n"}, (), loc))
        elif isinstance(value, str) or is_number(value) or value is None:
            words.append(_plain(str(value)))
        elif is_runtime_scalar(value):
            words.append("{}")
            values.append(value)
        else:
            raise frame.error("operand-kind", f"pl.print cannot show {describe(value)}", at, "load a part of it first")
    say()


def check(frame: Frame, test: Any, test_node: ast.expr, message: Any, node: ast.AST) -> None:
    """An assertion: refused at once where it is known to fail, checked on the device where it is not known."""
    said = f": {message}" if isinstance(message, str) and message else ""
    decided = decide(frame, test, test_node)
    if decided is not None:
        if not decided:
            raise frame.error("assertion", f"assertion failed{said}", test_node)
        return
    _need_region(frame, "a run-time assert", node)
    values = {n.id: frame.lookup(n) for n in ast.walk(test_node) if isinstance(n, ast.Name)}
    shown = {n: v for n, v in values.items() if is_runtime_scalar(v)}
    loc = frame.loc(test_node)
    text = _plain(f"{loc.name}:{loc.line}: assertion failed: {ast.unparse(test_node)}{said}")
    text += "".join(f"{'; ' if i == 0 else ', '}{n} = {{}}" for i, n in enumerate(shown))
    frame.session.builder.append(Op("assert", (truth(test), *shown.values()), (), {"text": text + "\n"}, (), loc))  # type: ignore[arg-type]


@operation("assert_")
def _assert(frame: Frame, node: ast.Call, arguments: Arguments, hint: str) -> None:
    condition, at = arguments["condition"]
    check(frame, condition, at, arguments["msg"][0], node)
