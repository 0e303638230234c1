"""The small C++ files that the build writes around a device source for the CPU.

A device source is compiled twice, as cube and as vector core, and both objects end up in one library. Functions of the
same name must not merge at link time although they differ, so each copy sits in a namespace of its own:

    #include "kernel_operator.h"
    #include <whatever the source includes>
    namespace pyto_aic {
    #include "NAME.cpp"
    }

`extern "C"` kernels keep their name in a namespace; they are renamed by -DKERNEL=KERNEL__aic.
"""

from __future__ import annotations

import re

from pyto.build.scan import Kernel, blank, includes, leading_defines, param_name

CORES = ("aic", "aiv")
KERNEL_HEADER = "kernel_operator.h"


def kernels_of(kernels: list[Kernel], core: str) -> list[Kernel]:
    return [kernel for kernel in kernels if (kernel.has_aic if core == "aic" else kernel.has_aiv)]


def wrapper(
    file: str, sources: dict[str, str], kernels: list[Kernel], core: str, simulator_headers: frozenset[str]
) -> str:
    """The translation unit of one device source for one core kind."""
    text = sources[file]
    prelude = [*leading_defines(text), f'#include "{KERNEL_HEADER}"']
    for name, system in _outer_includes(file, sources, simulator_headers):
        if name != KERNEL_HEADER:
            plain = [f'#include "{name}"']
            prelude += [f"#if __has_include(<{name}>)", f"#include <{name}>", "#endif"] if system else plain
    space = f"pyto_{core}"
    body = [f"namespace {space} {{"]
    if re.search(r"\bnamespace\s+AscendC\b", blank(text).replace("using namespace", "")):
        body.append("namespace AscendC { using namespace ::AscendC; }")
    body += [f'#include "{file}"', "}"]
    for kernel in kernels_of(kernels, core):
        if not kernel.extern_c:
            names = [param_name(param) or f"arg{i}" for i, param in enumerate(kernel.params)]
            params = [param if param_name(param) else f"{param} {name}" for param, name in zip(kernel.params, names)]
            body.append(
                f'extern "C" void {kernel.name}__{core}({", ".join(params)}) '
                f"{{ {space}::{kernel.name}({', '.join(names)}); }}"
            )
    return "\n".join([*prelude, *body]) + "\n"


def _outer_includes(file: str, sources: dict[str, str], simulator_headers: frozenset[str]) -> list[tuple[str, bool]]:
    """System and simulator headers that `file` and the local headers it includes need, in order of first mention."""
    found: dict[tuple[str, bool], None] = {}
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen:
            return
        seen.add(name)
        for included, system in includes(sources[name]):
            if included in sources:
                visit(included)
            elif system or included in simulator_headers:
                found[(included, system and included not in simulator_headers)] = None

    visit(file)
    return list(found)


def registry(kernels: list[Kernel]) -> str:
    """NAME_kernels.cpp: ties each kernel's name to its entries and its type."""
    lines = ['#include "pyto_launch.h"']
    lines += [f"PYTO_DEFINE_KERNEL({kernel.name}, {kernel.type});" for kernel in kernels]
    return "\n".join(lines) + "\n"
