"""Tensor to tile stage: each region becomes a device function whose blocks share the grid of the loops around it.

Nested `parallel` loops flatten to one grid; a core takes every `blocks`-th point of it. Several regions under one loop
become several launches: iterations are independent, so all of one region may run before the next. Other loops and
conditions stay host code, around launches; a condition on a grid point is one for the cores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyto.errors import CompileError, InternalError
from pyto.ir.builder import Names, names_of
from pyto.ir.nodes import INDEX, Block, Const, Expr, Function, Op, Param, Program, ScalarType, TensorType, Var, walk
from pyto.ir.ranges import index_range, trip_count
from pyto.ir.scalar import apply, bound, substitute, type_variables, variables
from pyto.passes.rewrite import rewrite

CUBE_OPS = frozenset({"matmul", "matmul_acc"})


def outline(program: Program) -> Program:
    names = names_of(program.host)
    names.fresh(program.name)
    outliner = _Outliner(program, names)
    body = outliner.block(program.host.body, _Around())
    functions = (program.host.with_(body=body), *(rewrite(d, {}) for d in outliner.devices))
    return replace(program, stage="tile", functions=functions)


@dataclass(frozen=True)
class _Around:
    """What stands around a piece of host code: `pl.parallel` loops, and what a core has to do again inside of them.

    inner: lets, and guards (an `if` that depends on a point of the grid, the number of its block). lets: definitions.
    """

    loops: tuple[Op, ...] = ()
    inner: tuple[tuple[Op, int], ...] = ()
    lets: Mapping[Var, Expr] = field(default_factory=dict)

    def with_let(self, op: Op) -> _Around:
        lets = {**self.lets, op.result: substitute(op.args[0], self.lets)}
        return replace(self, inner=(*self.inner, (op, 0)) if self.loops else (), lets=lets)

    def on_host(self, expr: Expr) -> Expr | None:
        """An expression without what only cores know, or None."""
        plain = substitute(expr, self.lets) if self.loops else expr
        return None if variables(plain) & {loop.blocks[0].params[0] for loop in self.loops} else plain


class _Outliner:
    def __init__(self, program: Program, names: Names) -> None:
        self.program, self.host, self.names = program, program.host, names
        self.devices: list[Function] = []
        self.private: dict[Var, tuple[Var, Expr]] = {}  # workspaces of one grid point: as a part of whose, at which row

    def block(self, block: Block, around: _Around) -> Block:
        ops: list[Op] = []
        for op in block.ops:
            if op.name == "for" and op.attrs["kind"] == "parallel":
                inner = self.block(op.blocks[0], replace(around, loops=(*around.loops, op)))
                ops += [o for o in inner.ops if o.name != "yield"]
            elif op.name == "for":
                ops.append(self._sequential(op, around))
            elif op.name == "if":
                ops += self._if(op, around)
            elif op.name == "region":
                ops.append(self._outline(op, around))
            elif op.name == "create_tensor":
                ops.append(self._workspace(op, around))
            elif op.name == "let":
                around = around.with_let(op)
                if not around.loops:
                    ops.append(op)
            else:
                ops.append(op)
        return Block(block.params, tuple(ops))

    def _sequential(self, op: Op, around: _Around) -> Op:
        """A loop of launches: inside of `pl.parallel` it turns into the outer one, for the points are independent."""
        bounds = tuple(around.on_host(e) for e in op.args)
        if None in bounds:
            raise InternalError("the bounds of a loop of launches depend on a point of the grid around it", op.loc)
        return op.with_(args=bounds, blocks=(self.block(op.blocks[0], around),))

    def _if(self, op: Op, around: _Around) -> list[Op]:
        condition = around.on_host(op.args[0])
        if condition is not None:
            return [op.with_(args=(condition,), blocks=tuple(self.block(b, around) for b in op.blocks))]
        ops: list[Op] = []
        for n, block in enumerate(op.blocks):
            guarded = self.block(block, replace(around, inner=(*around.inner, (op, n))))
            ops += [o for o in guarded.ops if o.name != "yield"]
        return ops

    def _workspace(self, op: Op, around: _Around) -> Op:
        """A tensor of its own for each point of the grid around it: one more axis."""
        t = op.result.type
        assert isinstance(t, TensorType)
        shape = []
        for extent in (*t.shape, *(e for loop in around.loops for e in loop.args[:3])):
            plain = substitute(extent, around.lets)
            if not variables(plain) <= set(self.host.dims):  # the bounds of the loops around it
                raise CompileError(
                    "dynamic-workspace",
                    "a workspace of each iteration needs loops around it whose bounds follow from the dims alone",
                    op.loc,
                    remedy="create the workspace before the loops, as large as it can become",
                )
            shape.append(plain)
        if not around.loops:
            return op
        grid, row = _points(around.loops, self.host.dims)
        whole = Var(op.result.name, TensorType((substitute(grid, around.lets), *shape[: len(t.shape)]), t.dtype))
        self.private[op.result] = whole, row
        return op.with_(results=(whole,))

    def _outline(self, region: Op, around: _Around) -> Op:
        loops, names = around.loops, self.names
        done = Op("yield", loc=region.loc)
        body = [self._whole(op) for op in region.blocks[0].ops[:-1]]
        for op, n in reversed(around.inner):
            if op.name == "let":
                body.insert(0, op)
            else:
                branches = [Block((), (done,)), Block((), (done,))]
                branches[n] = Block((), (*body, done))
                body = [op.with_(results=(), blocks=tuple(branches))]
        block, blocks = (Var(names.fresh(n), ScalarType(INDEX)) for n in ("block", "blocks"))
        grid, decode = _grid(list(loops), names, self.host.dims)
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
        host = self.host
        order = {v: i for i, v in enumerate([*(p.var for p in host.params), *host.dims])}
        tensors = sorted(
            (v for v in free if isinstance(v.type, TensorType)), key=lambda v: (order.get(v, len(order)), v.name)
        )
        scalars = sorted(
            (v for v in free if isinstance(v.type, ScalarType)), key=lambda v: (order.get(v, len(order)), v.name)
        )
        directions = _directions(Block((), ops))
        params = (*(Param(t, directions.get(t, "in")) for t in tensors), *(Param(s) for s in scalars))
        hint = names.fresh(region.attrs.get("name") or f"{self.program.name}_region")
        kind = _kind(Block((), ops))
        dims = tuple(s.name for s in scalars if s in host.dims)
        self.devices.append(
            Function(hint, kind, params, (), Block((block, blocks), (*ops, done)), {"dims": dims}, region.loc)
        )
        return Op("launch", (grid, *(p.var for p in params)), (), {"kernel": hint}, (), region.loc)

    def _whole(self, op: Op) -> Op:
        """`op` with the workspaces of this grid point as rows of the whole ones."""
        blocks = tuple(Block(b.params, tuple(self._whole(o) for o in b.ops)) for b in op.blocks)
        args, attrs = list(op.args), dict(op.attrs)
        for arg in op.args:
            if not isinstance(arg, Var) or arg not in self.private:
                continue
            whole, row = self.private[arg]
            assert isinstance(arg.type, TensorType)
            args[args.index(arg)] = whole
            args.insert(len(args) - len(arg.type.shape), row)
            attrs |= {a: attrs[a] + 1 for a in ("rows", "cols") if attrs.get(a) is not None}
        return op.with_(args=tuple(args), attrs=attrs, blocks=blocks)


def _trips(loop: Op, dims: Sequence[Var]) -> Expr:
    """How often a loop runs; two that do not run must not make a positive product."""
    trips = trip_count(*loop.args[:3])
    least = bound(trips, {d: (Const(0), None) for d in dims}, False)
    return trips if least is not None and least >= 0 else apply("max", Const(0), trips)


def _points(loops: Sequence[Op], dims: Sequence[Var]) -> tuple[Expr, Expr]:
    """How many points a grid has, and the number of the one at the loops' indices."""
    grid: Expr = Const(1)
    number: Expr = Const(0)
    for loop in loops:
        trips = _trips(loop, dims)
        digit = apply("floordiv", loop.blocks[0].params[0] - loop.args[0], loop.args[2])
        grid, number = grid * trips, number * trips + digit
    return grid, number


def _grid(loops: list[Op], names: Names, dims: Sequence[Var]) -> tuple[Expr, tuple[Var, list[Op]]]:
    """The number of grid points and the ops that turn a point into the loops' indices."""
    grid: Expr = Const(1)
    trips = []
    for loop in loops:
        trips.append(_trips(loop, dims))
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
            if not isinstance(tensor.type, TensorType):
                continue
            new = (
                "out" if op.name == "store" and not op.attrs.get("atomic") else "inout" if op.name == "store" else "in"
            )
            found[tensor] = new if found.get(tensor, new) == new else "inout"
    return found


def _kind(block: Block) -> str:
    """A region that multiplies matrices may do vector work as well: `split_mixed` sees to it."""
    return "mixed" if any(op.name in CUBE_OPS for op in walk(block)) else "vector"
