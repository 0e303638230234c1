"""The machinery of all stages: values by name, blocks, loops, launches, windows of GM tensors."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyto.errors import InternalError, LaunchError
from pyto.interpreter.arguments import Env, evaluate
from pyto.interpreter.cores import Cores, Flags
from pyto.ir.nodes import Block, DType, Expr, Function, Op, Program, Space, TensorType, TileType, Var, slot_bytes, walk
from pyto.ir.scalar import dtype_of
from pyto.numerics import Array, cast, compute, poison_bytes, poisoned
from pyto.target import DEFAULT_CHIP

Extent = tuple[int, int]
COMBINE: dict[str, Callable[..., Any]] = {"add": np.add, "max": np.maximum, "min": np.minimum}

Handler = Callable[["Core", Op], "Sequence[Any] | None"]
STRUCTURE: dict[str, Handler] = {}
TILES: dict[str, Handler] = {}  # tensor and tile stage
MACHINE: dict[str, Handler] = {}


def handles(table: dict[str, Handler], *names: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        table.update(dict.fromkeys(names, handler))
        return handler

    return register


LEAVE: Sequence[Any] = ("leave",)  # what a block gives that a `break` has left


@dataclass
class Core:
    """What one function's body sees: values by name and, on a core of the machine stage, memories by space."""

    program: Program
    env: Env
    order: random.Random | None
    cores: int
    memory: dict[str, Array] = field(default_factory=dict)
    flags: Flags | None = None  # of a core of a mixed region

    def block(self, block: Block) -> Sequence[Any]:
        """Runs the operations; what the closing `yield` carries."""
        table = MACHINE if self.memory else TILES
        for op in block.ops:
            if op.name == "yield":
                return [self.value(a) for a in op.args]
            if op.name == "break" and self.value(op.args[0]):
                return LEAVE
            handler = STRUCTURE.get(op.name) or table.get(op.name)
            if handler is None:
                raise InternalError(
                    f"the interpreter does not know {op.name!r} in the {self.program.stage} stage", op.loc
                )
            handler(self, op)
        return ()

    def value(self, expr: Expr) -> Any:
        return evaluate(expr, self.env)

    def extent(self, valid: tuple[Expr, Expr], shape: tuple[int, int]) -> Extent:
        rows, cols = (max(0, min(int(evaluate(v, self.env)), s)) for v, s in zip(valid, shape))
        return rows, cols

    def shuffled(self, values: Sequence[int]) -> Sequence[int]:
        return values if self.order is None else self.order.sample(values, len(values))

    def define(self, op: Op, array: Array) -> None:
        """The op's result: `array` with the lanes outside the result's valid shape poisoned."""
        t = op.result.type
        assert isinstance(t, TileType)
        rows, cols = self.extent(t.valid, t.shape)
        if (rows, cols) != t.shape:
            valid, array = array[:rows, :cols], poisoned(t.shape, t.dtype)
            array[:rows, :cols] = valid
        self.env[op.result.name] = array


@handles(STRUCTURE, "let")
def _let(core: Core, op: Op) -> None:
    core.env[op.result.name] = core.value(op.args[0])


@handles(STRUCTURE, "set_flag", "wait_flag", "barrier", "break")
def _order_only(core: Core, op: Op) -> None:
    return None


@handles(STRUCTURE, "cross_set")
def _cross_set(core: Core, op: Op) -> None:
    assert core.flags is not None
    core.flags.set(op.attrs["flag"], op.loc)


@handles(STRUCTURE, "cross_wait")
def _cross_wait(core: Core, op: Op) -> None:
    assert core.flags is not None
    core.flags.wait(op.attrs["flag"], op.loc)


@handles(STRUCTURE, "for")
def _for(core: Core, op: Op) -> None:
    (body,) = op.blocks
    lo, hi, step, *carried = (core.value(a) for a in op.args)
    indices: Sequence[int] = range(lo, hi, step)
    if op.attrs["kind"] == "parallel":
        indices = core.shuffled(indices)
    index, *params = body.params
    for i in indices:
        core.env[index.name] = i
        core.env.update((p.name, c) for p, c in zip(params, carried))
        carried = list(core.block(body))
    core.env.update((r.name, c) for r, c in zip(op.results, carried))


@handles(STRUCTURE, "while")
def _while(core: Core, op: Op) -> None:
    (body,) = op.blocks
    number, *params = body.params
    carried: Sequence[Any] = [core.value(a) for a in op.args]
    for n in itertools.count():
        core.env[number.name] = n
        core.env.update((p.name, c) for p, c in zip(params, carried))
        following = core.block(body)
        if following is LEAVE:
            break
        carried = list(following)
    core.env.update((r.name, c) for r, c in zip(op.results, carried))


@handles(STRUCTURE, "if")
def _if(core: Core, op: Op) -> None:
    values = core.block(op.blocks[0 if core.value(op.args[0]) else 1])
    core.env.update((r.name, v) for r, v in zip(op.results, values))


@handles(STRUCTURE, "print")
def _print(core: Core, op: Op) -> None:
    print(spoken(core, op.attrs["text"], op.args), end="")


@handles(STRUCTURE, "assert")
def _assert(core: Core, op: Op) -> None:
    if not core.value(op.args[0]):
        raise LaunchError("launch.assertion", spoken(core, op.attrs["text"], op.args[1:]), op.loc)


def spoken(core: Core, text: str, values: Sequence[Expr]) -> str:
    """The text of a print or an assert with its values in their places."""
    return text.format(*(shown(core, v) for v in values))


def shown(core: Core, value: Expr) -> object:
    got = core.value(value)
    if isinstance(got, np.ndarray):
        assert isinstance(value, Var) and isinstance(value.type, TileType)
        rows, cols = core.extent(value.type.valid, value.type.shape)
        return got[:rows, :cols]
    return f"{float(got):f}" if dtype_of(value).kind == "f" else int(got)


@handles(STRUCTURE, "region")
def _region(core: Core, op: Op) -> None:
    core.block(op.blocks[0])


@handles(STRUCTURE, "create_tensor")
def _create_tensor(core: Core, op: Op) -> None:
    t = op.result.type
    assert isinstance(t, TensorType)
    core.env[op.result.name] = poisoned(tuple(core.value(e) for e in t.shape), t.dtype)


@handles(STRUCTURE, "launch")
def _launch(core: Core, op: Op) -> None:
    """Every block of the grid, one after the other."""
    grid, *arguments = (core.value(a) for a in op.args)
    parts = core.program.parts(op.attrs["kernel"])
    env = {p.var.name: a for p, a in zip(parts[0].params, arguments)}
    count = min(grid, core.cores)
    for b in core.shuffled(range(count)):
        if len(parts) == 1:
            _one(core, parts[0], env, (b, count)).block(parts[0].body)
            continue
        cores = Cores(core.order)
        for number, part in enumerate((parts[0], parts[1], parts[1])):
            one = _one(core, part, env, (b, count, number - 1))
            one.flags = cores.join(lambda one=one, body=part.body: one.block(body))  # type: ignore[misc]
        cores.run()


def _one(core: Core, device: Function, env: Env, place: Sequence[int]) -> Core:
    """A core that runs `device`: which block of how many and, in a mixed region, which vector core it is."""
    memory = _memories(device) if core.program.stage == "machine" else {}
    here = {p.name: n for p, n in zip(device.body.params, place)}
    return Core(core.program, {**env, **here}, core.order, core.cores, memory)


def memory_of(alloc: Op) -> tuple[str, int]:
    """The memory a buffer lies in and its offset: before addresses are planned, each has a memory of its own."""
    t, offset = alloc.result.type, alloc.attrs["offset"]
    assert isinstance(t, TileType) and t.space is not None
    return (alloc.result.name, 0) if offset is None else (t.space, offset)


def _memories(device: Function) -> dict[str, Array]:
    """Fresh memories of a core, as large as the function's buffers reach, poisoned."""
    ends: dict[str, int] = {Space.UB: 0}
    for op in walk(device.body):
        if op.name == "alloc":
            t = op.result.type
            assert isinstance(t, TileType) and t.space
            memory, offset = memory_of(op)
            size = op.attrs["slots"] * slot_bytes(t, DEFAULT_CHIP.alignment[t.space])
            ends[memory] = max(ends.get(memory, 0), offset + size)
    return {memory: poison_bytes(end) for memory, end in ends.items()}


def outside(message: str, op: Op) -> LaunchError:
    return LaunchError("out-of-bounds", message, op.loc, remedy="check where its indices come from")


def gm_window(core: Core, op: Op, tensor: Array, offsets: Sequence[Expr], extent: Extent) -> Array:
    """The part of a GM tensor at the offsets, as [rows, cols]; leaving the tensor is a fault of the program."""
    sizes = {op.attrs["rows"]: extent[0], op.attrs["cols"]: extent[1]}
    index: list[int | slice] = []
    for axis, e in enumerate(offsets):
        at, size = core.value(e), sizes.get(axis)
        if at < 0 or (at + (1 if size is None else size) > tensor.shape[axis] and 0 not in extent):
            raise outside(f"{op.name} leaves its tensor at {at} of {tensor.shape[axis]} on axis {axis}", op)
        index.append(at if size is None else slice(at, at + size))
    if 0 in extent:
        return np.empty(extent, tensor.dtype)
    return tensor[tuple(index)].reshape(extent) if sizes.keys() & {None} else tensor[tuple(index)]


def store(op: Op, target: Array, values: Array, dtype: DType) -> None:
    """Narrowed to the tensor's type if the tile is wider (an accumulator's), and combined if atomic."""
    values, atomic = cast(values, dtype), op.attrs.get("atomic")
    target[...] = compute(COMBINE[atomic], dtype, (target, values)) if atomic else values
