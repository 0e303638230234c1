"""The NPU toolchain: CANN's `bisheng` compiles kernels and launcher in one translation unit into one library."""

from __future__ import annotations

import shlex
from pathlib import Path

from pyto.build.cache import Cache, hash_key
from pyto.build.compilers import Bisheng
from pyto.build.program import HOST_SUFFIX, KERNEL_SUFFIXES, hash_sources
from pyto.build.progress import report
from pyto.build.run import run
from pyto.errors import BuildError

CANN = Path(__file__).resolve().parent / "cann"
NPU_ARCH = "dav-2201"
#: The vendor compiler's own synchronisation stays off: what the source says is what runs.
FLAGS = ("-std=c++17", "-O3", "-fPIC", "-shared", "--cce-auto-sync=off")


def unit_name(name: str) -> str:
    return f"{name}.cann.asc"


def unit(sources: dict[str, str]) -> str:
    """The translation unit: device sources first, then the launchers that start their kernels."""
    device = [f for f in sorted(sources) if f.endswith(KERNEL_SUFFIXES) and not f.endswith(HOST_SUFFIX)]
    host = [f for f in sorted(sources) if f.endswith(HOST_SUFFIX)]
    return "".join(f'#include "{file}"\n' for file in [*device, *host])


def arguments(name: str, cores: tuple[int, int], include: str, extra: tuple[str, ...] = ()) -> list[str]:
    """bisheng's arguments after its own name and before CANN's folders: sources in the current folder, NAME.so out."""
    return [
        "-x", "asc", f"--npu-arch={NPU_ARCH}", *FLAGS, *extra,
        f"-DPYTO_CHIP_CUBE_CORES={cores[0]}", f"-DPYTO_CHIP_VECTOR_CORES={cores[1]}",
        "-I.", f"-I{include}", unit_name(name), "-o", f"{name}.so",
    ]  # fmt: skip


def _home_arguments(home: str) -> list[str]:
    return [f"-I{home}/include", f"-L{home}/lib64", "-lascendcl"]


def build_script(name: str, cores: tuple[int, int]) -> str:
    """`build_cann.sh`: builds the artefact folder it lies in for the NPU, with nothing but CANN."""
    command = " ".join(shlex.quote(arg) for arg in arguments(name, cores, "cann"))
    return f"""#!/usr/bin/env bash
# Builds {name}.so for the NPU (Atlas A2/A3) from the sources beside this script.
# Needs CANN: source its set_env.sh first.
set -euo pipefail
cd "$(dirname "${{BASH_SOURCE[0]}}")"
BISHENG="${{BISHENG:-bisheng}}"
if ! command -v "$BISHENG" >/dev/null; then
    echo "bisheng not found: source CANN's set_env.sh, or set BISHENG" >&2
    exit 3
fi
: "${{ASCEND_HOME_PATH:?not set: source CANN\\'s set_env.sh}}"
"$BISHENG" {command} \\
    -I"$ASCEND_HOME_PATH/include" -L"$ASCEND_HOME_PATH/lib64" -lascendcl
echo "built $PWD/{name}.so"
"""


class BishengBuild:
    """One build of one program for the NPU."""

    def __init__(
        self,
        name: str,
        sources: dict[str, str],
        chip: str,
        cores: tuple[int, int],
        compiler: Bisheng,
        extra_flags: tuple[str, ...] = (),
        cache: Cache | None = None,
    ) -> None:
        self.name, self.sources, self.chip, self.cores = name, sources, chip, cores
        self.compiler = compiler
        self.extra = extra_flags
        self.cache = cache or Cache()

    def program_key(self) -> str:
        launch = (CANN / "pyto_launch.h").read_bytes()
        flags = arguments(self.name, self.cores, "cann", self.extra)
        return hash_key(
            "bisheng", self.name, self.chip, self.compiler.version, flags, hash_sources(self.sources), launch
        )

    def build(self) -> Path:
        """The folder of the cache that holds NAME.so."""
        if self.compiler.home is None:
            raise BuildError(
                "build.no-cann-home",
                "bisheng was found, but not CANN's folder with its headers and libraries",
                remedy="source CANN's set_env.sh (it sets ASCEND_HOME_PATH)",
            )
        key = self.program_key()

        def make(work: Path) -> None:
            report(f"compile {self.name} for the NPU")
            for file, text in self.sources.items():
                (work / file).write_text(text, encoding="utf-8")
            (work / unit_name(self.name)).write_text(unit(self.sources), encoding="utf-8")
            command = [self.compiler.command, *arguments(self.name, self.cores, str(CANN), self.extra)]
            command += _home_arguments(str(self.compiler.home))
            run(command, work, self.name, self.cache, key, "`pyto doctor` shows which CANN was found")
            for path in work.iterdir():
                if path.name != f"{self.name}.so":
                    path.unlink()

        return self.cache.get("program", key, make)
