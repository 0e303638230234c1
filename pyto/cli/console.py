"""Output of the commands: results on stdout, everything else on stderr; readable without colour."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyto.errors import InternalError, PytoError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def stdout() -> Console:
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, markup=False)


def stderr() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True, markup=False)


def show_error(error: PytoError) -> None:
    """Print an error to stderr, its first word in red and its remedy in green where there is colour."""
    from rich.text import Text

    text = Text()
    for i, line in enumerate(error.render().split("\n")):
        if i:
            text.append("\n")
        stripped = line.lstrip()
        if i == 0:
            head, mark, rest = line.partition(f"{error.kind}[{error.id}]:")
            text.append(head, style="bold")
            text.append(mark, style="bold red" if isinstance(error, InternalError) else "red")
            text.append(rest, style="bold")
        elif stripped.startswith("help:"):
            text.append(line, style="green")
        elif stripped.startswith("| ") and set(stripped[2:].strip()) == {"^"}:
            text.append(line, style="red")
        else:
            text.append(line)
    stderr().print(text)


def emit_json(value: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def table(columns: list[str], rows: list[list[str]], right: tuple[int, ...] = ()) -> Table:
    """A plain table; columns in `right` are right-aligned."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD if rows else None, pad_edge=False, show_edge=False)
    for i, name in enumerate(columns):
        made.add_column(name, justify="right" if i in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


@contextmanager
def progress(first: str) -> Iterator[Callable[[str], None]]:
    """A spinner on stderr that tells what goes on; silent if stderr is no terminal. Yields how to tell it."""
    from pyto.build.progress import listen

    console = stderr()
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status(first) as status, listen(lambda text: status.update(text)):
        yield lambda text: status.update(text)
