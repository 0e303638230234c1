"""Generated text: the same bytes from process to process, whatever the hash seed."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.child import child
from benchmarks.registry import Figure, Options, benchmark

CODE = """
import json
from pyto import compiler
from pyto.build import hash_sources
from pyto.models.qwen3_14b.stages import STAGES
found = {}
for name, stage in STAGES.items():
    compiled = compiler.lower(stage.kernel)
    texts = {**compiled.generated.sources, **{f"{i}": stage.text for i, stage in enumerate(compiled.stages)}}
    found[name] = hash_sources(texts)
print(json.dumps(found))
"""


@benchmark("determinism")
def determinism(options: Options) -> Iterator[Figure]:
    """Distinct outputs (sources and the IR after every pass) of processes with different hash seeds: 1 is the aim."""
    runs = [child(CODE, PYTHONHASHSEED=seed) for seed in ("0", "1", "12345")]
    for name in runs[0]:
        distinct = len({run[name] for run in runs})
        yield Figure(f"determinism.{name}", distinct, "distinct", distinct / 1, f"over {len(runs)} hash seeds")
