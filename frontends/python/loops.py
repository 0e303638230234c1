"""Loops. Names that a body assigns and that a later iteration or the code behind the loop reads are carried."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyto.frontends.python.branches import truth
from pyto.frontends.python.carried import (
    candidates,
    check_fixed,
    declare,
    first_value,
    last_value,
    settle_type,
    with_extents,
)
from pyto.frontends.python.expressions import decide
from pyto.frontends.python.frame import Bounds, Frame, PeelFirst
from pyto.frontends.python.headers import Header, bind_inits, read_header, targets
from pyto.frontends.python.liveness import assigned
from pyto.frontends.python.statements import assign, region, run
from pyto.frontends.python.values import Poison
from pyto.ir.nodes import BOOL, INDEX, Block, Const, Expr, Op, ScalarType, Var
from pyto.ir.scalar import apply, substitute, variables
from pyto.language.intrinsics import Intrinsic

MAX_UNROLL = 1024


def for_loop(frame: Frame, node: ast.For) -> None:
    if node.orelse:
        raise frame.error(
            "unsupported-python",
            "`else` of a loop is not part of the language",
            node.orelse[0],
            "put it after the loop",
        )
    header = read_header(frame, node)
    if header.kind == "while":
        _while_loop(frame, node, header)
        return
    if header.kind == "unroll":
        _unroll(frame, node, header)
        return
    if header.kind == "spmd":
        _spmd_loop(frame, node, header)
        return
    target, init_names = targets(frame, node, header)
    _loop(frame, node, header, target, init_names, node.body)


def while_loop(frame: Frame, node: ast.While) -> None:
    if node.orelse:
        raise frame.error(
            "unsupported-python",
            "`else` of a loop is not part of the language",
            node.orelse[0],
            "put it after the loop",
        )
    if isinstance(node.test, ast.Constant):
        if node.test.value:
            raise frame.error("endless", "this loop never ends", node.test, "put the condition to go on behind `while`")
        _skip(frame, node, None, node.body)
        return
    if frame.session.region is None:
        raise frame.error(
            "host-loop", "`while` outside a region is not part of the language", node.test, "put it into the region"
        )
    _loop(frame, node, Header("while", node.test, test=node.test), None, [], node.body)


def _while_loop(frame: Frame, node: ast.For, header: Header) -> None:
    """`for (a, b) in pl.while_(init_values=(x, y)):`, whose body begins with pl.cond."""
    first, *body = node.body
    test = first.value if isinstance(first, ast.Expr) else None
    callee = frame.expr(test.func) if isinstance(test, ast.Call) else None
    if not isinstance(callee, Intrinsic) or callee.name != "cond" or not isinstance(test, ast.Call) or not body:
        raise frame.error("bad-loop", "a pl.while_ loop begins with pl.cond", first, "pl.cond(condition to go on)")
    if len(test.args) != 1 or test.keywords:
        raise frame.error("bad-argument", "pl.cond takes one condition", test, "pl.cond(condition to go on)")
    if frame.session.region is None:
        raise frame.error(
            "host-loop", "pl.while_ outside a region is not part of the language", header.call, "put it into the region"
        )
    names = bind_inits(frame, node.target, header)
    header.test = test.args[0]
    _loop(frame, node, header, None, names, body)


# ------------------------------------------------------------------------------------------- loops


def _unroll(frame: Frame, node: ast.For, header: Header) -> None:
    if not isinstance(node.target, ast.Name):
        raise frame.error("bad-target", "the index of a loop needs a plain name", node.target)
    start, stop, step = (frame.static_int(b, header.call, "a bound of pl.unroll") for b in header.bounds)
    indices = range(start, stop, step)
    if len(indices) > MAX_UNROLL:
        raise frame.error(
            "too-long",
            f"pl.unroll writes out {len(indices)} iterations",
            header.call,
            f"use pl.range; pl.unroll is for up to {MAX_UNROLL}",
        )
    frame.nested += 1
    try:
        for i in indices:
            frame.env[node.target.id] = i
            run(frame, node.body)
            if frame.session.errors:
                break
    finally:
        frame.nested -= 1


def _index_bounds(frame: Frame, bounds: tuple[Expr, ...]) -> Bounds:
    if not bounds:
        return Const(0), None
    start, stop, step = bounds
    if isinstance(start, Const) and isinstance(stop, Const) and isinstance(step, Const):
        last = range(start.value, stop.value, step.value)[-1] if stop.value > start.value else start.value  # type: ignore[arg-type]
        return start, Const(last)
    return start, frame.simplified(stop - 1)


def _loop(
    frame: Frame,
    node: ast.For | ast.While | ast.With,
    header: Header,
    target: str | None,
    init_names: Sequence[str],
    body: Sequence[ast.stmt],
    in_region: bool = False,
) -> None:
    session = frame.session
    start, stop = header.bounds[:2] or (None, None)
    if isinstance(start, Const) and isinstance(stop, Const) and stop.value <= start.value:
        _skip(frame, node, target, body)
        return
    if session.region is None:
        _check_bounds(frame, header, node)
    before = dict(frame.env)
    yielded = _yield_statement(body) if init_names else None
    if yielded is not None:
        body = body[:-1]
    live = frame.source.liveness(frame.node).carried.get(node, frozenset()) - set(_target_names(yielded))
    carried = candidates(frame, [*init_names, *(n for n in before if n in live and n not in init_names)])
    names_before = frozenset(session.builder.names.used)
    errors_before = len(session.errors)
    index = Var("", ScalarType(INDEX))
    ops: list[Op] = []
    params: list[Var] = []
    ends: list[Expr] = []
    with session.trial() as undo:
        for _ in range(8):
            undo()
            frame.env = dict(before)
            inits = [first_value(frame, c, node) for c in carried]
            index = session.builder.var(_index_name(header, target), ScalarType(INDEX))
            session.ranges[index] = _index_bounds(frame, header.bounds)
            if header.kind != "while":
                session.indices.add(index)
            if session.region is None and header.kind in ("parallel", "spmd"):
                session.points.add(index)
            params = declare(frame, carried)
            if target is not None:
                frame.env[target] = index
            frame.env.update((c.name, p) for c, p in zip(carried, params))
            frame.nested += 1
            peels = header.kind in ("range", "pipeline") and session.region is not None
            if peels:
                session.loops.append((index, header.bounds))  # type: ignore[arg-type]
            depth = len(session.loops)
            try:
                with session.builder.block() as ops:
                    if header.downwards is not None:
                        assert target is not None
                        frame.env[target] = _count_down(frame, header, target, index, node)
                    goes_on = Const(True, BOOL) if header.test is None else _leave_unless(frame, header.test)
                    with session.assuming(goes_on):
                        _body(frame, node, header, index, body, in_region)
                    if yielded is not None:
                        _take_yield(frame, yielded, init_names)
                    if len(session.errors) > errors_before:
                        break
                    settled = (
                        settle_type(frame, header.kind, c, p, names_before, node) for c, p in zip(carried, params)
                    )
                    again = with_extents([c for c in settled if c is not None])
                    if again == carried:
                        ends = [last_value(frame, c, node) for c in carried]
                        session.builder.append(Op("yield", tuple(ends), loc=frame.loc(node)))
            except PeelFirst as peel:
                if peel.index is not index:
                    raise
                undo()
                frame.env = dict(before)
                _peeled(frame, node, header, target, init_names, body, yielded)
                return
            finally:
                frame.nested -= 1
                del session.loops[depth - peels :]
            if again == carried:
                break
            carried = again
        else:
            raise frame.error("loop-carried", f"no valid shape of {carried[0].name} holds in every iteration", node)
    check_fixed(frame, before, live, carried, node)
    if carried and session.region is None:
        raise frame.error(
            "host-loop",
            f"{carried[0].name} is handed from one iteration of a loop of host code to the next",
            node,
            "compute it from the index, or put the loop into the region",
        )
    if len(session.errors) > errors_before:
        carried = []
    results = declare(frame, carried)
    if len(session.errors) == errors_before:
        name, attrs = ("while", {}) if header.kind == "while" else ("for", _attrs(frame, header))
        block = Block((index, *params), tuple(ops))
        session.builder.append(Op(name, (*header.bounds, *inits), tuple(results), attrs, (block,), frame.loc(node)))
    _after(frame, node, target, before, {c.name: r for c, r in zip(carried, results) if c.of is None}, body)
    if yielded is not None and isinstance(yielded, ast.Assign) and results:
        by_name = {c.name: r for c, r in zip(carried, results)}
        values = tuple(by_name.get(n, before.get(n)) for n in init_names)
        assign(frame, yielded.targets[0], values[0] if len(values) == 1 else values, yielded, yielded.value)


def _check_bounds(frame: Frame, header: Header, node: ast.AST) -> None:
    """Bounds of a loop of host code are the same for all points of the grid around it."""
    for bound in header.bounds:
        if variables(substitute(bound, frame.session.lets)) & frame.session.points:
            raise frame.error(
                "host-loop",
                "the bounds of this loop depend on the index of the pl.parallel around it",
                node,
                "put the loop into the region, or take bounds that hold for every iteration",
            )


def _attrs(frame: Frame, header: Header) -> dict[str, Any]:
    kind = "parallel" if header.kind == "spmd" else header.kind
    if kind == ("pipeline" if frame.session.region is None else "parallel"):
        kind = "range"
    return {"kind": kind, "stages": header.stages}


def _index_name(header: Header, target: str | None) -> str:
    if header.kind == "while":
        return "trip"
    if target is None:
        return "block_idx"
    return target if header.downwards is None else f"{target}_trip"


def _count_down(frame: Frame, header: Header, target: str, trip: Var, node: ast.AST) -> Expr:
    """The index of a descending loop in its iteration `trip`."""
    assert header.downwards is not None
    start, stop, step = header.downwards
    value = start + trip * step
    result = frame.session.builder.var(target, ScalarType(INDEX))
    bounds = frame.simplified(stop + 1), start
    frame.session.builder.append(Op("let", (value, *bounds), (result,), loc=frame.loc(node)))
    frame.session.define(result, value)
    frame.session.ranges[result] = bounds
    return result


def _leave_unless(frame: Frame, test: ast.expr) -> Expr:
    """The `break` of a `while`; gives the condition to go on."""
    condition = frame.expr(test)
    decided = decide(frame, condition, test)
    if decided:
        raise frame.error("endless", "the condition of this loop holds for ever", test, "let the body change it")
    goes_on = Const(False, BOOL) if decided is not None else truth(frame.scalar(condition, test))
    frame.session.builder.append(Op("break", (apply("not", goes_on),), loc=frame.loc(test)))
    return goes_on


def _peeled(
    frame: Frame,
    node: ast.For | ast.While | ast.With,
    header: Header,
    target: str | None,
    init_names: Sequence[str],
    body: Sequence[ast.stmt],
    yielded: ast.Assign | ast.Expr | None,
) -> None:
    """The first iteration written out, then the loop of the others."""
    start, stop, step = header.bounds
    assert target is not None
    first = start if header.downwards is None else header.downwards[0] + start * header.downwards[2]
    frame.env[target] = first.value if isinstance(first, Const) else first
    frame.nested += 1
    try:
        run(frame, body)
        if yielded is not None:
            _take_yield(frame, yielded, init_names)
    finally:
        frame.nested -= 1
    if yielded is not None:
        body = [*body, yielded]
    _loop(frame, node, replace(header, bounds=(start + step, stop, step)), target, init_names, body)


def _skip(frame: Frame, node: ast.For | ast.While | ast.With, target: str | None, body: Sequence[ast.stmt]) -> None:
    """A loop that never runs leaves everything as it is, like the body of `if False`."""
    for name in assigned(body) | ({target} if target else set()):
        if target == name or name not in frame.env:
            frame.env[name] = Poison(f"{name} is assigned only in the loop at line {node.lineno}, which never runs")


def _body(frame: Frame, node: ast.AST, header: Header, index: Var, body: Sequence[ast.stmt], in_region: bool) -> None:
    session = frame.session
    if header.kind != "spmd":
        run(frame, body)
        return
    session.spmd_indices.append(index)
    session.spmd_counts.append(header.bounds[1])
    try:
        if in_region:
            run(frame, body)
        else:
            region(frame, body, header.arguments["name_hint"], header.call)
    finally:
        session.spmd_indices.pop()
        session.spmd_counts.pop()


def _after(
    frame: Frame,
    node: ast.For | ast.While | ast.With,
    target: str | None,
    before: dict[str, Any],
    results: dict[str, Var],
    body: Sequence[ast.stmt],
) -> None:
    """Names behind the loop: carried values, what was there before, or nothing usable."""
    end, line = frame.env, node.lineno
    frame.env = {**before, **results}
    for name in assigned(body):
        value = end.get(name)
        if name in results or name not in end or value is before.get(name):
            continue
        if isinstance(value, (bool, int, float, str)) and value == before.get(name):
            continue
        if not isinstance(value, Poison):
            value = Poison(
                f"{name} is assigned only in the loop at line {line}, which may run zero times",
                "assign it before the loop as well: then the loop carries it",
            )
        frame.env[name] = value
    if target is not None:
        reason = f"{target} is the index of the loop at line {line}, which has ended"
        frame.env[target] = Poison(reason, "compute it from the bounds")


# --------------------------------------------------------------------------------- yield_ and spmd


def _yield_statement(body: Sequence[ast.stmt]) -> ast.Assign | ast.Expr | None:
    last = body[-1]
    if isinstance(last, (ast.Assign, ast.Expr)) and isinstance(last.value, ast.Call):
        func = last.value.func
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if name == "yield_":
            return last
    return None


def _target_names(statement: ast.Assign | ast.Expr | None) -> set[str]:
    return assigned(statement.targets) if isinstance(statement, ast.Assign) else set()


def _take_yield(frame: Frame, statement: ast.Assign | ast.Expr, names: Sequence[str]) -> None:
    assert isinstance(statement.value, ast.Call)
    call = statement.value
    if len(call.args) != len(names):
        raise frame.error(
            "unpack", f"pl.yield_ of {len(call.args)} values in a loop with {len(names)} init_values", call
        )
    values = [frame.expr(a, n) for a, n in zip(call.args, names)]
    frame.env.update(zip(names, values))


def _sole_at(frame: Frame, body: Sequence[ast.stmt]) -> bool:
    """Whether the body of a `pl.spmd` is one `with pl.at`, which then is the region."""
    real = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(real) != 1 or not isinstance(real[0], ast.With) or not isinstance(real[0].items[0].context_expr, ast.Call):
        return False
    callee = frame.expr(real[0].items[0].context_expr.func)
    return isinstance(callee, Intrinsic) and callee.name == "at"


def _check_spmd(frame: Frame, call: ast.expr, arguments: dict[str, Any]) -> None:
    predicate, predicate_node = arguments["predicate"]
    if predicate is not None:
        raise frame.error("unsupported", "pl.spmd(predicate=...) is not supported yet", predicate_node or call)
    region_at = frame.session.region
    if region_at is not None:
        raise frame.error(
            "nested-region",
            f"pl.spmd inside the region of line {region_at.line}",
            call,
            "regions run on one core and do not nest: use pl.range",
        )


def _spmd_loop(frame: Frame, node: ast.For, header: Header) -> None:
    _check_spmd(frame, header.call, header.arguments)
    if not isinstance(node.target, ast.Name):
        raise frame.error("bad-target", "the index of a loop needs a plain name", node.target)
    _loop(frame, node, header, node.target.id, [], node.body, _sole_at(frame, node.body))


def spmd_block(frame: Frame, node: ast.With, call: ast.Call, arguments: dict[str, Any]) -> None:
    """`with pl.spmd(n):`, whose index is pl.get_block_idx()."""
    _check_spmd(frame, call, arguments)
    count, count_node = arguments["core_num"]
    stop = frame.integer(count, count_node, "the number of blocks")
    header = Header("spmd", call, arguments, (Const(0), stop, Const(1)))
    _loop(frame, node, header, None, [], node.body, _sole_at(frame, node.body))
