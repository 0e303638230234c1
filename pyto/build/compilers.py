"""Finding a C++ compiler and CANN's `bisheng`."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pyto.errors import BuildError

MIN_GCC, MIN_CLANG = (9,), (10,)
#: From Xcode's own numbering, which runs ahead of upstream clang.
MIN_APPLE_CLANG = (12,)


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: the command, what it is and the text that stands for it in cache keys."""

    command: tuple[str, ...]
    family: str  # "gcc" | "clang" | "apple-clang" | "zig"
    version: tuple[int, ...]
    identity: str  # version line and target; no path

    @property
    def name(self) -> str:
        return f"{self.family} {'.'.join(map(str, self.version))}"

    @property
    def is_clang(self) -> bool:
        return self.family != "gcc"


def install_help() -> str:
    """How to get a C++ compiler on this system."""
    zig = f"anywhere: {Path(sys.executable).name} -m pip install ziglang  (a compiler from PyPI, found by itself)"
    if sys.platform == "darwin":
        ways = ["macOS: xcode-select --install"]
    else:
        ways = [
            "Debian, Ubuntu: sudo apt-get install g++",
            "Fedora, RHEL, openEuler: sudo dnf install gcc-c++",
            "Arch: sudo pacman -S gcc    Alpine: apk add g++    openSUSE: sudo zypper install gcc-c++",
            "no root: conda install -c conda-forge gxx",
        ]
    return "install one of:\n" + "\n".join([*ways, zig, "or set CXX to the compiler to use (g++ >= 9, clang++ >= 10)"])


def _run(command: list[str]) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None


@lru_cache(maxsize=32)
def probe(command: tuple[str, ...], path: str) -> Compiler | str:
    """The compiler behind `command`, or why it cannot be used. `path` is PATH: it belongs to the answer."""
    text = _run([*command, "--version"])
    if not text:
        return f"{shlex.join(command)}: not found, or `--version` fails"
    target = (_run([*command, "-dumpmachine"]) or "").strip()
    first = text.strip().splitlines()[0]
    match = re.search(r"(\d+(?:\.\d+)+)", first)
    if "clang" in text:
        family, minimum = "clang", MIN_CLANG
        if "Apple" in text:
            family, minimum = "apple-clang", MIN_APPLE_CLANG
        elif "ziglang" in command:
            family = "zig"
    elif re.search(r"Free Software Foundation|\bg\+\+|\bgcc|\(GCC\)", text):
        family, minimum = "gcc", MIN_GCC
        full = (_run([*command, "-dumpfullversion"]) or "").strip()
        match = re.match(r"(\d+(?:\.\d+)*)$", full) or match
        if not re.match(r"\w+-", target):  # another program of GNU
            return f"{shlex.join(command)}: neither GCC nor clang: {first}"
    else:
        return f"{shlex.join(command)}: neither GCC nor clang: {first}"
    if match is None:
        return f"{shlex.join(command)}: no version in {first!r}"
    version = tuple(int(part) for part in match.group(1).split("."))
    if version < minimum:
        return f"{shlex.join(command)}: {first} is too old (needs {family} >= {minimum[0]})"
    return Compiler(command, family, version, f"{first} | {target}")


def candidates() -> list[tuple[str, ...]]:
    """Commands to try, best first. CXX, if set, is the only one."""
    named = os.environ.get("CXX", "").strip()
    if named:
        try:
            return [tuple(shlex.split(named))]
        except ValueError:  # a quotation mark without its pair
            return [(named,)]
    order = ["clang++", "g++", "c++"] if sys.platform == "darwin" else ["g++", "clang++", "c++"]
    found: list[tuple[str, ...]] = [(path,) for path in map(shutil.which, order) if path]
    if importlib.util.find_spec("ziglang") is not None:
        found.append((sys.executable, "-m", "ziglang", "c++"))
    return found


def survey() -> tuple[list[Compiler], list[str]]:
    """Every usable compiler, and why the others are not."""
    good: list[Compiler] = []
    bad: list[str] = []
    for command in candidates():
        result = probe(command, os.environ.get("PATH", ""))
        if isinstance(result, Compiler):
            good.append(result)
        else:
            bad.append(result)
    return good, bad


def find_cxx() -> Compiler:
    """The C++ compiler to use. Raises BuildError that names the ways to get one."""
    for command in candidates():
        result = probe(command, os.environ.get("PATH", ""))
        if isinstance(result, Compiler):
            return result
    _, bad = survey()
    raise BuildError(
        "build.no-compiler",
        "no usable C++ compiler found" + (" (CXX is set)" if os.environ.get("CXX") else ""),
        details="\n".join(f"  {reason}" for reason in bad),
        remedy=install_help(),
    )


@dataclass(frozen=True)
class Bisheng:
    """CANN's compiler for Ascend C."""

    command: str
    home: Path | None
    version: str


def _cann_homes() -> list[Path]:
    named = [os.environ.get(name) for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")]
    usual = ["/usr/local/Ascend/cann", "/usr/local/Ascend/ascend-toolkit/latest"]
    return [Path(path) for path in [*named, *usual] if path and Path(path).is_dir()]


def find_bisheng() -> Bisheng | None:
    """CANN's compiler: on PATH, or under ASCEND_HOME_PATH, ASCEND_TOOLKIT_HOME or the usual folders; None if absent."""
    homes = _cann_homes()
    found = shutil.which("bisheng")
    if found is None:
        for home in homes:
            for place in ("bin", "compiler/bin", "compiler/ccec_compiler/bin", "tools/bisheng_compiler/bin"):
                candidate = home / place / "bisheng"
                if os.access(candidate, os.X_OK):
                    found = str(candidate)
                    break
            if found:
                break
    if found is None:
        return None
    text = _run([found, "--version"]) or ""
    return Bisheng(
        found, homes[0] if homes else None, text.strip().splitlines()[0] if text.strip() else "unknown version"
    )
