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


ACL = """\
#pragma once
#include <cstdint>
typedef int aclError;
#define ACL_SUCCESS 0
typedef enum { ACL_RT_THREAD_LEVEL } aclrtLastErrLevel;
typedef enum { ACL_DEV_ATTR_AICORE_CORE_NUM = 101, ACL_DEV_ATTR_VECTOR_CORE_NUM = 201 } aclrtDevAttr;
inline int launch_error = 0;
inline aclError aclrtGetLastError(aclrtLastErrLevel) { return launch_error; }
inline aclError aclrtGetDevice(int32_t* id) { *id = 0; return 0; }
inline aclError aclrtGetDeviceInfo(uint32_t, aclrtDevAttr a, int64_t* v) { *v = a == 201 ? 40 : 0; return 0; }
inline const char* aclGetRecentErrMsg() { return "stub message"; }
template <class F, class... A>
void stub_launch(F kernel, uint32_t blocks, void*, void*, A... args)
{
    if (blocks == 13) { launch_error = 507000; return; }
    kernel(args...);
}
"""

CORES = """
extern "C" int pyto_cores(void* const* t, const int64_t*, const void*, void*, void*)
{
    static_cast<int64_t*>(t[0])[0] = PYTO_CUBE_CORES();
    static_cast<int64_t*>(t[0])[1] = PYTO_VECTOR_CORES();
    return 0;
}
"""


def test_launch_header_is_sound_cpp(tmp_path: Path, sources: dict[str, str]) -> None:
    """cann/pyto_launch.h and a launcher, with stand-ins for acl.h and `<<<>>>`, compile as C++ and do what they say."""
    import ctypes
    import re

    import numpy as np

    from pyto.build import find_cxx
    from pyto.build.bisheng import CANN, unit

    (tmp_path / "acl").mkdir()
    (tmp_path / "acl" / "acl.h").write_text(ACL)
    (tmp_path / "kernel_operator.h").write_text(
        "#pragma once\n#include <cstdint>\n#define __global__\n#define __aicore__\n#define __vector__\n#define __gm__\n"
        "#define GM_ADDR __gm__ uint8_t*\n"
    )
    kernel = '#include "kernel_operator.h"\n__global__ __vector__ void add(GM_ADDR x, GM_ADDR y, int64_t n)\n'
    kernel += "{ for (int64_t i = 0; i < n; i++) ((float*)y)[i] += ((float*)x)[i]; }\n"
    host = sources["mini_host.cpp"].replace("both", "add").replace("pyto_mini", "pyto_add")
    host = re.sub(r".*twice.*\n", "", host) + CORES
    texts = {"add.cpp": kernel, "add_host.cpp": host}
    for name, text in {**texts, "add.cann.asc": unit(texts)}.items():
        (tmp_path / name).write_text(text)
    cxx = [*find_cxx().command, "-std=c++17", "-x", "c++", "-DPYTO_CHIP_CUBE_CORES=24", "-DPYTO_CHIP_VECTOR_CORES=48"]
    expanded = subprocess.run(
        [*cxx, "-E", "-I.", f"-I{CANN}", "add.cann.asc"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert "<<<" in expanded
    plain = re.sub(r"(\w+)\s*<<<(.*?)>>>\s*\(", r"stub_launch(\1, \2, ", expanded, flags=re.S)
    (tmp_path / "add.ii.cpp").write_text(plain)
    flags = ["-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    subprocess.run([*cxx, *flags, "add.ii.cpp", "-o", "add.so"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "add.so"))
    x, y, cores = np.ones(13, np.float32), np.ones(13, np.float32), np.zeros(2, np.int64)
    tensors = (ctypes.c_void_p * 2)(x.ctypes.data, y.ctypes.data)
    assert library.pyto_add(tensors, (ctypes.c_int64 * 1)(5), None, None, None) == 0
    assert list(y) == [2.0] * 5 + [1.0] * 8
    assert library.pyto_add(tensors, (ctypes.c_int64 * 1)(0), None, None, None) == 0
    assert library.pyto_cores((ctypes.c_void_p * 1)(cores.ctypes.data), None, None, None, None) == 0
    assert list(cores) == [24, 40], "the device's vector cores; the chip's cube cores, which the stand-in does not tell"
    assert library.pyto_add(tensors, (ctypes.c_int64 * 1)(13), None, None, None) == 507000
    library.pyto_last_error.restype = ctypes.c_char_p
    assert library.pyto_last_error() == b"stub message"
