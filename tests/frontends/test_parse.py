"""What the front end folds, names, binds and refuses to look at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import pyto.language as pl
from pyto.errors import CompileError, InternalError, UsageError
from pyto.frontends.python import CompileErrors, parse
from pyto.ir.nodes import FP32, INDEX, Const, Op, Program, walk
from pyto.language import JitFunction
from pyto.language.annotations import DynVar

B = pl.dynamic("B")
CORE = pl.Level.CORE_GROUP


def ops(kernel: JitFunction | Program) -> list[Op]:
    program = kernel if isinstance(kernel, Program) else parse(kernel)
    return list(walk(program.host.body))


def only(kernel: JitFunction, name: str) -> Op:
    (found,) = [op for op in ops(kernel) if op.name == name]
    return found


@dataclass(frozen=True)
class Config:
    hidden: int = 64
    rows: DynVar = B
    shape: tuple[object, ...] = (B, 64)

    @property
    def half(self) -> int:
        return self.hidden // 2


CFG = Config()
NUMPY_WIDTH = np.int64(32)


def make(cfg: Config, factor: float):
    WIDTH = cfg.half

    @pl.jit
    def kernel(x: pl.Tensor[[cfg.rows, cfg.hidden], pl.FP32], y: pl.Out[pl.Tensor[[B, WIDTH], pl.FP32]]):
        assert cfg.half == WIDTH and NUMPY_WIDTH == WIDTH
        for b in pl.spmd(cfg.shape[0]):
            y[b, :] = x[b, WIDTH : cfg.hidden] * (factor + math.pi * 0)

    return kernel


def test_closures_configs_and_globals_fold() -> None:
    kernel = make(CFG, 2.5)
    load, mul = only(kernel, "load"), only(kernel, "mul")
    assert load.attrs["shape"] == (1, 32) and load.args[2] == Const(32)
    assert mul.args[1] == Const(2.5, FP32)
    assert [d.name for d in parse(kernel).host.dims] == ["B"]


def test_signature() -> None:
    @pl.jit
    def kernel(
        y: pl.Out[pl.Tensor[[B], pl.FP32]],
        a: pl.Scalar[pl.INT32],
        z: pl.InOut[pl.Tensor[[pl.dynamic("Z"), B], pl.FP16]],
        int: pl.Tensor[[4], pl.UINT8],
    ):
        with pl.at(level=CORE):
            y[0:8] = pl.full([8], dtype=pl.FP32, value=a)

    host = parse(kernel).host
    assert [(p.var.name, p.direction) for p in host.params] == [
        ("y", "out"), ("a", "in"), ("z", "inout"), ("int_", "in"),
    ]  # fmt: skip
    assert [d.name for d in host.dims] == ["B", "Z"] and host.name == "kernel" and host.kind == "host"
    assert parse(kernel).stage == "tensor" and "returns" not in host.attrs


def test_returns_are_recorded() -> None:
    @pl.jit.inline
    def fill(t):
        with pl.at(level=CORE):
            t[0:8] = pl.full([8], dtype=pl.FP32, value=0.0)
        return t

    @pl.jit
    def kernel(a: pl.Out[pl.Tensor[[8], pl.FP32]], b: pl.Out[pl.Tensor[[8], pl.FP32]]):
        first = fill(a)
        return fill(b), first

    assert parse(kernel).host.attrs["returns"] == ("b", "a")


def test_names() -> None:
    """Results are named after what they are assigned to; reassignments count; C++ keywords are avoided."""

    @pl.jit
    def kernel(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
        with pl.at(level=CORE):
            t = x[:, :]
            t = t + 1.0
            double = t * 2.0
            y[:, :] = pl.exp(double) * pl.exp(t)

    names = [r.name for op in ops(kernel) for r in op.results]
    assert names == ["t", "t_1", "double_", "exp", "exp_1", "mul"]


def test_scalars_are_named_once() -> None:
    @pl.jit
    def kernel(x: pl.Tensor[[B, 64], pl.FP32], y: pl.Out[pl.Tensor[[B, 64], pl.FP32]]):
        rows = pl.tensor.dim(x, 0)
        half = rows // 2
        again = half
        with pl.at(level=CORE):
            y[again : again + 1, :] = x[0:1, :]

    lets = [op for op in ops(kernel) if op.name == "let"]
    assert [(op.result.name, op.result.dtype) for op in lets] == [("half_", INDEX)]


def test_static_control_flow() -> None:
    @pl.jit
    def kernel(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
        with pl.at(level=CORE):
            t = x[:, :]
            for k in pl.unroll(0, 6, 2):
                if k == 0:
                    t = t + 1.0
                elif k < 4 and CFG.hidden:
                    t = t * 2.0
                else:
                    t = -t
            for i in pl.range(3, 3):
                t = undefined(i)  # noqa: F821
            for i in pl.range(1):
                if i > 0:
                    t = undefined(i)  # noqa: F821
            y[:, :] = t

    assert [op.name for op in ops(kernel)] == [
        "region", "load", "add", "mul", "neg", "for", "yield", "store", "yield",
    ]  # fmt: skip


def test_loops_carry_only_what_they_must() -> None:
    @pl.jit
    def kernel(x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
        with pl.at(level=CORE):
            t = x[0:4, :]
            acc = t
            for i in pl.range(8):
                t = x[i : i + 1, 0:32]
                u = t * 2.0
                k = 3
                y[i : i + 1, 0:32] = u * k
            y[0:4, :] = acc

    loop = only(kernel, "for")
    assert loop.results == () and len(loop.blocks[0].params) == 1


def test_inlined_dims_bind_to_the_caller() -> None:
    ROWS = pl.dynamic("ROWS")

    @pl.jit.inline
    def copy(src: pl.Tensor[[ROWS, 64], pl.FP32], dst: pl.Tensor[[ROWS, 64], pl.FP32]):
        for r in pl.parallel(ROWS):
            with pl.at(level=CORE):
                dst[r, :] = src[r, :]

    @pl.jit
    def kernel(x: pl.Tensor[[B, 64], pl.FP32], y: pl.Out[pl.Tensor[[B, 64], pl.FP32]]):
        work = pl.create_tensor([16, 64], dtype=pl.FP32)
        if work.dtype == pl.BF16:
            copy(never_called(x), work)
        with pl.at(level=CORE):
            work[0:16, :] = pl.full([16, 64], dtype=pl.FP32, value=0.0)
        copy(dst=y, src=x)

    assert [op.args[1] for op in ops(kernel) if op.name == "for"] == [B.var]


def never_called(x):
    raise AssertionError("a static condition drops the call")


def test_regions_get_names_of_their_own() -> None:
    @pl.jit
    def kernel(y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
        for _ in pl.unroll(2):
            with pl.at(level=CORE, name_hint="fill it"):
                y[:, :] = pl.full([8, 64], dtype=pl.FP32, value=0.0)
        with pl.at(level=CORE, name_hint="exp"):
            y[:, :] += 1.0

    assert [op.attrs["name"] for op in ops(kernel) if op.name == "region"] == ["fill_it", "fill_it_1", "exp_"]


def test_locations() -> None:
    @pl.jit
    def kernel(y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
        with pl.at(level=CORE):
            ä = pl.full([8, 64], dtype=pl.FP32, value=0.0); y[:, :] = ä + 1.0  # fmt: skip # noqa: E702

    add = only(kernel, "add")
    text = Path(__file__).read_text(encoding="utf-8").splitlines()[add.loc.line - 1]
    assert text[add.loc.col : add.loc.end_col] == "ä + 1.0" and add.loc.file == __file__


# --------------------------------------------------------------------------------------- errors


def test_errors_in_inlined_functions_say_who_called() -> None:
    @pl.jit.inline
    def inner(t):
        return t + nowhere  # noqa: F821

    @pl.jit.inline
    def outer(t):
        return inner(t)

    @pl.jit
    def kernel(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
        with pl.at(level=CORE):
            t = outer(x[:, :])
            u = t + 1.0
            x[0:8, :] = u

    with pytest.raises(CompileError) as caught:
        parse(kernel)
    text = str(caught.value)
    assert text.index("return t + nowhere") < text.index("in inner, called at") < text.index("in outer, called at")
    assert not isinstance(caught.value, CompileErrors), "what follows from an error is not one"


def test_several_errors_are_reported_together() -> None:
    @pl.jit
    def kernel(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
        with pl.at(level=CORE):
            a = pl.exp(nowhere)  # noqa: F821
            b = a + 1.0
            for _ in pl.range(3):
                c = x[9, :]
                b = b + c
            x[:, :] = b
            x[:, :] = x[:, :] @ 3

    with pytest.raises(CompileErrors) as caught:
        parse(kernel)
    assert [e.id for e in caught.value.errors] == ["undefined-name", "out-of-bounds", "operand-kind"]
    assert str(caught.value).endswith("3 errors")
    assert (caught.value.id, caught.value.message) == ("undefined-name", "'nowhere' is not defined")


def test_what_is_not_a_kernel() -> None:
    @pl.jit.inline
    def helper(x):
        return x

    with pytest.raises(UsageError, match="is not a kernel"):
        parse(len)
    with pytest.raises(UsageError, match="is no kernel itself"):
        parse(helper)


def test_no_source() -> None:
    scope: dict[str, object] = {"pl": pl}
    exec("@pl.jit\ndef kernel(x: pl.Tensor[[8], pl.FP32]):\n    pass\n", scope)
    with pytest.raises(CompileError) as caught:
        parse(scope["kernel"])
    assert caught.value.id == "no-source" and "put the kernel in a .py file" in (caught.value.remedy or "")


def test_changed_file(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    text = "import pyto.language as pl\n\n@pl.jit\ndef kernel(x: pl.Tensor[[8], pl.FP32]):\n    pass\n"
    path.write_text("\n" + text)
    scope: dict[str, object] = {}
    exec(compile(text, str(path), "exec"), scope)
    with pytest.raises(CompileError, match="the file has changed"):
        parse(scope["kernel"])


def test_a_fault_of_the_front_end_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyto.frontends.python import calls

    def broken(*args):
        raise ZeroDivisionError("oops")

    monkeypatch.setitem(calls.OPERATIONS, "exp", broken)

    @pl.jit
    def kernel(x: pl.InOut[pl.Tensor[[8, 64], pl.FP32]]):
        with pl.at(level=CORE):
            x[:, :] = pl.exp(x[:, :])

    with pytest.raises(InternalError) as caught:
        parse(kernel)
    assert "x[:, :] = pl.exp(x[:, :])" in str(caught.value) and "ZeroDivisionError: oops" in caught.value.message
