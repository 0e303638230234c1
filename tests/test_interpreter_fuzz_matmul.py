"""Random matrix products, with tails in every direction: every pass keeps them, and the compiled kernel agrees."""

from __future__ import annotations

import random
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest

import pyto.language as pl
from pyto import compiler
from pyto.interpreter import run

B = pl.dynamic("B")
BF = ml_dtypes.bfloat16


@dataclass(frozen=True)
class Shape:
    """A product [B, K] x [K, N] in tiles (m, n, k); `peeled`: the first step stands before the loop."""

    N: int
    K: int
    m: int
    n: int
    k: int
    a_trans: bool
    b_trans: bool
    peeled: bool
    narrow: bool
    add: bool
    kind: str

    @classmethod
    def random(cls, seed: int) -> Shape:
        rng = random.Random(seed)
        m, n, k = (16 * rng.choice((1, 2, 3, 4, 8)) for _ in range(3))
        N, K = n * rng.randint(0, 3) + rng.randint(1, n), k * rng.randint(0, 3) + rng.randint(1, k)
        add = rng.random() < 0.3
        flags = (rng.random() < 0.5 for _ in range(3))
        return cls(
            N, K, m, n, k, *flags, narrow=not add and rng.random() < 0.3, add=add, kind=rng.choice(("bf16", "fp16"))
        )


def make(s: Shape):
    dtype = {"bf16": pl.BF16, "fp16": pl.FP16}[s.kind]
    out = pl.BF16 if s.narrow else pl.FP32
    N, K, MT, NT, KT, A_TRANS, B_TRANS, PEELED, ADD = s.N, s.K, s.m, s.n, s.k, s.a_trans, s.b_trans, s.peeled, s.add
    a_shape, w_shape = ([K, B] if A_TRANS else [B, K]), ([N, K] if B_TRANS else [K, N])

    @pl.jit.inline
    def left(a: pl.Tensor, m: pl.Scalar, k: pl.Scalar):
        return a[k : k + KT, m : m + MT] if A_TRANS else a[m : m + MT, k : k + KT]

    @pl.jit.inline
    def right(w: pl.Tensor, n: pl.Scalar, k: pl.Scalar):
        return w[n : n + NT, k : k + KT] if B_TRANS else w[k : k + KT, n : n + NT]

    @pl.jit
    def product(a: pl.Tensor[a_shape, dtype], w: pl.Tensor[w_shape, dtype], c: pl.InOut[pl.Tensor[[B, N], out]]):
        for m in pl.parallel(0, B, MT):
            for n in pl.parallel(0, N, NT):
                with pl.at(level=pl.Level.CORE_GROUP, name_hint="tile"):
                    if PEELED:
                        acc = pl.matmul(left(a, m, 0), right(w, n, 0), a_trans=A_TRANS, b_trans=B_TRANS)
                    else:
                        acc = pl.full([MT, NT], dtype=pl.FP32, value=0.0)
                    for k in pl.pipeline(KT if PEELED else 0, K, KT, stage=2):
                        acc = pl.matmul_acc(acc, left(a, m, k), right(w, n, k), a_trans=A_TRANS, b_trans=B_TRANS)
                    if ADD:
                        pl.assemble(c, acc, [m, n], atomic=pl.AtomicType.Add)
                    else:
                        c[m : m + MT, n : n + NT] = pl.cast(acc, target_type=out)

    return product


def case(s: Shape, batch: int, seed: int):
    """Operands, the output before, and the output wanted."""
    rng = np.random.default_rng(seed)
    dtype = {"bf16": BF, "fp16": np.float16}[s.kind]
    a = rng.standard_normal((s.K, batch) if s.a_trans else (batch, s.K)).astype(dtype)
    w = rng.standard_normal((s.N, s.K) if s.b_trans else (s.K, s.N)).astype(dtype)
    c = rng.standard_normal((batch, s.N)).astype(BF if s.narrow else np.float32)
    x, y = a.astype(np.float64), w.astype(np.float64)
    want = (x.T if s.a_trans else x) @ (y.T if s.b_trans else y) + (c.astype(np.float64) if s.add else 0)
    return a, w, c, want


def error(got, want):
    return np.linalg.norm(got.astype(np.float64) - want) / np.linalg.norm(want)


@pytest.mark.parametrize("seed", range(40))
def test_every_pass_keeps_the_meaning(seed):
    s = Shape.random(seed)
    stages = compiler.lower(make(s)).stages
    for batch in (1, s.m + 3):
        a, w, c, want = case(s, batch, seed)
        for one in stages:
            got = c.copy()
            run(one.program, {"a": a, "w": w, "c": got}, seed=seed, cores=3)
            assert error(got, want) <= (4e-3 if s.narrow else 1e-6), (one.name, batch, s)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_compiled(seed):
    s = Shape.random(seed)
    kernel = make(s)
    for batch in (1, s.m + 3):
        a, w, c, want = case(s, batch, seed)
        kernel(a, w, c)
        assert error(c, want) <= (4e-3 if s.narrow else 1e-6), (batch, s)
