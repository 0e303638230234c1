"""Reductions against numpy: the pairwise tree of sums bit for bit, first index of extremes, masks and strides."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

if "pyto_vector_harness" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("pyto_vector_harness", Path(__file__).with_name("vector_harness.py"))
    assert _spec is not None and _spec.loader is not None
    sys.modules["pyto_vector_harness"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["pyto_vector_harness"])
h = sys.modules["pyto_vector_harness"]

F32 = np.dtype(np.float32)
DST, A, TMP = 0x0000, 0x8000, 0x18000
TYPES = ["half", "float"]
VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX = range(4)


def tree(rows: np.ndarray) -> np.ndarray:
    """Sums along the last axis: neighbours first, every level rounded to the type."""
    with np.errstate(over="ignore", invalid="ignore"):
        while rows.shape[-1] > 1:
            rows = (rows[..., ::2].astype(F32) + rows[..., 1::2].astype(F32)).astype(rows.dtype)
    return rows[..., 0]


def masked_rows(
    image: np.ndarray, blk: int, rep: int, dtype: np.dtype, lanes: list[int], repeats: int, fill: float
) -> np.ndarray:
    per_repeat = 256 // dtype.itemsize
    rows = np.full((repeats, per_repeat), fill, dtype)
    where = h.lanes(A, blk, rep, dtype, dtype.itemsize, lanes, repeats)
    rows[:, lanes] = h.load(image, where, dtype).reshape(repeats, len(lanes))
    return rows


def lane_sets(dtype: np.dtype) -> list[list[int]]:
    n = 256 // dtype.itemsize
    rng = np.random.default_rng(1)
    return [list(range(n)), list(range(n - 11)), list(range(5)), [i for i in range(n) if rng.random() < 0.4]]


def picture(seed: int, dtype: np.dtype, special: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    image = h.noise(seed)
    values = h.floats(rng, 16384, dtype, special)
    values[::7] = np.asarray(3.0, dtype)  # ties
    h.put(image, A, values)
    return image


@pytest.mark.parametrize("t", TYPES)
def test_whole_reduce_sum(t: str) -> None:
    dtype = h.DTYPES[t]
    image = picture(1, dtype)
    for lanes in lane_sets(dtype):
        for repeats, dst_rep, blk, rep in [(1, 1, 1, 8), (20, 1, 1, 8), (5, 3, 2, 17), (3, 1, 1, 0), (0, 1, 1, 8)]:
            args = (*h.mask_words(lanes), repeats, dst_rep, blk, rep)
            after, _ = h.runner().run(f"WholeReduceSum.{t}", image, DST, A, *args)
            expected = image.copy()
            rows = masked_rows(image, blk, rep, dtype, lanes, repeats, 0)
            h.store(expected, DST + np.arange(repeats) * dst_rep * dtype.itemsize, tree(rows))
            np.testing.assert_array_equal(after, expected)
    after, _ = h.runner().run(f"WholeReduceSum.{t}.mask", image, DST, A, 21, 0, 4, 1, 1, 8)
    want = tree(masked_rows(image, 1, 8, dtype, list(range(21)), 4, 0))
    np.testing.assert_array_equal(h.get(after, DST, 4, dtype), want)
    after, _ = h.runner().run(f"RepeatReduceSum.{t}.mask", image, DST, A, 21, 0, 4, 1, 1, 8)
    np.testing.assert_array_equal(h.get(after, DST, 4, dtype), want)


@pytest.mark.parametrize("t", TYPES)
@pytest.mark.parametrize("op", ["Max", "Min"])
@pytest.mark.parametrize("order", range(4))
def test_whole_reduce_extreme(op: str, t: str, order: int) -> None:
    dtype = h.DTYPES[t]
    index_type = np.dtype(np.uint16 if t == "half" else np.uint32)
    image = picture(2, dtype)
    best = np.argmax if op == "Max" else np.argmin
    fill = -np.inf if op == "Max" else np.inf
    for lanes in lane_sets(dtype):
        for repeats, dst_rep, blk, rep in [(1, 1, 1, 8), (20, 1, 1, 8), (5, 3, 2, 17)]:
            args = (*h.mask_words(lanes), repeats, dst_rep, blk, rep, order)
            after, results = h.runner().run(f"WholeReduce{op}.{t}", image, DST, A, *args)
            rows = masked_rows(image, blk, rep, dtype, lanes, repeats, fill)
            index = best(rows, axis=1)
            value = rows[np.arange(repeats), index]
            raw_value, raw_index = value.view(np.uint8).reshape(repeats, -1), index.astype(index_type).view(np.uint8)
            raw_index = raw_index.reshape(repeats, -1)
            pieces = {
                VALUE_INDEX: np.concatenate([raw_value, raw_index], 1),
                INDEX_VALUE: np.concatenate([raw_index, raw_value], 1),
                ONLY_VALUE: raw_value,
                ONLY_INDEX: index.astype(np.uint32).view(np.uint8).reshape(repeats, 4),
            }[order]
            expected = image.copy()
            for i, piece in enumerate(pieces):
                at = DST + i * dst_rep * piece.size
                expected[at : at + piece.size] = piece
            np.testing.assert_array_equal(after, expected)
            first = int(best(value))
            assert int(results[0]) == h.bits_of(value[first], dtype)
            assert int(results[1]) == first * (256 // dtype.itemsize) + int(index[first])


@pytest.mark.parametrize("t", TYPES)
@pytest.mark.parametrize("op", ["Sum", "Max", "Min"])
def test_block_reduce(op: str, t: str) -> None:
    dtype = h.DTYPES[t]
    image = picture(3, dtype)
    per_block = 32 // dtype.itemsize
    fill = {"Sum": 0, "Max": -np.inf, "Min": np.inf}[op]
    for lanes in [*lane_sets(dtype), [2, 3, 5 * per_block]]:
        for repeats, dst_rep, blk, rep in [(20, 1, 1, 8), (3, 2, 2, 16)]:
            args = (*h.mask_words(lanes), repeats, dst_rep, blk, rep)
            after, _ = h.runner().run(f"BlockReduce{op}.{t}", image, DST, A, *args)
            blocks = masked_rows(image, blk, rep, dtype, lanes, repeats, fill).reshape(repeats, 8, per_block)
            result = {"Sum": tree, "Max": lambda x: x.max(-1), "Min": lambda x: x.min(-1)}[op](blocks)
            expected = image.copy()
            used = sorted({lane // per_block for lane in lanes})  # blocks without an active lane are not written
            for i in range(repeats):
                where = DST + (i * dst_rep * 8 + np.array(used)) * dtype.itemsize
                h.store(expected, where, result[i, used])
            np.testing.assert_array_equal(after, expected)


@pytest.mark.parametrize("t", TYPES)
def test_pair_reduce_sum(t: str) -> None:
    dtype = h.DTYPES[t]
    image = picture(4, dtype)
    for lanes in [*lane_sets(dtype), [1, 8, 9]]:
        args = (*h.mask_words(lanes), 6, 1, 1, 8)
        after, _ = h.runner().run(f"PairReduceSum.{t}", image, DST, A, *args)
        rows = masked_rows(image, 1, 8, dtype, lanes, 6, 0)
        result = (rows[:, ::2].astype(F32) + rows[:, 1::2].astype(F32)).astype(dtype)
        used = np.array(sorted({lane // 2 for lane in lanes}))
        expected = image.copy()
        for i in range(6):
            h.store(expected, DST + i * 128 + used * dtype.itemsize, result[i, used])
        np.testing.assert_array_equal(after, expected)


@pytest.mark.parametrize("t", TYPES)
def test_reduce_sum(t: str) -> None:
    dtype = h.DTYPES[t]
    per_repeat = 256 // dtype.itemsize
    image = picture(5, dtype)
    for count in (1, 7, per_repeat, per_repeat + 1, 1000, 5120):
        after, results = h.runner().run(f"ReduceSum.{t}.count", image, DST, A, TMP, count)
        padded = np.zeros(-(-count // per_repeat) * per_repeat, dtype)
        padded[:count] = h.get(image, A, count, dtype)
        sums = tree(padded.reshape(-1, per_repeat))
        total = sums[0]
        for s in sums[1:]:  # repeats follow each other
            total = (total.astype(F32) + s.astype(F32)).astype(dtype)
        assert h.get(after, DST, 1, dtype)[0] == total, count
        assert int(results[0]) == h.bits_of(total, dtype)
        np.testing.assert_array_equal(after[A:TMP], image[A:TMP])
    for mask, repeats, rep in [(per_repeat, 80, 8), (9, 3, 8), (per_repeat, 1, 8), (20, 200, 2), (per_repeat, 64, 8)]:
        after, _ = h.runner().run(f"ReduceSum.{t}.mask", image, DST, A, TMP, mask, repeats, rep)
        sums = tree(masked_rows(image, 1, rep, dtype, list(range(mask)), repeats, 0))
        while sums.size > 1:  # the sums of repeats are summed as a tree again
            padded = np.zeros(-(-sums.size // per_repeat) * per_repeat, dtype)
            padded[: sums.size] = sums
            sums = tree(padded.reshape(-1, per_repeat))
        assert h.get(after, DST, 1, dtype)[0] == sums[0], (mask, repeats)


@pytest.mark.parametrize("t", TYPES)
@pytest.mark.parametrize("op", ["Max", "Min"])
def test_reduce_extreme(op: str, t: str) -> None:
    dtype = h.DTYPES[t]
    index_type = np.dtype(np.uint16 if t == "half" else np.uint32)
    image = picture(6, dtype)
    best = np.argmax if op == "Max" else np.argmin
    for count in (1, 50, 64, 200, 1000, 5000):
        x = h.get(image, A, count, dtype)
        at = int(best(x))
        for with_index in (0, 1):
            after, _ = h.runner().run(f"Reduce{op}.{t}.count", image, DST, A, TMP, count, with_index)
            expected = image.copy()
            h.put(expected, DST, x[at : at + 1])
            if with_index:
                h.put(expected, DST + dtype.itemsize, np.array([at], index_type))
            np.testing.assert_array_equal(after, expected)
    # The index counts elements of the source, gaps between repeats included.
    per_block = 32 // dtype.itemsize
    after, _ = h.runner().run(f"Reduce{op}.{t}.mask", image, DST, A, TMP, 17, 12, 9, 1)
    rows = masked_rows(image, 1, 9, dtype, list(range(17)), 12, 0)[:, :17]
    at = int(best(rows))
    assert h.get(after, DST, 1, dtype)[0] == rows.ravel()[at]
    assert int(h.get(after, DST + dtype.itemsize, 1, index_type)[0]) == at // 17 * 9 * per_block + at % 17


def test_infinities_nan_and_refusals() -> None:
    image = h.noise(1)
    x = np.full(256, -np.inf, F32)
    h.put(image, A, x)
    after, _ = h.runner().run("ReduceMax.float.count", image, DST, A, TMP, 256, 1)
    assert h.get(after, DST, 1, F32)[0] == -np.inf
    assert h.get(after, DST + 4, 1, np.dtype(np.uint32))[0] == 0
    x[77] = np.nan
    h.put(image, A, x)
    after, _ = h.runner().run("ReduceMax.float.count", image, DST, A, TMP, 256, 1)
    assert np.isnan(h.get(after, DST, 1, F32)[0])
    assert h.get(after, DST + 4, 1, np.dtype(np.uint32))[0] == 77
    with pytest.raises(h.SimulatorError, match="repeatTime 256"):
        h.runner().run("WholeReduceSum.float", image, DST, A, 1, 0, 256, 1, 1, 8)
    with pytest.raises(h.SimulatorError, match="multiple of 32"):
        h.runner().run("WholeReduceSum.float", image, DST, A + 4, 1, 0, 1, 1, 1, 8)
    with pytest.raises(h.SimulatorError, match="multiple of 8"):
        h.runner().run("WholeReduceMax.float", image, DST + 4, A, 1, 0, 1, 1, 1, 8, VALUE_INDEX)
    with pytest.raises(h.SimulatorError, match="past the end of the unified buffer"):
        h.runner().run("WholeReduceSum.float", image, DST, A, 1, 0, 255, 1, 1, 4000)
