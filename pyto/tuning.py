"""Which configuration of an autotuned kernel is best for its arguments: ranked by prediction, judged by the clock."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from pyto import compiler, runtime
from pyto.build.cache import cache_dir, hash_key
from pyto.errors import CompileError
from pyto.estimate import predicted_seconds
from pyto.language import hooks
from pyto.language.autotune import AutotunedFunction
from pyto.language.jit import JitFunction

RUNS = 3
# What this process knows of a kernel: its first configuration that compiles, and the best by dims and toolchain.
_first: MutableMapping[AutotunedFunction, JitFunction] = WeakKeyDictionary()
_chosen: MutableMapping[AutotunedFunction, dict[tuple[tuple[int, ...], str], JitFunction]] = WeakKeyDictionary()


def _copied(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value.copy() if hasattr(value, "copy") else value


def _seconds(program: runtime.Program, args: Sequence[Any], kwargs: Mapping[str, Any]) -> float:
    """The best of a few runs on copies of the arguments; the first is not counted."""
    best = float("inf")
    for run in range(RUNS + 1):
        own, named = [_copied(a) for a in args], {k: _copied(v) for k, v in kwargs.items()}
        started = time.perf_counter()
        program(*own, **named)
        if run:
            best = min(best, time.perf_counter() - started)
    return best


def choose(function: AutotunedFunction, args: Sequence[Any], kwargs: Mapping[str, Any]) -> JitFunction:
    toolchain = runtime.toolchain_for(tuple(args))
    first = _first.get(function)
    if first is None:
        first = _first[function] = _first_that_compiles(function)
    plan = compiler.load(first, toolchain).plan
    dims = tuple(plan.bind(plan.order(tuple(args), dict(kwargs))).dims)
    chosen = _chosen.setdefault(function, {})
    found = chosen.get((dims, toolchain))
    if found is None:
        found = chosen[dims, toolchain] = _remembered(function, first, dims, toolchain, args, kwargs)
    return found


def _first_that_compiles(function: AutotunedFunction) -> JitFunction:
    refused: CompileError | None = None
    for candidate in function.candidates:
        try:
            compiler.lower(candidate)
        except CompileError as error:
            refused = refused or error
            continue
        return candidate
    assert refused is not None
    raise refused


def _remembered(
    function: AutotunedFunction,
    first: JitFunction,
    dims: tuple[int, ...],
    toolchain: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> JitFunction:
    generated = compiler.lower(first).generated
    choices = {name: [repr(v) for v in values] for name, values in function.choices.items()}
    name = hash_key("autotune", generated.sources, choices, function.top, list(dims), toolchain)
    path = cache_dir() / "v1" / "autotune" / f"{name}.json"
    try:
        number = json.loads(path.read_text(encoding="utf-8"))["choice"]
        return function.candidates[number]
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        pass
    number = _measure(function, dims, toolchain, args, kwargs)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        json.dump(
            {"choice": number, "constants": {k: repr(v) for k, v in function.candidates[number].constants.items()}},
            file,
        )
    Path(file.name).replace(path)
    return function.candidates[number]


def _measure(
    function: AutotunedFunction,
    dims: tuple[int, ...],
    toolchain: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> int:
    ranked = []
    for i, candidate in enumerate(function.candidates):
        try:
            program = compiler.lower(candidate).program
        except CompileError:
            continue
        names = [d.name for d in program.host.dims]
        ranked.append((predicted_seconds(program, dict(zip(names, dims))), i))
    timed = [
        (_seconds(compiler.load(function.candidates[i], toolchain), args, kwargs), i)
        for _, i in sorted(ranked)[: function.top]
    ]
    return min(timed)[1]


hooks.tune = choose
