"""Python to Ascend C text: the four stages in one fresh process."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchmarks.child import child
from benchmarks.registry import Figure, Options, benchmark

LIMIT_S = 1.5
CODE = """
import json, time
start = time.perf_counter()
from pyto import compiler
from pyto.models.qwen3_14b.stages import STAGES
imported = time.perf_counter()
each = {}
for name, stage in STAGES.items():
    begin = time.perf_counter()
    compiler.lower(stage.kernel)
    each[name] = time.perf_counter() - begin
print(json.dumps({"import": imported - start, "stages": each}))
"""


@benchmark("compile")
def compile_time(options: Options) -> Iterator[Figure]:
    """Seconds from decorated functions to text, without imports; each run is a new process."""
    runs = [child(CODE) for _ in range(max(3, options.repeat))]
    total = statistics.median(sum(run["stages"].values()) for run in runs)
    yield Figure("compile.four_stages", total, "s", total / LIMIT_S, f"of the limit of {LIMIT_S} s")
    for name in runs[0]["stages"]:
        yield Figure(f"compile.{name}", statistics.median(run["stages"][name] for run in runs), "s")
    yield Figure("compile.import", statistics.median(run["import"] for run in runs), "s")
