"""Products in every form; `test_matmul.py` says what they compute."""

import pyto.language as pl

M, N, K = pl.dynamic("M"), pl.dynamic("N"), pl.dynamic("K")
CORE = pl.Level.CORE_GROUP


def make_forms(dtype, out):
    """The four ways round of the operands, in tiles of 48 x 64 and steps of 64."""

    @pl.jit.inline
    def product(lhs: pl.Tensor, rhs: pl.Tensor, c: pl.Tensor, a_trans, b_trans):
        for i in pl.parallel(0, M, 48):
            for j in pl.parallel(0, N, 64):
                with pl.at(CORE):
                    acc = pl.full([48, 64], out, 0)
                    for k in pl.pipeline(0, K, 64, stage=2):
                        x = lhs[k : k + 64, i : i + 48] if a_trans else lhs[i : i + 48, k : k + 64]
                        y = rhs[j : j + 64, k : k + 64] if b_trans else rhs[k : k + 64, j : j + 64]
                        acc = pl.matmul_acc(acc, x, y, a_trans=a_trans, b_trans=b_trans)
                    c[i : i + 48, j : j + 64] = acc

    @pl.jit
    def forms(
        a: pl.Tensor[[M, K], dtype],
        at: pl.Tensor[[K, M], dtype],
        b: pl.Tensor[[K, N], dtype],
        bt: pl.Tensor[[N, K], dtype],
        nn: pl.Out[pl.Tensor[[M, N], out]],
        nt: pl.Out[pl.Tensor[[M, N], out]],
        tn: pl.Out[pl.Tensor[[M, N], out]],
        tt: pl.Out[pl.Tensor[[M, N], out]],
    ):
        product(a, b, nn, False, False)
        product(a, bt, nt, False, True)
        product(at, b, tn, True, False)
        product(at, bt, tt, True, True)

    return forms


FORMS = {
    "bf16": make_forms(pl.BF16, pl.FP32),
    "fp16": make_forms(pl.FP16, pl.FP32),
    "fp32": make_forms(pl.FP32, pl.FP32),
    "int8": make_forms(pl.INT8, pl.INT32),
}


@pl.jit
def two_loops(
    a: pl.Tensor[[4, M, 64], pl.BF16], b: pl.Tensor[[4, 64, N], pl.BF16], c: pl.Out[pl.Tensor[[M, N], pl.FP32]]
):
    """An accumulator through two loops."""
    for i in pl.parallel(0, M, 32):
        for j in pl.parallel(0, N, 64):
            with pl.at(CORE):
                acc = pl.full([32, 64], pl.FP32, 0.0)
                for h in pl.range(0, 4):
                    for k in pl.pipeline(0, 64, 32, stage=2):
                        acc = pl.matmul_acc(acc, a[h, i : i + 32, k : k + 32], b[h, k : k + 32, j : j + 64])
                c[i : i + 32, j : j + 64] = acc


@pl.jit
def runtime_depth(
    a: pl.Tensor[[M, K], pl.BF16],
    b: pl.Tensor[[K, 48], pl.BF16],
    depth: pl.Scalar[pl.INT32],
    c: pl.Out[pl.Tensor[[M, 48], pl.FP32]],
):
    """Only the first `depth` of K, which may be none."""
    with pl.at(CORE):
        acc = pl.full([32, 48], pl.FP32, 0.0)
        for k in pl.range(0, depth, 16):
            acc = pl.matmul_acc(acc, a[0:32, k : k + 16], b[k : k + 16, :])
        c[0:32, :] = acc


@pl.jit
def runtime_valid_depth(
    a: pl.Tensor[[M, 64], pl.BF16],
    b: pl.Tensor[[64, 48], pl.BF16],
    depth: pl.Scalar[pl.INT32],
    c: pl.Out[pl.Tensor[[M, 48], pl.FP32]],
):
    with pl.at(CORE):
        x = pl.set_validshape(a[0:32, :], 32, depth)
        c[0:32, :] = pl.matmul(x, b[:, :])


@pl.jit
def column_windows(
    a: pl.Tensor[[M, K], pl.BF16], b: pl.Tensor[[K, 64], pl.BF16], c: pl.Out[pl.Tensor[[M, 128], pl.FP32]]
):
    """R26: the right half is added to, the left half stays."""
    for i in pl.parallel(0, M, 32):
        with pl.at(CORE):
            acc = pl.full([32, 128], pl.FP32, 2.5)
            for k in pl.pipeline(0, K, 64, stage=2):
                acc[:, 64:128] = pl.matmul_acc(acc[:, 64:128], a[i : i + 32, k : k + 64], b[k : k + 64, :])
            c[i : i + 32, :] = acc


@pl.jit
def two_halves(
    a: pl.Tensor[[M, 64], pl.INT8], b: pl.Tensor[[64, 64], pl.INT8], c: pl.Out[pl.Tensor[[M, 64], pl.INT32]]
):
    """Each half of an accumulator starts as a product of its own; then both are added to."""
    for i in pl.parallel(0, M, 16):
        with pl.at(CORE):
            acc = pl.create_tensor([16, 64], dtype=pl.INT32)
            acc[:, 0:32] = pl.matmul(a[i : i + 16, :], b[:, 0:32])
            acc[:, 32:64] = pl.matmul(a[i : i + 16, :], b[:, 32:64])
            acc = pl.matmul_acc(acc, a[i : i + 16, :], b[:, :], b_trans=True)
            c[i : i + 16, :] = acc


@pl.jit
def row_windows(
    a: pl.Tensor[[64, K], pl.FP16], b: pl.Tensor[[K, 80], pl.FP16], c: pl.Out[pl.Tensor[[64, 80], pl.FP16]]
):
    """Rows of one accumulator, two Mmads high."""
    with pl.at(CORE):
        acc = pl.full([64, 80], pl.FP32, 0.0)
        for k in pl.range(0, K, 32):
            for r in pl.unroll(0, 64, 32):
                acc[r : r + 32, :] = pl.matmul_acc(acc[r : r + 32, :], a[r : r + 32, k : k + 32], b[k : k + 32, :])
        c[:, :] = pl.cast(acc, pl.FP16)


@pl.jit
def twice_the_same(
    a: pl.Tensor[[M, 64], pl.BF16], b: pl.Tensor[[64, 32], pl.BF16], d: pl.Tensor[[64, 32], pl.BF16],
    c: pl.Out[pl.Tensor[[M, 32], pl.FP32]], e: pl.Out[pl.Tensor[[M, 32], pl.FP32]],
):  # fmt: skip
    """Two products that start from one `full`, and one accumulator that two products add to."""
    for i in pl.parallel(0, M, 16):
        with pl.at(CORE):
            one = pl.full([16, 32], pl.FP32, 1.0)
            x = a[i : i + 16, :]
            u = pl.matmul_acc(one, x, b[:, :])
            v = pl.matmul_acc(one, x, d[:, :])
            v = pl.matmul_acc(v, x, b[:, :])
            c[i : i + 16, :] = u
            e[i : i + 16, :] = v


@pl.jit
def larger_than_l0c(
    a: pl.Tensor[[256, 128], pl.FP32], b: pl.Tensor[[128, 300], pl.FP32], c: pl.Out[pl.Tensor[[M, 300], pl.FP32]]
):
    with pl.at(CORE):
        c[0:256, :] = pl.matmul(a[:, :], b[:, :])


@pl.jit
def tall(a: pl.Tensor[[M, 32], pl.FP16], b: pl.Tensor[[32, 16], pl.FP16], c: pl.Out[pl.Tensor[[M, 16], pl.FP16]]):
    """More rows than one Mmad takes from L0A."""
    with pl.at(CORE):
        c[0:2048, :] = pl.cast(pl.matmul(a[0:2048, :], b[:, :]), pl.FP16)


@pl.jit
def sliced_operand(
    a: pl.Tensor[[M, 256], pl.BF16], b: pl.Tensor[[256, 48], pl.BF16], c: pl.Out[pl.Tensor[[M, 48], pl.FP32]]
):
    """The lhs is loaded once, and its parts multiplied."""
    for i in pl.parallel(0, M, 32):
        with pl.at(CORE):
            x = a[i : i + 32, :]
            acc = pl.full([32, 48], pl.FP32, 0.0)
            for k in pl.pipeline(0, 256, 64, stage=2):
                acc = pl.matmul_acc(acc, x[:, k : k + 64], b[k : k + 64, :])
            c[i : i + 32, :] = acc


@pl.jit
def rows_by_condition(
    a: pl.Tensor[[64, K], pl.BF16], b: pl.Tensor[[K, 80], pl.BF16], c: pl.Out[pl.Tensor[[64, 80], pl.FP32]]
):
    """Rows of an undefined accumulator that start in the first step."""
    with pl.at(CORE):
        acc = pl.create_tensor([64, 80], dtype=pl.FP32)
        for k in pl.pipeline(0, K, 32, stage=2):
            for r in pl.range(0, 64, 16):
                part = pl.matmul_acc(
                    acc[r : r + 16, :], a[r : r + 16, k : k + 32], b[k : k + 32, :], init_cond=(k == 0)
                )
                acc[r : r + 16, :] = part
        c[:, :] = acc


@pl.jit
def vectors(
    x: pl.Tensor[[1, 128], pl.FP16], w: pl.Tensor[[128, N], pl.FP16], bias: pl.Tensor[[1, N], pl.FP32],
    y: pl.Out[pl.Tensor[[1, N], pl.FP32]], z: pl.Out[pl.Tensor[[1, N], pl.FP32]],
):  # fmt: skip
    for j in pl.parallel(0, N, 64):
        with pl.at(CORE):
            acc = pl.gemv(x[:, 0:64], w[0:64, j : j + 64])
            y[:, j : j + 64] = pl.gemv_acc(acc, x[:, 64:128], w[64:128, j : j + 64], acc_phase="final")
            z[:, j : j + 64] = pl.gemv_bias(x[:, :], w[:, j : j + 64], bias[:, j : j + 64])


@pl.jit
def bias_of_int8(
    a: pl.Tensor[[M, 64], pl.INT8], b: pl.Tensor[[64, 48], pl.INT8], bias: pl.Tensor[[1, 48], pl.INT32],
    c: pl.Out[pl.Tensor[[M, 48], pl.INT32]],
):  # fmt: skip
    for i in pl.parallel(0, M, 32):
        with pl.at(CORE):
            c[i : i + 32, :] = pl.matmul_bias(a[i : i + 32, :], b[:, :], bias[:, :])


@pl.jit
def valid_rows_int8(
    a: pl.Tensor[[64, 64], pl.INT8], b: pl.Tensor[[64, 512], pl.INT8], r: pl.Scalar[pl.INT32],
    c: pl.InOut[pl.Tensor[[64, 512], pl.INT32]],
):  # fmt: skip
    with pl.at(CORE):
        for j in pl.range(0, 512, 128):
            product = pl.matmul(a[:, :], b[:, j : j + 128])
            c[:, j : j + 128] = pl.set_validshape(product, r, 128)


@pl.jit
def valid_rows_bf16(
    a: pl.Tensor[[64, 64], pl.BF16], b: pl.Tensor[[64, 512], pl.BF16], r: pl.Scalar[pl.INT32],
    c: pl.InOut[pl.Tensor[[64, 512], pl.FP32]],
):  # fmt: skip
    with pl.at(CORE):
        x = pl.set_validshape(a[:, :], r, 64)
        c[:, :] = pl.matmul(x, b[:, :])


@pl.jit
def fp32_sums(
    x: pl.Tensor[[1, 4096], pl.BF16], w: pl.Tensor[[4096, 16], pl.BF16], y: pl.Out[pl.Tensor[[1, 16], pl.FP32]]
):
    with pl.at(CORE):
        acc = pl.full([1, 16], pl.FP32, 0.0)
        for k in pl.pipeline(0, 4096, 512, stage=2):
            acc = pl.matmul_acc(acc, x[:, k : k + 512], w[k : k + 512, :])
        y[:, :] = acc


@pl.jit
def output_first(c: pl.Out[pl.Tensor[[M, 32], pl.FP32]], a: pl.Tensor[[M, K], pl.BF16], b: pl.Tensor[[K, 32], pl.BF16]):
    for i in pl.parallel(0, M, 16):
        with pl.at(CORE):
            acc = pl.full([16, 32], pl.FP32, 0.0)
            for k in pl.range(0, K, 32):
                acc = pl.matmul_acc(acc, a[i : i + 16, k : k + 32], b[k : k + 32, :])
            c[i : i + 16, :] = acc


@pl.jit
def residual(
    a: pl.Tensor[[64, 256], pl.BF16], b: pl.Tensor[[256, 128], pl.BF16], r: pl.Tensor[[64, 128], pl.BF16],
    c: pl.Out[pl.Tensor[[64, 128], pl.BF16]],
):  # fmt: skip
    with pl.at(CORE):
        acc = pl.matmul(a[:, 0:64], b[0:64, :])
        for k in pl.pipeline(64, 256, 64, stage=2):
            acc = pl.matmul_acc(acc, a[:, k : k + 64], b[k : k + 64, :])
        c[:, :] = pl.cast(pl.add(acc, pl.cast(r[:, :], pl.FP32)), pl.BF16)


@pl.jit
def narrow_int8_window(
    a: pl.Tensor[[16, 64], pl.INT8], b: pl.Tensor[[64, 64], pl.INT8], c: pl.Out[pl.Tensor[[16, 64], pl.INT32]]
):
    with pl.at(CORE):
        acc = pl.full([16, 64], pl.INT32, 0)
        acc[:, 16:32] = pl.matmul_acc(acc[:, 16:32], a[:, :], b[:, 16:32])
        c[:, :] = acc


@pl.jit
def uneven_rows(
    a: pl.Tensor[[64, 64], pl.BF16], b: pl.Tensor[[64, 64], pl.BF16], c: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
):
    with pl.at(CORE):
        acc = pl.full([64, 64], pl.FP32, 0.0)
        acc[0:16, :] = pl.matmul_acc(acc[0:16, :], a[0:16, :], b[:, :])
        acc[32:64, :] = pl.matmul_acc(acc[32:64, :], a[32:64, :], b[:, :])
        c[:, :] = acc


@pl.jit
def too_large_for_l1(
    a: pl.Tensor[[512, 2048], pl.BF16], b: pl.Tensor[[2048, 64], pl.BF16], c: pl.Out[pl.Tensor[[512, 64], pl.FP32]]
):
    with pl.at(CORE):
        c[:, :] = pl.matmul(a[:, :], b[:, :])


@pl.jit
def too_large_to_carry(
    a: pl.Tensor[[256, 64], pl.BF16], b: pl.Tensor[[64, 256], pl.BF16], c: pl.Out[pl.Tensor[[256, 256], pl.FP32]]
):
    with pl.at(CORE):
        acc = pl.full([256, 256], pl.FP32, 0.0)
        for k in pl.range(0, 64, 32):
            acc = pl.matmul_acc(acc, a[:, k : k + 32], b[k : k + 32, :])
        c[:, :] = acc
