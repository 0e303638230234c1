"""Vector operations on UB: how a 2-D tile with strides and tails becomes Ascend C calls.

A tile that lies without gaps is one call over a count. Otherwise a call covers one repeat (256 bytes of a row) of every
row, with the rows' pitch as repeat stride, or, where rows are few or long, each row is a call of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from pyto.codegen.ascendc.writer import Writer, tile_ctype
from pyto.errors import CompileError, InternalError
from pyto.ir.nodes import INT16, INT32, UINT16, UINT32, Const, Expr, Op, TileType, View, const
from pyto.ir.ops import CAST_MODES, OPS
from pyto.ir.scalar import apply
from pyto.target import BLOCK, MAX_BURSTS, MAX_REPEAT, REPEAT

REDUCE_API = {"sum": "WholeReduceSum", "max": "WholeReduceMax", "min": "WholeReduceMin"}


def lanes(*views: View) -> int:
    """Elements of one repeat: by the widest type that takes part."""
    return REPEAT // max(v.dtype.bytes for v in views)


def step(view: View) -> int:
    """A row's pitch in blocks of 32 bytes."""
    return view.pitch * view.dtype.bytes // BLOCK


def is_dense(view: View) -> bool:
    """Whether the valid part is one run of elements."""
    return (
        view.shape[0] == 1
        or (view.shape[1] == 1 and view.pitch == 1)
        or (view.pitch == view.shape[1] and view.valid[1] == const(view.shape[1]))
    )


def count(view: View) -> Expr:
    return view.valid[0] * view.valid[1]


def _rows_first(view: View, others: Sequence[View], width: int) -> bool:
    """Whether to make one call a row rather than one a repeat of columns."""
    chunks = -(-view.shape[1] // width)
    strided = all(step(v) <= MAX_REPEAT for v in (view, *others))
    return not isinstance(view.valid[1], Const) or not strided or view.shape[0] < chunks or view.shape[0] > MAX_REPEAT


def _chunks(w: Writer, view: View, width: int) -> Iterator[tuple[Expr, int]]:
    """(column, lanes) of every repeat of a row; more than four whole ones become a loop."""
    assert isinstance(view.valid[1], Const)
    cols = int(view.valid[1].value)
    whole = cols // width
    if whole > 4:
        c = w.fresh("c")
        with w.loop(c, Const(0), Const(whole * width), Const(width)):
            yield c, width
    else:
        for i in range(whole):
            yield Const(i * width), width
    if cols % width:
        yield Const(whole * width), cols % width


def rows_of(w: Writer, view: View) -> Iterator[Expr]:
    """The rows of a view: a loop around what is written, unless there is one alone."""
    if view.shape[0] == 1:
        yield Const(0)
        return
    r = w.fresh("r")
    with w.loop(r, Const(0), view.valid[0], Const(1)):
        yield r


def elementwise(w: Writer, op: Op) -> None:
    """dst = f(operands), tiles of one shape and at most one scalar."""
    dst, *sources = (as_bits(op, a) for a in op.args)
    api, scalar = OPS[op.name].api, None
    assert isinstance(dst, View)
    if not isinstance(sources[-1], View):
        api, scalar = OPS[op.name].scalar_api, w.scalar(sources.pop(), dst.dtype)
    if not api:
        raise InternalError(f"{op.name} of {dst.dtype} has no instruction", op.loc)
    _each(w, api, dst, sources, [scalar] if scalar else [])  # type: ignore[arg-type]


def as_bits(op: Op, arg: Expr) -> Expr:
    """An operand as the instruction takes it: where that of another type does it to the same bits, as that type."""
    way = OPS[op.name].ways.get(arg.dtype) if isinstance(arg, View) else None
    if way is None or way.dtype is None or way.kind != "bits":
        return arg
    assert isinstance(arg, View)
    have, want = arg.dtype.bytes, way.dtype.bytes
    if have == want:
        return replace(arg, element=way.dtype)
    if arg.shape[1] == 1 and arg.pitch == 1:  # a column lies like a row
        row, rows = arg.row * arg.pitch + arg.col, arg.valid[0]
        arg = replace(arg, shape=(1, arg.shape[0]), valid=(Const(1), rows), row=Const(0), col=row, pitch=arg.shape[0])

    def scaled(n: Expr) -> Expr:
        return apply("floordiv", n * have + (want - 1), Const(want))

    (rows_, cols), (valid_rows, valid_cols) = arg.shape, arg.valid
    shape, pitch = (rows_, -(-cols * have // want)), -(-arg.pitch * have // want)
    return replace(
        arg, shape=shape, valid=(valid_rows, scaled(valid_cols)), col=scaled(arg.col), pitch=pitch, element=way.dtype
    )


def _each(w: Writer, api: str, dst: View, sources: Sequence[View], extra: Sequence[str]) -> None:
    views = [dst, *sources]
    if all(is_dense(v) for v in views):
        w.statement("counted", api, [*(w.at(v) for v in views), *extra], w.text(count(dst)))
        return
    width = lanes(*views)
    if _rows_first(dst, sources, width):
        for r in rows_of(w, dst):
            w.statement("counted", api, [*(w.at(v, r) for v in views), *extra], w.text(dst.valid[1]))
        return
    for c, mask in _chunks(w, dst, width):
        operands = [*(w.at(v, 0, c) for v in views), *extra]
        steps = [step(v) for v in views]
        if len(sources) == 2:
            w.statement("binary", api, operands, mask, w.text(dst.valid[0]), [1, 1, 1], steps)
        else:
            w.statement("unary", api, operands, mask, w.text(dst.valid[0]), steps)


def cast(w: Writer, op: Op) -> None:
    dst, src = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    if src.dtype == dst.dtype:
        raise InternalError(f"a cast of {src.dtype} to itself", op.loc)
    exact = (src.dtype.bits < dst.dtype.bits and dst.dtype.kind == "f") or src.dtype.bits == 8
    exact |= (src.dtype, dst.dtype) == (INT32, INT16)  # saturates
    mode = "CAST_NONE" if exact else CAST_MODES[op.attrs.get("mode", "rint")]
    _each(w, "Cast", dst, [src], [f"RoundMode::{mode}"])


def row_expand(w: Writer, op: Op) -> None:
    """dst = a op b with b [R, one block], each block one value: the block is read for every block of its row.
    Where the op just repeats b, `a` is such blocks too."""
    dst, a, b = (as_bits(op, arg) for arg in op.args)
    assert isinstance(dst, View) and isinstance(a, View) and isinstance(b, View)
    api, width = OPS[op.name].api, lanes(dst)
    copies = op.name == "row_expand"
    if copies:
        a = b
    blocks, rest = [1, 0 if copies else 1, 0], [8, 0 if copies else 8, 0]
    if not _rows_first(dst, [a], width):
        for c, mask in _chunks(w, dst, width):
            operands = [w.at(dst, 0, c), w.at(a, 0, 0 if copies else c), w.at(b)]
            w.statement("binary", api, operands, mask, w.text(dst.valid[0]), blocks, [step(dst), step(a), 1])
        return
    for r in rows_of(w, dst):
        whole = apply("floordiv", dst.valid[1], Const(width))
        for first, repeats in _repeats(w, whole):
            at = first * width
            operands = [w.at(dst, r, at), w.at(a, r, 0 if copies else at), w.at(b, r)]
            w.statement("binary", api, operands, width, w.text(repeats), blocks, rest)
        tail = apply("mod", dst.valid[1], Const(width))
        if tail != Const(0):
            with w.condition(None if isinstance(tail, Const) else apply("gt", tail, Const(0))):
                operands = [w.at(dst, r, whole * width), w.at(a, r, 0 if copies else whole * width), w.at(b, r)]
                w.statement("binary", api, operands, w.text(tail), 1, blocks, rest)


def _repeats(w: Writer, total: Expr) -> Iterator[tuple[Expr, Expr]]:
    """(first, number) of runs of at most 255 repeats."""
    if isinstance(total, Const):
        for first in range(0, int(total.value), MAX_REPEAT):
            yield Const(first), Const(min(MAX_REPEAT, int(total.value) - first))
        return
    first_ = w.fresh("i")
    with w.loop(first_, Const(0), total, Const(MAX_REPEAT)):
        yield first_, apply("min", Const(MAX_REPEAT), total - first_)


def col_expand(w: Writer, op: Op) -> None:
    """dst = a op b with b [1, C]: repeat stride 0 reads b again for every row, and `a` where the op just repeats b."""
    dst, a, b = (as_bits(op, arg) for arg in op.args)
    assert isinstance(dst, View) and isinstance(a, View) and isinstance(b, View)
    api, width = OPS[op.name].api, lanes(dst)
    copies = op.name == "col_expand"
    if copies:
        a = b
    if not _rows_first(dst, [a], width):
        for c, mask in _chunks(w, dst, width):
            operands = [w.at(dst, 0, c), w.at(a, 0, c), w.at(b, 0, c)]
            steps = [step(dst), 0 if copies else step(a), 0]
            w.statement("binary", api, operands, mask, w.text(dst.valid[0]), [1, 1, 1], steps)
        return
    for r in rows_of(w, dst):
        w.statement("counted", api, [w.at(dst, r), w.at(a, 0 if copies else r), w.at(b)], w.text(dst.valid[1]))


def full(w: Writer, op: Op) -> None:
    dst, value = op.args
    assert isinstance(dst, View)
    rows = range(1) if dst.shape[1] == 1 or dst.pitch == dst.shape[1] or dst.shape[0] == 1 else rows_of(w, dst)
    for r in rows:
        n = const(dst.shape[0] * dst.shape[1]) if isinstance(r, int) else const(dst.shape[1])
        w.statement("counted", "Duplicate", [w.at(dst, r), w.scalar(value, dst.dtype)], w.text(n))


def brcb(w: Writer, op: Op) -> None:
    dst, src = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    groups = apply("floordiv", src.valid[0] + 7, Const(8))
    spans = _repeats(w, groups) if src.shape[0] > 8 * MAX_REPEAT else iter([(Const(0), groups)])
    for first, repeats in spans:
        w.statement("brcb", w.at(dst, first * 8), w.at(src, first * 8), w.text(repeats))


def whole_reduce(w: Writer, op: Op) -> None:
    dst, src = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    kind = op.attrs["kind"]
    if src.shape[0] <= MAX_REPEAT and step(src) <= MAX_REPEAT:
        groups: Iterator[tuple[Expr, Expr]] = iter([(Const(0), src.valid[0])])
    else:
        groups = ((r, Const(1)) for r in rows_of(w, src))
    for r, repeats in groups:
        s = step(src) if step(src) <= MAX_REPEAT else 8
        w.statement(
            "whole_reduce",
            REDUCE_API[kind],
            w.at(dst, r),
            w.at(src, r),
            w.text(src.valid[1]),
            w.text(repeats),
            s,
            kind != "sum",
        )


def copy(w: Writer, op: Op) -> None:
    """UB to UB, in whole blocks; where that would reach into what lies behind the window, lane by lane."""
    dst, src = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    bytes_ = dst.shape[1] * dst.dtype.bytes
    if not _ends_free(dst):
        _copy_lanes(w, op, dst, src)
        return
    if dst.shape[1] == 1 or dst.shape[0] == 1 or (is_dense(dst) and is_dense(src)):
        blocks = apply("floordiv", count(dst) * dst.dtype.bytes + (BLOCK - 1), Const(BLOCK))
        w.statement("copy", w.at(dst), w.at(src), 1, w.text(blocks), 0, 0)
        return
    if dst.shape[0] > MAX_BURSTS:
        raise CompileError(
            "limit", f"{dst.shape[0]} rows in one copy, at most {MAX_BURSTS}", op.loc, remedy="use fewer rows"
        )
    blocks_ = -(-bytes_ // BLOCK)
    w.statement("copy", w.at(dst), w.at(src), w.text(dst.valid[0]), blocks_, step(src) - blocks_, step(dst) - blocks_)


def _ends_free(view: View) -> bool:
    """Whether a window ends on 32 bytes, or nothing lies behind it in its last block."""
    whole = view.buffer.type
    assert isinstance(whole, TileType)
    column = view.shape[1] == 1 and view.pitch == 1
    size = view.shape[0] if column else view.shape[1]
    if size * view.dtype.bytes % BLOCK == 0:
        return True
    if column:
        return isinstance(view.row, Const) and view.row.value + size >= whole.shape[0] * whole.pitch
    width = whole.shape[1] if view.pitch == whole.pitch else whole.shape[0] * whole.shape[1] // view.pitch
    return isinstance(view.col, Const) and view.col.value + size >= width


def _copy_lanes(w: Writer, op: Op, dst: View, src: View) -> None:
    if dst.dtype.bytes not in (2, 4):
        raise CompileError(
            "alignment",
            f"a window of {dst.shape[1] * dst.dtype.bytes} B a row of {dst.dtype} is not a multiple of {BLOCK} B",
            op.loc,
            remedy="make it wider, or pl.cast to fp16",
        )
    (rows, cols), width = dst.shape, lanes(dst)
    if cols == 1 and dst.pitch == 1:
        rows, cols = 1, rows
    together = rows <= MAX_REPEAT and max(step(dst), step(src)) <= MAX_REPEAT
    for r in [Const(0)] if together or rows == 1 else rows_of(w, dst):
        for c in range(0, cols, width):
            across = dst.shape[1] > 1 or rows > 1
            at = [w.at(v, r, c) if across else w.at(v, c) for v in (dst, src)]
            repeats = w.text(dst.valid[0]) if together and rows > 1 else "1"
            steps = (step(dst), step(src)) if together and rows > 1 else (8, 8)
            w.statement("copy_lanes", *at, min(width, cols - c), repeats, *steps)


def load(w: Writer, op: Op) -> None:
    dst = op.args[0]
    assert isinstance(dst, View)
    with _unless_empty(w, dst):
        for first, sizes in _transfers(w, op, dst):
            rows, bytes_, gm_gap, ub_gap = (w.text(e) for e in sizes)
            source = w.gm(op, 1, first * w.gm_pitch(op))
            w.statement("load_ub", w.at(dst, first), source, tile_ctype(dst.dtype), rows, bytes_, gm_gap, ub_gap)


def store(w: Writer, op: Op) -> None:
    src = op.args[1]
    assert isinstance(src, View)
    with _unless_empty(w, src), w.atomic(op, src.dtype):
        for first, sizes in _transfers(w, op, src):
            rows, bytes_, gm_gap, ub_gap = (w.text(e) for e in sizes)
            w.statement("store_ub", w.gm(op, 0, first * w.gm_pitch(op)), w.at(src, first), rows, bytes_, ub_gap, gm_gap)


def _unless_empty(w: Writer, view: View) -> AbstractContextManager[None]:
    """A copy of no rows is an error of the API."""
    return w.condition(apply("gt", view.valid[0], Const(0)))


def _transfers(w: Writer, op: Op, view: View) -> Iterator[tuple[Expr, tuple[Expr, Expr, Expr, Expr]]]:
    """First row of each copy between GM and UB; its rows, bytes a row, gap of rows in GM (bytes) and UB (blocks)."""
    pitch, size, zero = w.gm_pitch(op), view.dtype.bytes, Const(0)
    rows, cols = view.valid
    if view.shape[1] == 1 and view.pitch == 1 and view.shape[0] > 1:
        if pitch != const(1):
            raise CompileError(
                "column-copy",
                "a column of a wider tensor cannot be copied as it is",
                op.loc,
                remedy="load whole rows of at least 32 bytes and slice on the core",
            )
        yield zero, (const(1), rows * size, zero, zero)
        return
    if view.shape[0] == 1:
        yield zero, (rows, cols * size, zero, zero)
        return
    used = apply("floordiv", cols * size + (BLOCK - 1), Const(BLOCK))
    gaps = (pitch - cols) * size, Const(step(view)) - used
    if view.shape[0] <= MAX_BURSTS:
        yield zero, (rows, cols * size, *gaps)
        return
    first = w.fresh("r")
    with w.loop(first, zero, rows, Const(MAX_BURSTS)):
        yield first, (apply("min", Const(MAX_BURSTS), rows - first), cols * size, *gaps)


def _flat_count(w: Writer, view: View, op: Op) -> Expr:
    """Elements of a tile as it lies, padding between the rows included."""
    own = view.pitch == TileType(view.shape, view.dtype, view.valid).pitch
    if view.shape[0] > 1 and not own:
        raise InternalError(f"{op.name} of a tile that lies in another", op.loc)
    return view.valid[1] if view.shape[0] == 1 else view.valid[0] * view.pitch


def compare(w: Writer, op: Op) -> None:
    bits, a, b = op.args
    assert isinstance(bits, View) and isinstance(a, View)
    unit = lanes(a)
    n = w.text(apply("floordiv", _flat_count(w, a, op) + (unit - 1), Const(unit)) * unit)
    mode = f"CMPMODE::{op.attrs['kind'].upper()}"
    table = OPS[op.name]
    if isinstance(b, View):
        w.statement("counted", table.api, [w.at(bits), w.at(a), w.at(b), mode], n)
    else:
        w.statement("counted", table.scalar_api, [w.at(bits), w.at(a), w.scalar(b, a.dtype), mode], n)


def select(w: Writer, op: Op) -> None:
    dst, bits, a, b = (arg if i == 1 else as_bits(op, arg) for i, arg in enumerate(op.args))
    assert isinstance(dst, View) and isinstance(bits, View) and isinstance(a, View)
    n = w.text(_flat_count(w, dst, op))
    if isinstance(b, View):
        operands = [w.at(dst), w.at(bits), w.at(a), w.at(b), "SELMODE::VSEL_TENSOR_TENSOR_MODE"]
    else:
        operands = [w.at(dst), w.at(bits), w.at(a), w.scalar(b, dst.dtype), "SELMODE::VSEL_TENSOR_SCALAR_MODE"]
    w.statement("counted", OPS[op.name].api, operands, n)


def every_other(w: Writer, op: Op) -> None:
    dst, src = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    n = src.shape[0] * src.shape[1]
    word = {2: "uint16_t", 4: "uint32_t"}[src.dtype.bytes]
    kept = w.fresh("kept").name
    w.line(f"uint64_t {kept} = 0;")
    pattern = 2 if op.attrs["odd"] else 1
    source, target = (w.at(replace(v, element=WORDS[word])) for v in (src, dst))
    w.statement("every_other", target, source, pattern, n, kept)


WORDS = {"uint16_t": UINT16, "uint32_t": UINT32}

FORMS: dict[str, Any] = {
    "compare": compare, "select": select, "every_other": every_other,
    "elementwise": elementwise, "row_expand": row_expand, "col_expand": col_expand, "cast": cast, "full": full,
    "brcb": brcb, "whole_reduce": whole_reduce, "copy": copy,
}  # fmt: skip
EMITTERS: dict[str, Any] = {name: FORMS[op.form] for name, op in OPS.items() if op.form in FORMS}
