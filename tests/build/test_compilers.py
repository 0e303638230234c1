"""Finding compilers: what is taken, what is refused, and what is said when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyto.build import compilers, pick_toolchain
from pyto.errors import BuildError, UsageError


def fake(folder: Path, name: str, version: str, machine: str = "x86_64-linux-gnu") -> Path:
    path = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'#!/bin/sh\ncase "$1" in\n--version) echo "{version}";;\n-dumpmachine) echo {machine};;\n*) exit 1;;\nesac\n'
    )
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "version,family,number",
    [
        ("g++ (Debian 12.2.0-14) 12.2.0", "gcc", (12, 2, 0)),
        ("c++ (GCC) 9.4.0\nCopyright (C) 2019 Free Software Foundation, Inc.", "gcc", (9, 4, 0)),
        ("Ubuntu clang version 14.0.0-1ubuntu1.1", "clang", (14, 0, 0)),
        ("Apple clang version 15.0.0 (clang-1500.3.9.4)", "apple-clang", (15, 0, 0)),
    ],
)
def test_versions(tmp_path: Path, version: str, family: str, number: tuple[int, ...]) -> None:
    found = compilers.probe((str(fake(tmp_path, "c++", version)),), "")
    assert isinstance(found, compilers.Compiler)
    assert (found.family, found.version) == (family, number)
    assert str(tmp_path) not in found.identity


@pytest.mark.parametrize(
    "version,why",
    [
        ("g++ (GCC) 7.5.0", "too old"),
        ("clang version 9.0.1", "too old"),
        ("tcc version 0.9.27", "neither GCC nor clang"),
    ],
)
def test_refused(tmp_path: Path, version: str, why: str) -> None:
    found = compilers.probe((str(fake(tmp_path, "c++", version)),), "")
    assert isinstance(found, str) and why in found


def test_cxx_comes_first_and_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", str(fake(tmp_path, "mine", "clang version 17.0.1")))
    assert compilers.find_cxx().version == (17, 0, 1)
    monkeypatch.setenv("CXX", str(tmp_path / "absent"))
    with pytest.raises(BuildError, match="CXX is set"):
        compilers.find_cxx()


def test_none_found_names_the_ways_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compilers.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BuildError) as error:
        compilers.find_cxx()
    assert error.value.id == "build.no-compiler"
    monkeypatch.setattr(compilers.sys, "platform", "linux")
    assert "apt-get install g++" in compilers.install_help() and "ziglang" in compilers.install_help()
    monkeypatch.setattr(compilers.sys, "platform", "darwin")
    assert "xcode-select --install" in compilers.install_help()


def test_ziglang_is_the_last_resort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(compilers.importlib.util, "find_spec", lambda name: object())
    assert compilers.candidates()[-1][1:] == ("-m", "ziglang", "c++")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert len(compilers.candidates()) == 1


def no_cann(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setattr(compilers, "_cann_homes", list)


def test_toolchains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_cann(monkeypatch, tmp_path)
    assert pick_toolchain("auto") == "cxx"
    with pytest.raises(BuildError, match="bisheng"):
        pick_toolchain("bisheng")
    with pytest.raises(UsageError):
        pick_toolchain("msvc")
    fake(tmp_path, "bisheng", "bisheng 8.3")
    assert pick_toolchain("auto") == "bisheng"


def test_bisheng_under_ascend_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
    fake(tmp_path / "compiler" / "ccec_compiler" / "bin", "bisheng", "bisheng version 8.3")
    found = compilers.find_bisheng()
    assert found is not None and found.home == tmp_path and found.command.endswith("ccec_compiler/bin/bisheng")


@pytest.mark.parametrize("named", ["/bin/true", '"', "   /bin/echo", "true --flag"])
def test_cxx_that_is_no_compiler(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", named)
    with pytest.raises(BuildError) as error:
        compilers.find_cxx()
    assert error.value.id == "build.no-compiler"
    assert "neither GCC" in str(error.value) or "not found" in str(error.value)


def test_compiler_that_writes_nothing(tmp_path: Path) -> None:
    """A program that ends well and leaves no object is a failed build, not a library that does not load."""
    from pyto.build.cache import Cache
    from pyto.build.run import run

    with pytest.raises(BuildError, match=r"wrote no unit\.o") as error:
        run(["/bin/true", "-o", "unit.o"], tmp_path, "x.cpp", Cache(tmp_path), "key", "fix it")
    assert error.value.id == "build.compiler-failed"


@pytest.mark.parametrize("text", ["many", "0", "-2", "1.5", "²"])
def test_jobs_that_are_no_number(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyto.build.run import jobs

    monkeypatch.setenv("PYTO_JOBS", text)
    with pytest.raises(UsageError, match="PYTO_JOBS"):
        jobs()
    monkeypatch.setenv("PYTO_JOBS", "3")
    assert jobs() == 3
