"""Ascend C for Atlas A2/A3 from a machine-stage program."""

from __future__ import annotations

from typing import Any

from pyto import __version__
from pyto.codegen.ascendc.device import device_function, kernel_params, kernel_type
from pyto.codegen.ascendc.host import HostWriter, kernel_name, manifest
from pyto.codegen.ascendc.scalars import HELPERS
from pyto.codegen.ascendc.writer import comment, environment
from pyto.ir.nodes import Program
from pyto.target import DEFAULT_CHIP, Chip


def generate(program: Program, chip: Chip = DEFAULT_CHIP) -> tuple[dict[str, str], dict[str, Any]]:
    """Sources by file name (NAME.cpp with the kernels, NAME_host.cpp with the launcher) and the manifest."""
    host = HostWriter(program)
    functions, kernels, helpers = [], [], set()
    for name in dict.fromkeys(f.attrs.get("kernel", f.name) for f in program.device):
        parts, calls = program.parts(name), []
        for part in parts:
            fields, used = device_function(part)
            functions.append(fields)
            calls.append(fields)
            helpers |= used
        params, _ = kernel_params(parts[0])
        kernels.append(
            {"name": kernel_name(program, name), "params": params, "type": kernel_type(parts), "parts": calls}
        )
    source = comment(program.host.loc.name) if program.host.loc else "IR"
    common = {"name": program.name, "version": __version__, "source": source, "chip": chip.name}
    env = environment()
    sources = {
        f"{program.name}.cpp": env.get_template("program.cpp.j2").render(
            **common, functions=functions, kernels=kernels, helpers=[HELPERS[h] for h in sorted(helpers)]
        ),
        f"{program.name}_host.cpp": env.get_template("host.cpp.j2").render(
            **common, kernels=host.kernels, body=host.lines, helpers=host.helpers()
        ),
    }
    return sources, manifest(program, host, chip.name, __version__)
