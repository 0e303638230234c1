"""Building programs: Ascend C sources in, one shared library with a small C ABI out.

    build_program(Generated(...))              -> Path of NAME.so in the cache
    build_program(..., out_dir="out")          -> out/NAME.so beside sources, manifest and build_cann.sh
    build_sources("name", {"name.cpp": text})  -> the same for hand-written sources

`toolchain` is "cxx" (any CPU, through the simulator), "bisheng" (the NPU, with CANN) or "auto" (bisheng if found,
else cxx).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyto.build import bisheng
from pyto.build.cache import Cache, cache_dir
from pyto.build.chips import CHIPS, DEFAULT_CHIP, chip_cores, chip_name
from pyto.build.compilers import Bisheng, Compiler, find_bisheng, find_cxx
from pyto.build.cxx import CxxBuild, Simulator, export, load_simulator
from pyto.build.program import DTYPES, Generated, Manifest, check_manifest, dump_manifest, hash_sources, quoted_lines
from pyto.build.scan import Kernel, scan_kernels
from pyto.errors import BuildError, UsageError

__all__ = [
    "CHIPS", "DEFAULT_CHIP", "DTYPES", "TOOLCHAINS", "Bisheng", "Cache", "Compiler", "Generated", "Kernel", "Manifest",
    "Simulator",
    "build_program", "build_sources", "cache_dir", "check_manifest", "chip_cores", "chip_name", "complete_manifest",
    "find_bisheng", "find_cxx", "load_simulator", "pick_toolchain", "scan_kernels",
]  # fmt: skip

TOOLCHAINS = ("auto", "bisheng", "cxx")


def pick_toolchain(name: str = "auto") -> str:
    """Which of bisheng and cxx to use; raises if the toolchain named is unknown or not there."""
    if name not in TOOLCHAINS:
        raise UsageError("build.toolchain", f"unknown toolchain {name!r}", remedy="use one of " + ", ".join(TOOLCHAINS))
    if name == "cxx":
        return name
    found = find_bisheng()
    if found is None and name == "bisheng":
        raise BuildError(
            "build.no-bisheng",
            "CANN's compiler `bisheng` was not found",
            remedy="install CANN and source its set_env.sh, or build for the CPU with --toolchain cxx",
        )
    return "bisheng" if found is not None else "cxx"


def build_program(
    program: Generated,
    toolchain: str = "auto",
    chip: str = DEFAULT_CHIP,
    out_dir: str | Path | None = None,
    *,
    extra_flags: tuple[str, ...] = (),
    simulator: Simulator | None = None,
    cache: Cache | None = None,
) -> Path:
    """Build `program`; the path of its library.

    Without `out_dir` the library stays in the cache and, on the CPU, uses this machine's own instruction set. With it,
    the folder gets the sources, NAME.json, build_cann.sh with cann/pyto_launch.h, and a NAME.so for any CPU of this
    kind.
    Raises BuildError (compiler, cache) or UsageError (names).
    """
    chosen = pick_toolchain(toolchain)
    chip = chip_name(chip)
    cores = chip_cores(chip)
    if chosen == "bisheng":
        found = find_bisheng()
        assert found is not None
        folder = bisheng.BishengBuild(program.name, program.sources, chip, cores, found, extra_flags, cache).build()
    else:
        native = out_dir is None
        folder = CxxBuild(
            program.name, program.sources, chip, cores, native, extra_flags, simulator=simulator, cache=cache
        ).build()
    if out_dir is None:
        return folder / f"{program.name}.so"
    target = write_sources(program, chip, out_dir)
    return export(folder, program.name, target)


def build_sources(
    name: str, sources: dict[str, str], toolchain: str = "cxx", chip: str = DEFAULT_CHIP, **options: Any
) -> Path:
    """Build hand-written sources, as `build_program` does: {"x.cpp": text, "x_host.cpp": text, "x.h": text}."""
    return build_program(Generated(name, sources), toolchain, chip, **options)


def complete_manifest(program: Generated, chip: str) -> Manifest:
    """The program's manifest with version, chip, source hash and the kernels found in its sources filled in."""
    from pyto import __version__

    kernels = [
        {"name": kernel.name, "type": kernel.type}
        for file in sorted(program.sources)
        if not file.endswith("_host.cpp")
        for kernel in scan_kernels(file, program.sources[file])
    ]
    manifest: Manifest = {"name": program.name, "version": __version__, "chip": chip, **program.manifest}
    manifest.setdefault("params", [])
    manifest.setdefault("dims", [])
    manifest.setdefault("workspace", "0")
    manifest["chip"] = chip
    manifest["kernels"] = kernels
    quoted = {file: quoted_lines(text) for file, text in sorted(program.sources.items())}
    manifest["lines"] = {file: lines for file, lines in quoted.items() if lines}
    manifest["source_hash"] = hash_sources(program.sources)
    return manifest


def write_sources(program: Generated, chip: str, out_dir: str | Path) -> Path:
    """Write sources, manifest and the CANN build script to `out_dir`; the folder."""
    target = Path(out_dir)
    texts = dict(program.sources)
    texts[f"{program.name}.json"] = dump_manifest(complete_manifest(program, chip_name(chip)))
    texts["build_cann.sh"] = bisheng.build_script(program.name, chip_cores(chip))
    texts[bisheng.unit_name(program.name)] = bisheng.unit(program.sources)
    texts["cann/pyto_launch.h"] = (bisheng.CANN / "pyto_launch.h").read_text(encoding="utf-8")
    try:
        (target / "cann").mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (target / name).write_text(text, encoding="utf-8")
        (target / "build_cann.sh").chmod(0o755)
    except OSError as error:
        raise UsageError(
            "build.out-dir",
            f"cannot write to {target}: {error.strerror or error}",
            remedy="name another folder with -o",
        ) from error
    return target
