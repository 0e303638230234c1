"""Checks a program against the rules of its stage. What it finds is a fault of the front end or of a pass."""

from __future__ import annotations

from collections.abc import Iterable

from pyto.errors import InternalError
from pyto.ir.nodes import (
    INDEX,
    Block,
    Const,
    Expr,
    Function,
    Loc,
    Op,
    Program,
    ScalarType,
    Space,
    TensorType,
    TileType,
    Type,
    Var,
    View,
    first_values,
)
from pyto.ir.ops import OPS, STAGES, OpError
from pyto.ir.printer import print_op, show, show_type
from pyto.ir.scalar import bound, dtype_of, type_variables, variables

_HOST = {stage: frozenset(n for n, op in OPS.items() if stage in op.host) for stage in STAGES}
_DEVICE = {stage: frozenset(n for n, op in OPS.items() if stage in op.stages) for stage in STAGES}
_PIPES = frozenset({"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"})
_MALFORMED = (LookupError, ValueError, TypeError, AttributeError, AssertionError, ArithmeticError)
_KINDS = ("parallel", "range", "pipeline", "blocks")


class VerifyError(InternalError):
    """A program that breaks a rule of the IR: which rule, in which operation."""

    def __init__(self, message: str, op: Op | None = None, loc: Loc | None = None) -> None:
        self.op = op
        text = print_op(op).splitlines()[0] if op is not None else None
        super().__init__(
            message, op.loc if op is not None else loc, id="verify", details=f"  in {text}" if text else None
        )


def verify(program: Program) -> None:
    """Raises VerifyError unless every function of `program` keeps the rules of its stage."""
    if program.stage not in _DEVICE:
        raise VerifyError(f"there is no stage {program.stage!r}")
    if not program.functions or program.host.kind != "host":
        raise VerifyError("the first function of a program is its host function")
    names = [f.name for f in program.device]
    if len(set(names)) != len(names):
        raise VerifyError(f"two device functions have one name: {names}")
    if program.stage == "tensor" and program.device:
        raise VerifyError("device functions appear at the tile stage")
    for function in program.functions:
        _Verifier(program, function).run()


class _Verifier:
    def __init__(self, program: Program, function: Function) -> None:
        self.stage = program.stage
        self.kernels = {f.attrs.get("kernel", f.name): f for f in program.device}
        self.function = function
        self.names: set[str] = set()
        self.scope: dict[str, Type] = {}
        self.region = function.kind != "host"
        self.buffers = program.stage == "machine" and self.region

    def run(self) -> None:
        f = self.function
        if f.kind not in ("host", "cube", "vector", "mixed") or (f.kind == "mixed" and self.stage != "tile"):
            raise VerifyError(f"{f.name}: there is no kind {f.kind!r}", loc=f.loc)
        for var in (*f.dims, *(p.var for p in f.params), *f.body.params):
            self.define(var, None)
        if f.kind == "host":
            for param in f.params:
                if param.direction not in ("in", "out", "inout"):
                    raise VerifyError(f"{f.name}: {param.var.name} has direction {param.direction!r}", loc=param.loc)
                self.uses(type_variables(param.var), None)
        self.block(f.body, None)

    # --------------------------------------------------------------------------------------- names

    def define(self, var: Var, op: Op | None) -> None:
        if var.name in self.names:
            raise VerifyError(f"%{var.name} is defined twice in {self.function.name}", op, self.function.loc)
        self.names.add(var.name)
        self.scope[var.name] = var.type

    def uses(self, found: Iterable[Var], op: Op | None) -> None:
        for var in found:
            if var.name not in self.scope:
                what = "is used outside its scope" if var.name in self.names else "is not defined"
                raise VerifyError(f"%{var.name} {what}", op, self.function.loc)
            if self.scope[var.name] != var.type:
                known = self.scope[var.name]
                raise VerifyError(
                    f"%{var.name} is {show_type(known)}, used as {show_type(var.type)}", op, self.function.loc
                )

    # -------------------------------------------------------------------------------------- blocks

    def block(self, block: Block, parent: Op | None) -> None:
        outer = dict(self.scope)
        for var in block.params if parent is not None else ():
            self.define(var, parent)
            self.uses(type_variables(var), parent)
        for i, op in enumerate(block.ops):
            if op.name == "yield" and i != len(block.ops) - 1:
                raise VerifyError("yield ends a block", op)
            if op.name == "break" and (parent is None or parent.name != "while"):
                raise VerifyError("break stands in the block of a while", op)
            self.op(op)
        if parent is not None and (not block.ops or block.ops[-1].name != "yield"):
            raise VerifyError(f"the block of {parent.name} does not end in yield", parent)
        self.scope = outer

    def op(self, op: Op) -> None:
        if op.name not in OPS:
            raise VerifyError(f"there is no operation {op.name!r}", op)
        allowed = _DEVICE[self.stage] if self.region else _HOST[self.stage]
        if op.name not in allowed:
            where = "device" if self.region else "host"
            raise VerifyError(f"{op.name} does not belong into {where} code of the {self.stage} stage", op)
        for arg in op.args:
            self.uses(sorted(variables(arg), key=lambda v: v.name), op)
            if isinstance(arg, View):
                self.view(arg, op)
        for value in op.attrs.values():
            for expr in value if isinstance(value, tuple) else (value,):
                if isinstance(expr, Expr):
                    self.uses(sorted(variables(expr), key=lambda v: v.name), op)
        try:
            getattr(self, f"_{op.name}", self._plain)(op)
        except _MALFORMED as error:
            raise VerifyError(
                f"{op.name} lacks an operand or an attribute: {error.__class__.__name__} {error}", op
            ) from error
        for result in op.results:
            self.define(result, op)
            self.uses(sorted(type_variables(result), key=lambda v: v.name), op)
            self.extents(result, op)

    def extents(self, result: Var, op: Op) -> None:
        if not isinstance(result.type, TileType):
            return
        for size, valid in zip(result.type.shape, result.type.valid):
            if size <= 0:
                raise VerifyError(f"%{result.name} has the shape {list(result.type.shape)}", op)
            if isinstance(valid, Const) and not 0 <= valid.value <= size:
                raise VerifyError(f"%{result.name} is valid to {valid.value} of {size}", op)

    def view(self, view: View, op: Op) -> None:
        buffer = view.buffer.type
        if not isinstance(buffer, TileType) or not buffer.space:
            raise VerifyError(f"%{view.buffer.name} is no buffer", op)
        row, col = (max(0, int(e.value)) if isinstance(e, Const) else 0 for e in (view.row, view.col))
        rows, cols = view.shape
        if buffer.space == Space.UB:  # a reshaped tile's view has another pitch than its buffer: count elements
            inside = (row + rows - 1) * view.pitch + col + cols <= buffer.shape[0] * buffer.pitch
        else:
            # Whole fractals are moved there: what lies past the valid part may lie past the buffer's logical shape.
            most = (bound(v, {}, True) for v in view.valid)
            rows, cols = (n if m is None else min(n, max(0, m)) for n, m in zip(view.shape, most))
            inside = row + rows <= buffer.shape[0] and col + cols <= buffer.shape[1]
        if not inside or any(isinstance(e, Const) and e.value < 0 for e in (view.row, view.col)):
            raise VerifyError(f"{show(view)} leaves its buffer of {list(buffer.shape)}", op)

    # ---------------------------------------------------------------------------------- operations

    def _plain(self, op: Op) -> None:
        if op.blocks:
            raise VerifyError(f"{op.name} has no blocks", op)
        infer = OPS[op.name].infer
        if self.buffers and op.name != "read":
            if op.results:
                raise VerifyError(f"{op.name} writes its first operand at the machine stage and has no result", op)
            self.destination(op)
            return
        if infer is None:
            return
        try:
            type = infer([_operand(a) for a in op.args], op.attrs)
        except OpError as error:
            raise VerifyError(error.message, op) from error
        if type is None:
            return
        if len(op.results) != 1:
            raise VerifyError(f"{op.name} has one result, not {len(op.results)}", op)
        got = op.result.type
        same = got == type
        if isinstance(got, TileType) and isinstance(type, TileType):
            same = got.shape == type.shape and got.dtype == type.dtype
        if not same:
            raise VerifyError(f"{op.name} gives {show_type(type)}, its result is {show_type(got)}", op)

    def destination(self, op: Op) -> None:
        if not OPS[op.name].params:
            return
        where = 1 if op.name == "store" else 0
        if len(op.args) <= where or not isinstance(op.args[where], View):
            raise VerifyError(f"operand {where} of {op.name} must be a view", op)

    def _let(self, op: Op) -> None:
        if len(op.args) not in (1, 3) or len(op.results) != 1 or not isinstance(op.result.type, ScalarType):
            raise VerifyError("let names one scalar, with bounds or without", op)
        if dtype_of(op.args[0]) != op.result.dtype:
            raise VerifyError(f"let: the value is {dtype_of(op.args[0])}, the name {op.result.dtype}", op)

    def _create_tensor(self, op: Op) -> None:
        if len(op.results) != 1 or not isinstance(op.result.type, TensorType):
            raise VerifyError("create_tensor makes one tensor", op)

    def _alloc(self, op: Op) -> None:
        if len(op.results) != 1 or not isinstance(op.result.type, TileType) or not op.result.type.space:
            raise VerifyError("alloc makes one buffer in a memory space", op)
        slots, offset = op.attrs.get("slots", 0), op.attrs.get("offset")
        if type(slots) is not int or slots < 1:
            raise VerifyError("alloc needs at least one slot", op)
        if offset is not None and (type(offset) is not int or offset < 0):
            raise VerifyError(f"alloc: an offset is a number of bytes from 0, or none, not {offset!r}", op)

    def _for(self, op: Op) -> None:
        if len(op.args) < 3 or len(op.blocks) != 1:
            raise VerifyError("a loop has start, stop, step and one block", op)
        if op.attrs.get("kind") not in _KINDS:
            raise VerifyError(f"there is no loop of kind {op.attrs.get('kind')!r}", op)
        if not self.region and op.attrs["kind"] not in ("parallel", "range"):
            raise VerifyError("loops of host code are parallel or range", op)
        if not self.region and op.results:
            raise VerifyError("loops of host code carry nothing", op)
        step = op.args[2]
        if isinstance(step, Const) and step.value <= 0:
            raise VerifyError("the step of a loop is positive", op)
        self.loop(op)

    def _while(self, op: Op) -> None:
        if len(op.blocks) != 1:
            raise VerifyError("a loop has one block", op)
        if sum(o.name == "break" for o in op.blocks[0].ops) != 1:
            raise VerifyError("the block of a while has one break", op)
        self.loop(op)

    def _break(self, op: Op) -> None:
        if len(op.args) != 1 or dtype_of(op.args[0]).kind != "b":
            raise VerifyError("break has a condition", op)

    def _if(self, op: Op) -> None:
        if len(op.args) != 1 or dtype_of(op.args[0]).kind != "b" or len(op.blocks) != 2:
            raise VerifyError("an if has a condition and two blocks", op)
        if not self.region and op.results:
            raise VerifyError("an if of host code has no results", op)
        for block in op.blocks:
            if block.params:
                raise VerifyError("the blocks of an if have no parameters", op)
            self.block(block, op)
            ends = block.ops[-1].args
            if len(ends) != len(op.results):
                raise VerifyError(f"yield gives {len(ends)} values for {len(op.results)} results", block.ops[-1])
            for end, result in zip(ends, op.results):
                if not _agree(result.type, _operand(end)):
                    raise VerifyError(f"%{result.name} is {show_type(result.type)}, yielded is {_describe(end)}", op)

    def loop(self, op: Op) -> None:
        (body,) = op.blocks
        inits = first_values(op)
        if not body.params or body.params[0].type != ScalarType(INDEX):
            raise VerifyError("the first parameter of a loop's block is its index", op)
        if len(body.params) - 1 != len(inits) or len(op.results) != len(inits):
            raise VerifyError(
                f"{len(inits)} initial values, {len(body.params) - 1} carried, {len(op.results)} results", op
            )
        if self.buffers and any(not isinstance(p.type, ScalarType) for p in body.params):
            raise VerifyError("loops carry scalars only at the machine stage", op)
        self.block(body, op)
        ends = body.ops[-1].args
        if len(ends) != len(inits):
            raise VerifyError(f"yield hands on {len(ends)} values of {len(inits)}", body.ops[-1])
        for init, param, end, result in zip(inits, body.params[1:], ends, op.results):
            for value, what in ((init, "its first value"), (end, "the yielded value"), (result, "the result")):
                if not _agree(param.type, _operand(value)):
                    raise VerifyError(f"%{param.name} is {show_type(param.type)}, {what} is {_describe(value)}", op)

    def _print(self, op: Op) -> None:
        if str(op.attrs.get("text")).count("{}") != len(op.args):
            raise VerifyError("print has a place for each operand", op)

    def _assert(self, op: Op) -> None:
        if not op.args or dtype_of(op.args[0]).kind != "b" or str(op.attrs.get("text")).count("{}") != len(op.args) - 1:
            raise VerifyError("assert has a condition and a place for each further operand", op)

    def _region(self, op: Op) -> None:
        if op.args or op.results or len(op.blocks) != 1 or op.blocks[0].params:
            raise VerifyError("a region has one block and neither operands nor results", op)
        if not isinstance(op.attrs.get("name"), str):
            raise VerifyError("a region has a name", op)
        self.region = True
        self.block(op.blocks[0], op)
        self.region = False

    def _load(self, op: Op) -> None:
        tensor = op.args[1] if self.buffers else op.args[0]
        self.transfer(op, tensor, len(op.args) - (2 if self.buffers else 1))
        self._plain(op)

    def _store(self, op: Op) -> None:
        self.transfer(op, op.args[0], len(op.args) - 2)
        source = op.args[1] if len(op.args) > 1 else None
        if op.attrs.get("atomic") not in (None, "add", "max", "min"):
            raise VerifyError(f"there is no atomic {op.attrs['atomic']!r}", op)
        if self.buffers:
            self.destination(op)
        elif not isinstance(source, Var) or not isinstance(source.type, TileType):
            raise VerifyError("store writes a tile", op)
        elif isinstance(op.args[0], Var) and source.dtype != op.args[0].dtype and source.type.space is None:
            raise VerifyError(f"store of {source.dtype} to a tensor of {op.args[0].dtype}", op)

    def transfer(self, op: Op, tensor: Expr, offsets: int) -> None:
        if not isinstance(tensor, Var) or not isinstance(tensor.type, TensorType):
            raise VerifyError(f"{op.name} needs a tensor", op)
        rank = len(tensor.type.shape)
        if offsets != rank:
            raise VerifyError(f"{op.name}: {offsets} offsets for {rank} axes", op)
        rows, cols = op.attrs.get("rows"), op.attrs.get("cols")
        if cols is None or not 0 <= cols < rank or (rows is not None and not 0 <= rows < rank) or rows == cols:
            raise VerifyError(f"{op.name}: rows = {rows}, cols = {cols} of {rank} axes", op)

    def _set_flag(self, op: Op) -> None:
        pipes = [op.attrs.get("src"), op.attrs.get("dst")]
        if len(op.args) != 1 or op.results or not _PIPES.issuperset(pipes) or pipes[0] == pipes[1]:
            raise VerifyError(
                f"{op.name} has one event from pipe `src` to pipe `dst`, of {', '.join(sorted(_PIPES))}", op
            )

    _wait_flag = _set_flag

    def _barrier(self, op: Op) -> None:
        if op.args or op.results or op.attrs.get("pipe") not in _PIPES | {"ALL"}:
            raise VerifyError(f"barrier is of one pipe of {', '.join(sorted(_PIPES))}, ALL", op)

    def _launch(self, op: Op) -> None:
        kernel = self.kernels.get(op.attrs.get("kernel", ""))
        if kernel is None:
            raise VerifyError(f"launch of {op.attrs.get('kernel')!r}, which is not in the program", op)
        if len(op.args) != len(kernel.params) + 1:
            raise VerifyError(f"{kernel.name} takes a grid and {len(kernel.params)} arguments, got {len(op.args)}", op)
        for arg, param in zip(op.args[1:], kernel.params):
            tensor = isinstance(arg, Var) and isinstance(arg.type, TensorType)
            if tensor != isinstance(param.var.type, TensorType) or dtype_of(arg) != param.var.dtype:
                raise VerifyError(
                    f"%{param.var.name} of {kernel.name} is {show_type(param.var.type)}, got {_describe(arg)}", op
                )


def _operand(arg: Expr) -> object:
    """What `infer` takes: a type of a tensor or tile, a scalar as it is."""
    return arg.type if isinstance(arg, Var) and not isinstance(arg.type, ScalarType) else arg


def _agree(carried: Type, value: object) -> bool:
    if isinstance(carried, ScalarType):
        return isinstance(value, Expr) and dtype_of(value) == carried.dtype
    if isinstance(carried, TileType) and isinstance(value, TileType):
        spaces = {carried.space, value.space} - {None}
        return (carried.shape, carried.dtype) == (value.shape, value.dtype) and len(spaces) < 2
    return carried == value


def _describe(value: Expr) -> str:
    return show_type(value.type) if isinstance(value, Var) else str(dtype_of(value))


__all__ = ["VerifyError", "verify"]
