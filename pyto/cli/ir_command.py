"""`pyto ir`."""

from __future__ import annotations

import difflib

import click

from pyto.cli import console
from pyto.cli.options import chip_option, memory_option
from pyto.cli.sources import find
from pyto.errors import UsageError


@click.command("ir")
@click.argument("target", metavar="PATH[:NAME]")
@click.option("--after", metavar="PASS", help="Show the IR as this pass leaves it. Default: the last pass.")
@click.option(
    "--list", "list_passes", is_flag=True, help="List the passes with their times and whether they changed anything."
)
@click.option("--locations", is_flag=True, help="Write behind each operation where it comes from.")
@chip_option
@memory_option
def command(target: str, after: str | None, list_passes: bool, locations: bool, chip: str, memory: str) -> int:
    """Print the IR of kernels, as text that `pyto compile` and `pyto run` take too (.pto; docs/pto.md).

    \b
    Examples:
      pyto ir kernel.py:rms_norm
      pyto ir kernel.py:rms_norm --list
      pyto ir kernel.py:rms_norm --after plan_memory
      pyto ir kernel.py:rms_norm --after parse --locations > rms_norm.pto
    """
    from pyto import compiler
    from pyto.build import chip_name
    from pyto.ir.printer import print_program

    chip = chip_name(chip)
    found, errors = find(target)
    for error in errors:
        console.show_error(error)
    for item in found:
        compiled = compiler.lower(item.kernel, chip, memory=memory)
        stages = compiled.stages
        names = [stage.name for stage in stages]
        if list_passes:
            rows = [[stage.name, f"{stage.ms:.1f}", "" if stage.changed else "no change"] for stage in stages]
            console.stdout().print(f"{item.name}: {sum(stage.ms for stage in stages):.0f} ms")
            console.stdout().print(console.table(["after", "ms", ""], rows, right=(1,)))
            continue
        if after is not None and after not in names:
            close = difflib.get_close_matches(after, names, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise UsageError("usage.pass", f"no pass {after!r}", remedy=f"{hint}passes in order: {', '.join(names)}")
        chosen = stages[-1] if after is None else stages[names.index(after)]
        click.echo(print_program(chosen.program, locations=locations).rstrip("\n"))
    return max((error.exit_code for error in errors), default=0)
