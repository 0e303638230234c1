"""Matrix products of activations [B, K] with weights [N, K], as the checkpoints keep them."""

import pyto.language as pl
from pyto.models.qwen3_14b.constants import QWEN3_14B_TILING

M_TILE = QWEN3_14B_TILING.m_tile  # a whole decode batch, so that each weight is read once
N_TILE = QWEN3_14B_TILING.n_tile  # the LM head is 99 tiles on each of 24 cores; of L1, 2 * (64 + 64) * 512 * 2 B
K_TILE = QWEN3_14B_TILING.k_tile  # divides every width of every Qwen3; rows of 1 KiB are two whole L2 lines


@pl.jit.inline
def project_tile(x: pl.Tensor, w: pl.Tensor, m0: pl.Scalar, n0: pl.Scalar) -> pl.Tensor:
    """fp32 [M_TILE, N_TILE] at (m0, n0) of x @ w.T; the first step starts the accumulator, the others add to it."""
    acc = pl.matmul(x[m0 : m0 + M_TILE, 0:K_TILE], w[n0 : n0 + N_TILE, 0:K_TILE], b_trans=True)
    for k0 in pl.pipeline(K_TILE, pl.tensor.dim(x, 1), K_TILE, stage=2):
        x_tile = x[m0 : m0 + M_TILE, k0 : k0 + K_TILE]
        w_tile = w[n0 : n0 + N_TILE, k0 : k0 + K_TILE]
        acc = pl.matmul_acc(acc, x_tile, w_tile, b_trans=True)
    return acc


@pl.jit.inline
def project(x: pl.Tensor, w: pl.Tensor, y: pl.Tensor):
    """y = x @ w.T for x bf16 [B, K], w bf16 [N, K], y fp32 or bf16 [B, N]."""
    for m0 in pl.parallel(0, pl.tensor.dim(x, 0), M_TILE):
        for n0 in pl.parallel(0, pl.tensor.dim(w, 0), N_TILE):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="project"):
                acc = project_tile(x, w, m0, n0)
                y[m0 : m0 + M_TILE, n0 : n0 + N_TILE] = pl.cast(acc, target_type=y.dtype)


@pl.jit.inline
def project_add(x: pl.Tensor, w: pl.Tensor, y: pl.Tensor):
    """y += x @ w.T: each element is added to once, so the order of the blocks does not show."""
    for m0 in pl.parallel(0, pl.tensor.dim(x, 0), M_TILE):
        for n0 in pl.parallel(0, pl.tensor.dim(w, 0), N_TILE):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="project_add"):
                pl.assemble(y, project_tile(x, w, m0, n0), [m0, n0], atomic=pl.AtomicType.Add)
