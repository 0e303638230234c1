"""From PATH[:NAME] on the command line to kernels."""

from __future__ import annotations

import difflib
import re
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyto.errors import CompileError, PytoError, UsageError


@dataclass(frozen=True)
class Place:
    """A place in a user's file, for errors."""

    file: str
    line: int
    col: int = 0
    end_col: int = 0


@dataclass(frozen=True)
class Found:
    """A kernel and the file it comes from."""

    name: str
    path: Path
    kernel: Any


def split_target(target: str) -> tuple[Path, str | None]:
    """(path, kernel name or None) of PATH[:NAME]; the path exists."""
    path, name = Path(target), None
    if not path.exists():
        match = re.fullmatch(r"(.*):([A-Za-z_]\w*)", target)
        if match:
            path, name = Path(match.group(1)), match.group(2)
    if not path.exists():
        raise UsageError("usage.path", f"no such file or folder: {path}", remedy="name a .py or .pto file, or a folder")
    return path, name


def files_of(path: Path) -> list[Path]:
    """The files to look for kernels in, in a fixed order: a Python or .pto file, or a folder's Python files."""
    if path.is_file():
        if path.suffix not in (".py", ".pto"):
            raise UsageError(
                "usage.path",
                f"{path} is neither a Python file nor IR (.pto)",
                remedy="name a .py or .pto file, or a folder of Python files",
            )
        return [path]
    files = [
        file
        for file in sorted(path.rglob("*.py"))
        if not any(part.startswith(".") or part == "__pycache__" for part in file.relative_to(path).parts)
    ]
    if not files:
        raise UsageError("usage.path", f"no Python file in {path}")
    return files


def kernels_in(file: Path) -> dict[str, Any]:
    """The kernels that a file defines. An exception of the file's own code becomes a CompileError at its line."""
    from pyto import compiler

    try:
        found: dict[str, Any] = compiler.find_kernels(file)
        return found
    except PytoError:
        raise
    except (Exception, SystemExit) as error:
        raise _as_user_error(file, error) from error


def _as_user_error(file: Path, error: BaseException) -> BaseException:
    """`error` as a CompileError if the user's code raised it, else itself."""
    if isinstance(error, (SyntaxError, ValueError)) and "null bytes" in str(error):
        return CompileError("load.syntax", "the file is not Python source: it holds null bytes", Place(str(file), 1))
    if isinstance(error, RecursionError) and "compilation" in str(error):
        return CompileError("load.syntax", "the file nests too deeply for Python", Place(str(file), 1))
    if isinstance(error, SyntaxError) and error.filename:
        place = Place(error.filename, error.lineno or 1, (error.offset or 1) - 1, (error.end_offset or 1) - 1)
        return CompileError("load.syntax", f"{error.msg}", place)
    inside = Path(__file__).resolve().parents[1]
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<frozen")]
    own = [frame for frame in frames if not Path(frame.filename).resolve().is_relative_to(inside)]
    last = frames[-1] if frames else None
    models = inside / "models"
    if not own and not (last and Path(last.filename).resolve().is_relative_to(models.resolve())):
        return error
    frame = next((f for f in reversed(own) if Path(f.filename).resolve() == file.resolve()), own[-1] if own else last)
    assert frame is not None
    columns = (getattr(frame, "colno", None) or 0, getattr(frame, "end_colno", None) or 0)
    same_line = getattr(frame, "end_lineno", frame.lineno) == frame.lineno
    place = Place(frame.filename, frame.lineno or 1, columns[0], columns[1] if same_line else 0)
    return CompileError(
        "load.exception",
        f"{file} raised {type(error).__name__} while it was imported: {error}",
        place,
        remedy="pyto imports the file to find its kernels: other code belongs under `if __name__ == '__main__':`",
    )


def find(target: str, single: bool = False) -> tuple[list[Found], list[PytoError]]:
    """(kernels of PATH[:NAME], errors of files of a folder). With `single`, exactly one kernel."""
    path, name = split_target(target)
    found: list[Found] = []
    errors: list[PytoError] = []
    for file in files_of(path):
        try:
            found += [Found(kernel, file, fn) for kernel, fn in kernels_in(file).items()]
        except PytoError as error:
            if path.is_file():
                raise
            errors.append(error)
    names = [item.name for item in found]
    if name is not None:
        chosen = [item for item in found if item.name == name]
        if not chosen:
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            known = f"kernels there: {', '.join(names)}" if names else "no function there has @pl.jit"
            raise UsageError("usage.kernel", f"no kernel {name} in {path}", remedy=hint + known)
        found = chosen
    if not found and not errors:
        raise UsageError(
            "usage.kernel",
            f"no kernel in {path}",
            remedy="a kernel is a function decorated with @pl.jit at module level",
        )
    if single and len(found) > 1:
        raise UsageError(
            "usage.kernel",
            f"{path} has {len(found)} kernels: {', '.join(names)}",
            remedy=f"name one: {path}:{names[0]}",
        )
    return found, errors
