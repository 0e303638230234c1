"""The four stages at 14B sizes: time against torch and against the memory's bandwidth, and their errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.calm import QUIET, compare, last_level_cache
from benchmarks.child import child
from benchmarks.registry import Figure, Options, benchmark

#: One stage a process: the weights of two would not fit beside their float64 references.
CODE = """
import json, sys
from benchmarks.stages import measure
print(json.dumps(measure(sys.argv[1], **json.loads(sys.argv[2]))))
"""
NAMES = ("rms_norm", "qkv_rope", "swiglu", "rms_lm_head")


@benchmark("stages")
def stages(options: Options) -> Iterator[Figure]:
    """ms of each stage, ratios to torch eager and torch.compile of the same run, share of the bandwidth, error."""
    for name in NAMES:
        settings = {
            "batch": options.batch,
            "threads": options.threads,
            "repeat": options.repeat,
            "eager": options.torch,
            "compiled": options.torch and not options.quick,
        }
        result = child(CODE, name, json.dumps(settings), PYTO_THREADS=str(options.threads))
        ms, others = result["ms"], result["others"]
        own = ms["pyto"]

        def noted(text: str, *timed: str, others: dict[str, float | None] = others) -> str:
            """`text`, and that it does not count if the machine was not quiet while one of `timed` ran."""
            worst = max((1.0 if others[one] is None else others[one] or 0.0) for one in timed)
            return text if worst <= QUIET else f"{text}; DISTURBED: others used {worst:.0%} of the machine"

        label = f"batch {options.batch}, {options.threads} threads"
        yield Figure(f"stage.{name}", own, "ms", None, noted(label, "pyto"))
        for other, what in (("eager", "torch bf16 eager"), ("compiled", "torch.compile max-autotune")):
            if other in ms:
                compared = f"time of {what} over pyto's; it took {ms[other]:.3f} ms"
                ratio = ms[other] / own
                yield Figure(f"stage.{name}.vs_{other}", ratio, "x", ratio, noted(compared, "pyto", other))
        share = ms["floor"] / own
        compared = f"of the measured {result['bandwidth']:.1f} GB/s, {result['bytes'] / 1e6:.1f} MB a call"
        if result["bytes"] < last_level_cache():
            compared += "; fits the last-level cache: not all of it need come from memory"
        figure = noted(compared, "pyto", "read")
        yield Figure(f"stage.{name}.bandwidth", share * result["bandwidth"], "GB/s", share, figure)
        error, bound = result["error"], result["bound"]
        yield Figure(f"stage.{name}.error", error, "relative L2", error / bound, f"of the bound {bound:.0e}")


def measure(name: str, batch: int, threads: int, repeat: int, eager: bool, compiled: bool) -> dict[str, Any]:
    """One stage, in a process of its own."""
    from benchmarks.bandwidth import BYTES, Reader
    from pyto.models.qwen3_14b.config import QWEN3_14B
    from pyto.models.qwen3_14b.reference import relative_l2
    from pyto.models.qwen3_14b.stages import STAGES

    stage = STAGES[name]
    arguments = stage.inputs(QWEN3_14B, batch)
    want = stage.reference(QWEN3_14B, arguments)
    before = {output: arguments[output].copy() for output in want}
    stage.kernel(*arguments.values())
    error = max(relative_l2(arguments[output], want[output]) for output in want)
    # An inout argument changes from call to call; its values do not matter to the time.
    runs: dict[str, Callable[[], object]] = {"pyto": lambda: stage.kernel(*arguments.values())}
    if eager or compiled:
        import torch

        from benchmarks.torch_stages import STAGES as TORCH
        from benchmarks.torch_stages import tensor

        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        model = TORCH[name](QWEN3_14B, arguments).eval()
        inputs = [tensor(before.get(key, arguments[key])) for key in model.inputs]
        if eager:
            runs["eager"] = lambda: model(*inputs)
        if compiled:
            torch._inductor.config.freezing = True
            fast = torch.compile(model, mode="max-autotune")
            try:
                fast(*inputs)
                runs["compiled"] = lambda: fast(*inputs)
            except Exception as failure:
                print(f"torch.compile of {name} failed: {failure}", file=sys.stderr)
    reader = Reader(threads)
    runs["read"] = reader
    timings = compare(runs, repeat)
    reader.close()
    ms = {key: timing.ms for key, timing in timings.items()}
    others = {key: timing.others for key, timing in timings.items()}
    rate = BYTES / ms.pop("read") / 1e6
    size = sum(array.nbytes for key, array in arguments.items() if not key.startswith("rope_"))
    ms["floor"] = size / rate / 1e6
    return {"ms": ms, "others": others, "bandwidth": rate, "bytes": size, "error": error, "bound": stage.bound}
