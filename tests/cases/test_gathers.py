"""Indices, gathers, scatters, sorts: exact, at every stage."""

import numpy as np
import pytest

import pyto.language as pl
from pyto import compiler, interpreter
from pyto.errors import CompileError, LaunchError
from tests.cases.harness import CORE, NUMPY, canary, check, sources, values

TYPES = [pl.FP32, pl.FP16, pl.BF16, pl.INT32, pl.INT16, pl.INT8, pl.UINT32, pl.UINT16, pl.UINT8]
NAMES = [d.name for d in TYPES]
M = pl.dynamic("M")


@pytest.mark.parametrize(
    "dtype", [pl.INT32, pl.INT16, pl.UINT32, pl.UINT16], ids=["int32", "int16", "uint32", "uint16"]
)
@pytest.mark.parametrize("descending", [False, True], ids=["up", "down"])
@pytest.mark.parametrize("count", [1, 5, 8, 64, 65, 130, 1000])
def test_arange(dtype, descending, count):
    @pl.jit
    def kernel(y: pl.Out[pl.Tensor[[2, count], dtype]], s: pl.Scalar[pl.INDEX]):
        with pl.at(CORE):
            y[0:1, :] = pl.arange(7, [1, count], dtype, descending)
            y[1:2, :] = pl.arange(s, [1, count], dtype, descending=descending)

    steps = np.arange(count) * (-1 if descending else 1)
    want = np.stack([7 + steps, 3 + steps]).astype(np.int64).astype(NUMPY[dtype])
    check(kernel, {"s": 3}, {"y": canary((2, count), dtype)}, {"y": want})


# -------------------------------------------------------------------------------------------------- gathers


def gathering(rows, cols, taken, dtype, index_type):
    @pl.jit
    def kernel(
        x: pl.Tensor[[M, cols], dtype],
        i: pl.Tensor[[M, taken], index_type],
        y: pl.Out[pl.Tensor[[M, taken], dtype]],
    ):
        for r in pl.parallel(0, M, rows):
            with pl.at(CORE):
                y[r : r + rows, :] = pl.gather(x[r : r + rows, :], dim=-1, index=i[r : r + rows, :])

    return kernel


@pytest.mark.parametrize("dtype", TYPES, ids=NAMES)
def test_gather_of_every_type(rng, dtype):
    for index in (pl.INT32, pl.INT16):
        x, i = values(rng, (11, 70), dtype), rng.integers(0, 70, (11, 90)).astype(NUMPY[index])
        kernel = gathering(8, 70, 90, dtype, index)
        check(kernel, {"x": x, "i": i}, {"y": canary((11, 90), dtype)}, {"y": np.take_along_axis(x, i.astype(int), 1)})


@pytest.mark.parametrize(("rows", "cols", "taken"), [(1, 8, 1), (5, 9, 1), (8, 1, 3), (4, 16, 200), (1, 3000, 2000)])
def test_gather_of_every_shape(rng, rows, cols, taken):
    x, i = values(rng, (rows, cols), pl.FP32), rng.integers(0, cols, (rows, taken)).astype(np.int32)
    kernel = gathering(rows, cols, taken, pl.FP32, pl.INT32)
    check(kernel, {"x": x, "i": i}, {"y": canary((rows, taken), pl.FP32)}, {"y": np.take_along_axis(x, i, 1)})


def test_gather_beyond_the_row(rng):
    compiled = compiler.lower(gathering(4, 16, 8, pl.FP32, pl.INT32))
    for bad in (16, -1):
        i = np.zeros((4, 8), np.int32)
        i[2, 3] = bad
        for stage in compiled.stages:
            with pytest.raises(LaunchError, match="out-of-bounds"):
                arrays = {"x": np.zeros((4, 16), np.float32), "i": i, "y": np.zeros((4, 8), np.float32)}
                interpreter.run(stage.program, arrays)


def test_gather_by_flat_index(rng):
    @pl.jit
    def kernel(x: pl.Tensor[[6, 16], pl.FP32], i: pl.Tensor[[3, 20], pl.INT32], y: pl.Out[pl.Tensor[[3, 20], pl.FP32]]):
        with pl.at(CORE):
            y[:, :] = pl.tile.gather(x[:, :], i[:, :], pl.create_tensor([3, 20], dtype=pl.INT32))

    x, i = values(rng, (6, 16), pl.FP32), rng.integers(0, 96, (3, 20)).astype(np.int32)
    check(kernel, {"x": x, "i": i}, {"y": canary((3, 20), pl.FP32)}, {"y": x.reshape(-1)[i]})


@pytest.mark.parametrize("dtype", TYPES, ids=NAMES)
@pytest.mark.parametrize("pattern", range(1, 8))
def test_gather_by_mask(rng, dtype, pattern):
    step, first = {1: (2, 0), 2: (2, 1), 3: (4, 0), 4: (4, 1), 5: (4, 2), 6: (4, 3), 7: (1, 0)}[pattern]
    cols = 64 // step

    @pl.jit
    def kernel(x: pl.Tensor[[M, 64], dtype], y: pl.Out[pl.Tensor[[M, cols], dtype]]):
        with pl.at(CORE):
            y[0:8, :] = pl.gather(x[0:8, :], mask_pattern=pattern)

    x = values(rng, (5, 64), dtype)
    check(kernel, {"x": x}, {"y": canary((5, cols), dtype)}, {"y": x[:, first::step]})


def test_gather_by_mask_of_a_part(rng):
    @pl.jit
    def kernel(x: pl.Tensor[[4, 50], pl.FP16], y: pl.InOut[pl.Tensor[[4, 25], pl.FP16]], n: pl.Scalar[pl.INDEX]):
        with pl.at(CORE):
            y[:, :] = pl.gather_mask(pl.set_validshape(x[:, :], 4, n), pl.tile.MaskPattern.P1010)

    x, y = values(rng, (4, 50), pl.FP16), canary((4, 25), pl.FP16)
    for n in (50, 49, 1, 2, 33):
        want = y.copy()
        want[:, : n // 2] = x[:, 1:n:2]
        check(kernel, {"x": x, "n": n}, {"y": y}, {"y": want})


@pytest.mark.parametrize("dtype", [pl.FP32, pl.BF16, pl.INT8], ids=["fp32", "bf16", "int8"])
def test_gather_of_blocks(rng, dtype):
    per = 32 // dtype.bytes

    @pl.jit
    def kernel(
        x: pl.Tensor[[4, 4 * per], dtype], i: pl.Tensor[[3, 8], pl.UINT32], y: pl.Out[pl.Tensor[[3, 8 * per], dtype]]
    ):
        with pl.at(CORE):
            y[:, :] = pl.gatherb(x[:, :], i[:, :])

    x, i = values(rng, (4, 4 * per), dtype), rng.integers(0, 16, (3, 8)).astype(np.uint32)
    want = x.reshape(16, per)[i].reshape(3, -1)
    check(kernel, {"x": x, "i": i * np.uint32(32)}, {"y": canary((3, 8 * per), dtype)}, {"y": want})


def test_gather_rows_of_a_table(rng):
    @pl.jit
    def kernel(
        table: pl.Tensor[[M, 48], pl.BF16], ids: pl.Tensor[[10], pl.INT32], y: pl.Out[pl.Tensor[[10, 48], pl.BF16]]
    ):
        with pl.at(CORE):
            acc = pl.create_tensor([10, 48], dtype=pl.BF16)
            for r in pl.range(10):
                acc = pl.gather_row(acc, table, [r, 0], [pl.read(ids, [r]), 0], [1, 48])
            y[:, :] = acc

    table, ids = values(rng, (30, 48), pl.BF16), rng.integers(0, 30, 10).astype(np.int32)
    check(kernel, {"table": table, "ids": ids}, {"y": canary((10, 48), pl.BF16)}, {"y": table[ids]})


# ------------------------------------------------------------------------------------------------- scatters


@pytest.mark.parametrize("dtype", TYPES, ids=NAMES)
def test_scatter_of_every_type(rng, dtype):
    @pl.jit
    def kernel(
        x: pl.Tensor[[6, 40], dtype],
        i: pl.Tensor[[6, 9], pl.INT32],
        s: pl.Tensor[[6, 9], dtype],
        y: pl.Out[pl.Tensor[[6, 40], dtype]],
    ):
        with pl.at(CORE):
            y[:, :] = pl.scatter(x[:, :], dim=-1, index=i[:, :], src=s[:, :])

    x, s, i = values(rng, (6, 40), dtype), values(rng, (6, 9), dtype), rng.integers(0, 40, (6, 9)).astype(np.int32)
    i[0, :] = i[0, 0]  # the last counts
    want = x.copy()
    for r in range(6):
        for k in range(9):
            want[r, i[r, k]] = s[r, k]
    check(kernel, {"x": x, "i": i, "s": s}, {"y": canary((6, 40), dtype)}, {"y": want})


def test_scatter_by_flat_index_and_by_mask(rng):
    @pl.jit
    def kernel(
        x: pl.Tensor[[2, 16], pl.FP32],
        i: pl.Tensor[[4, 2], pl.INT32],
        s: pl.Tensor[[4, 2], pl.FP32],
        y: pl.Out[pl.Tensor[[2, 16], pl.FP32]],
        z: pl.Out[pl.Tensor[[4, 4], pl.FP32]],
    ):
        with pl.at(CORE):
            t = x[:, :]
            y[:, :] = pl.tile.scatter(t, s[:, :], i[:, :])
            zero = pl.full([4, 4], dtype=pl.FP32, value=0.0)
            z[:, :] = pl.scatter(s[:, :], mask_pattern=pl.tile.MaskPattern.P1010, dst=zero)

    x, s, i = values(rng, (2, 16), pl.FP32), values(rng, (4, 2), pl.FP32), rng.permutation(32)[:8].reshape(4, 2)
    flat, masked = x.copy().reshape(-1), np.zeros((4, 4))
    flat[i] = s
    masked[:, 1::2] = s
    check(
        kernel,
        {"x": x, "i": i.astype(np.int32), "s": s},
        {"y": canary((2, 16), pl.FP32), "z": canary((4, 4), pl.FP32)},
        {"y": flat.reshape(2, 16), "z": masked},
    )


def test_one_row_into_a_tensor(rng):
    """R34."""

    @pl.jit
    def kernel(s: pl.Tensor[[1, 64], pl.FP32], y: pl.InOut[pl.Tensor[[32, 64], pl.FP32]], r: pl.Scalar[pl.INDEX]):
        with pl.at(CORE):
            y[r : r + 1, :] = s[:, :]

    s, y = values(rng, (1, 64), pl.FP32), values(rng, (32, 64), pl.FP32)
    for r in (17, 0, 31):
        want = y.copy()
        want[r] = s
        check(kernel, {"s": s, "r": r}, {"y": y}, {"y": want})


@pytest.mark.parametrize("where", ["tensor", "tile"])
def test_rows_by_index(rng, where):
    @pl.jit
    def into_tensor(
        y: pl.InOut[pl.Tensor[[20, 24], pl.FP16]], i: pl.Tensor[[2, 3], pl.INT32], s: pl.Tensor[[6, 24], pl.FP16]
    ):
        with pl.at(CORE):
            pl.scatter_update(y, -2, i, s[:, :])

    @pl.jit
    def into_tile(
        y: pl.InOut[pl.Tensor[[20, 24], pl.FP16]], i: pl.Tensor[[2, 3], pl.INT32], s: pl.Tensor[[6, 24], pl.FP16]
    ):
        with pl.at(CORE):
            y[:, :] = pl.scatter_update(y[:, :], i[:, :], s[:, :], dim=-2)

    y, s = values(rng, (20, 24), pl.FP16), values(rng, (6, 24), pl.FP16)
    i = np.array([[3, 19, 0], [3, 7, 8]], np.int32)
    want = y.copy()
    want[i.reshape(-1)] = s
    want[3] = s[3]
    check(into_tensor if where == "tensor" else into_tile, {"i": i, "s": s}, {"y": y}, {"y": want})


# --------------------------------------------------------------------------------------------------- sorts


def top_k(cols, k):
    runs = [64]
    while runs[-1] < 2 * cols:
        runs.append(runs[-1] * 4)

    @pl.jit
    def kernel(
        x: pl.Tensor[[M, cols], pl.FP32], v: pl.Out[pl.Tensor[[M, k], pl.FP32]], i: pl.Out[pl.Tensor[[M, k], pl.INT32]]
    ):
        for r in pl.parallel(M):
            with pl.at(CORE):
                pairs = pl.sort32(x[r : r + 1, :], pl.arange(0, [1, cols], dtype=pl.UINT32))
                for n in pl.unroll(len(runs)):
                    pairs = pl.mrgsort(pairs, block_len=runs[n])
                best = pairs[:, 0 : 2 * k]
                v[r : r + 1, :] = pl.gather(best, mask_pattern=pl.tile.MaskPattern.P0101)
                i[r : r + 1, :] = pl.gather(best, mask_pattern=pl.tile.MaskPattern.P1010, output_dtype=pl.INT32)

    return kernel


@pytest.mark.parametrize(("cols", "k"), [(32, 4), (64, 64), (96, 16), (512, 8), (2048, 100), (4096, 32), (1056, 1056)])
def test_top_k(rng, cols, k):
    x = values(rng, (3, cols), pl.FP32)
    x[1] = np.round(x[1])  # equal values keep their order
    x[2, :5] = [0.0, -0.0, np.inf, -np.inf, 0.0]
    order = np.argsort(-x, 1, kind="stable")[:, :k]
    writes = {"v": canary((3, k), pl.FP32), "i": canary((3, k), pl.INT32)}
    check(top_k(cols, k), {"x": x}, writes, {"v": np.take_along_axis(x, order, 1), "i": order})


@pytest.mark.parametrize("count", [2, 3, 4])
def test_lists_merge(rng, count):
    @pl.jit
    def kernel(x: pl.Tensor[[1, 128], pl.FP32], y: pl.Out[pl.Tensor[[1, 32 * count], pl.FP32]]):
        with pl.at(CORE):
            ids = pl.arange(0, [1, 32], dtype=pl.UINT32)
            a, b, c, d = (
                pl.sort32(x[:, 0:32], ids),
                pl.sort32(x[:, 32:64], ids),
                pl.sort32(x[:, 64:96], ids),
                pl.sort32(x[:, 96:128], ids),
            )
            if count == 2:
                merged = pl.mrgsort(a, b)
            elif count == 3:
                merged = pl.mrgsort(a, b, c, tmp=pl.create_tensor([1, 192], dtype=pl.FP32), exhausted=True)
            else:
                merged = pl.mrgsort(a, b, c, d, pl.create_tensor([1, 256], dtype=pl.FP32))
            y[:, :] = pl.gather(merged, mask_pattern=1)

    x = values(rng, (1, 128), pl.FP32)
    want = -np.sort(-x[:, : 32 * count], 1)
    check(kernel, {"x": x}, {"y": canary((1, 32 * count), pl.FP32)}, {"y": want})


def test_sort_of_rows(rng):
    @pl.jit
    def kernel(
        x: pl.Tensor[[M, 64], pl.FP32], i: pl.Tensor[[M, 64], pl.INT32], y: pl.Out[pl.Tensor[[M, 128], pl.FP32]]
    ):
        with pl.at(CORE):
            y[0:8, :] = pl.mrgsort(pl.sort32(x[0:8, :], i[0:8, :]), block_len=64)

    for m in (8, 3):
        x, i = values(rng, (m, 64), pl.FP32), rng.integers(0, 1000, (m, 64)).astype(np.int32)
        order = np.argsort(-x, 1, kind="stable")
        want = np.zeros((m, 128), np.float32)
        want[:, ::2] = np.take_along_axis(x, order, 1)
        want[:, 1::2] = np.take_along_axis(i, order, 1).view(np.float32)
        check(kernel, {"x": x, "i": i}, {"y": canary((m, 128), pl.FP32)}, {"y": want})


def test_sort_of_a_part_is_refused():
    @pl.jit
    def kernel(x: pl.Tensor[[1, M], pl.FP32], y: pl.Out[pl.Tensor[[1, 128], pl.FP32]]):
        with pl.at(CORE):
            y[:, :] = pl.sort32(x[:, 0:64], pl.arange(0, [1, 64], dtype=pl.UINT32))

    with pytest.raises(CompileError, match="must be valid in all 64 columns"):
        sources(kernel)


# ------------------------------------------------------------------------------------------ tensors by index


@pytest.mark.parametrize("mode", ["undefined", "clamp", "wrap"])
def test_rows_of_a_tensor(rng, mode):
    @pl.jit
    def kernel(t: pl.Tensor[[M, 40], pl.FP16], i: pl.Tensor[[1, 6], pl.INT32], y: pl.Out[pl.Tensor[[6, 40], pl.FP16]]):
        with pl.at(CORE):
            y[:, :] = pl.tile.mgather(t, i[:, :], "row", gather_oob=mode)

    t, i = values(rng, (9, 40), pl.FP16), np.array([[8, 0, 3, 3, 1, 7]], np.int32)
    if mode != "undefined":
        i[0, 1:3] = [12, -1]
    rows = np.clip(i[0], 0, 8) if mode == "clamp" else i[0] % 9
    check(kernel, {"t": t, "i": i}, {"y": canary((6, 40), pl.FP16)}, {"y": t[rows]})


def test_elements_of_a_tensor(rng):
    @pl.jit
    def kernel(
        t: pl.Tensor[[7, M], pl.FP32], i: pl.Tensor[[3, 5], pl.INT32], y: pl.Out[pl.Tensor[[3, 5], pl.FP32]],
        z: pl.InOut[pl.Tensor[[7, M], pl.FP32]],
    ):  # fmt: skip
        with pl.at(CORE):
            y[:, :] = pl.mgather(t, i[:, :], "elem")
        with pl.at(CORE):
            pl.mscatter(y[:, :], i[:, :], z)

    t, z = values(rng, (7, 11), pl.FP32), values(rng, (7, 11), pl.FP32)
    i = rng.permutation(77)[:15].reshape(3, 5).astype(np.int32)
    want, wz = t.reshape(-1)[i], z.copy()
    wz.reshape(-1)[i] = want
    check(kernel, {"t": t, "i": i}, {"y": canary((3, 5), pl.FP32), "z": z}, {"y": want, "z": wz})


def test_rows_of_pages(rng):
    @pl.jit
    def kernel(
        pool: pl.Tensor[[M, 32], pl.BF16], ids: pl.Tensor[[12], pl.INT32], table: pl.Tensor[[4], pl.INT32],
        y: pl.Out[pl.Tensor[[12, 16], pl.BF16]],
    ):  # fmt: skip
        with pl.at(CORE):
            y[:, :] = pl.paged_gather(pool, ids, table, 8, 16, 12, space=pl.Mem.Vec, col_off=16)

    pool, ids = values(rng, (48, 32), pl.BF16), rng.integers(0, 32, 12).astype(np.int32)
    table = np.array([5, 0, 3, 2], np.int32)
    rows = table[ids // 8] * 8 + ids % 8
    check(kernel, {"pool": pool, "ids": ids, "table": table}, {"y": canary((12, 16), pl.BF16)}, {"y": pool[rows, 16:]})
