"""Tensor to tile stage: each region becomes a device function whose blocks share the grid of the loops around it.

Nested `parallel` loops flatten to one grid; a core takes every `blocks`-th point of it. Several regions under one loop
become several launches: iterations are independent, so all of one region may run before the next.
"""

from __future__ import annotations

from dataclasses import replace

from pyto.errors import CompileError
from pyto.ir.builder import Names, names_of
from pyto.ir.nodes import INDEX, Block, Const, Expr, Function, Op, Param, Program, ScalarType, TensorType, Var, walk
from pyto.ir.ranges import index_range, trip_count
from pyto.ir.scalar import apply, type_variables, variables
from pyto.passes.rewrite import rewrite

CUBE_OPS = frozenset({"matmul", "matmul_acc"})


def outline(program: Program) -> Program:
    host = program.host
    names = names_of(host)
    names.fresh(program.name)
    devices: list[Function] = []
    body = _host_block(program, host, host.body, [], [], names, devices)
    functions = (host.with_(body=body), *(rewrite(d, {}) for d in devices))
    return replace(program, stage="tile", functions=functions)


def _host_block(
    program: Program,
    host: Function,
    block: Block,
    loops: list[Op],
    lets: list[Op],
    names: Names,
    devices: list[Function],
) -> Block:
    ops: list[Op] = []
    for op in block.ops:
        if op.name == "for":
            inner = _host_block(program, host, op.blocks[0], [*loops, op], lets, names, devices)
            ops += [o for o in inner.ops if o.name == "launch"]
        elif op.name == "region":
            device, launch = _outline(program, host, op, loops, lets, names)
            devices.append(device)
            ops.append(launch)
        elif op.name == "let" and loops:
            lets = [*lets, op]
        elif op.name == "create_tensor" and loops:
            raise CompileError(
                "workspace-in-loop",
                "create_tensor inside pl.parallel is not supported yet",
                op.loc,
                remedy="create the tensor before the loop with one more dimension, or inside pl.at as a tile",
            )
        else:
            ops.append(op)
    return Block(block.params, tuple(ops))


def _outline(
    program: Program, host: Function, region: Op, loops: list[Op], lets: list[Op], names: Names
) -> tuple[Function, Op]:
    body = [*lets, *region.blocks[0].ops[:-1]]
    block, blocks = (Var(names.fresh(n), ScalarType(INDEX)) for n in ("block", "blocks"))
    grid, decode = _grid(loops, names)
    done = Op("yield", loc=region.loc)
    inside = [*decode[1], *body]
    ops: tuple[Op, ...] = tuple(inside)
    if loops:
        ops = (
            Op(
                "for",
                (block, grid, blocks),
                (),
                {"kind": "blocks", "stages": 1},
                (Block((decode[0],), (*inside, done)),),
                region.loc,
            ),
        )

    free = _free_variables(Block((block, blocks), ops))
    order = {v: i for i, v in enumerate([*(p.var for p in host.params), *host.dims])}
    tensors = sorted(
        (v for v in free if isinstance(v.type, TensorType)), key=lambda v: (order.get(v, len(order)), v.name)
    )
    scalars = sorted(
        (v for v in free if isinstance(v.type, ScalarType)), key=lambda v: (order.get(v, len(order)), v.name)
    )
    directions = _directions(Block((), ops))
    params = (*(Param(t, directions.get(t, "in")) for t in tensors), *(Param(s) for s in scalars))
    hint = names.fresh(region.attrs.get("name") or f"{program.name}_region")
    kind = _kind(Block((), ops))
    dims = tuple(s.name for s in scalars if s in host.dims)
    device = Function(hint, kind, params, (), Block((block, blocks), (*ops, done)), {"dims": dims}, region.loc)
    launch = Op("launch", (grid, *(p.var for p in params)), (), {"kernel": hint}, (), region.loc)
    return device, launch


def _grid(loops: list[Op], names: Names) -> tuple[Expr, tuple[Var, list[Op]]]:
    """The number of grid points and the ops that turn a point into the loops' indices."""
    grid: Expr = Const(1)
    trips = []
    for loop in loops:
        trips.append(trip_count(*loop.args[:3]))
        grid = grid * trips[-1]
    if len(loops) == 1 and loops[0].args[0] == Const(0) and loops[0].args[2] == Const(1):
        return grid, (loops[0].blocks[0].params[0], [])
    point = Var(names.fresh("point"), ScalarType(INDEX))
    decode: list[Op] = []
    rest: Expr = point
    for loop, trip in reversed(list(zip(loops, trips))):
        digit = rest if loop is loops[0] else apply("mod", rest, trip)
        rest = apply("floordiv", rest, trip)
        value = loop.args[0] + digit * loop.args[2]
        lo, hi = index_range(*loop.args[:3])
        assert lo is not None and hi is not None
        decode.insert(0, Op("let", (value, lo, hi), (loop.blocks[0].params[0],), {}, (), loop.loc))
    return grid, (point, decode)


def _free_variables(block: Block) -> set[Var]:
    used: set[Var] = set()
    bound = set(block.params)
    for op in walk(block):
        for arg in op.args:
            used |= variables(arg)
        for var in op.results:
            used |= type_variables(var)
        bound |= set(op.results) | {p for b in op.blocks for p in b.params}
    for var in list(used):
        if isinstance(var.type, TensorType):  # its row pitches; the first extent is of no use on a core
            used |= type_variables(Var("", TensorType(var.type.shape[1:], var.type.dtype)))
    return used - bound


def _directions(block: Block) -> dict[Var, str]:
    found: dict[Var, str] = {}
    for op in walk(block):
        if op.name in ("load", "read", "store"):
            (tensor,) = variables(op.args[0])
            new = (
                "out" if op.name == "store" and not op.attrs.get("atomic") else "inout" if op.name == "store" else "in"
            )
            found[tensor] = new if found.get(tensor, new) == new else "inout"
    return found


def _kind(block: Block) -> str:
    """A region that multiplies matrices may do vector work as well: `split_mixed` sees to it."""
    return "mixed" if any(op.name in CUBE_OPS for op in walk(block)) else "vector"
