"""The verifier accepts what the passes make and refuses one broken rule at a time."""
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import pyto.language as pl
from pyto.frontends.python import parse
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
)
from pyto.ir.verifier import VerifyError, verify


@pl.jit
def kernel(x: pl.Tensor[[pl.dynamic("B"), 64], pl.FP32], y: pl.Out[pl.Tensor[[pl.dynamic("B"), 64], pl.FP32]]):
    for b in pl.parallel(0, x.shape[0], 8):
        with pl.at(level=pl.Level.CORE_GROUP):
            acc = x[b : b + 8, :]
            for _ in pl.range(4):
                acc = acc + 1.0
            y[b : b + 8, :] = acc


def edit(path: tuple[int, ...], change: Callable[[Op], Op | list[Op]]) -> Program:
    """The kernel with one operation changed; `path` are its positions in nested blocks."""
    program = parse(kernel)

    def inner(block: Block, path: tuple[int, ...]) -> Block:
        ops = list(block.ops)
        old = ops[path[0]]
        if len(path) == 1:
            new = change(old)
        else:
            new = old.with_(blocks=(inner(old.blocks[0], path[1:]),))
        ops[path[0] : path[0] + 1] = new if isinstance(new, list) else [new]
        return Block(block.params, tuple(ops))

    host = program.host
    return replace(program, functions=(host.with_(body=inner(host.body, path)),))


def test_the_kernel_is_right() -> None:
    verify(parse(kernel))
    verify(edit((0, 0, 0), lambda op: op))


LOAD, LOOP, STORE, END = (0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 3)
ADD, YIELD = (0, 0, 1, 0), (0, 0, 1, 1)
STRAY = Var("stray", ScalarType(INDEX))
TILE = TileType((8, 64), FP32, (Const(8), Const(64)))


@pytest.mark.parametrize(
    ("path", "change", "text"),
    [
        (ADD, lambda op: op.with_(name="nothing"), "there is no operation 'nothing'"),
        (ADD, lambda op: op.with_(args=(op.args[0],)), "add lacks an operand"),
        (ADD, lambda op: op.with_(args=(Var("ghost", op.args[0].type), op.args[1])), "%ghost is not defined"),
        (ADD, lambda op: op.with_(results=(Var("acc", op.result.type),)), "%acc is defined twice"),
        (ADD, lambda op: op.with_(results=()), "add has one result, not 0"),
        (ADD, lambda op: op.with_(results=(Var("r", replace(op.result.type, dtype=BF16)),)), "its result is tile[8x64, bf16"),
        (ADD, lambda op: op.with_(args=(replace(op.args[0], type=TILE), op.args[1])), "used as tile[8x64, fp32]"),
        (ADD, lambda op: op.with_(blocks=(Block((), ()),)), "add has no blocks"),
        (ADD, lambda op: [op, Op("alloc", results=(Var("b", TILE),))], "alloc does not belong into device code of the tensor"),
        (ADD, lambda op: [op, Op("region", attrs={"name": "r"})], "region does not belong into device code"),
        (YIELD, lambda op: [], "does not end in yield"),
        (YIELD, lambda op: [op, op], "yield ends a block"),
        (YIELD, lambda op: op.with_(args=()), "yield hands on 0 values of 1"),
        (YIELD, lambda op: op.with_(args=(Const(1),)), "the yielded value is index"),
        (LOOP, lambda op: op.with_(results=()), "1 initial values, 1 carried, 0 results"),
        (LOOP, lambda op: op.with_(args=op.args[:2]), "a loop has start, stop, step"),
        (LOOP, lambda op: op.with_(args=(*op.args[:2], Const(0), op.args[3])), "the step of a loop is positive"),
        (LOOP, lambda op: op.with_(attrs={"kind": "sideways"}), "no loop of kind 'sideways'"),
        (LOOP, lambda op: op.with_(results=(Var("r", replace(TILE, dtype=BF16)),)), "the result is tile[8x64, bf16]"),
        (LOAD, lambda op: op.with_(args=op.args[:2]), "load: 1 offsets for 2 axes"),
        (LOAD, lambda op: op.with_(attrs={**op.attrs, "rows": 1}), "rows = 1, cols = 1 of 2 axes"),
        (LOAD, lambda op: op.with_(args=(Const(1), *op.args[1:])), "load needs a tensor"),
        (LOAD, lambda op: op.with_(results=(Var("r", replace(op.result.type, valid=(Const(9), Const(64)))),)), "is valid to 9 of 8"),
        (STORE, lambda op: op.with_(args=(op.args[0], Const(1), *op.args[2:])), "store writes a tile"),
        (STORE, lambda op: op.with_(attrs={**op.attrs, "atomic": "mul"}), "no atomic 'mul'"),
        (END, lambda op: [Op("let", (Const(1),), (Var("k", ScalarType(FP32)),)), op], "the value is index, the name fp32"),
        (END, lambda op: [Op("let", (STRAY,), (Var("k", ScalarType(INDEX)),)), op], "%stray is not defined"),
        ((0,), lambda op: op.with_(attrs={"kind": "pipeline"}), "loops of host code are parallel or range"),
        ((0, 0), lambda op: op.with_(attrs={}), "a region has a name"),
        ((0, 0), lambda op: op.with_(args=(Const(1),)), "neither operands nor results"),
        ((0, 0), lambda op: [Op("neg"), op], "neg does not belong into host code of the tensor stage"),
    ],
)  # fmt: skip
def test_broken(path: tuple[int, ...], change: Callable[[Op], Op | list[Op]], text: str) -> None:
    with pytest.raises(VerifyError) as caught:
        verify(edit(path, change))
    assert text in caught.value.message
    assert "fault of pyto" in str(caught.value)


def test_scopes_end() -> None:
    """A value of a loop's body is not visible behind the loop."""
    inner = parse(kernel).host.body.ops[0].blocks[0].ops[0].blocks[0].ops[1].blocks[0].ops[0].result
    with pytest.raises(VerifyError, match="is used outside its scope"):
        verify(edit(STORE, lambda op: op.with_(args=(op.args[0], inner, *op.args[2:]))))


def test_the_error_names_the_operation() -> None:
    with pytest.raises(VerifyError) as caught:
        verify(edit(YIELD, lambda op: op.with_(args=(Const(1),))))
    assert "in %acc" in str(caught.value) and caught.value.op is not None and caught.value.loc is not None


# ------------------------------------------------------------------------------------ later stages

BUFFER = Var("b", TileType((8, 64), FP32, (Const(8), Const(64)), "ub"))
X = Var("x", TensorType((Const(8), Const(64)), FP32))


def view(**changes) -> View:
    whole = View(BUFFER, (8, 64), (Const(8), Const(64)), Const(0), Const(0), Const(0), 64)
    return replace(whole, **changes)


def machine(*ops: Op, launch: Op | None = None) -> Program:
    index = ScalarType(INDEX)
    alloc = Op("alloc", results=(BUFFER,), attrs={"slots": 1, "offset": 0})
    body = Block((Var("block", index), Var("blocks", index)), (alloc, *ops, Op("yield")))
    device = Function("d", "vector", (Param(X, "inout"),), (), body)
    launch = launch or Op("launch", (Const(1), X), attrs={"kernel": "d"})
    return Program("p", "machine", (Function("p", "host", (Param(X, "inout"),), (), Block((), (launch,))), device))


ATTRS = {"rows": 0, "cols": 1, "shape": (8, 64)}


def test_machine_stage() -> None:
    load = Op("load", (view(), X, Const(0), Const(0)), attrs=ATTRS)
    store = Op("store", (X, view(), Const(0), Const(0)), attrs=ATTRS)
    verify(machine(load, Op("exp", (view(), view())), Op("barrier", attrs={"pipe": "V"}), store))


@pytest.mark.parametrize(
    ("op", "text"),
    [
        (Op("exp", (Const(1), view())), "operand 0 of exp must be a view"),
        (Op("store", (X, Const(1), Const(0), Const(0)), attrs=ATTRS), "operand 1 of store must be a view"),
        (Op("exp", (view(), view()), (Var("r", TILE),)), "has no result"),
        (Op("exp", (view(row=Const(1)), view())), "leaves its buffer of [8, 64]"),
        (Op("exp", (view(shape=(8, 65)), view())), "leaves its buffer of [8, 64]"),
        (Op("exp", (view(col=Const(-8), shape=(8, 8)), view())), "leaves its buffer of [8, 64]"),
        (Op("exp", (view(slot=STRAY), view())), "%stray is not defined"),
        (Op("matmul", (view(), view())), "matmul does not belong into device code of the machine stage"),
        (Op("alloc", results=(Var("c", TILE),)), "alloc makes one buffer in a memory space"),
    ],
)
def test_broken_machine(op: Op, text: str) -> None:
    with pytest.raises(VerifyError) as caught:
        verify(machine(op))
    assert text in caught.value.message


@pytest.mark.parametrize(
    ("launch", "text"),
    [
        (Op("launch", (Const(1), X), attrs={"kernel": "e"}), "launch of 'e', which is not in the program"),
        (Op("launch", (Const(1),), attrs={"kernel": "d"}), "d takes a grid and 1 arguments, got 1"),
        (Op("launch", (Const(1), Const(2)), attrs={"kernel": "d"}), "%x of d is tensor[(8, 64), fp32], got index"),
        (Op("load", (X, Const(0), Const(0)), attrs=ATTRS), "load does not belong into host code"),
    ],
)
def test_broken_host(launch: Op, text: str) -> None:
    with pytest.raises(VerifyError) as caught:
        verify(machine(launch=launch))
    assert text in caught.value.message


def test_broken_programs() -> None:
    good = machine()
    with pytest.raises(VerifyError, match="no stage"):
        verify(replace(good, stage="soup"))
    with pytest.raises(VerifyError, match="appear at the tile stage"):
        verify(replace(good, stage="tensor"))
    with pytest.raises(VerifyError, match="is its host function"):
        verify(replace(good, functions=good.functions[1:]))
    with pytest.raises(VerifyError, match="have one name"):
        verify(replace(good, functions=(*good.functions, good.functions[1])))
