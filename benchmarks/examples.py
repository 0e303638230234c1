"""Python to Ascend C text: each kernel of `examples/`."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from benchmarks.child import child
from benchmarks.registry import Figure, Options, benchmark

FOLDER = Path(__file__).parents[1] / "examples"
PEER_MS = 80  # a compiler in C++ takes 20 to 80 ms for a kernel of this size
CODE = """
import importlib, json, sys, time
from pathlib import Path
from pyto import compiler
folder = Path({folder!r})
sys.path.insert(0, str(folder))
took, passes = {{}}, {{}}
for path in sorted(folder.glob("*.py")):
    example = getattr(importlib.import_module(path.stem), "EXAMPLE", None)
    if example is None:
        continue
    if not took:
        compiler.lower(example.kernel)  # what is loaded when it is first needed
    begin = time.perf_counter()
    stages = compiler.lower(example.kernel).stages
    took[path.stem] = (time.perf_counter() - begin) * 1e3
    for stage in stages:
        passes[stage.name] = passes.get(stage.name, 0.0) + stage.ms
print(json.dumps({{"took": took, "passes": passes}}))
"""


@benchmark("examples")
def examples(options: Options) -> Iterator[Figure]:
    """Milliseconds a kernel, in a process that has compiled another; and where the time of all of them goes."""
    runs = [child(CODE.format(folder=str(FOLDER))) for _ in range(max(3, options.repeat))]
    for name in runs[0]["took"]:
        took = statistics.median(run["took"][name] for run in runs)
        yield Figure(f"examples.{name}", took, "ms", took / PEER_MS, f"of the {PEER_MS} ms of a peer in C++")
    for name in runs[0]["passes"]:
        yield Figure(f"examples.pass.{name}", statistics.median(run["passes"][name] for run in runs), "ms")
