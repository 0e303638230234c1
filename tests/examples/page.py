"""Writes the pages of the examples, `docs/examples.md` and `docs/examples/*.md`: `python -m tests.examples.page`."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
HARNESS = "harness"
NAMES = sorted(p.stem for p in (ROOT / "examples").glob("*.py") if p.stem != HARNESS)
HEAD = """\
# Examples

Whole kernels, each with its numpy reference, in [`examples/`](../examples). Run by itself, `python examples/NAME.py`
compiles a kernel, runs it for several shapes and prints the error. [public_examples.md](public_examples.md) tells how
the public examples of the `pl` language fare.

Made from the files: `python -m tests.examples.page`.

| kernel | what it is |
| --- | --- |
"""


def page(name: str) -> str:
    """The page of one example: what its docstring says, and its source."""
    text = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    docstring = ast.parse(text).body[0]
    assert docstring.end_lineno is not None
    title, _, said = (ast.get_docstring(ast.parse(text)) or "").partition("\n")
    source = "\n".join(text.splitlines()[docstring.end_lineno :]).strip()
    return f"# {title.rstrip('.')}\n{said}\n\n`python examples/{name}.py`:\n\n```python\n{source}\n```\n"


def index() -> str:
    """The page that lists them."""
    rows = []
    for name in NAMES:
        text = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
        rows.append(
            f"| [{name}](examples/{name}.md) | {(ast.get_docstring(ast.parse(text)) or '').splitlines()[0]} |\n"
        )
    return HEAD + "".join(rows)


def pages() -> dict[Path, str]:
    docs = ROOT / "docs"
    return {docs / "examples.md": index(), **{docs / "examples" / f"{name}.md": page(name) for name in NAMES}}


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
