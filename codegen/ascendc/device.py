"""Machine-stage functions to Ascend C device functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pyto.codegen.ascendc import cube, data, vector
from pyto.codegen.ascendc.accumulators import layouts
from pyto.codegen.ascendc.writer import Writer, comment, tile_ctype
from pyto.errors import InternalError, source_line
from pyto.ir.nodes import (
    Block,
    Const,
    Expr,
    Function,
    Loc,
    Op,
    ScalarType,
    Space,
    TensorType,
    TileType,
    Var,
    View,
    walk,
)
from pyto.ir.ranges import let_range
from pyto.ir.scalar import dtype_of, variables

POSITIONS = {Space.UB: "VECCALC", Space.L1: "A1", Space.L0A: "A2", Space.L0B: "B2", Space.L0C: "CO1"}
KINDS = {
    "vector": {"type": "KERNEL_TYPE_AIV_ONLY", "guard": "ASCEND_IS_AIV"},
    "cube": {"type": "KERNEL_TYPE_AIC_ONLY", "guard": "ASCEND_IS_AIC"},
}
GROUP_MODE = "0x2"  # of a flag: the cube core of a block and both its vector cores
MIXED_TYPE = "KERNEL_TYPE_MIX_AIC_1_2"
ALONE = ("AscendC::GetBlockIdx()", "AscendC::GetBlockNum()")
GROUP = ("AscendC::GetBlockIdx() / AscendC::GetTaskRation()", "AscendC::GetBlockNum()", "AscendC::GetSubBlockIdx()")
EMITTERS: dict[str, Any] = {**vector.EMITTERS, **cube.EMITTERS, **data.EMITTERS}


def scalar_ctype(t: ScalarType) -> str:
    """Scalars are computed as floats, bools and 64-bit integers, whatever their width."""
    return {"f": "float", "b": "bool"}.get(t.dtype.kind, "int64_t")


def device_function(function: Function) -> tuple[dict[str, Any], set[str]]:
    """The template's fields for one device function, and the helpers that the text calls."""
    writer = Writer(function)
    writer.layouts = layouts(function.body)
    body = _Body(writer)
    body.block(function.body)
    params, arguments = kernel_params(function)
    tensors, lines = _tensors(function), _used(writer.lines)
    words = {w for line in lines if not line.lstrip().startswith("//") for w in re.findall(r"\w+", line)}
    mixed = "kernel" in function.attrs
    if mixed:  # its kernel has the params of both parts
        named = [p.var.name in words for p in function.params]
        params, arguments = ([x for x, n in zip(xs, named) if n] for xs in (params, arguments))
        tensors = [t for t in tensors if t[0] in words]
    places = [(v, at) for v, at in zip(function.body.params, GROUP if mixed else ALONE) if v.name in words]
    fields = {
        "name": function.name,
        "own": [*params, *(f"int64_t {v.name}" for v, _ in places)],
        "call": [*arguments, *(at for _, at in places)],
        "guard": KINDS[function.kind]["guard"],
        "body": [*(line for _, both in tensors for line in both), *body.buffers, *lines],
    }
    return fields, writer.printer.helpers


def kernel_params(function: Function) -> tuple[list[str], list[str]]:
    """The declarations of a kernel's parameters, and what it hands on."""
    params, arguments = [], []
    for p in function.params:
        if isinstance(p.var.type, TensorType):
            params.append(f"GM_ADDR {p.var.name}_gm")
            arguments.append(f"{p.var.name}_gm")
        else:
            assert isinstance(p.var.type, ScalarType)
            params.append(f"{scalar_ctype(p.var.type)} {p.var.name}")
            arguments.append(p.var.name)
    return params, arguments


def kernel_type(parts: Sequence[Function]) -> str:
    return MIXED_TYPE if len(parts) > 1 else KINDS[parts[0].kind]["type"]


def _used(lines: list[str]) -> list[str]:
    """Without constants that no other line names."""
    while True:
        words = Counter(w for line in lines for w in re.findall(r"\w+", line))
        dead = re.compile(r"\s*const \w+ (\w+) = ")
        kept = [line for line in lines if not (m := dead.match(line)) or words[m[1]] > 1]
        if len(kept) == len(lines):
            return lines
        lines = kept


def _tensors(function: Function) -> list[tuple[str, list[str]]]:
    """Each GM tensor's name and the lines that declare it."""
    found = []
    for p in function.params:
        if isinstance(p.var.type, TensorType):
            ctype, name = tile_ctype(p.var.type.dtype), p.var.name
            pointer = f"reinterpret_cast<__gm__ {ctype}*>({name}_gm)"
            found.append((name, [f"    GlobalTensor<{ctype}> {name};", f"    {name}.SetGlobalBuffer({pointer});"]))
    return found


class _Body:
    def __init__(self, writer: Writer) -> None:
        self.w = writer
        self.buffers: list[str] = []
        self.said: tuple[str, int] | None = None

    def block(self, block: Block) -> None:
        for op in block.ops:
            handler = getattr(self, f"do_{op.name}", None)
            if handler is not None:
                handler(op)
            elif op.name in EMITTERS:
                self.quote(op.loc)
                EMITTERS[op.name](self.w, op)
            else:
                raise InternalError(f"no Ascend C for {op.name}", op.loc)

    def quote(self, loc: Loc | None) -> None:
        """The Python line above the statements it stands for."""
        if loc is None or (loc.file, loc.line) == self.said:
            return
        self.said = loc.file, loc.line
        text = (source_line(loc.file, loc.line) or "").strip()
        self.w.line(comment(f"// {loc.name}:{loc.line}: {text}"))

    def do_alloc(self, op: Op) -> None:
        t = op.result.type
        assert isinstance(t, TileType) and t.space
        elements = self.w.slot_elements(op.result) * op.attrs["slots"]
        ctype, name = tile_ctype(t.dtype), op.result.name
        self.buffers.append(
            f"    LocalTensor<{ctype}> {name}(TPosition::{POSITIONS[t.space]}, {op.attrs['offset']}, {elements});"
        )

    def do_yield(self, op: Op) -> None:
        pass

    def do_for(self, op: Op) -> None:
        self.quote(op.loc)
        index, *carried = op.blocks[0].params
        for param, init in zip(carried, op.args[3:]):
            self._variable(param, init)
        with self.w.loop(index, *op.args[:3]):
            self.block(op.blocks[0])
            self._assign(carried, op.blocks[0].ops[-1].args)
        self._results(op, carried)

    def do_while(self, op: Op) -> None:
        self.quote(op.loc)
        number, *carried = op.blocks[0].params
        for param, init in zip(carried, op.args):
            self._variable(param, init)
        counts = any(number in variables(a) for o in walk(op.blocks[0]) for a in o.args)
        if counts:
            self.w.ranges[number] = (Const(0), None)
        self.w.line(f"for (int64_t {number.name} = 0;; ++{number.name}) {{" if counts else "while (true) {")
        self.w.depth += 1
        self.block(op.blocks[0])
        self._assign(carried, op.blocks[0].ops[-1].args)
        self.w.depth -= 1
        self.w.line("}")
        self._results(op, carried)

    def do_break(self, op: Op) -> None:
        self.w.line(f"if ({self.w.text(op.args[0])}) {{")
        self.w.line("    break;")
        self.w.line("}")

    def do_if(self, op: Op) -> None:
        self.quote(op.loc)
        for result in op.results:
            assert isinstance(result.type, ScalarType)
            self.w.line(f"{scalar_ctype(result.type)} {result.name};")
        then, other = (b if len(b.ops) > 1 or op.results else None for b in op.blocks)
        condition = self.w.text(op.args[0])
        if then is None:
            condition, then, other = f"!({condition})", op.blocks[1], None
        self.w.line(f"if ({condition}) {{")
        self._branch(op, then)
        if other is not None:
            self.w.line("} else {")
            self._branch(op, other)
        self.w.line("}")

    def _branch(self, op: Op, block: Block) -> None:
        self.w.depth += 1
        self.said = None
        self.block(block)
        for result, end in zip(op.results, block.ops[-1].args):
            self.w.line(f"{result.name} = {self.w.text(end)};")
        self.w.depth -= 1

    def _variable(self, var: Var, value: Expr) -> None:
        assert isinstance(var.type, ScalarType)
        self.w.line(f"{scalar_ctype(var.type)} {var.name} = {self.w.text(value)};")

    def _assign(self, carried: list[Var], ends: tuple[Expr, ...]) -> None:
        """The values of the next iteration, all at once."""
        changed = [(p, e) for p, e in zip(carried, ends) if p != e]
        read = [set(variables(e)) for _, e in changed]
        names = {}
        for i, (param, end) in enumerate(changed):
            if any(param in later for later in read[i + 1 :]):
                assert isinstance(param.type, ScalarType)
                names[param] = self.w.fresh(f"{param.name}_next").name
                self.w.line(f"const {scalar_ctype(param.type)} {names[param]} = {self.w.text(end)};")
            else:
                self.w.line(f"{param.name} = {self.w.text(end)};")
        for param, name in names.items():
            self.w.line(f"{param.name} = {name};")

    def _results(self, op: Op, carried: list[Var]) -> None:
        for result, param in zip(op.results, carried):
            assert isinstance(result.type, ScalarType)
            self.w.line(f"const {scalar_ctype(result.type)} {result.name} = {param.name};")

    def do_print(self, op: Op) -> None:
        self.quote(op.loc)
        if len(op.args) == 1 and isinstance(op.args[0], View):
            self._dump(op.args[0], op.loc)
            return
        text, values = _printed(self.w, op.attrs["text"], op.args)
        self.w.line(f"AscendC::printf({', '.join([text, *values])});")

    def _dump(self, view: View, loc: Loc | None) -> None:
        line = loc.line if loc else 0
        row = self.w.fresh("r")
        with self.w.loop_or_once(row, view.valid[0]) as r:
            self.w.line(f"DumpTensor({self.w.at(view, r)}, {line}, {self.w.text(view.valid[1])});")

    def do_assert(self, op: Op) -> None:
        self.quote(op.loc)
        text, values = _printed(self.w, op.attrs["text"], op.args[1:])
        self.w.line(f"ascendc_assert({', '.join([self.w.text(op.args[0]), text, *values])});")

    def do_let(self, op: Op) -> None:
        name, t = op.result.name, op.result.type
        assert isinstance(t, ScalarType)
        self.w.line(f"const {scalar_ctype(t)} {name} = {self.w.text(op.args[0])};")
        self.w.ranges[op.result] = let_range(op)

    def do_read(self, op: Op) -> None:
        self.quote(op.loc)
        if isinstance(op.args[0], View):
            data.read(self.w, op)
            return
        tensor, offset = self.w.gm_offset(op, 0)
        self.w.statement("read", op.result.name, op.args[0].type.dtype.ctype, tensor, offset)  # type: ignore[attr-defined]

    def do_load(self, op: Op) -> None:
        self.quote(op.loc)
        (cube if _space(op.args[0]) == Space.L1 else vector).load(self.w, op)

    def do_store(self, op: Op) -> None:
        self.quote(op.loc)
        (cube if _space(op.args[1]) == Space.L0C else vector).store(self.w, op)

    def do_set_flag(self, op: Op) -> None:
        self._flag("SetFlag", op)

    def do_wait_flag(self, op: Op) -> None:
        self._flag("WaitFlag", op)

    def _flag(self, call: str, op: Op) -> None:
        event = self.w.text(op.args[0])
        event = f"EVENT_ID{event}" if isinstance(op.args[0], Const) else f"static_cast<event_t>({event})"
        self.w.line(f"{call}<HardEvent::{op.attrs['src']}_{op.attrs['dst']}>({event});")

    def do_cross_set(self, op: Op) -> None:
        self.w.line(f"CrossCoreSetFlag<{GROUP_MODE}, PIPE_{op.attrs['pipe']}>({op.attrs['flag']});")

    def do_cross_wait(self, op: Op) -> None:
        self.w.line(f"CrossCoreWaitFlag({op.attrs['flag']});")

    def do_barrier(self, op: Op) -> None:
        self.w.line(f"PipeBarrier<PIPE_{op.attrs['pipe']}>();")


def _printed(w: Writer, text: str, values: tuple[Expr, ...]) -> tuple[str, list[str]]:
    """A format string of printf with the arguments it takes."""
    forms, arguments = [], []
    for value in values:
        floating = dtype_of(value).kind == "f"
        forms.append("%f" if floating else "%ld")
        arguments.append(f"static_cast<{'float' if floating else 'long'}>({w.text(value)})")
    pieces = [part.replace("%", "%%") for part in text.split("{}")]
    joined = pieces[0] + "".join(form + piece for form, piece in zip(forms, pieces[1:]))
    return c_string(joined), arguments


def c_string(text: str) -> str:
    """A string literal of C++; what is not printable ASCII as the bytes of UTF-8, in octal."""
    shown = {0x0A: "\\n", 0x22: '\\"', 0x5C: "\\\\"}
    parts = [
        shown.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}")
        for byte in text.encode("utf-8", "replace")
    ]
    return f'"{"".join(parts)}"'


def _space(view: Any) -> str:
    assert isinstance(view, View)
    return view.space
