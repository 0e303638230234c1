"""`pyto run`."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import click

from pyto.cli import console
from pyto.cli.options import chip_option, toolchain_option
from pyto.cli.sources import find


@click.command("run", short_help="Run a kernel on this CPU; print its tensors and its time.")
@click.argument("target", metavar="PATH:NAME")
@click.option(
    "-i",
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=FILE",
    help="A tensor from a .npy file, or a scalar's value.",
)
@click.option("--seed", type=click.IntRange(0), help="Random values for the inputs that have no --input.")
@click.option("-d", "--dim", "dims", multiple=True, metavar="NAME=SIZE", help="The size of a dynamic dimension.")
@click.option("--save", "save_dir", metavar="DIR", help="Write each output to DIR/NAME.npy.")
@click.option(
    "--repeat", type=click.IntRange(1), default=5, show_default=True, help="Timed calls, after one that warms up."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@chip_option
@toolchain_option
def command(
    target: str,
    inputs: tuple[str, ...],
    seed: int | None,
    dims: tuple[str, ...],
    save_dir: str | None,
    repeat: int,
    as_json: bool,
    chip: str,
    toolchain: str,
) -> int:
    """Compile a kernel, run it on this machine's CPU and print a summary of its tensors and the time of a call.

    PATH is a Python file, IR as text (.pto), or a NAME.so that `pyto compile` wrote (with NAME.json beside it).
    numpy stores bfloat16 arrays as raw 2-byte values: --input takes them, --save writes them.

    \b
    Examples:
      pyto run kernel.py:rms_norm --dim B=16 --seed 0
      pyto run kernel.py:rms_norm --input x=x.npy --input weight=w.npy --save out
      pyto run pyto_out/rms_norm/rms_norm.so --dim B=16 --seed 0 --json
    """
    from pyto.build import chip_name
    from pyto.cli.inputs import arguments, parse_dims, parse_pairs, save

    with console.progress("compile"):
        program = _load(target, chip_name(chip), toolchain)
    manifest = program.manifest
    values = arguments(manifest, parse_pairs(inputs, "--input"), parse_dims(dims, manifest), seed)
    named = dict(zip([param["name"] for param in manifest["params"]], values))
    written = [p["name"] for p in manifest["params"] if p["kind"] == "tensor" and p["direction"] != "in"]
    with console.progress(f"run {program.name}"):
        program(*values)
        outputs = {name: named[name].copy() for name in written}
        times = []
        for _ in range(repeat):
            start = time.perf_counter()
            program(*values)
            times.append((time.perf_counter() - start) * 1e3)
    if save_dir is not None:
        save(save_dir, outputs)
    rows = [_summary(param, outputs.get(param["name"], named[param["name"]])) for param in manifest["params"]]
    if as_json:
        timing = {"median": statistics.median(times), "best": min(times), "calls": repeat}
        console.emit_json({"name": program.name, "chip": manifest.get("chip"), "parameters": rows, "ms": timing})
        return 0
    columns = ["name", "kind", "dtype", "shape", "min", "mean", "max"]
    shown = [[_text(row.get(column)) for column in columns] for row in rows]
    console.stdout().print(console.table(columns, shown, right=(4, 5, 6)))
    console.stdout().print(
        f"{program.name}: {statistics.median(times):.3f} ms (median of {repeat}, best {min(times):.3f})"
    )
    return 0


def _load(target: str, chip: str, toolchain: str) -> Any:
    from pyto import runtime

    if target.endswith(".so") and Path(target).exists():
        return runtime.load(target)
    from pyto import compiler

    found, _ = find(target, single=True)
    compiled = compiler.lower(found[0].kernel, chip)
    # Without torch_npu's tensors a call can only be made on the CPU.
    artifact = compiler.build(compiled, chip, "cxx" if toolchain == "auto" else toolchain, None)
    return runtime.load(artifact.so, artifact.manifest)


def _summary(param: dict[str, Any], value: Any) -> dict[str, Any]:
    import numpy as np

    if param["kind"] == "scalar":
        return {"name": param["name"], "kind": "scalar", "dtype": param["dtype"], "value": value, "mean": value}
    numbers = value.astype(np.float64)
    return {
        "name": param["name"],
        "kind": param["direction"],
        "dtype": param["dtype"],
        "shape": list(value.shape),
        "min": float(numbers.min()),
        "mean": float(numbers.mean()),
        "max": float(numbers.max()),
    }


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)
