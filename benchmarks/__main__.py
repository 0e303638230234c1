"""`python -m benchmarks`: run benchmarks, print a table, write the figures as JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import traceback
from dataclasses import asdict
from pathlib import Path

from benchmarks.registry import BENCHMARKS, Figure, Options

MODULES = (
    "compile_time",
    "examples",
    "build_time",
    "call_overhead",
    "determinism",
    "stages",
    "gemm_by_hand",
    "mixed_gemm",
    "sim_gemm",
    "suite",
)


def machine(options: Options) -> dict[str, object]:
    from pyto.build import cpu
    from pyto.build.compilers import find_cxx

    return {
        "cpu": cpu.model(),
        "features": cpu.notable(),
        "cores": cpu.threads(),
        "threads": options.threads,
        "load": os.getloadavg()[0],
        "compiler": find_cxx().name,
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def main(argv: list[str] | None = None) -> int:
    for module in MODULES:
        importlib.import_module(f"benchmarks.{module}")
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which of {', '.join(BENCHMARKS)} (default all)")
    parser.add_argument("--output", default="build/bench.json", help="the JSON file (default build/bench.json)")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1), help="threads of pyto and torch")
    parser.add_argument("--batch", type=int, default=16, help="rows of activations of the stages (default 16)")
    parser.add_argument("--repeat", type=int, default=9, help="timed runs a figure; the median counts (default 9)")
    parser.add_argument("--quick", action="store_true", help="fewer runs, no torch.compile")
    parser.add_argument("--no-torch", action="store_true", help="no comparison with torch")
    arguments = parser.parse_args(argv)
    unknown = [name for name in arguments.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    os.environ["PYTO_THREADS"] = str(arguments.threads)
    with_torch = not arguments.no_torch and importlib.util.find_spec("torch") is not None
    repeat = min(3, arguments.repeat) if arguments.quick else arguments.repeat
    options = Options(arguments.threads, arguments.batch, repeat, arguments.quick, with_torch)
    figures: list[Figure] = []
    failed = []
    for name in arguments.names or list(BENCHMARKS):
        print(f"== {name}", file=sys.stderr, flush=True)
        try:
            for figure in BENCHMARKS[name](options):
                figures.append(figure)
                print(f"   {line(figure)}", file=sys.stderr, flush=True)
        except Exception:
            traceback.print_exc()
            failed.append(name)
    show(figures)
    document = {"machine": machine(options), "figures": [asdict(figure) for figure in figures], "failed": failed}
    path = Path(arguments.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path}")
    return 1 if failed else 0


def line(figure: Figure) -> str:
    ratio = "" if figure.ratio is None else f"  {figure.ratio:.3g} x"
    compared = f" {figure.compared_with}" if figure.compared_with else ""
    return f"{figure.name}: {figure.value:.4g} {figure.unit}{ratio}{compared}"


def show(figures: list[Figure]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table("figure", "value", "unit", "ratio", "compared with", box=SIMPLE_HEAD)
    for column in (1, 3):
        table.columns[column].justify = "right"
    for figure in figures:
        ratio = "" if figure.ratio is None else f"{figure.ratio:.3g}"
        table.add_row(figure.name, f"{figure.value:.4g}", figure.unit, ratio, figure.compared_with or "")
    Console(highlight=False).print(table)


if __name__ == "__main__":
    raise SystemExit(main())
