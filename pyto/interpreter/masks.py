"""Masks as the chip has them: one bit an element of a tile as it lies in memory, the padding of its rows included."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pyto.ir.nodes import Op, TileType
from pyto.numerics import BY_NUMPY, Array, scalar, widen


def compare_bits(op: Op, a: Array, b: Any, t: TileType, bytes_: int) -> Array:
    """The bytes of `a op b`, [1, bytes_]: those of padding are as good as random."""
    b = widen(b) if isinstance(b, np.ndarray) else scalar(b, BY_NUMPY[a.dtype])
    found = getattr(operator, op.attrs["kind"])(widen(a), b)
    lanes = np.zeros((t.shape[0], t.pitch), bool)
    lanes[: found.shape[0], : found.shape[1]] = found
    bits = np.packbits(lanes.reshape(-1), bitorder="little")
    out = np.full((1, bytes_), 0xA5, np.uint8)
    out[0, : len(bits)] = bits
    return out


def select_by(bits: Array, a: Array, b: Any, t: TileType) -> Array:
    lanes = np.unpackbits(bits.reshape(-1), bitorder="little")[: t.shape[0] * t.pitch].reshape(t.shape[0], t.pitch)
    if not isinstance(b, np.ndarray):
        b = np.asarray(scalar(b, t.dtype)).astype(a.dtype)
    return np.where(lanes[: a.shape[0], : a.shape[1]] != 0, a, b)
