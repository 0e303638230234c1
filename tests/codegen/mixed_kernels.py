"""Small regions with cube and vector work, one subject each; `mixed_cases.py` says what they compute."""

import pyto.language as pl

M, N, K = pl.dynamic("M"), pl.dynamic("N"), pl.dynamic("K")
CORE = pl.Level.CORE_GROUP


@pl.jit
def product_plus(
    a: pl.Tensor[[64, 128], pl.BF16],
    b: pl.Tensor[[96, 128], pl.BF16],
    r: pl.Tensor[[64, 96], pl.FP32],
    c: pl.Out[pl.Tensor[[64, 96], pl.FP32]],
):
    with pl.at(level=CORE, optimizations=[pl.split(pl.SplitMode.UP_DOWN)], name_hint="mixed"):
        c[:, :] = pl.matmul(a[:, :], b[:, :], b_trans=True) + r[:, :]


@pl.jit
def gemm_residual(
    a: pl.Tensor[[M, K], pl.BF16],
    b: pl.Tensor[[N, K], pl.BF16],
    r: pl.Tensor[[M, N], pl.BF16],
    c: pl.Out[pl.Tensor[[M, N], pl.BF16]],
):
    for i in pl.parallel(0, M, 64):
        for j in pl.parallel(0, N, 128):
            with pl.at(CORE):
                acc = pl.full([64, 128], pl.FP32, 0.0)
                for k in pl.pipeline(0, K, 64, stage=2):
                    acc = pl.matmul_acc(acc, a[i : i + 64, k : k + 64], b[j : j + 128, k : k + 64], b_trans=True)
                c[i : i + 64, j : j + 128] = pl.cast(acc, pl.BF16) + r[i : i + 64, j : j + 128]


@pl.jit
def gemm_bias_relu(
    a: pl.Tensor[[M, 128], pl.FP16],
    b: pl.Tensor[[128, N], pl.FP16],
    bias: pl.Tensor[[1, N], pl.FP32],
    c: pl.Out[pl.Tensor[[M, N], pl.FP16]],
):
    for j in pl.parallel(0, N, 64):
        with pl.at(CORE):
            for i in pl.range(0, M, 32):
                product = pl.matmul(a[i : i + 32, :], b[:, j : j + 64])
                c[i : i + 32, j : j + 64] = pl.cast(pl.relu(pl.col_expand_add(product, bias[:, j : j + 64])), pl.FP16)


@pl.jit
def int8_dequantised(
    a: pl.Tensor[[M, 64], pl.INT8],
    b: pl.Tensor[[N, 64], pl.INT8],
    s: pl.Tensor[[1, N], pl.FP32],
    c: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    for i in pl.parallel(0, M, 16):
        for j in pl.parallel(0, N, 32):
            with pl.at(CORE):
                product = pl.matmul(a[i : i + 16, :], b[j : j + 32, :], b_trans=True)
                c[i : i + 16, j : j + 32] = pl.col_expand_mul(pl.cast(product, pl.FP32), s[:, j : j + 32])


@pl.jit
def there_and_back(
    a: pl.Tensor[[M, 64], pl.FP32],
    b: pl.Tensor[[96, 64], pl.BF16],
    d: pl.Tensor[[64, 96], pl.BF16],
    c: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
):
    for i in pl.parallel(0, M, 32):
        with pl.at(CORE):
            s = pl.matmul(pl.cast(a[i : i + 32, :], pl.BF16), b[:, :], b_trans=True)
            p = pl.cast(pl.exp(s), pl.BF16)
            c[i : i + 32, :] = pl.matmul(p, d[:, :], b_trans=True) * 2.0


@pl.jit
def products_in_a_row(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[64, 64], pl.BF16],
    d: pl.Tensor[[64, 64], pl.BF16],
    c: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
):
    for i in pl.parallel(0, M, 32):
        with pl.at(CORE):
            x = pl.cast(pl.matmul(a[i : i + 32, :], b[:, :], b_trans=True), pl.BF16)
            c[i : i + 32, :] = pl.matmul(x, d[:, :], b_trans=True)


@pl.jit
def attention(
    q: pl.Tensor[[M, 64], pl.BF16],
    k: pl.Tensor[[N, 64], pl.BF16],
    v: pl.Tensor[[N, 64], pl.BF16],
    o: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
):
    for i in pl.parallel(0, M, 32):
        with pl.at(CORE):
            query = q[i : i + 32, :]
            top = pl.full([32, 1], pl.FP32, -1e30)
            total = pl.full([32, 1], pl.FP32, 0.0)
            out = pl.full([32, 64], pl.FP32, 0.0)
            for j in pl.range(0, N, 48):
                s = pl.matmul(query, k[j : j + 48, :], b_trans=True) * 0.125
                new = pl.maximum(top, pl.row_max(s))
                scale = pl.exp(top - new)
                p = pl.exp(pl.row_expand_sub(s, new))
                total = total * scale + pl.row_sum(p)
                out = pl.row_expand_mul(out, scale) + pl.matmul(pl.cast(p, pl.BF16), v[j : j + 48, :])
                top = new
            o[i : i + 32, :] = pl.row_expand_div(out, total)


@pl.jit
def nested_exchange(
    a: pl.Tensor[[M, 64], pl.FP32], b: pl.Tensor[[64, 64], pl.BF16], c: pl.Out[pl.Tensor[[M, 64], pl.FP32]]
):
    with pl.at(CORE):
        for i in pl.range(0, M, 16):
            x = a[i : i + 16, :]
            for _ in pl.range(0, 3):
                x = x + pl.matmul(pl.cast(x, pl.BF16), b[:, :], b_trans=True)
            c[i : i + 16, :] = x


@pl.jit
def no_trips(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[64, 64], pl.BF16],
    n: pl.Scalar[pl.INT32],
    c: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
):
    for i in pl.parallel(0, M, 16):
        with pl.at(CORE):
            x = pl.full([16, 64], pl.FP32, 1.0)
            for _ in pl.range(0, n):
                x = x * 0.5 + pl.matmul(a[i : i + 16, :], b[:, :])
            c[i : i + 16, :] = x


@pl.jit
def two_products_at_once(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[64, 64], pl.BF16],
    d: pl.Tensor[[64, 64], pl.BF16],
    c: pl.Out[pl.Tensor[[M, 64], pl.BF16]],
):
    for i in pl.parallel(0, M, 16):
        with pl.at(CORE):
            x = a[i : i + 16, :]
            gate = pl.matmul(x, b[:, :], b_trans=True)
            up = pl.matmul(x, d[:, :], b_trans=True)
            c[i : i + 16, :] = pl.cast(gate / (pl.exp(-gate) + 1.0) * up, pl.BF16)


@pl.jit
def column_sums(
    a: pl.Tensor[[M, 64], pl.BF16], b: pl.Tensor[[64, 64], pl.BF16], c: pl.InOut[pl.Tensor[[1, 64], pl.FP32]]
):
    for i in pl.parallel(0, M, 16):
        with pl.at(CORE):
            product = pl.matmul(a[i : i + 16, :], b[:, :], b_trans=True)
            pl.assemble(c, pl.col_sum(product), [0, 0], atomic=pl.AtomicType.Add)


@pl.jit
def product_both_ways(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[64, 64], pl.BF16],
    c: pl.Out[pl.Tensor[[M, 64], pl.BF16]],
    e: pl.Out[pl.Tensor[[M, 1], pl.FP32]],
):
    for i in pl.parallel(0, M, 16):
        with pl.at(CORE):
            acc = pl.matmul(a[i : i + 16, 0:32], b[:, 0:32], b_trans=True)
            acc = pl.matmul_acc(acc, a[i : i + 16, 32:64], b[:, 32:64], b_trans=True)
            c[i : i + 16, :] = pl.cast(acc, pl.BF16)
            e[i : i + 16, :] = pl.row_max(acc)


@pl.jit
def through_a_tensor(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[64, 64], pl.BF16],
    c: pl.InOut[pl.Tensor[[M, 64], pl.BF16]],
    e: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
):
    with pl.at(CORE):
        for i in pl.range(0, M, 16):
            c[i : i + 16, :] = pl.cast(pl.matmul(a[i : i + 16, :], b[:, :], b_trans=True), pl.BF16)
            d = pl.cast(c[i : i + 16, :], pl.FP32) + 1.0
            c[i : i + 16, :] = pl.cast(d, pl.BF16)
            e[i : i + 16, :] = pl.matmul(c[i : i + 16, :], b[:, :], b_trans=True)


@pl.jit
def rows_from_below(
    a: pl.Tensor[[M, 64], pl.BF16], b: pl.Tensor[[64, 64], pl.BF16], c: pl.InOut[pl.Tensor[[N, 64], pl.FP32]]
):
    with pl.at(CORE):
        for i in pl.range(0, M, 16):
            c[i + 8 : i + 24, :] = c[i : i + 16, :] + pl.matmul(a[i : i + 16, :], b[:, :], b_trans=True)


@pl.jit
def residual_in_place(
    a: pl.Tensor[[M, 64], pl.BF16], b: pl.Tensor[[64, 64], pl.BF16], c: pl.InOut[pl.Tensor[[M, 64], pl.FP32]]
):
    with pl.at(CORE):
        for i in pl.range(0, M, 32):
            c[i : i + 32, :] = c[i : i + 32, :] + pl.matmul(a[i : i + 32, :], b[:, :], b_trans=True)


@pl.jit
def branches(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[64, 64], pl.BF16],
    n: pl.Scalar[pl.INT32],
    c: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
):
    for i in pl.parallel(0, M, 16):
        with pl.at(CORE):
            x = pl.cast(a[i : i + 16, :], pl.FP32)
            for k in pl.range(0, 4):
                if k < n:
                    x = x * 0.5 + pl.matmul(a[i : i + 16, :], b[:, :], b_trans=True)
                else:
                    x = pl.matmul(pl.cast(x, pl.BF16), b[:, :]) * 0.125
            c[i : i + 16, :] = x


@pl.jit
def while_products(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[64, 64], pl.BF16],
    n: pl.Scalar[pl.INT32],
    c: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
):
    for i in pl.parallel(0, M, 16):
        with pl.at(CORE):
            x = pl.full([16, 64], pl.FP32, 0.0)
            k = 1
            while k < n:
                x = x * 0.25 + pl.matmul(a[i : i + 16, :], b[:, :], b_trans=True)
                k = k * 2
            c[i : i + 16, :] = x


@pl.jit
def accumulated_in_branches(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[64, 64], pl.BF16],
    n: pl.Scalar[pl.INT32],
    c: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
):
    for i in pl.parallel(0, M, 16):
        with pl.at(CORE):
            acc = pl.full([16, 64], pl.FP32, 0.0)
            for k in pl.range(0, 64, 16):
                if k < n:
                    acc = pl.matmul_acc(acc, a[i : i + 16, k : k + 16], b[:, k : k + 16], b_trans=True)
            c[i : i + 16, :] = acc * 2.0


@pl.jit
def attention_of_four_blocks(
    q: pl.Tensor[[M, 64], pl.FP16],
    k: pl.Tensor[[200, 64], pl.FP16],
    v: pl.Tensor[[200, 64], pl.FP16],
    o: pl.Out[pl.Tensor[[M, 64], pl.FP16]],
):
    for i in pl.parallel(0, M, 16):
        with pl.at(CORE):
            top = pl.full([16, 1], pl.FP32, -1e30)
            total = pl.full([16, 1], pl.FP32, 0.0)
            out = pl.full([16, 64], pl.FP32, 0.0)
            for j in pl.pipeline(0, 200, 64, stage=2):
                s = pl.matmul(q[i : i + 16, :], k[j : j + 64, :], b_trans=True) * 0.125
                new = pl.maximum(top, pl.row_max(s))
                scale = pl.exp(top - new)
                p = pl.exp(pl.row_expand_sub(s, new))
                total = total * scale + pl.row_sum(p)
                out = pl.row_expand_mul(out, scale)
                out = pl.matmul_acc(out, pl.cast(p, pl.FP16), v[j : j + 64, :])
                top = new
            o[i : i + 16, :] = pl.cast(pl.row_expand_div(out, total), pl.FP16)


@pl.jit
def used_in_both_halves(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[N, 64], pl.BF16],
    w: pl.Tensor[[48, 48], pl.BF16],
    g: pl.Tensor[[1, N], pl.FP32],
    n: pl.Scalar[pl.INT32],
    c: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    for i in pl.parallel(0, M, 32):
        with pl.at(CORE):
            factor = 1
            for j in pl.range(n * 48, N, 48):
                gain = g[:, j : j + 48]
                s = pl.matmul(a[i : i + 32, :], b[j : j + 48, :], b_trans=True)
                p = pl.cast(pl.col_expand_mul(s, gain), pl.BF16)
                t = pl.matmul(p, w[:, :]) * (factor * 1.0)
                c[i : i + 32, j : j + 48] = pl.col_expand_add(s + t, gain)
                factor = factor * 2


@pl.jit
def scaled_by_an_element(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[64, 64], pl.BF16],
    d: pl.InOut[pl.Tensor[[M], pl.FP32]],
    c: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
):
    for i in pl.parallel(0, M, 16):
        with pl.at(CORE):
            s = pl.matmul(a[i : i + 16, :], b[:, :], b_trans=True)
            pl.write(d, [i], 3.0)
            c[i : i + 16, :] = s * pl.read(s, [0, 0]) + pl.read(d, [i])


@pl.jit
def columns_and_masks(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[64, 64], pl.BF16],
    ids: pl.Tensor[[M, 64], pl.INT32],
    c: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
    e: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
):
    for i in pl.parallel(0, M, 32):
        with pl.at(CORE):
            s = pl.matmul(a[i : i + 32, :], b[:, :], b_trans=True)
            c[i : i + 32, :] = pl.sel(pl.cmp(s, 0.0, 4), s, s * 0.5)
            t = pl.matmul(a[i : i + 32, :], b[:, :])
            e[i : i + 32, :] = pl.gather(t, 1, ids[i : i + 32, :])


@pl.jit
def accumulators(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[64, 64], pl.BF16],
    d: pl.Tensor[[M, 64], pl.FP32],
    c: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
    e: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
):
    for i in pl.parallel(0, M, 32):
        with pl.at(CORE):
            acc = d[i : i + 32, :]
            for k in pl.pipeline(0, 64, 16, stage=2):
                acc = pl.matmul_acc(acc, a[i : i + 32, k : k + 16], b[:, k : k + 16], b_trans=True)
            c[i : i + 32, :] = acc
            out = pl.full([32, 64], pl.FP32, 0.0)
            for k in pl.range(0, 64, 32):
                for n in pl.pipeline(k, k + 32, 16, stage=2):
                    out = pl.matmul_acc(out, a[i : i + 32, n : n + 16], b[:, n : n + 16], b_trans=True)
            e[i : i + 32, :] = out


@pl.jit
def more_rings_than_flags(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[64, 64], pl.BF16],
    n: pl.Scalar[pl.INT32],
    c: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
):
    for i in pl.parallel(0, M, 16):
        with pl.at(CORE):
            s = pl.full([16, 64], pl.FP32, 0.0)
            for _ in pl.range(0, n):
                for m in pl.unroll(0, 3):
                    t = pl.matmul(a[i : i + 16, :], b[:, :], b_trans=True) * (m + 1.0)
                    s = s * 0.5 + pl.matmul(pl.cast(t, pl.BF16), b[:, :]) * 0.125
            t = pl.matmul(pl.cast(s, pl.BF16), b[:, :])
            c[i : i + 16, :] = s + t
