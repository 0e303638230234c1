"""The text of one device function while it is written: lines, indentation, operands, names."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jinja2

from pyto.codegen.ascendc.accumulators import Layout
from pyto.codegen.ascendc.scalars import ScalarPrinter, literal
from pyto.ir.builder import names_of
from pyto.ir.nodes import (
    FP32,
    INDEX,
    Const,
    DType,
    Expr,
    Function,
    Op,
    ScalarType,
    TensorType,
    TileType,
    Var,
    View,
    const,
    slot_bytes,
)
from pyto.ir.ranges import Range, index_range
from pyto.ir.scalar import KnownRanges, simplify
from pyto.target import DEFAULT_CHIP


def tile_ctype(dtype: DType) -> str:
    """The type of a tensor's elements: bools are bytes of 0 and 1."""
    return "uint8_t" if dtype.kind == "b" else dtype.ctype


@functools.cache
def environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("pyto.codegen.ascendc", "templates"), trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, undefined=jinja2.StrictUndefined, autoescape=False,
    )  # fmt: skip


@functools.cache
def statements() -> Any:
    return environment().get_template("statements.j2").module


def comment(text: str) -> str:
    """What a line comment may hold: printable characters, and no backslash that would join the next line to it."""
    return "".join(c if c.isprintable() else " " for c in text).rstrip(" \\")


class Writer:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.names = names_of(function)
        self.lines: list[str] = []
        self.depth = 1
        dims: dict[Var, Range] = {
            p.var: (Const(0 if p.var.type.dtype.kind == "u" else 1), None)  # no kernel starts with a dim of 0
            for p in function.params
            if isinstance(p.var.type, ScalarType)
            and (p.var.name in function.attrs.get("dims", ()) or p.var.type.dtype.kind == "u")
        }
        self.ranges: dict[Var, Range] = KnownRanges(dims)
        self.ranges |= {v: (Const(0), None) for v in function.body.params}
        self.ranges |= {v: (Const(0), Const(1)) for v in function.body.params[2:]}
        self.printer = ScalarPrinter(self.ranges)
        self.tensors: set[Var] = set()
        self.layouts: dict[Var, Layout] = {}  # of accumulators

    # -- lines
    def line(self, text: str) -> None:
        self.lines += ["    " * self.depth + part for part in text.removesuffix("\n").split("\n")]

    def statement(self, macro: str, *args: Any) -> None:
        self.line(str(getattr(statements(), macro)(*args)))

    @contextmanager
    def loop(self, index: Var, lo: Expr, hi: Expr, by: Expr) -> Iterator[None]:
        self.ranges[index] = index_range(lo, hi, by)
        name, step = index.name, "++" + index.name if by == Const(1) else f"{index.name} += {self.text(by)}"
        self.line(f"for (int64_t {name} = {self.text(lo)}; {name} < {self.text(hi)}; {step}) {{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    @contextmanager
    def loop_or_once(self, index: Var, trips: Expr) -> Iterator[Expr]:
        """A loop from 0, or its body alone where it runs just once."""
        trips = self.simplify(trips)
        if trips == Const(1):
            yield Const(0)
            return
        with self.loop(index, Const(0), trips, Const(1)):
            yield index

    @contextmanager
    def condition(self, test: Expr | None) -> Iterator[None]:
        """`if (test)` around what is written inside; nothing where the test is known to hold (None)."""
        if test is not None:
            test = simplify(test, self.ranges)
        if test is None or isinstance(test, Const):
            yield
            return
        self.line(f"if ({self.printer(test)}) {{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    def fresh(self, hint: str) -> Var:
        return Var(self.names.fresh(hint), ScalarType(INDEX))

    # -- operands
    def simplify(self, expr: Expr | int) -> Expr:
        return simplify(const(expr), self.ranges)

    def text(self, expr: Expr | int) -> str:
        return self.printer(self.simplify(expr))

    def scalar(self, expr: Expr, dtype: DType) -> str:
        """A scalar operand of a vector call, in the element type of its tile."""
        if isinstance(expr, Const):
            return literal(expr.value, dtype)
        text = self.printer(self.simplify(expr))
        plain = dtype == FP32 and expr.dtype.kind == "f"  # type: ignore[attr-defined]
        return text if plain else f"static_cast<{dtype.ctype}>({text})"

    def slot_elements(self, buffer: Var, dtype: DType | None = None) -> int:
        t = buffer.type
        assert isinstance(t, TileType) and t.space
        return slot_bytes(t, DEFAULT_CHIP.alignment[t.space]) // (dtype or t.dtype).bytes

    def at(self, view: View, row: Expr | int = 0, col: Expr | int = 0) -> str:
        """A UB operand: the buffer, or the buffer from the view's element (row, col) on."""
        slot = view.slot * self.slot_elements(view.buffer, view.dtype)
        return self._from(view.buffer, slot + (view.row + row) * view.pitch + view.col + col, view.dtype)

    def whole(self, view: View) -> str:
        """An L1 or L0 operand: the view's slot of the buffer."""
        return self._from(view.buffer, view.slot * self.slot_elements(view.buffer))

    def offset(self, view: View, elements: Expr) -> str:
        """An L0 operand from `elements` behind the start of the view's slot on."""
        return self._from(view.buffer, view.slot * self.slot_elements(view.buffer) + elements)

    def _from(self, buffer: Var, offset: Expr, dtype: DType | None = None) -> str:
        offset, name = self.simplify(offset), buffer.name
        if dtype is not None and tile_ctype(dtype) != tile_ctype(buffer.dtype):
            name += f".ReinterpretCast<{dtype.ctype}>()"
        return name if offset == Const(0) else f"{name}[{self.printer(offset)}]"

    def load_l0(
        self, dst: str, src: str, start: Expr, repeat: Expr, stride: int, gap: Expr | int, transpose: bool
    ) -> None:
        flag = "true" if transpose else "false"
        self.statement("load_l0", dst, src, self.text(start), self.text(repeat), stride, self.text(gap), flag)

    def load_squares(
        self, dst: str, src: str, start: Expr, repeat: Expr, stride: int, gap: int, fractal_gap: Expr | int
    ) -> None:
        self.statement(
            "load_squares", dst, src, self.text(start), self.text(repeat), stride, gap, self.text(fractal_gap)
        )

    def load_image(
        self, dst: str, src: str, buffer: tuple[int, int], at: tuple[Expr, Expr], size: tuple[Expr, Expr]
    ) -> None:
        self.printer.helpers.add("TransposedWindow")
        self.statement("load_image", dst, src, *buffer, *(self.text(e) for e in (*at, *size)))

    def mmad(self, acc: str, a: str, b: str, size: tuple[Expr, Expr, Expr], init: Expr, wide_k: bool) -> None:
        if wide_k:
            self.printer.helpers.add("WideK")
        self.statement("mmad_wide_k" if wide_k else "mmad", acc, a, b, *(self.text(e) for e in (*size, init)))

    def load_l1(self, dst: str, src: str, rows: Expr, cols: Expr, pitch: Expr, nz_rows: int) -> None:
        self.statement("load_l1", dst, src, self.text(rows), self.text(cols), self.text(pitch), nz_rows)

    def gm(self, op: Op, position: int, further: Expr | int = 0) -> str:
        """The GM operand of a load, store or read: the tensor from its first element (and `further` ones) on."""
        tensor, offset = self.gm_offset(op, position, further)
        return tensor if offset == "0" else f"{tensor}[{offset}]"

    def gm_offset(self, op: Op, position: int, further: Expr | int = 0) -> tuple[str, str]:
        tensor = op.args[position]
        first = {"load": 2, "store": 2, "read": 1}[op.name]
        assert isinstance(tensor, Var) and isinstance(tensor.type, TensorType)
        self.tensors.add(tensor)
        offset: Expr = Const(0)
        for extent, index in zip(tensor.type.shape, op.args[first:]):
            offset = offset * extent + index
        return tensor.name, self.text(offset + further)

    def gm_pitch(self, op: Op) -> Expr:
        """Elements in GM from one row of a load or store to the next."""
        tensor = op.args[1 if op.name == "load" else 0]
        assert isinstance(tensor, Var) and isinstance(tensor.type, TensorType)
        pitch: Expr = Const(1)
        rows = op.attrs["rows"]
        if rows is None:  # one row: its own length
            rows = op.attrs["cols"] - 1
        for extent in tensor.type.shape[rows + 1 :] if rows >= 0 else ():
            pitch = pitch * extent
        return self.simplify(pitch)

    @contextmanager
    def atomic(self, op: Op, dtype: DType) -> Iterator[None]:
        if op.attrs.get("atomic"):
            self.line(f"SetAtomic{op.attrs['atomic'].capitalize()}<{dtype.ctype}>();")
        yield
        if op.attrs.get("atomic"):
            self.line("SetAtomicNone();")
