"""The host function of a program as a C launcher, and the manifest that describes it."""

from __future__ import annotations

from typing import Any

from pyto.codegen.ascendc.device import kernel_type, scalar_ctype
from pyto.codegen.ascendc.scalars import BITS, HELPERS, HOST_NAMES, ScalarPrinter
from pyto.errors import InternalError
from pyto.ir.nodes import Block, Const, Expr, Op, Program, ScalarType, TensorType, Var
from pyto.ir.ranges import Range, index_range
from pyto.ir.scalar import apply, simplify, substitute

ALIGN = 512  # of tensors in the workspace: a line of L2
PYTHON_OPS = {"floordiv": "//", "mod": "%", "add": "+", "sub": "-", "mul": "*", **BITS}
DIRECTIONS = {"in": "PYTO_IN", "out": "PYTO_OUT", "inout": "PYTO_INOUT"}


class HostWriter:
    """Body lines of the launcher, the kernels it starts, the bytes of workspace it needs."""

    def __init__(self, program: Program) -> None:
        self.program, self.host = program, program.host
        self.ranges: dict[Var, Range] = {d: (Const(1), None) for d in self.host.dims}
        self.text = ScalarPrinter(self.ranges, HOST_NAMES)
        self.lines: list[str] = []
        self.kernels: list[dict[str, Any]] = []
        self.pointers: dict[Var, str] = {}
        self.lets: dict[Var, Expr] = {}
        self.workspace: Expr = Const(0)
        self.depth = 0
        self._arguments()
        self._block(self.host.body)

    def helpers(self) -> list[str]:
        """Functions that the launcher calls and pyto_launch.h does not have."""
        return [HELPERS[h].replace("__aicore__", "static") for h in sorted(self.text.helpers & HELPERS.keys())]

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def _block(self, block: Block) -> None:
        for op in block.ops:
            getattr(self, f"_{op.name}")(op)

    def _inside(self, block: Block) -> None:
        self.depth += 1
        self._block(block)
        self.depth -= 1

    def _for(self, op: Op) -> None:
        lo, hi, step = op.args
        index = op.blocks[0].params[0]
        self.ranges[index] = index_range(lo, hi, step)
        name, by = index.name, self.text(step)
        self.line(f"for (int64_t {name} = {self.text(lo)}; {name} < {self.text(hi)}; {name} += {by}) {{")
        self._inside(op.blocks[0])
        self.line("}")

    def _if(self, op: Op) -> None:
        then, other = op.blocks
        if all(o.name == "yield" for o in then.ops):
            self.line(f"if (!({self.text(op.args[0])})) {{")
            then, other = other, then
        else:
            self.line(f"if ({self.text(op.args[0])}) {{")
        self._inside(then)
        if any(o.name != "yield" for o in other.ops):
            self.line("} else {")
            self._inside(other)
        self.line("}")

    def _arguments(self) -> None:
        tensors = [p for p in self.host.params if isinstance(p.var.type, TensorType)]
        for i, p in enumerate(tensors):
            self.pointers[p.var] = f"tensors[{i}]"
        for i, d in enumerate(self.host.dims):
            self.line(f"const int64_t {d.name} = dims[{i}];")
        scalars = [p.var for p in self.host.params if isinstance(p.var.type, ScalarType)]
        for i, v in enumerate(scalars):
            assert isinstance(v.type, ScalarType)
            wide = scalar_ctype(v.type)
            ctype = wide if v.type.dtype.kind == "f" else v.type.dtype.ctype
            load = f"*reinterpret_cast<const {ctype}*>(static_cast<const char*>(scalars) + {8 * i})"
            self.line(f"const {wide} {v.name} = {load};")

    def _bytes(self, t: TensorType) -> Expr:
        total: Expr = Const(t.dtype.bytes)
        for extent in reversed(t.shape):
            total = extent * total
        return simplify(total, self.ranges)

    def _let(self, op: Op) -> None:
        self.lets[op.result] = substitute(op.args[0], self.lets)
        assert isinstance(op.result.type, ScalarType)
        self.line(f"const {scalar_ctype(op.result.type)} {op.result.name} = {self.text(op.args[0])};")

    def _create_tensor(self, op: Op) -> None:
        var = op.result
        assert isinstance(var.type, TensorType)
        offset = simplify(self.workspace, self.ranges)
        self.line(f"uint8_t* {var.name} = static_cast<uint8_t*>(workspace) + {self.text(offset, 5)};")
        self.pointers[var] = var.name
        size = substitute(self._bytes(var.type), self.lets)
        self.workspace = self.workspace + apply("floordiv", size + (ALIGN - 1), Const(ALIGN)) * ALIGN

    def _launch(self, op: Op) -> None:
        parts = self.program.parts(op.attrs["kernel"])
        device, kernel = parts[0], kernel_name(self.program, op.attrs["kernel"])
        arguments, types = [], []
        for p, value in zip(device.params, op.args[1:]):
            if isinstance(value, Var) and isinstance(value.type, TensorType):
                arguments.append(
                    f"{DIRECTIONS[p.direction]}({self.pointers[value]}, {self.text(self._bytes(value.type))})"
                )
                types.append("GM_ADDR")
            else:
                assert isinstance(p.var.type, ScalarType)
                arguments.append(self.text(value))
                types.append(scalar_ctype(p.var.type))
        cores = "PYTO_CUBE_CORES()" if device.kind == "cube" else "PYTO_VECTOR_CORES()"
        grid = op.args[0]
        blocks = "1" if grid == Const(1) else f"PYTO_MIN({self.text(grid)}, {cores})"
        self.line(f"PYTO_LAUNCH({kernel}, {blocks}, stream, {', '.join(arguments)});")
        self.kernels.append({"kernel": kernel, "types": types, "type": kernel_type(parts)})

    def _yield(self, op: Op) -> None:
        pass


def kernel_name(program: Program, kernel: str) -> str:
    return f"{program.name}_{kernel}"


def python_text(expr: Expr) -> str:
    """An expression over dims in the manifest's syntax."""
    if isinstance(expr, Const):
        return str(expr.value)
    if isinstance(expr, Var):
        return expr.name
    from pyto.ir.nodes import Apply

    assert isinstance(expr, Apply)
    args = [python_text(a) for a in expr.args]
    if expr.op in ("min", "max"):
        return f"{expr.op}({', '.join(args)})"
    if expr.op not in PYTHON_OPS:
        raise InternalError(f"no manifest text for {expr.op}")
    return f"({args[0]} {PYTHON_OPS[expr.op]} {args[1]})"


def manifest(program: Program, host: HostWriter, chip: str, version: str) -> dict[str, Any]:
    params = []
    for p in program.host.params:
        t = p.var.type
        if isinstance(t, TensorType):
            shape = [e.value if isinstance(e, Const) else python_text(e) for e in t.shape]
            params.append(
                {"name": p.var.name, "kind": "tensor", "dtype": t.dtype.numpy, "shape": shape, "direction": p.direction}
            )
        else:
            params.append({"name": p.var.name, "kind": "scalar", "dtype": p.var.dtype.numpy})
    return {
        "name": program.name, "version": version, "chip": chip, "params": params,
        "dims": [d.name for d in program.host.dims], "workspace": python_text(simplify(host.workspace, host.ranges)),
        "kernels": [{"name": k["kernel"], "type": k["type"]} for k in host.kernels],
    }  # fmt: skip
