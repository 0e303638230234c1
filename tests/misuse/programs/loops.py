# ruff: noqa
# fmt: off
"""Loops, regions, scopes."""
import pyto.language as pl

B = pl.dynamic("B")
CORE = pl.Level.CORE_GROUP


@pl.jit
def carried_dtype(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        acc = pl.full([8, 1], dtype=pl.FP32, value=0.0)
        for i in pl.range(4):
#       ^^^^^^^^^^^^^^^^^^^^^ loop-carried: acc is a tile [8, 1] of fp32 before the loop and a tile [8, 1] of bf16 after an iteration
            acc = pl.cast(acc + 1.0, pl.BF16)
        x[:, 0:1] = acc


@pl.jit
def carried_shape(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        acc = x[:, 0:32]
        for i in pl.range(4):
#       ^^^^^^^^^^^^^^^^^^^^^ loop-carried: acc is a tile [8, 32] of fp32 before the loop and a tile [8, 8] of fp32 after an iteration
            acc = acc[:, 0:8]
        x[:, 0:32] = acc


@pl.jit
def carried_int_float(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        s = 0
        for i in pl.range(4):
#       ^^^^^^^^^^^^^^^^^^^^^ loop-carried: s is an integer before the loop and a scalar of fp32 after an iteration
            s = s + 0.5
        x[:, :] = x[:, :] * s


@pl.jit
def carried_parallel(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    s = 0
    for i in pl.parallel(4):
#   ^^^^^^^^^^^^^^^^^^^^^^^^ parallel-carry: s is handed from one iteration of pl.parallel to the next
        s = s + i
        with pl.at(level=CORE):
            x[i : i + 1, :] += s


@pl.jit
def carried_spmd(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    s = 0
    for i in pl.spmd(4):
#   ^^^^^^^^^^^^^^^^^^^^ parallel-carry: s is handed from one iteration of pl.spmd to the next
        s = s + i
        x[i : i + 1, :] += s


@pl.jit
def carried_other_kind(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, :]
        for i in pl.range(4):
#       ^^^^^^^^^^^^^^^^^^^^^ loop-carried: t is a tile [8, 64] of fp32 before the loop and an integer after an iteration
            x[:, :] = t + 1.0
            t = i


@pl.jit
def carried_tensor(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], y: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x
        for i in pl.range(4):
#       ^^^^^^^^^^^^^^^^^^^^^ loop-carried: t names another tensor after the loop than before
            t[:, :] += 1.0
            t = y


@pl.jit
def used_after_loop(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.range(4):
            t = x[:, :] + 1.0
        x[:, :] = t
#                 ^ undefined-name: t is assigned only in the loop at line
#   help: assign it before the loop as well


@pl.jit
def index_after_loop(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.range(4):
            x[i : i + 1, :] += 1.0
        x[i : i + 1, :] += 1.0
#         ^ undefined-name: i is the index of the loop at line


@pl.jit
def tile_after_region(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = pl.set_validshape(x[:, :], 8, 7)
    with pl.at(level=CORE):
        x[:, :] = t
#                 ^ undefined-name: t is a tile of the region at line
#   help: store it to a tensor


@pl.jit
def scalar_after_region(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], n: pl.Tensor[[8], pl.INT32]):
    with pl.at(level=CORE):
        k = pl.read(n, [0]) + 1
    for i in pl.parallel(k):
#                        ^ undefined-name: k is a value of the region at line
        pass


@pl.jit
def used_before_assignment(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.range(4):
            x[:, :] = acc
#                     ^^^ undefined-name: 'acc' is not defined
            acc = x[:, :]


@pl.jit
def nested_regions(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        with pl.at(level=CORE):
#            ^^^^^^^^^^^^^^^^^ nested-region: a region inside the region of line
            x[:, :] += 1.0


@pl.jit
def spmd_in_region(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.spmd(4):
#                ^^^^^^^^^^ nested-region: pl.spmd inside the region of line
            x[:, :] += 1.0


@pl.jit
def host_carries(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    n = 0
    for i in pl.range(4):
#   ^^^^^^^^^^^^^^^^^^^^^ host-loop: n is handed from one iteration of a loop of host code to the next
#   help: compute it from the index
        with pl.at(level=CORE):
            x[:, :] += n
        n = n + i


@pl.jit
def host_bounds_of_a_point(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    for i in pl.parallel(4):
        for k in pl.range(i):
#       ^^^^^^^^^^^^^^^^^^^^^ host-loop: the bounds of this loop depend on the index of the pl.parallel around it
#   help: put the loop into the region
            with pl.at(level=CORE):
                x[i : i + 1, :] += 1.0


@pl.jit
def endless(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        while True:
#             ^^^^ endless: this loop never ends
            x[:, :] += 1.0


@pl.jit
def endless_for_sure(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.range(4):
            while i < 8:
#                 ^^^^^ endless: the condition of this loop holds for ever
                x[:, :] += 1.0


@pl.jit
def workspace_of_a_scalar(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    w = pl.create_tensor([n, 64], dtype=pl.FP32)
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ dynamic-workspace: the size of a workspace must follow from the dims
#   help: as large as it can become
    with pl.at(level=CORE):
        w[0:8, :] = x[:, :]
        x[:, :] = w[0:8, :]


@pl.jit
def one_branch_only(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    with pl.at(level=CORE):
        if n > 2:
            t = x[:, :]
        x[:, :] = t
#                 ^ undefined-name: t is assigned in one branch only of the if at line
#   help: assign it before the if


@pl.jit
def branches_disagree(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    with pl.at(level=CORE):
        if n > 2:
            t = x[0:8, :]
        else:
            t = x[0:4, :]
        x[:, :] = t
#                 ^ undefined-name: t is a tile [8, 64] of fp32 in one branch and a tile [4, 64] of fp32 in the other
#   help: use two names


@pl.jit
def while_on_the_host(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    while n > 0:
#         ^^^^^ host-loop: `while` outside a region is not part of the language
        with pl.at(level=CORE):
            x[:, :] += 1.0


@pl.jit
def breaks_out(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    with pl.at(level=CORE):
        for i in pl.range(8):
            if i == n:
                break
#               ^^^^^ unsupported-python: break is not part of the language
            x[i : i + 1, :] += 1.0


@pl.jit
def step_of_zero(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.range(0, 8, 0):
#                               ^ bad-argument: the step of a loop must not be 0
            x[:, :] += 1.0


@pl.jit
def run_time_step(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    with pl.at(level=CORE):
        for i in pl.range(0, 8, n):
#                               ^ not-constant: the step of a loop must be a compile-time integer
            x[:, :] += 1.0


@pl.jit
def float_bound(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.range(8 / 2):
#                         ^^^^^ operand-kind: a loop bound must be an integer, got 4.0
#   help: use // instead of /
            x[:, :] += 1.0


@pl.jit
def no_bounds(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.range():
#                ^^^^^^^^^^ bad-argument: pl.range takes (stop), (start, stop) or (start, stop, step), got 0 arguments
            x[:, :] += 1.0


@pl.jit
def no_stage(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.pipeline(4, stage=0):
#                                     ^ bad-argument: stage must be at least 1, got 0
            x[i : i + 1, :] += 1.0


@pl.jit
def run_time_unroll(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    with pl.at(level=CORE):
        for i in pl.unroll(n):
#                ^^^^^^^^^^^^ not-constant: a bound of pl.unroll must be a compile-time integer
            x[:, :] += 1.0


@pl.jit
def long_unroll(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.unroll(100000):
#                ^^^^^^^^^^^^^^^^^ too-long: pl.unroll writes out 100000 iterations
            x[:, :] += 1.0


@pl.jit
def two_targets(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for i, j in pl.range(4):
#           ^^^^ bad-target: the index of a loop needs a plain name
            x[:, :] += 1.0


@pl.jit
def init_values_count(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, :]
        for i, (a, b) in pl.range(4, init_values=(t,)):
#              ^^^^^^ unpack: 1 init_values for 2 names
            a = a + 1.0
        x[:, :] = a


@pl.jit
def yield_count(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, :]
        for i, (a,) in pl.range(4, init_values=(t,)):
            b, c = pl.yield_(a, a)
#                  ^^^^^^^^^^^^^^^ unpack: pl.yield_ of 2 values in a loop with 1 init_values
        x[:, :] = b


@pl.jit
def block_idx_outside(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        i = pl.get_block_idx()
#           ^^^^^^^^^^^^^^^^^^ outside-spmd: pl.get_block_idx() is the index of a pl.spmd
        x[:, :] += 1.0


@pl.jit
def name_hint_kind(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE, name_hint=3):
#                                    ^ operand-kind: name_hint must be a string, got 3
        x[:, :] += 1.0


@pl.jit
def valid_shape_in_loop(x: pl.InOut[pl.Tensor[[8, B], pl.FP32]]):
    with pl.at(level=CORE):
        acc = pl.full([8, 64], dtype=pl.FP32, value=0.0)
        for i in pl.range(0, B, 64):
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop-carried: the valid shape of acc changes between iterations: it depends on i
            acc = acc + x[:, i : i + 64]
        x[:, 0:64] = acc
