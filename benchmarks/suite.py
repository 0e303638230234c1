"""The tests themselves: seconds of the whole suite, random programs a second."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.child import ROOT
from benchmarks.registry import Figure, Options, benchmark

LIMIT_S = 900


def _run(*module: str) -> tuple[float, str]:
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", *module], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(module)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.perf_counter() - started, done.stdout


@benchmark("random")
def random_programs(options: Options) -> Iterator[Figure]:
    """Programs a second, made, lowered and compared at every stage by one process; and through C++ as well."""
    for stages, count in (("interp", 60 if options.quick else 300), ("cxx", 25 if options.quick else 100)):
        _, text = _run("tests.random", "--count", str(count), "--stages", stages)
        found = re.search(r"([\d.]+) programs a second", text)
        assert found is not None, text
        yield Figure(f"random.{stages}", float(found[1]), "programs/s")


@benchmark("suite")
def suite(options: Options) -> Iterator[Figure]:
    """Seconds of all tests on two workers, with the build cache as it is; not with --quick."""
    if not options.quick:
        seconds, _ = _run("pytest", "-q", "-n", "2", "--dist", "loadgroup")
        yield Figure("suite", seconds, "s", seconds / LIMIT_S, f"of the limit of {LIMIT_S} s")
