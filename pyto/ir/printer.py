"""The text form of the IR, at every stage; `pyto.frontends.text` reads it back.

Every value is written `%name`; its type stands where it is defined and nowhere else. Scalar expressions are infix.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyto.ir.nodes import (
    FP32,
    INDEX,
    Apply,
    Block,
    Const,
    DType,
    Expr,
    Function,
    Loc,
    Op,
    Program,
    ScalarType,
    TensorType,
    TileType,
    Type,
    Var,
    View,
)
from pyto.ir.scalar import COMPARISONS, PRECEDENCE, result_dtype

SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "eq": "==", "ne": "!=", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=", "and": "and", "or": "or",
}  # fmt: skip


def show(expr: Expr, above: int = 0) -> str:
    """A scalar expression, a variable or a view; `above` is the precedence of what surrounds it."""
    if isinstance(expr, Var):
        return f"%{expr.name}"
    if isinstance(expr, Const):
        return _constant(expr)
    if isinstance(expr, View):
        return _view(expr)
    assert isinstance(expr, Apply)
    if expr.op == "cast":
        return f"cast[{expr.dtype}]({show(expr.args[0])})"
    if expr.dtype != result_dtype(expr.op, expr.args):
        return f"{expr.dtype}({_apply(expr, 0)})"
    return _apply(expr, above)


def _apply(expr: Apply, above: int) -> str:
    symbol = SYMBOLS.get(expr.op)
    if symbol is None or len(expr.args) != 2:
        return f"{expr.op}({', '.join(show(a) for a in expr.args)})"
    level = PRECEDENCE[expr.op]
    left_level = level + 1 if expr.op in COMPARISONS and expr.op not in ("and", "or") else level
    text = f"{show(expr.args[0], left_level)} {symbol} {show(expr.args[1], level + 1)}"
    return f"({text})" if level < above else text


def _constant(c: Const) -> str:
    value = c.value
    if isinstance(value, bool):
        text = "true" if value else "false"
        return text if c.dtype.kind == "b" else f"{c.dtype}({text})"
    if isinstance(value, float):
        text = float.__repr__(value)
        return text if c.dtype == FP32 else f"{c.dtype}({text})"
    return str(value) if c.dtype == INDEX else f"{c.dtype}({value})"


def _pair(shape: tuple[int, int]) -> str:
    return f"{shape[0]}x{shape[1]}"


def _valid(valid: tuple[Expr, Expr]) -> str:
    return f"valid({show(valid[0])}, {show(valid[1])})"


def _view(v: View) -> str:
    """`%buffer[slot, row : rows, col : columns]`, then the valid shape and the pitch where they are not the obvious."""
    rows, cols = v.shape
    text = f"%{v.buffer.name}[{show(v.slot)}, {show(v.row)} : {rows}, {show(v.col)} : {cols}]"
    if v.valid != (Const(rows), Const(cols)):
        text += f" {_valid(v.valid)}"
    if isinstance(v.buffer.type, TileType) and v.pitch != v.buffer.type.pitch:
        text += f" pitch {v.pitch}"
    if v.element is not None and v.element != v.buffer.dtype:
        text += f" as {v.element}"
    return text


def show_type(t: Type) -> str:
    if isinstance(t, ScalarType):
        return t.dtype.name
    if isinstance(t, TensorType):
        return f"tensor[({', '.join(show(e) for e in t.shape)}), {t.dtype}]"
    parts = [_pair(t.shape), t.dtype.name]
    if not t.is_full:
        parts.append(_valid(t.valid))
    if t.space:
        parts.append(t.space)
    return f"tile[{', '.join(parts)}]"


def _attribute(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, DType):
        return value.name
    if isinstance(value, Expr):
        return f"expr({show(value)})"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_attribute(v) for v in value)}]"
    if isinstance(value, Mapping):
        return _attributes(value)
    if isinstance(value, (int, float)):
        return repr(value)
    raise TypeError(f"no text form for the attribute {value!r}")


def _attributes(attrs: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{k} = {_attribute(attrs[k])}" for k in sorted(attrs)) + "}"


def _is_plain(loop: Op) -> bool:
    """Whether a loop's index is one and each carried value has a start and a result, as its header writes them."""
    params = loop.blocks[0].params
    counts = {len(params) - 1, len(loop.args) - 3, len(loop.results)}
    return len(params) > 0 and params[0].type == ScalarType(INDEX) and len(counts) == 1


class _Printer:
    def __init__(self, locations: bool) -> None:
        self.locations = locations
        self.lines: list[str] = []

    def line(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def at(self, loc: Loc | None) -> str:
        """` @file.py:line:first-last`, where wanted: the file's name alone, for the same text anywhere."""
        if not self.locations or loc is None:
            return ""
        name = loc.name.replace("\n", " ").replace("@", " ")
        return f" @{name}:{loc.line}:{loc.col}-{loc.end_col}"

    def block(self, block: Block, depth: int) -> None:
        for op in block.ops:
            self.op(op, depth)

    def op(self, op: Op, depth: int) -> None:
        text = f"{', '.join(f'%{r.name}' for r in op.results)} = " if op.results else ""
        text += op.name
        loop = op.name == "for" and len(op.blocks) == 1 and _is_plain(op)
        if loop:
            text += self._for_header(op)
        elif op.args:
            text += " " + ", ".join(show(a) for a in op.args)
        if op.attrs:
            text += " " + _attributes(op.attrs)
        if op.results:
            text += f" : {', '.join(show_type(r.type) for r in op.results)}"
        text += self.at(op.loc)
        for i, block in enumerate(op.blocks):
            head = "} else" if i else text
            if block.params and not loop:
                head += f" with ({', '.join(self._define(v) for v in block.params)})"
            self.line(depth, head + " {")
            self.block(block, depth + 1)
        self.line(depth, "}" if op.blocks else text)

    def _for_header(self, op: Op) -> str:
        index, *carried = op.blocks[0].params
        lo, hi, step, *inits = op.args
        text = f" %{index.name} in {show(lo)} .. {show(hi)} step {show(step)}"
        for i, (var, init) in enumerate(zip(carried, inits)):
            same = op.results[i].type == var.type
            text += f", {f'%{var.name}' if same else self._define(var)} = {show(init)}"
        return text

    @staticmethod
    def _define(var: Var) -> str:
        return f"%{var.name}: {show_type(var.type)}"

    def function(self, f: Function) -> None:
        params = (f"%{p.var.name}: {p.direction} {show_type(p.var.type)}{self.at(p.loc)}" for p in f.params)
        text = f"{f.kind} {f.name}({', '.join(params)})"
        if f.dims:
            text += f" dims({', '.join(self._define(d) for d in f.dims)})"
        if f.body.params:
            text += f" blocks({', '.join(self._define(v) for v in f.body.params)})"
        if f.attrs:
            text += " " + _attributes(f.attrs)
        self.line(0, f"{text}{self.at(f.loc)} {{")
        self.block(f.body, 1)
        self.line(0, "}")


def print_op(op: Op) -> str:
    """One operation, its blocks included."""
    printer = _Printer(False)
    printer.op(op, 0)
    return "\n".join(printer.lines) + "\n"


def print_function(function: Function, *, locations: bool = False) -> str:
    printer = _Printer(locations)
    printer.function(function)
    return "\n".join(printer.lines) + "\n"


def print_program(program: Program, *, locations: bool = False) -> str:
    """The text of a program; `locations` adds where each operation was written."""
    printer = _Printer(locations)
    printer.line(0, f"program {program.name} {program.stage}")
    for function in program.functions:
        printer.lines.append("")
        printer.function(function)
    return "\n".join(printer.lines) + "\n"


__all__ = ["SYMBOLS", "print_function", "print_op", "print_program", "show", "show_type"]
