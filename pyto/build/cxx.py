"""The CPU toolchain: device sources against pyto's own kernel_operator.h, linked with the simulator."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pyto.build import cpu, units
from pyto.build.cache import Cache, hash_key
from pyto.build.compilers import Compiler, find_cxx
from pyto.build.program import HEADER_SUFFIXES, HOST_SUFFIX, KERNEL_SUFFIXES, hash_sources
from pyto.build.progress import report
from pyto.build.run import parallel, run
from pyto.build.scan import Kernel, scan_kernels
from pyto.errors import BuildError, UsageError

SIMULATOR = Path(__file__).resolve().parent.parent / "simulator"
#: -fno-strict-aliasing: kernels reinterpret the bytes of buffers. -ffp-contract=off: a*b+c rounds twice everywhere.
COMMON_FLAGS = ("-std=c++17", "-fPIC", "-pthread", "-ffp-contract=off", "-fno-strict-aliasing")
#: -fwrapv: 64-bit scalars wrap, as in the interpreter.
KERNEL_FLAGS = ("-O2", "-w", "-fwrapv")
SIMULATOR_FLAGS = ("-O3",)
REMEDY_SIMULATOR = "this is a fault of pyto: please report it"
REMEDY = "generated code that does not compile is a fault of pyto: please report it"


@dataclass(frozen=True)
class Simulator:
    """The simulator's sources: `include/` with kernel_operator.h and pyto_launch.h, `src/*.cpp`."""

    root: Path = SIMULATOR
    headers: dict[str, bytes] = field(default_factory=dict, compare=False)
    sources: dict[str, bytes] = field(default_factory=dict, compare=False)

    @property
    def header_names(self) -> frozenset[str]:
        return frozenset(self.headers)

    def headers_key(self) -> str:
        return hash_key(self.headers)

    def words(self) -> set[str]:
        """Every identifier of the headers."""
        text = b"\n".join(self.headers.values()).decode(errors="replace")
        return set(re.findall(r"[A-Za-z_]\w*", text))

    def snapshot(self, cache: Cache) -> tuple[Path, Path]:
        """Folders of the cache with these very headers and sources: what is compiled is what the keys are made of."""
        return _write_out(cache, self.headers), _write_out(cache, self.sources)


def _write_out(cache: Cache, files: dict[str, bytes]) -> Path:
    def write(work: Path) -> None:
        for name, content in files.items():
            path = work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    return cache.get("sources", hash_key("sources", files), write)


def load_simulator(root: Path = SIMULATOR) -> Simulator:
    """Read the simulator's files; they are part of every key."""
    headers = {p.relative_to(root / "include").as_posix(): p.read_bytes() for p in _files(root / "include")}
    sources = {p.relative_to(root / "src").as_posix(): p.read_bytes() for p in _files(root / "src")}
    if "kernel_operator.h" not in headers or "pyto_launch.h" not in headers:
        raise UsageError(
            "build.no-simulator",
            f"no simulator in {root}: its headers are missing",
            remedy="install pyto again, or clone it whole",
        )
    return Simulator(root, headers, sources)


def _files(folder: Path) -> list[Path]:
    return sorted(
        path for path in folder.rglob("*") if path.suffix in (".h", ".hpp", ".inc", ".cpp") and path.is_file()
    )


def arch_flags(compiler: Compiler, native: bool) -> list[str]:
    """Instruction set of the build: this machine's own, or the baseline that every CPU of the kind runs."""
    if not native:
        return []
    if platform.machine().lower() in ("x86_64", "amd64", "i686"):
        return ["-march=native"]
    if compiler.family == "gcc" or sys.platform == "darwin" or compiler.version >= (15,):
        return ["-mcpu=native"]
    return []


def family_flags(compiler: Compiler) -> list[str]:
    if compiler.family == "gcc":
        # -fno-gnu-unique: two loaded programs must never share the simulator's state.
        return ["-fno-semantic-interposition"] + (["-fno-gnu-unique"] if sys.platform != "darwin" else [])
    if compiler.family == "zig":
        return ["-fno-sanitize=undefined"]
    return []


class CxxBuild:
    """One build of one program for the CPU."""

    def __init__(
        self,
        name: str,
        sources: dict[str, str],
        chip: str,
        cores: tuple[int, int],
        native: bool = True,
        extra_flags: tuple[str, ...] = (),
        compiler: Compiler | None = None,
        simulator: Simulator | None = None,
        cache: Cache | None = None,
    ) -> None:
        self.name = name
        self.sources = sources
        self.chip = chip
        self.native = native
        self.compiler = compiler or find_cxx()
        self.simulator = simulator or load_simulator()
        self.cache = cache or Cache()
        self.kernel_files = [f for f in sorted(sources) if f.endswith(KERNEL_SUFFIXES) and not f.endswith(HOST_SUFFIX)]
        self.host_files = [f for f in sorted(sources) if f.endswith(HOST_SUFFIX)]
        self.kernels: dict[str, list[Kernel]] = {f: scan_kernels(f, sources[f]) for f in self.kernel_files}
        _check(name, sources, self.kernels)
        compiler_flags = family_flags(self.compiler)
        self.flags = [*COMMON_FLAGS, *compiler_flags, *arch_flags(self.compiler, native), *extra_flags]
        self.defines = [f"-DPYTO_CHIP_CUBE_CORES={cores[0]}", f"-DPYTO_CHIP_VECTOR_CORES={cores[1]}"]
        machine = cpu.signature() if native else f"{sys.platform} {platform.machine()}"
        self.base_key = [self.compiler.identity, machine, self.flags, self.simulator.headers_key()]
        headers = {f: text for f, text in sources.items() if f.endswith(HEADER_SUFFIXES)}
        self.local_headers = headers
        self.local_key = hash_sources(headers)
        self._include = self._src = self.simulator.root

    # keys

    def _object_key(self, text: str, flags: list[str]) -> str:
        return hash_key("object", self.base_key, self.local_key, flags, text)

    def program_key(self) -> str:
        """The key of the finished library."""
        keys = [key for _, key, _ in self._objects()]
        return hash_key("program", self.name, self.chip, keys, self._simulator_key(), self._link_flags())

    def _simulator_key(self) -> str:
        return hash_key("simulator", self.base_key, SIMULATOR_FLAGS, self.simulator.sources)

    # steps

    def build(self) -> Path:
        """The folder of the cache that holds NAME.so."""
        key = self.program_key()
        found = self.cache.lookup("program", key)
        if found is not None:
            return found
        self.cache.require_writable()
        self._include, self._src = self.simulator.snapshot(self.cache)
        objects = self._objects()
        tasks: list[Callable[[], object]] = [*self._simulator_tasks()]
        tasks += [task for _, _, task in objects]
        parallel(tasks)
        return self.cache.get("program", key, lambda work: self._link(work, key, [k for _, k, _ in objects]))

    def _objects(self) -> list[tuple[str, str, Callable[[], Path]]]:
        """(what, key, task) of each object of the program."""
        found: list[tuple[str, str, Callable[[], Path]]] = []
        for file, kernels in self.kernels.items():
            for core in units.CORES:
                chosen = units.kernels_of(kernels, core)
                if not chosen:
                    continue
                unit = units.wrapper(file, self.sources, kernels, core, self.simulator.header_names)
                defines = [f"-DPYTO_SIM_{core.upper()}"]
                renames = [f"-D{k.name}={k.name}__{core}" for k in kernels if k.extern_c]
                key = self._object_key(unit + self.sources[file], [*KERNEL_FLAGS, *defines, *renames, *self.defines])
                found.append((f"{file} ({core})", key, self._kernel_task(file, core, unit, key, defines, renames)))
        kernels_file = f"{self.name}_kernels.cpp"
        registry = units.registry([k for ks in self.kernels.values() for k in ks])
        plain = [(file, self.sources[file]) for file in self.host_files]
        for file, text in [*plain, (kernels_file, registry)]:
            key = self._object_key(text, [*KERNEL_FLAGS, *self.defines])
            found.append((file, key, self._host_task(file, text, key)))
        return found

    def _kernel_task(
        self, file: str, core: str, unit: str, key: str, defines: list[str], renames: list[str]
    ) -> Callable[[], Path]:
        def build(work: Path) -> None:
            precompiled = self._precompiled(core, defines) if self._may_precompile(file, unit) else []
            report(f"compile {file} for {'cube' if core == 'aic' else 'vector'} cores")
            self._write_sources(work, [file])
            unit_name = f"{Path(file).stem}.{core}.cpp"
            (work / unit_name).write_text(unit, encoding="utf-8")
            flags = [*KERNEL_FLAGS, *precompiled, *defines, *renames, *self.defines]
            self._compile(work, unit_name, flags, f"{file} for {'cube' if core == 'aic' else 'vector'} cores", key)

        return lambda: self.cache.get("object", key, build)

    def _host_task(self, file: str, text: str, key: str) -> Callable[[], Path]:
        def build(work: Path) -> None:
            report(f"compile {file}")
            self._write_sources(work, [])
            (work / file).write_text(text, encoding="utf-8")
            self._compile(work, file, [*KERNEL_FLAGS, *self.defines], file, key)

        return lambda: self.cache.get("object", key, build)

    def _write_sources(self, work: Path, files: list[str]) -> None:
        for name in [*files, *self.local_headers]:
            (work / name).write_text(self.sources[name], encoding="utf-8")

    def _compile(self, work: Path, source: str, flags: list[str], what: str, key: str) -> None:
        """Compile in `work` and leave nothing there but `unit.o`."""
        # Precompiled headers come first; the map keeps this machine's paths out of the object.
        include = str(self._include)
        command = [
            *self.compiler.command,
            *self.flags,
            *flags,
            "-I.",
            f"-I{include}",
            f"-ffile-prefix-map={include}=pyto",
        ]
        self._run_compiler([*command, "-c", source, "-o", "unit.o"], work, what, key, REMEDY)
        for path in work.iterdir():
            if path.name != "unit.o":
                path.unlink()

    def _run_compiler(self, command: list[str], work: Path, what: str, key: str, remedy: str) -> None:
        """Run it; a clang that crashes gets a second chance without loop unrolling, where its known crashes are."""
        try:
            run(command, work, what, self.cache, key, remedy)
        except BuildError as error:
            if not self.compiler.is_clang or "frontend command failed" not in (error.details or ""):
                raise
            run([*command, "-fno-unroll-loops"], work, what, self.cache, key, remedy)

    # precompiled kernel_operator.h

    def _may_precompile(self, file: str, unit: str) -> bool:
        if self.compiler.family not in ("gcc", "clang", "apple-clang"):
            return False
        if not unit.startswith(f'#include "{units.KERNEL_HEADER}"'):
            return False
        return not any(kernel.name in self.simulator.words() for kernel in self.kernels[file])

    def _precompiled(self, core: str, defines: list[str]) -> list[str]:
        """Flags that use the precompiled header of this core kind, made on first use."""
        flags = [*self.flags, *KERNEL_FLAGS, *defines, *self.defines]
        key = hash_key("header", self.base_key, flags, str(self._include))
        header = units.KERNEL_HEADER
        output = f"{header}.gch" if self.compiler.family == "gcc" else f"{header}.pch"

        def build(work: Path) -> None:
            report(f"precompile {header} for {'cube' if core == 'aic' else 'vector'} cores")
            include = self._include
            command = [*self.compiler.command, *flags, f"-I{include}", f"-ffile-prefix-map={include}=pyto"]
            command += ["-x", "c++-header", str(include / header), "-o", output]
            run(command, work, f"{header} of the simulator", self.cache, key, REMEDY_SIMULATOR)
            if self.compiler.family == "gcc":
                # Later includes of the header find this folder too, where only the first may use the precompiled form.
                (work / header).write_text(f"#include_next <{header}>\n", encoding="utf-8")

        folder = self.cache.get("header", key, build)
        if self.compiler.family == "gcc":
            return [f"-I{folder}"]
        return ["-include-pch", str(folder / output)]

    # the simulator and the link

    def _simulator_object_key(self, name: str) -> str:
        # A source may include another file of src/: all of them count.
        local = {n: t for n, t in self.simulator.sources.items() if not n.endswith(".cpp")}
        return hash_key("simulator-object", self.base_key, SIMULATOR_FLAGS, local, name, self.simulator.sources[name])

    def _simulator_tasks(self) -> list[Callable[[], object]]:
        tasks: list[Callable[[], object]] = []
        for name in sorted(self.simulator.sources):
            if name.endswith(".cpp"):
                key = self._simulator_object_key(name)
                if not self.cache.path("simulator", key).exists():
                    tasks.append(self._simulator_task(name, key))
        return tasks

    def _simulator_task(self, name: str, key: str) -> Callable[[], Path]:
        def build(work: Path) -> None:
            report(f"compile the simulator: {name}")
            command = [*self.compiler.command, *self.flags, *SIMULATOR_FLAGS, f"-I{self._src}", f"-I{self._include}"]
            command += [f"-ffile-prefix-map={folder}=pyto" for folder in (self._src, self._include)]
            command += ["-c", str(self._src / name), "-o", str(work / "unit.o")]
            self._run_compiler(command, work, f"{name} of the simulator", key, REMEDY_SIMULATOR)

        return lambda: self.cache.get("simulator", key, build)

    def _simulator_objects(self) -> list[Path]:
        names = [name for name in sorted(self.simulator.sources) if name.endswith(".cpp")]
        return [
            self._simulator_task(name, self._simulator_object_key(name))() / "unit.o" for name in names
        ]  # found in the cache, or built again if damaged

    def _link_flags(self) -> list[str]:
        if sys.platform == "darwin":
            return ["-shared", "-Wl,-exported_symbol,_pyto_*", "-Wl,-undefined,error"]
        return ["-shared", "-Wl,--version-script=exports.map", "-Wl,-Bsymbolic", "-Wl,-z,defs"]

    def _link(self, work: Path, key: str, object_keys: list[str]) -> None:
        report(f"link {self.name}")
        objects: list[Path] = []
        for (_, object_key, task), expected in zip(self._objects(), object_keys):
            assert object_key == expected
            objects.append(task() / "unit.o")
        objects += self._simulator_objects()
        (work / "exports.map").write_text("{ global: pyto_*; local: *; };\n", encoding="utf-8")
        library = f"{self.name}.so"
        command = [*self.compiler.command, *self.flags, *self._link_flags(), *map(str, objects), "-o", library]
        run(command, work, f"{self.name} (link)", self.cache, key, REMEDY)
        (work / "exports.map").unlink()


def _check(name: str, sources: dict[str, str], kernels: dict[str, list[Kernel]]) -> None:
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise UsageError("build.name", f"program name {name!r} is not a C identifier")
    endings = (*KERNEL_SUFFIXES, *HEADER_SUFFIXES)
    for file in sources:
        if "/" in file or not file.endswith(endings):
            expected = f"expected a plain file name that ends in {', '.join(endings)}"
            raise UsageError("build.source-name", f"source {file!r}: {expected}")
    seen: dict[str, str] = {}
    for file, found in kernels.items():
        for kernel in found:
            if kernel.name in seen:
                raise BuildError(
                    "build.duplicate-kernel",
                    f"kernel {kernel.name} is defined in {seen[kernel.name]} and in {file}",
                    remedy="give one of them another name: they share one library",
                )
            seen[kernel.name] = file


def export(folder: Path, name: str, out_dir: Path) -> Path:
    """Copy the library of a cache folder to `out_dir`; its path there."""
    target = out_dir / f"{name}.so"
    temporary = out_dir / f".{name}.so.tmp"
    shutil.copyfile(folder / f"{name}.so", temporary)
    temporary.chmod(0o755)
    temporary.replace(target)
    return target
