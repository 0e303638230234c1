"""A predicted time for a machine-stage program: for ranking configurations, from published rates of the chip.

Every pipe of a core adds up the cycles of its instructions. The pipes of a loop of `pl.pipeline` overlap; elsewhere one
waits for the other. No event, no queue and no cache is modelled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from pyto.ir.nodes import FP32, Block, Expr, Function, Op, Program, Space, Var, View
from pyto.ir.ops import OPS
from pyto.ir.scalar import dtype_of, evaluate
from pyto.target import CLOCK, DEFAULT_CHIP, FRACTAL, HBM, LAUNCH, MMAD_CYCLES, TRANSFER, VECTOR, Chip

Env = dict[Var, Any]
UNKNOWN_TRIPS = 8  # of a loop whose bounds are read from memory


@dataclass
class Cost:
    """`span`: cycles from start to end; `busy`: those of each pipe; `bytes`: moved between the core and GM."""

    span: float = 0.0
    busy: dict[str, float] = field(default_factory=dict)
    bytes: float = 0.0

    def add(self, other: Cost, times: float = 1) -> None:
        self.span += other.span * times
        self.bytes += other.bytes * times
        for pipe, cycles in other.busy.items():
            self.busy[pipe] = self.busy.get(pipe, 0.0) + cycles * times


def predicted_seconds(program: Program, dims: Mapping[str, int], chip: Chip = DEFAULT_CHIP) -> float:
    """Predicted seconds of one call on the device, launches included. `dims` binds the dimensions by name."""
    env: Env = {d: dims[d.name] for d in program.host.dims if d.name in dims}
    return _host(program, program.host.body, env, chip)


def _host(program: Program, block: Block, env: Env, chip: Chip) -> float:
    total = 0.0
    for op in block.ops:
        if op.name == "let":
            env[op.result] = _value(op.args[0], env, 0)
        elif op.name == "for":
            total += _trips(op, env) * _host(program, op.blocks[0], {**env, op.blocks[0].params[0]: 0}, chip)
        elif op.name == "if":
            total += max(_host(program, b, dict(env), chip) for b in op.blocks)
        elif op.name == "launch":
            grid = max(1, int(_value(op.args[0], env, 1)))
            parts = program.parts(op.attrs["kernel"])
            total += LAUNCH + max(_device(f, op, grid, env, chip) for f in parts)
    return total


def _device(function: Function, launch: Op, grid: int, env: Env, chip: Chip) -> float:
    blocks = min(grid, chip.cube_cores if function.kind == "cube" else chip.vector_cores)
    inside: Env = {p.var: _value(a, env, 0) for p, a in zip(function.params, launch.args[1:])}
    block, count = function.body.params
    inside |= {block: 0, count: blocks}
    cost = _block(function.body, inside)
    return max(cost.span / CLOCK, cost.bytes * blocks / HBM)


def _block(block: Block, env: Env) -> Cost:
    total = Cost()
    for op in block.ops:
        if op.name == "let":
            env[op.result] = _value(op.args[0], env, 0)
        elif op.name in ("for", "while"):
            total.add(_loop(op, env))
        elif op.name == "if":
            total.add(max((_block(b, dict(env)) for b in op.blocks), key=lambda c: c.span))
        else:
            pipe, cycles, moved = _op(op, env)
            if cycles:
                total.add(Cost(cycles, {pipe: cycles}, moved))
    return total


def _loop(op: Op, env: Env) -> Cost:
    trips = _trips(op, env)
    index = op.blocks[0].params[0]
    middle = _value(op.args[0], env, 0) + trips // 2 * _value(op.args[2], env, 1) if op.name == "for" else 0
    once = _block(op.blocks[0], {**env, index: middle})
    total = Cost()
    total.add(once, trips)
    if op.attrs.get("kind") == "pipeline" and op.attrs["stages"] > 1 and trips > 1:
        total.span = once.span + (trips - 1) * max(once.busy.values(), default=0.0)
    return total


def _trips(op: Op, env: Env) -> int:
    if op.name == "while":
        return UNKNOWN_TRIPS
    lo, hi, step = (_value(a, env, None) for a in op.args[:3])
    return UNKNOWN_TRIPS if None in (lo, hi, step) else max(0, -(-(hi - lo) // step))


def _value(expr: Expr, env: Env, unknown: Any) -> Any:
    try:
        return evaluate(expr, env)
    except (KeyError, ZeroDivisionError):
        return unknown


def _extent(view: View, env: Env) -> tuple[int, int]:
    rows, cols = (min(size, int(_value(v, env, size))) for v, size in zip(view.valid, view.shape))
    return max(0, rows), max(0, cols)


def _op(op: Op, env: Env) -> tuple[str, float, float]:
    """The pipe of an instruction, its cycles, and the bytes that it moves from or to GM."""
    views = [a for a in op.args if isinstance(a, View)]
    if op.name in ("load", "store", "load_a", "load_b") and views:
        view = views[0]
        rows, cols = _extent(view, env)
        size = rows * cols * view.dtype.bytes
        kind = op.name if op.name.startswith("load_") else f"{op.name}_{view.space}"
        rate, fixed = TRANSFER.get(kind, TRANSFER["load_ub"])
        pipe = "FIX" if view.space == Space.L0C else OPS[op.name].pipe
        return pipe, fixed + size / rate, 0.0 if op.name.startswith("load_") else float(size)
    if op.name == "mmad":
        (m, k), (_, n) = _extent(views[1], env), _extent(views[2], env)
        d = views[1].dtype
        passes = 2 if d == FP32 else 1
        fractals = ceil(m / FRACTAL) * ceil(k / (32 // d.bytes)) * ceil(n / FRACTAL)
        return "M", MMAD_CYCLES + passes * fractals, 0.0
    if views and OPS[op.name].pipe == "V":
        rows, cols = _extent(max(views, key=lambda v: v.shape[0] * v.shape[1]), env)
        per_element, fixed = VECTOR.get(OPS[op.name].cost, VECTOR["add"])
        width = max(dtype_of(v).bytes for v in views) / FP32.bytes
        return "V", fixed + rows * cols * per_element * width, 0.0
    return "S", 0.0, 0.0


__all__ = ["Cost", "predicted_seconds"]
