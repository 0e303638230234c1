"""Small kernels whose control flow is decided at run time."""

import pyto.language as pl

N = pl.dynamic("N")
CORE = pl.Level.CORE_GROUP
Rows = pl.Tensor[[N, 64], pl.FP32]


@pl.jit
def both_branches(x: pl.Tensor[[32, 64], pl.FP32], flag: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    with pl.at(level=CORE):
        t = x[:, :]
        if flag > 0:
            doubled = t * 2.0
            v = doubled + 1.0
        else:
            v = t - 1.0
        y[:, :] = v


@pl.jit
def one_branch_stores(
    x: pl.Tensor[[32, 64], pl.FP32],
    flag: pl.Scalar[pl.BOOL],
    z: pl.InOut[pl.Tensor[[32, 64], pl.FP32]],
    y: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
):
    with pl.at(level=CORE):
        if flag:
            z[:, :] = x[:, :] + 1.0
        y[:, :] = z[:, :] * 2.0


@pl.jit
def adds_in_place(x: Rows, every: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    with pl.at(level=CORE):
        acc = pl.full([1, 64], dtype=pl.FP32, value=0.5)
        for i in pl.pipeline(N, stage=3):
            row = x[i : i + 1, :]
            if i % every == 0:
                acc = acc + row
        y[:, :] = acc


@pl.jit
def loads_in_branches(x: Rows, z: Rows, pick: pl.Tensor[[N], pl.INT32], y: pl.Out[Rows]):
    with pl.at(level=CORE):
        for i in pl.pipeline(N, stage=2):
            if pl.read(pick, [i]) != 0:
                t = x[i : i + 1, :]
            else:
                t = z[i : i + 1, :] * 3.0
            y[i : i + 1, :] = t + 1.0


@pl.jit
def other_rows(x: Rows, few: pl.Scalar[pl.INT32], y: pl.InOut[Rows]):
    with pl.at(level=CORE):
        t = x[0:16, :]
        if few != 0:
            t = pl.set_validshape(t, few, 40)
        y[0:16, :] = t + 1.0


@pl.jit
def chosen_offset(x: Rows, at: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    with pl.at(level=CORE):
        start = 0
        if at >= N:
            start = N - 1
        elif at > 0:
            start = at
        y[:, :] = x[start : start + 1, :]


@pl.jit
def counts_up(x: Rows, y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    with pl.at(level=CORE):
        acc = pl.full([1, 64], dtype=pl.FP32, value=0.0)
        n = 0
        step = 1
        while n < N:
            acc = acc + x[n : n + 1, :]
            n, step = n + step, n
            step = pl.max(step, 1)
        y[:, :] = acc + n


@pl.jit
def follows_links(links: pl.Tensor[[N], pl.INT32], x: Rows, y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    with pl.at(level=CORE):
        acc = pl.full([1, 64], dtype=pl.FP32, value=0.0)
        at = pl.read(links, [0])
        hops = 0
        while at >= 0 and hops < N:
            acc = acc + x[at : at + 1, :]
            at = pl.read(links, [at])
            hops += 1
        y[:, :] = acc * 2.0


@pl.jit
def descends(x: Rows, y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    with pl.at(level=CORE):
        acc = pl.full([1, 64], dtype=pl.FP32, value=0.0)
        count = 0
        for i in pl.range(N - 1, -1, -2):
            if i % 3 == 1:
                continue
            acc = acc * 0.5 + x[i : i + 1, :]
            count += 1
        y[:, :] = acc + count


@pl.jit
def skips_deeper(x: Rows, y: pl.InOut[Rows]):
    with pl.at(level=CORE):
        for i in pl.pipeline(N, stage=2):
            t = x[i : i + 1, :]
            if i % 2 == 0:
                if i % 4 == 0:
                    continue
                t = t * 2.0
            for k in pl.range(3):
                if k == i % 3:
                    continue
                t = t + k
            y[i : i + 1, :] = t


@pl.jit
def hosted(x: Rows, y: pl.InOut[Rows]):
    for step in pl.range(3):
        if N > 8:
            for b in pl.parallel(0, N, 8):
                w = pl.create_tensor([8, 64], dtype=pl.FP32)
                with pl.at(level=CORE):
                    w[:, :] = x[b : b + 8, :] * 2.0
                if b < 16:
                    with pl.at(level=CORE):
                        y[b : b + 8, :] = y[b : b + 8, :] + w[:, :] + step
        else:
            with pl.at(level=CORE):
                y[0:8, :] = x[0:8, :]


@pl.jit
def halves_of_a_grid(x: Rows, y: pl.Out[Rows]):
    for b in pl.parallel(0, N, 4):
        with pl.at(level=CORE):
            t = x[b : b + 4, :]
            if b * 2 < N:
                t = t * 2.0
            else:
                t = t + 1.0
            y[b : b + 4, :] = t


@pl.jit
def product_in_a_branch(
    a: pl.Tensor[[N, 64], pl.BF16],
    b: pl.Tensor[[64, 64], pl.BF16],
    c: pl.Tensor[[64, 64], pl.BF16],
    twice: pl.Scalar[pl.INT32],
    y: pl.Out[pl.Tensor[[N, 64], pl.FP32]],
):
    with pl.at(level=CORE):
        acc = pl.matmul(a[0:16, :], b[:, :])
        if twice > 0:
            acc = pl.matmul_acc(acc, a[0:16, :], c[:, :])
        y[0:16, :] = acc


@pl.jit
def maybe_no_turn(x: Rows, n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    with pl.at(level=CORE):
        first = x[0:1, :]
        acc = first * 2.0
        for i in pl.range(n):
            acc = acc + x[i + 1 : i + 2, :]
        y[:, :] = acc + first


@pl.jit
def nested_branches(x: Rows, p: pl.Scalar[pl.INT32], q: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    with pl.at(level=CORE):
        a = x[0:1, :]
        b = x[1:2, :]
        if p > 0:
            a = a + b
            if q > 0:
                a, b = b, a
            else:
                b = b * 3.0
            scale = 2.0
        elif q > 5:
            b = b - a
            scale = 1
        else:
            scale = p * 0.5
        y[:, :] = a * scale - b


@pl.jit
def float_scalars(x: Rows, eps: pl.Scalar[pl.FP32], y: pl.Out[Rows]):
    with pl.at(level=CORE):
        scale = 1.0
        for i in pl.range(N):
            scale = pl.min(scale * 1.5, 4.25) - eps
            y[i : i + 1, :] = x[i : i + 1, :] * scale


@pl.jit
def block_of_the_matrix(x: pl.Tensor[[N, 64], pl.FP32], y: pl.InOut[pl.Tensor[[N, 64], pl.FP32]]):
    for i in pl.parallel(0, N, 8):
        for j in pl.parallel(0, 64, 16):
            if i != j:
                with pl.at(level=CORE):
                    y[i : i + 8, j : j + 16] = x[i : i + 8, j : j + 16] + 1.0


@pl.jit
def halves_until_small(x: Rows, limit: pl.Scalar[pl.FP32], y: pl.InOut[Rows]):
    for b in pl.parallel(0, N, 1):
        with pl.at(level=CORE):
            row = x[b : b + 1, :]
            turns = 0
            while pl.read(row, [0, 0]) > limit:  # read before the condition, written behind it
                row = row * 0.5
                turns += 1
            y[b : b + 1, :] = row + turns


@pl.jit
def counts_down(c: pl.InOut[pl.Tensor[[8], pl.INT32]], y: pl.InOut[Rows]):
    with pl.at(level=CORE):
        a, b, step = 0, 1, 64
        while pl.read(c, [0]) > 0:  # both read and written by every iteration
            pl.write(c, [0], pl.read(c, [0]) - 1)
            y[0:1, :] = y[0:1, :] + 1.0
            a, b = b, a + b
            step = step + a
        y[1:2, :] = y[1:2, :] + a + step
