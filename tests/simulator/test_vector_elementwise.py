"""Element-wise vector instructions against numpy: every type, count and mask forms, strides, tails."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
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
DST, A, B = 0x0000, 0x8000, 0x10000  # 32 KiB each


def rounded(f: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """`f` in float32 (halves are widened), the result rounded to the type of the operands."""

    def run(*operands: np.ndarray) -> np.ndarray:
        dtype = operands[0].dtype
        with np.errstate(all="ignore"):
            return f(*(o.astype(np.float32) if dtype.kind == "f" else o for o in operands)).astype(dtype)

    return run


def relu(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, x.dtype.type(0), x)


def bigger(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(a) if a.dtype.kind == "f" else False, a, np.where(a > b, a, b))


def smaller(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(a) if a.dtype.kind == "f" else False, a, np.where(a < b, a, b))


# f(dst, a, b)
BINARY = {
    "Add": lambda d, a, b: a + b,
    "Sub": lambda d, a, b: a - b,
    "Mul": lambda d, a, b: a * b,
    "Div": lambda d, a, b: a / b,
    "Max": lambda d, a, b: bigger(a, b),
    "Min": lambda d, a, b: smaller(a, b),
    "And": lambda d, a, b: a & b,
    "Or": lambda d, a, b: a | b,
    "AddRelu": lambda d, a, b: relu(a + b),
    "SubRelu": lambda d, a, b: relu(a - b),
    "FusedMulAdd": lambda d, a, b: a * d + b,
    "FusedMulAddRelu": lambda d, a, b: relu(a * d + b),
    "MulAddRelu": lambda d, a, b: relu(a * d + b),
}
TYPES = {
    "Add": ["half", "float", "int16_t", "int32_t"],
    "Div": ["half", "float"],
    "And": ["int16_t", "uint16_t"],
    "AddRelu": ["half", "float", "int16_t"],
}
GROUP = {"Sub": "Add", "Mul": "Add", "Max": "Add", "Min": "Add", "Or": "And", "SubRelu": "AddRelu",
         "FusedMulAdd": "Div", "FusedMulAddRelu": "Div", "MulAddRelu": "Div"}  # fmt: skip
BINARY_CASES = [(op, t) for op in BINARY for t in TYPES[GROUP.get(op, op)]]

# blk and rep strides of dst, src0, src1; (mask, repeats)
STRIDES = [
    ((1, 1, 1, 8, 8, 8), "full", 5),
    ((1, 1, 1, 8, 8, 8), 13, 3),
    ((1, 1, 0, 8, 8, 1), "full", 6),
    ((1, 1, 0, 8, 8, 0), "full", 4),
    ((1, 0, 1, 8, 2, 8), "full", 3),
    ((1, 1, 1, 8, 8, 0), "full", 7),
    ((1, 1, 1, 10, 9, 8), 40, 4),
    ((2, 1, 3, 16, 8, 24), "full", 3),
    ((2, 2, 2, 17, 16, 20), 45, 2),
    ((1, 1, 1, 8, 8, 8), "full", 0),
]


def picture(seed: int, dtype: np.dtype, count: int = 4096, special: bool = True) -> np.ndarray:
    rng = np.random.default_rng(seed)
    image = h.noise(seed)
    for base in (DST, A, B):
        h.put(image, base, h.values(rng, count, dtype, special))
    return image


def lane_list(mask: object, dtype: np.dtype) -> list[int]:
    return list(range(256 // dtype.itemsize)) if mask == "full" else list(range(int(str(mask))))


@pytest.mark.parametrize(("op", "t"), BINARY_CASES)
def test_binary_count(op: str, t: str) -> None:
    dtype = h.DTYPES[t]
    f = rounded(BINARY[op])
    for seed, count in enumerate([1, 7, 64, 129, 1000, 4096]):
        image = picture(seed, dtype)
        after, _ = h.runner().run(f"{op}.{t}.count", image, DST, A, B, count)
        expected = f(*(h.get(image, base, count, dtype) for base in (DST, A, B)))
        h.assert_same(h.get(after, DST, count, dtype), expected, f"{op} {t} {count}")
        end = DST + count * dtype.itemsize
        np.testing.assert_array_equal(after[end:], image[end:])


@pytest.mark.parametrize(("op", "t"), BINARY_CASES)
def test_binary_strides(op: str, t: str) -> None:
    dtype = h.DTYPES[t]
    f = rounded(BINARY[op])
    for seed, (s, mask, repeats) in enumerate(STRIDES):
        image = picture(seed, dtype)
        lanes = lane_list(mask, dtype)
        after, _ = h.runner().run(f"{op}.{t}.mask", image, DST, A, B, len(lanes), repeats, *s)
        where = [h.lanes(b, s[i], s[i + 3], dtype, dtype.itemsize, lanes, repeats) for i, b in enumerate((DST, A, B))]
        expected = image.copy()
        h.store(expected, where[0], f(*(h.load(image, w, dtype) for w in where)))
        compare_images(after, expected, dtype)


@pytest.mark.parametrize(("op", "t"), BINARY_CASES)
def test_binary_mask_bits(op: str, t: str) -> None:
    dtype = h.DTYPES[t]
    f = rounded(BINARY[op])
    rng = np.random.default_rng(3)
    for seed, chance in enumerate([0.5, 0.95, 0.05]):
        image = picture(seed, dtype)
        lanes = [i for i in range(256 // dtype.itemsize) if rng.random() < chance]
        s = (1, 1, 1, 8, 9, 8)
        after, _ = h.runner().run(f"{op}.{t}.bits", image, DST, A, B, *h.mask_words(lanes), 3, *s)
        where = [h.lanes(b, s[i], s[i + 3], dtype, dtype.itemsize, lanes, 3) for i, b in enumerate((DST, A, B))]
        expected = image.copy()
        h.store(expected, where[0], f(*(h.load(image, w, dtype) for w in where)))
        compare_images(after, expected, dtype)


def compare_images(after: np.ndarray, expected: np.ndarray, dtype: np.dtype) -> None:
    """The results as numbers (any NaN equals any NaN), the rest byte for byte."""
    h.assert_same(after[:A].view(dtype), expected[:A].view(dtype))
    np.testing.assert_array_equal(after[A:], expected[A:])


def test_in_place_and_accumulation() -> None:
    image = picture(1, F32, special=False)
    after, _ = h.runner().run("Add.float.count", image, A, A, B, 1000)
    np.testing.assert_array_equal(h.get(after, A, 1000, F32), h.get(image, A, 1000, F32) + h.get(image, B, 1000, F32))
    # dst and src0 stay on one row: the repeats add up in order.
    after, _ = h.runner().run("Add.float.mask", image, DST, DST, B, 64, 5, 1, 1, 1, 0, 0, 8)
    total = h.get(image, DST, 64, F32)
    for row in h.get(image, B, 320, F32).reshape(5, 64):
        total = total + row
    np.testing.assert_array_equal(h.get(after, DST, 64, F32), total)


@pytest.mark.parametrize(("t", "u"), [("half", "half"), ("float", "float"), ("float", "half")])
def test_mul_add_dst_and_axpy(t: str, u: str) -> None:
    to, source = h.DTYPES[t], h.DTYPES[u]
    rng = np.random.default_rng(5)
    width = to.itemsize
    half_rep = 8 * source.itemsize // width
    for count in (1, 100, 2000):
        image = h.noise(count)
        h.put(image, DST, h.floats(rng, 4096, to))
        h.put(image, A, h.floats(rng, 4096, source))
        h.put(image, B, h.floats(rng, 4096, source))
        d, a, b = (h.get(image, DST, count, to), h.get(image, A, count, source), h.get(image, B, count, source))
        after, _ = h.runner().run(f"MulAddDst.{t}.{u}.count", image, DST, A, B, count)
        with np.errstate(all="ignore"):
            expected = (a.astype(F32) * b.astype(F32) + d.astype(F32)).astype(to)
        h.assert_same(h.get(after, DST, count, to), expected)
        scalar = np.asarray(-1.75, source)
        after, _ = h.runner().run(f"Axpy.{t}.{u}.count", image, DST, A, h.bits_of(scalar, source), count)
        with np.errstate(all="ignore"):
            expected = (a.astype(F32) * scalar.astype(F32) + d.astype(F32)).astype(to)
        h.assert_same(h.get(after, DST, count, to), expected)
    lanes = list(range(3, 50))
    s = (1, 1, 1, 8, half_rep, half_rep)
    args = (*h.mask_words(lanes), 4, *s)
    after, _ = h.runner().run(f"MulAddDst.{t}.{u}.bits", image, DST, A, B, *args)
    where = [
        h.lanes(b, 1, s[i + 3], dt, width, lanes, 4) for i, (b, dt) in enumerate([(DST, to), (A, source), (B, source)])
    ]
    d, a, b = (h.load(image, w, dt) for w, dt in zip(where, (to, source, source)))
    expected = image.copy()
    with np.errstate(all="ignore"):
        h.store(expected, where[0], (a.astype(F32) * b.astype(F32) + d.astype(F32)).astype(to))
    compare_images(after, expected, to)


UNARY = {
    "Relu": relu,
    "Abs": np.abs,
    "Reciprocal": lambda x: np.float32(1) / x,
    "Sqrt": np.sqrt,
    "Rsqrt": lambda x: np.float32(1) / np.sqrt(x),
    "Not": lambda x: ~x,
}
UNARY_CASES = [("Relu", "int32_t"), ("Not", "int16_t"), ("Not", "uint16_t")] + [
    (op, t) for op in UNARY if op != "Not" for t in ("half", "float")
]


@pytest.mark.parametrize(("op", "t"), UNARY_CASES)
def test_unary(op: str, t: str) -> None:
    dtype = h.DTYPES[t]
    f = rounded(UNARY[op])
    for count in (1, 65, 3001):
        image = picture(count, dtype)
        after, _ = h.runner().run(f"{op}.{t}.count", image, DST, A, count)
        h.assert_same(h.get(after, DST, count, dtype), f(h.get(image, A, count, dtype)))
        np.testing.assert_array_equal(after[DST + count * dtype.itemsize :], image[DST + count * dtype.itemsize :])
    for s, mask, repeats in [
        ((1, 1, 8, 8), "full", 4),
        ((2, 1, 16, 8), 33, 3),
        ((1, 0, 8, 1), "full", 5),
        ((1, 3, 9, 4), 40, 2),
    ]:
        lanes = lane_list(mask, dtype)
        after, _ = h.runner().run(f"{op}.{t}.mask", image, DST, A, len(lanes), repeats, *s)
        where = [h.lanes(b, s[i], s[i + 2], dtype, dtype.itemsize, lanes, repeats) for i, b in enumerate((DST, A))]
        expected = image.copy()
        h.store(expected, where[0], f(h.load(image, where[1], dtype)))
        compare_images(after, expected, dtype)
        lanes = lanes[::2]
        after, _ = h.runner().run(f"{op}.{t}.bits", image, DST, A, *h.mask_words(lanes), repeats, *s)
        where = [h.lanes(b, s[i], s[i + 2], dtype, dtype.itemsize, lanes, repeats) for i, b in enumerate((DST, A))]
        expected = image.copy()
        h.store(expected, where[0], f(h.load(image, where[1], dtype)))
        compare_images(after, expected, dtype)


@pytest.mark.parametrize(
    ("op", "exact", "low", "high", "bound"),
    [("Exp", np.exp, -87.0, 88.7, 8.3e-8), ("Ln", np.log, 1e-37, 1e37, 8.3e-8)],
)
def test_exp_and_ln(op: str, exact: Callable[[np.ndarray], np.ndarray], low: float, high: float, bound: float) -> None:
    rng = np.random.default_rng(9)
    n = 8000
    x = rng.uniform(low, high, n) if op == "Exp" else np.exp(rng.uniform(np.log(low), np.log(high), n))
    x[:2000] = rng.uniform(-1, 1, 2000) if op == "Exp" else rng.uniform(0.5, 2, 2000)
    x = x.astype(F32)
    image = h.noise(1)
    h.put(image, A, x)
    after, _ = h.runner().run(f"{op}.float.count", image, DST, A, n)
    want = exact(x.astype(np.float64))
    error = np.abs(h.get(after, DST, n, F32) - want) / np.maximum(np.abs(want), 0.01 if op == "Ln" else 0)
    assert error.max() < bound, (error.max(), x[error.argmax()])
    special = np.array([0, -0.0, 1, np.inf, -np.inf, np.nan, 200, -200, -100, 1e-40, -1, 3e-45], F32)
    h.put(image, A, special)
    after, _ = h.runner().run(f"{op}.float.count", image, DST, A, special.size)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(h.get(after, DST, special.size, F32), exact(special), rtol=1e-6, atol=2e-45)
    half = np.dtype(np.float16)
    x16 = h.floats(rng, 4000, half)
    h.put(image, A, x16)
    after, _ = h.runner().run(f"{op}.half.count", image, DST, A, 4000)
    with np.errstate(all="ignore"):
        want16 = exact(x16.astype(np.float64)).astype(half)
    got = h.get(after, DST, 4000, half)
    close = np.isclose(got.astype(F32), want16.astype(F32), rtol=1e-3, atol=1e-7) | (np.isnan(got) & np.isnan(want16))
    assert (close | (got == want16)).all()


SCALARS = {
    "Adds": lambda a, s: a + s,
    "Muls": lambda a, s: a * s,
    "Maxs": bigger,
    "Mins": smaller,
    "LeakyRelu": lambda a, s: np.where(a >= 0, a, a * s),
}


@pytest.mark.parametrize(("op", "t"), [(o, t) for o in SCALARS for t in TYPES["Div" if o == "LeakyRelu" else "Add"]])
def test_scalar(op: str, t: str) -> None:
    dtype = h.DTYPES[t]
    f = rounded(SCALARS[op])
    scalar = np.asarray(0.3 if dtype.kind == "f" else -77, dtype)
    bits = h.bits_of(scalar, dtype)
    for count in (1, 130, 3000):
        image = picture(count, dtype)
        after, _ = h.runner().run(f"{op}.{t}.count", image, DST, A, bits, count)
        a = h.get(image, A, count, dtype)
        h.assert_same(h.get(after, DST, count, dtype), f(a, np.full_like(a, scalar)))
    for s, mask, repeats in [((1, 1, 8, 8), "full", 4), ((2, 1, 16, 8), 33, 3), ((1, 0, 8, 1), "full", 5)]:
        lanes = lane_list(mask, dtype)
        for form, args in (("mask", [len(lanes)]), ("bits", h.mask_words(lanes[1::3]))):
            used = lanes if form == "mask" else lanes[1::3]
            after, _ = h.runner().run(f"{op}.{t}.{form}", image, DST, A, bits, *args, repeats, *s)
            where = [h.lanes(b, s[i], s[i + 2], dtype, dtype.itemsize, used, repeats) for i, b in enumerate((DST, A))]
            a = h.load(image, where[1], dtype)
            expected = image.copy()
            h.store(expected, where[0], f(a, np.full_like(a, scalar)))
            compare_images(after, expected, dtype)


@pytest.mark.parametrize("t", ["int16_t", "uint16_t", "int32_t", "uint32_t"])
def test_shifts(t: str) -> None:
    dtype = h.DTYPES[t]
    width = dtype.itemsize * 8
    image = picture(2, dtype)
    a = h.get(image, A, 1000, dtype).astype(np.int64)
    for by in (0, 1, 5, width - 1, width):
        after, _ = h.runner().run(f"ShiftLeft.{t}.count", image, DST, A, by, 1000)
        h.assert_same(h.get(after, DST, 1000, dtype), (a << by).astype(dtype))
        after, _ = h.runner().run(f"ShiftRight.{t}.count", image, DST, A, by, 1000)
        h.assert_same(h.get(after, DST, 1000, dtype), (a >> by).astype(dtype))
    if dtype.kind == "i":
        lanes = 256 // dtype.itemsize
        after, _ = h.runner().run(f"ShiftRight.{t}.mask", image, DST, A, 3, lanes, 2, 1, 1, 8, 8, 1)
        h.assert_same(h.get(after, DST, 2 * lanes, dtype), ((a[: 2 * lanes] + 4) >> 3).astype(dtype))
    else:
        with pytest.raises(h.SimulatorError, match="signed"):
            h.runner().run(f"ShiftRight.{t}.mask", image, DST, A, 3, 64, 2, 1, 1, 8, 8, 1)
