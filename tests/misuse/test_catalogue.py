"""Every error that the code can raise is reached, described, and on its page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyto.language as pl
from pyto import build, compiler, interpreter, runtime
from pyto.build import bisheng, compilers, run
from pyto.build.expr import compile_expr
from pyto.build.scan import scan_kernels
from pyto.catalogue import ENTRIES, explain
from pyto.cli import app, inputs, sources
from pyto.errors import InternalError, PytoError
from pyto.frontends import text
from pyto.frontends.python import parse
from pyto.runtime import npu
from pyto.runtime.binding import Plan
from tests.misuse.ids import ROOT, raised
from tests.misuse.page import PAGE, examples, page

CORE = pl.Level.CORE_GROUP
N = pl.dynamic("N")
Square = pl.Tensor[[N, 16], pl.FP32]


@pl.jit
def copies(x: Square, n: pl.Scalar[pl.INT32], y: pl.Out[Square]):
    with pl.at(CORE):
        y[0:8, :] = x[0:8, :] * n


@pl.jit.inline
def inlined(x: pl.Tensor):
    return x


@pl.jit
def asserts(n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[8, 16], pl.FP32]]):
    with pl.at(CORE):
        pl.assert_(n > 0, "n is not positive")
        y[:, :] = pl.full([8, 16], dtype=pl.FP32, value=n)


X = np.zeros((8, 16), np.float32)


def plan() -> Plan:
    return Plan(compiler.build(copies, toolchain="cxx").manifest)


def bound(*args: Any, **kwargs: Any) -> Any:
    made = plan()
    return made.bind(made.order(args, kwargs))


def read_only() -> Any:
    y = X.copy()
    y.flags.writeable = False
    return y


def _device() -> Any:
    torch = pytest.importorskip("torch")
    return bound(torch.ones(8, 16, device="meta"), 1, torch.ones(8, 16, device="meta"))


def _no_memory() -> Any:
    torch = pytest.importorskip("torch")
    return bound(torch.ones(8, 16).to_mkldnn(), 1)


def _kernel_file(folder: Path, body: str) -> Path:
    path = folder / "k.py"
    path.write_text(body)
    return path


def _unnamed() -> Any:
    space: dict[str, Any] = {"pl": pl, "CORE": CORE}
    exec("@pl.jit\ndef hidden(y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):\n    pass\n", space)
    return parse(space["hidden"])


def reach(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], Any]]:
    """What reaches the ids that no program of programs/ shows."""
    manifest = {"name": "p", "params": [], "dims": []}
    blocked = folder / "file"
    blocked.write_text("")
    command = ["-o", "unit.o"]
    cache = build.Cache(folder)

    def with_env(name: str, value: str, call: Callable[[], Any]) -> Callable[[], Any]:
        def inner() -> Any:
            monkeypatch.setenv(name, value)
            return call()

        return inner

    one = 'extern "C" __global__ __aicore__ void k(GM_ADDR x) { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY); }'
    described = {"B": 2}
    return {
        "autotune": lambda: pl.autotune(TILE=3)(copies),
        "build.cache": with_env("PYTO_CACHE_DIR", str(blocked), lambda: build.Cache().require_writable()),
        "build.compiler-failed": lambda: run.run(["/bin/false", *command], folder, "x", cache, "k", "r"),
        "build.compiler-start": lambda: run.run(["/no/such/compiler"], folder, "x", cache, "k", "r"),
        "build.duplicate-kernel": lambda: build.build_sources("p", {"a.cpp": one, "b.cpp": one}),
        "build.kernel-type": lambda: scan_kernels("a.cpp", one.replace("AIV_ONLY", "MIX_AIC_3_4")),
        "build.name": lambda: build.build_sources("no name", {"a.cpp": one}),
        "build.no-bisheng": lambda: build.pick_toolchain("bisheng"),
        "build.no-cann-home": lambda: bisheng.BishengBuild(
            "p", {}, "ascend910b2", (1, 2), compilers.Bisheng("bisheng", None, "1"), (), cache
        ).build(),
        "build.no-compiler": with_env("CXX", "/no/such/compiler", compilers.find_cxx),
        "build.no-simulator": lambda: build.load_simulator(folder),
        "build.out-dir": lambda: build.build_program(compiler.lower(copies).generated, "cxx", out_dir=blocked / "x"),
        "build.source-name": lambda: build.build_sources("p", {"a/b.cpp": one}),
        "build.toolchain": lambda: build.pick_toolchain("msvc"),
        "decorator": lambda: pl.jit(copies),
        "inline-call": lambda: inlined(X),
        "internal": lambda: interpreter.run(_unknown_op(), {"y": X.copy()}, {"n": 1}),
        "internal.unexpected": lambda: _raise(app.internal(ValueError("x"), ["run"])),
        "launch.arguments": lambda: bound(X),
        "launch.assertion": lambda: interpreter.run(compiler.lower(asserts).program, {"y": X.copy()}, {"n": 0}),
        "launch.contiguous": lambda: bound(np.zeros((16, 8), np.float32).T, 1),
        "launch.device": _device,
        "launch.dim": lambda: bound(X, 1, np.zeros((9, 16), np.float32)),
        "launch.dtype": lambda: bound(X.astype(np.float64), 1),
        "launch.empty": lambda: copies(X[:0], 1),
        "launch.failed": lambda: asserts(0, X.copy()),
        "launch.load": lambda: runtime.Program(blocked, manifest),
        "launch.no-memory": _no_memory,
        "launch.no-torch-npu": _no_torch_npu,
        "launch.not-a-tensor": lambda: bound([1.0], 1),
        "launch.overlap": lambda: bound(X, 1, X),
        "launch.rank": lambda: bound(X[0], 1),
        "launch.read-only": lambda: bound(X, 1, read_only()),
        "launch.scalar": lambda: bound(X, 1 << 40),
        "launch.shape": lambda: bound(np.zeros((8, 17), np.float32), 1),
        "load.exception": lambda: sources.kernels_in(_kernel_file(folder, "1 / 0\n")),
        "load.syntax": lambda: sources.kernels_in(_kernel_file(folder, "def f(:\n")),
        "manifest": lambda: compile_expr("B ** 2")[0](described),
        "no-source": _unnamed,
        "not-a-kernel": lambda: parse(X),  # type: ignore[arg-type]
        "outside-kernel": lambda: pl.exp(X),
        "column-copy": lambda: compiler.lower(_machine(*COLUMN)),
        "matmul-operand": lambda: compiler.lower(text.parse(PRODUCT)),
        "mixed-region": lambda: compiler.lower(text.parse(PRODUCT.replace("%p, 0", "%l, 0"))),
        "pto.unsupported": lambda: compiler.lower(_machine(("fp32, ub", "fp32, gm"))),
        "too-deep": lambda: parse(sources.kernels_in(_kernel_file(folder, DEEP))["k"]),
        "pto.string": lambda: text.parse('program p tensor\n\nhost p() {\n  region {name = "\\q"} {\n  }\n}\n'),
        "unknown-name": lambda: pl.jit.nothing,
        "usage.chip": lambda: build.chip_name("a100"),
        "usage.dim": lambda: inputs.parse_dims(("N=-1",), {"dims": ["N"]}),
        "usage.dump": lambda: compiler.lower(copies, dump=compiler.Dump(blocked)),
        "usage.environment": with_env("PYTO_JOBS", "many", run.jobs),
        "usage.error": lambda: _command("explain", "no-such-id"),
        "usage.input": lambda: inputs.scalar("x", "int32", "n"),
        "usage.kernel": lambda: sources.find(f"{_kernel_file(folder, '')}:k"),
        "usage.manifest": lambda: runtime.load(blocked, folder / "absent.json"),
        "usage.memory": lambda: compiler.lower(copies, memory="magic"),
        "usage.option": lambda: inputs.parse_pairs(("x",), "--input"),
        "usage.out-dir": lambda: inputs.save(str(blocked / "x"), {}),
        "usage.pass": lambda: _command("ir", "--after", "magic", f"{Path(__file__)}:copies"),
        "usage.path": lambda: sources.split_target("/no/such/file.py"),
    }


#: IR as text of what no front end makes.
PRODUCT = """\
program p tile

host p(%x: in tensor[(16, 16), fp32], %y: out tensor[(16, 16), fp32]) {
  launch 1, %x, %y {kernel = "p_1"}
}

cube p_1(%x: in tensor[(16, 16), fp32], %y: out tensor[(16, 16), fp32]) blocks(%b: index, %n: index) {
  %l = load %x, 0, 0 {cols = 1, rows = 0, shape = [16, 16]} : tile[16x16, fp32]
  %m = mul %l, %l : tile[16x16, fp32]
  %p = matmul %m, %l {a_trans = false, b_trans = false} : tile[16x16, fp32]
  store %y, %p, 0, 0 {atomic = none, cols = 1, rows = 0}
  yield
}
"""
COLUMN = (
    ("tile[8x16, fp32, ub]", "tile[8x1, fp32, ub]"),
    ("0 : 16] valid(min(8, %N), 16)", "0 : 1] valid(min(8, %N), 1)"),
    ("shape = [8, 16]", "shape = [8, 1]"),
)
DEEP = """\
import pyto.language as pl
@pl.jit
def k(n: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    with pl.at(pl.Level.CORE_GROUP):
        y[:, :] = pl.full([8, 8], dtype=pl.FP32, value=%sn)
""" % ("-" * 800)


def _machine(*changes: tuple[str, str]) -> Any:
    """`copies` with addresses, as text, changed."""
    program = next(s for s in compiler.lower(copies).stages if s.name == "plan_memory").text
    for before, after in changes:
        assert before in program
        program = program.replace(before, after)
    return text.parse(program)


def _no_torch_npu() -> Any:
    return npu.current_stream(pytest.importorskip("torch").ones(1))


def _raise(error: Exception) -> None:
    raise error


def _command(*args: str) -> Any:
    return app.cli.main(args=list(args), prog_name="pyto", standalone_mode=False)


def _unknown_op() -> Any:
    program = parse(asserts)
    host = program.host
    (region,) = host.body.ops
    (body,) = region.blocks
    strange = body.ops[0].with_(name="strange", args=())
    inner = region.with_(blocks=(type(body)(body.params, (strange, *body.ops[1:])),))
    changed = host.with_(body=type(body)(host.body.params, (inner,)))
    return replace(program, functions=(changed,))


IDS = raised()
PROGRAMS = set(examples())
TEXT = set(re.findall(r'"(pto\.[a-z-]+)"', (ROOT / "tests" / "frontends" / "test_text.py").read_text())) - {"pto.md"}
REACHED = sorted(reach(Path("/dev/shm" if Path("/dev/shm").exists() else "."), pytest.MonkeyPatch()))
#: What no Python kernel is known to reach: guards for IR that is written as text.
GUARDS: set[str] = set()


@pytest.mark.parametrize("id", REACHED)
def test_is_raised(id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PytoError) as caught:
        reach(tmp_path, monkeypatch)[id]()
    error = caught.value
    assert error.id == id, str(error)
    assert f"[{id}]: " in str(error) and isinstance(error, InternalError) == (
        id in ("internal", "internal.unexpected", "manifest")
    )


def test_every_id_of_the_code_is_reached() -> None:
    reached = PROGRAMS | TEXT | set(REACHED)
    missing = {id: IDS[id] for id in sorted(IDS.keys() - reached - GUARDS)}
    assert not missing, missing
    assert not reached - IDS.keys(), "errors that the code does not have"
    assert not GUARDS & reached, "reached after all"


def test_the_catalogue_has_every_id() -> None:
    assert set(ENTRIES) == set(IDS)
    for id, entry in ENTRIES.items():
        assert entry.cause.endswith(".") and entry.remedy and len(entry.cause) < 140, id


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.misuse.page"


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert _command("explain", "error[alignment]") == 0
    assert capsys.readouterr().out == explain("alignment") + "\n"
    assert _command("explain", "--json", "launch.scalar") == 0
    assert json.loads(capsys.readouterr().out)["launch.scalar"]["cause"]
    assert _command("explain") == 0
    assert len(capsys.readouterr().out.splitlines()) == len(ENTRIES)
    assert app.main(["explain", "aligment"]) == 2
    assert "did you mean alignment?" in capsys.readouterr().err
