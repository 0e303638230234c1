"""Control flow at run time: after every pass, in the simulator and in numpy the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyto import compiler, interpreter
from pyto.errors import LaunchError
from pyto.ir.nodes import walk
from tests.codegen import debug_kernels
from tests.codegen.cases import BF16, F32, normal

KERNELS = compiler.find_kernels(Path(__file__).parent / "control_kernels.py")
Values = dict[str, Any]
Example = tuple[Values, Values, Values]  # what is read, what is written before, and after


def _rows(rng: Any, n: int) -> Any:
    return normal(rng, n, 64)


def _one(want: Any) -> tuple[Values, Values]:
    return {"y": np.zeros((1, 64), F32)}, {"y": want.reshape(1, 64)}


def _both(rng: Any, flag: int) -> Example:
    x = _rows(rng, 32)
    return {"x": x, "flag": flag}, {"y": np.zeros_like(x)}, {"y": x * 2 + 1 if flag > 0 else x - 1}


def _stores(rng: Any, flag: bool) -> Example:
    x, z = _rows(rng, 32), _rows(rng, 32)
    after = x + 1 if flag else z
    return {"x": x, "flag": flag}, {"z": z, "y": np.zeros_like(x)}, {"z": after, "y": after * 2}


def _in_place(rng: Any, n: int, every: int) -> Example:
    x = _rows(rng, n)
    return {"x": x, "every": every}, *_one(0.5 + x[::every].sum(0))


def _branches(rng: Any, n: int) -> Example:
    x, z, pick = _rows(rng, n), _rows(rng, n), rng.integers(0, 2, n).astype(np.int32)
    want = np.where(pick[:, None] != 0, x, z * 3) + 1
    return {"x": x, "z": z, "pick": pick}, {"y": np.zeros_like(x)}, {"y": want}


def _other(rng: Any, n: int, few: int) -> Example:
    x, y = _rows(rng, n), _rows(rng, n)
    rows, cols = (min(few, 16, n), 40) if few else (min(16, n), 64)
    want = y.copy()
    want[:rows, :cols] = x[:rows, :cols] + 1
    return {"x": x, "few": few}, {"y": y}, {"y": want}


def _chosen(rng: Any, n: int, at: int) -> Example:
    x = _rows(rng, n)
    return {"x": x, "at": at}, *_one(x[max(0, min(at, n - 1))])


def _counts(rng: Any, n: int) -> Example:
    x = _rows(rng, n)
    acc, at, step = np.zeros(64), 0, 1
    while at < n:
        acc = acc + x[at]
        at, step = at + step, at
        step = max(step, 1)
    return {"x": x}, *_one(acc + at)


def _links(rng: Any, n: int) -> Example:
    x, links = _rows(rng, n), rng.integers(-1, n, n).astype(np.int32)
    acc, at, hops = np.zeros(64), links[0], 0
    while at >= 0 and hops < n:
        acc, at, hops = acc + x[at], links[at], hops + 1
    return {"links": links, "x": x}, *_one(acc * 2)


def _descends(rng: Any, n: int) -> Example:
    x = _rows(rng, n)
    taken = [i for i in range(n - 1, -1, -2) if i % 3 != 1]
    acc = np.zeros(64)
    for i in taken:
        acc = acc * 0.5 + x[i]
    return {"x": x}, *_one(acc + len(taken))


def _skips(rng: Any, n: int) -> Example:
    x, y = _rows(rng, n), _rows(rng, n)
    want = y.copy()
    for i in range(n):
        if i % 4:
            want[i] = x[i] * (1 if i % 2 else 2) + sum(k for k in range(3) if k != i % 3)
    return {"x": x}, {"y": y}, {"y": want}


def _hosted(rng: Any, n: int) -> Example:
    x, y = _rows(rng, n), _rows(rng, n)
    want = y.copy()
    if n > 8:
        want[:16] += 3 * 2 * x[:16] + 3
    else:
        want[:8] = x[:8]
    return {"x": x}, {"y": y}, {"y": want}


def _grid(rng: Any, n: int) -> Example:
    x = _rows(rng, n)
    low = np.arange(n)[:, None] // 4 * 4 * 2 < n
    return {"x": x}, {"y": np.zeros_like(x)}, {"y": np.where(low, x * 2, x + 1)}


def _product(rng: Any, twice: int) -> Example:
    a, b, c = (normal(rng, m, 64, dtype=BF16) for m in (16, 64, 64))
    want = a.astype(float) @ (b.astype(float) + twice * c.astype(float))
    return {"a": a, "b": b, "c": c, "twice": twice}, {"y": np.zeros((16, 64), F32)}, {"y": want}


def _no_turn(rng: Any, n: int) -> Example:
    x = _rows(rng, 9)
    return {"x": x, "n": n}, *_one(x[: n + 1].sum(0) + 2 * x[0])


def _nested(rng: Any, p: int, q: int) -> Example:
    x = _rows(rng, 2)
    a, b = x
    if p > 0:
        a = a + b
        a, b = (b, a) if q > 0 else (a, b * 3)
        scale = 2.0
    elif q > 5:
        b, scale = b - a, 1.0
    else:
        scale = p * 0.5
    return {"x": x, "p": p, "q": q}, *_one(a * scale - b)


def _floats(rng: Any, n: int) -> Example:
    x, scale, want = _rows(rng, n), 1.0, []
    for row in x:
        scale = min(scale * 1.5, 4.25) - 0.125
        want.append(row * scale)
    return {"x": x, "eps": 0.125}, {"y": np.zeros_like(x)}, {"y": np.array(want)}


def _matrix(rng: Any, n: int) -> Example:
    x, y = _rows(rng, n), _rows(rng, n)
    i, j = np.arange(n)[:, None] // 8 * 8, np.arange(64)[None] // 16 * 16
    return {"x": x}, {"y": y}, {"y": np.where(i != j, x + 1, y)}


def _halves(rng: Any, n: int) -> Example:
    x, y = np.abs(_rows(rng, n)) * 8, _rows(rng, n)
    turns = np.maximum(0, np.ceil(np.log2(x[:, :1].astype(float) / 0.75)))
    return {"x": x, "limit": 0.75}, {"y": y}, {"y": x * 0.5**turns + turns}


def _down(rng: Any, turns: int) -> Example:
    y, c = _rows(rng, 2), np.array([turns, *range(7)], np.int32)
    a, b, step = 0, 1, 64
    for _ in range(turns):
        a, b = b, a + b
        step += a
    want, after = y.copy(), c.copy()
    want[0] += turns
    want[1] += a + step
    after[0] = 0
    return {}, {"c": c, "y": y}, {"c": after, "y": want}


SIZES = [(1,), (2,), (7,), (30,)]
MAKERS: dict[str, tuple[Callable[..., Example], list[tuple[Any, ...]]]] = {
    "both_branches": (_both, [(0,), (1,)]),
    "one_branch_stores": (_stores, [(False,), (True,)]),
    "adds_in_place": (_in_place, [(1, 1), (7, 2), (20, 3), (5, 9)]),
    "loads_in_branches": (_branches, SIZES),
    "other_rows": (_other, [(16, 0), (9, 0), (16, 3), (5, 12)]),
    "chosen_offset": (_chosen, [(5, -3), (5, 0), (5, 3), (5, 9)]),
    "counts_up": (_counts, SIZES),
    "follows_links": (_links, SIZES),
    "descends": (_descends, SIZES),
    "skips_deeper": (_skips, SIZES),
    "hosted": (_hosted, [(5,), (8,), (9,), (40,)]),
    "halves_of_a_grid": (_grid, [(1,), (17,), (300,)]),
    "product_in_a_branch": (_product, [(0,), (1,)]),
    "maybe_no_turn": (_no_turn, [(0,), (1,), (8,)]),
    "nested_branches": (_nested, [(1, 1), (1, 0), (0, 6), (0, 0), (-3, 2)]),
    "float_scalars": (_floats, SIZES),
    "halves_until_small": (_halves, SIZES),
    "counts_down": (_down, [(0,), (1,), (5,)]),
    "block_of_the_matrix": (_matrix, [(8,), (64,), (100,)]),
}


def examples(name: str) -> list[tuple[tuple[Any, ...], Example]]:
    make, shapes = MAKERS[name]
    return [(shape, make(np.random.default_rng(7), *shape)) for shape in shapes]


def _check(got: Values, want: Values, what: str) -> None:
    for name, expected in want.items():
        np.testing.assert_allclose(got[name].astype(float), expected, rtol=1e-5, atol=1e-5, err_msg=f"{name}: {what}")


def test_every_kernel_has_examples() -> None:
    assert set(KERNELS) == set(MAKERS)


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_interpreter_at_every_stage(name: str) -> None:
    compiled = compiler.lower(KERNELS[name])
    for shape, (reads, before, after) in examples(name):
        arrays = {k: v for k, v in reads.items() if isinstance(v, np.ndarray)}
        scalars = {k: v for k, v in reads.items() if not isinstance(v, np.ndarray)}
        for stage in compiled.stages:
            if stage.changed:
                got = {k: v.copy() for k, v in before.items()}
                interpreter.run(stage.program, {**arrays, **got}, scalars, seed=3, cores=5)
                _check(got, after, f"{name} {shape} after {stage.name}")


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_simulator(name: str) -> None:
    for shape, (reads, before, after) in examples(name):
        got = {k: v.copy() for k, v in before.items()}
        KERNELS[name](**reads, **got)
        _check(got, after, f"{name} {shape}")


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_generated_text(name: str, golden) -> None:  # type: ignore[no-untyped-def]
    sources = compiler.lower(KERNELS[name]).generated.sources
    golden(f"codegen/control/{name}.txt", "\n".join(f"==== {f}\n{sources[f]}" for f in sorted(sources)))


def test_a_branch_that_adds_to_a_carried_tile_copies_nothing() -> None:
    program = compiler.lower(KERNELS["adds_in_place"]).stages[-1].program
    assert not [op for f in program.device for op in walk(f.body) if op.name == "copy"]


def test_print_and_assert(capfd: pytest.CaptureFixture[str]) -> None:
    x = np.arange(16 * 64, dtype=np.float32).reshape(16, 64)
    y = np.zeros_like(x)
    debug_kernels.talks(x, 3, y)
    np.testing.assert_array_equal(y, x + 1)
    said = capfd.readouterr().out
    assert "i = 0 k: 3 2.5 50%\ni = 8" in "\n".join(line for line in said.splitlines() if "Dump" not in line)
    assert "64, 65, 66" in said
    text = "debug_kernels.py:19: assertion failed: i + k < 20: too far; i = 8, k = 13"
    with pytest.raises(LaunchError) as failed:
        debug_kernels.talks(x, 13, y)
    assert text in str(failed.value)
    with pytest.raises(LaunchError) as failed:
        interpreter.run(compiler.lower(debug_kernels.talks).stages[0].program, {"x": x, "y": y}, {"k": 13})
    assert text in str(failed.value)
