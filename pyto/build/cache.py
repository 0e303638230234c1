"""The build cache: folders named by a hash of all that went into them, published by one rename.

    <cache>/v1/<kind>/<key>/   the files of an entry and `entry.json`: {file: sha256}
    <cache>/v1/locks, tmp, logs

A key is made of content only (sources, flags, compiler version, chip, pyto's version, CPU features): no path, no time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyto
from pyto.errors import BuildError

INDEX = "entry.json"


def cache_dir() -> Path:
    """PYTO_CACHE_DIR, or $XDG_CACHE_HOME/pyto, or ~/.cache/pyto (on macOS ~/Library/Caches/pyto)."""
    named = os.environ.get("PYTO_CACHE_DIR")
    if named:
        return Path(named).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "pyto"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "pyto"


def hash_key(*parts: object) -> str:
    """A key of 40 hex digits over `parts` (strings, numbers, bytes, lists, tuples, dicts), pyto's version included."""
    digest = hashlib.sha256(pyto.__version__.encode())
    stack: list[object] = list(reversed(parts))
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            digest.update(f"d{len(part)}".encode())
            for name in sorted(part, reverse=True):
                stack += [part[name], name]
        elif isinstance(part, (list, tuple)):
            digest.update(f"l{len(part)}".encode())
            stack += reversed(part)
        else:
            data = part if isinstance(part, bytes) else str(part).encode()
            digest.update(f"s{len(data)}:".encode() + data)
    return digest.hexdigest()[:40]


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


class Cache:
    """Entries on disk. Any number of processes and threads may use one folder at once."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or cache_dir()) / "v1"

    def path(self, kind: str, key: str) -> Path:
        return self.root / kind / key

    def lookup(self, kind: str, key: str, verify: bool = True) -> Path | None:
        """The folder of a sound entry, or None. A damaged entry is removed."""
        folder = self.path(kind, key)
        try:
            index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        except FileNotFoundError:
            if folder.exists():
                self._discard(folder)
            return None
        except (OSError, ValueError):
            self._discard(folder)
            return None
        try:
            sound = all(
                _sha256(folder / name) == digest if verify else (folder / name).exists()
                for name, digest in index.items()
            )
        except (OSError, AttributeError, TypeError):
            sound = False
        if not sound:
            self._discard(folder)
            return None
        return folder

    def get(self, kind: str, key: str, build: Callable[[Path], None]) -> Path:
        """The entry's folder; if there is none, `build(folder)` fills one. One builder an entry at a time."""
        found = self.lookup(kind, key)
        if found is not None:
            return found
        with self._writable(), self._lock(f"{kind}-{key}"):
            found = self.lookup(kind, key)
            if found is not None:
                return found
            work = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=self._folder("tmp")))
            try:
                build(work)
                return self._publish(work, kind, key)
            finally:
                shutil.rmtree(work, ignore_errors=True)

    def log(self, key: str, text: str) -> Path:
        """Keep the output of a failed step; returns where."""
        with contextlib.suppress(OSError):
            path = self._folder("logs") / f"{key}.log"
            path.write_text(text, encoding="utf-8")
            return path
        handle, name = tempfile.mkstemp(prefix="pyto-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        return Path(name)

    def require_writable(self) -> None:
        """Raise the error of an unwritable cache now rather than in the middle of a build."""
        with self._writable():
            handle, name = tempfile.mkstemp(dir=self._folder("tmp"))
            os.close(handle)
            Path(name).unlink()

    def size(self) -> int:
        """Bytes on disk."""
        total = 0
        for folder, _, files in os.walk(self.root):
            for name in files:
                with contextlib.suppress(OSError):
                    total += (Path(folder) / name).stat().st_size
        return total

    def _folder(self, name: str) -> Path:
        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _publish(self, work: Path, kind: str, key: str) -> Path:
        files = sorted(path for path in work.rglob("*") if path.is_file())
        index = {file.relative_to(work).as_posix(): _sha256(file) for file in files}
        (work / INDEX).write_text(json.dumps(index), encoding="utf-8")
        self._folder(kind)
        target = self.path(kind, key)
        for _ in range(5):
            try:
                work.rename(target)
                return target
            except OSError:
                # Someone else published it first (where locks do not work): theirs serves as well, if it is whole.
                found = self.lookup(kind, key)
                if found is not None:
                    return found
        raise OSError(f"cannot publish {target}")

    def _discard(self, folder: Path) -> None:
        with contextlib.suppress(OSError):
            trash = Path(tempfile.mkdtemp(prefix="trash-", dir=self._folder("tmp")))
            with contextlib.suppress(OSError):
                folder.rename(trash / "entry")
            shutil.rmtree(trash, ignore_errors=True)

    @contextlib.contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        import fcntl

        with (self._folder("locks") / name).open("w") as file:
            with contextlib.suppress(OSError):  # a file system without locks: two builders do the same work, no more
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextlib.contextmanager
    def _writable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # mkdir names the first folder that it could not make, which may lie above the cache.
            place = None if error.filename is None else Path(error.filename)
            if place is not None and not place.is_relative_to(self.root) and place not in self.root.parents:
                raise
            raise BuildError(
                "build.cache",
                f"the build cache {self.root.parent} cannot be written: {error.strerror or error}",
                remedy="set PYTO_CACHE_DIR to a folder that you may write and that has room",
            ) from error
