"""Comparisons and selection against numpy, and the state of the mask registers."""

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
F16 = np.dtype(np.float16)
DST, A, B, BITS, ROOM = 0x0000, 0x8000, 0x10000, 0x18000, 0x1C000
COMPARE = [np.less, np.greater, np.equal, np.less_equal, np.greater_equal, np.not_equal]


def picture(seed: int, dtype: np.dtype) -> np.ndarray:
    rng = np.random.default_rng(seed)
    image = h.noise(seed)
    a = h.values(rng, 4096, dtype)
    b = h.values(rng, 4096, dtype)
    same = rng.random(4096) < 0.3
    b[same] = a[same]
    h.put(image, A, a)
    h.put(image, B, b)
    return image


@pytest.mark.parametrize("t", ["half", "float", "int32_t"])
@pytest.mark.parametrize("mode", range(6))
def test_compare(t: str, mode: int) -> None:
    dtype = h.DTYPES[t]
    lanes = 256 // dtype.itemsize
    image = picture(mode, dtype)
    if t == "int32_t" and mode != 2:
        with pytest.raises(h.SimulatorError, match="EQ only"):
            h.runner().run(f"Compare.{t}.count", image, DST, A, B, mode, lanes)
        return
    for repeats in (1, 5, 30):
        n = repeats * lanes
        a, b = (h.get(image, base, n, dtype) for base in (A, B))
        with np.errstate(invalid="ignore"):
            expected = image.copy()
            h.put(expected, DST, np.packbits(COMPARE[mode](a, b), bitorder="little"))
            after, _ = h.runner().run(f"Compare.{t}.count", image, DST, A, B, mode, n)
            np.testing.assert_array_equal(after, expected)
            scalar = a[3] if not np.isnan(a[3]) else dtype.type(1)
            h.put(expected, DST, np.packbits(COMPARE[mode](a, scalar), bitorder="little"))
        for name in ("Compares", "CompareScalar"):
            after, _ = h.runner().run(f"{name}.{t}.count", image, DST, A, h.bits_of(scalar, dtype), mode, n)
            np.testing.assert_array_equal(after, expected)
    s = (1, 2, 0, 8, 16, 1)
    after, _ = h.runner().run(f"Compare.{t}.repeat", image, DST, A, B, mode, 4, *s)
    a, b = (
        h.load(image, h.lanes(base, s[i], s[i + 3], dtype, dtype.itemsize, list(range(lanes)), 4), dtype)
        for i, base in ((1, A), (2, B))
    )
    with np.errstate(invalid="ignore"):
        want = np.packbits(COMPARE[mode](a, b), bitorder="little")
    np.testing.assert_array_equal(after[DST : DST + want.size], want)
    with pytest.raises(h.SimulatorError, match="not a multiple"):
        h.runner().run(f"Compare.{t}.count", image, DST, A, B, mode, lanes + 1)


@pytest.mark.parametrize("t", ["half", "float"])
def test_compare_into_the_register(t: str) -> None:
    dtype = h.DTYPES[t]
    n = 256 // dtype.itemsize
    image = picture(3, dtype)
    lanes = [i for i in range(n) if i % 3]
    after, _ = h.runner().run(f"Compare.{t}.register", image, DST, A, B, BITS, *h.mask_words(lanes), 0)
    before = np.unpackbits(image[BITS : BITS + 16], bitorder="little")
    with np.errstate(invalid="ignore"):
        less = h.get(image, A, n, dtype) < h.get(image, B, n, dtype)
    before[lanes] = less[lanes]
    np.testing.assert_array_equal(after[DST : DST + 16], np.packbits(before, bitorder="little"))


def selected(image: np.ndarray, t: str, mode: int, n: int, scalar: np.ndarray | None = None) -> np.ndarray:
    dtype = h.DTYPES[t]
    lanes = 256 // dtype.itemsize
    bits = np.unpackbits(image[BITS : BITS + (n + 7) // 8 + 16], bitorder="little")
    bits = np.resize(bits[:lanes], n) if mode == 0 else bits[:n]
    b = h.get(image, B, n, dtype) if scalar is None else np.full(n, scalar, dtype)
    return np.where(bits == 1, h.get(image, A, n, dtype), b)


@pytest.mark.parametrize("t", ["half", "float"])
def test_select_count(t: str) -> None:
    dtype = h.DTYPES[t]
    image = picture(5, dtype)
    scalar = np.asarray(-2.5, dtype)
    for n in (1, 63, 128, 300, 2000):
        for mode in (0, 2):
            after, _ = h.runner().run(f"Select.{t}.tensor.count", image, DST, BITS, A, B, mode, n)
            h.assert_same(h.get(after, DST, n, dtype), selected(image, t, mode, n))
            np.testing.assert_array_equal(after[DST + n * dtype.itemsize :], image[DST + n * dtype.itemsize :])
        after, _ = h.runner().run(f"Select.{t}.scalar.count", image, DST, BITS, A, h.bits_of(scalar, dtype), 1, n)
        h.assert_same(h.get(after, DST, n, dtype), selected(image, t, 1, n, scalar))
    with pytest.raises(h.SimulatorError, match="needs a scalar"):
        h.runner().run(f"Select.{t}.tensor.count", image, DST, BITS, A, B, 1, 64)


@pytest.mark.parametrize("t", ["half", "float"])
def test_select_mask_forms(t: str) -> None:
    dtype = h.DTYPES[t]
    n = 256 // dtype.itemsize
    image = picture(6, dtype)
    scalar = np.asarray(7.25, dtype)
    raw = h.bits_of(scalar, dtype)
    everything = list(range(n))
    for lanes, s, repeats in [
        (everything, (1, 1, 1, 8, 8, 8), 4),
        (everything[:37], (1, 1, 1, 8, 8, 8), 3),
        (everything[::3], (2, 1, 2, 16, 9, 16), 3),
        (everything, (1, 1, 0, 8, 8, 1), 5),
    ]:
        words = h.mask_words(lanes)
        bits = np.unpackbits(image[BITS : BITS + repeats * n // 8], bitorder="little").reshape(repeats, n)
        where = [h.lanes(b, s[i], s[i + 3], dtype, dtype.itemsize, lanes, repeats) for i, b in enumerate((DST, A, B))]
        a, b = h.load(image, where[1], dtype), h.load(image, where[2], dtype)
        streamed = bits[:, lanes].ravel() == 1
        held = np.resize(bits[0, lanes], streamed.shape) == 1
        for name, args, want in [
            ("tensor.bits", (B, 2), np.where(streamed, a, b)),
            ("tensor.bits", (B, 0), np.where(held, a, b)),
            ("scalar.bits", (raw, 1), np.where(streamed, a, scalar)),
            ("register", (B, 0), np.where(held, a, b)),
            ("address", (B, 2), np.where(streamed, a, b)),
            ("held_scalar", (raw, 1), np.where(streamed, a, scalar)),
        ]:
            after, _ = h.runner().run(f"Select.{t}.{name}", image, DST, BITS, A, *args, *words, repeats, *s, ROOM)
            expected = image.copy()
            h.store(expected, where[0], want)
            np.testing.assert_array_equal(after[:BITS], expected[:BITS], err_msg=name)


def test_select_overwrites_the_scratch_of_the_chips_library() -> None:
    image = picture(8, F32)
    _, results = h.runner().run("Select.scratch", image, DST, BITS, A, B)
    assert [int(r) for r in results[:5]] == [0xABCDEF01, BITS, 0xABCDEF01, h.bits_of(2.0, F32), 0xABCDEF01]


# the mask registers


def test_level0_leaves_its_mask_and_level2_resets_it() -> None:
    image = h.noise(2)
    rng = np.random.default_rng(1)
    for base in (A, B):
        h.put(image, base, h.floats(rng, 512, F32, special=False))
    a, b = (h.get(image, base, 128, F32) for base in (A, B))
    after, _ = h.runner().run("mask.level0_stays", image, DST, A, B, ROOM)
    got = h.get(after, ROOM, 128, F32)
    was = h.get(image, ROOM, 128, F32)
    keep = np.arange(128) % 64 < 5
    h.assert_same(got, np.where(keep, a - b, was))
    after, _ = h.runner().run("mask.level2_resets", image, DST, A, B, ROOM)
    np.testing.assert_array_equal(h.get(after, ROOM, 64, F32), (a - b)[:64])


def test_reset_and_set_vector_mask() -> None:
    image = h.noise(3)
    rng = np.random.default_rng(2)
    for base in (A, B):
        h.put(image, base, h.floats(rng, 512, F16, special=False))
    a, b = (h.get(image, base, 128, F16) for base in (A, B))
    after, _ = h.runner().run("mask.reset", image, DST, A, B, ROOM)
    h.assert_same(h.get(after, ROOM, 128, F16), (a.astype(F32) - b.astype(F32)).astype(F16))
    one = h.bits_of(1.0, F16)
    after, _ = h.runner().run("mask.count_form_uses_register", image, DST, A, one)
    was = h.get(image, DST, 128, F16)
    h.assert_same(h.get(after, DST, 128, F16), np.where(np.arange(128) < 3, a + np.float16(1), was))
    for n in (0, 1, 64, 65, 127, 128):
        after, _ = h.runner().run("mask.length", image, DST, A, one, n)
        h.assert_same(h.get(after, DST, 128, F16), np.where(np.arange(128) < n, a + np.float16(1), was))


@pytest.mark.parametrize("case", ["mask.counter", "mask.counter_argument"])
def test_counter_mode_with_strides(case: str) -> None:
    image = h.noise(4)
    rng = np.random.default_rng(3)
    for base in (A, B):
        h.put(image, base, h.floats(rng, 4096, F32, special=False))
    for count in (1, 64, 130, 400):
        for s in [(1, 1, 1, 8, 8, 8), (2, 2, 1, 16, 16, 8), (1, 1, 0, 8, 8, 1)]:
            after, _ = h.runner().run(case, image, DST, A, B, ROOM, count, *s)
            full, tail = divmod(count, 64)
            where = []
            for i, base in enumerate((DST, A, B)):
                head = h.lanes(base, s[i], s[i + 3], F32, 4, list(range(64)), full)
                rest = h.lanes(base + full * s[i + 3] * 32, s[i], 0, F32, 4, list(range(tail)), 1)
                where.append(np.concatenate([head, rest]))
            expected = image.copy()
            h.store(expected, where[0], h.load(image, where[1], F32) - h.load(image, where[2], F32))
            np.testing.assert_array_equal(after, expected)


def test_wrong_masks_are_refused() -> None:
    image = h.noise(5)
    with pytest.raises(h.SimulatorError, match="mask 65 is more than the 64 lanes"):
        h.runner().run("mask.too_many", image, DST, A, B)
    with pytest.raises(h.SimulatorError, match="counter mode"):
        h.runner().run("mask.counter_needs_array", image, DST, A, B)
    with pytest.raises(h.SimulatorError, match="count -1"):
        h.runner().run("Add.float.count", image, DST, A, B, -1)
    with pytest.raises(h.SimulatorError, match="past the end"):
        h.runner().run("Add.float.count", image, DST, A, 128 * 1024 - 32, 40000)
    with pytest.raises(h.SimulatorError, match="multiple of 32"):
        h.runner().run("Add.float.count", image, DST, A + 8, B, 64)
