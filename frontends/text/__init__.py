"""The text form of the IR (`.pto`) as a front end: `parse` reads back what `pyto.ir.printer` prints."""

from __future__ import annotations

from pathlib import Path

from pyto.errors import CompileError, UsageError
from pyto.frontends.text.build import build
from pyto.frontends.text.syntax import place, remember, syntax_tree
from pyto.ir.nodes import Program
from pyto.ir.verifier import VerifyError, verify


def parse(text: str, file: str = "<text>") -> Program:
    """The program that `text` says, checked by the verifier of its stage.

    Operations get the locations that the text carries (`@file.py:12:4-20`), else those of the text itself, in `file`.
    A file that a location names is looked for beside `file`. Raises CompileError, with a place in the text.
    """
    remember(text, file)
    try:
        tree = syntax_tree(text, file)
        program = build(tree, file)
        verify(program)
        located = any(t.type == "LOCATION" for t in tree.scan_values(lambda t: t is not None)) if "@" in text else False
        return build(tree, file, original=True) if located else program
    except VerifyError as error:
        first = tree.children[0]
        assert not hasattr(first, "children")
        raise CompileError(
            "pto.invalid", error.message, error.loc or place(first, file), remedy="docs/pto.md says what a stage allows"
        ) from error
    except RecursionError:
        raise CompileError("pto.too-deep", f"{file} nests too deeply", remedy="name parts of expressions") from None


def load(path: str | Path) -> Program:
    """The program of a `.pto` file. Raises UsageError if it cannot be read, CompileError as `parse` does."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError("usage.path", f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError("usage.path", f"{path} is not UTF-8 text", remedy="name a .pto file") from error
    return parse(text, str(path))


__all__ = ["load", "parse"]
