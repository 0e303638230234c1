"""Comparing programs on a machine that others use too.

Two thread pools in turn, call by call, disturb each other (idle workers spin), and a third process that takes a core
hits a program with static barriers (OpenMP) far harder than one without: either makes a ratio meaningless. So each
contender runs in blocks of its own, with a pause before each, and a block counts only if the rest of the machine was
quiet.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BLOCK_S = 0.5  # /proc/stat counts in hundredths of a second
PAUSE_S = 0.3  # longer than OpenMP's workers spin
QUIET = 0.04  # share of the machine that others may use during a block
ATTEMPTS = 12  # blocks tried for each that counts


@dataclass(frozen=True)
class Timing:
    """Median milliseconds over the calls of all blocks that count; `others`: the worst share of the machine that other
    processes used in them (None where the system does not tell)."""

    ms: float
    others: float | None

    @property
    def disturbed(self) -> bool:
        return self.others is None or self.others > QUIET


def _busy_s() -> float | None:
    """Seconds that all processors were busy since boot, time stolen from this virtual machine included."""
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _idle, _iowait, irq, softirq, steal = (int(field) for field in fields[:8])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _block(run: Callable[[], object], least: int) -> tuple[list[float], float | None]:
    """(seconds of each call, share of the machine that others used) of at least `least` calls and BLOCK_S seconds."""
    time.sleep(PAUSE_S)
    for _ in range(2):
        run()
    times: list[float] = []
    busy, own, begin = _busy_s(), time.process_time(), time.perf_counter()
    while len(times) < least or time.perf_counter() - begin < BLOCK_S:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    elapsed, own, after = time.perf_counter() - begin, time.process_time() - own, _busy_s()
    if busy is None or after is None:
        return times, None
    return times, max(0.0, after - busy - own) / (elapsed * (os.cpu_count() or 1))


def compare(runs: dict[str, Callable[[], object]], repeat: int, blocks: int = 3) -> dict[str, Timing]:
    """The time of each of `runs`: its quietest `blocks` blocks, tried until they are quiet or ATTEMPTS are used up."""
    found: dict[str, list[tuple[float, list[float]]]] = {name: [] for name in runs}
    known = True
    for attempt in range(blocks * ATTEMPTS):
        waiting = [name for name in runs if sum(others <= QUIET for others, _ in found[name]) < blocks]
        if not waiting or (not known and attempt >= blocks):
            break
        for name in waiting:
            times, others = _block(runs[name], max(1, repeat // blocks))
            known = known and others is not None
            found[name].append((others or 0.0, times))
    result = {}
    for name, tried in found.items():
        chosen = sorted(tried, key=lambda block: block[0])[:blocks]
        times = [seconds for _, block in chosen for seconds in block]
        result[name] = Timing(statistics.median(times) * 1e3, chosen[-1][0] if known else None)
    return result


def last_level_cache() -> int:
    """Bytes of the largest cache of processor 0; 0 where the system does not tell."""
    found = 0
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text(encoding="ascii").strip()
        unit = {"K": 1 << 10, "M": 1 << 20}.get(text[-1], 1)
        found = max(found, int(text.rstrip("KM")) * unit)
    return found
