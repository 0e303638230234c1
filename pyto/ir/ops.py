"""The op table: every operation is declared here once and everything else reads it.

The front end takes parameters and types from it, the verifier its inference, the interpreter its numpy meaning, code
generation its Ascend C name, the language reference its text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyto.ir import infer
from pyto.ir.infer import ARITHMETIC, CAST_MODES, CAST_PAIRS, CUBE_INPUTS, FLOATS, Infer, OpError, describe, meet
from pyto.ir.nodes import BF16, FP16, FP32, INT8, INT16, INT32, UINT8, UINT16, UINT32, DType, View


@dataclass(frozen=True)
class OpDef:
    """One operation.

    name: as in the text form and, where users may call it, in `pl`.
    params: the names of its value operands, in order; attrs: those of its compile-time arguments.
    infer: operand types (scalars as expressions) and attributes -> result type, or None; raises OpError.
    pipe: the hardware pipe that runs it ("" for structure). api: its Ascend C function.
    numpy: operand arrays -> result array, in the element type of the result.
    user: callable as `pl.NAME`.
    """

    name: str
    params: tuple[str, ...] = ()
    infer: Infer | None = None
    pipe: str = ""
    api: str = ""
    numpy: Callable[..., Any] | None = None
    attrs: tuple[str, ...] = ()
    dtypes: tuple[DType, ...] = ()
    scalar_api: str = ""
    user: bool = False
    doc: str = ""


OPS: dict[str, OpDef] = {}


def declare(name: str, **fields: Any) -> OpDef:
    OPS[name] = OpDef(name, **fields)
    return OPS[name]


# ----------------------------------------------------------------------------------------------------------- the table


def _elementwise(
    name: str, np_: Callable[..., Any], api: str, dtypes: tuple[DType, ...], doc: str, scalar_api: str = ""
) -> None:
    two = np_ is not None and getattr(np_, "nin", np_.__code__.co_argcount if hasattr(np_, "__code__") else 1) == 2
    declare(
        name,
        params=("lhs", "rhs") if two else ("input",),
        infer=(infer.binary if two else infer.unary)(name, dtypes),
        pipe="V",
        api=api,
        scalar_api=scalar_api,
        numpy=np_,
        dtypes=dtypes,
        user=True,
        doc=doc,
    )


def _log(x: Any) -> Any:
    return np.log(x)


_elementwise("add", np.add, "Add", ARITHMETIC, "lhs + rhs; rhs a tile of the same shape or a scalar.", "Adds")
_elementwise("sub", np.subtract, "Sub", ARITHMETIC, "lhs - rhs.", "Adds")
_elementwise("mul", np.multiply, "Mul", ARITHMETIC, "lhs * rhs.", "Muls")
_elementwise("div", np.divide, "Div", FLOATS, "lhs / rhs, correctly rounded in fp32.")
_elementwise("maximum", np.maximum, "Max", ARITHMETIC, "The larger of lhs and rhs.", "Maxs")
_elementwise("minimum", np.minimum, "Min", ARITHMETIC, "The smaller of lhs and rhs.", "Mins")
_elementwise("neg", np.negative, "", ARITHMETIC, "-input.")
_elementwise("abs", np.abs, "Abs", FLOATS, "|input|.")
_elementwise("exp", np.exp, "Exp", FLOATS, "e to the input.")
_elementwise("log", _log, "Ln", FLOATS, "Natural logarithm.")
_elementwise("sqrt", np.sqrt, "Sqrt", FLOATS, "Square root.")
_elementwise("rsqrt", lambda x: np.float32(1) / np.sqrt(x), "", FLOATS, "1 / sqrt(input), by Sqrt and Div (accurate).")
_elementwise("recip", lambda x: np.float32(1) / x, "", FLOATS, "1 / input, by Div (accurate).")
_elementwise("relu", lambda x: np.maximum(x, 0), "Relu", (FP32, FP16, BF16, INT32), "max(input, 0).")

for _name in ("add", "sub", "mul", "div", "maximum", "minimum"):
    _base = OPS[_name]
    _suffix = {"maximum": "max", "minimum": "min"}.get(_name, _name)
    declare(
        f"row_expand_{_suffix}",
        params=("lhs", "rhs"),
        infer=infer.expand(f"row_expand_{_suffix}", _base.dtypes, 0),
        pipe="V",
        api=_base.api,
        numpy=_base.numpy,
        dtypes=_base.dtypes,
        user=True,
        doc=f"{_name} of lhs [R, C] and the column rhs [R, 1] broadcast over the columns.",
    )
    declare(
        f"col_expand_{_suffix}",
        params=("lhs", "rhs"),
        infer=infer.expand(f"col_expand_{_suffix}", _base.dtypes, 1),
        pipe="V",
        api=_base.api,
        numpy=_base.numpy,
        dtypes=_base.dtypes,
        user=True,
        doc=f"{_name} of lhs [R, C] and the row rhs [1, C] broadcast over the rows.",
    )

EMPTY = {"sum": 0.0, "max": -np.inf, "min": np.inf}
for _name, _fn, _combine, _api in (
    ("sum", np.sum, "add", "WholeReduceSum"),
    ("max", np.max, "maximum", "WholeReduceMax"),
    ("min", np.min, "minimum", "WholeReduceMin"),
):
    for _prefix, _axis in (("row", 1), ("col", 0)):
        declare(
            f"{_prefix}_{_name}",
            params=("input",),
            infer=infer.reduce(f"{_prefix}_{_name}", FLOATS, _axis),
            pipe="V",
            api=_api if _axis else "",
            scalar_api=_combine,
            dtypes=FLOATS,
            user=True,
            numpy=lambda x, fn=_fn, axis=_axis, empty=EMPTY[_name]: fn(x, axis=axis, keepdims=True, initial=empty),
            doc=f"{_name} over the valid {'columns' if _axis else 'rows'}: [R, C] -> {'[R, 1]' if _axis else '[1, C]'}"
            + ("; 16-bit inputs are summed in fp32." if _name == "sum" else "."),
        )

declare(
    "cast",
    params=("input",),
    attrs=("target_type", "mode"),
    infer=infer.cast,
    pipe="V",
    api="Cast",
    user=True,
    doc="Another element type: to floats rounding to nearest even, to integers saturating "
    "(mode: rint, round, floor, ceil, trunc).",
)
declare(
    "matmul",
    params=("lhs", "rhs"),
    attrs=("a_trans", "b_trans", "out_dtype"),
    infer=infer.matmul,
    pipe="M",
    api="Mmad",
    user=True,
    doc="lhs [M, K] times rhs [K, N] (transposed operands by flag), accumulated in fp32 (int8: int32).",
)
declare(
    "matmul_acc",
    params=("acc", "lhs", "rhs"),
    attrs=("a_trans", "b_trans", "out_dtype"),
    infer=infer.matmul_acc,
    pipe="M",
    api="Mmad",
    user=True,
    doc="acc + lhs times rhs, in place.",
)
declare(
    "full",
    params=("value",),
    attrs=("shape", "dtype"),
    infer=infer.full,
    pipe="V",
    api="Duplicate",
    doc="A tile of one value.",
)
declare("empty", attrs=("shape", "dtype"), infer=infer.full, doc="A tile whose lanes are undefined.")
declare(
    "load",
    params=("tensor",),
    attrs=("shape", "rows", "cols", "space"),
    infer=infer.load,
    pipe="MTE2",
    api="DataCopyPad",
    doc="GM to a tile: `shape` elements from the offsets; `rows` and `cols` name the tensor's axes that vary.",
)
declare(
    "store",
    params=("tensor", "tile"),
    attrs=("rows", "cols", "atomic"),
    pipe="MTE3",
    api="DataCopyPad",
    doc="The valid part of a tile to GM at the offsets.",
)
declare(
    "slice",
    params=("tile", "row", "col"),
    attrs=("shape",),
    infer=infer.slice,
    doc="A window of a tile; shares its memory.",
)
declare(
    "assemble",
    params=("tile", "part", "row", "col"),
    infer=infer.assemble,
    pipe="V",
    api="Copy",
    doc="The tile with a window replaced.",
)
declare(
    "reshape",
    params=("input",),
    attrs=("shape",),
    infer=infer.reshape,
    doc="The same elements in another 2-D shape; shares memory.",
)
declare(
    "set_validshape", params=("tile", "rows", "cols"), infer=infer.set_valid, doc="The tile with a smaller valid shape."
)
declare(
    "read",
    params=("tensor",),
    infer=infer.read,
    pipe="S",
    api="GetValue",
    doc="One element of a GM tensor as a scalar.",
)

# Structure: `for` carries values (block params: the index, then the carried), `region` is one core's work, `yield`
# ends a block, `let` names a scalar, `create_tensor` makes a GM workspace, `launch` starts a device function.
for _name in ("for", "region", "yield", "let", "create_tensor", "launch", "alloc"):
    declare(_name)

# Tile and machine stages, cube side: operands of one Mmad, and the multiply itself into a window of an accumulator.
declare(
    "load_a", params=("tile", "row", "col"), attrs=("shape", "trans"), pipe="MTE1", api="LoadData", doc="L1 to L0A."
)
declare(
    "load_b",
    params=("tile", "row", "col"),
    attrs=("shape", "trans"),
    pipe="MTE1",
    api="LoadData",
    doc="L1 to L0B, as [K, N].",
)
declare(
    "mmad",
    params=("acc", "lhs", "rhs", "row", "col", "init"),
    pipe="M",
    api="Mmad",
    doc="Adds lhs times rhs to the window at (row, col) of acc; starts from zero where init holds.",
)

# What passes compose vector operations of.
declare(
    "brcb",
    params=("src",),
    infer=infer.brcb,
    pipe="V",
    api="Brcb",
    doc="Each source element to a block of 32 B: [R, 1] -> [R, 8 or 16].",
)
declare(
    "whole_reduce",
    params=("src",),
    attrs=("kind",),
    infer=infer.reduce("whole_reduce", (), 1),
    pipe="V",
    api="WholeReduceSum",
    doc="One repeat a row: [R, <= 64] -> [R, 1].",
)
declare(
    "fillpad",
    params=("tile", "value"),
    infer=infer.fillpad,
    pipe="V",
    api="Duplicate",
    doc="The tile with `value` in its undefined lanes.",
)
declare("copy", params=("src",), infer=lambda args, attrs: args[0], pipe="V", api="Copy", doc="UB to UB.")

# Machine stage, order: events between pipes and barriers on one.
declare("set_flag", params=("id",), attrs=("src", "dst"))
declare("wait_flag", params=("id",), attrs=("src", "dst"))
declare("barrier", attrs=("pipe",))

ALL_DTYPES = (FP32, FP16, BF16, INT8, INT16, INT32, UINT8, UINT16, UINT32)

__all__ = [
    "ALL_DTYPES",
    "CAST_MODES",
    "CAST_PAIRS",
    "CUBE_INPUTS",
    "OPS",
    "OpDef",
    "OpError",
    "View",
    "declare",
    "describe",
    "meet",
]
