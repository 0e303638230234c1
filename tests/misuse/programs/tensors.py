# ruff: noqa
# fmt: off
"""Tensors: windows, offsets, host code."""
import pyto.language as pl

B, N = pl.dynamic("B"), pl.dynamic("N")
Q = pl.dynamic("Q")
CORE = pl.Level.CORE_GROUP


@pl.jit
def too_many_indices(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[0:1, 0:8, 0:8]
#                       ^^^ bad-index: 3 indices for 2 axes


@pl.jit
def negative_index(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[-1, :]
#             ^^ negative-index: axis 0 of x is indexed at -1


@pl.jit
def negative_end(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, 0:-8]
#                  ^^ negative-index: the slice of axis 1 of x ends at -8


@pl.jit
def stepped(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, 0:64:2]
#                     ^ slice-step: slices with a step are not part of the language


@pl.jit
def empty_slice(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, 8:8]
#                ^^^ empty-slice: the slice of axis 1 of x has 0 elements


@pl.jit
def past_the_end(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[8:16, :]
#             ^ out-of-bounds: axis 0 of x has 8 elements, the index is 8


@pl.jit
def past_the_end_in_a_loop(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.range(2, 4):
            x[i * 4 : i * 4 + 4, :] += 1.0
#           ^^^^^^^^^^^^^^^^^^^^^^^ out-of-bounds: the slice lies past the end of the tensor


@pl.jit
def float_index(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.range(4):
            x[i / 2 : i / 2 + 1, :] += 1.0
#             ^^^^^ operand-kind: the start of the slice of axis 0 of x must be an integer, got a scalar of fp32
#   help: use // instead of /


@pl.jit
def tile_index(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], n: pl.Tensor[[8], pl.INT32]):
    with pl.at(level=CORE):
        t = x[n[0:1], :]
#             ^^^^^^ bad-index: axis 0 of x is indexed by a tile [1, 1] of int32
#   help: pl.read(tensor, [i])


@pl.jit
def host_load(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    t = x[0:8, :]
#       ^^^^^^^^^ outside-region: x[...] loads a tile, and this is host code
#   help: with pl.at(level=pl.Level.CORE_GROUP)


@pl.jit
def host_compute(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    t = pl.full([8, 64], dtype=pl.FP32, value=0.0)
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ outside-region: full works on tiles, and this is host code


@pl.jit
def host_read(n: pl.Tensor[[8], pl.INT32]):
    k = pl.read(n, [0])
#       ^^^^^^^^^^^^^^^ host-read: host code cannot read n: it is in device memory
#   help: pass the value as a pl.Scalar


@pl.jit
def read_rank(n: pl.Tensor[[8, 8], pl.INT32]):
    with pl.at(level=CORE):
        k = pl.read(n, [0])
#                      ^^^ rank-mismatch: n has 2 axes, the offsets have 1


@pl.jit
def dim_axis(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    n = pl.tensor.dim(x, 2)
#                        ^ out-of-bounds: x has 2 axes, there is no axis 2


@pl.jit
def unknown_dim(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    for b in pl.parallel(Q):
#                        ^ unknown-dim: the dimension Q is not in the kernel's signature
        pass


@pl.jit
def offsets_rank(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = pl.slice(x, [8, 64], [0])
#                                ^^^ rank-mismatch: x has 2 axes, the offsets have 1


@pl.jit
def shape_rank(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = pl.slice(x, [64], [0, 0])
#                       ^^^^ rank-mismatch: x has 2 axes, the shape has 1


@pl.jit
def assign_scalar_element(x: pl.InOut[pl.Tensor[[8, 64], pl.INT32]]):
    with pl.at(level=CORE):
        x[0, 0] = 1.5
#                 ^^^ dtype-mismatch: a float does not fit int32


@pl.jit
def assign_tensor(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], w: pl.Tensor[[B, 64], pl.FP32]):
    with pl.at(level=CORE):
        x[:, :] = w
#                 ^ operand-kind: the assigned value must be a tile, got a tensor of rank 2 of fp32


@pl.jit
def store_run_time_width(x: pl.InOut[pl.Tensor[[B, 8, N], pl.FP32]]):
    with pl.at(level=CORE):
        x[:, 0:8, 0:8] = pl.full([8, 8], dtype=pl.FP32, value=0.0)
#         ^ dynamic-shape: axis 0 of x has a run-time size


@pl.jit
def workspace_layout(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    w = pl.create_tensor([8, 64], dtype=pl.FP32, layout=pl.TensorLayout.NZ)
#                                                       ^^^^^^^^^^^^^^^^^^ unsupported: pl.create_tensor(layout=


@pl.jit
def ok_clipped(x: pl.Tensor[[13, 64], pl.FP32], y: pl.Out[pl.Tensor[[13, 64], pl.FP32]]):
    for i in pl.parallel(0, 13, 8):
        with pl.at(level=CORE):
            y[i : i + 8, :] = x[i : i + 8, :]
