"""The cache: keys, damage, concurrency, folders that cannot be written."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from pyto.build import Cache
from pyto.build.cache import hash_key
from pyto.errors import BuildError


def write_a(folder: Path) -> None:
    (folder / "a").write_text("content")


def test_key_depends_on_content_and_structure() -> None:
    keys = [
        hash_key("a", "b"), hash_key("ab"), hash_key(["a", "b"]), hash_key(["a"], "b"), hash_key({"a": "b"}),
        hash_key({"a": "c"}), hash_key(["a", ["b"]]), hash_key(b"a", 1), hash_key(),
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)
    assert hash_key({"x": 1, "y": 2}) == hash_key({"y": 2, "x": 1})


def test_built_once(cache: Cache) -> None:
    calls = []

    def build(folder: Path) -> None:
        calls.append(folder)
        write_a(folder)

    first = cache.get("object", "k", build)
    assert cache.get("object", "k", build) == first
    assert len(calls) == 1 and (first / "a").read_text() == "content"
    assert not any((cache.root / "tmp").iterdir())


@pytest.mark.parametrize("damage", ["change", "truncate", "delete", "index", "no-index"])
def test_damaged_entry_is_rebuilt(cache: Cache, damage: str) -> None:
    folder = cache.get("object", "k", write_a)
    if damage == "change":
        (folder / "a").write_text("c0ntent")
    elif damage == "truncate":
        (folder / "a").write_text("")
    elif damage == "delete":
        (folder / "a").unlink()
    elif damage == "index":
        (folder / "entry.json").write_text("{")
    else:
        (folder / "entry.json").unlink()
    assert cache.lookup("object", "k") is None
    again = cache.get("object", "k", write_a)
    assert (again / "a").read_text() == "content"


def test_failed_build_leaves_nothing(cache: Cache) -> None:
    def build(folder: Path) -> None:
        write_a(folder)
        raise BuildError("x", "no")

    with pytest.raises(BuildError):
        cache.get("object", "k", build)
    assert cache.lookup("object", "k") is None
    assert not any((cache.root / "tmp").iterdir())


def test_threads_build_once(cache: Cache) -> None:
    calls: list[Path] = []

    def build(folder: Path) -> None:
        calls.append(folder)
        write_a(folder)

    threads = [threading.Thread(target=cache.get, args=("object", "k", build)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1


def test_two_processes_build_once(cache: Cache, tmp_path: Path) -> None:
    code = f"""
import sys, time
from pathlib import Path
from typing import Any
from pyto.build import Cache
def build(folder):
    time.sleep(0.3)
    (folder / "a").write_text("content")
    open({str(tmp_path / "calls")!r}, "a").write("x")
print((Cache(Path({str(cache.root.parent)!r})).get("object", "k", build) / "a").read_text())
"""
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in running] == ["content", "content"]
    assert (tmp_path / "calls").read_text() == "x"


def test_unwritable_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    broken = Cache(tmp_path / "file" / "cache")
    with pytest.raises(BuildError, match="cannot be written") as error:
        broken.get("object", "k", write_a)
    assert error.value.id == "build.cache" and "PYTO_CACHE_DIR" in (error.value.remedy or "")
    with pytest.raises(BuildError):
        broken.require_writable()


def test_a_cache_below_a_folder_that_cannot_be_written_is_no_fault_of_ours(tmp_path: Path, monkeypatch: Any) -> None:
    """The folder does not exist yet, and cannot be made: mkdir names its parent."""

    def refuse(self: Path, *args: Any, **kwargs: Any) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    cache = Cache(tmp_path / "locked" / "pyto")
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(BuildError) as raised:
        cache.get("object", "0" * 40, lambda folder: None)
    assert raised.value.id == "build.cache" and "PYTO_CACHE_DIR" in (raised.value.remedy or "")
