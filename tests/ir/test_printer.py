"""The text form: expressions, types, views, loops."""

from __future__ import annotations

import pytest

from pyto.ir.nodes import (
    BF16,
    BOOL,
    FP16,
    FP32,
    INDEX,
    INT32,
    Apply,
    Block,
    Const,
    Expr,
    Function,
    Loc,
    Op,
    Program,
    ScalarType,
    TensorType,
    TileType,
    Var,
    View,
)
from pyto.ir.printer import print_op, print_program, show, show_type
from pyto.ir.scalar import apply

A, B = (Var(n, ScalarType(INDEX)) for n in "ab")
F = Var("f", ScalarType(FP32))


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (A + B * 2, "%a + %b * 2"),
        ((A + B) * 2, "(%a + %b) * 2"),
        (A - (B - 1), "%a - (%b - 1)"),
        (A - B - 1, "%a - %b - 1"),
        ((A + 15) // 16 * 16, "(%a + 15) // 16 * 16"),
        (apply("mod", A, Const(3)), "%a % 3"),
        (apply("min", Const(64), B - A), "min(64, %b - %a)"),
        (apply("and", apply("eq", A, Const(0)), apply("lt", B, A)), "%a == 0 and %b < %a"),
        (apply("eq", apply("lt", A, B), apply("lt", B, A)), "(%a < %b) == (%b < %a)"),
        (apply("not", apply("lt", A, B)), "not(%a < %b)"),
        (apply("neg", A), "neg(%a)"),
        (apply("select", apply("lt", A, B), A, B), "select(%a < %b, %a, %b)"),
        (apply("cast", A, dtype=FP32), "cast[fp32](%a)"),
        (Apply("mul", (F, Const(2.0, FP32)), FP32), "%f * 2.0"),
        (Apply("add", (A, Const(1)), INT32), "int32(%a + 1)"),
        (Const(5), "5"),
        (Const(-5), "-5"),
        (Const(1e-6, FP32), "1e-06"),
        (Const(float("-inf"), FP32), "-inf"),
        (Const(0.5, FP16), "fp16(0.5)"),
        (Const(3, INT32), "int32(3)"),
        (Const(True, BOOL), "true"),
    ],
)
def test_expressions(expr: Expr, text: str) -> None:
    assert show(expr) == text


def tile(rows: int, cols: int, space: str | None = None, valid: tuple[Expr, Expr] | None = None) -> TileType:
    return TileType((rows, cols), FP32, valid or (Const(rows), Const(cols)), space)


def test_types() -> None:
    assert show_type(tile(1, 5120)) == "tile[1x5120, fp32]"
    assert show_type(tile(16, 64, "ub", (A, Const(64)))) == "tile[16x64, fp32, valid(%a, 64), ub]"
    assert show_type(TensorType((A, Const(8)), BF16)) == "tensor[(%a, 8), bf16]"
    assert show_type(ScalarType(INDEX)) == "index"


def test_views() -> None:
    buffer = Var("x", tile(16, 128, "ub"))
    whole = View(buffer, (16, 128), (Const(16), Const(128)), Const(0), Const(0), Const(0), 128)
    assert show(whole) == "%x[0, 0 : 16, 0 : 128]"
    part = View(buffer, (8, 64), (A, Const(64)), B % 2, A * 8, Const(64), 128)
    assert show(part) == "%x[%b % 2, %a * 8 : 8, 64 : 64] valid(%a, 64)"
    reshaped = View(buffer, (1, 2048), (Const(1), Const(2048)), Const(0), Const(0), Const(0), 2048)
    assert show(reshaped) == "%x[0, 0 : 1, 0 : 2048] pitch 2048"


def test_operations() -> None:
    x, y = Var("x", tile(4, 8)), Var("y", tile(4, 8))
    op = Op("cast", (x,), (y,), {"target_type": FP32, "mode": "rint"})
    assert print_op(op) == '%y = cast %x {mode = "rint", target_type = fp32} : tile[4x8, fp32]\n'
    attrs = {"e": A + 1, "n": None, "t": (1, 2.5, True), "s": 'a"b'}
    assert (
        print_op(Op("barrier", attrs=attrs))
        == 'barrier {e = expr(%a + 1), n = none, s = "a\\"b", t = [1, 2.5, true]}\n'
    )


def test_loops_print_types_once() -> None:
    i, acc, new, out, init = (
        Var("i", ScalarType(INDEX)),
        *(Var(n, tile(4, 8)) for n in ("acc", "new", "out", "init")),
    )
    body = Block((i, acc), (Op("neg", (acc,), (new,)), Op("yield", (new,))))
    loop = Op("for", (Const(0), B, Const(2), init), (out,), {"kind": "range", "stages": 1}, (body,))
    assert print_op(loop) == (
        '%out = for %i in 0 .. %b step 2, %acc = %init {kind = "range", stages = 1} : tile[4x8, fp32] {\n'
        "  %neg = neg %acc : tile[4x8, fp32]\n".replace("%neg =", "%new =")
        + "  yield %new\n}\n"
    )
    narrow = Var("out", tile(4, 8, valid=(A, Const(8))))
    assert "%acc: tile[4x8, fp32] = %init" in print_op(loop.with_(results=(narrow,)))


def test_locations_have_no_folders() -> None:
    loc = Loc("/home/someone/kernels/k.py", 12, 4, 9)
    host = Function("k", "host", (), (), Block((), (Op("barrier", loc=loc),)), loc=loc)
    text = print_program(Program("k", "machine", (host,)), locations=True)
    assert text == "program k machine\n\nhost k() @k.py:12:4-9 {\n  barrier @k.py:12:4-9\n}\n"
    assert "@" not in print_program(Program("k", "machine", (host,)))
