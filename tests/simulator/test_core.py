"""Launches, fibers, flags, queues, copies and atomics of the simulator."""

from __future__ import annotations

import functools

import ml_dtypes
import numpy as np
import pytest

from tests.simulator.core_harness import In, InOut, Out, Program, SimulatorError

THREADS = [1, 2, 5]


@functools.lru_cache(maxsize=2)
def program(recorded: bool = False) -> Program:
    return Program("core_cases.cpp", recorded)


@pytest.mark.parametrize("threads", THREADS)
def test_cores_know_who_they_are(threads: int) -> None:
    [got] = program().run("who_vector", 7, Out(np.zeros((7, 8), np.int32)), threads=threads)
    np.testing.assert_array_equal(got[:, :6], [[b, 7, 0, 1, 2, 2] for b in range(7)])
    [got] = program().run("who_cube", 5, Out(np.zeros((5, 8), np.int32)), threads=threads)
    np.testing.assert_array_equal(got[:, :6], [[b, 5, 0, 1, 1, 1] for b in range(5)])
    [got] = program().run("who_mix", 4, Out(np.zeros((4, 3, 8), np.int32)), threads=threads)
    for b in range(4):
        expected = [[b, 4, 0, 1, 1, 1], [2 * b, 4, 0, 2, 2, 2], [2 * b + 1, 4, 1, 2, 2, 2]]
        np.testing.assert_array_equal(got[b, :, :6], expected)
    [got] = program().run("who_mix_one", 3, Out(np.zeros((3, 2, 8), np.int32)), threads=threads)
    np.testing.assert_array_equal(got[:, :, :6], [[[b, 3, 0, 1, 1, 1], [b, 3, 0, 1, 2, 2]] for b in range(3)])


def test_the_two_compilations_stay_apart() -> None:
    [got] = program().run("two_copies", 1, Out(np.zeros(2, np.int32)))
    assert got.tolist() == [11, 22]


def test_no_blocks_and_too_many() -> None:
    for blocks in (0, -1):  # a grid of no points, or of an empty range: nothing runs
        [got] = program().run("who_vector", blocks, Out(np.full((1, 8), 5, np.int32)))
        assert (got == 5).all()
    with pytest.raises(SimulatorError, match="blocks"):
        program().run("who_vector", 65536, Out(np.zeros((1, 8), np.int32)))


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("tiles,blocks", [(1, 1), (7, 3), (48, 48), (100, 48)])
def test_queues(tiles: int, blocks: int, threads: int) -> None:
    x = np.random.default_rng(tiles).standard_normal((tiles, 256)).astype(np.float32)
    [y] = program().run("queued", blocks, In(x), Out(np.zeros_like(x)), tiles, threads=threads)
    np.testing.assert_array_equal(y, x + 1)


def test_queue_bound_at_both_ends() -> None:
    x = np.arange(9 * 256, dtype=np.int32)
    [y] = program().run("bound", 1, In(x), Out(np.zeros_like(x)), 9)
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("blocks,rounds", [(1, 1), (2, 3), (48, 5), (72, 2)])
def test_barrier_of_vector_cores(blocks: int, rounds: int, threads: int) -> None:
    work = np.zeros((rounds, blocks), np.int32)
    _, got = program().run("meet_vector", blocks, InOut(work), Out(np.zeros(blocks, np.int32)), rounds, threads=threads)
    expected = sum(sum(range(blocks)) + r * blocks for r in range(rounds))
    assert (got == expected).all()


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("blocks", [1, 2, 24])
def test_barrier_of_all_cores(blocks: int, threads: int) -> None:
    work, out = np.zeros(3 * blocks, np.int32), np.zeros(3 * blocks, np.int32)
    _, got = program().run("meet_all", blocks, InOut(work), Out(out), threads=threads)
    assert (got == sum(range(1, 3 * blocks + 1))).all()


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("blocks,rounds", [(1, 1), (1, 2), (3, 9), (24, 40)])
def test_ring_between_cube_and_vector_cores(blocks: int, rounds: int, threads: int) -> None:
    work, out = np.zeros(2 * blocks, np.int32), np.zeros((blocks, 2, rounds), np.int32)
    _, got = program().run("ring", blocks, InOut(work), Out(out), rounds, threads=threads)
    b, s, r = np.meshgrid(range(blocks), range(2), range(rounds), indexing="ij")
    np.testing.assert_array_equal(got, r * r + b + 1 + s)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("blocks", [2, 5, 24])
def test_flags_between_vector_cores(blocks: int, threads: int) -> None:
    cores = 2 * blocks
    work, out = np.zeros(cores, np.int32), np.zeros((2, cores), np.int32)
    _, got = program().run("swap", blocks, InOut(work), Out(out), threads=threads)
    index = np.arange(cores)
    np.testing.assert_array_equal(got, [(index ^ 1) * 3, (index + 3) % cores * 3])


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("blocks", [1, 2, 9])
def test_blocks_in_turn(blocks: int, threads: int) -> None:
    [got] = program().run("in_turn", blocks, InOut(np.zeros(4 * blocks + 1, np.int32)), threads=threads)
    assert got[0] == 3 * blocks
    np.testing.assert_array_equal(got[1 : 3 * blocks + 1], np.arange(3 * blocks) % blocks)
    np.testing.assert_array_equal(got[3 * blocks + 1 :], np.cumsum(np.arange(blocks)))


ATOMIC_TYPES = [np.float32, np.float16, ml_dtypes.bfloat16, np.int32, np.int16, np.int8]


@pytest.mark.parametrize("kind", range(6))
def test_atomic_additions_do_not_depend_on_threads(kind: int) -> None:
    rng = np.random.default_rng(kind)
    dtype = np.dtype(ATOMIC_TYPES[kind])
    integer = kind >= 3
    x = rng.integers(-100, 100, (31, 128)).astype(dtype) if integer else rng.standard_normal((31, 128)).astype(dtype)
    start = np.ones(128, dtype)
    results = [
        program().run("atomics", 31, In(x), InOut(start), 0, kind, threads=threads)[0] for threads in (1, 2, 5, 5)
    ]
    for other in results[1:]:
        assert other.tobytes() == results[0].tobytes()
    expected = start.copy()
    for row in x:  # block after block, each sum rounded to the type
        wide = expected + row if integer else expected.astype(np.float32) + row.astype(np.float32)
        expected = wide.astype(dtype)
    assert results[0].tobytes() == expected.tobytes()


@pytest.mark.parametrize("op,reduce", [(1, np.maximum), (2, np.minimum)])
@pytest.mark.parametrize("kind", range(6))
def test_atomic_maximum_and_minimum(kind: int, op: int, reduce) -> None:
    rng = np.random.default_rng(kind)
    x = (rng.standard_normal((9, 128)) * 40).astype(ATOMIC_TYPES[kind])
    start = np.zeros(128, ATOMIC_TYPES[kind])
    [got] = program().run("atomics", 9, In(x), InOut(start), op, kind)
    assert got.tobytes() == reduce(reduce.reduce(x, axis=0), start).astype(start.dtype).tobytes()


@pytest.mark.parametrize("threads", THREADS)
def test_atomic_additions_are_seen(threads: int) -> None:
    blocks = 10
    y, out = np.zeros((blocks + 1) * 8, np.float32), np.zeros((blocks, 2), np.float32)
    _, got = program().run("atomics_seen", blocks, InOut(y), Out(out), threads=threads)
    np.testing.assert_array_equal(got, [[36, 8 * blocks]] * blocks)


@pytest.mark.parametrize(
    "rows,columns,in_gap,ub_gap,out_gap", [(1, 13, 0, 0, 0), (5, 16, 0, 0, 3), (7, 13, 6, 2, 0), (4, 100, 1, 1, 5)]
)
def test_rows_of_any_length(rows: int, columns: int, in_gap: int, ub_gap: int, out_gap: int) -> None:
    x = np.arange(rows * (columns + in_gap), dtype=np.float16).reshape(rows, -1)
    y = np.full((rows, columns + out_gap), -1, np.float16)
    args = [rows, columns * 2, in_gap * 2, ub_gap, 0, 0, columns * 2, out_gap * 2, 0]
    [got] = program().run("pads", 1, In(x), Out(y), *args)
    np.testing.assert_array_equal(got[:, :columns], x[:, :columns])
    # what lies behind the last row's end stays, and so do the gaps
    assert (got[:, columns:] == -1).all()


def test_padding_left_and_right() -> None:
    x = np.arange(3 * 10, dtype=np.float16).reshape(3, 10)
    [got] = program().run("pads", 1, In(x), Out(np.zeros((3, 16), np.float16)), 3, 20, 0, 0, 2, 4, 32, 0, 1)
    np.testing.assert_array_equal(got, np.pad(x, ((0, 0), (2, 4)), constant_values=9.5))


@pytest.mark.parametrize("count,length,in_gap,ub_gap,out_gap", [(1, 4, 0, 0, 0), (6, 3, 2, 1, 4), (9, 1, 0, 3, 0)])
def test_blocks_with_gaps(count: int, length: int, in_gap: int, ub_gap: int, out_gap: int) -> None:
    x = np.arange(count * (length + in_gap) * 16, dtype=np.int16).reshape(count, -1)
    y = np.full((count, (length + out_gap) * 16), -1, np.int16)
    [got] = program().run("blocks_of_rows", 1, In(x), Out(y), count, length, in_gap, ub_gap, out_gap)
    np.testing.assert_array_equal(got[:, : length * 16], x[:, : length * 16])
    assert (got[:, length * 16 :] == -1).all()


def test_slices() -> None:
    x = np.arange(3 * 87, dtype=np.float32).reshape(3, 87)
    [got] = program().run("slices", 1, In(x), Out(np.zeros((2, 48), np.float32)))
    columns = np.r_[16:40, 47:71]
    np.testing.assert_array_equal(got, x[[0, 2]][:, columns])


def test_fractals_to_rows() -> None:
    x = np.arange(32 * 48, dtype=np.float16).reshape(3, 32, 16)
    [got] = program().run("fractals_to_rows", 1, In(x), Out(np.zeros((32, 48), np.float16)), 32, 48)
    np.testing.assert_array_equal(got, x.transpose(1, 0, 2).reshape(32, 48))


def test_scalar_helpers_and_printing() -> None:
    [got] = program().run("scalars", 1, Out(np.zeros(9, np.int64)))
    half = int(np.float16(0.1).view(np.uint16))
    bf16 = int(np.array(3.14159, ml_dtypes.bfloat16).view(np.uint16))
    assert got.tolist() == [16, 63, 63, 3, 3, half, bf16, 3, 5]


WRONG = [
    (0, ["LocalTensor", "UB", "196608"]),
    (1, ["16", "multiple of 32"]),
    (2, ["7 elements", "DataCopyPad"]),
    (3, ["DataCopy", "multiple of 32"]),
    (4, ["DataCopy", "UB", "196608"]),
    (5, ["DataCopy", "GM tensor of 256"]),
    (6, ["DataCopy", "input"]),
    (7, ["blockLen 6", "element size 4"]),
    (8, ["blockCount 5000", "4095"]),
    (9, ["WaitFlag<HardEvent::MTE2_V>(3)", "SetFlag"]),
    (10, ["SetFlag<HardEvent::MTE2_V>(3)", "no WaitFlag"]),
    (11, ["SetFlag<HardEvent::MTE2_V>(1)", "twice"]),
    (12, ["V_MTE3", "event id 8"]),
    (13, ["InitBuffer", "61440", "153600", "UB"]),
    (14, ["AllocTensor", "FreeTensor"]),
    (15, ["DeQue", "empty"]),
    (16, ["SyncAll", "KERNEL_TYPE_MIX_AIV_1_0"]),
    (17, ["element 1024"]),
    (18, ["assertion", "which == 3"]),
    (19, ["TBuf", "64 bytes"]),
]


@pytest.mark.parametrize("which,words", WRONG, ids=lambda v: str(v) if isinstance(v, int) else "")
def test_refused(which: int, words: list[str]) -> None:
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(SimulatorError) as error:
        program().run("wrong", 3, In(x), Out(y), which)
    text = str(error.value)
    for word in ["kernel wrong, block ", "vector core", *words]:
        assert word in text, text
    if which not in (10,):
        assert "core_cases.cpp:" in text, text
    assert error.value.status != 0
    # and the next launch works
    [got] = program().run("queued", 2, In(np.ones((4, 256), np.float32)), Out(np.zeros((4, 256), np.float32)), 4)
    assert (got == 2).all()


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    "which,words",
    [
        (0, ["deadlock", "cube core waits in CrossCoreWaitFlag(3)", "core_cases.cpp:"]),
        (1, ["deadlock", "SyncAll<false>"]),
        (2, ["deadlock", "SyncAll", "vector core"]),
        (3, ["cross-core flag 7", "not waited for"]),
        (4, ["11 to 14"]),
        (5, ["flag 1", "15"]),
        (6, ["assertion"]),
    ],
)
def test_waits_that_never_end(which: int, words: list[str], threads: int) -> None:
    with pytest.raises(SimulatorError) as error:
        program().run("never", 4, Out(np.zeros(4, np.int32)), which, threads=threads)
    for word in words:
        assert word in str(error.value), str(error.value)
    [got] = program().run("who_cube", 2, Out(np.zeros((2, 8), np.int32)), threads=threads)
    assert got[1, 0] == 1


def test_instructions_may_run_late() -> None:
    """Queued and run later, but in order, every instruction does the same: it depends on what it captured alone."""
    rng = np.random.default_rng(8)
    x = rng.standard_normal((9, 256)).astype(np.float32)
    integers = np.arange(6 * 5 * 16, dtype=np.int16)
    launches = [
        ("queued", 3, In(x), Out(np.zeros_like(x)), 9),
        ("bound", 1, In(x.view(np.int32)), Out(np.zeros((9, 256), np.int32)), 9),
        ("meet_vector", 5, InOut(np.zeros(15, np.int32)), Out(np.zeros(5, np.int32)), 3),
        ("ring", 3, InOut(np.zeros(6, np.int32)), Out(np.zeros(3 * 2 * 9, np.int32)), 9),
        ("atomics", 9, In(x[:, :128]), InOut(np.zeros(128, np.float32)), 0, 0),
        ("atomics_seen", 4, InOut(np.zeros(40, np.float32)), Out(np.zeros(8, np.float32))),
        ("pads", 1, In(x.view(np.float16)), Out(np.zeros((3, 16), np.float16)), 3, 20, 0, 0, 2, 4, 32, 0, 1),
        ("blocks_of_rows", 1, In(integers), Out(np.zeros_like(integers)), 6, 3, 2, 1, 2),
        ("slices", 1, In(x), Out(np.zeros((2, 48), np.float32))),
        ("scalars", 1, Out(np.zeros(9, np.int64))),
    ]
    for kernel, blocks, *args in launches:
        now = program().run(kernel, blocks, *args)
        late = program(recorded=True).run(kernel, blocks, *args)
        for a, b in zip(now, late):
            assert a.tobytes() == b.tobytes(), kernel
    with pytest.raises(SimulatorError, match="deadlock"):
        program(recorded=True).run("never", 2, Out(np.zeros(4, np.int32)), 0)
