"""Cube operations: fractal layouts in L1 and L0.

L1 holds Nz: element (r, c) of a buffer of R rows lies in fractal (c / C0) * (R / 16) + r / 16, with C0 = 32 bytes of
elements. L0A wants Zz (fractals of a row of them side by side), L0B wants Zn (fractals of one k side by side).
"""

from __future__ import annotations

from typing import Any

from pyto.codegen.ascendc.writer import Writer
from pyto.errors import CompileError
from pyto.ir.nodes import BF16, BOOL, FP16, FP32, Const, Expr, Op, TileType, View
from pyto.ir.scalar import apply
from pyto.target import BLOCK, FRACTAL, FRACTAL_BYTES, MAX_ND2NZ_PITCH, MAX_REPEAT

QUANT = {(FP32, BF16): "F322BF16", (FP32, FP16): "F322F16"}


def load(w: Writer, op: Op) -> None:
    dst = op.args[0]
    assert isinstance(dst, View)
    pitch = w.gm_pitch(op)
    if op.attrs["rows"] is None or dst.shape[0] == 1:
        pitch = dst.valid[1]
    rows, cols = dst.valid
    wide = w.simplify(apply("gt", pitch, Const(MAX_ND2NZ_PITCH)))
    if wide != Const(True, BOOL):
        with w.condition(None if wide == Const(False, BOOL) else apply("not", wide)):
            w.load_l1(w.whole(dst), w.gm(op, 1), rows, cols, pitch, dst.pitch)
    if wide != Const(False, BOOL):  # the pitch does not fit the instruction: row by row
        r = w.fresh("r")
        with w.condition(None if wide == Const(True, BOOL) else wide), w.loop(r, Const(0), rows, Const(1)):
            target = w.offset(dst, r * (BLOCK // dst.dtype.bytes))
            w.load_l1(target, w.gm(op, 1, r * pitch), Const(1), cols, cols, dst.pitch)


def _fractals(view: View) -> tuple[int, int]:
    """C0 of the view's element type, and the fractals in a column of its L1 buffer."""
    return BLOCK // view.dtype.bytes, view.pitch // FRACTAL


def _needs_16_bit(op: Op, view: View, what: str) -> None:
    if view.dtype.bytes != 2:
        raise CompileError(
            "op-dtype",
            f"matmul: {what} of {view.dtype} is not supported yet, only 16-bit",
            op.loc,
            remedy="keep the operand the other way round in GM, with a_trans/b_trans to match",
        )


def _ceil16(e: Expr) -> Expr:
    return (e + (FRACTAL - 1)) // FRACTAL


def _deep(view: View, axis: int, c0: int) -> Expr:
    """Fractals that the valid part of an L0 operand takes along k; Mmad derives the layout from its real k."""
    return (view.valid[axis] + (c0 - 1)) // c0


def load_a(w: Writer, op: Op) -> None:
    """L1 window [m, k] (or [k, m] to be transposed) to L0A, one LoadData for every 16 rows."""
    dst, src = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    c0, column = _fractals(src)
    elements = FRACTAL_BYTES // dst.dtype.bytes
    depth = w.simplify(_deep(dst, 1, c0))
    trans = op.attrs["trans"]
    if trans:
        _needs_16_bit(op, src, "a transposed lhs")
    with w.loop_or_once(w.fresh("m1"), _ceil16(dst.valid[0])) as i:
        if trans:  # stored [k, m]: down a column of fractals
            start, stride = (src.col // c0 + i) * column + src.row // FRACTAL, 1
        else:
            start, stride = src.col // c0 * column + src.row // FRACTAL + i, column
        target = w.offset(dst, i * (depth * elements))
        w.load_l0(target, w.whole(src), start, depth, stride, 0, trans)


def load_b(w: Writer, op: Op) -> None:
    """L1 window [n, k] (trans) or [k, n] to L0B, in as few calls as the window allows."""
    dst, src = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    c0, column = _fractals(src)
    elements = FRACTAL_BYTES // dst.dtype.bytes
    depth, width = w.simplify(_deep(dst, 0, c0)), w.simplify(_ceil16(dst.valid[1]))
    most = -(-dst.shape[0] // c0), -(-dst.shape[1] // FRACTAL)
    first = src.col // c0 * column + src.row // FRACTAL
    if not op.attrs["trans"]:
        _needs_16_bit(op, src, "a rhs that is not b_trans")
        with w.loop_or_once(w.fresh("k1"), depth) as i:  # stored [k, n]: along a row of fractals, each transposed
            w.load_l0(w.offset(dst, i * (width * elements)), w.whole(src), first + i, width, column, 0, True)
    elif width == Const(column) and most[0] * most[1] <= MAX_REPEAT:  # all of L1's rows: one run of fractals
        w.load_l0(w.whole(dst), w.whole(src), first, width * depth, 1, 0, False)
    elif most[1] <= most[0]:
        with w.loop_or_once(w.fresh("n1"), width) as i:
            w.load_l0(w.offset(dst, i * elements), w.whole(src), first + i, depth, column, width - 1, False)
    else:
        with w.loop_or_once(w.fresh("k1"), depth) as i:
            target = w.offset(dst, i * (width * elements))
            w.load_l0(target, w.whole(src), first + i * column, width, 1, 0, False)


def mmad(w: Writer, op: Op) -> None:
    acc, a, b, init = op.args
    assert isinstance(acc, View) and isinstance(a, View) and isinstance(b, View)
    m, n = w.accumulator_rows(acc), _ceil16(acc.valid[1]) * FRACTAL
    target = w.offset(acc, acc.col * m)
    w.statement("mmad", target, w.whole(a), w.whole(b), *(w.text(e) for e in (m, n, a.valid[1], init)))


def store(w: Writer, op: Op) -> None:
    tensor, src, *_ = op.args
    assert isinstance(src, View)
    target = tensor.type.dtype  # type: ignore[attr-defined]
    pitch = w.gm_pitch(op) if op.attrs["rows"] is not None else src.valid[1]
    rows = w.accumulator_rows(src)
    with w.atomic(op, target):
        w.statement(
            "fixpipe",
            w.gm(op, 0),
            w.whole(src),
            w.text(src.valid[0]),
            w.text(src.valid[1]),
            w.text(rows),
            w.text(pitch),
            QUANT.get((src.dtype, target), ""),
        )


def accumulator_layout(ops: list[Op]) -> dict[Any, Expr | None]:
    """For each accumulator the valid rows that all its users agree on, or None (then its whole shape counts)."""
    found: dict[Any, set[Expr]] = {}
    for op in ops:
        if op.name in ("mmad", "store"):
            view = op.args[0 if op.name == "mmad" else 1]
            if isinstance(view, View) and isinstance(view.buffer.type, TileType) and view.buffer.type.space == "l0c":
                found.setdefault(view.buffer, set()).add(view.valid[0])
    return {b: next(iter(rows)) if len(rows) == 1 else None for b, rows in found.items()}


EMITTERS = {"load_a": load_a, "load_b": load_b, "mmad": mmad}
