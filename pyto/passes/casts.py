"""Casts between any two element types, by the pairs that the chip has. Each hop but one is exact."""

from __future__ import annotations

from typing import Any

from pyto.ir.nodes import BF16, BOOL, FP16, FP32, INT8, INT16, INT32, UINT8, UINT16, UINT32, DType
from pyto.ir.ops import CAST_PAIRS
from pyto.ir.ops.types import lowest

BYTES = (INT8, UINT8)


def cast(c: Any, value: Any, target: DType, mode: str = "rint") -> Any:
    """`value` as `target`: c is the Composing of legalize."""
    source = c.type(value).dtype
    if source == target:
        return value
    if (source, target) in CAST_PAIRS:
        return c.instruction(value, target, mode)
    if BOOL in (source, target):
        return _bool(c, value, source, target)
    step = _ROUTES.get((source, target)) or _FROM.get(source) or _TO.get(target) or _by(FP32)
    return step(c, value, source, target, mode)


def _bool(c: Any, value: Any, source: DType, target: DType) -> Any:
    if source == BOOL:
        return c.cast(c.bitcast(value, dtype=UINT8), target)
    return c.cmp(value, 0, kind="ne", dtype=BOOL)


def _by(*through: DType) -> Any:
    """Through other types: the first hop rounds by `mode`, what follows is exact or saturates."""

    def route(c: Any, value: Any, source: DType, target: DType, mode: str) -> Any:
        for hop in (*through, target):
            value = c.cast(value, hop, mode)
        return value

    return route


def _clamped(c: Any, value: Any, low: int, high: int) -> Any:
    return c.minimum(c.maximum(value, low), high)


def _int32_to_byte(c: Any, value: Any, source: DType, target: DType, mode: str) -> Any:
    return c.cast(c.cast(_clamped(c, value, -128, 255), INT16), target)


def _to_uint16(c: Any, value: Any, source: DType, target: DType, mode: str) -> Any:
    whole = _clamped(c, c.cast(value, INT32, mode), 0, 65535)
    low = lowest(INT16)
    return c.bitcast(c.add(c.cast(c.add(whole, low), INT16), low), dtype=UINT16)


def _from_uint16(c: Any, value: Any, source: DType, target: DType, mode: str) -> Any:
    signed = c.add(c.bitcast(value, dtype=INT16), lowest(INT16))
    return c.cast(c.add(c.cast(signed, FP32), -lowest(INT16)), target, mode)


def _int_to_uint32(c: Any, value: Any, source: DType, target: DType, mode: str) -> Any:
    return c.bitcast(c.maximum(c.cast(value, INT32), 0), dtype=UINT32)


def _float_to_uint32(c: Any, value: Any, source: DType, target: DType, mode: str) -> Any:
    value = c.cast(value, FP32)
    half = 2147483648.0
    large = c.cmp(value, half, kind="ge", dtype=BOOL)
    whole = c.maximum(c.cast(c.sel(large, c.sub(value, half), value), INT32, mode), 0)
    top = c.cast(c.sel(large, c.full(1.0, shape=c.type(value).shape, dtype=FP32), 0.0), INT32)
    return c.bitcast(c.add(whole, c.shl(top, 31)), dtype=UINT32)


def _uint32_to_float(c: Any, value: Any, source: DType, target: DType, mode: str) -> Any:
    high = c.cast(c.bitcast(c.shr(value, 16), dtype=INT32), FP32)
    low = c.cast(c.bitcast(c.shr(c.shl(value, 16), 16), dtype=INT32), FP32)
    return c.cast(c.add(c.mul(high, 65536.0), low), target, mode)


def _from_uint32(c: Any, value: Any, source: DType, target: DType, mode: str) -> Any:
    """Values past those of int32 have the top bit: spread it, and all other bits are set."""
    signed = c.bitcast(value, dtype=INT32)
    limited = c.and_(c.or_(signed, c.shr(signed, 31)), -1 - lowest(INT32))
    return c.cast(limited, target)


_ROUTES: dict[tuple[DType, DType], Any] = {
    **{(f, b): _by(INT16, FP16) for f in (FP32, BF16) for b in BYTES},
    **{(INT16, b): _by(FP16) for b in BYTES},
    **{(INT32, b): _int32_to_byte for b in BYTES},
    **{(b, d): _by(FP16) for b in BYTES for d in (FP32, BF16, INT16, INT32, INT8, UINT8)},
    **{(d, UINT32): _int_to_uint32 for d in (INT8, UINT8, INT16, INT32, UINT16)},
    **{(d, UINT32): _float_to_uint32 for d in (FP32, FP16, BF16)},
    **{(UINT32, d): _uint32_to_float for d in (FP32, FP16, BF16)},
    (UINT16, UINT32): _int_to_uint32,
    (UINT32, UINT16): _from_uint32,
}  # fmt: skip
_FROM: dict[DType, Any] = {UINT16: _from_uint16, UINT32: _from_uint32}
_TO: dict[DType, Any] = {UINT16: _to_uint16}
