"""What a call costs over the kernel's own time: a program whose launcher does nothing, and the smallest stage."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.registry import Figure, Options, benchmark

LIMIT_US = 50.0
HOST = """\
#include "pyto_launch.h"
extern "C" int pyto_nothing(void* const*, const int64_t*, const void*, void*, void*) { return 0; }
"""


def _median_us(run: Callable[[], object], calls: int) -> float:
    """Median microseconds of one of `calls` calls."""
    for _ in range(20):
        run()
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


@benchmark("call")
def call_overhead(options: Options) -> Iterator[Figure]:
    """Microseconds of a call that launches nothing, with 4 and with 14 tensors."""
    from pyto.build import build_sources
    from pyto.runtime import load

    library = build_sources("nothing", {"nothing_host.cpp": HOST})
    for count in (4, 14):
        params = [
            {
                "name": f"t{i}",
                "kind": "tensor",
                "dtype": "float32",
                "shape": ["B", 64],
                "direction": "out" if i == 0 else "in",
            }
            for i in range(count)
        ]
        program = load(library, {"name": "nothing", "params": params, "dims": ["B"], "workspace": "B * 256"})
        arrays: list[Any] = [np.zeros((4, 64), np.float32) for _ in range(count)]
        us = _median_us(partial(program, *arrays), 2000)
        yield Figure(f"call.numpy.{count}_tensors", us, "us", us / LIMIT_US, f"of the limit of {LIMIT_US:g} us")
        if options.torch:
            import torch

            tensors = [torch.from_numpy(array) for array in arrays]
            us = _median_us(partial(program, *tensors), 2000)
            yield Figure(f"call.torch.{count}_tensors", us, "us", us / LIMIT_US, f"of the limit of {LIMIT_US:g} us")
    yield from _through_decorator(options)


def _through_decorator(options: Options) -> Iterator[Figure]:
    """A call of the decorated function rms_norm at batch 1, less its launcher called with everything bound."""
    import ctypes

    from pyto import compiler
    from pyto.models.qwen3_14b.config import QWEN3_14B
    from pyto.models.qwen3_14b.stages import STAGES

    stage = STAGES["rms_norm"]
    arguments = list(stage.inputs(QWEN3_14B, 1).values())
    stage.kernel(*arguments)
    program = compiler.load(stage.kernel)
    bound = program.plan.bind(tuple(arguments))
    tensors = (ctypes.c_void_p * len(bound.addresses))(*bound.addresses)
    dims = (ctypes.c_int64 * len(bound.dims))(*bound.dims)
    entry = ctypes.CDLL(str(program.path)).pyto_rms_norm
    entry.argtypes = [ctypes.c_void_p] * 5
    from pyto.runtime.workspace import workspace

    scratch = workspace(bound.workspace)
    calls = 300 if options.quick else 2000
    own = _median_us(lambda: entry(tensors, dims, bound.scalars or None, scratch, None), calls)
    whole = _median_us(lambda: stage.kernel(*arguments), calls)
    over = whole - own
    yield Figure(
        "call.decorated.rms_norm", over, "us", over / LIMIT_US, f"over its own {own:.0f} us; limit {LIMIT_US:g} us"
    )
