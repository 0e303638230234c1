"""Single elements of tiles and tensors, atomics, order of accesses to one tensor."""

import numpy as np
import pytest

import pyto.language as pl
from pyto import compiler, interpreter
from pyto.errors import CompileError, LaunchError
from tests.cases.harness import CORE, canary, check, sources, values

TYPES = [pl.FP32, pl.FP16, pl.BF16, pl.INT32, pl.INT16, pl.INT8, pl.UINT32, pl.UINT16, pl.UINT8]
NAMES = [d.name for d in TYPES]
M, N = pl.dynamic("M"), pl.dynamic("N")
SQUARE = pl.Tensor[[64, 64], pl.FP32]


@pytest.mark.parametrize("dtype", TYPES, ids=NAMES)
def test_elements_of_every_type(rng, dtype):
    """Tile to tile, tile to tensor, tensor to tile; positions at compile time and at run time."""

    @pl.jit
    def kernel(
        x: pl.Tensor[[3, 20], dtype],
        y: pl.Out[pl.Tensor[[3, 20], dtype]],
        z: pl.InOut[pl.Tensor[[5, 7], dtype]],
        r: pl.Scalar[pl.INDEX],
    ):
        with pl.at(CORE):
            t = x[:, :]
            pl.write(t, [r, 3], pl.read(t, [2, 19]))
            t[0, r] = x[1, 1]
            y[:, :] = t
            pl.write(z, [4, r], t[r, 3])
            z[0, 0] = pl.read(t, 20)

    x, z = values(rng, (3, 20), dtype), values(rng, (5, 7), dtype)
    for r in (0, 2):
        want, wz = x.copy(), z.copy()
        want[r, 3] = x[2, 19]
        want[0, r] = x[1, 1]
        wz[4, r], wz[0, 0] = want[r, 3], want[1, 0]
        check(kernel, {"x": x, "r": r}, {"y": canary((3, 20), dtype), "z": z}, {"y": want, "z": wz})


def test_constants_into_elements():
    @pl.jit
    def kernel(y: pl.Out[pl.Tensor[[1, 8], pl.FP16]], z: pl.InOut[pl.Tensor[[4], pl.INT8]]):
        with pl.at(CORE):
            t = pl.full([1, 8], dtype=pl.FP16, value=1.5)
            pl.write(t, [0, 2], -2)
            t[0, 7] += 2.25
            y[:, :] = t
            pl.write(z, [1], -128)
            z[3] = 127

    want = np.full((1, 8), 1.5)
    want[0, 2], want[0, 7] = -2, 3.75
    check(
        kernel, {}, {"y": canary((1, 8), pl.FP16), "z": canary((4,), pl.INT8)},
        {"y": want, "z": np.array([77, -128, 77, 127])},
    )  # fmt: skip


def test_elements_in_loops(rng):
    """A tile that a loop writes elements of is carried."""

    @pl.jit
    def kernel(x: pl.Tensor[[M, 32], pl.FP32], y: pl.Out[pl.Tensor[[1, 32], pl.FP32]]):
        with pl.at(CORE):
            sums = pl.full([1, 32], dtype=pl.FP32, value=0.0)
            for i in pl.range(M):
                row = pl.row_sum(x[i : i + 1, :])
                pl.write(sums, [0, i], pl.read(row, [0, 0]) + pl.read(sums, [0, i]))
            y[:, :] = sums

    x = values(rng, (9, 32), pl.FP32)
    want = np.zeros((1, 32))
    want[0, :9] = x.sum(1)

    check(kernel, {"x": x}, {"y": canary((1, 32), pl.FP32)}, {"y": want}, 1e-5)


def test_names_hold_values(rng):
    """Writing an element gives the name a new value; other names keep theirs."""

    @pl.jit
    def kernel(x: pl.Tensor[[1, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
        with pl.at(CORE):
            a = x[:, :]
            b = a
            pl.write(a, [0, 1], 5.0)
            y[0:1, :] = a
            y[1:2, :] = b

    x = values(rng, (1, 8), pl.FP32)
    want = np.concatenate([x, x])
    want[0, 1] = 5
    check(kernel, {"x": x}, {"y": canary((2, 8), pl.FP32)}, {"y": want})


@pytest.mark.parametrize("first", ["element", "row"])
def test_element_and_row_of_the_same_line(rng, first):
    """R30: in the order of the program."""

    @pl.jit
    def kernel(x: pl.Tensor[[8], pl.FP32], y: pl.InOut[pl.Tensor[[8], pl.FP32]]):
        with pl.at(CORE):
            if first == "element":
                y[3] = 5.0
                y[0:8] = x[0:8]
            else:
                y[0:8] = x[0:8]
                y[3] = 5.0

    x = values(rng, (8,), pl.FP32)
    want = x.copy()
    if first == "row":
        want[3] = 5
    check(kernel, {"x": x}, {"y": canary((8,), pl.FP32)}, {"y": want})
    stores = sources(kernel).split("DataCopyPad(y")
    assert len(stores) == 3 and "PipeBarrier<PIPE_MTE3>" in stores[1]


def test_store_then_load():
    """R41: the load waits for the store."""

    @pl.jit
    def kernel(x: SQUARE, y: pl.InOut[SQUARE], z: pl.Out[SQUARE]):
        with pl.at(CORE):
            y[:, :] = x[:, :] * 2.0
            z[:, :] = y[:, :] + 1.0

    x = np.arange(4096, dtype=np.float32).reshape(64, 64)
    check(
        kernel, {"x": x}, {"y": canary((64, 64), pl.FP32), "z": canary((64, 64), pl.FP32)}, {"y": 2 * x, "z": 2 * x + 1}
    )
    text = sources(kernel)
    assert (
        text.index("SetFlag<HardEvent::MTE3_MTE2>") < text.index("WaitFlag<HardEvent::MTE3_MTE2>") < text.index(", y,")
    )


def test_load_store_and_compute():
    """R50."""

    @pl.jit
    def kernel(x: SQUARE, y: pl.Out[SQUARE], z: pl.Out[SQUARE]):
        with pl.at(CORE):
            t = x[:, :]
            y[:, :] = t
            z[:, :] = t + 1.0

    x = np.arange(4096, dtype=np.float32).reshape(64, 64)
    check(kernel, {"x": x}, {"y": canary((64, 64), pl.FP32), "z": canary((64, 64), pl.FP32)}, {"y": x, "z": x + 1})
    text = sources(kernel)
    for pair in ("MTE2_V", "MTE2_MTE3"):
        assert f"SetFlag<HardEvent::{pair}>" in text and f"WaitFlag<HardEvent::{pair}>" in text


def test_element_stored_then_read_back(rng):
    @pl.jit
    def kernel(x: pl.Tensor[[M], pl.INT32], y: pl.InOut[pl.Tensor[[8], pl.INT32]]):
        with pl.at(CORE):
            for i in pl.range(M):
                bin = pl.read(x, [i])
                y[bin] = pl.read(y, [bin]) + 1

    x = rng.integers(0, 8, 50).astype(np.int32)
    y = np.arange(8, dtype=np.int32)
    check(kernel, {"x": x}, {"y": y}, {"y": y + np.bincount(x, minlength=8)})


# --------------------------------------------------------------------------------------------------- atomics


@pytest.mark.parametrize("dtype", [pl.FP32, pl.FP16, pl.BF16, pl.INT32, pl.INT16, pl.INT8], ids=lambda d: d.name)
@pytest.mark.parametrize("kind", ["Add", "Max", "Min"])
def test_atomics(rng, dtype, kind):
    atomic = getattr(pl.AtomicType, kind)

    @pl.jit
    def kernel(
        x: pl.Tensor[[M, 40], dtype], y: pl.InOut[pl.Tensor[[1, 40], dtype]], z: pl.Out[pl.Tensor[[M, 40], dtype]]
    ):
        for i in pl.parallel(M):
            with pl.at(CORE):
                t = x[i : i + 1, :]
                pl.assemble(y, t, [0, 0], atomic=atomic)
                z[i : i + 1, :] = t  # R29: the mode is off again

    x, y = (rng.integers(-9, 9, s).astype(canary((1,), dtype).dtype) for s in ((6, 40), (1, 40)))
    fold = {"Add": np.add, "Max": np.maximum, "Min": np.minimum}[kind]
    want = fold.reduce(np.concatenate([x, y]).astype(np.float64), 0, keepdims=True)
    check(kernel, {"x": x}, {"y": y, "z": canary((6, 40), dtype)}, {"y": want, "z": x})


def test_atomics_of_other_types_are_refused():
    @pl.jit
    def kernel(y: pl.InOut[pl.Tensor[[1, 8], pl.UINT16]]):
        with pl.at(CORE):
            pl.store(pl.full([1, 8], dtype=pl.UINT16, value=1), [0, 0], y, atomic=pl.AtomicType.Add)

    with pytest.raises(CompileError, match=r"error\[op-dtype\].*uint16"):
        sources(kernel)


def test_histogram(rng):
    @pl.jit
    def histogram(x: pl.Tensor[[M, 64], pl.INT32], y: pl.InOut[pl.Tensor[[16], pl.INT32]]):
        for i in pl.parallel(M):
            with pl.at(CORE):
                row, one = x[i : i + 1, :], pl.full([1, 1], dtype=pl.INT32, value=1)
                for k in pl.range(64):
                    pl.assemble(y, one, [pl.read(row, [0, k])], atomic=pl.AtomicType.Add)

    x = rng.integers(0, 16, (7, 64)).astype(np.int32)
    want = np.bincount(x.reshape(-1), minlength=16)
    check(histogram, {"x": x}, {"y": np.zeros(16, np.int32)}, {"y": want})


# ---------------------------------------------------------------------------------------------------- bounds


def looking_up():
    @pl.jit
    def kernel(t: pl.Tensor[[N, 16], pl.FP32], i: pl.Tensor[[4], pl.INT32], y: pl.Out[pl.Tensor[[4, 16], pl.FP32]]):
        with pl.at(CORE):
            for k in pl.range(4):
                y[k, :] = t[pl.read(i, [k]), :]

    return kernel


@pytest.mark.parametrize("bad", [10, 11, -1])
def test_row_that_is_not_there(bad):
    """An index, unlike a slice, names what must be there."""
    i = np.array([0, 9, bad, 3], np.int32)
    for stage in compiler.lower(looking_up()).stages:
        with pytest.raises(LaunchError, match="out-of-bounds"):
            arrays = {"t": np.zeros((10, 16), np.float32), "i": i, "y": np.zeros((4, 16), np.float32)}
            interpreter.run(stage.program, arrays)


def test_rows_that_are_there(rng):
    t, i = values(rng, (10, 16), pl.FP32), np.array([9, 0, 3, 9], np.int32)
    check(looking_up(), {"t": t, "i": i}, {"y": canary((4, 16), pl.FP32)}, {"y": t[i]})


def test_element_that_is_not_there():
    @pl.jit
    def kernel(y: pl.Out[pl.Tensor[[1, 8], pl.FP32]], c: pl.Scalar[pl.INDEX]):
        with pl.at(CORE):
            t = pl.full([1, 8], dtype=pl.FP32, value=0.0)
            pl.write(t, [0, c], 1.0)
            y[:, :] = t

    for stage in compiler.lower(kernel).stages:
        with pytest.raises(LaunchError, match="out-of-bounds"):
            interpreter.run(stage.program, {"y": np.zeros((1, 8), np.float32)}, {"c": 8})


def test_load_beyond_the_end():
    """R39: of a block of 16 at the end of 13 elements, 13 are read."""

    @pl.jit
    def kernel(x: pl.Tensor[[N], pl.FP32], y: pl.Out[pl.Tensor[[N], pl.FP32]]):
        for i in pl.parallel(0, N, 16):
            with pl.at(CORE):
                y[i : i + 16] = x[i : i + 16] + 1.0

    memory = np.full(64, np.nan, np.float32)
    x = memory[:13]
    x[:] = np.arange(13)
    got = np.full(64, 77, np.float32)
    kernel(x, got[:13])
    np.testing.assert_array_equal(got[:13], x + 1)
    assert (got[13:] == 77).all()
