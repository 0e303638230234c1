"""Random vector programs: every pass keeps what they compute, and the compiled kernel computes it too."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pyto import build, compiler, runtime
from pyto.codegen.ascendc import generate
from pyto.interpreter import run
from pyto.ir.builder import Builder
from pyto.ir.nodes import (
    BF16,
    FP16,
    FP32,
    INDEX,
    Block,
    Const,
    Function,
    Op,
    Param,
    Program,
    ScalarType,
    TensorType,
    TileType,
    Var,
    const,
)
from pyto.ir.verifier import verify
from pyto.passes import PASSES

B = Var("B", ScalarType(INDEX))
LANES = 16  # columns at which slices may start: 32 bytes of 2-byte types
COLUMN_KINDS = ("sum", "max", "min")
EXPANDS = ("add", "sub", "mul", "max", "min")


class Maker:
    """Grows a program by random operations on tiles whose lanes stay between -4 and 4."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.rows = self.rng.choice((1, 3, 8, 16))
        self.cols = LANES * self.rng.choice((1, 2, 3, 4, 8, 13))
        self.builder = Builder()
        self.short = False  # whether a 16-bit rounding may turn a last-bit difference into a larger one

    def tame(self, t: Var) -> Var:
        """Clamped to -4 .. 4, so that nothing overflows and errors stay comparable."""
        t = self.builder.emit("minimum", (t, Const(4.0, FP32)))
        return self.builder.emit("maximum", (t, Const(-4.0, FP32)))

    def scalar(self) -> Const:
        return Const(self.rng.choice((0.5, -1.5, 2.0, 0.25)), FP32)

    # Each takes a tile and a second one of the same shape and gives a tile of that shape.
    def unary(self, t: Var, u: Var) -> Var:
        name = self.rng.choice(("abs", "relu", "neg", "exp", "sqrt", "recip", "rsqrt", "log"))
        if name in ("sqrt", "recip", "rsqrt", "log"):
            t = self.builder.emit("add", (self.builder.emit("abs", (t,)), Const(1.0, FP32)))
        return self.tame(self.builder.emit(name, (t,)))

    def binary(self, t: Var, u: Var) -> Var:
        name = self.rng.choice(("add", "sub", "mul", "maximum", "minimum", "div"))
        if name == "div":
            u = self.builder.emit("add", (self.builder.emit("abs", (u,)), Const(1.0, FP32)))
        return self.tame(self.builder.emit(name, (t, u)))

    def with_scalar(self, t: Var, u: Var) -> Var:
        name = self.rng.choice(("add", "sub", "mul", "maximum", "minimum"))
        args = (t, self.scalar()) if self.rng.random() < 0.5 else (self.scalar(), t)
        return self.tame(self.builder.emit(name, args))

    def expand(self, t: Var, u: Var) -> Var:
        axis, kind = self.rng.choice(("row", "col")), self.rng.choice(COLUMN_KINDS)
        part = self.tame(self.builder.emit(f"{axis}_{kind}", (u,)))
        return self.tame(self.builder.emit(f"{axis}_expand_{self.rng.choice(EXPANDS)}", (t, part)))

    def halves(self, t: Var, u: Var) -> Var:
        """A window of one written over another window of the other."""
        width = LANES * self.rng.randint(1, self.cols // LANES)
        from_, to = (Const(LANES * self.rng.randint(0, (self.cols - width) // LANES)) for _ in range(2))
        part = self.builder.emit("slice", (t, Const(0), from_), {"shape": (self.rows, width)})
        return self.builder.emit("assemble", (u, part, Const(0), to))

    def rounded(self, t: Var, u: Var) -> Var:
        self.short = True
        target = self.rng.choice((BF16, FP16))
        t = self.builder.emit("cast", (t,), {"target_type": target, "mode": "rint"})
        if self.rng.random() < 0.5:
            t = self.builder.emit("maximum", (t, Const(0.5, target)))
        return self.builder.emit("cast", (t,), {"target_type": FP32, "mode": "rint"})

    def looped(self, t: Var, u: Var) -> Var:
        """t carried through three steps, each a few operations with u and the loop's index."""
        assert isinstance(t.type, TileType)
        b, kind = self.builder, self.rng.choice(("range", "pipeline"))
        index, carried = b.var("i", ScalarType(INDEX)), b.var("carried", t.type)
        with b.block() as ops:
            last = self.some(carried, u, self.rng.randint(1, 3))
            b.append(Op("yield", (last,)))
        if last.type != t.type or last is u:
            return t
        result = b.var("after", t.type)
        args = (Const(0), Const(3), Const(1), t)
        b.append(Op("for", args, (result,), {"kind": kind, "stages": 2}, (Block((index, carried), tuple(ops)),)))
        return result

    def some(self, t: Var, u: Var, count: int) -> Var:
        kinds = (self.unary, self.binary, self.with_scalar, self.expand, self.halves, self.rounded)
        for _ in range(count):
            t, u = (t, u) if self.rng.random() < 0.7 else (u, t)
            t = self.rng.choice(kinds)(t, u)
        return t

    def program(self) -> Program:
        x, y, z = (
            Var(n, TensorType((B, const(c)), FP32)) for n, c in (("x", self.cols), ("y", self.cols), ("z", self.cols))
        )
        b0, b = Var("b0", ScalarType(INDEX)), self.builder
        at = {"rows": 0, "cols": 1}
        t, u = (b.emit("load", (v, b0, Const(0)), {**at, "shape": (self.rows, self.cols)}) for v in (x, y))
        tail = u
        t = self.some(t, u, self.rng.randint(2, 6))
        t = self.looped(t, tail)
        t = self.some(t, tail, self.rng.randint(1, 4))
        b.emit("store", (z, t, b0, Const(0)), {**at, "atomic": None})
        region = Op("region", attrs={"name": "body"}, blocks=(Block((), (*b.ops, Op("yield"))),))
        inner = Block((b0,), (region, Op("yield")))
        loop = Op("for", (Const(0), B, Const(self.rows)), (), {"kind": "parallel", "stages": 1}, (inner,))
        host = Function("fuzz", "host", (Param(x), Param(y), Param(z, "out")), (B,), Block((), (loop,)))
        return Program("fuzz", "tensor", (host,))


def arguments(program: Program, batch: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    cols = program.host.params[0].var.type.shape[1].value
    x, y = (rng.uniform(-2, 2, (batch, cols)).astype(np.float32) for _ in range(2))
    return {"x": x, "y": y, "z": np.zeros((batch, cols), np.float32)}


def difference(got: np.ndarray, want: np.ndarray) -> float:
    return float(np.linalg.norm(got - want) / (np.linalg.norm(want) + 1e-3))


@pytest.mark.parametrize("seed", range(60))
def test_every_pass_keeps_the_meaning(seed):
    maker = Maker(seed)
    program = maker.program()
    verify(program)
    bound = 2e-2 if maker.short else 2e-5
    for batch in (1, maker.rows, 2 * maker.rows + 1):
        a = arguments(program, batch, seed)
        run(program, a)
        assert np.isfinite(a["z"]).all()
        now = program
        for one in PASSES:
            now = one(now)
            verify(now)
            b = {**a, "z": np.zeros_like(a["z"])}
            run(now, b, seed=seed, cores=2)
            assert difference(b["z"], a["z"]) <= bound, (one.__name__, batch)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 108))
def test_compiled(seed):
    maker = Maker(seed)
    program = now = maker.program()
    for one in PASSES:
        now = one(now)
    sources, manifest = generate(now)
    generated = build.Generated(program.name, sources, manifest["kernels"], manifest)
    artifact = compiler.build(compiler.Compiled(program.name, compiler.DEFAULT_CHIP, [], generated), toolchain="cxx")
    loaded = runtime.load(artifact.so, artifact.manifest)
    for batch in (1, 2 * maker.rows + 1):
        a = arguments(program, batch, seed)
        run(program, a)
        z = np.zeros_like(a["z"])
        loaded(a["x"], a["y"], z)
        assert difference(z, a["z"]) <= (2e-2 if maker.short else 2e-5), batch
