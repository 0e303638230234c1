"""What the line of a loop says: its kind, bounds, index, and the values that it names first."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from pyto.frontends.python.calls import bind_arguments
from pyto.frontends.python.frame import Frame
from pyto.frontends.python.values import describe
from pyto.ir.nodes import Const, Expr
from pyto.ir.ranges import trip_count
from pyto.language.intrinsics import Intrinsic

LOOPS = ("range", "parallel", "pipeline", "unroll", "spmd", "while_")
_USE = "for i in pl.range(n), pl.parallel(n), pl.pipeline(n, stage=2), pl.unroll(n) or pl.spmd(n)"


@dataclass
class Header:
    """What a `for` or `while` line says.

    bounds: start, stop, step of the loop's index (not of a `while`). downwards: what a descending loop starts at, what
    it stops before, and its step; its index then counts iterations. test: the condition of a `while`.
    """

    kind: str
    call: ast.expr
    arguments: dict[str, Any] = field(default_factory=dict)
    bounds: tuple[Expr, ...] = ()
    stages: int = 1
    downwards: tuple[Expr, Expr, int] | None = None
    test: ast.expr | None = None


def read_header(frame: Frame, node: ast.For) -> Header:
    call = node.iter
    callee = frame.expr(call.func) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(callee, Intrinsic) or callee.name not in LOOPS:
        what = "Python's range" if callee is range else "this"
        raise frame.error("bad-loop", f"{what} is not a loop of the language", call, f"write {_USE}")
    arguments = bind_arguments(frame, callee, call)
    if callee.name == "while_":
        return Header("while", call, arguments)
    if callee.name == "spmd":
        count, count_node = arguments["core_num"]
        stop = frame.integer(count, count_node, "the number of blocks")
        return Header("spmd", call, arguments, (Const(0), stop, Const(1)))
    given = arguments["bounds"]
    if not 1 <= len(given) <= 3:
        raise frame.error(
            "bad-argument",
            f"pl.{callee.name} takes (stop), (start, stop) or (start, stop, step), got {len(given)} arguments",
            call,
        )
    values = [frame.integer(v, n, "a loop bound") for v, n in given]
    start, stop = (Const(0), values[0]) if len(values) == 1 else (values[0], values[1])
    step = 1
    if len(values) == 3:
        step = frame.static_int(given[2][0], given[2][1], "the step of a loop")
        if step == 0:
            raise frame.error("bad-argument", "the step of a loop must not be 0", given[2][1])
    header = Header(callee.name, call, arguments, (start, stop, Const(step)))
    if step < 0:
        trips = frame.simplified(trip_count(stop, start, Const(-step)))
        header.bounds, header.downwards = (Const(0), trips, Const(1)), (start, stop, step)
    if callee.name == "pipeline":
        stage, stage_node = arguments["stage"]
        header.stages = frame.static_int(stage, stage_node or call, "stage")
        if header.stages < 1:
            raise frame.error("bad-argument", f"stage must be at least 1, got {header.stages}", stage_node or call)
    return header


def targets(frame: Frame, node: ast.For, header: Header) -> tuple[str, list[str]]:
    """The name of the index, and the names of `init_values` (whose first values are bound here)."""
    init, _ = header.arguments.get("init_values", (None, None))
    if init is None:
        if not isinstance(node.target, ast.Name):
            raise frame.error("bad-target", "the index of a loop needs a plain name", node.target)
        return node.target.id, []
    target = node.target
    shape_ok = (
        isinstance(target, ast.Tuple)
        and len(target.elts) == 2
        and isinstance(target.elts[0], ast.Name)
        and isinstance(target.elts[1], ast.Tuple)
    )
    if not shape_ok:
        raise frame.error("bad-target", "a loop with init_values needs `for i, (a, b) in ...`", target)
    names = bind_inits(frame, target.elts[1], header)  # type: ignore[attr-defined]
    return target.elts[0].id, names  # type: ignore[attr-defined]


def bind_inits(frame: Frame, target: ast.expr, header: Header) -> list[str]:
    """Binds the names of `init_values` to their first values."""
    init, init_node = header.arguments["init_values"]
    if not isinstance(init, (tuple, list)):
        text = f"init_values must be a tuple, got {describe(init)}"
        raise frame.error("operand-kind", text, init_node or header.call)
    elements = target.elts if isinstance(target, ast.Tuple) else []
    names = [e.id for e in elements if isinstance(e, ast.Name)]
    if not isinstance(target, ast.Tuple) or len(names) != len(elements):
        raise frame.error("bad-target", "init_values need a tuple of plain names: `(a, b)`", target)
    if len(names) != len(init):
        raise frame.error("unpack", f"{len(init)} init_values for {len(names)} names", target)
    frame.env.update(zip(names, init))
    return names
