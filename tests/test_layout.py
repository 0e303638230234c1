"""The layout's rules: who may import whom, one package in site-packages, one copy of every module."""

from __future__ import annotations

import ast
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINKED = ("frontends", "codegen", "models")

#: part -> the parts it may import; `errors`, `pyto` itself and the part's own modules are open to all.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "catalogue": set(),
    "numerics": {"ir"},
    "ir": set(),
    "target": {"ir"},
    "language": {"ir"},
    "frontends": {"language", "ir"},
    "passes": {"ir", "target"},
    "estimate": {"ir", "target"},
    "interpreter": {"ir", "target", "numerics"},
    "codegen": {"ir", "target"},
    "simulator": set(),
    "build": {"codegen", "target"},
    "runtime": {"build"},
    "specialize": {"ir", "language", "runtime"},
    "compiler": {
        "ir", "target", "language", "frontends", "passes", "interpreter", "codegen", "build", "runtime", "numerics",
        "specialize",
    },
    "tuning": {"compiler", "runtime", "build", "estimate", "language"},
    "cli": {
        "compiler", "build", "runtime", "interpreter", "simulator", "language", "frontends", "passes", "codegen", "ir",
        "target", "models", "catalogue",
    },
}  # fmt: skip


def modules(part: str) -> list[Path]:
    folder = ROOT / "pyto" / part
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def imported_parts(file: Path) -> set[tuple[str, int]]:
    """(part of pyto, line) of each import in `file`."""
    found: set[tuple[str, int]] = set()
    package = file.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module or "") if part)
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "pyto" else [module]
        for name in names:
            parts = name.split(".")
            if parts[0] == "pyto" and len(parts) > 1:
                found.add((parts[1], node.lineno))
    return found


def test_every_part_has_a_rule() -> None:
    entries = {path.stem for path in (ROOT / "pyto").iterdir() if path.suffix == ".py" or path.is_dir()}
    assert entries - {"__init__", "__pycache__", "models"} <= set(MAY_IMPORT)


@pytest.mark.parametrize("part", sorted(MAY_IMPORT))
def test_imports_run_one_way(part: str) -> None:
    allowed = MAY_IMPORT[part] | {part, "errors", "__version__"}
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports pyto.{name}"
        for file in modules(part)
        if file.exists()
        for name, line in sorted(imported_parts(file))
        if name not in allowed
    ]
    assert not wrong, "\n".join(wrong)


def test_pyto_does_not_import_its_users() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in (ROOT / "pyto").rglob("*.py")
        if (ROOT / "pyto" / "models") not in file.parents
        for name, line in imported_parts(file)
        if name == "models" and file.relative_to(ROOT / "pyto").parts[0] != "cli"
    ]
    assert not wrong


@pytest.mark.parametrize("name", LINKED)
def test_links(name: str) -> None:
    link = ROOT / "pyto" / name
    assert link.is_symlink() and str(link.readlink()) == f"../{name}"


@pytest.mark.parametrize("name", LINKED)
def test_no_second_copy(name: str) -> None:
    """From the clone's root, `import frontends` fails and `import pyto.frontends` works."""
    code = f"import {name}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0 and f"pyto.{name}" in done.stderr
    assert subprocess.run([sys.executable, "-c", f"import pyto.{name}"], cwd=ROOT).returncode == 0


def test_tests_are_not_on_the_path() -> None:
    """--import-mode=importlib: no test folder may shadow a package."""
    assert not [entry for entry in sys.path if entry and Path(entry).resolve() == ROOT / "tests"]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(sdist, wheel built from the sdist), made without build isolation from what is installed."""
    pytest.importorskip("setuptools", minversion="77")
    import shutil

    work = tmp_path_factory.mktemp("dist")
    clone = work / "clone"
    shutil.copytree(
        ROOT, clone, symlinks=True,
        ignore=shutil.ignore_patterns(".git", ".venv", "*.egg-info", "__pycache__", ".*_cache", "pyto_out", "dist"),
    )  # fmt: skip
    backend = "import setuptools.build_meta as b, sys; print(getattr(b, 'build_' + sys.argv[1])(sys.argv[2]))"

    def make(kind: str, source: Path) -> Path:
        done = subprocess.run(
            [sys.executable, "-c", backend, kind, str(work)], cwd=source, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return work / done.stdout.strip().splitlines()[-1]

    sdist = make("sdist", clone)
    with tarfile.open(sdist) as archive:
        archive.extractall(work / "unpacked", filter="data")
    return sdist, make("wheel", next((work / "unpacked").iterdir()))


def test_wheel_holds_pyto_only_and_all_of_it(archives: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(archives[1]) as wheel:
        names = wheel.namelist()
        assert not any((info.external_attr >> 16) & 0o170000 == 0o120000 for info in wheel.infolist()), "a symlink"
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"pyto"}
    data = {".py", ".j2", ".lark", ".h", ".hpp", ".cpp", ".pyi", ".pto"}
    wanted = {
        path.relative_to(ROOT).as_posix()
        for folder in ("pyto", *(f"pyto/{name}" for name in LINKED))
        for path in (ROOT / folder).rglob("*")
        if path.suffix in data and "__pycache__" not in path.parts
    }
    missing = sorted(wanted - set(names))
    assert not missing, missing
    assert {"pyto/py.typed", "pyto/simulator/include/kernel_operator.h", "pyto/build/cann/pyto_launch.h"} <= set(names)


@pytest.mark.slow
def test_installed_wheel_works(archives: tuple[Path, Path], tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True, system_site_packages=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = [
        str(python),
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--force-reinstall",
        str(archives[1]),
    ]
    done = subprocess.run(install, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    site = next((tmp_path / "venv").glob("lib/python*/site-packages"))
    ours = {path.name for path in site.iterdir()} & {"pyto", *LINKED, "tests", "benchmarks"}
    assert ours == {"pyto"}
    code = "import pyto, pyto.frontends, pyto.codegen, pyto.models; print(pyto.__file__)"
    done = subprocess.run([str(python), "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(site)


@pytest.mark.slow
def test_editable_install_works(tmp_path: Path) -> None:
    """`pip install -e .` puts nothing but pyto within reach of imports."""
    import shutil

    clone = tmp_path / "clone"
    shutil.copytree(
        ROOT, clone, symlinks=True,
        ignore=shutil.ignore_patterns(".git", ".venv", "*.egg-info", "__pycache__", ".*_cache", "pyto_out", "dist"),
    )  # fmt: skip
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    backend = "import setuptools.build_meta as b; print(b.build_editable('.'))"
    built = subprocess.run([sys.executable, "-c", backend], cwd=clone, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-2000:]
    wheel = clone / built.stdout.strip().splitlines()[-1]
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "-q", "--no-deps", "--no-index", str(wheel)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    code = (
        "import importlib.util, pyto, pyto.frontends, pyto.models.qwen3_14b\n"
        "names = ('frontends', 'codegen', 'models', 'tests', 'benchmarks')\n"
        "found = [n for n in names if importlib.util.find_spec(n)]\n"
        "print(pyto.__file__, found)"
    )
    # Only imports are tried, so that the venv needs no numpy: pyto's top and the folders behind the links.
    done = subprocess.run([str(python), "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(clone / "pyto" / "__init__.py"), "[]"]
