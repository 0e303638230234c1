"""Kernels in the forms of the public `pl` language: specialized by a call, incore functions, programs, hints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyto.language as pl
from pyto import compiler, interpreter
from pyto.errors import CompileError, LaunchError, UsageError
from pyto.frontends.python import parse
from pyto.specialize import specialize

CORE = pl.Level.CORE_GROUP
ROWS = 16


def numbers(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def run(kernel: Any, *args: Any) -> None:
    """In the interpreter, in place."""
    kernel = getattr(kernel, "entry", kernel)
    if kernel.generic:
        kernel, args = specialize(kernel, args, {})
    program = parse(kernel)
    names = [p.var.name for p in program.host.params]
    interpreter.run(program, dict(zip(names, args)))


@pl.jit
def scaled(x: pl.Tensor, factor: pl.FP32, rows: pl.INDEX, y: pl.Out[pl.Tensor]):
    with pl.at(level=CORE):
        part = pl.load(x, [0, 0], [rows, x.shape[1]])
        pl.store(part * factor, [0, 0], y)
    return y


def test_a_call_gives_shapes_and_numbers() -> None:
    for shape in ((8, 64), (16, 32)):
        x, y = numbers(*shape), np.zeros(shape, np.float32)
        scaled(x, 2.0, shape[0], y)
        np.testing.assert_array_equal(y, x * 2)
    x, y = numbers(8, 64).astype(np.float16), np.zeros((8, 64), np.float16)
    scaled(x, 2.0, rows=8, y=y)
    np.testing.assert_array_equal(y, x * 2)
    assert len(scaled._specialized) == 3


def test_what_a_call_must_give() -> None:
    x = numbers(8, 64)
    for args, what in (
        ((x, 2.0, 8), "missing argument: y"),
        ((x, 2.0, 8, x, x), "5 arguments for 4"),
        ((x, 2.0, 8.5, x), "rows is index, got 8.5"),
        ((x, "two", 8, x), "factor is fp32, got 'two'"),
        ((3, 2.0, 8, x), "x is an int, not a tensor"),
        ((x.astype(np.complex64), 2.0, 8, x), "complex64"),
    ):
        with pytest.raises(LaunchError, match=what):
            scaled(*args)
    with pytest.raises(LaunchError, match="z is no parameter"):
        scaled(x, 2.0, 8, z=x)
    with pytest.raises(CompileError, match="by itself the kernel has none"):
        parse(scaled)


@pl.jit.incore
def product(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
    left = pl.move(pl.load(a, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat), target_memory=pl.Mem.Left)
    right = pl.load(b, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat)
    c = pl.store(pl.matmul(left, pl.tile.transpose_view(right)), [0, 0], c)
    return c


@pl.jit.incore
def shifted(a: pl.Tensor, by: pl.Scalar[pl.FP32]):
    return pl.add(a, by)


@pl.jit
def composed(a: pl.Tensor, b: pl.Tensor, out: pl.Out[pl.Tensor]):
    first = pl.create_tensor([32, 32], dtype=pl.FP32)
    first = product(a, b, first)
    second = shifted(first, 1.0)
    out, _task = pl.submit(product, second, b, out, deps=None)
    return out


def test_incore_functions_are_regions() -> None:
    a, b, out = numbers(32, 32), numbers(32, 32, seed=1), np.zeros((32, 32), np.float32)
    composed(a, b, out)
    np.testing.assert_allclose(out, (a @ b.T + 1) @ b.T, rtol=1e-4, atol=1e-3)
    kernel, _ = specialize(composed, (a, b, out), {})
    names = [f.name for f in compiler.lower(kernel).program.functions if f.kind != "host"]
    assert sorted(names) == ["product", "product_1", "shifted"]
    with pytest.raises(UsageError, match=r"product is a @pl.jit.incore function"):
        product(a, b, out)


@pl.jit
def staged(a: pl.Tensor, b: pl.Tensor):
    with pl.at():
        both = pl.add(a, b)
        twice = both * 2.0
    with pl.incore():
        result = pl.exp(twice) - both
    return result


def test_tiles_outlive_their_region_and_new_tensors_are_returned() -> None:
    a, b = numbers(8, 64), numbers(8, 64, seed=1)
    result = staged(a, b)
    np.testing.assert_allclose(result, np.exp((a + b) * 2) - (a + b), rtol=1e-4, atol=1e-4)


@pl.jit
def two_outputs(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    negative = pl.create_tensor([8, 64], dtype=pl.FP32)
    with pl.at(level=CORE):
        y[:] = x * 2.0
        negative[:] = -x[:, :]
    return y, negative


def test_new_tensors_stand_behind_the_parameters() -> None:
    x = numbers(8, 64)
    y, negative = two_outputs(x)
    np.testing.assert_array_equal(y, x * 2)
    np.testing.assert_array_equal(negative, -x)


@pl.jit
def tail_outlives(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        part = pl.load(x, [0, 0], [8, 64], valid_shape=[8, 60])
    with pl.at(level=CORE):
        y[:] = part


@pl.jit
def unwritten(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    z = pl.create_tensor([8, 64], dtype=pl.FP32)
    with pl.at(level=CORE):
        y[:] = x
    return z


@pl.jit
def returned_from_a_loop(x: pl.Tensor[[8, 64], pl.FP32]):
    for _ in pl.parallel(2):
        z = pl.create_tensor([8, 64], dtype=pl.FP32)
        with pl.at(level=CORE):
            z[:] = x
    return z


@pl.jit
def dynamic_whole(x: pl.Tensor[[pl.dynamic("N"), 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:] = pl.exp(x)


@pytest.mark.parametrize(
    ("kernel", "id", "text"),
    [
        (tail_outlives, "undefined-name", "part is a tile of the region"),
        (unwritten, "not-written", "nothing is written to it"),
        (returned_from_a_loop, "undefined-name", "z is assigned only in the loop"),
        (dynamic_whole, "operand-kind", "must be a tile"),
    ],
)
def test_what_cannot_outlive(kernel: Any, id: str, text: str) -> None:
    with pytest.raises(CompileError, match=text) as caught:
        parse(kernel)
    assert caught.value.id == id and caught.value.loc is not None


def build(rows: int) -> Any:
    @pl.program
    class Sums:
        """Methods that call each other, as one kernel."""

        @pl.function(type=pl.FunctionType.InCore)
        def add(
            self,
            data: pl.Tensor[[4 * rows, 32], pl.FP32],
            row: pl.Scalar[pl.INDEX],
            by: pl.Scalar[pl.FP32],
            out: pl.Out[pl.Tensor[[4 * rows, 32], pl.FP32]],
        ) -> pl.Tensor[[4 * rows, 32], pl.FP32]:
            tile: pl.Tile[[rows, 32], pl.FP32] = pl.load(data, [row, 0], [rows, 32])
            done: pl.Tensor[[4 * rows, 32], pl.FP32] = pl.store(pl.add(tile, by), [row, 0], out)
            return done

        @pl.function(type=pl.FunctionType.Orchestration)
        def main(
            self, data: pl.Tensor[[4 * rows, 32], pl.FP32], out: pl.Out[pl.Tensor[[4 * rows, 32], pl.FP32]]
        ) -> pl.Tensor[[4 * rows, 32], pl.FP32]:
            pl.func_attr({"anything": 1})
            with pl.manual_scope():
                tasks = pl.array.create(4, pl.TASK_ID)
                for phase, (before,) in pl.range(2, init_values=(tasks,)):
                    tasks_next = pl.array.create(4, pl.TASK_ID)
                    fence = pl.system.task_dummy(deps=[before])
                    for branch in pl.parallel(2):
                        row: pl.Scalar[pl.INDEX] = (phase * 2 + branch) * rows
                        out, task = pl.submit(self.add, data, row, 1.0, out, deps=[fence])
                        tasks_next[branch] = task
                    tasks = pl.yield_(tasks_next)
            return out

    return Sums


def test_a_class_is_a_program() -> None:
    for rows in (8, 16):
        program = build(rows)
        assert program.name == "Sums" and list(program.functions) == ["add", "main"]
        x, y = numbers(4 * rows, 32), np.zeros((4 * rows, 32), np.float32)
        run(program, x, y)
        np.testing.assert_array_equal(y, x + 1)
    y[:] = 0
    program(x, y)
    np.testing.assert_array_equal(y, x + 1)


def test_the_program_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text(
        "import pyto.language as pl\n"
        "@pl.program\n"
        "class One:\n"
        "    @pl.function(type=pl.FunctionType.InCore)\n"
        "    def copy(self, x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):\n"
        "        y[:] = x\n"
        "    @pl.function\n"
        "    def main(self, x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):\n"
        "        self.copy(x, y)\n",
        encoding="utf-8",
    )
    assert list(compiler.find_kernels(file)) == ["main"]


def test_wrong_decorations() -> None:
    with pytest.raises(UsageError, match="has no kernel"):

        @pl.program
        class Nothing:
            pass

    with pytest.raises(UsageError, match="decorates a class"):
        pl.program(3)
    with pytest.raises(UsageError, match="is not supported"):
        pl.function(type=pl.FunctionType.Group)
    with pytest.raises(UsageError, match="need dims and an element type"):
        pl.autotune(TILE=[1, 2])(scaled)


@pl.jit
def strided(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.cluster():  # noqa: SIM117
        with pl.spmd(3):
            for r in pl.range(pl.get_block_idx(), 8, pl.tile.get_block_num()):
                y[r : r + 1, :] = x[r : r + 1, :] * 2.0


def test_block_numbers() -> None:
    x, y = numbers(8, 64), np.zeros((8, 64), np.float32)
    run(strided, x, y)
    np.testing.assert_array_equal(y, x * 2)


@pl.jit
def steps(x: pl.Tensor, n: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=CORE):
        end = pl.read(n, [0])
        zero = pl.full([8, 64], dtype=pl.FP32, value=0.0)
        for i, (total, j) in pl.pipeline(4, init_values=(zero, 0)):
            if i < end:
                grown = pl.yield_(total + x)
            else:
                grown = pl.yield_(total)
            total, j = pl.yield_(grown, j + 1)
        for k, t in pl.while_(init_values=(0, total)):
            pl.cond(k < end)
            k, t = pl.yield_(k + 1, t * 2.0)
        y[:] = t


def test_yields_and_while() -> None:
    x = numbers(8, 64)
    for end in (0, 2):
        y = np.zeros((8, 64), np.float32)
        run(steps, x, np.array([end], np.int32), y)
        np.testing.assert_allclose(y, x * end * 2**end, rtol=1e-6)


@pl.jit
def shown(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for _i in pl.range(2):
            t = x[:, :] + 1.0
            pl.static_print("tile", t, 3)
            y[:] = t


def test_static_print(capsys: pytest.CaptureFixture[str]) -> None:
    parse(shown)
    (line,) = capsys.readouterr().out.splitlines()
    assert "test_public.py:" in line and "tile %t" in line and line.endswith(" 3")


@pl.jit
def by_numbers(n: pl.Tensor[[2], pl.INT64], x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:] = x * 0.0
        to, start = pl.read(n, [0]), pl.read(n, [1])
        y[to : to + 1, :] = x[start : start + 1, :]


@pl.jit
def tile_of_numbers(n: pl.Tensor[[8], pl.INT64], y: pl.Out[pl.Tensor[[8], pl.INT32]]):
    with pl.at(level=CORE):
        y[:] = pl.cast(n[:], pl.INT32)


def test_tensors_of_64_bit_integers_are_read() -> None:
    x, y = numbers(8, 64), np.zeros((8, 64), np.float32)
    by_numbers(np.array([5, 2], np.int64), x, y)
    np.testing.assert_array_equal(y[5], x[2])
    assert not y[[0, 1, 2, 3, 4, 6, 7]].any()


@pl.jit
def in_place_if_short(x: pl.Tensor[[512, 128], pl.FP32], y: pl.Out[pl.Tensor[[512, 128], pl.FP32]]):
    with pl.at(level=CORE):
        for i in pl.range(4):
            part = pl.load(x, [i * 128, 0], [128, 128])
            more = pl.load(x, [i * 128, 0], [128, 128])
            pl.store(pl.exp(part) + more, [i * 128, 0], y)


def test_results_take_the_place_of_loads_where_memory_is_short() -> None:
    x, y = numbers(512, 128), np.zeros((512, 128), np.float32)
    in_place_if_short(x, y)
    np.testing.assert_allclose(y, np.exp(x) + x, rtol=1e-5, atol=1e-5)


@pl.jit
def stray_yield(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:] = pl.yield_(x)


@pl.jit
def stray_cond(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        pl.cond(True)
        y[:] = x


@pl.jit
def no_cond(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        for (k,) in pl.while_(init_values=(0,)):
            (k,) = pl.yield_(k + 1)
        y[:] = x


@pl.jit
def view_as_tile(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    with pl.at(level=CORE):
        y[:] = pl.exp(pl.tile.transpose_view(x[:, :]))


@pl.jit
def submits_nothing(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    y, _t = pl.submit(x, y)


@pl.jit.incore
def first_of(x: pl.Tensor):
    return pl.read(x, [0, 0])


@pl.jit
def scalar_of_a_region(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    s = first_of(x)
    with pl.at(level=CORE):
        y[:] = x * s


@pytest.mark.parametrize(
    ("kernel", "id"),
    [
        (stray_yield, "misplaced"),
        (stray_cond, "misplaced"),
        (no_cond, "bad-loop"),
        (view_as_tile, "operand-kind"),
        (submits_nothing, "bad-argument"),
        (tile_of_numbers, "op-dtype"),
        (scalar_of_a_region, "bad-return"),
    ],
)
def test_refused(kernel: Any, id: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse(kernel)
    assert caught.value.id == id and caught.value.loc is not None
