"""Operations that move elements about in UB, as Ascend C."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pyto.codegen.ascendc.vector import rows_of
from pyto.codegen.ascendc.writer import Writer, tile_ctype
from pyto.ir.infer_data import PAIR, PATTERNS, SORTED
from pyto.ir.nodes import BF16, INT16, INT32, Const, DType, Expr, Op, View, const
from pyto.ir.ops import OPS
from pyto.ir.scalar import apply
from pyto.target import BLOCK, MAX_REPEAT, REPEAT

# Other element types of the same width, for functions that do not take all of them.
_BITS = {2: "half", 4: "float"}
_SIGNED = {2: INT16, 4: INT32}
TRANSPOSE_HELPER = "TransposeBlocks"


def _buffer(w: Writer, view: View) -> str:
    """The buffer that a view lies in, as elements of the view's type."""
    return w.at(replace(view, slot=Const(0), row=Const(0), col=Const(0)))


def _slot(w: Writer, view: View) -> Expr:
    return view.slot * w.slot_elements(view.buffer, view.dtype)


def _step(view: View) -> int:
    return view.pitch * view.dtype.bytes // BLOCK


def _as(text: str, have: DType, ctype: str) -> str:
    return text if tile_ctype(have) == ctype else f"{text}.ReinterpretCast<{ctype}>()"


def _spans(w: Writer, total: Expr, most: int, hint: str = "i") -> Iterator[tuple[Expr, Expr]]:
    """(first, number) of runs of at most `most`."""
    total = w.simplify(total)
    if isinstance(total, Const):
        for first in range(0, int(total.value), most):
            yield Const(first), Const(min(most, int(total.value) - first))
        return
    index = w.fresh(hint)
    with w.loop(index, Const(0), total, Const(most)):
        yield index, apply("min", Const(most), total - index)


def _dense(view: View) -> bool:
    return view.shape[0] == 1 or (view.pitch == view.shape[1] and view.valid[1] == const(view.shape[1]))


# ------------------------------------------------------------------------------------------------------- transposition


def transpose_blocks(w: Writer, op: Op) -> None:
    """Blocks of 16 rows and 32 bytes: a call goes along the blocks of one row of them, or down one column."""
    dst, src = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    rows, cols = src.shape
    size = src.dtype.bytes
    width = BLOCK // size
    whole, rest = divmod(rows, 16)
    across = -(-cols // width)
    right = (1, width * dst.pitch * size // BLOCK)  # (source, destination) blocks from one block to its neighbours
    down = (16 * _step(src), 16 * size // BLOCK)
    w.printer.helpers.add(TRANSPOSE_HELPER)
    if whole > across:
        for c in _indices(w, across):
            _transpose_run(w, dst, src, (Const(0), c), 15, whole, down)
    else:
        for r in _indices(w, whole):
            _transpose_run(w, dst, src, (r, Const(0)), 15, across, right)
    if rest:
        _transpose_run(w, dst, src, (Const(whole), Const(0)), rest - 1, across, right)


def _indices(w: Writer, count: int) -> Iterator[Expr]:
    if count <= 4:
        yield from (Const(i) for i in range(count))
        return
    i = w.fresh("i")
    with w.loop(i, Const(0), Const(count), Const(1)):
        yield i


def _transpose_run(
    w: Writer, dst: View, src: View, at: tuple[Expr, Expr], last: int, repeats: int, steps: tuple[int, int]
) -> None:
    size = src.dtype.bytes
    width, ctype = BLOCK // size, _BITS[size]
    row, col = at
    for first in range(0, repeats, MAX_REPEAT):
        count = min(MAX_REPEAT, repeats - first)
        moved = first * steps[0] * BLOCK // size, first * steps[1] * BLOCK // size
        source = _as(w.at(src, row * 16, col * width + moved[0]), src.dtype, ctype)
        target = _as(w.at(dst, col * width, row * 16 + moved[1]), dst.dtype, ctype)
        s, d = steps if count > 1 else (0, 0)  # a single repeat would start one stride further on
        w.statement("transpose_blocks", target, source, dst.pitch, src.pitch, last, count, d, s)


# ------------------------------------------------------------------------------------------------------------- padding


def fillpad(w: Writer, op: Op) -> None:
    """The undefined lanes of `src` (in place): the rest of every valid row, then the rows below."""
    dst, src, value = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    (rows, cols), (valid_rows, valid_cols) = src.shape, src.valid
    if cols == 1 and rows > 1:  # a column lies like a row
        rows, cols, valid_rows, valid_cols = 1, rows, const(1), valid_rows * valid_cols
    text = w.scalar(value, dst.dtype)
    if w.simplify(valid_cols) != const(cols):
        with w.condition(apply("lt", valid_cols, Const(cols))):
            _fill_columns(w, dst, text, (rows, cols), valid_rows, valid_cols)
    if valid_rows != const(rows):
        with w.condition(apply("lt", valid_rows, Const(rows))):
            count = (rows - valid_rows) * dst.pitch
            w.statement("counted", "Duplicate", [w.at(dst, valid_rows), text], w.text(count))


def _fill_columns(w: Writer, dst: View, value: str, shape: tuple[int, int], rows: Expr, first: Expr) -> None:
    """Repeats of every row from the one on that holds column `first`."""
    width, c = REPEAT // dst.dtype.bytes, w.fresh("c")
    w.printer.helpers.add("Lanes")
    column = dst.shape[1] == 1
    step = 8 if column else _step(dst)
    together = shape[0] <= MAX_REPEAT and step <= MAX_REPEAT
    with w.loop(c, apply("floordiv", first, Const(width)) * width, Const(shape[1]), Const(width)):
        ends = [[w.text(e - c - word * 64) for e in (first, const(shape[1]))] for word in range(width // 64)]
        words = [f"Lanes({a}, {b})" for a, b in ends] + ["0"] * (2 - width // 64)
        if together:
            at = w.at(dst, c) if column else w.at(dst, 0, c)
            w.statement("fill_lanes", at, value, words, w.text(rows), step)
            return
        r = w.fresh("r")
        with w.loop(r, Const(0), rows, Const(1)):
            w.statement("fill_lanes", w.at(dst, r, c), value, words, 1, 8)


# ------------------------------------------------------------------------------------------------------------- indices


def arange(w: Writer, op: Op) -> None:
    """The lanes of one repeat bit by bit, then what is there again behind itself, twice as much each time."""
    dst, start = op.args
    assert isinstance(dst, View)
    size, cols = dst.dtype.bytes, dst.shape[1]
    signed = _SIGNED[size]
    at = _as(w.at(dst), dst.dtype, signed.ctype)
    sign = -1 if op.attrs.get("descending") else 1
    per_repeat = REPEAT // size
    first = min(per_repeat, cols)
    value: Expr = start if not isinstance(start, Const) else Const(_wrapped(int(start.value), signed), signed)
    w.statement("counted", "Duplicate", [at, w.scalar(value, signed)], first)
    bit = 1
    while bit < first:
        lanes = sum(1 << lane for lane in range(first) if lane & bit)
        words = f"{lanes & (2**64 - 1):#x}ULL, {lanes >> 64:#x}ULL"
        w.line("PipeBarrier<PIPE_V>();")
        w.statement("masked_adds", at, at, w.scalar(Const(sign * bit, signed), signed), words)
        bit *= 2
    have = first
    while have < cols:
        more = min(have, cols - have)
        target = _as(w.at(dst, 0, have), dst.dtype, signed.ctype)
        w.line("PipeBarrier<PIPE_V>();")
        w.statement(
            "counted", "Adds", [target, at, w.scalar(Const(_wrapped(sign * have, signed), signed), signed)], more
        )
        have += more


def _wrapped(value: int, dtype: DType) -> int:
    return (value + (1 << (dtype.bits - 1))) % (1 << dtype.bits) - (1 << (dtype.bits - 1))


# ------------------------------------------------------------------------------------------------------------- sorting


def sort32(w: Writer, op: Op) -> None:
    dst, src, index = op.args
    assert isinstance(dst, View) and isinstance(src, View) and isinstance(index, View)
    groups = src.shape[1] // SORTED
    together = all(_dense(v) and v.valid[1] == const(v.shape[1]) for v in (dst, src, index))
    for r in [Const(0)] if together else rows_of(w, dst):
        total = dst.valid[0] * groups if together else const(groups)
        for first, count in _spans(w, total, MAX_REPEAT):
            moved = first * SORTED
            at = w.at(dst, r, moved * PAIR), w.at(src, r, moved), w.at(index, r, moved)
            w.statement("counted", "Sort32", [*at[:2], _as(at[2], index.dtype, "uint32_t")], w.text(count))


def mrgsort(w: Writer, op: Op) -> None:
    dst, *lists = op.args
    assert isinstance(dst, View)
    for r in rows_of(w, dst):
        if op.attrs.get("block_len") is None:
            _merge(w, w.at(dst, r), [(w.at(v, r), v.shape[1] // PAIR) for v in lists if isinstance(v, View)], 1)
            continue
        (src,) = lists
        assert isinstance(src, View)
        _merge_runs(w, dst, src, r, op.attrs["block_len"])


def _merge_runs(w: Writer, dst: View, src: View, row: Expr, length: int) -> None:
    """Each four runs of `length` columns to one; what is left at the end has fewer, or a shorter last one."""
    cols = src.shape[1]
    whole = cols // (4 * length)
    for first, count in _spans(w, const(whole), MAX_REPEAT):
        start = first * 4 * length
        _merge(
            w,
            w.at(dst, row, start),
            [(w.at(src, row, start + k * length), length // PAIR) for k in range(4)],
            int(count.value),  # type: ignore[attr-defined]
        )
    done = whole * 4 * length
    left = cols - done
    runs = [(k, min(length, left - k)) for k in range(0, left, length)]
    if len(runs) == 1:
        blocks = -(-left * dst.dtype.bytes // BLOCK)
        w.statement("copy", w.at(dst, row, done), w.at(src, row, done), 1, blocks, 0, 0)
    elif runs:
        _merge(w, w.at(dst, row, done), [(w.at(src, row, done + k), n // PAIR) for k, n in runs], 1)


def _merge(w: Writer, dst: str, lists: list[tuple[str, int]], repeats: int) -> None:
    unused = 4 - len(lists)
    sources = [text for text, _ in lists] + [lists[0][0]] * unused
    lengths = [n for _, n in lists] + [0] * unused
    w.statement("merge_sort", dst, sources, lengths, (1 << len(lists)) - 1, repeats)


# ------------------------------------------------------------------------------------------------------------- gathers


def gather_mask(w: Writer, op: Op) -> None:
    dst, src = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    target_type = tile_ctype(src.dtype)
    step, _ = PATTERNS[op.attrs["pattern"]]
    # Rows come side by side, so that all of them are one call where the rows of the result lie like that.
    together = dst.shape[0] == 1 or (_dense(dst) and src.shape[1] % step == 0 and src.valid[1] == const(src.shape[1]))
    for r in [Const(0)] if together else rows_of(w, dst):
        repeats = src.valid[0] if together and dst.shape[0] > 1 else const(1)
        target = _as(w.at(dst, r), dst.dtype, target_type)
        _take(w, target, w.at(src, r), str(op.attrs["pattern"]), w.text(src.valid[1]), w.text(repeats), _step(src))


def take_column(w: Writer, op: Op) -> None:
    dst, src, *bits = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    width = BLOCK // src.dtype.bytes
    rows, block = w.text(src.valid[0]), op.attrs["col"] // width * width
    pattern, mask = (w.at(bits[0]), width) if bits else ("7", 1)  # type: ignore[arg-type]
    _take(w, w.at(dst), w.at(src, 0, block), pattern, str(mask), rows, _step(src))


def _take(w: Writer, dst: str, src: str, pattern: str, mask: str, repeats: str, step: int) -> None:
    if pattern.isdigit():
        pattern = f"static_cast<uint8_t>({pattern})"
    w.statement("gather_mask", dst, src, pattern, mask, repeats, step, w.fresh("kept").name)


def gather_bytes(w: Writer, op: Op) -> None:
    """One call a row, whose offsets count from the start of the same row of the source."""
    dst, src, offsets = op.args
    assert isinstance(dst, View) and isinstance(src, View) and isinstance(offsets, View)
    flat, size = op.attrs["flat"], src.dtype.bytes
    together = flat and _dense(dst) and _dense(offsets)
    most = MAX_REPEAT * (REPEAT // size)
    base = _slot(w, src) + src.row * src.pitch + src.col
    for r in [Const(0)] if together else rows_of(w, dst):
        count = dst.valid[0] * dst.valid[1] if together else dst.valid[1]
        longest = dst.shape[0] * dst.shape[1] if together else dst.shape[1]
        spans = _spans(w, count, most) if longest > most else iter([(Const(0), count)])
        start = (base if flat else base + r * src.pitch) * size
        for first, number in spans:
            operands = [
                w.at(dst, r, first),
                _buffer(w, src),
                _as(w.at(offsets, r, first), offsets.dtype, "uint32_t"),
                w.text(start),
            ]
            w.statement("counted", "Gather", operands, w.text(number))


def gatherb(w: Writer, op: Op) -> None:
    dst, src, offsets = op.args
    assert isinstance(dst, View) and isinstance(src, View) and isinstance(offsets, View)
    eights = offsets.shape[1] // 8
    per_call = 8 * BLOCK // dst.dtype.bytes
    together = dst.shape[0] > 1 and dst.pitch == dst.shape[1] and offsets.pitch == offsets.shape[1]
    for r in [Const(0)] if together else rows_of(w, dst):
        total = dst.valid[0] * eights if together else const(eights)
        for first, count in _spans(w, total, MAX_REPEAT):
            target = _as(w.at(dst, r, first * per_call), dst.dtype, "uint32_t")
            where = _as(w.at(offsets, r, first * 8), offsets.dtype, "uint32_t")
            w.statement("gather_blocks", target, _as(w.at(src), src.dtype, "uint32_t"), where, w.text(count))


# -------------------------------------------------------------------------------------------------- single elements


def element(w: Writer, view: View, row: Expr | int, col: Expr | int) -> tuple[str, str]:
    """The buffer and the element's place in it."""
    offset = _slot(w, view) + (view.row + row) * view.pitch + view.col + col
    return _buffer(w, view), w.text(offset)


def read(w: Writer, op: Op) -> None:
    view, row, col = op.args
    assert isinstance(view, View)
    buffer, at = element(w, view, row, col)
    w.statement("read_element", op.result.name, view.dtype.ctype, buffer, at)


def write(w: Writer, op: Op) -> None:
    dst, _, row, col, value = op.args
    assert isinstance(dst, View)
    buffer, at = element(w, dst, row, col)
    w.statement("write_element", buffer, at, _value(w, value, dst.dtype))


def _value(w: Writer, value: Expr, dtype: DType) -> str:
    if dtype is BF16 and not isinstance(value, Const):
        return f"ToBfloat16({w.text(value)})"
    return w.scalar(value, dtype)


def scatter(w: Writer, op: Op) -> None:
    dst, _, index, src = op.args
    assert isinstance(dst, View) and isinstance(index, View) and isinstance(src, View)
    rows, cols = (apply("min", a, b) for a, b in zip(index.valid, src.valid))
    if not op.attrs["flat"]:
        rows = apply("min", rows, const(dst.shape[0]))
    r, k = w.fresh("r"), w.fresh("k")
    with w.loop(r, Const(0), rows, Const(1)), w.loop(k, Const(0), cols, Const(1)):
        place = w.text(element_offset(w, dst, Const(0) if op.attrs["flat"] else r))
        at = ".GetValue(".join(element(w, index, r, k)) + ")"
        value = ".GetValue(".join(element(w, src, r, k)) + ")"
        w.line(f"{_buffer(w, dst)}.SetValue({at if place == '0' else f'{place} + {at}'}, {value});")


def element_offset(w: Writer, view: View, row: Expr) -> Expr:
    return w.simplify(_slot(w, view) + (view.row + row) * view.pitch + view.col)


def scatter_mask(w: Writer, op: Op) -> None:
    dst, _, src = op.args
    assert isinstance(dst, View) and isinstance(src, View)
    step, first = PATTERNS[op.attrs["pattern"]]
    r, k = w.fresh("r"), w.fresh("k")
    with w.loop(r, Const(0), src.valid[0], Const(1)), w.loop(k, Const(0), src.valid[1], Const(1)):
        buffer, at = element(w, dst, r, k * step + first)
        value = ".GetValue(".join(element(w, src, r, k)) + ")"
        w.line(f"{buffer}.SetValue({at}, {value});")


FORMS: dict[str, Any] = {
    "fillpad": fillpad, "transpose_blocks": transpose_blocks, "arange": arange, "sort32": sort32, "mrgsort": mrgsort,
    "gather_mask": gather_mask, "take_column": take_column, "gather_bytes": gather_bytes, "gatherb": gatherb,
    "write": write, "scatter": scatter, "scatter_mask": scatter_mask,
}  # fmt: skip
EMITTERS: dict[str, Any] = {name: FORMS[op.form] for name, op in OPS.items() if op.form in FORMS}
