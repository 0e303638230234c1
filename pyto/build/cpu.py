"""The CPU that builds are made for: its instruction sets, as one string for cache keys and `pyto doctor`."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

#: Flags of /proc/cpuinfo (x86 and arm) that decide which code the simulator picks.
NOTABLE = (
    "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512_bf16", "avx512_fp16", "avx512_vnni",
    "amx_tile", "amx_bf16", "amx_int8", "asimd", "asimdhp", "asimddp", "bf16", "i8mm", "sve", "sve2",
)  # fmt: skip


@lru_cache(maxsize=1)
def features() -> frozenset[str]:
    """Instruction-set flags of this CPU as the system names them."""
    if sys.platform == "darwin":
        try:
            out = subprocess.run(["sysctl", "-a"], capture_output=True, text=True, timeout=20).stdout
        except (OSError, subprocess.SubprocessError):
            return frozenset()
        found = set()
        for line in out.splitlines():
            name, _, value = line.partition(":")
            if name.startswith("hw.optional.") and value.strip() == "1":
                found.add(name.rsplit(".", 1)[-1].lower())
            elif name in ("machdep.cpu.features", "machdep.cpu.leaf7_features"):
                found.update(value.lower().split())
        return frozenset(found)
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("flags", "Features"):
                return frozenset(value.split())
    except OSError:
        pass
    return frozenset()


def notable() -> list[str]:
    """The features that matter to the simulator's speed, in a fixed order."""
    return [name for name in NOTABLE if name in features()]


@lru_cache(maxsize=1)
def signature() -> str:
    """Machine and every feature flag: two CPUs with one signature run each other's `-march=native` code."""
    return f"{sys.platform} {platform.machine()} {model()} {' '.join(sorted(features()))}"


@lru_cache(maxsize=1)
def model() -> str:
    """The CPU's name."""
    if sys.platform == "darwin":
        try:
            command = ["sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            return platform.processor()
    fields: dict[str, str] = {}
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), value.strip())
    except OSError:
        pass
    parts = [fields.get("model name", ""), fields.get("cpu family", ""), fields.get("model", "")]
    parts += [fields.get("CPU implementer", ""), fields.get("CPU part", "")]
    return " ".join(part for part in parts if part) or platform.processor()


def threads() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
