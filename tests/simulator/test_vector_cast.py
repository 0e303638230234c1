"""Conversions against numpy: every pair the chip has, every rounding mode, count and mask forms."""

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
DST, A, B = 0x0000, 0x8000, 0x10000
NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD = range(7)

_cases = importlib.util.spec_from_file_location("pyto_vector_cases", Path(__file__).with_name("vector_cases.py"))
assert _cases is not None and _cases.loader is not None
_module = importlib.util.module_from_spec(_cases)
_cases.loader.exec_module(_module)
CASTS = [(to, source, mode) for (to, source), modes in _module.CASTS.items() for mode in modes]


def whole(x: np.ndarray, mode: int) -> np.ndarray:
    """Float64 to whole numbers."""
    if mode in (NONE, RINT):
        return np.rint(x)
    if mode == ROUND:
        return np.trunc(x) + np.where(np.abs(x - np.trunc(x)) >= 0.5, np.sign(x), 0)
    return {FLOOR: np.floor, CEIL: np.ceil, TRUNC: np.trunc}[mode](x)


def to_float_type(x: np.ndarray, dtype: np.dtype, mode: int) -> np.ndarray:
    """Float64 or int64 values to a float type; neighbours are compared in exact arithmetic."""
    mantissa, least, largest = {
        F32: (24, -149, float(np.finfo(np.float32).max)),
        F16: (11, -24, 65504.0),
        h.BF16: (8, -133, float(2.0**127 * (2 - 2**-7))),
    }[dtype]
    out = np.zeros(x.size, np.float64)
    for i, value in enumerate(x.tolist()):
        if value != value or value in (float("inf"), float("-inf")) or value == 0:
            out[i] = value
            continue
        numerator, denominator = abs(value).as_integer_ratio()
        exponent = numerator.bit_length() - denominator.bit_length()
        if numerator * 2 ** max(0, -exponent) < denominator * 2 ** max(0, exponent):
            exponent -= 1
        unit = max(exponent - mantissa + 1, least)
        scaled_n, scaled_d = numerator * 2 ** max(0, -unit), denominator * 2 ** max(0, unit)
        kept, rest = divmod(scaled_n, scaled_d)
        negative = value < 0
        up = {
            NONE: 2 * rest > scaled_d or (2 * rest == scaled_d and kept % 2 == 1),
            RINT: 2 * rest > scaled_d or (2 * rest == scaled_d and kept % 2 == 1),
            FLOOR: negative and rest > 0,
            CEIL: not negative and rest > 0,
            ROUND: 2 * rest >= scaled_d,
            TRUNC: False,
            ODD: rest > 0 and kept % 2 == 0,
        }[mode]
        magnitude = float(kept + up) * 2.0**unit
        if magnitude > largest:
            to_zero = mode in (TRUNC, ODD) or (mode == FLOOR and not negative) or (mode == CEIL and negative)
            magnitude = largest if to_zero else np.inf
        out[i] = -magnitude if negative else magnitude
        if magnitude == 0 and negative:
            out[i] = -0.0
    with np.errstate(all="ignore"):
        return out.astype(np.float32).astype(dtype)


def convert(x: np.ndarray, dtype: np.dtype, mode: int) -> np.ndarray:
    source_float = x.dtype.kind == "f" or x.dtype == h.BF16
    if dtype.kind == "f" or dtype == h.BF16:
        if dtype == x.dtype:
            with np.errstate(all="ignore"):
                return np.copysign(whole(x.astype(np.float64), mode), x.astype(np.float64)).astype(dtype)
        with np.errstate(invalid="ignore"):
            exact = x.astype(np.float64) if source_float else x.astype(np.int64)
        return to_float_type(exact, dtype, mode)
    info = np.iinfo(dtype)
    if not source_float:
        return np.clip(x.astype(np.int64), info.min, info.max).astype(dtype)
    with np.errstate(all="ignore"):
        wide = np.nan_to_num(whole(x.astype(np.float64), mode), nan=0.0, posinf=1e30, neginf=-1e30)
    low = wide <= float(info.min)
    high = wide >= float(info.max)
    inside = np.where(low | high, 0, wide).astype(np.int64)
    return np.where(low, info.min, np.where(high, info.max, inside)).astype(dtype)


def source_values(rng: np.random.Generator, n: int, dtype: np.dtype, to: np.dtype) -> np.ndarray:
    if dtype.kind != "f" and dtype != h.BF16:
        x = h.integers(rng, n, dtype)
        if dtype.itemsize >= 4:
            shift = rng.integers(0, 8 * dtype.itemsize - 1, n // 2)
            x[: n // 2] = (x[: n // 2].astype(np.int64) >> shift).astype(dtype)
        return x
    x = h.floats(rng, n, dtype)
    if to.kind != "f" and to != h.BF16:
        scale = float(np.iinfo(to).max) * 1.3
        with np.errstate(all="ignore"):
            x[n // 4 : n // 2] = (rng.uniform(-1, 1, n // 4) * scale).astype(np.float32).astype(dtype)
            ties = (rng.integers(-200, 200, n // 4) + 0.5).astype(np.float32)
            x[n // 2 : n // 2 + n // 4] = ties.astype(dtype)
    elif to.itemsize < dtype.itemsize:
        # Bits around the last place, ties among them, and the denormal range.
        raw = rng.integers(0, 2**32, n // 2, dtype=np.uint32) & np.uint32(0xFFFFF000)
        raw[::3] &= np.uint32(0xFFFF8000)
        x[: n // 2] = raw.view(np.float32)
        x[n // 2 : n // 2 + n // 8] = (rng.standard_normal(n // 8) * 2.0**-20).astype(np.float32)
    return x


@pytest.mark.parametrize(("t", "u", "mode"), CASTS)
def test_cast(t: str, u: str, mode: int) -> None:
    to, source = h.DTYPES[t], h.DTYPES[u]
    rng = np.random.default_rng(mode)
    width = max(to.itemsize, source.itemsize)
    image = h.noise(mode)
    h.put(image, A, source_values(rng, 2048, source, to))
    for count in (1, 131, 2000):
        after, _ = h.runner().run(f"Cast.{t}.{u}.count", image, DST, A, mode, count)
        want = convert(h.get(image, A, count, source), to, mode)
        h.assert_same(h.get(after, DST, count, to), want, f"{u} -> {t} mode {mode}")
        end = DST + count * to.itemsize
        np.testing.assert_array_equal(after[end:], image[end:])
    full = list(range(256 // width))
    dense = (8 * to.itemsize // width, 8 * source.itemsize // width)
    for s, mask, repeats in [
        ((1, 1, *dense), full, 5),
        ((1, 1, 9, 9), full[:21], 3),
        ((2, 3, 18, 20), full, 2),
        ((1, 0, 8, 8), full, 2),
    ]:
        for form, lanes in (("mask", mask), ("bits", mask[1::2])):
            args = [len(lanes)] if form == "mask" else h.mask_words(lanes)
            after, _ = h.runner().run(f"Cast.{t}.{u}.{form}", image, DST, A, mode, *args, repeats, *s)
            where = h.lanes(DST, s[0], s[2], to, width, lanes, repeats)
            values = h.load(image, h.lanes(A, s[1], s[3], source, width, lanes, repeats), source)
            want_image = image.copy()
            h.store(want_image, where, convert(values, to, mode))
            got, want = h.load(after, where, to), h.load(want_image, where, to)
            h.assert_same(got, want, f"{u} -> {t} mode {mode} strides {s}")
            h.store(want_image, where, got)  # NaN bits may differ; every other byte must not
            np.testing.assert_array_equal(after, want_image)


@pytest.mark.parametrize("mode", [NONE, RINT, FLOOR, CEIL, ROUND, TRUNC])
def test_int4(mode: int) -> None:
    rng = np.random.default_rng(mode)
    image = h.noise(2)
    h.put(image, A, (rng.integers(-40, 40, 1024) / 4).astype(F16))
    for count in (2, 126, 1000):
        want = np.clip(whole(h.get(image, A, count, F16).astype(np.float64), mode), -8, 7).astype(np.int64) & 15
        after, _ = h.runner().run("Cast.int4b_t.half.count", image, DST, A, mode, count)
        expected = image.copy()
        h.put(expected, DST, (want[::2] | want[1::2] << 4).astype(np.uint8))
        np.testing.assert_array_equal(after, expected)
        after, _ = h.runner().run("Cast.half.int4b_t.count", expected, B, DST, NONE, count)
        back = np.where(want >= 8, want - 16, want).astype(F16)
        np.testing.assert_array_equal(h.get(after, B, count, F16), back)
    after, _ = h.runner().run("Cast.int4b_t.half.mask", image, DST, A, mode, 40, 4, 1, 1, 3, 8)
    want = np.clip(whole(h.get(image, A, 512, F16).astype(np.float64), mode), -8, 7).astype(np.int64) & 15
    expected = image.copy()
    for r in range(4):
        row = want[r * 128 : r * 128 + 40]
        h.put(expected, DST + r * 96, (row[::2] | row[1::2] << 4).astype(np.uint8))
    np.testing.assert_array_equal(after, expected)


def test_bf16_rounding_of_every_bf16_neighbourhood() -> None:
    """RNE by ml_dtypes on all 65536 upper halves with a few lower halves, denormals included."""
    lower = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    for start in range(0, 65536, 8192):
        upper = np.arange(start, start + 8192, dtype=np.uint32) << 16
        for low in lower:
            x = (upper | low).view(np.float32)
            image = h.noise(1)
            h.put(image, A, x)
            after, _ = h.runner().run("Cast.bfloat16_t.float.count", image, DST, A, RINT, 8192)
            with np.errstate(all="ignore"):
                h.assert_same(h.get(after, DST, 8192, h.BF16), x.astype(h.BF16))


def test_half_conversions_of_every_half() -> None:
    everything = np.arange(65536, dtype=np.uint16)
    for start in range(0, 65536, 8192):
        image = h.noise(1)
        h.put(image, A, everything[start : start + 8192])
        after, _ = h.runner().run("Cast.float.half.count", image, DST, A, NONE, 8192)
        h.assert_same(h.get(after, DST, 8192, F32), everything[start : start + 8192].view(F16).astype(F32))
        after, _ = h.runner().run("Cast.half.float.count", after, A, DST, NONE, 8192)
        h.assert_same(h.get(after, A, 8192, F16), everything[start : start + 8192].view(F16))


def test_dequantising_casts() -> None:
    rng = np.random.default_rng(4)
    i32, i16 = np.dtype(np.int32), np.dtype(np.int16)
    image = h.noise(3)
    h.put(image, A, rng.integers(-(2**20), 2**20, 4096, dtype=i32))
    h.put(image, B, rng.integers(-(2**20), 2**20, 4096, dtype=i32))
    scale = np.float16(0.0123)
    a, b = h.get(image, A, 1000, i32), h.get(image, B, 1000, i32)
    after, _ = h.runner().run("Cast.half.int32_t.count", image, DST, A, h.bits_of(scale, F16), 1000)
    with np.errstate(over="ignore"):
        want = (a.astype(F32) * np.float32(scale)).astype(F16)
        h.assert_same(h.get(after, DST, 1000, F16), want)
        after, _ = h.runner().run("AddDeqRelu.count", image, DST, A, B, h.bits_of(scale, F16), 1000)
        want = np.maximum((a + b).astype(F32) * np.float32(scale), 0).astype(F16)
    h.assert_same(h.get(after, DST, 1000, F16), want)
    h.put(image, A, rng.integers(-300, 300, 512, dtype=i16))
    x = h.get(image, A, 512, i16).astype(F32)
    for t, low, high in (("int8_t", -128, 127), ("uint8_t", 0, 255)):
        after, _ = h.runner().run(f"CastDequant.{t}.one", image, DST, A, h.bits_of(0.5, F32), -7, 512)
        want = np.clip(np.rint(x * 0.5 - 7), low, high).astype(h.DTYPES[t])
        got = h.get(after, DST, 1024, h.DTYPES[t]).reshape(32, 32)
        np.testing.assert_array_equal(got[:, 16:], want.reshape(32, 16))  # halfBlock: the upper half of each block
        np.testing.assert_array_equal(got[:, :16], h.get(image, DST, 1024, h.DTYPES[t]).reshape(32, 32)[:, :16])


@pytest.mark.parametrize(
    ("name", "t", "u"),
    [
        ("AddReluCast", "half", "float"),
        ("AddReluCast", "int8_t", "half"),
        ("AddReluCast", "int8_t", "int16_t"),
        ("SubReluCast", "half", "float"),
        ("MulCast", "int8_t", "half"),
        ("MulCast", "uint8_t", "half"),
    ],
)
def test_fused_casts(name: str, t: str, u: str) -> None:
    to, source = h.DTYPES[t], h.DTYPES[u]
    rng = np.random.default_rng(6)
    image = h.noise(5)
    for base in (A, B):
        x = rng.integers(-200, 200, 1000).astype(source) if source.kind == "i" else h.floats(rng, 1000, source)
        h.put(image, base, x)
    a, b = (h.get(image, base, 999, source).astype(F32) for base in (A, B))
    with np.errstate(all="ignore"):
        value = {"AddReluCast": a + b, "SubReluCast": a - b, "MulCast": a * b}[name]
        value = value if name == "MulCast" else np.where(value < 0, np.float32(0), value)
    after, _ = h.runner().run(f"{name}.{t}.{u}.count", image, DST, A, B, 999)
    h.assert_same(h.get(after, DST, 999, to), convert(value, to, RINT))


def test_rounding_mode_without_instruction_is_refused() -> None:
    image = h.noise(1)
    for case, mode in [("bfloat16_t.float", NONE), ("float.half", RINT), ("int32_t.float", ODD), ("half.int16_t", ODD)]:
        with pytest.raises(h.SimulatorError, match="rounding mode"):
            h.runner().run(f"Cast.{case}.count", image, DST, A, mode, 64)
