"""Fills, copies, gathers, sorts and transpositions against numpy."""

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
U32 = np.dtype(np.uint32)
DST, A, B, C, D = 0x0000, 0x8000, 0x10000, 0x14000, 0x18000
FILL = ["half", "bfloat16_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "float"]


@pytest.mark.parametrize("t", FILL)
def test_duplicate(t: str) -> None:
    dtype = h.DTYPES[t]
    image = h.noise(1)
    value = np.asarray(-3 if dtype.kind != "u" else 60000, dtype)
    bits = h.bits_of(value, dtype)
    for count in (1, 33, 5000):
        after, _ = h.runner().run(f"Duplicate.{t}.count", image, DST, bits, count)
        expected = image.copy()
        h.put(expected, DST, np.full(count, value, dtype))
        np.testing.assert_array_equal(after, expected)
    n = 256 // dtype.itemsize
    for lanes, repeats, blk, rep in [
        (list(range(n)), 6, 1, 8),
        (list(range(19)), 3, 2, 17),
        (list(range(0, n, 5)), 2, 1, 8),
    ]:
        expected = image.copy()
        where = h.lanes(DST, blk, rep, dtype, dtype.itemsize, lanes, repeats)
        h.store(expected, where, np.full(where.size, value, dtype))
        after, _ = h.runner().run(f"Duplicate.{t}.bits", image, DST, bits, *h.mask_words(lanes), repeats, blk, rep)
        np.testing.assert_array_equal(after, expected)
        if lanes == list(range(len(lanes))):
            after, _ = h.runner().run(f"Duplicate.{t}.mask", image, DST, bits, len(lanes), repeats, blk, rep)
            np.testing.assert_array_equal(after, expected)


@pytest.mark.parametrize("t", ["half", "int16_t", "float", "int32_t"])
def test_create_vec_index(t: str) -> None:
    dtype = h.DTYPES[t]
    image = h.noise(2)
    for first in (0, 5):
        bits = h.bits_of(first, dtype)
        for count in (1, 9, 100, 1500):
            after, _ = h.runner().run(f"CreateVecIndex.{t}.count", image, DST, bits, count)
            expected = image.copy()
            h.put(expected, DST, (first + np.arange(count)).astype(dtype))  # below 2048 a half holds them
            np.testing.assert_array_equal(after, expected)
        n = 256 // dtype.itemsize
        after, _ = h.runner().run(f"CreateVecIndex.{t}.mask", image, DST, bits, 20, 3, 2, 16)
        expected = image.copy()
        index = (first + np.arange(3)[:, None] * n + np.arange(20)[None, :]).astype(dtype).ravel()
        h.store(expected, h.lanes(DST, 2, 16, dtype, dtype.itemsize, list(range(20)), 3), index)
        np.testing.assert_array_equal(after, expected)


@pytest.mark.parametrize("t", FILL)
def test_brcb(t: str) -> None:
    dtype = h.DTYPES[t]
    image = h.noise(3)
    for repeats, blk, rep in [(1, 1, 8), (5, 1, 8), (3, 0, 8), (4, 2, 20)]:
        after, _ = h.runner().run(f"Brcb.{t}", image, DST, A, repeats, blk, rep)
        expected = image.copy()
        source = image[A : A + repeats * 8 * dtype.itemsize].reshape(repeats, 8, dtype.itemsize)
        for r in range(repeats):
            for i in range(8):
                at = DST + (r * rep + i * max(blk, 1)) * 32
                expected[at : at + 32] = np.tile(source[r, i], 32 // dtype.itemsize)
        np.testing.assert_array_equal(after, expected)


@pytest.mark.parametrize("t", FILL)
def test_copy(t: str) -> None:
    dtype = h.DTYPES[t]
    image = h.noise(4)
    n = 256 // dtype.itemsize
    for mask, repeats, s in [(n, 6, (1, 1, 8, 8)), (21, 3, (1, 1, 8, 8)), (n, 3, (2, 1, 300, 8)), (n, 4, (1, 0, 8, 1))]:
        after, _ = h.runner().run(f"Copy.{t}", image, DST, A, mask, repeats, *s)
        lanes = list(range(mask))
        source = h.lanes(A, s[1], s[3], dtype, dtype.itemsize, lanes, repeats)
        expected = image.copy()
        where = h.lanes(DST, s[0], s[2], dtype, dtype.itemsize, lanes, repeats)
        h.store(expected, where, h.load(image, source, dtype))
        np.testing.assert_array_equal(after, expected)


@pytest.mark.parametrize("t", FILL)
def test_gather(t: str) -> None:
    dtype = h.DTYPES[t]
    rng = np.random.default_rng(5)
    image = h.noise(5)
    offsets = (rng.integers(0, 3000, 4096) * dtype.itemsize).astype(np.uint32)
    h.put(image, B, offsets)
    base = 4 * dtype.itemsize
    for count in (1, 100, 2500):
        after, _ = h.runner().run(f"Gather.{t}.count", image, DST, A, B, base, count)
        expected = image.copy()
        source = h.get(image, A + base, 3000, dtype)
        h.put(expected, DST, source[offsets[:count] // dtype.itemsize])
        np.testing.assert_array_equal(after, expected)
    n = 256 // dtype.itemsize
    after, _ = h.runner().run(f"Gather.{t}.mask", image, DST, A, B, 0, 30, 3, 9)
    expected = image.copy()
    index = offsets[: 3 * n].reshape(3, n)[:, :30].ravel() // dtype.itemsize
    where = h.lanes(DST, 1, 9, dtype, dtype.itemsize, list(range(30)), 3)
    h.store(expected, where, h.get(image, A, 3000, dtype)[index])
    np.testing.assert_array_equal(after, expected)
    h.put(image, B, np.array([200000], np.uint32))
    with pytest.raises(h.SimulatorError, match="past the end of UB"):
        h.runner().run(f"Gather.{t}.count", image, DST, A, B, 0, 8)
    with pytest.raises(h.SimulatorError, match="255 repeats"):
        h.runner().run(f"Gather.{t}.count", image, DST, A, B, 0, 256 * n)


@pytest.mark.parametrize("t", ["uint16_t", "uint32_t"])
def test_gatherb(t: str) -> None:
    rng = np.random.default_rng(6)
    image = h.noise(6)
    h.put(image, B, (rng.integers(0, 200, 64) * 32).astype(np.uint32))
    for repeats, blk, rep in [(3, 1, 8), (2, 0, 8), (2, 2, 16)]:
        after, _ = h.runner().run(f"Gatherb.{t}", image, DST, A, B, repeats, blk, rep)
        expected = image.copy()
        for r in range(repeats):
            for i in range(8):
                at = DST + (r * rep + i * max(blk, 1)) * 32
                source = A + int(h.get(image, B, 64, U32)[r * 8 + i])
                expected[at : at + 32] = image[source : source + 32]
        np.testing.assert_array_equal(after, expected)


PATTERNS = {1: [0, 2], 2: [1, 3], 3: [0], 4: [1], 5: [2], 6: [3], 7: [0, 1, 2, 3]}


@pytest.mark.parametrize("t", FILL)
def test_gather_mask(t: str) -> None:
    dtype = h.DTYPES[t]
    image = h.noise(7)
    n = 256 // dtype.itemsize

    def source(blk: int, rep: int, per_repeat: int, repeats: int) -> np.ndarray:
        per_block = 32 // dtype.itemsize
        lane = np.arange(per_repeat)
        where = A + (lane // per_block) * blk * 32 + (lane % per_block) * dtype.itemsize
        return np.stack([h.load(image, where + r * rep * 32, dtype) for r in range(repeats)])

    # (counter mode, mask, blk, repeats, rep): 256 bytes a repeat, or `mask` elements, more than a repeat holds too
    forms = [(0, 0, 1, 4, 8), (1, 13, 1, 3, 8), (1, n + 6, 1, 2, 12), (0, 0, 2, 2, 16), (1, 3 * n + 5, 1, 1, 0)]
    for counter, mask, blk, repeats, rep in forms:
        per_repeat = mask if counter else n
        rows = source(blk, rep, per_repeat, repeats)
        for pattern, kept in PATTERNS.items():
            args = (pattern, counter, mask, blk, repeats, rep, 0)
            after, results = h.runner().run(f"GatherMask.{t}.pattern", image, DST, A, *args)
            want = rows[:, np.isin(np.arange(per_repeat) % 4, kept)].ravel()
            assert int(results[0]) == want.size
            expected = image.copy()
            h.put(expected, DST, want)
            np.testing.assert_array_equal(after, expected)
        for bits_rep in (0, 2):
            after, results = h.runner().run(
                f"GatherMask.{t}.tensor", image, DST, A, B, counter, mask, blk, repeats, rep, bits_rep
            )
            parts = []
            for r in range(repeats):
                at = B + r * bits_rep * 32
                bits = np.unpackbits(image[at : at + (per_repeat + 7) // 8], bitorder="little")[:per_repeat]
                parts.append(rows[r][bits == 1])
            want = np.concatenate(parts)
            assert int(results[0]) == want.size
            expected = image.copy()
            h.put(expected, DST, want)
            np.testing.assert_array_equal(after, expected)
    after, _ = h.runner().run(f"GatherMask.{t}.pattern", image, A, A, 2, 0, 0, 1, 4, 8, 0)  # in place
    np.testing.assert_array_equal(after[A : A + 512], source(1, 8, n, 4)[:, 1::2].ravel().view(np.uint8))
    with pytest.raises(h.SimulatorError, match="pattern 8"):
        h.runner().run(f"GatherMask.{t}.pattern", image, DST, A, 8, 0, 0, 1, 4, 8, 0)


def pairs(scores: np.ndarray, index: np.ndarray) -> np.ndarray:
    """(score, index) pairs of 8 bytes, descending, equal scores in order."""
    order = np.argsort(-scores.astype(np.float64), kind="stable")
    raw = np.zeros((scores.size, 8), np.uint8)
    raw[:, : scores.itemsize] = scores[order].view(np.uint8).reshape(scores.size, -1)
    raw[:, 4:] = index[order].astype(np.uint32).view(np.uint8).reshape(scores.size, 4)
    return raw


def scores(rng: np.random.Generator, n: int, dtype: np.dtype) -> np.ndarray:
    return (rng.integers(-30, 30, n) / 4).astype(dtype)  # many ties


@pytest.mark.parametrize("t", ["half", "float"])
def test_sort32(t: str) -> None:
    dtype = h.DTYPES[t]
    rng = np.random.default_rng(8)
    image = h.noise(8)
    x = scores(rng, 32 * 7, dtype)
    index = rng.permutation(x.size).astype(np.uint32)
    h.put(image, A, x)
    h.put(image, B, index)
    after, _ = h.runner().run(f"Sort32.{t}", image, DST, A, B, 7)
    got = after[DST : DST + x.size * 8].reshape(-1, 8)
    want = np.concatenate([pairs(x[i : i + 32], index[i : i + 32]) for i in range(0, x.size, 32)])
    np.testing.assert_array_equal(got[:, : dtype.itemsize], want[:, : dtype.itemsize])
    np.testing.assert_array_equal(got[:, 4:], want[:, 4:])


@pytest.mark.parametrize("t", ["half", "float"])
def test_merge_sort(t: str) -> None:
    dtype = h.DTYPES[t]
    rng = np.random.default_rng(9)
    places = [A, A + 0x2000, B, C]
    for lengths, valid in [([64, 64, 64, 64], 15), ([10, 3, 40, 7], 15), ([5, 9, 2, 0], 7), ([20, 31, 0, 0], 3)]:
        image = h.noise(9)
        used = {3: 2, 7: 3, 15: 4}[valid]
        lists = [scores(rng, n, dtype) for n in lengths]
        ids = [np.arange(n, dtype=np.uint32) + 1000 * k for k, n in enumerate(lengths)]
        for place, x, i in zip(places, lists, ids):
            if x.size:
                h.put(image, place, pairs(x, i))
        # Equal scores: the earlier list first. Inside a list the order is the list's own.
        sorted_lists = [pairs(x, i).view(np.uint8).reshape(-1, 8) for x, i in zip(lists[:used], ids[:used])]
        everything = np.concatenate([s for s in sorted_lists if s.size])
        all_scores = np.ascontiguousarray(everything[:, : dtype.itemsize]).view(dtype).ravel()
        want = everything[np.argsort(-all_scores.astype(np.float64), kind="stable")]
        after, results = h.runner().run(f"MrgSort.{t}", image, DST, *places, *lengths, 0, valid, 1)
        np.testing.assert_array_equal(after[DST : DST + want.size].reshape(-1, 8), want)
        assert [int(r) for r in results[:used]] == lengths[:used]
        after, results = h.runner().run(f"MrgSort.{t}", image, DST, *places, *lengths, 1, valid, 1)
        taken = [int(r) for r in results[:used]]
        assert any(n == m for n, m in zip(taken, lengths[:used]))
        np.testing.assert_array_equal(after[DST : DST + sum(taken) * 8].reshape(-1, 8), want[: sum(taken)])
        np.testing.assert_array_equal(after[DST + sum(taken) * 8 :], image[DST + sum(taken) * 8 :])
    # Two repeats over four chained lists each.
    image = h.noise(10)
    x = scores(rng, 8 * 16, dtype)
    index = np.arange(x.size, dtype=np.uint32)
    for i in range(8):
        h.put(image, A + i * 128, pairs(x[i * 16 : i * 16 + 16], index[i * 16 : i * 16 + 16]))
    chained = [A + i * 128 for i in range(4)]
    after, _ = h.runner().run(f"MrgSort.{t}", image, DST, *chained, 16, 16, 16, 16, 0, 15, 2)
    want = np.concatenate([pairs(x[:64], index[:64]), pairs(x[64:], index[64:])])
    np.testing.assert_array_equal(after[DST : DST + want.size].reshape(-1, 8)[:, 4:], want[:, 4:])
    with pytest.raises(h.SimulatorError, match="repeatTimes 2"):
        h.runner().run(f"MrgSort.{t}", image, DST, *chained, 16, 16, 16, 8, 0, 15, 2)
    with pytest.raises(h.SimulatorError, match="validBit 5"):
        h.runner().run(f"MrgSort.{t}", image, DST, *chained, 16, 16, 16, 16, 0, 5, 1)


@pytest.mark.parametrize("t", ["half", "float"])
def test_full_sort_and_extract(t: str) -> None:
    dtype = h.DTYPES[t]
    rng = np.random.default_rng(11)
    for repeats in (1, 2, 5, 17, 40):
        n = repeats * 32
        image = h.noise(12)
        x = scores(rng, n, dtype)
        h.put(image, A, x)
        h.put(image, B, np.arange(n, dtype=np.uint32))
        after, results = h.runner().run(f"Sort.{t}", image, DST, A, B, C, repeats, D, D + 0x2000)
        order = np.argsort(-x.astype(np.float64), kind="stable")
        np.testing.assert_array_equal(h.get(after, D, n, dtype), x[order])
        np.testing.assert_array_equal(h.get(after, D + 0x2000, n, U32), order)
        assert [int(r) for r in results[:2]] == [3 * 8 // dtype.itemsize, 5 * 8 // dtype.itemsize]


@pytest.mark.parametrize("t", ["int16_t", "uint16_t", "half"])
def test_transpose_tile(t: str) -> None:
    image = h.noise(13)
    after, _ = h.runner().run(f"Transpose.{t}", image, DST, A)
    u16 = np.dtype(np.uint16)
    want = h.get(image, A, 256, u16).reshape(16, 16).T
    np.testing.assert_array_equal(h.get(after, DST, 256, u16).reshape(16, 16), want)
    after, _ = h.runner().run(f"Transpose.{t}", image, A, A)
    np.testing.assert_array_equal(h.get(after, A, 256, u16).reshape(16, 16), want)


@pytest.mark.parametrize("t", ["int8_t", "half", "float"])
def test_transpose_planes(t: str) -> None:
    dtype = np.dtype(f"u{h.DTYPES[t].itemsize}")
    image = h.noise(14)
    n, c, rows, cols = 3, 5, 4, 32 // dtype.itemsize
    x = h.get(image, A, n * c * rows * cols, dtype)
    after, _ = h.runner().run(f"Transpose.{t}.planes", image, DST, A, B, n, c, rows, cols, 11)
    want = x.reshape(n, c, rows, cols).transpose(0, 2, 3, 1).ravel()
    np.testing.assert_array_equal(h.get(after, DST, x.size, dtype), want)
    after, _ = h.runner().run(f"Transpose.{t}.planes", image, DST, A, B, n, c, rows, cols, 12)
    want = x.reshape(n, rows, cols, c).transpose(0, 3, 1, 2).ravel()
    np.testing.assert_array_equal(h.get(after, DST, x.size, dtype), want)
    with pytest.raises(h.SimulatorError, match="transposeType 1 "):
        h.runner().run(f"Transpose.{t}.planes", image, DST, A, B, n, c, rows, cols, 1)


@pytest.mark.parametrize("t", ["int8_t", "half", "float"])
def test_transdata_5hd(t: str) -> None:
    dtype = np.dtype(f"u{h.DTYPES[t].itemsize}")
    image = h.noise(15)
    per_block = 32 // dtype.itemsize
    for repeats, dst_rep, src_rep in [(1, 0, 0), (3, 16, 16), (2, 16, 1)]:
        for dst_high in (0, 1) if t == "int8_t" else (0,):
            for src_high in (0, 1) if t == "int8_t" else (0,):
                pitch = 32 * 16 if src_rep == 1 else 32
                args = (32, pitch, dst_high, src_high, repeats, dst_rep, src_rep)
                after, _ = h.runner().run(f"TransDataTo5HD.{t}", image, DST, A, *args)
                expected = image.copy()
                for r in range(repeats):
                    starts = [A + i * pitch + r * src_rep * 32 for i in range(16)]
                    block = np.stack([h.get(image, start, per_block, dtype) for start in starts])
                    for i in range(16):
                        at = DST + i * 32 + r * dst_rep * 32
                        if t == "int8_t":
                            h.put(expected, at + 16 * dst_high, block[:, 16 * src_high + i])
                        elif t == "half":
                            h.put(expected, at, block[:, i])
                        else:
                            h.put(expected, at, block[8 * (i % 2) : 8 * (i % 2) + 8, i // 2])
                np.testing.assert_array_equal(after, expected)
    if t == "half":
        after, _ = h.runner().run("TransDataTo5HD.half.tensors", image, DST, A, 32, 32, 0, 0, 1, 0, 0)
        want = h.get(image, A, 256, dtype).reshape(16, 16).T
        np.testing.assert_array_equal(h.get(after, DST, 256, dtype).reshape(16, 16), want)
