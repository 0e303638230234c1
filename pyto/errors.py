"""The errors that pyto raises. Every `PytoError` but `InternalError` is the user's: what, where, what to do."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Protocol, runtime_checkable


@runtime_checkable
class Location(Protocol):
    """A place in a source file: lines count from 1, columns from 0, `end_col` is exclusive (0: unknown)."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def col(self) -> int: ...
    @property
    def end_col(self) -> int: ...


def source_line(file: str, line: int) -> str | None:
    """Line `line` (from 1) of `file` without its newline; None if it cannot be read."""
    text = linecache.getline(file, line)
    if not text and line > 0:
        try:
            text = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()[line - 1]
        except (OSError, IndexError):
            return None
    return text.rstrip("\r\n") if text else None


def excerpt(loc: Location) -> str:
    """The source line of `loc` with carets under its columns, or "" if the source is not at hand."""
    text = source_line(loc.file, loc.line)
    if text is None:
        return ""
    col = max(0, min(loc.col, len(text)))
    end = loc.end_col if loc.end_col > col else col + 1
    width = max(1, min(end, max(len(text), col + 1)) - col)
    pad = "".join("\t" if c == "\t" else " " for c in text[:col])
    gutter = f"{loc.line:>5} | "
    return f"{gutter}{text}\n{' ' * (len(gutter) - 2)}| {pad}{'^' * width}"


class PytoError(Exception):
    """What went wrong (`message`), where (`loc`), what to do about it (`remedy`), and a stable `id` to search for."""

    #: `pyto` exits with this code (see `pyto --help`).
    exit_code = 1
    kind = "error"

    def __init__(
        self,
        id: str,
        message: str,
        loc: Location | None = None,
        *,
        remedy: str | None = None,
        details: str | None = None,
    ) -> None:
        self.id = id
        self.message = message
        self.loc = loc
        self.remedy = remedy
        self.details = details
        super().__init__(self.render())

    def render(self) -> str:
        """The whole message: `file:line:col: error[id]: what`, the line and caret, the details, the remedy."""
        head = f"{self.kind}[{self.id}]: {self.message}"
        parts = []
        if self.loc is not None:
            parts.append(f"{self.loc.file}:{self.loc.line}:{self.loc.col + 1}: {head}")
            shown = excerpt(self.loc)
            if shown:
                parts.append(shown)
        else:
            parts.append(head)
        if self.details:
            parts.append(self.details.rstrip())
        if self.remedy:
            parts.append("  help: " + self.remedy.replace("\n", "\n        "))
        return "\n".join(parts)

    def __str__(self) -> str:
        return self.render()

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.__dict__.copy()))


def _rebuild(cls: type[PytoError], state: dict[str, object]) -> PytoError:
    error = cls.__new__(cls)
    error.__dict__.update(state)
    Exception.__init__(error, error.render())
    return error


class CompileError(PytoError):
    """The kernel is not valid pyto."""


class UsageError(PytoError):
    """pyto was asked for something that is not there: a path, a name, an option."""

    exit_code = 2


class BuildError(PytoError):
    """No usable compiler, a compiler that failed, or a cache that cannot be written."""

    exit_code = 3


class LaunchError(PytoError):
    """Arguments that do not fit the kernel's signature, or a kernel that failed while it ran."""

    exit_code = 4


class InternalError(PytoError):
    """A fault of pyto itself."""

    exit_code = 70
    kind = "internal error"

    def __init__(
        self,
        message: str,
        loc: Location | None = None,
        *,
        id: str = "internal",
        details: str | None = None,
        log: str | None = None,
    ) -> None:
        self.log = log
        where = f" and {log}" if log else ""
        super().__init__(
            id,
            message,
            loc,
            details=details,
            remedy=f"this is a fault of pyto, not of your program: please report it with the command line{where}",
        )
