"""Loading built programs and calling them with numpy arrays or torch tensors.

program = load(path_of_so, manifest)     # manifest: dict, path, or None for NAME.json beside it
y = program(x, weight)                   # outputs at the end may be left out
toolchain_for(args)                      # "bisheng" for tensors on an NPU, else "cxx"
"""

from pyto.runtime.program import Program, load, toolchain_for

__all__ = ["Program", "load", "toolchain_for"]
