"""Matrix multiplication and what it is made of."""

from __future__ import annotations

from pyto.ir import infer
from pyto.ir.ops.table import BEFORE_MACHINE, LOWERED, declare

declare(
    "matmul",
    params=("lhs", "rhs"),
    attrs=("a_trans", "b_trans", "out_dtype"),
    signature="lhs, rhs, out_dtype=None, a_trans=False, b_trans=False, c_matrix_nz=False",
    infer=infer.matmul,
    pipe="M",
    api="Mmad",
    stages=BEFORE_MACHINE,
    user=True,
    doc="lhs [M, K] times rhs [K, N] (transposed operands by flag), accumulated in fp32 (int8: int32).",
)
declare(
    "matmul_acc",
    params=("acc", "lhs", "rhs"),
    attrs=("a_trans", "b_trans", "out_dtype"),
    signature="acc, lhs, rhs, a_trans=False, b_trans=False, init_cond=None",
    infer=infer.matmul_acc,
    pipe="M",
    api="Mmad",
    stages=BEFORE_MACHINE,
    user=True,
    doc="acc + lhs times rhs, in place; lhs times rhs alone where init_cond holds.",
)

# Operands of one Mmad, and the multiply itself into a window of an accumulator.
declare(
    "load_a",
    params=("tile", "row", "col"),
    attrs=("shape", "trans"),
    pipe="MTE1",
    api="LoadData",
    stages=LOWERED,
    doc="L1 to L0A.",
)
declare(
    "load_b",
    params=("tile", "row", "col"),
    attrs=("shape", "trans"),
    pipe="MTE1",
    api="LoadData",
    stages=LOWERED,
    doc="L1 to L0B, as [K, N].",
)
declare(
    "fill_l0",
    params=("value",),
    attrs=("shape", "dtype"),
    pipe="MTE1",
    api="Fill",
    stages=LOWERED,
    doc="A tile of one value in L0A or L0B.",
)
declare(
    "mmad",
    params=("acc", "lhs", "rhs", "row", "col", "init"),
    attrs=("n_unit", "wide_k", "fill"),
    pipe="M",
    api="Mmad",
    stages=LOWERED,
    doc="Adds lhs times rhs to the window at (row, col) of acc; starts from zero where init holds.",
)
