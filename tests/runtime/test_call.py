"""Calling a program: arguments, outputs, errors."""

from __future__ import annotations

import statistics
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyto.errors import InternalError, LaunchError, UsageError
from pyto.runtime import Program, load, toolchain_for

W = np.array([1, 2, 3, 4], np.float32)


def inputs(rows: int = 3, columns: int = 8) -> np.ndarray:
    return np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)


def expected(x: np.ndarray, a: float) -> np.ndarray:
    return x + a * np.resize(W, x.shape)


def test_outputs_given(echo: Program) -> None:
    x, y, info = inputs(), np.zeros((3, 8), np.float32), np.zeros(5, np.int64)
    result = echo(x, W, 0.5, 7, y, info)
    assert result[0] is y and result[1] is info
    np.testing.assert_array_equal(y, expected(x, 0.5))
    assert list(info[:3]) == [3, 8, 7] and info[3] % 64 == 0 and info[4] == 0


def test_outputs_allocated(echo: Program) -> None:
    x = inputs()
    y, info = echo(x, W, 2, 1)
    assert isinstance(y, np.ndarray) and y.dtype == np.float32
    np.testing.assert_array_equal(y, expected(x, 2))
    given = np.zeros((3, 8), np.float32)
    assert echo(x, W, 2, 1, given)[0] is given
    assert list(info[:2]) == [3, 8]


def test_keywords(echo: Program) -> None:
    x = inputs()
    np.testing.assert_array_equal(echo(x, mode=1, a=1.0, w=W)[0], expected(x, 1.0))
    info = np.zeros(5, np.int64)
    assert echo(x, W, 1.0, mode=1, info=info)[1] is info


def test_numpy_scalars_and_python_scalars(echo: Program) -> None:
    x = inputs()
    np.testing.assert_array_equal(echo(x, W, np.float32(0.25), np.int32(3))[0], expected(x, 0.25))


def test_workspace_is_reused_and_private_to_a_thread(echo: Program) -> None:
    first = echo(inputs(), W, 1.0, 1)[1][3]
    assert echo(inputs(), W, 1.0, 1)[1][3] == first
    other: list[int] = []
    thread = threading.Thread(target=lambda: other.append(int(echo(inputs(), W, 1.0, 1)[1][3])))
    thread.start()
    thread.join()
    assert other and other[0] != first
    big = np.zeros((1024, 1024), np.float32)
    echo(big, W, 1.0, 1)
    np.testing.assert_array_equal(echo(inputs(), W, 1.0, 1)[0], expected(inputs(), 1.0))


@pytest.mark.parametrize(
    "arguments,id,text",
    [
        ((inputs(),), "arguments", "missing argument: w, a, mode"),
        ((inputs(), W, 1.0, 1, None, None, 3), "arguments", "7 arguments for 6 parameters"),
        ((inputs().astype(np.float64), W, 1.0, 1), "dtype", "x: expected [B, N] float32, got [3, 8] float64"),
        ((inputs().tolist(), W, 1.0, 1), "not-a-tensor", "argument x is a list"),
        ((inputs().ravel(), W, 1.0, 1), "rank", "1 dimensions for 2"),
        ((inputs(), np.zeros(5, np.float32), 1.0, 1), "shape", "axis 0 is 5, not 4"),
        ((inputs().T, W, 1.0, 1), "contiguous", "x is not contiguous"),
        ((inputs().astype(">f4"), W, 1.0, 1), "dtype", "got [3, 8] >f4"),
        ((inputs(), W, 1.0, 1, np.zeros((4, 8), np.float32)), "dim", "B: 3 (x) vs 4 (y)"),
        ((inputs(), W, "1", 1), "scalar", "a: expected a number for float32, got '1'"),
        ((inputs(), W, 1e39, 1), "scalar", "a = 1e+39 does not fit float32, which ends at 3.40282e+38"),
        ((inputs(), W, -(10**400), 1), "scalar", "a = an int of 1329 bits does not fit float32"),
        ((inputs(), W, 1j, 1), "scalar", "a: expected a number for float32"),
        ((inputs(), W, 1.0, 1.5), "scalar", "mode: expected an int for int32, got 1.5"),
        ((inputs(), W, 1.0, 1 << 40), "scalar", "does not fit int32"),
        ((inputs(), W, 1.0, True), "scalar", "mode: expected an int"),
        ((np.zeros((0, 8), np.float32), W, 1.0, 1), "empty", "dimension B is 0"),
    ],
)
def test_wrong_arguments(echo: Program, arguments: tuple[Any, ...], id: str, text: str) -> None:
    with pytest.raises(LaunchError) as error:
        echo(*arguments)
    assert error.value.id == f"launch.{id}" and text in error.value.message and "echo" in error.value.message


def test_keyword_errors(echo: Program) -> None:
    with pytest.raises(LaunchError, match="no parameter is named 'z'"):
        echo(inputs(), W, 1.0, 1, z=3)
    with pytest.raises(LaunchError, match="argument x is given twice"):
        echo(inputs(), W, 1.0, 1, x=3)


def test_read_only_output(echo: Program) -> None:
    y = np.zeros((3, 8), np.float32)
    y.flags.writeable = False
    with pytest.raises(LaunchError, match="read-only"):
        echo(inputs(), W, 1.0, 1, y)
    x = inputs()
    x.flags.writeable = False
    echo(x, W, 1.0, 1)


@pytest.mark.parametrize("offset,clash", [(0, True), (4, True), (24, False), (23, True)])
def test_overlap_with_an_output(echo: Program, offset: int, clash: bool) -> None:
    memory = np.zeros(64, np.float32)
    x, y = memory[:24].reshape(3, 8), memory[offset : offset + 24].reshape(3, 8)
    if clash:
        with pytest.raises(LaunchError, match=r"x and y share memory and y is written|y and x share memory"):
            echo(x, W, 1.0, 1, y)
    else:
        echo(x, W, 1.0, 1, y)


def test_inputs_may_overlap(echo: Program) -> None:
    memory = np.ones(24, np.float32)
    np.testing.assert_array_equal(echo(memory.reshape(3, 8), memory[:4], 1.0, 1)[0], np.full((3, 8), 2, np.float32))


def test_overlap_hidden_by_a_longer_input(echo: Program) -> None:
    memory = np.zeros(64, np.float32)
    with pytest.raises(LaunchError, match="share memory"):
        echo(memory[:48].reshape(6, 8), memory[:4], 1.0, 1, None, memory[40:50].view(np.int64))


def test_failure_of_the_program(echo: Program) -> None:
    with pytest.raises(LaunchError, match="echo failed with code 7: mode is negative") as error:
        echo(inputs(), W, 1.0, -1)
    assert error.value.id == "launch.failed"


def test_threads_call_at_once(echo: Program) -> None:
    failures: list[object] = []

    def work(seed: int) -> None:
        x = np.full((64, 64), seed, np.float32)
        for _ in range(50):
            if not np.array_equal(echo(x, W, 1.0, 1)[0], expected(x, 1.0)):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_load_from_files(echo: Program, tmp_path: Path) -> None:
    import json
    import shutil

    shutil.copy(echo.path, tmp_path / "echo.so")
    with pytest.raises(UsageError, match=r"echo.json cannot be read"):
        load(tmp_path / "echo.so")
    (tmp_path / "echo.json").write_text(json.dumps(echo.manifest))
    program = load(tmp_path / "echo.so")
    assert program.signature() == (
        "echo(x: [B, N] float32, w: [4] float32, a: float32, mode: int32, y: out [B, N] float32, info: out [5] int64)"
    )
    (tmp_path / "junk.so").write_bytes(b"no library")
    with pytest.raises(LaunchError, match="cannot be loaded"):
        load(tmp_path / "junk.so", echo.manifest)
    with pytest.raises(LaunchError, match="no function pyto_other"):
        load(echo.path, {**echo.manifest, "name": "other"})


@pytest.mark.parametrize(
    "change",
    [
        {"dims": ["B", "N", "K"]},
        {"dims": ["B"]},
        {"workspace": "__import__('os')"},
        {"params": [{"name": "x", "kind": "tensor", "dtype": "float64", "shape": [1], "direction": "in"}]},
        {"params": [{"name": "x", "kind": "tensor", "dtype": "int8", "shape": [1], "direction": "sideways"}]},
    ],
)
def test_malformed_manifest(echo: Program, change: dict[str, Any]) -> None:
    with pytest.raises(InternalError, match="manifest"):
        load(echo.path, {**echo.manifest, **change})


def test_toolchain_for() -> None:
    class Device:
        type = "npu"

    class Tensor:
        device = Device()

    assert toolchain_for((np.zeros(1), 3)) == "cxx"
    assert toolchain_for((np.zeros(1), Tensor())) == "bisheng"


def test_overhead_of_a_call(echo: Program) -> None:
    """Far above what a call costs (see `make bench`): this only catches a slow path on every call."""
    x, y, info = inputs(1, 4), np.zeros((1, 4), np.float32), np.zeros(5, np.int64)
    times = []
    for _ in range(300):
        start = time.perf_counter()
        echo(x, W, 0.5, 7, y, info)
        times.append(time.perf_counter() - start)
    assert statistics.median(times) < 1e-3
