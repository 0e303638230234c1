"""`pyto doctor`."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shlex
import shutil
import sys
from dataclasses import asdict, dataclass
from typing import Any

import click

import pyto
from pyto.cli import console

NAMES = {"ok": "ok", "note": "--", "missing": "MISSING"}


@dataclass(frozen=True)
class Check:
    """One thing looked for. `state`: "ok", "note" (fine without it) or "missing" (pyto cannot build or run)."""

    name: str
    state: str
    found: str
    advice: str = ""


@click.command("doctor", short_help="Show what was found here, and what to do about the rest.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(as_json: bool) -> int:
    """Show what pyto found on this machine, and what to do about what is missing.

    \b
    Exit code 0 if kernels can be built and run here, else 3.
    Examples:
      pyto doctor
      pyto doctor --json
    """
    checks = [*_python(), *_compilers(), *_cann(), *_torch(), *_cpu(), *_cache()]
    healthy = not any(check.state == "missing" for check in checks)
    if as_json:
        console.emit_json({"pyto": pyto.__version__, "healthy": healthy, "checks": [asdict(check) for check in checks]})
    else:
        out = console.stdout()
        width = max(len(check.name) for check in checks)
        for check in checks:
            out.print(f"{NAMES[check.state]:<8} {check.name:<{width}}  {check.found}")
            if check.advice:
                out.print(f"{'':<8} {'':<{width}}  -> {check.advice}")
    return 0 if healthy else 3


def _python() -> list[Check]:
    versions = []
    for name in ("numpy", "ml_dtypes", "jinja2", "lark"):
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{name} not installed")
    found = f"pyto {pyto.__version__}, Python {platform.python_version()}, {', '.join(versions)}"
    if any("not installed" in text for text in versions):
        return [Check("python", "missing", found, f"{sys.executable} -m pip install pyto")]
    return [Check("python", "ok", found)]


def _compilers() -> list[Check]:
    from pyto.build.compilers import install_help, survey

    good, bad = survey()
    checks = []
    if good:
        first = good[0]
        checks.append(Check("C++ compiler", "ok", f"{first.name} ({shlex.join(first.command)})"))
        checks += [Check("also usable", "ok", f"{c.name} ({shlex.join(c.command)})") for c in good[1:]]
    else:
        checks.append(Check("C++ compiler", "missing", "none", install_help().replace("\n", "; ")))
    checks += [Check("not usable", "note", reason) for reason in bad]
    return checks


def _cann() -> list[Check]:
    from pyto.build.compilers import find_bisheng

    found = find_bisheng()
    if found is None:
        return [Check("CANN", "note", "bisheng not found", "for the NPU: install CANN and source its set_env.sh")]
    if found.home is None:
        advice = "source CANN's set_env.sh: ASCEND_HOME_PATH is not set"
        return [Check("CANN", "note", f"{found.command}, but no CANN folder", advice)]
    return [Check("CANN", "ok", f"{found.version} ({found.command}, {found.home})")]


def _torch() -> list[Check]:
    checks = []
    for name, advice in (
        ("torch", "only to call kernels with torch tensors: pip install 'pyto[torch]'"),
        ("torch_npu", "only to run on the NPU from torch: pip install 'pyto[npu]'"),
    ):
        if importlib.util.find_spec(name) is None:
            checks.append(Check(name, "note", "not installed", advice))
        else:
            try:
                version = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                version = "unknown version"
            checks.append(Check(name, "ok", version))
    return checks


def _cpu() -> list[Check]:
    from pyto.build import cpu

    notable = cpu.notable()
    machine = platform.machine().lower()
    advice = ""
    if machine in ("x86_64", "amd64") and "amx_bf16" not in notable:
        missing = "AMX" if "avx512bw" in notable else "AVX-512 and AMX"
        advice = f"no {missing}: matmuls run, but slower"
    count = cpu.threads()
    named = os.environ.get("PYTO_THREADS")
    threads = f"{count} cores" + (f", PYTO_THREADS={named}" if named else "")
    checks = [Check("CPU", "ok", f"{platform.machine()}, {' '.join(notable) or 'no vector extension known'}", advice)]
    if named and (not named.isdigit() or int(named) < 1):
        checks.append(Check("threads", "note", threads, "PYTO_THREADS must be a whole number of 1 or more"))
    elif named and int(named) > count:
        checks.append(Check("threads", "note", threads, f"PYTO_THREADS above the {count} cores slows kernels down"))
    else:
        checks.append(Check("threads", "ok", threads))
    return checks


def _cache() -> list[Check]:
    from pyto.build.cache import Cache, cache_dir
    from pyto.errors import BuildError

    cache = Cache()
    try:
        cache.require_writable()
    except BuildError as error:
        return [Check("cache", "missing", error.message, error.remedy or "")]
    free = shutil.disk_usage(cache.root).free
    found = f"{cache_dir()}, {cache.size() / 1e6:.0f} MB used, {free / 1e9:.1f} GB free"
    advice = "little room: builds need about 0.5 GB" if free < 5e8 else ""
    return [Check("cache", "note" if advice else "ok", found, advice)]


def report() -> dict[str, Any]:
    """The machine, for benchmarks: CPU, features, threads, compiler."""
    from pyto.build import cpu
    from pyto.build.compilers import survey

    good, _ = survey()
    return {
        "cpu": cpu.model(),
        "features": cpu.notable(),
        "cores": cpu.threads(),
        "compiler": good[0].name if good else None,
        "python": platform.python_version(),
        "system": platform.platform(),
    }
