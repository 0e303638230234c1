"""`python -m pyto.models.qwen3_14b.demo`: compile the four stages, run them on this CPU at 14B sizes, check."""

from __future__ import annotations

import argparse
import ast
import inspect
import statistics
import textwrap
import time
from collections.abc import Iterator
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from pyto import compiler
from pyto.language.jit import JitFunction
from pyto.models.qwen3_14b.config import QWEN3_14B
from pyto.models.qwen3_14b.reference import relative_l2
from pyto.models.qwen3_14b.stages import STAGES, Stage

COLUMNS = ("stage", "DSL", "Ascend C", "compile s", "error", "allowed", "ms", "GB/s")
LEGEND = """DSL, Ascend C: lines of code. compile s: C++ included, unless built before.
error: relative L2 against float64 numpy. GB/s: arguments read and written."""


def functions_of(kernel: JitFunction) -> Iterator[JitFunction]:
    """The kernel and the inline functions it is made of, each once."""
    seen: dict[str, JitFunction] = {}
    waiting = [kernel]
    while waiting:
        f = waiting.pop()
        if f.name not in seen:
            seen[f.name] = f
            names = {**f.fn.__globals__, **inspect.getclosurevars(f.fn).nonlocals}
            waiting += [v for n in f.fn.__code__.co_names if isinstance(v := names.get(n), JitFunction)]
    yield from seen.values()


def code_lines(function: JitFunction) -> int:
    """Lines of its source without blank lines, comments and docstring."""
    source = textwrap.dedent(inspect.getsource(function.fn))
    body = ast.parse(source).body[0].body  # type: ignore[attr-defined]
    docstring: set[int] = set()
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        docstring = set(range(body[0].lineno, (body[0].end_lineno or 0) + 1))
    lines = enumerate(source.splitlines(), 1)
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") and n not in docstring for n, line in lines)


def run(stage: Stage, batch: int, repeat: int) -> tuple[list[str], bool]:
    """Compile, run and check one stage: its row of the table, and whether the error is within its bound."""
    arguments = stage.inputs(QWEN3_14B, batch)
    want = stage.reference(QWEN3_14B, arguments)
    before = {name: arguments[name].copy() for name in want}
    start = time.perf_counter()
    compiled = compiler.lower(stage.kernel)
    compiler.build(compiled)
    built = time.perf_counter() - start
    stage.kernel(*arguments.values())
    error = max(relative_l2(arguments[name], want[name]) for name in want)
    times = []
    for _ in range(repeat):
        for name, array in before.items():
            arguments[name][...] = array
        start = time.perf_counter()
        stage.kernel(*arguments.values())
        times.append(time.perf_counter() - start)
    seconds = statistics.median(times)
    rate = sum(a.nbytes for a in arguments.values()) / seconds / 1e9
    lines = sum(code_lines(f) for f in functions_of(stage.kernel))
    text = "\n".join(compiled.generated.sources.values())
    ascendc = sum(bool(line.strip()) and not line.lstrip().startswith("//") for line in text.splitlines())
    row = [stage.name, f"{lines}", f"{ascendc}", f"{built:.1f}", f"{error:.1e}", f"{stage.bound:.0e}"]
    return [*row, f"{seconds * 1e3:.2f}", f"{rate:.1f}"], error <= stage.bound


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m pyto.models.qwen3_14b.demo", description=__doc__)
    parser.add_argument("--batch", type=int, default=16, help="rows of activations (default 16)")
    parser.add_argument("--repeat", type=int, default=5, help="timed runs; the median counts (default 5)")
    parser.add_argument("stages", nargs="*", default=list(STAGES), help=f"which of {', '.join(STAGES)} (default all)")
    options: Any = parser.parse_args(argv)
    unknown = [name for name in options.stages if name not in STAGES]
    if unknown:
        parser.error(f"no stage {unknown[0]!r}; there are {', '.join(STAGES)}")
    console = Console(highlight=False)
    title = f"{QWEN3_14B.name}, batch {options.batch}, generated Ascend C on this CPU"
    table = Table(*COLUMNS, box=SIMPLE_HEAD, title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    good = True
    for name in options.stages:
        with console.status(f"{name}: compiling and running"):
            row, within = run(STAGES[name], options.batch, options.repeat)
        table.add_row(*row)
        good &= within
    console.print(table)
    console.print(LEGEND)
    console.print("every stage is within its allowed error" if good else "an error is LARGER than allowed")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
