"""Element types on numpy: exact widening, rounding and saturating casts, products, and poison for undefined lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from pyto.ir.nodes import BF16, DTYPES, DType

Array = np.ndarray[Any, Any]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NUMPY: dict[str, np.dtype[Any]] = {d.name: BFLOAT16 if d is BF16 else np.dtype(d.numpy) for d in DTYPES.values()}
BY_NUMPY = {NUMPY[d.name]: d for d in DTYPES.values()}
#: Two bytes that make a NaN of every float type and an unlikely number of every integer type.
POISON = b"\xc1\xff"
_POISON = {name: np.frombuffer(POISON * 4, dt, 1)[0] for name, dt in NUMPY.items()}


def poisoned(shape: tuple[int, ...], dtype: DType) -> Array:
    """An array whose elements must not be read."""
    return np.full(shape, _POISON[dtype.name])


def poison_bytes(count: int) -> Array:
    """Memory whose bytes must not be read."""
    return np.frombuffer(bytearray(POISON * (-(-count // 2))), np.uint8)[:count]


def widen(x: Array) -> Array:
    """16-bit floats as fp32, exactly; other arrays as they are."""
    if x.dtype == BFLOAT16:
        return (x.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
    return x.astype(np.float32) if x.dtype == np.float16 else x


def compute(fn: Callable[..., Any], dtype: DType, args: Sequence[Any]) -> Array:
    """`fn` of arrays and numbers, in fp32 for floats, as an array of `dtype`."""
    with np.errstate(all="ignore"):
        out = fn(*[_operand(a, dtype) for a in args])
        return np.asarray(out).astype(NUMPY[dtype.name], copy=False)


def _operand(value: Any, dtype: DType) -> Any:
    if isinstance(value, np.ndarray):
        return widen(value)
    return value if isinstance(value, np.generic) else scalar(value, dtype)


def scalar(value: Any, dtype: DType) -> Any:
    """A number as an operand among elements of `dtype`: floats as fp32, integers by their low bits."""
    if dtype.kind == "f":
        return np.float32(value)
    kind = NUMPY[dtype.name]
    return kind.type(value) if dtype.kind == "b" else np.int64(value).astype(kind)


def product(a: Array, b: Array) -> Array:
    """a @ b in fp32; of int8 exactly, in int32."""
    if a.dtype == np.int8:
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int32)
    return widen(a) @ widen(b)  # type: ignore[no-any-return]


def _half_away(x: Array) -> Array:
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.sign(x), 0)


TO_INTEGER: dict[str, Callable[[Array], Array]] = {
    "rint": np.rint, "round": _half_away, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
}  # fmt: skip


def cast(x: Array, target: DType, mode: str = "rint") -> Array:
    """The elements as another type: to floats rounded by `mode`; to integers rounded, saturated, and 0 for NaN.
    Integers wrap into no type: they saturate too."""
    dtype = NUMPY[target.name]
    if x.dtype == dtype:
        return x
    x = widen(x)
    if target.kind == "b":
        return x != 0
    if x.dtype.kind == "b":
        x = x.astype(np.int8)
    if target.kind == "f":
        return _to_short_float(x.astype(np.float32), dtype, mode) if target.bytes == 2 else x.astype(dtype)
    limits = np.iinfo(dtype)
    if x.dtype.kind == "f":
        x = np.nan_to_num(TO_INTEGER[mode](x.astype(np.float64)), nan=0.0, posinf=limits.max, neginf=limits.min)
    return np.clip(x, limits.min, limits.max).astype(dtype)


def _to_short_float(x: Array, dtype: np.dtype[Any], mode: str) -> Array:
    """fp32 to fp16 or bf16: to the nearest, ties to even, then moved to the neighbour that the mode asks for."""
    near = x.astype(dtype)
    if mode == "rint":
        return near
    size = np.abs(widen(near).astype(np.float64))
    wanted = np.abs(x.astype(np.float64))
    outward, inward = size < wanted, size > wanted
    if mode == "round":
        outward &= np.abs(widen(_step(near, outward)).astype(np.float64)) - wanted == wanted - size
        inward[:] = False
    elif mode == "trunc":
        outward[:] = False
    else:
        away = x < 0 if mode == "floor" else x > 0
        outward, inward = outward & away, inward & ~away
    return _step(_step(near, outward), inward, -1)


def _step(x: Array, where: Array, by: int = 1) -> Array:
    """The next larger (`by` 1) or smaller (-1) magnitude where asked: floats are sign and magnitude."""
    return (x.view(np.int16) + np.where(where, np.int16(by), np.int16(0))).view(x.dtype)
