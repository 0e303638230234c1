# ruff: noqa
# fmt: off
"""Mistakes in signatures."""
import numpy as np

import pyto.language as pl

B, N = pl.dynamic("B"), pl.dynamic("N")
CORE = pl.Level.CORE_GROUP


@pl.jit
def no_annotation(x, y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
#                 ^ bad-signature: x has no annotation
#   help: pl.Tensor[[dims], dtype]
    pass


@pl.jit
def bare_tensor(x: pl.Tensor):
#                  ^^^^^^^^^ bad-signature: x: the arguments of a call give a bare pl.Tensor its shape
    pass


@pl.jit
def wrong_kind(x: int):
#                 ^^^ bad-signature: x is annotated with the Python object int
    pass


@pl.jit
def no_dtype(x: pl.Tensor[[4, 8]]):
#               ^^^^^^^^^^^^^^^^^ bad-signature: x: no element type where an element type belongs
    pass


@pl.jit
def numpy_dtype(x: pl.Tensor[[4, 8], np.float32]):
#                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ bad-signature: x: the Python object float32 where an element type belongs
    pass


@pl.jit
def float_dim(x: pl.Tensor[[4.0, 8], pl.FP32]):
#                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ bad-signature: x: a dim is 4.0
#   help: a dim is an integer or pl.dynamic("NAME")
    pass


@pl.jit
def zero_dim(x: pl.Tensor[[0, 8], pl.FP32]):
#               ^^^^^^^^^^^^^^^^^^^^^^^^^^ bad-signature: x: a dim is 0
    pass


@pl.jit
def bool_dim(x: pl.Tensor[[True, 8], pl.FP32]):
#               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ bad-signature: x: a dim is True
    pass


@pl.jit
def no_dims(x: pl.Tensor[[], pl.FP32]):
#              ^^^^^^^^^^^^^^^^^^^^^^ bad-signature: x: the dims must be a list, got a list of 0
    pass


@pl.jit
def index_tensor(x: pl.Out[pl.Tensor[[4, 8], pl.INT64]]):
#                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ bad-signature: x: a tensor of int64 can be read, not written
    pass


@pl.jit
def scalar_out(x: pl.Out[pl.Scalar[pl.FP32]]):
#                 ^^^^^^^^^^^^^^^^^^^^^^^^^^ bad-signature: x: a scalar cannot be an output
    pass


@pl.jit
def varargs(*xs: pl.Tensor[[4], pl.FP32]):
#            ^^^^^^^^^^^^^^^^^^^^^^^^^^^ bad-signature: *args is not part of the language
    pass


@pl.jit
def reserved_dim(x: pl.Tensor[[pl.dynamic("int"), 8], pl.FP32]):
#                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ bad-signature: 'int' cannot be the name of a dimension
    pass


@pl.jit
def unbound(x: pl.Tensor[[N * 8, 8], pl.FP32]):
#              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ unbound-dim: N is never the size of an axis by itself
    pass


@pl.jit
def ok_bound(x: pl.Tensor[[N * 8, 8], pl.FP32], n: pl.Tensor[[N], pl.INT32], y: pl.Out[pl.Tensor[[N, 8], pl.FP32]]):
    for i in pl.spmd(N):
        y[i : i + 1, :] = x[i * 8 : i * 8 + 1, :]


@pl.jit
def clash(B: pl.Tensor[[B, 8], pl.FP32]):
#         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ name-clash: B is a parameter and a dimension
    pass


@pl.jit
def not_written(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
#                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not-written: y is pl.Out and nothing is written to it
    pass


@pl.jit
def written_input(x: pl.Tensor[[4, 8], pl.FP32]):
    with pl.at(level=CORE):
        x[0:4, :] = x[0:4, :] + 1.0
#       ^^^^^^^^^ not-writable: x is an input of the kernel and cannot be written
#   help: declare it x: pl.Out[pl.Tensor[...]] or pl.InOut[...]


@pl.jit
def out_read_first(y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    with pl.at(level=CORE):
        y[0:4, :] = y[0:4, :] + 1.0
#                   ^^^^^^^^^ read-before-write: y is pl.Out and is read before anything is written to it
#   help: declare it pl.InOut


@pl.jit
def out_added_first(y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    with pl.at(level=CORE):
        y[0:4, :] += pl.full([4, 8], dtype=pl.FP32, value=1.0)
#       ^^^^^^^^^ read-before-write: y is pl.Out and is read before anything is written to it


@pl.jit
def out_atomic_first(y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    with pl.at(level=CORE):
        pl.assemble(y, pl.full([4, 8], dtype=pl.FP32, value=1.0), [0, 0], atomic=pl.AtomicType.Add)
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ read-before-write: y is pl.Out and is added to before anything is written to it


@pl.jit
def workspace_read_first(y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    w = pl.create_tensor([4, 8], dtype=pl.FP32)
    with pl.at(level=CORE):
        y[0:4, :] = w[0:4, :]
#                   ^^^^^^^^^ read-before-write: w is read before anything is written to it


@pl.jit
def ok_out_read_later(y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    with pl.at(level=CORE):
        y[0:4, :] = pl.full([4, 8], dtype=pl.FP32, value=1.0)
        y[0:4, :] += 1.0


@pl.jit
def returns_input(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    with pl.at(level=CORE):
        y[0:4, :] = x[0:4, :]
    return x
#          ^ bad-return: a kernel returns its outputs and tensors that it made
