"""Cube operations: fractal layouts in L1 and L0.

L1 holds Nz: element (r, c) of a buffer of R rows lies in fractal (c / C0) * (R / 16) + r / 16, with C0 = 32 bytes of
elements. L0A wants Zz (fractals of a row of them side by side), L0B wants Zn (fractals of one k side by side).
"""

from __future__ import annotations

from pyto.codegen.ascendc.writer import Writer
from pyto.ir.nodes import BF16, BOOL, FP16, FP32, Apply, Const, Expr, Op, Space, TileType, View
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


def _ceil16(e: Expr) -> Expr:
    if isinstance(e, Apply) and e.op == "select":
        return apply("select", e.args[0], _ceil16(e.args[1]), _ceil16(e.args[2]))
    return (e + (FRACTAL - 1)) // FRACTAL


def _deep(view: View, axis: int, c0: int) -> Expr:
    """Fractals that the valid part of an L0 operand takes along k; Mmad derives the layout from its real k."""
    return (view.valid[axis] + (c0 - 1)) // c0


def load_a(w: Writer, op: Op) -> None:
    """L1 window [m, k] (or [k, m] to be transposed) to L0A, in as few calls as the layout allows."""
    dst, src = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    if op.attrs["trans"]:
        TURNED_A[src.dtype.bytes](w, dst, src)
        return
    c0, column = _fractals(src)
    depth = w.simplify(_deep(dst, 1, c0))
    first = src.col // c0 * column + src.row // FRACTAL
    with w.loop_or_once(w.fresh("m1"), _ceil16(dst.valid[0])) as i:
        w.load_l0(w.offset(dst, i * (depth * _elements(dst))), w.whole(src), first + i, depth, column, 0, False)


def _elements(view: View) -> int:
    return FRACTAL_BYTES // view.dtype.bytes


def _turned_a_16(w: Writer, dst: View, src: View) -> None:
    """[k, m] in L1: down a column of fractals, each transposed."""
    c0, column = _fractals(src)
    depth = w.simplify(_deep(dst, 1, c0))
    with w.loop_or_once(w.fresh("m1"), _ceil16(dst.valid[0])) as i:
        start = (src.col // c0 + i) * column + src.row // FRACTAL
        w.load_l0(w.offset(dst, i * (depth * _elements(dst))), w.whole(src), start, depth, 1, 0, True)


def _turned_a_8(w: Writer, dst: View, src: View) -> None:
    """[k, m] in L1: down a column of squares of 32 x 32, each of which becomes fractals of two strips of L0A."""
    c0, column = _fractals(src)
    depth = w.simplify(_deep(dst, 1, c0))
    with w.loop_or_once(w.fresh("m1"), (dst.valid[0] + (c0 - 1)) // c0) as i:
        start = (src.col // c0 + i) * (column // 2) + src.row // c0
        target = w.offset(dst, i * (depth * (2 * _elements(dst))))
        w.load_squares(target, w.whole(src), start, depth, 1, 0, depth - 1)


def _turned_32(w: Writer, dst: View, src: View) -> None:
    """[k, m] or [k, n] in L1: the whole window in one call. k takes multiples of 16 in L0."""
    c0, _ = _fractals(src)
    rows, cols = (_ceil16(src.valid[0]) * FRACTAL, (src.valid[1] + (c0 - 1)) // c0 * c0)
    assert isinstance(src.buffer.type, TileType)
    w.load_image(w.whole(dst), w.whole(src), (src.pitch, src.buffer.type.shape[1]), (src.row, src.col), (rows, cols))


def load_b(w: Writer, op: Op) -> None:
    """L1 window [n, k] (trans) or [k, n] to L0B, in as few calls as the window allows."""
    dst, src = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    if not op.attrs["trans"]:
        TURNED_B[src.dtype.bytes](w, dst, src)
        return
    c0, column = _fractals(src)
    elements = _elements(dst)
    depth, width = w.simplify(_deep(dst, 0, c0)), w.simplify(_ceil16(dst.valid[1]))
    most = -(-dst.shape[0] // c0), -(-dst.shape[1] // FRACTAL)
    first = src.col // c0 * column + src.row // FRACTAL
    if width == Const(column) and most[0] * most[1] <= MAX_REPEAT:  # all of L1's rows: one run of fractals
        w.load_l0(w.whole(dst), w.whole(src), first, width * depth, 1, 0, False)
    elif most[1] <= most[0]:
        with w.loop_or_once(w.fresh("n1"), width) as i:
            w.load_l0(w.offset(dst, i * elements), w.whole(src), first + i, depth, column, width - 1, False)
    else:
        with w.loop_or_once(w.fresh("k1"), depth) as i:
            target = w.offset(dst, i * (width * elements))
            w.load_l0(target, w.whole(src), first + i * column, width, 1, 0, False)


def _turned_b_16(w: Writer, dst: View, src: View) -> None:
    """[k, n] in L1: along a row of fractals, each transposed."""
    c0, column = _fractals(src)
    depth, width = w.simplify(_deep(dst, 0, c0)), w.simplify(_ceil16(dst.valid[1]))
    first = src.col // c0 * column + src.row // FRACTAL
    with w.loop_or_once(w.fresh("k1"), depth) as i:
        w.load_l0(w.offset(dst, i * (width * _elements(dst))), w.whole(src), first + i, width, column, 0, True)


def _turned_b_8(w: Writer, dst: View, src: View) -> None:
    """[k, n] in L1: along a row of squares of 32 x 32, each of which becomes two fractals side by side."""
    c0, column = _fractals(src)
    depth, width = w.simplify(_deep(dst, 0, c0)), w.simplify((dst.valid[1] + (c0 - 1)) // c0)
    first = src.col // c0 * (column // 2) + src.row // c0
    with w.loop_or_once(w.fresh("k1"), depth) as i:
        target = w.offset(dst, i * (width * (2 * _elements(dst))))
        w.load_squares(target, w.whole(src), first + i, width, column // 2, 1, 0)


TURNED_A = {1: _turned_a_8, 2: _turned_a_16, 4: _turned_32}
TURNED_B = {1: _turned_b_8, 2: _turned_b_16, 4: _turned_32}


def fill_l0(w: Writer, op: Op) -> None:
    """Whole fractals of one value; of 8-bit elements only zeros, written as 16-bit ones."""
    dst, value = op.args
    assert isinstance(dst, View)
    across = dst.valid[0 if dst.space == Space.L0A else 1]  # one fractal deep
    target, dtype = w.whole(dst), dst.dtype
    if dtype.bytes == 1:
        target, dtype, value = f"{target}.ReinterpretCast<half>()", FP16, Const(0.0, FP16)
    w.statement("fill_l0", target, dtype.ctype, w.text(_ceil16(across)), w.scalar(value, dtype))


def mmad(w: Writer, op: Op) -> None:
    acc, a, b, init = op.args
    assert isinstance(acc, View) and isinstance(a, View) and isinstance(b, View)
    unit = op.attrs["n_unit"]
    n = _ceil16(acc.valid[1]) * FRACTAL if unit == FRACTAL else (acc.valid[1] + (unit - 1)) // unit * unit
    layout = w.layouts[acc.buffer]
    rows = layout.rows
    if op.attrs.get("fill"):
        if layout.block is not None:  # the same value everywhere
            rows = Const(layout.shape[0])
        columns = acc.valid[1]
        if isinstance(columns, Apply) and columns.op == "select":  # none where there is nothing to fill
            rows = apply("select", columns.args[0], rows, Const(0))
            n = apply("select", columns.args[0], Const(acc.shape[1]), Const(0))
    w.mmad(_in_l0c(w, acc), w.whole(a), w.whole(b), (rows, n, a.valid[1]), init, op.attrs["wide_k"])


def _in_l0c(w: Writer, view: View, block: Expr | int = 0) -> str:
    """A window of an accumulator from its `block`-th block of rows on."""
    layout = w.layouts[view.buffer]
    if layout.block is None:
        return w.offset(view, view.col * layout.rows + view.row * FRACTAL)
    first = view.row // layout.block + block
    return w.offset(view, first * (layout.block * layout.shape[1]) + view.col * layout.block)


def store(w: Writer, op: Op) -> None:
    tensor, src, *_ = op.args
    assert isinstance(src, View)
    target = tensor.type.dtype  # type: ignore[attr-defined]
    pitch = w.gm_pitch(op) if op.attrs["rows"] is not None else src.valid[1]
    layout = w.layouts[src.buffer]
    quant = QUANT.get((src.dtype, target), "")
    rows, cols = src.valid
    with w.atomic(op, target):
        if layout.block is None or src.shape[0] <= layout.block:
            _fixpipe(w, w.gm(op, 0), _in_l0c(w, src), rows, cols, layout.rows, pitch, quant)
            return
        size = layout.block
        block = w.fresh("rows")
        with w.loop(block, Const(0), (rows + (size - 1)) // size, Const(1)):
            part = apply("min", Const(size), rows - block * size)
            gm = w.gm(op, 0, block * (pitch * size))
            _fixpipe(w, gm, _in_l0c(w, src, block), part, cols, layout.rows, pitch, quant)


def _fixpipe(w: Writer, gm: str, src: str, rows: Expr, cols: Expr, nz_rows: Expr, pitch: Expr, quant: str) -> None:
    w.statement("fixpipe", gm, src, *(w.text(e) for e in (rows, cols, nz_rows, pitch)), quant)


EMITTERS = {"load_a": load_a, "load_b": load_b, "mmad": mmad, "fill_l0": fill_l0}
