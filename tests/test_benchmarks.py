"""The benchmarks' own measuring: what counts, what is flagged, what is written."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def calm(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """benchmarks.calm, importable as it is from the clone's root, where `make bench` runs."""
    monkeypatch.syspath_prepend(str(ROOT))
    import benchmarks.calm

    yield benchmarks.calm
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]


def blocks_of(script: dict[str, list[tuple[float, float | None]]]) -> Callable[..., tuple[list[float], float | None]]:
    """A stand-in for `_block`: (seconds, others' share) of each contender's blocks in turn, the last one for ever."""

    def block(run: Callable[[], str], least: int) -> tuple[list[float], float | None]:
        left = script[run()]
        seconds, others = left.pop(0) if len(left) > 1 else left[0]
        return [seconds] * least, others

    return block


def test_disturbed_blocks_do_not_count(calm: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    script = {"a": [(0.040, 0.5), (0.001, 0.0), (0.030, 0.3), (0.001, 0.01), (0.001, 0.02)], "b": [(0.002, 0.0)]}
    monkeypatch.setattr(calm, "_block", blocks_of(script))
    found = calm.compare({"a": lambda: "a", "b": lambda: "b"}, repeat=9)
    assert found["a"].ms == pytest.approx(1.0) and found["b"].ms == pytest.approx(2.0)
    assert not found["a"].disturbed and not found["b"].disturbed


def test_a_machine_that_is_never_quiet_is_said_so(calm: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calm, "_block", blocks_of({"a": [(0.040, 0.6)], "b": [(0.002, None)]}))
    assert calm.compare({"a": lambda: "a"}, repeat=9)["a"].disturbed
    assert calm.compare({"b": lambda: "b"}, repeat=9)["b"].disturbed, "unknown is not quiet"


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="needs /proc/stat")
def test_another_process_is_noticed(calm: ModuleType) -> None:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        _, others = calm._block(lambda: sum(range(1000)), 1)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert others is not None and others > calm.QUIET


def test_json(tmp_path: Path) -> None:
    output = tmp_path / "bench.json"
    command = [sys.executable, "-m", "benchmarks", "determinism", "--quick", "--no-torch", "--output", str(output)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    document = json.loads(output.read_text())
    assert document["machine"]["cpu"] and not document["failed"]
    assert all(set(f) == {"name", "value", "unit", "ratio", "compared_with"} for f in document["figures"])
    assert {f["value"] for f in document["figures"]} == {1}, "generated text differs between hash seeds"
