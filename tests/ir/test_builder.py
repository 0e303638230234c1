"""Names that are good C++, and the builder."""

from __future__ import annotations

import pytest

from pyto.ir.builder import Builder, Names, identifier
from pyto.ir.nodes import FP32, Const, TileType
from pyto.ir.ops import OpError


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("x", "x"), ("int", "int_"), ("half", "half_"), ("block", "block_"), ("Add", "Add_"), ("add", "add"),
        ("__x__y", "x_y"), ("_X", "X"), ("_", "v"), ("größe", "gruf6udfe"), ("1x", "v1x"), ("I", "I_"),
        ("PYTO_MIN", "PYTO_MIN_"), ("class", "class_"), ("exp", "exp"),
    ],
)  # fmt: skip
def test_identifier(name: str, good: str) -> None:
    assert identifier(name) == good


def test_symbols_avoid_the_c_library() -> None:
    assert identifier("exp", symbol=True) == "exp_" and identifier("rms_norm", symbol=True) == "rms_norm"


def test_names_are_unique() -> None:
    names = Names()
    assert [names.fresh(n) for n in ("a", "a", "a_1", "a", "int", "int", "__a")] == [
        "a", "a_1", "a_1_1", "a_2", "int_", "int_1", "a_3",
    ]  # fmt: skip
    copy = names.copy()
    assert copy.fresh("a") == names.fresh("a") == "a_4"


def test_builder_infers_and_nests() -> None:
    builder = Builder()
    with builder.block() as ops:
        full = builder.emit("full", (Const(0.0, FP32),), {"shape": (4, 8), "dtype": FP32}, hint="zero")
        assert full is not None and full.name == "zero" and full.type == TileType((4, 8), FP32, (Const(4), Const(8)))
        assert builder.emit("neg", (full,)).name == "neg"
        assert builder.emit("yield") is None
        with pytest.raises(OpError):
            builder.emit("add", (Const(1), Const(2)))
    assert [op.name for op in ops] == ["full", "neg", "yield"] and builder.ops == []
