"""Benchmarks register themselves here; each yields figures."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured number. `ratio` is value over reference, or as `compared_with` says; both may be absent."""

    name: str
    value: float
    unit: str
    ratio: float | None = None
    compared_with: str | None = None


@dataclass(frozen=True)
class Options:
    """threads: of pyto and torch; batch: of the stages; repeat: timed runs a figure; quick: fewer of everything."""

    threads: int
    batch: int
    repeat: int
    quick: bool
    torch: bool


Benchmark = Callable[[Options], Iterator[Figure]]
BENCHMARKS: dict[str, Benchmark] = {}


def benchmark(name: str) -> Callable[[Benchmark], Benchmark]:
    """Register a generator of figures under `name`."""

    def register(function: Benchmark) -> Benchmark:
        BENCHMARKS[name] = function
        return function

    return register


def median_ms(run: Callable[[], object], repeat: int, warm: int = 1) -> float:
    """Median milliseconds of `run`."""
    for _ in range(warm):
        run()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def interleaved_ms(runs: dict[str, Callable[[], object]], repeat: int, warm: int = 2) -> dict[str, float]:
    """Median milliseconds of each of `runs`, taken in turn; of one thread pool only (see benchmarks.calm)."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for round_ in range(warm + repeat):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if round_ >= warm:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) * 1e3 for name, values in times.items()}
