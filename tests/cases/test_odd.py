"""Odd programs: nothing that can be written crashes, fails to compile as C++, or gives another number than Python."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pyto.language as pl
from pyto import compiler
from pyto.codegen.ascendc.scalars import HELPERS
from pyto.errors import CompileError, LaunchError
from pyto.ir.builder import identifier
from tests.cases.harness import CORE, canary, check, values

N = pl.dynamic("N")
EIGHT = pl.Tensor[[1, 8], pl.FP32]
ROWS = pl.Tensor[[8, 64], pl.FP32]


def eight(value):
    return {"y": canary((1, 8), pl.FP32)}, {"y": np.full((1, 8), float(value))}


# ------------------------------------------------------------------------------------------------- integer arithmetic


@pl.jit
def divides(a: pl.Scalar[pl.INT64], b: pl.Scalar[pl.INT64], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    q = a // b
    with pl.at(CORE):
        y[0:1, :] = pl.full([1, 8], dtype=pl.FP32, value=q)
        y[1:2, :] = pl.full([1, 8], dtype=pl.FP32, value=a % b)
        y[2:3, :] = pl.full([1, 8], dtype=pl.FP32, value=(a + 1) // b)
        y[3:4, :] = pl.full([1, 8], dtype=pl.FP32, value=a // b * b + a % b == a)


@pytest.mark.parametrize(
    ("a", "b"), [(7, 2), (-7, 2), (7, -2), (-7, -2), (7, 0), (-7, 0), (0, 0), (7, -1), (-(2**63), -1)]
)
def test_integer_division(a, b):
    """Like Python's; by 0 it gives 0, on the host and on a core, and does not end the process."""

    def div(n, d):
        return (n // d + 2**63) % 2**64 - 2**63 if d else 0

    rows = [div(a, b), a % b if b else 0, div(a + 1, b), div(a, b) * b + (a % b if b else 0) == a or b == -1]
    want = np.repeat(np.array(rows, np.float32)[:, None], 8, 1)
    check(divides, {"a": a, "b": b}, {"y": canary((4, 8), pl.FP32)}, {"y": want})


@pytest.mark.parametrize(("a", "b"), [(7, 2), (7, 0), (0, 3)])
def test_unsigned_division(a, b):
    @pl.jit
    def kernel(a: pl.Scalar[pl.UINT32], b: pl.Scalar[pl.UINT32], y: pl.Out[EIGHT]):
        with pl.at(CORE):
            y[:, :] = pl.full([1, 8], dtype=pl.FP32, value=a // b + a % b)

    check(kernel, {"a": a, "b": b}, *eight(a // b + a % b if b else 0))


def test_integers_wrap_at_64_bits():
    @pl.jit
    def kernel(n: pl.Scalar[pl.INT64], y: pl.Out[EIGHT]):
        with pl.at(CORE):
            v = 0
            if n * 2**40 > 5:
                v = 1
            if n * 2**40 * 2**40 == 0:
                v = v + 10
            if n + (-(2**63)) < 0:
                v = v + 100
            y[:, :] = pl.full([1, 8], dtype=pl.FP32, value=v)

    check(kernel, {"n": 2**30}, *eight(110))
    check(kernel, {"n": 1}, *eight(101 + 10))

    @pl.jit
    def beyond(n: pl.Scalar[pl.INT64], y: pl.Out[EIGHT]):
        with pl.at(CORE):
            y[:, :] = pl.full([1, 8], dtype=pl.FP32, value=n + 2**63)

    with pytest.raises(CompileError, match="does not fit 64 bits"):
        compiler.lower(beyond)


@pl.jit
def casts(a: pl.Scalar[pl.FP32], n: pl.Scalar[pl.INT64], y: pl.Out[pl.Tensor[[7, 8], pl.FP32]]):
    with pl.at(CORE):
        y[0:1, :] = pl.full([1, 8], dtype=pl.FP32, value=pl.cast(a, pl.INT32))
        y[1:2, :] = pl.full([1, 8], dtype=pl.FP32, value=pl.cast(n, pl.INT8))
        y[2:3, :] = pl.full([1, 8], dtype=pl.FP32, value=pl.cast(a, pl.UINT8))
        y[3:4, :] = pl.full([1, 8], dtype=pl.FP32, value=pl.cast(n, pl.BOOL) + 0)
        y[4:5, :] = pl.full([1, 8], dtype=pl.FP32, value=pl.cast(n, pl.UINT16))
        y[5:6, :] = pl.full([1, 8], dtype=pl.FP32, value=pl.cast(a, pl.INT64) // 2)
        y[6:7, :] = pl.full([1, 8], dtype=pl.FP32, value=pl.cast(a > 1.0, pl.INT32) * 4)


@pytest.mark.parametrize(
    ("a", "n"), [(-2.7, 300), (1e20, -300), (float("nan"), -1), (float("-inf"), 2**40), (255.9, 0), (3e9, 127)]
)
def test_casts_of_scalars_saturate(a, n):
    def to(value, low, high):
        return 0 if value != value else int(max(low, min(high, value)))

    rows = [
        to(a, -(2**31), 2**31 - 1), to(n, -128, 127), to(a, 0, 255), n != 0, to(n, 0, 65535),
        to(a, -(2**63), 2**63 - 1) // 2, 4 * (a > 1),
    ]  # fmt: skip
    want = np.repeat(np.array(rows, np.float32)[:, None], 8, 1)
    check(casts, {"a": a, "n": n}, {"y": canary((7, 8), pl.FP32)}, {"y": want})


# --------------------------------------------------------------------------------------------------------------- names


@pl.jit
def keywords(
    int: pl.Scalar[pl.INT32], double: pl.Scalar[pl.FP32], new: ROWS, NULL: pl.Scalar[pl.INT32], template: pl.Out[ROWS]
):
    with pl.at(CORE):
        half = new[:, :]
        auto = half + double
        this = auto * int
        for void in pl.range(NULL):
            this = this + void
        template[:, :] = this


@pl.jit
def Add(
    DataCopy: ROWS,
    Min: pl.Scalar[pl.INT32],
    block_: pl.Scalar[pl.INT32],
    EVENT_ID0: pl.Scalar[pl.INT32],
    printf: pl.Out[ROWS],
):
    with pl.at(CORE):
        PipeBarrier = DataCopy[:, :]
        FloorDiv = pl.min(Min, block_) // EVENT_ID0
        SetFlag = PipeBarrier + FloorDiv
        PIPE_V = pl.exp(SetFlag)
        printf[:, :] = PIPE_V


@pl.jit
def main(é: ROWS, 变量: pl.Scalar[pl.INT32], errno: pl.Out[ROWS]):
    for i in pl.spmd(2):
        ｘ = é[i * 4 : i * 4 + 4, :]
        tensors = ｘ * 变量
        errno[i * 4 : i * 4 + 4, :] = tensors


def test_names_of_cpp(rng):
    """Names of C++, of Ascend C and of generated helpers; given by keyword as they are written in Python."""
    x, y = values(rng, (8, 64), pl.FP32), canary((8, 64), pl.FP32)
    keywords(int=2, double=1.5, new=x, NULL=3, template=y)
    np.testing.assert_allclose(y, (x + np.float32(1.5)) * 2 + 3, 1e-6)
    keywords(2, new=x, double=1.5, NULL=3, template=y)
    Add(DataCopy=x, Min=-5, block_=3, EVENT_ID0=2, printf=y)
    np.testing.assert_allclose(y, np.exp(x - 3), 1e-5)
    main(é=x, 变量=3, errno=y)
    np.testing.assert_array_equal(y, x * 3)
    with pytest.raises(LaunchError, match="no parameter is named 'integer'"):
        keywords(integer=2, double=1.5, new=x, NULL=3, template=y)


def test_helpers_of_generated_code_are_reserved():
    assert all(identifier(name) != name for name in HELPERS)
    names = (
        "SetFlag WaitFlag PipeBarrier DataCopyPad GetBlockIdx PIPE_V EVENT_ID3 KERNEL_TASK_TYPE_DEFAULT ASCEND_IS_AIV"
    )
    assert all(identifier(name) != name for name in names.split())
    assert identifier("Batch") == "Batch" and identifier("N") == "N"


def test_kernel_names_are_ascii():
    space = {"pl": pl, "ROWS": ROWS, "CORE": CORE}
    path = Path(__file__).with_name("kernel_names.py")
    source = "@pl.jit\ndef λ(x: ROWS, y: pl.Out[ROWS]):\n    with pl.at(CORE):\n        y[:, :] = x[:, :]\n"
    import linecache

    linecache.cache[str(path)] = (len(source), None, source.splitlines(True), str(path))
    exec(compile(source, str(path), "exec"), space)
    with pytest.raises(CompileError, match="cannot be the name of a kernel") as error:
        compiler.lower(space["λ"])
    assert error.value.loc is not None and error.value.loc.line == 2


@pl.jit
def shadows(x: ROWS, y: pl.Out[ROWS]):
    with pl.at(CORE):
        x2 = x[:, :]
        max = x2 * 2.0
        x = max + 1.0
        len = 3
        range = x * len
        y[:, :] = range


def test_shadowed_names(rng):
    x = values(rng, (8, 64), pl.FP32)
    check(shadows, {"x": x}, {"y": canary((8, 64), pl.FP32)}, {"y": (x * 2 + 1) * 3}, 1e-6)


# ------------------------------------------------------------------------------------------------------ text in sources


@pl.jit
def odd_lines(x: ROWS, y: pl.Out[ROWS]):
    with pl.at(CORE):
        t = x[:, :]
        u = t * 2.0  # */ /* ??/ \
        y[:, :] = u


def test_odd_characters_in_comments(tmp_path, rng):
    """Whatever a line holds is quoted on one line of the generated source."""
    path = tmp_path / "o d\\ \n;d.py"
    text = "import pyto.language as pl\nfrom tests.cases.harness import CORE\nROWS = pl.Tensor[[8, 64], pl.FP32]\n\n"
    text += "@pl.jit\ndef odd(x: ROWS, y: pl.Out[ROWS]):\n    with pl.at(CORE):\n"
    text += "        t = x[:, :]  # \x0c not \x0b C++ \x1c at \x85 all \u2028 ; \u2029 } \\ \\\n"
    text += "        y[:, :] = t * 2.0  # */ \\\n"
    path.write_text(text, encoding="utf-8", newline="")
    kernel = compiler.find_kernels(path)["odd"]
    x = values(rng, (8, 64), pl.FP32)
    check(kernel, {"x": x}, {"y": canary((8, 64), pl.FP32)}, {"y": x * 2})
    check(odd_lines, {"x": x}, {"y": canary((8, 64), pl.FP32)}, {"y": x * 2})


@pl.jit
def prints(n: pl.Scalar[pl.INT32], y: pl.Out[EIGHT]):
    with pl.at(CORE):
        pl.print('emoji \U0001f600 bell \x07 quote " percent %d %s brace {} back \\ é \u2028 nul \x00 end', n)
        pl.assert_(n > 0, "bad \U0001f600 %s {} \x01")
        y[:, :] = pl.full([1, 8], dtype=pl.FP32, value=n)


def test_odd_characters_in_prints(capfd):
    y = np.zeros((1, 8), np.float32)
    prints(7, y)
    said = capfd.readouterr().out
    assert 'emoji \U0001f600 bell \x07 quote " percent %d %s brace () back \\ é \u2028 nul  end 7' in said
    with pytest.raises(LaunchError, match="bad \U0001f600 %s \\(\\) \x01"):
        prints(-7, y)


# --------------------------------------------------------------------------------------------------------- small shapes


@pl.jit
def nothing(y: pl.InOut[EIGHT]):
    pass


@pl.jit
def nothing_on_a_core(n: pl.Scalar[pl.INT32], y: pl.InOut[EIGHT]):
    with pl.at(CORE):
        pass
    for _i in pl.spmd(4):
        for _j in pl.range(n):
            pass
    for _k in pl.parallel(3):
        with pl.at(CORE):
            if n > 0:
                pass
            else:
                pass


@pl.jit
def no_parameters():
    with pl.at(CORE):
        pass


def test_empty_bodies(rng):
    y = values(rng, (1, 8), pl.FP32)
    check(nothing, {}, {"y": y}, {"y": y})
    check(nothing_on_a_core, {"n": 3}, {"y": y}, {"y": y})
    check(no_parameters, {}, {}, {})


@pl.jit
def single(x: pl.Tensor[[1, 1], pl.FP32], y: pl.Out[pl.Tensor[[1, 1], pl.FP32]]):
    with pl.at(CORE):
        t = x[:, :]
        s = pl.row_sum(t) + pl.row_max(t) + pl.col_sum(t)
        y[:, :] = pl.exp(s) / t + pl.row_expand_mul(t, s)


@pl.jit
def single_product(a: pl.Tensor[[1, 1], pl.FP16], b: pl.Tensor[[1, 1], pl.FP16], y: pl.Out[pl.Tensor[[1, 1], pl.FP32]]):
    with pl.at(CORE):
        y[:, :] = pl.matmul(a[:, :], b[:, :])


def test_tiles_of_one_element():
    x = np.array([[0.3]], np.float32)
    check(single, {"x": x}, {"y": canary((1, 1), pl.FP32)}, {"y": np.exp(3 * x) / x + 3 * x * x}, 1e-5)
    a, b = np.array([[3]], np.float16), np.array([[4]], np.float16)
    check(single_product, {"a": a, "b": b}, {"y": canary((1, 1), pl.FP32)}, {"y": np.array([[12.0]])})


# -------------------------------------------------------------------------------------------------------------- control


@pl.jit
def deep(n: pl.Scalar[pl.INT32], y: pl.Out[EIGHT]):
    with pl.at(CORE):
        s = 0
        for a in pl.range(n):
            for b in pl.range(a, n):
                if a < b:
                    for c in pl.range(2):
                        while s % 7 != 3:
                            s = s + 1
                            if s > 50:
                                for d in pl.range(3, 0, -1):
                                    if d == 2:
                                        continue
                                    s = s + d
                        s = s + c
                elif a == b:
                    s = s + 10
                else:
                    s = 0
        y[:, :] = pl.full([1, 8], dtype=pl.FP32, value=s)


def test_deep_nesting():
    for n in (-1, 0, 1, 4):
        s = 0
        for a in range(n):
            for b in range(a, n):
                if a < b:
                    for c in range(2):
                        while s % 7 != 3:
                            s += 1
                            if s > 50:
                                s += 3 + 1
                        s += c
                else:
                    s += 10
        check(deep, {"n": n}, *eight(s))


@pl.jit
def counts(a: pl.Scalar[pl.FP32], y: pl.Out[EIGHT]):
    with pl.at(CORE):
        b = a
        n = 0
        while b < 10.0:
            b = b + 1.5
            n = n + 1
        y[:, :] = pl.full([1, 8], dtype=pl.FP32, value=n)


@pytest.mark.parametrize(("a", "n"), [(float("nan"), 0), (1.0, 6), (100.0, 0), (float("-inf"), None)])
def test_while_on_floats(a, n):
    if n is not None:  # else it never ends
        check(counts, {"a": a}, *eight(n))


@pl.jit
def names_in_branches(f: pl.Scalar[pl.INT32], x: ROWS, y: pl.InOut[ROWS]):
    with pl.at(CORE):
        if f > 0:
            t = x[:, :]
            k = 3
        else:
            t = x[:, :] * 2.0
            k = f
        if f > 1:
            u, w = t, k
        else:
            u, w = t + 1.0, k * 2
        y[:, :] = u * w


@pytest.mark.parametrize("f", [-1, 0, 1, 2])
def test_names_made_in_branches(rng, f):
    x = values(rng, (8, 64), pl.FP32)
    t, k = (x, 3) if f > 0 else (x * 2, f)
    u, w = (t, k) if f > 1 else (t + 1, k * 2)
    check(names_in_branches, {"f": f, "x": x}, {"y": canary((8, 64), pl.FP32)}, {"y": u * w})


# --------------------------------------------------------------------------------------------------------- at run time


@pl.jit
def reads_where_told(i: pl.Tensor[[8], pl.INT32], x: ROWS, y: pl.InOut[pl.Tensor[[1, 64], pl.FP32]]):
    with pl.at(CORE):
        n = pl.read(i, [0])
        t = x[n : n + 1, :]
        y[:, :] = t + 1.0


def test_a_fault_names_the_python_line(rng):
    """And a window past the end is empty."""
    x, y = values(rng, (8, 64), pl.FP32), canary((1, 64), pl.FP32)
    reads_where_told(np.full(8, 3, np.int32), x, y)
    np.testing.assert_array_equal(y, x[3:4] + 1)
    y = canary((1, 64), pl.FP32)
    reads_where_told(np.full(8, 1 << 30, np.int32), x, y)
    np.testing.assert_array_equal(y, 77)
    with pytest.raises(LaunchError, match="belong to no tensor") as error:
        reads_where_told(np.full(8, -5, np.int32), x, y)
    assert error.value.details is not None
    assert error.value.details.strip().startswith("test_odd.py:") and "t = x[n : n + 1, :]" in error.value.details


def test_aliased_arguments(rng):
    x = values(rng, (8, 64), pl.FP32)
    for y in (x, x[:], x.reshape(8, 64)):
        with pytest.raises(LaunchError, match="share memory"):
            shadows(x, y)
    both = values(rng, (16, 64), pl.FP32)
    shadows(both[:8], both[8:])
    np.testing.assert_allclose(both[8:], (both[:8] * 2 + 1) * 3, 1e-6)
    with pytest.raises(LaunchError, match="share memory"):
        shadows(both[:8], both[4:12])


@pl.jit
def counts_down(n: pl.Scalar[pl.INT32], m: pl.Scalar[pl.UINT8], y: pl.Out[EIGHT]):
    with pl.at(CORE):
        s = m
        while n > 0:
            s = s + n
            n = n - 1
        for i in pl.range(3):
            n = n * i - m
            s = pl.max(s, m) if i > 1 else s
        y[:, :] = pl.full([1, 8], dtype=pl.FP32, value=s * 1000 + n)


@pytest.mark.parametrize(("n", "m"), [(0, 0), (4, 200), (-3, 7)])
def test_integers_of_any_type_are_carried(n, m):
    s, k = m, n
    while k > 0:
        s, k = s + k, k - 1
    for i in range(3):
        k = k * i - m
        s = max(s, m) if i > 1 else s
    check(counts_down, {"n": n, "m": m}, *eight(s * 1000 + k))


# ---------------------------------------------------------------------------------------------------- grids and shifts


@pl.jit
def one_grid(n: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[N, 8], pl.FP32]]):
    for i in pl.spmd(n):
        y[i : i + 1, :] = pl.full([1, 8], dtype=pl.FP32, value=i)


@pl.jit
def two_grids(a: pl.Scalar[pl.INT32], b: pl.Scalar[pl.INT32], y: pl.InOut[pl.Tensor[[N, 8], pl.FP32]]):
    for i in pl.parallel(a, b, 2):
        for _j in pl.parallel(b, a, -1):
            with pl.at(CORE):
                y[i : i + 1, :] = pl.full([1, 8], dtype=pl.FP32, value=i)


def test_grids_of_no_points(rng):
    """A grid of a negative extent has no points, and neither has one of two negative extents."""
    y = values(rng, (5, 8), pl.FP32)
    for n in (-3, 0, 1, 5, 9):
        want = y.copy()
        want[: max(n, 0)] = np.arange(5)[: max(n, 0), None]
        check(one_grid, {"n": n}, {"y": y}, {"y": want})
    for a, b in ((3, 1), (1, 1), (0, 5), (1, 2)):
        want = y.copy()
        want[a:b:2] = np.arange(5)[a:b:2, None]
        check(two_grids, {"a": a, "b": b}, {"y": y}, {"y": want})


@pl.jit
def shifts(n: pl.Scalar[pl.INT64], s: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    left = n << s
    with pl.at(CORE):
        y[0:1, :] = pl.full([1, 8], dtype=pl.FP32, value=left)
        y[1:2, :] = pl.full([1, 8], dtype=pl.FP32, value=n >> s)
        y[2:3, :] = pl.full([1, 8], dtype=pl.FP32, value=(n << 3) + (n >> 2))
        y[3:4, :] = pl.full([1, 8], dtype=pl.FP32, value=(n & s) | (n ^ s))


@pytest.mark.parametrize(("n", "s"), [(5, 2), (-5, 1), (-5, 0), (7, 63), (1, 64), (-9, 100), (5, -1), (-(2**40), 33)])
def test_shifts_by_any_count(n, s):
    """Bits that leave the word are gone; a negative count gives 0."""
    left = ((n << s) + 2**63) % 2**64 - 2**63 if 0 <= s < 64 else 0
    rows = [left, n >> s if s >= 0 else 0, (n << 3) + (n >> 2), (n & s) | (n ^ s)]
    want = np.repeat(np.array(rows, np.float32)[:, None], 8, 1)
    check(shifts, {"n": n, "s": s}, {"y": canary((4, 8), pl.FP32)}, {"y": want})


@pytest.mark.parametrize(
    ("text", "works"), [("2", True), ("", True), ("many", False), ("0", False), ("-1", False), ("2x", False)]
)
def test_number_of_threads(text, works):
    """PYTO_THREADS that is no number is refused where a kernel starts, not taken for something else."""
    code = "import numpy as np\nfrom tests.cases.test_odd import shadows\nfrom pyto.errors import LaunchError\n"
    code += (
        "try:\n    shadows(np.ones((8, 64), np.float32))\n    print('works')\nexcept LaunchError as e:\n    print(e)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTO_THREADS": text, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    wanted = "works" if works else f"PYTO_THREADS={text} is not a whole number of 1 or more"
    assert wanted in done.stdout
