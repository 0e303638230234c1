"""What the commands print, write and return."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyto.errors import PytoError


@pytest.mark.parametrize("command", [(), ("compile",), ("run",), ("ir",), ("doctor",)])
def test_help_has_examples(pyto: Any, command: tuple[str, ...]) -> None:
    done = pyto(*command, "--help")
    assert done.code == 0 and "Usage: pyto" in done.out and "Examples:" in done.out
    assert f"pyto {' '.join(command)}".strip() in done.out


def test_exit_codes_are_documented(pyto: Any) -> None:
    text = pyto("--help").out
    import pyto.errors as errors

    for family in vars(errors).values():
        if isinstance(family, type) and issubclass(family, PytoError):
            assert f"  {family.exit_code} " in text


def test_version(pyto: Any) -> None:
    import pyto as package

    assert pyto("--version").out.strip() == f"pyto {package.__version__}"


def test_ir(pyto: Any, kernels: Path) -> None:
    listed = pyto("ir", f"{kernels}:double", "--list")
    assert listed.code == 0 and "parse" in listed.out and "ms" in listed.out
    first = pyto("ir", f"{kernels}:double", "--after", "parse")
    last = pyto("ir", f"{kernels}:double")
    assert first.code == last.code == 0
    assert first.out != last.out and "double" in first.out and "double" in last.out
    wrong = pyto("ir", f"{kernels}:double", "--after", "pars")
    assert wrong.code == 2 and "did you mean parse?" in wrong.err


def test_emit_ascendc_to_stdout_and_folder(pyto: Any, kernels: Path, tmp_path: Path) -> None:
    shown = pyto("compile", f"{kernels}:double", "--emit", "ascendc")
    assert shown.code == 0 and "// ==== double.cpp" in shown.out and "kernel_operator.h" in shown.out
    assert pyto("compile", f"{kernels}:double", "--emit", "ascendc").out == shown.out
    written = pyto("compile", str(kernels), "--emit", "ascendc", "-o", "out")
    assert written.code == 0 and "double" in written.out and "to_bf16" in written.out
    assert (tmp_path / "out" / "double" / "build_cann.sh").stat().st_mode & 0o100
    assert not list((tmp_path / "out").rglob("*.so"))


def test_emit_ir(pyto: Any, kernels: Path, tmp_path: Path) -> None:
    assert "double" in pyto("compile", f"{kernels}:double", "--emit", "ir").out
    assert pyto("compile", f"{kernels}:double", "--emit", "ir", "-o", "out").code == 0
    assert (tmp_path / "out" / "double" / "double.pto").read_text()


def test_compile_writes_what_runs(pyto: Any, kernels: Path, tmp_path: Path) -> None:
    done = pyto("compile", str(kernels), "-o", "out")
    assert done.code == 0, done.err
    assert "bisheng (CANN) not found: building for the CPU" in done.err
    assert [line.split()[0] for line in done.out.splitlines()[2:]] == ["double", "to_bf16"]
    library = tmp_path / "out" / "double" / "double.so"
    manifest = json.loads(library.with_suffix(".json").read_text())
    assert manifest["dims"] == ["B"] and manifest["chip"] == "ascend910b2"
    ran = pyto("run", str(library), "--dim", "B=3", "--seed", "1", "--save", "saved", "--json")
    assert ran.code == 0, ran.err
    summary = json.loads(ran.out)
    assert [p["shape"] for p in summary["parameters"]] == [[3, 64], [3, 64]] and summary["ms"]["median"] > 0
    expected = 2 * np.random.default_rng(1).standard_normal((3, 64), dtype=np.float32)
    np.testing.assert_array_equal(np.load(tmp_path / "saved" / "out.npy"), expected)


def test_compile_folder(pyto: Any, kernels: Path, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.py").write_text(kernels.read_text())
    (folder / "sub" / "b.py").write_text(kernels.read_text().replace("double", "twice").replace("to_bf16", "narrow"))
    (folder / "helper.py").write_text("X = 1\n")
    done = pyto("compile", str(folder), "-o", "out", "--emit", "ascendc")
    assert done.code == 0 and {path.name for path in (tmp_path / "out").iterdir()} == {
        "double", "to_bf16", "twice", "narrow",
    }  # fmt: skip
    (folder / "broken.py").write_text("import nothing_of_this_name\n")
    partly = pyto("compile", str(folder), "-o", "out2", "--emit", "ascendc")
    assert partly.code == 1 and "broken.py:1" in partly.err and "1 of 5 failed" in partly.err
    assert len(list((tmp_path / "out2").iterdir())) == 4


def test_run_with_files(pyto: Any, kernels: Path, tmp_path: Path) -> None:
    x = np.linspace(-1, 1, 5 * 64, dtype=np.float32).reshape(5, 64)
    np.save(tmp_path / "x.npy", x)
    done = pyto("run", f"{kernels}:to_bf16", "--input", "x=x.npy", "--save", "saved")
    assert done.code == 0, done.err
    assert "bfloat16" in done.out and "[5, 64]" in done.out and "ms (median of 5" in done.out
    saved = np.load(tmp_path / "saved" / "out.npy").view(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(saved, x.astype(ml_dtypes.bfloat16))


@pytest.mark.parametrize(
    "args,code,text",
    [
        (("nonsense",), 2, "no command 'nonsense'"),
        (("complie",), 2, "did you mean 'compile'?"),
        (("compile",), 2, "Missing argument"),
        (("compile", "absent.py"), 2, "no such file or folder: absent.py"),
        (("compile", "k.py:treble"), 2, "kernels there: double, to_bf16"),
        (("compile", "k.py:doubl"), 2, "did you mean double?"),
        (("compile", "k.py", "--chip", "ascend310"), 2, "unknown chip"),
        (("compile", "k.py", "--toolchain", "msvc"), 2, "msvc"),
        (("compile", "k.py", "--toolchain", "bisheng"), 3, "set_env.sh"),
        (("compile", "k.py", "-o", "k.py", "--emit", "ascendc"), 2, "cannot write to k.py"),
        (("run", "k.py"), 2, "name one: k.py:double"),
        (("run", "k.py:double", "--seed", "0"), 2, "add --dim B=16"),
        (("run", "k.py:double", "--dim", "B=2"), 2, "--seed 0"),
        (("run", "k.py:double", "--dim", "B=0", "--seed", "0"), 2, "from 1 to"),
        (("run", "k.py:double", "--dim", "B=²", "--seed", "0"), 2, "from 1 to"),
        (("run", "k.py:double", "--dim", f"B={10**30}", "--seed", "0"), 2, "from 1 to"),
        (("run", "k.py:double", "--dim", f"B={10**12}", "--seed", "0"), 2, "this machine has"),
        (("run", "k.py:double", "--dim", f"B={2**63 - 1}", "--seed", "0"), 2, "this machine has"),
        (("run", "k.py:double", "--dim", "B=2", "--seed", "-1"), 2, "--seed"),
        (("run", "k.py:double", "--dim", "Q=2"), 2, "no dimension is named 'Q'"),
        (("run", "k.py:double", "--input", "x"), 2, "expected NAME=VALUE"),
        (("run", "k.py:double", "--input", "z=z.npy"), 2, "parameters: x, out"),
        (("run", "k.py:double", "--input", "x=absent.npy"), 2, "cannot be read as .npy"),
        (
            ("run", "k.py:double", "--input", "x=wide.npy"),
            4,
            "x: expected [B, 64] float32, got [2, 65]: axis 1 is 65, not 64",
        ),
        (("run", "k.py:double", "--input", "x=half.npy"), 4, ".astype(np.float32)"),
    ],
)
def test_mistakes(pyto: Any, kernels: Path, tmp_path: Path, args: tuple[str, ...], code: int, text: str) -> None:
    np.save(tmp_path / "wide.npy", np.zeros((2, 65), np.float32))
    np.save(tmp_path / "half.npy", np.zeros((2, 64), np.float16))
    done = pyto(*args)
    assert (done.code, text in done.err) == (code, True), done
    assert "Traceback" not in done.err


def test_file_without_kernels(pyto: Any, tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("x = 1\n")
    done = pyto("compile", "plain.py")
    assert done.code == 2 and "@pl.jit" in done.err


@pytest.mark.parametrize(
    "text,line,message",
    [
        ("x = 1\ny = x +\n", 2, "invalid syntax"),
        ("def f():\n    return 1 / 0\nf()\n", 2, "ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit"),
    ],
)
def test_file_that_fails_on_import(pyto: Any, tmp_path: Path, text: str, line: int, message: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    done = pyto("compile", "bad.py")
    assert done.code == 1 and f"bad.py:{line}:" in done.err and message in done.err and "^" in done.err


def test_wrong_kernel(pyto: Any, tmp_path: Path, kernels: Path) -> None:
    (tmp_path / "wrong.py").write_text(kernels.read_text().replace("x[b : b + 1, :] * 2.0", "pl.frobnicate(x)"))
    done = pyto("compile", "wrong.py:double")
    assert done.code == 1 and "wrong.py:10:" in done.err and "frobnicate" in done.err and "^" in done.err


def test_unwritable_cache(pyto: Any, kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTO_CACHE_DIR", str(kernels / "cache"))
    done = pyto("compile", "k.py:double", "-o", "out")
    assert done.code == 3 and "PYTO_CACHE_DIR" in done.err


def test_failing_compiler(pyto: Any, kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "c++"
    fake.write_text(
        '#!/bin/sh\ncase "$1" in --version|-dump*) exec g++ "$1";; esac\necho "x.cpp:1: error: no" >&2; exit 1\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("CXX", str(fake))
    monkeypatch.setenv("PYTO_CACHE_DIR", str(tmp_path / "cache"))
    done = pyto("compile", "k.py:double", "-o", "out")
    assert done.code == 3 and "x.cpp:1: error: no" in done.err and "command:" in done.err


def test_internal_error(pyto: Any, kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyto import compiler

    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(compiler, "lower", broken)
    done = pyto("compile", f"{kernels}:double")
    assert done.code == 70 and "RuntimeError: a fault" in done.err and "report" in done.err
    assert "Traceback" not in done.err
    log = Path(done.err.split("command line and ")[1].split()[0])
    assert "Traceback" in log.read_text() and "pyto compile" in log.read_text()
    assert "Traceback" in pyto("--debug", "compile", f"{kernels}:double").err


def test_doctor(pyto: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    done = pyto("doctor")
    assert done.code == 0 and "C++ compiler" in done.out and "bisheng not found" in done.out
    report = json.loads(pyto("doctor", "--json").out)
    assert report["healthy"] and {
        "python",
        "C++ compiler",
        "CANN",
        "torch",
        "torch_npu",
        "CPU",
        "threads",
        "cache",
    } <= {check["name"] for check in report["checks"]}
    monkeypatch.setenv("CXX", "/nonexistent/c++")
    missing = pyto("doctor")
    assert missing.code == 3 and "MISSING" in missing.out and "apt-get" in missing.out


def test_dump_writes_what_each_pass_changed(pyto: Any, kernels: Path, tmp_path: Path) -> None:
    assert pyto("compile", f"{kernels}:double", "--emit", "ir", "--dump", "passes").code == 0
    (folder,) = (tmp_path / "passes").iterdir()
    index = (folder / "index.txt").read_text()
    assert "insert_sync" in index and " ms" in index
    assert {path.suffix for path in folder.iterdir()} == {".txt", ".pto", ".diff"}


@pytest.mark.parametrize("text", ["x = 1\0", "x = " + "(" * 5000 + ")" * 5000])
def test_files_that_python_cannot_read(pyto: Any, tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.py").write_text(text)
    done = pyto("compile", str(tmp_path / "odd.py"), "--emit", "ir")
    assert done.code == 1 and "load.syntax" in done.err


def test_text_programs(pyto: Any, kernels: Path, tmp_path: Path) -> None:
    """A .pto file compiles, runs and prints like the kernel it came from, from any stage on."""
    for after in ("parse", "bufferize"):
        text = pyto("ir", f"{kernels}:double", "--after", after, "--locations")
        assert text.code == 0 and f"@{kernels.name}:" in text.out
        path = tmp_path / f"{after}.pto"
        path.write_text(text.out, encoding="utf-8")
        assert pyto("ir", str(path)).out == pyto("ir", f"{kernels}:double").out
        shown = pyto("compile", str(path), "--emit", "ascendc")
        assert shown.code == 0 and "// ==== double.cpp" in shown.out
    np.save(tmp_path / "x.npy", np.arange(128, dtype=np.float32).reshape(2, 64))
    done = pyto("run", str(path), "--input", "x=x.npy", "--save", "out")
    assert done.code == 0
    assert (np.load(tmp_path / "out" / "out.npy") == 2 * np.load(tmp_path / "x.npy")).all()
    path.write_text(text.out.replace("alloc", "aloc"), encoding="utf-8")
    wrong = pyto("compile", str(path))
    assert wrong.code == 1 and "did you mean alloc?" in wrong.err and f"{path.name}:" in wrong.err
