"""Building for the CPU, with the mini simulator: what is compiled, what is cached, what is said when it fails."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pyto.build import Cache, Simulator, build_program, build_sources, load_simulator
from pyto.build.program import Generated
from pyto.build.progress import listen
from pyto.errors import BuildError, UsageError


def call(library: Path, x: np.ndarray, y: np.ndarray) -> int:
    entry = ctypes.CDLL(str(library)).pyto_mini
    tensors = (ctypes.c_void_p * 2)(x.ctypes.data, y.ctypes.data)
    return int(entry(tensors, (ctypes.c_int64 * 1)(len(x)), None, None, None))


def steps(build: object) -> list[str]:
    said: list[str] = []
    with listen(said.append):
        build()  # type: ignore[operator]
    return said


def test_both_core_kinds_keep_their_own_functions(mini: Simulator, cache: Cache, sources: dict[str, str]) -> None:
    library = build_sources("mini", sources, simulator=mini, cache=cache)
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    assert call(library, x, y) == 0
    np.testing.assert_array_equal(y, 2 * (33 + 2 * x + 1))


def test_second_build_is_found_and_an_edit_rebuilds_its_objects_only(
    mini: Simulator, cache: Cache, sources: dict[str, str]
) -> None:
    first = steps(lambda: build_sources("mini", sources, simulator=mini, cache=cache))
    assert any("simulator" in step for step in first) and any("mini_host.cpp" in step for step in first)
    assert steps(lambda: build_sources("mini", sources, simulator=mini, cache=cache)) == []
    edited = {**sources, "mini.cpp": sources["mini.cpp"].replace("* 10", "* 100")}
    assert sorted(steps(lambda: build_sources("mini", edited, simulator=mini, cache=cache))) == [
        "compile mini.cpp for cube cores",
        "compile mini.cpp for vector cores",
        "link mini",
    ]
    host = {**sources, "mini_host.cpp": sources["mini_host.cpp"] + "\n"}
    assert sorted(steps(lambda: build_sources("mini", host, simulator=mini, cache=cache))) == [
        "compile mini_host.cpp",
        "link mini",
    ]


def test_two_kernel_files_and_a_local_header(mini: Simulator, cache: Cache, sources: dict[str, str]) -> None:
    header = '#pragma once\n#include "kernel_operator.h"\n#include <cmath>\n'
    header += "inline float scale() { return std::sqrt(16.f); }\n"
    other = (
        '#include "scale.h"\nextern "C" __global__ __aicore__ void quadruple(__gm__ float* x, uint32_t n)\n'
        "{ KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY); for (uint32_t i = 0; i < n; i++) x[i] *= scale(); }\n"
    )
    host = sources["mini_host.cpp"].replace("twice", "quadruple")
    program = {**sources, "scale.h": header, "other.cpp": other, "mini_host.cpp": host}
    library = build_sources("mini", program, simulator=mini, cache=cache)
    x, y = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    assert call(library, x, y) == 0
    np.testing.assert_array_equal(y, 4 * (33 + 2 * x))
    changed = {**program, "scale.h": header.replace("16.f", "25.f")}
    assert any(
        "other.cpp" in step for step in steps(lambda: build_sources("mini", changed, simulator=mini, cache=cache))
    )


def test_source_that_reopens_namespace_ascendc(mini: Simulator, cache: Cache, sources: dict[str, str]) -> None:
    text = sources["mini.cpp"].replace("struct Body {", "namespace AscendC {\nstruct Body {")
    text = text.replace("kind() * 10; }\n};", "kind() * 10 + 0 * GetBlockIdx(); }\n};\n}")
    text = text.replace("Body()", "AscendC::Body()").replace("= GetBlockIdx()", "= AscendC::GetBlockIdx()")
    library = build_sources("mini", {**sources, "mini.cpp": text}, simulator=mini, cache=cache)
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    assert call(library, x, y) == 0
    np.testing.assert_array_equal(y, 2 * (33 + 2 * x))


def test_key_has_no_path(mini: Simulator, tmp_path: Path, sources: dict[str, str]) -> None:
    import shutil

    shutil.copytree(mini.root, tmp_path / "elsewhere")
    moved = load_simulator(tmp_path / "elsewhere")
    os.utime(moved.root / "include" / "kernel_operator.h", (1, 1))
    first = build_sources("mini", sources, simulator=mini, cache=Cache(tmp_path / "a"))
    second = build_sources("mini", sources, simulator=moved, cache=Cache(tmp_path / "b"))
    assert first.relative_to(tmp_path / "a") == second.relative_to(tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    assert str(tmp_path).encode() not in first.read_bytes()


def test_everything_that_matters_is_in_the_key(
    mini: Simulator, tmp_path: Path, cache: Cache, sources: dict[str, str]
) -> None:
    import shutil

    built = [build_sources("mini", sources, simulator=mini, cache=cache)]
    built.append(build_sources("mini", sources, chip="b3", simulator=mini, cache=cache))
    built.append(build_sources("mini", sources, extra_flags=("-DX=1",), simulator=mini, cache=cache))
    shutil.copytree(mini.root, tmp_path / "other")
    with (tmp_path / "other" / "src" / "mini.cpp").open("a") as file:
        file.write("// edited\n")
    built.append(build_sources("mini", sources, simulator=load_simulator(tmp_path / "other"), cache=cache))
    assert len(set(built)) == len(built)


@pytest.mark.parametrize("kind", ["program", "object", "simulator", "header"])
def test_damaged_entries_are_rebuilt(mini: Simulator, cache: Cache, sources: dict[str, str], kind: str) -> None:
    library = build_sources("mini", sources, simulator=mini, cache=cache)
    entries = list((cache.root / kind).iterdir())
    assert entries
    for entry in entries:
        for file in entry.iterdir():
            if file.name != "entry.json":
                file.write_bytes(file.read_bytes()[:-64] + bytes(64) if file.stat().st_size > 64 else b"junk")
    text = sources["mini.cpp"] + ("" if kind == "program" else "// edit\n")
    library = build_sources("mini", {**sources, "mini.cpp": text}, simulator=mini, cache=cache)
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    assert call(library, x, y) == 0
    np.testing.assert_array_equal(y, 2 * (33 + 2 * x))


def test_two_processes_build_at_once(mini: Simulator, tmp_path: Path, sources: dict[str, str]) -> None:
    code = f"""
from pathlib import Path
from pyto.build import build_sources, load_simulator
print(build_sources("mini", {sources!r}, simulator=load_simulator(Path({str(mini.root)!r}))))
"""
    env = {**os.environ, "PYTO_CACHE_DIR": str(tmp_path / "cache")}
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=env) for _ in range(2)
    ]
    paths = {process.communicate()[0].strip() for process in running}
    assert all(process.returncode == 0 for process in running) and len(paths) == 1
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    assert call(Path(paths.pop()), x, y) == 0 and y[1] == 70


def test_artefact_folder(mini: Simulator, cache: Cache, sources: dict[str, str], tmp_path: Path) -> None:
    manifest = {"name": "mini", "params": [], "dims": [], "workspace": "0"}
    program = Generated("mini", sources, manifest=manifest)
    library = build_program(program, "cxx", "b2", tmp_path / "out", simulator=mini, cache=cache)
    assert library == tmp_path / "out" / "mini.so"
    names = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*"))
    assert names == [
        "build_cann.sh", "cann", "cann/pyto_launch.h", "mini.cann.asc", "mini.cpp", "mini.json", "mini.so",
        "mini_host.cpp",
    ]  # fmt: skip
    import json

    written = json.loads((tmp_path / "out" / "mini.json").read_text())
    assert written["kernels"] == [
        {"name": "both", "type": "KERNEL_TYPE_MIX_AIC_1_2"},
        {"name": "twice", "type": "KERNEL_TYPE_AIV_ONLY"},
    ]
    assert written["chip"] == "ascend910b2" and len(written["source_hash"]) == 64
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    assert call(library, x, y) == 0 and y[1] == 70


def test_compiler_error_names_file_command_and_log(mini: Simulator, cache: Cache, sources: dict[str, str]) -> None:
    broken = {**sources, "mini.cpp": sources["mini.cpp"].replace("kind() * 10", "nonsense * 10")}
    with pytest.raises(BuildError) as error:
        build_sources("mini", broken, simulator=mini, cache=cache)
    text = str(error.value)
    assert error.value.id == "build.compiler-failed"
    assert "mini.cpp" in text and "nonsense" in text and "command:" in text
    line = next(i for i, line in enumerate(broken["mini.cpp"].splitlines(), 1) if "nonsense" in line)
    assert f"mini.cpp:{line}:" in text
    log = Path(text.split("all of it: ")[1].splitlines()[0])
    assert "nonsense" in log.read_text() and log.is_relative_to(cache.root)


def test_link_error(mini: Simulator, cache: Cache, sources: dict[str, str]) -> None:
    broken = {**sources, "mini_host.cpp": sources["mini_host.cpp"].replace("twice", "thrice")}
    with pytest.raises(BuildError, match="thrice"):
        build_sources("mini", broken, simulator=mini, cache=cache)


def test_unwritable_cache(
    mini: Simulator, tmp_path: Path, sources: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PYTO_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(BuildError, match=r"build cache .* cannot be written"):
        build_sources("mini", sources, simulator=mini)


def test_kernel_name_twice(mini: Simulator, cache: Cache, sources: dict[str, str]) -> None:
    with pytest.raises(BuildError, match=r"kernel both is defined in a\.cpp and in mini\.cpp"):
        build_sources("mini", {**sources, "a.cpp": sources["mini.cpp"]}, simulator=mini, cache=cache)


@pytest.mark.parametrize("name,files", [("2x", {}), ("x", {"a/b.cpp": ""}), ("x", {"b.py": ""})])
def test_names(mini: Simulator, cache: Cache, name: str, files: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        build_sources(name, files, simulator=mini, cache=cache)


def test_programs_loaded_together_do_not_share_state(mini: Simulator, cache: Cache, sources: dict[str, str]) -> None:
    first = build_sources("mini", sources, simulator=mini, cache=cache)
    changed = {**sources, "mini.cpp": sources["mini.cpp"].replace("return 2;", "return 3;")}
    second = build_sources("mini", changed, simulator=mini, cache=cache)
    x = np.zeros(1, np.float32)
    results = []
    for library in (first, second, first):
        y = np.zeros(1, np.float32)
        call(library, x, y)
        results.append(float(y[0]))
    assert results == [66.0, 88.0, 66.0]


def test_simulator_edited_after_it_was_read(
    mini: Simulator, tmp_path: Path, cache: Cache, sources: dict[str, str]
) -> None:
    """Keys and objects come from the same bytes, even if the files on disk change in between."""
    import shutil

    shutil.copytree(mini.root, tmp_path / "sim")
    read = load_simulator(tmp_path / "sim")
    (tmp_path / "sim" / "include" / "kernel_operator.h").write_text("#error edited\n")
    (tmp_path / "sim" / "src" / "mini.cpp").write_text("#error edited\n")
    build_sources("mini", sources, simulator=read, cache=cache)
    with pytest.raises(BuildError, match="edited"):
        build_sources("mini", sources, simulator=load_simulator(tmp_path / "sim"), cache=cache)


def test_clang_that_crashes_gets_a_second_chance(
    mini: Simulator, cache: Cache, sources: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "clang++"
    fake.write_text(
        '#!/bin/bash\ncase "$1" in --version) echo "clang version 22.1.8"; exit;; -dumpmachine) echo x86; exit;; esac\n'
        'for a in "$@"; do [ "$a" = -fno-unroll-loops ] && safe=1; [ "${a##*/}" = mini.cpp ] && mini=1; done\n'
        'if [ -n "$mini" ] && [ -z "$safe" ]; then echo "error: clang frontend command failed" >&2; exit 139; fi\n'
        'args=(); for a in "$@"; do [ "$a" = -fno-unroll-loops ] || args+=("$a"); done\n'
        'while [ "${args[*]#-include-pch}" != "${args[*]}" ]; do for i in "${!args[@]}"; do\n'
        'if [ "${args[$i]}" = -include-pch ]; then unset "args[$i]" "args[$((i + 1))]"; fi; done; done\n'
        'exec g++ "${args[@]}"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("CXX", str(fake))
    library = build_sources("mini", sources, simulator=mini, cache=cache)
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    assert call(library, x, y) == 0 and y[1] == 70
