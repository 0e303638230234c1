"""The NPU toolchain with a fake `bisheng` that records what it is asked to do. No NPU run is made or claimed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pyto.build import Cache, build_program, build_sources
from pyto.build.program import Generated
from pyto.errors import BuildError

FAKE = """#!/bin/sh
if [ "$1" = --version ]; then echo "bisheng fake 1.0"; exit 0; fi
printf '%s\\n' "$@" > "$RECORD"
out=
while [ $# -gt 0 ]; do
    case "$1" in
        -o) out="$2"; shift;;
        *.asc) cat "$1" > "$RECORD.unit"; ls > "$RECORD.files";;
    esac
    shift
done
if [ -n "$FAIL" ]; then echo "mini.cpp:3:1: error: no such intrinsic" >&2; exit 1; fi
echo library > "$out"
"""


@pytest.fixture
def cann(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A CANN folder whose compiler writes its arguments, one a line, to RECORD."""
    home = tmp_path / "cann"
    for folder in ("bin", "include", "lib64"):
        (home / folder).mkdir(parents=True)
    (home / "bin" / "bisheng").write_text(FAKE)
    (home / "bin" / "bisheng").chmod(0o755)
    monkeypatch.setenv("ASCEND_HOME_PATH", str(home))
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("RECORD", str(tmp_path / "record"))
    monkeypatch.delenv("FAIL", raising=False)
    return home


def test_command_line(cann: Path, cache: Cache, tmp_path: Path, sources: dict[str, str]) -> None:
    library = build_sources("mini", sources, "bisheng", "ascend910b3", cache=cache)
    assert library.read_text() == "library\n"
    arguments = (tmp_path / "record").read_text().splitlines()
    include = next(arg for arg in arguments if arg.endswith("build/cann"))
    assert (Path(include.removeprefix("-I")) / "pyto_launch.h").is_file()
    assert arguments == [
        "-x", "asc", "--npu-arch=dav-2201", "-std=c++17", "-O3", "-fPIC", "-shared", "--cce-auto-sync=off",
        "-DPYTO_CHIP_CUBE_CORES=20", "-DPYTO_CHIP_VECTOR_CORES=40", "-I.", include, "mini.cann.asc", "-o", "mini.so",
        f"-I{cann}/include", f"-L{cann}/lib64", "-lascendcl",
    ]  # fmt: skip
    assert (tmp_path / "record.unit").read_text() == '#include "mini.cpp"\n#include "mini_host.cpp"\n'
    assert set((tmp_path / "record.files").read_text().split()) >= {"mini.cpp", "mini_host.cpp", "mini.cann.asc"}


def test_same_sources_as_the_cpu_build_and_cached(
    cann: Path, cache: Cache, tmp_path: Path, sources: dict[str, str]
) -> None:
    first = build_sources("mini", sources, "auto", cache=cache)
    (tmp_path / "record").unlink()
    assert build_sources("mini", sources, "auto", cache=cache) == first
    assert not (tmp_path / "record").exists()
    edited = {**sources, "mini.cpp": sources["mini.cpp"] + "\n"}
    assert build_sources("mini", edited, "auto", cache=cache) != first


def test_failure(cann: Path, cache: Cache, sources: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL", "1")
    with pytest.raises(BuildError, match="no such intrinsic"):
        build_sources("mini", sources, "bisheng", cache=cache)


def test_bisheng_without_cann_home(
    cann: Path, cache: Cache, sources: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyto.build import compilers

    monkeypatch.setattr(compilers, "_cann_homes", list)
    with pytest.raises(BuildError, match="CANN's folder") as error:
        build_sources("mini", sources, "bisheng", cache=cache)
    assert "set_env.sh" in (error.value.remedy or "")


def test_build_script(cann: Path, cache: Cache, tmp_path: Path, sources: dict[str, str]) -> None:
    """The script in an artefact folder runs the same command with nothing but what lies beside it."""
    program = Generated("mini", sources, manifest={"name": "mini", "params": [], "dims": [], "workspace": "0"})
    build_program(program, "bisheng", "b2", tmp_path / "out", cache=cache)
    built = (tmp_path / "record").read_text().splitlines()
    (tmp_path / "out" / "mini.so").unlink()
    done = subprocess.run(["bash", "out/build_cann.sh"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "mini.so").exists()
    scripted = (tmp_path / "record").read_text().splitlines()
    assert [arg for arg in scripted if arg != "-Icann"] == [arg for arg in built if not arg.endswith("build/cann")]
    env = {name: value for name, value in os.environ.items() if name != "ASCEND_HOME_PATH"}
    missing = subprocess.run(["bash", "out/build_cann.sh"], cwd=tmp_path, capture_output=True, text=True, env=env)
    assert missing.returncode != 0 and "set_env.sh" in missing.stderr
    nothing = subprocess.run(
        ["bash", "out/build_cann.sh"], cwd=tmp_path, capture_output=True, text=True, env={**env, "BISHENG": "absent"}
    )
    assert nothing.returncode == 3 and "bisheng not found" in nothing.stderr
