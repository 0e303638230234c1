"""The interpreter on IR built by hand: tails, poison, reductions, loops, launches, machine memories."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from pyto.errors import InternalError, LaunchError
from pyto.interpreter import run
from pyto.ir.builder import Builder
from pyto.ir.nodes import (
    BF16,
    FP32,
    INDEX,
    Block,
    Const,
    Function,
    Op,
    Param,
    Program,
    ScalarType,
    TensorType,
    TileType,
    Var,
    View,
    const,
)
from pyto.ir.scalar import apply

BF = ml_dtypes.bfloat16
B = Var("B", ScalarType(INDEX))
DONE = Op("yield")


def tensor(name, *shape, dtype=FP32):
    return Var(name, TensorType(tuple(const(e) for e in shape), dtype))


def region(*ops):
    return Op("region", attrs={"name": "r"}, blocks=(Block((), (*ops, DONE)),))


def loop(kind, index, lo, hi, step, *ops):
    args = tuple(const(e) for e in (lo, hi, step))
    return Op("for", args, (), {"kind": kind, "stages": 1}, (Block((index,), (*ops, DONE)),))


def host(params, *ops, stage="tensor", devices=()):
    f = Function("f", "host", params, (B,), Block((), ops))
    return Program("f", stage, (f, *devices))


def rows_program(emit, out_cols=8, cols=8, rows=4, out_dtype=FP32):
    """x [B, cols] in tiles of `rows` rows, changed by `emit(builder, tile)`, to y [B, out_cols]."""
    x, y = tensor("x", B, cols), tensor("y", B, out_cols, dtype=out_dtype)
    b0 = Var("b0", ScalarType(INDEX))
    builder = Builder()
    t = builder.emit("load", (x, b0, Const(0)), {"shape": (rows, cols), "rows": 0, "cols": 1})
    builder.emit("store", (y, emit(builder, t), b0, Const(0)), {"rows": 0, "cols": 1, "atomic": None})
    return host((Param(x), Param(y, "out")), loop("parallel", b0, 0, B, rows, region(*builder.ops)))


def run_rows(program, batch, cols=8, out_cols=8, dtype=np.float32, **kw):
    x = np.random.default_rng(1).standard_normal((batch, cols)).astype(np.float32)
    y = np.zeros((batch, out_cols), dtype)
    run(program, {"x": x, "y": y}, **kw)
    return x, y


@pytest.mark.parametrize("batch", [1, 4, 6, 8])
@pytest.mark.parametrize("seed", [None, 3])
def test_tails_are_clipped(batch, seed):
    x, y = run_rows(rows_program(lambda b, t: b.emit("mul", (t, Const(2.0, FP32)))), batch, seed=seed)
    np.testing.assert_array_equal(y, x * 2)


def test_undefined_lanes_are_poison():
    """A tile widened beyond what was loaded shows NaN instead of a plausible number."""

    def leak(b, t):
        wide = TileType(t.type.shape, FP32, (const(4), const(8)))
        lie = b.var("lie", wide)
        b.append(Op("set_validshape", (t, Const(4), Const(8)), (lie,)))
        return b.emit("add", (b.emit("col_sum", (lie,)), Const(0.0, FP32)))

    _, y = run_rows(rows_program(leak), 3)
    assert np.isnan(y[0]).all()


def test_reductions_skip_undefined_lanes():
    def body(b, t):
        return b.emit("row_expand_sub", (t, b.emit("row_max", (t,))))

    x, y = run_rows(rows_program(body), 5)
    np.testing.assert_array_equal(y, x - x.max(axis=1, keepdims=True))


def test_cast_rounds_once():
    program = rows_program(lambda b, t: b.emit("cast", (t,), {"target_type": BF16, "mode": "rint"}), out_dtype=BF16)
    x, y = run_rows(program, 5, dtype=BF)
    np.testing.assert_array_equal(y.astype(np.float32), x.astype(BF).astype(np.float32))


def test_slice_assemble_reshape():
    def body(b, t):
        lo = b.emit("slice", (t, Const(0), Const(0)), {"shape": (1, 16)})
        hi = b.emit("slice", (t, Const(0), Const(16)), {"shape": (1, 16)})
        swapped = b.emit("empty", (), {"shape": (1, 32), "dtype": FP32})
        swapped = b.emit("assemble", (swapped, hi, Const(0), Const(0)))
        swapped = b.emit("assemble", (swapped, lo, Const(0), Const(16)))
        two = b.emit("reshape", (swapped,), {"shape": (2, 16)})
        return b.emit("reshape", (two,), {"shape": (1, 32)})

    x, y = run_rows(rows_program(body, 32, 32, 1), 3, 32, 32)
    np.testing.assert_array_equal(y, np.roll(x, 16, axis=1))


def matmul_program(k_tile=16, k=48, n=16):
    """y [B, n] = x [B, k] @ w [n, k].T, accumulated over a loop of K tiles."""
    x, w, y = tensor("x", B, k, dtype=BF16), tensor("w", n, k, dtype=BF16), tensor("y", B, n)
    m0, k0 = Var("m0", ScalarType(INDEX)), Var("k0", ScalarType(INDEX))
    b = Builder()

    def product(at, acc=None):
        a = b.emit("load", (x, m0, at), {"shape": (16, k_tile), "rows": 0, "cols": 1})
        c = b.emit("load", (w, Const(0), at), {"shape": (n, k_tile), "rows": 0, "cols": 1})
        flags = {"a_trans": False, "b_trans": True}
        return b.emit("matmul", (a, c), flags) if acc is None else b.emit("matmul_acc", (acc, a, c), flags)

    first = product(Const(0))
    carried = b.var("acc", first.type)
    with b.block() as ops:
        last = product(k0, carried)
    total = b.var("total", first.type)
    body = Block((k0, carried), (*ops, Op("yield", (last,))))
    args = (Const(k_tile), Const(k), Const(k_tile), first)
    b.append(Op("for", args, (total,), {"kind": "pipeline", "stages": 2}, (body,)))
    b.emit("store", (y, total, m0, Const(0)), {"rows": 0, "cols": 1, "atomic": "add"})
    return host((Param(x), Param(w), Param(y, "inout")), loop("parallel", m0, 0, B, 16, region(*b.ops)))


@pytest.mark.parametrize("batch", [1, 16, 21])
def test_matmul_accumulates_and_adds(batch):
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((batch, 48)).astype(BF), rng.standard_normal((16, 48)).astype(BF)
    start = rng.standard_normal((batch, 16)).astype(np.float32)
    y = start.copy()
    run(matmul_program(), {"x": x, "w": w, "y": y})
    want = start + x.astype(np.float64) @ w.astype(np.float64).T
    np.testing.assert_allclose(y, want, rtol=0, atol=1e-5)


def launch_program(stage, body, params, blocks=(), kind="vector", grid=B):
    """One device function whose grid point `i` runs `body(i)`."""
    block, count, i = (Var(n, ScalarType(INDEX)) for n in ("block_", "blocks_", "i"))
    allocs, ops = body(i)
    inner = Op("for", (block, grid, count), (), {"kind": "blocks", "stages": 1}, (Block((i,), (*ops, DONE)),))
    device = Function("k", kind, (*params, Param(B)), (), Block((block, count), (*allocs, inner, DONE)))
    launch = Op("launch", (grid, *(p.var for p in params), B), attrs={"kernel": "k"})
    return host(params, launch, stage=stage, devices=(device,))


@pytest.mark.parametrize("batch", [1, 7, 100])
@pytest.mark.parametrize("cores", [1, 48])
def test_tile_stage_runs_every_block(batch, cores):
    x, y = tensor("x", B, 8), tensor("y", B, 8)

    def body(i):
        b = Builder()
        t = b.emit("load", (x, i, Const(0)), {"shape": (1, 8), "rows": 0, "cols": 1})
        b.emit("store", (y, b.emit("exp", (t,)), i, Const(0)), {"rows": 0, "cols": 1, "atomic": None})
        return (), b.ops

    program = launch_program("tile", body, (Param(x), Param(y, "out")))
    got, want = run_rows(program, batch, cores=cores, seed=5)[::-1]
    np.testing.assert_array_equal(got, np.exp(want))


def view(buffer, shape=None, row=0, col=0, slot=0):
    shape = shape or buffer.type.shape
    valid = (const(shape[0]), const(shape[1]))
    return View(buffer, shape, valid, const(slot), const(row), const(col), buffer.type.pitch)


def alloc(buffer, offset, slots=1):
    return Op("alloc", (), (buffer,), {"slots": slots, "offset": offset})


def buffer(name, rows, cols, space="ub", dtype=FP32):
    return Var(name, TileType((rows, cols), dtype, (const(rows), const(cols)), space))


def machine_program(second_offset, two_slots=False):
    """y = x * 3 with x in one buffer and the product in another, at `second_offset`, before x is read again."""
    x, y = tensor("x", B, 8), tensor("y", B, 8)
    t, u = buffer("t", 1, 8), buffer("u", 1, 8)

    def body(i):
        slot = apply("mod", i, Const(2)) if two_slots else Const(0)
        tv, uv = replace(view(t), slot=slot), view(u)
        at = {"rows": 0, "cols": 1}
        return (alloc(t, 0, 2 if two_slots else 1), alloc(u, second_offset)), (
            Op("load", (tv, x, i, Const(0)), attrs=at),
            Op("mul", (uv, tv, Const(2.0, FP32))),
            Op("add", (uv, uv, tv)),
            Op("store", (y, uv, i, Const(0)), attrs={**at, "atomic": None}),
        )

    return launch_program("machine", body, (Param(x), Param(y, "out")))


def test_machine_memory_plan():
    x, y = run_rows(machine_program(32), 5)
    np.testing.assert_array_equal(y, x * 3)
    x, y = run_rows(machine_program(64, two_slots=True), 5)
    np.testing.assert_array_equal(y, x * 3)


@pytest.mark.parametrize("offset", [0, 16])
def test_a_wrong_memory_plan_shows(offset):
    x, y = run_rows(machine_program(offset), 2)
    assert not np.allclose(y, x * 3)


def test_a_view_must_stay_in_its_buffer():
    program = machine_program(32)
    (device,) = program.device
    bad = device.body.ops[2].blocks[0].ops[0]
    bad = bad.with_(args=(replace(bad.args[0], slot=Const(1)), *bad.args[1:]))
    inner = device.body.ops[2]
    inner = inner.with_(blocks=(Block(inner.blocks[0].params, (bad, *inner.blocks[0].ops[1:])),))
    body = Block(device.body.params, (*device.body.ops[:2], inner, DONE))
    with pytest.raises(InternalError, match="leaves its buffer t"):
        run_rows(replace(program, functions=(program.host, device.with_(body=body))), 1)


def test_machine_vector_ops():
    """row_expand through brcb, whole_reduce, fillpad, in-place casts, windows at a pitch."""
    x, y = tensor("x", B, 4, 24), tensor("y", B, 4, 24, dtype=BF16)
    t, s, wide, h = buffer("t", 4, 24), buffer("s", 4, 1), buffer("wide", 4, 8), buffer("h", 4, 24, dtype=BF16)

    def body(i):
        at = {"rows": 1, "cols": 2}
        part = replace(view(t), valid=(const(4), const(20)))
        return (alloc(t, 0), alloc(s, 384), alloc(wide, 416), alloc(h, 544)), (
            Op("load", (part, x, i, Const(0), Const(0)), attrs=at),
            Op("fillpad", (view(t), part, Const(0.0, FP32))),
            Op("whole_reduce", (view(s), view(t)), attrs={"kind": "sum"}),
            Op("brcb", (view(wide), view(s))),
            Op("row_expand_sub", (view(t), view(t), view(wide))),
            Op("cast", (view(h), view(t)), attrs={"target_type": BF16, "mode": "rint"}),
            Op("copy", (view(h, (4, 8), 0, 16), view(h, (4, 8), 0, 0))),
            Op("store", (y, view(h), i, Const(0), Const(0)), attrs={**at, "atomic": None}),
        )

    xs = np.random.default_rng(0).standard_normal((3, 4, 24)).astype(np.float32)
    ys = np.zeros((3, 4, 24), BF)
    run(launch_program("machine", body, (Param(x), Param(y, "out"))), {"x": xs, "y": ys})
    want = np.where(np.arange(24) < 20, xs, 0)
    want = (want - want.sum(axis=2, keepdims=True)).astype(BF)
    want[..., 16:] = want[..., :8]
    np.testing.assert_allclose(ys.astype(np.float32), want.astype(np.float32), rtol=2**-7)


def test_machine_cube_ops():
    """Two K steps of a product through L1, L0A, L0B and L0C, narrowed to bf16 by the store."""
    x, w = tensor("x", B, 16, 32, dtype=BF16), tensor("w", 16, 32, dtype=BF16)
    y = tensor("y", B, 16, 16, dtype=BF16)
    xl, wl = buffer("xl", 16, 32, "l1", BF16), buffer("wl", 16, 32, "l1", BF16)
    a, b, c = buffer("a", 16, 16, "l0a", BF16), buffer("b", 16, 16, "l0b", BF16), buffer("c", 16, 16, "l0c")

    def step(k):
        return (
            Op("load_a", (view(a), view(xl, (16, 16), 0, k)), attrs={"trans": False}),
            Op("load_b", (view(b), view(wl, (16, 16), 0, k)), attrs={"trans": True}),
            Op("mmad", (view(c), view(a), view(b), const(k == 0))),
        )

    def body(i):
        return (alloc(xl, 0), alloc(wl, 1024), alloc(a, 0), alloc(b, 0), alloc(c, 0)), (
            Op("load", (view(xl), x, i, Const(0), Const(0)), attrs={"rows": 1, "cols": 2}),
            Op("load", (view(wl), w, Const(0), Const(0)), attrs={"rows": 0, "cols": 1}),
            *step(0),
            *step(16),
            Op("store", (y, view(c), i, Const(0), Const(0)), attrs={"rows": 1, "cols": 2, "atomic": None}),
        )

    rng = np.random.default_rng(0)
    xs, ws = rng.standard_normal((2, 16, 32)).astype(BF), rng.standard_normal((16, 32)).astype(BF)
    ys = np.zeros((2, 16, 16), BF)
    params = (Param(x), Param(w), Param(y, "out"))
    run(launch_program("machine", body, params, kind="cube"), {"x": xs, "w": ws, "y": ys})
    want = xs.astype(np.float32) @ ws.astype(np.float32).T
    np.testing.assert_allclose(ys.astype(np.float32), want, rtol=2**-8, atol=1e-5)


def test_arguments_are_checked():
    program = rows_program(lambda b, t: t)
    x, y = np.zeros((3, 8), np.float32), np.zeros((3, 8), np.float32)
    with pytest.raises(LaunchError, match=r"y.shape\[0\] is 2, expected 3 \(B, bound by x.shape\[0\]\)"):
        run(program, {"x": x, "y": y[:2]})
    with pytest.raises(LaunchError, match="'y' is missing"):
        run(program, {"x": x})
    with pytest.raises(LaunchError, match="no parameter 'z'"):
        run(program, {"x": x, "y": y, "z": y})
    with pytest.raises(LaunchError, match="x is float64"):
        run(program, {"x": x.astype(np.float64), "y": y})
    with pytest.raises(LaunchError, match="not contiguous"):
        run(program, {"x": np.zeros((8, 3), np.float32).T, "y": y})
    with pytest.raises(LaunchError, match="has 1 dimensions"):
        run(program, {"x": x[0], "y": y})


def test_stores_stay_in_their_tensor():
    program = rows_program(lambda b, t: b.emit("full", (Const(1.0, FP32),), {"shape": (4, 8), "dtype": FP32}))
    _, y = run_rows(program, 6)
    np.testing.assert_array_equal(y, 1)
    x = tensor("x", B, 8)
    b = Builder()
    b.emit("load", (x, Const(-1), Const(0)), {"shape": (1, 8), "rows": 0, "cols": 1})
    with pytest.raises(LaunchError, match="leaves its tensor"):
        run(host((Param(x),), region(*b.ops)), {"x": np.zeros((3, 8), np.float32)})
