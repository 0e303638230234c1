"""What is known of the values of a tile: where they lie and how far they may be off, found by trying operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pyto.ir.nodes import BF16, FP16, FP32, DType, Expr, TileType, Var
from pyto.ir.ops import OPS
from pyto.numerics import NUMPY, Array, cast, compute, widen

ULP = {FP32: 2.0**-23, FP16: 2.0**-10, BF16: 2.0**-7}
SAMPLES = 192
#: Composed or evaluated in the very order of the interpreter: bit for bit the same at every stage.
SAME = {"sub", "neg", "recip"}
#: A small error of an operand may make a large one of the result.
JUMPS = {"cmp", "fmod", "rem"}


@dataclass(frozen=True)
class Facts:
    """`low` <= values <= `high`. `error`: how far a correct implementation may be off, 0 for not at all; `same`: the
    passes keep even the rounding (what is off is a library function of the simulator's). `whole`: the tile holds values
    wherever its block of the tensors has any, `some`: it surely holds any."""

    low: float
    high: float
    error: float = 0.0
    same: bool = True
    whole: bool = True
    some: bool = True

    @property
    def size(self) -> float:
        return max(abs(self.low), abs(self.high))

    def join(self, other: Facts) -> Facts:
        return Facts(
            min(self.low, other.low),
            max(self.high, other.high),
            max(self.error, other.error),
            self.same and other.same,
            self.whole and other.whole,
            self.some and other.some,
        )

    def within(self, other: Facts) -> bool:
        return self.join(other) == other

    def with_(self, **changes: Any) -> Facts:
        return replace(self, **changes)


def _samples(facts: Facts, dtype: DType, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    low, high = facts.low, facts.high
    x = rng.uniform(low, high, shape)
    kind = rng.integers(0, 8, shape)
    x = np.where(kind == 0, low, np.where(kind == 1, high, x))
    if low < 0 < high:
        x = np.where(kind == 2, 0, x)
    return x.astype(np.int64).astype(NUMPY[dtype.name]) if dtype.kind in "iub" else x.astype(NUMPY[dtype.name])


def _moved(x: Array, error: float, rng: np.random.Generator) -> Array:
    if not error or x.dtype.kind in "iub":
        return x
    wide = widen(x).astype(np.float64) + error * rng.choice((-1.0, 1.0), x.shape)
    return wide.astype(x.dtype)


def probe(
    name: str, operands: Sequence[tuple[Expr, Facts]], result: TileType, attrs: Mapping[str, Any]
) -> Facts | None:
    """The facts of an operation's result; None where it gives what is not a number, or what an error would upset."""
    rng = np.random.default_rng(len(operands))
    op = OPS[name]
    tiles = [v for v, _ in operands if isinstance(v, Var) and isinstance(v.type, TileType)]
    alike = all(t.type.shape == result.shape for t in tiles)  # type: ignore[union-attr]
    exact, moved = [], []
    for value, facts in operands:
        if value not in tiles:
            number = _samples(facts, result.dtype, (1, SAMPLES), rng)
            number = number if alike else number[:, np.abs(widen(number)).argmax()]
            exact.append(number)
            moved.append(number)
            continue
        assert isinstance(value, Var) and isinstance(value.type, TileType)
        shape = (1, SAMPLES) if alike else value.type.shape
        x = _samples(facts, value.type.dtype, shape, rng)
        exact.append(x)
        moved.append(_moved(x, facts.error, rng))

    def run(args: Sequence[Any]) -> Array:
        if name == "cast":
            return cast(args[0], result.dtype, attrs.get("mode", "rint"))
        assert op.numpy is not None
        named = {n: attrs[n] for n in op.numpy_attrs}
        return compute(lambda *values: op.numpy(*values, **named), result.dtype, args)  # type: ignore[misc]

    with np.errstate(all="ignore"):
        out, other = (widen(run(a)).astype(np.float64) for a in (exact, moved))
    if not np.isfinite(out).all() or not np.isfinite(other).all() or np.abs(out).max() > 1e12:
        return None
    low, high = float(out.min()), float(out.max())
    noisy = max(f.error for _, f in operands)
    if "arg" in name and not all(f.some for _, f in operands):  # the place of nothing
        return None
    if noisy and (result.dtype.kind != "f" or name in JUMPS):
        return None
    size = max(abs(low), abs(high))
    if name.endswith("_prod"):  # no sample meets the largest product
        assert isinstance(tiles[0].type, TileType)
        axis = int(name.startswith("row"))
        size = max(1.0, operands[0][1].size) ** min(tiles[0].type.shape[axis], 100)
        low, high = -size, size
        if size > 1e4 or result.dtype.kind != "f":
            return None
    error = 0.0
    if noisy:
        error = (
            2 * max(float(np.abs(out - other).max()), noisy * (size if "_prod" in name else 0))
            + ULP[result.dtype] * size
        )
    same = all(f.same for _, f in operands)
    if result.dtype.kind == "f":
        if op.cost == "exp":  # the simulator's own functions
            error += 4 * (ULP[FP32] * size + ULP[result.dtype] * size * (result.dtype != FP32))
        if _reorders(name, result.dtype):
            count = max(t.type.shape[0] * t.type.shape[1] for t in tiles) // (result.shape[0] * result.shape[1])  # type: ignore[union-attr]
            error += ULP[FP32] * max(size, *(f.size for _, f in operands)) * max(count, 4) * 2
            if result.dtype != FP32:
                error += ULP[result.dtype] * size
            same = False
    if result.dtype.kind == "f":
        margin = 0.05 * (high - low)
        low, high = low - margin * (low < 0), high + margin
    whole, some = (all(getattr(f, n) for _, f in operands) for n in ("whole", "some"))
    return Facts(low, high, error, same, whole, some)


def _reorders(name: str, dtype: DType) -> bool:
    """Whether the passes may compute an operation in another order than numpy does."""
    op = OPS[name]
    if name == "rsqrt":  # in fp16 both of its steps round
        return dtype == FP16
    if name in SAME or name.startswith(("row_expand_", "col_expand_")) or name.endswith(("_max", "_min")):
        return False
    way = op.ways.get(dtype)
    return op.compose is not None or (way is not None and way.kind == "composed")


__all__ = ["ULP", "Facts", "probe"]
