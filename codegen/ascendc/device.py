"""Machine-stage functions to Ascend C device functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pyto.codegen.ascendc import cube, vector
from pyto.codegen.ascendc.writer import Writer
from pyto.errors import InternalError, source_line
from pyto.ir.nodes import Block, Const, Function, Loc, Op, ScalarType, Space, TensorType, TileType, View, walk
from pyto.ir.ranges import let_range

POSITIONS = {Space.UB: "VECCALC", Space.L1: "A1", Space.L0A: "A2", Space.L0B: "B2", Space.L0C: "CO1"}
KINDS = {
    "vector": {"type": "KERNEL_TYPE_AIV_ONLY", "guard": "ASCEND_IS_AIV"},
    "cube": {"type": "KERNEL_TYPE_AIC_ONLY", "guard": "ASCEND_IS_AIC"},
}
GROUP_MODE = "0x2"  # of a flag: the cube core of a block and both its vector cores
MIXED_TYPE = "KERNEL_TYPE_MIX_AIC_1_2"
ALONE = ("AscendC::GetBlockIdx()", "AscendC::GetBlockNum()")
GROUP = ("AscendC::GetBlockIdx() / AscendC::GetTaskRation()", "AscendC::GetBlockNum()", "AscendC::GetSubBlockIdx()")
EMITTERS: dict[str, Any] = {**vector.EMITTERS, **cube.EMITTERS}


def scalar_ctype(t: ScalarType) -> str:
    return t.dtype.ctype if t.dtype.kind in "fb" else "int64_t"


def device_function(function: Function) -> tuple[dict[str, Any], set[str]]:
    """The template's fields for one device function, and the helpers that the text calls."""
    writer = Writer(function)
    writer.layout_rows = cube.accumulator_layout(list(walk(function.body)))
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
            ctype, name = p.var.type.dtype.ctype, p.var.name
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
        name = loc.file.replace("\\", "/").rsplit("/", 1)[-1]
        self.w.line(f"// {name}:{loc.line}: {text}".rstrip().rstrip("\\"))

    def do_alloc(self, op: Op) -> None:
        t = op.result.type
        assert isinstance(t, TileType) and t.space
        elements = self.w.slot_elements(op.result) * op.attrs["slots"]
        ctype, name = t.dtype.ctype, op.result.name
        self.buffers.append(
            f"    LocalTensor<{ctype}> {name}(TPosition::{POSITIONS[t.space]}, {op.attrs['offset']}, {elements});"
        )

    def do_yield(self, op: Op) -> None:
        pass

    def do_for(self, op: Op) -> None:
        self.quote(op.loc)
        index = op.blocks[0].params[0]
        with self.w.loop(index, *op.args[:3]):
            self.block(op.blocks[0])

    def do_let(self, op: Op) -> None:
        name, t = op.result.name, op.result.type
        assert isinstance(t, ScalarType)
        self.w.line(f"const {scalar_ctype(t)} {name} = {self.w.text(op.args[0])};")
        self.w.ranges[op.result] = let_range(op)

    def do_read(self, op: Op) -> None:
        self.quote(op.loc)
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


def _space(view: Any) -> str:
    assert isinstance(view, View)
    return view.space
