"""Which element types the vector unit works on, and how it does the others."""

from __future__ import annotations

from typing import Any

from pyto.ir.nodes import BF16, BOOL, FP16, FP32, INT8, INT16, INT32, UINT8, UINT16, UINT32, DType
from pyto.ir.ops.table import Composer, ways

BYTES = (INT8, UINT8)
SIGNED = {UINT16: INT16, UINT32: INT32}  # the type whose instructions do the same to the same bits, where they wrap
WORDS = dict.fromkeys((INT16, UINT16, INT32, UINT32, INT8, UINT8, BOOL), INT16)  # bitwise operations work on 16 bits

FLOATS = ways(FP32, FP16, through={BF16: FP32})
# add, sub and mul wrap for integers, as in numpy.
WRAPPING = ways(FP32, FP16, INT32, INT16, through={BF16: FP32}, bits=SIGNED, wrapping=dict.fromkeys(BYTES, INT16))
BITWISE = ways(bits=WORDS)
INTEGERS = (INT32, INT16, INT8, UINT32, UINT16, UINT8)
NUMBERS = (FP32, FP16, BF16, *INTEGERS)
ALL = (*NUMBERS, BOOL)


def lowest(d: DType) -> int:
    """The smallest value of a signed integer type of that width: what turns unsigned order into signed order."""
    return -(1 << (d.bits - 1))


def biased(c: Composer, name: str, *args: Any, **attrs: Any) -> Any:
    """`name` of unsigned integers by that of signed ones, which keep their order when 2^(bits-1) is taken away."""
    d = next(c.type(a) for a in args if c.type(a) is not None).dtype
    low = lowest(d)
    operands = [
        c.scalar(a, SIGNED[d], low) if c.type(a) is None else c.add(c.bitcast(a, dtype=SIGNED[d]), low) for a in args
    ]
    return c.bitcast(c.add(c.make(name, *operands, **attrs), low), dtype=d)
