"""`pyto compile`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pyto.cli import console
from pyto.cli.options import chip_option, memory_option, toolchain_option
from pyto.cli.sources import Found, find
from pyto.errors import PytoError

DEFAULT_OUT = "pyto_out"


@click.command("compile")
@click.argument("target", metavar="PATH[:NAME]")
@click.option("-o", "--out", metavar="DIR", help=f"Where to write (a folder a kernel). Default: {DEFAULT_OUT}.")
@chip_option
@toolchain_option
@memory_option
@click.option(
    "--emit",
    type=click.Choice(["ir", "ascendc", "so"]),
    default="so",
    show_default=True,
    help="ir: the IR after the last pass; ascendc: the sources (both to stdout without -o). so: sources and library.",
)
@click.option("--dump", metavar="DIR", help="Write to DIR/NAME what each pass changed, with milliseconds.")
def command(target: str, out: str | None, chip: str, toolchain: str, emit: str, dump: str | None, memory: str) -> int:
    """Compile kernels to Ascend C and build them.

    PATH is a Python file, a folder whose Python kernels are all compiled, or IR as text (.pto; docs/pto.md). Each
    kernel gets a folder DIR/NAME with NAME.cpp (kernels), NAME_host.cpp (launcher), NAME.json (manifest),
    build_cann.sh and NAME.so. With CANN's bisheng found, NAME.so is for the NPU; else it is for this kind of CPU, and
    pyto says so.

    \b
    Examples:
      pyto compile kernel.py
      pyto compile kernel.py:rms_norm -o out --chip ascend910b3
      pyto compile models/qwen3_14b -o out
      pyto compile kernel.py:rms_norm --emit ascendc
      pyto compile kernel.pto
      pyto compile kernel.py:rms_norm --emit ir --dump passes
    """
    from pyto.build import chip_name, pick_toolchain

    chip = chip_name(chip)
    chosen = pick_toolchain(toolchain) if emit == "so" else toolchain
    found, errors = find(target)
    rows: list[list[str]] = []
    if emit == "so" and toolchain == "auto" and chosen == "cxx":
        console.stderr().print("bisheng (CANN) not found: building for the CPU")
    with console.progress("compile") as say:
        for item in found:
            say(f"compile {item.name}")
            try:
                rows.append(_one(item, out, chip, chosen, emit, dump, memory))
            except PytoError as error:
                if len(found) == 1:
                    raise
                errors.append(error)
    for failure in errors:
        console.show_error(failure)
    if emit == "so" or out is not None:
        console.stdout().print(console.table(["kernel", "file", "lines", "ms", "written"], rows, right=(2, 3)))
    if errors:
        console.stderr().print(f"{len(errors)} of {len(rows) + len(errors)} failed")
        return max(failure.exit_code for failure in errors)
    return 0


def _one(
    item: Found, out: str | None, chip: str, toolchain: str, emit: str, dump: str | None, memory: str
) -> list[str]:
    """Compile one kernel; its row of the table."""
    from pyto import compiler
    from pyto.build import write_sources

    compiled = compiler.lower(item.kernel, chip, compiler.Dump(dump) if dump else None, memory)
    ms = sum(stage.ms for stage in compiled.stages)
    folder = Path(out or DEFAULT_OUT) / item.name
    if emit == "ir":
        text = compiled.stages[-1].text.rstrip("\n") + "\n"
        if out is None:
            click.echo(text, nl=False)
        else:
            _write(folder, f"{item.name}.pto", text)
    elif emit == "ascendc":
        if out is None:
            for name in sorted(compiled.generated.sources):
                click.echo(f"// ==== {name}\n{compiled.generated.sources[name]}", nl=False)
        else:
            write_sources(compiled.generated, chip, folder)
    else:
        compiler.build(compiled, chip, toolchain, folder)
    return [item.name, str(item.path), str(_lines(compiled)), f"{ms:.0f}", str(folder)]


def _lines(compiled: Any) -> int:
    """Lines of Ascend C."""
    return sum(text.count("\n") for text in compiled.generated.sources.values())


def _write(folder: Path, name: str, text: str) -> None:
    from pyto.errors import UsageError

    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError("usage.out-dir", f"cannot write to {folder}: {error.strerror or error}") from error
