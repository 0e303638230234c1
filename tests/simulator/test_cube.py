"""The cube half of the simulator against numpy: operands into L0, Mmad, and the ways out of L0C."""

from __future__ import annotations

import functools

import ml_dtypes
import numpy as np
import pytest

from tests.simulator.core_harness import In, InOut, Out, Program, SimulatorError, machine_isas

BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = {"bf16": BF16, "half": np.dtype(np.float16), "float": np.dtype(np.float32), "int8": np.dtype(np.int8)}
A_KM, B_KN, THREE_D, BIAS, HALVES, REAL_A, TRANSPOSE = 1, 2, 4, 8, 16, 32, 64
NO_QUANT, F16, REQ8, VDEQF16, DEQF16, TO_BF16, VQF, QF = 0, 1, 3, 4, 5, 16, 23, 24


@functools.lru_cache(maxsize=2)
def program(recorded: bool = False) -> Program:
    return Program("cube_cases.cpp", recorded)


def values(rng: np.random.Generator, shape: tuple[int, int], dtype: np.dtype) -> np.ndarray:
    if dtype == np.int8:
        return rng.integers(-128, 128, shape).astype(np.int8)
    return rng.standard_normal(shape).astype(dtype)


def close(got: np.ndarray, expected: np.ndarray, bound: float) -> None:
    got, expected = got.astype(np.float64), expected.astype(np.float64)
    assert np.isfinite(got).all()
    error = np.linalg.norm(got - expected) / max(np.linalg.norm(expected), 1e-30)
    assert error <= bound, f"relative error {error:.2e} over {bound:.0e}"


def run_product(name: str, m: int, n: int, k: int, flags: int, isa: str, bind=In) -> None:
    rng = np.random.default_rng([m, n, k, flags])
    dtype = DTYPES[name]
    a, b = values(rng, (m, k), dtype), values(rng, (n, k), dtype)
    out_dtype = np.int32 if dtype == np.int8 else np.float32
    bias = (rng.standard_normal(-(-n // 16) * 16) * 100).astype(out_dtype)
    out = np.full((m, n), 77, out_dtype)
    stored_a = np.ascontiguousarray(a.T) if flags & A_KM else a
    stored_b = np.ascontiguousarray(b.T) if flags & B_KN else b
    bound = [bind(stored_a), bind(stored_b)]
    got = program().run(f"product_{name}", 1, *bound, In(bias), Out(out), m, n, k, flags, isa=isa)[-1]
    wide = a.astype(np.float64) @ b.astype(np.float64).T
    if flags & BIAS:
        wide = wide + bias[:n].astype(np.float64)
    if dtype == np.int8:
        np.testing.assert_array_equal(got, wide.astype(np.int64).astype(np.int32))
    else:
        close(got, wide, 2e-6)


CASES = [
    ("bf16", 16, 16, 16, 0),
    ("bf16", 16, 64, 256, 0),
    ("bf16", 64, 128, 64, 0),
    ("bf16", 128, 128, 128, 0),
    ("bf16", 17, 40, 112, 0),
    ("bf16", 1, 16, 48, 0),
    ("bf16", 5, 17, 100, 0),
    ("bf16", 33, 50, 200, B_KN),
    ("bf16", 48, 32, 80, A_KM),
    ("bf16", 40, 48, 96, A_KM | B_KN),
    ("bf16", 64, 64, 64, THREE_D),
    ("bf16", 48, 64, 80, THREE_D | B_KN),
    ("bf16", 48, 64, 80, THREE_D | A_KM),
    ("bf16", 32, 48, 64, BIAS),
    ("bf16", 20, 36, 64, BIAS | B_KN),
    ("bf16", 16, 48, 192, HALVES),
    ("bf16", 16, 48, 160, HALVES | B_KN),
    ("bf16", 32, 64, 64, REAL_A),
    ("bf16", 32, 64, 64, TRANSPOSE | B_KN),
    ("half", 64, 64, 128, 0),
    ("half", 19, 33, 72, 0),
    ("half", 32, 80, 64, B_KN),
    ("half", 32, 16, 64, A_KM),
    ("half", 16, 64, 64, BIAS | HALVES),
    ("half", 32, 64, 64, REAL_A),
    ("float", 64, 64, 64, 0),
    ("float", 19, 35, 44, 0),
    ("float", 32, 48, 40, THREE_D | B_KN),
    ("float", 32, 48, 48, THREE_D | A_KM),
    ("float", 32, 48, 48, BIAS),
    ("int8", 64, 64, 128, 0),
    ("int8", 21, 50, 200, 0),
    ("int8", 64, 64, 128, TRANSPOSE | B_KN),
    ("int8", 32, 33, 70, TRANSPOSE | B_KN),
    ("int8", 32, 64, 64, BIAS),
    ("int8", 16, 64, 192, HALVES),
]


@pytest.mark.parametrize("isa", machine_isas())
@pytest.mark.parametrize("name,m,n,k,flags", CASES, ids=lambda v: str(v))
def test_product(name: str, m: int, n: int, k: int, flags: int, isa: str) -> None:
    run_product(name, m, n, k, flags, isa)


@pytest.mark.parametrize("name,m,n,k,flags", CASES, ids=lambda v: str(v))
def test_product_of_what_may_change(name: str, m: int, n: int, k: int, flags: int) -> None:
    """Bound as inout nothing may stay a description of GM."""
    run_product(name, m, n, k, flags, "", bind=InOut)


@pytest.mark.parametrize("n,k", [(64, 256), (40, 512), (16, 32)])
@pytest.mark.parametrize("isa", machine_isas())
def test_one_row_is_a_vector_in_l0a(n: int, k: int, isa: str) -> None:
    rng = np.random.default_rng(n)
    a, b = values(rng, (1, k), BF16), values(rng, (n, k), BF16)
    [got] = program().run("vector_matrix", 1, In(a), In(b), Out(np.zeros((1, n), np.float32)), n, k, isa=isa)
    close(got, a.astype(np.float64) @ b.astype(np.float64).T, 2e-6)


def out_of_l0c(which: int, quant: int, out: np.ndarray, stride: int, *, scale: int = 0, scales=None, options: int = 0):
    """(exact product, what the kernel wrote) for m 40, n 64, k 64."""
    rng = np.random.default_rng(which)
    integer = which in (4, 5, 8)
    dtype = np.dtype(np.int8) if integer else BF16
    a, b = values(rng, (40, 64), dtype), values(rng, (64, 64), dtype)
    table = np.zeros(64, np.uint64) if scales is None else scales
    args = [In(a), In(b), In(table), Out(out), 40, 64, 64, quant, scale, stride, options, which]
    [got] = program().run("way_out", 1, *args)
    return a.astype(np.float64) @ b.astype(np.float64).T, got


def test_rows_with_a_pitch() -> None:
    exact, got = out_of_l0c(0, NO_QUANT, np.full((40, 80), 7, np.float32), 80)
    close(got[:, :64], exact, 2e-6)
    assert (got[:, 64:] == 7).all()


def test_relu() -> None:
    exact, got = out_of_l0c(0, NO_QUANT, np.zeros((40, 64), np.float32), 64, options=1)
    close(got, np.maximum(exact, 0), 2e-6)
    assert (got >= 0).all()


@pytest.mark.parametrize("which,quant,dtype", [(1, TO_BF16, BF16), (2, F16, np.dtype(np.float16))])
def test_narrowed(which: int, quant: int, dtype: np.dtype) -> None:
    exact, got = out_of_l0c(which, quant, np.zeros((40, 64), dtype), 64)
    close(got, exact, 4e-3)


def test_narrowing_rounds_to_nearest_even() -> None:
    rng = np.random.default_rng(1)
    a, b = values(rng, (40, 64), BF16), values(rng, (64, 64), BF16)
    table = np.zeros(64, np.uint64)
    [wide] = program().run(
        "way_out", 1, In(a), In(b), In(table), Out(np.zeros((40, 64), np.float32)), 40, 64, 64, 0, 0, 64, 0, 0
    )
    for which, quant, dtype in ((1, TO_BF16, BF16), (2, F16, np.dtype(np.float16))):
        args = [In(a), In(b), In(table), Out(np.zeros((40, 64), dtype)), 40, 64, 64, quant, 0, 64, 0, which]
        [got] = program().run("way_out", 1, *args)
        np.testing.assert_array_equal(got.view(np.uint16), wide.astype(dtype).view(np.uint16))


def float_bits(x: float) -> int:
    return int(np.float32(x).view(np.uint32))


def test_scalar_quantisation() -> None:
    exact, got = out_of_l0c(3, QF, np.zeros((40, 64), np.int8), 64, scale=float_bits(2.0))
    # The product is exact in no type here: allow the last step.
    assert np.abs(got.astype(int) - np.clip(np.rint(exact * 2.0), -128, 127)).max() <= 1
    exact, got = out_of_l0c(4, DEQF16, np.zeros((40, 64), np.float16), 64, scale=float_bits(0.125))
    np.testing.assert_array_equal(got, (exact.astype(np.float32) * np.float32(0.125)).astype(np.float16))
    exact, got = out_of_l0c(5, REQ8, np.zeros((40, 64), np.int8), 64, scale=float_bits(1 / 256))
    np.testing.assert_array_equal(got, np.clip(np.rint(exact / 256), -128, 127))
    exact, got = out_of_l0c(5, REQ8, np.zeros((40, 64), np.int8), 64, scale=float_bits(1 / 256) | (5 << 37), options=1)
    np.testing.assert_array_equal(got, np.clip(np.clip(np.rint(np.maximum(exact, 0) / 256), -256, 255) + 5, -128, 127))


def test_quantisation_by_column() -> None:
    factors = (2.0 ** -(np.arange(64) % 5 + 3)).astype(np.float32)
    table = factors.view(np.uint32).astype(np.uint64)
    exact, got = out_of_l0c(4, VDEQF16, np.zeros((40, 64), np.float16), 64, scales=table)
    np.testing.assert_array_equal(got, (exact.astype(np.float32) * factors).astype(np.float16))


def test_fractal_out() -> None:
    exact, got = out_of_l0c(6, NO_QUANT, np.zeros((4, 40, 16), np.float32), 40 * 16 * 4 // 32)
    close(got.transpose(1, 0, 2).reshape(40, 64), exact, 2e-6)
    exact, got = out_of_l0c(6, NO_QUANT, np.zeros((8, 40, 8), np.float32), 40 * 8 * 4 // 32, options=2)
    close(got.transpose(1, 0, 2).reshape(40, 64), exact, 2e-6)
    exact, got = out_of_l0c(7, TO_BF16, np.zeros((4, 40, 16), BF16), 40)
    close(got.transpose(1, 0, 2).reshape(40, 64), exact, 4e-3)
    exact, got = out_of_l0c(8, REQ8, np.zeros((2, 40, 32), np.int8), 40, scale=float_bits(1 / 256))
    np.testing.assert_array_equal(got.transpose(1, 0, 2).reshape(40, 64), np.clip(np.rint(exact / 256), -128, 127))


@pytest.mark.parametrize("isa", machine_isas())
def test_result_as_the_next_operand(isa: str) -> None:
    rng = np.random.default_rng(3)
    m, n, k, p = 32, 64, 48, 80
    a, b, c = values(rng, (m, k), BF16), values(rng, (n, k), BF16), values(rng, (p, n), BF16)
    [got] = program().run("chained", 1, In(a), In(b), In(c), Out(np.zeros((m, p), np.float32)), m, n, k, p, isa=isa)
    mid = (a.astype(np.float32) @ b.astype(np.float32).T).astype(BF16)
    close(got, mid.astype(np.float64) @ c.astype(np.float64).T, 1e-3)


def random_steps(rng: np.random.Generator, count: int) -> np.ndarray:
    """Steps of the kernel any_order that stay inside the memories; L1 is used up to element 32768."""
    size = 32768
    steps = []
    for _ in range(count):
        kind = rng.choice([0, 0, 0, 1, 2, 2, 3, 3, 4, 5, 5, 6])
        step = [int(kind)] + [0] * 7
        if kind == 0:
            rows, columns = int(rng.integers(1, 65)), int(rng.integers(1, 129))
            pad = -(-rows // 16) * 16 + 16 * int(rng.integers(0, 2))
            used = -(-columns // 16) * pad * 16
            base = int(rng.integers(0, (size - used) // 256 + 1)) * 256 if used <= size else -1
            if base < 0:
                continue
            step[1:7] = [base, int(rng.integers(0, 4096)), rows, columns, int(rng.integers(columns, 160)), pad]
        elif kind == 1:
            length = int(rng.integers(1, 33)) * 16
            step[1:4] = [int(rng.integers(0, (size - length) // 16)) * 16, int(rng.integers(0, 4096)), length]
        elif kind in (2, 3):
            repeat, stride = int(rng.integers(1, 17)), int(rng.integers(0, 5))
            gap = int(rng.integers(0, 3))
            dst = int(rng.integers(0, 128 - (repeat - 1) * (gap + 1))) * 256
            room = size // 256 - (repeat - 1) * stride - 1
            start = int(rng.integers(0, room))
            shift = int(rng.integers(0, 4)) * 16 * (start > 0)
            step[1:8] = [dst, shift, start - (shift > 0), repeat, stride, gap, int(rng.integers(0, 2))]
        elif kind == 4:
            blocks, repeats, gap = int(rng.integers(1, 40)), int(rng.integers(1, 6)), int(rng.integers(0, 20))
            used = repeats * (blocks + gap)
            step[1:6] = [int(rng.integers(0, size // 16 - used)) * 16, repeats, blocks, gap, int(rng.integers(-2, 3))]
        elif kind == 5:
            m, n, k = (
                int(rng.choice([16, 5, 32, 48])),
                int(rng.choice([16, 32, 40, 64])),
                int(rng.choice([16, 24, 32, 64])),
            )
            tiles = -(-m // 16) * -(-n // 16)
            a, b = -(-m // 16) * -(-k // 16), -(-n // 16) * -(-k // 16)
            step[1:8] = [
                int(rng.integers(0, 128 - tiles)) * 256,
                int(rng.integers(0, 128 - a)) * 256,
                int(rng.integers(0, 128 - b)) * 256,
                m,
                n,
                k,
                int(rng.integers(0, 2)),
            ]
        else:
            n, m = int(rng.choice([16, 32])), int(rng.choice([16, 32, 20]))
            pad = -(-m // 16) * 16
            step[1:7] = [
                int(rng.integers(0, size // 256 - 8)) * 256,
                int(rng.integers(0, 120)) * 256,
                n,
                m,
                pad,
                pad,
            ]
        steps.append(step)
    return np.array(steps, np.int32)


@pytest.mark.parametrize("seed", range(40))
def test_descriptions_equal_copies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = values(rng, (1, 16384), BF16) * np.array(0.25, BF16)
    steps = random_steps(rng, 60)
    isa = machine_isas()[seed % len(machine_isas())]
    results = [
        program().run("any_order", 1, bind(data), In(steps), Out(np.zeros(32768, np.float32)), len(steps), isa=isa)[-1]
        for bind in (In, InOut)
    ]
    np.testing.assert_array_equal(results[0].view(np.uint32), results[1].view(np.uint32))


@pytest.mark.parametrize("seed", range(4))
def test_instructions_may_run_late(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    data = values(rng, (1, 16384), BF16)
    steps = random_steps(rng, 40)
    args = ["any_order", 1, In(data), In(steps), Out(np.zeros(32768, np.float32)), len(steps)]
    assert program().run(*args)[0].tobytes() == program(recorded=True).run(*args)[0].tobytes()


@pytest.mark.parametrize(
    "which,words",
    [
        (0, ["LocalTensor", "L0A", "65536"]),
        (1, ["LoadData", "512"]),
        (2, ["LoadData", "L0A"]),
        (3, ["Mmad", "L0C"]),
        (4, ["Mmad", "1024"]),
        (5, ["Fixpipe", "GM tensor"]),
        (6, ["Fixpipe", "quantPre"]),
        (7, ["Nd2NzParams", "GM tensor"]),
        (8, ["LoadData", "L1"]),
        (9, ["DataCopy", "32 bytes"]),
    ],
)
def test_refused(which: int, words: list[str]) -> None:
    args = [In(np.zeros(1024, BF16)), Out(np.zeros((16, 16), np.float32)), which]
    if which == 9:
        # element 8 of a bf16 tensor is 16 bytes in
        words = ["DataCopy", "multiple of 32"]
    with pytest.raises(SimulatorError) as error:
        program().run("wrong_cube", 1, *args)
    for word in ["wrong_cube", "block 0", "cube core", "cube_cases.cpp:", *words]:
        assert word in str(error.value), str(error.value)
