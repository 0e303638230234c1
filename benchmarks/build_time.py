"""The C++ build of the stages: with an empty cache, with the simulator there, after an edit, and found."""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.registry import Figure, Options, benchmark

COLD_LIMIT_S, EDIT_LIMIT_S = 20.0, 5.0


@benchmark("build")
def build_time(options: Options) -> Iterator[Figure]:
    """Seconds of `build_program`, each state made anew in a cache of its own."""
    from pyto import compiler
    from pyto.build import Cache, Generated, build_program
    from pyto.models.qwen3_14b.stages import STAGES

    def timed(program: Generated, cache: Cache) -> float:
        start = time.perf_counter()
        build_program(program, "cxx", cache=cache)
        return time.perf_counter() - start

    def edited(program: Generated) -> Generated:
        name = f"{program.name}.cpp"
        text = program.sources[name] + "// edited\n"
        return dataclasses.replace(program, sources={**program.sources, name: text})

    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        for i, (name, stage) in enumerate(STAGES.items()):
            program = compiler.lower(stage.kernel).generated
            seconds = timed(program, cache)
            if i == 0:
                yield Figure(
                    "build.first_ever", seconds, "s", None, "simulator and precompiled header included, once a machine"
                )
                seconds = timed(dataclasses.replace(program, name=f"{name}_again", sources=_renamed(program)), cache)
            yield Figure(
                f"build.cold.{name}", seconds, "s", seconds / COLD_LIMIT_S, f"of the limit of {COLD_LIMIT_S:g} s"
            )
            seconds = timed(edited(program), cache)
            yield Figure(
                f"build.edit.{name}", seconds, "s", seconds / EDIT_LIMIT_S, f"of the limit of {EDIT_LIMIT_S:g} s"
            )
            yield Figure(f"build.found.{name}", timed(program, cache) * 1e3, "ms")


def _renamed(program: object) -> dict[str, str]:
    """The sources of a program under another name: nothing of it is in the cache."""
    from pyto.build import Generated

    assert isinstance(program, Generated)
    old, new = program.name, f"{program.name}_again"
    return {
        file.replace(old, new): text.replace(f"pyto_{old}(", f"pyto_{new}(").replace(f"{old}_", f"{new}_")
        for file, text in program.sources.items()
    }
