"""Every function of `pl`: those of the op table, the structural ones, and the names that are refused for now."""

from __future__ import annotations

from pyto.ir.ops import OPS
from pyto.language import vocabulary_data
from pyto.language.intrinsics import Intrinsic
from pyto.language.vocabulary_hints import HINTS

# name -> (signature, text). Scheduling arguments (deps, allow_early_resolve, ...) are hints and change no result.
STRUCTURE = {
    "range": ("*bounds, init_values=None", "Loop of a kernel: (stop), (start, stop) or (start, stop, step)."),
    "parallel": ("*bounds, init_values=None", "Loop of independent iterations, spread over the cores outside regions."),
    "pipeline": (
        "*bounds, stage=2, init_values=None",
        "Loop whose loads run `stage` - 1 iterations ahead; means the same as pl.range.",
    ),
    "unroll": ("*bounds", "Loop with compile-time bounds, written out iteration by iteration."),
    "spmd": (
        "core_num, *, sync_start=False, name_hint='', optimizations=None, deps=None, allow_early_resolve=False,"
        " predicate=None",
        "`for i in pl.spmd(n)`: n independent regions, i from 0 to n - 1. `with pl.spmd(n)`: i is pl.get_block_idx().",
    ),
    "at": (
        "level=None, role=None, *, optimizations=None, deps=None, no_dep_args=None, dumps=None,"
        " allow_early_resolve=False, name_hint='', windowize=False",
        "`with pl.at(level=pl.Level.CORE_GROUP)`: a region, work of one core.",
    ),
    "yield_": (
        "*values",
        "Ends the body of a loop with `init_values`: the values of the next iteration; or a branch of an `if`.",
    ),
    "matmul_bias": ("lhs, rhs, bias", "lhs [M, K] times rhs [K, N] plus the row bias [1, N], of the product's type."),
    "gemv": ("lhs, rhs, acc_phase='unspecified'", "matmul of one row: lhs [1, K] times rhs [K, N]."),
    "gemv_acc": ("acc, lhs, rhs, acc_phase='unspecified'", "acc [1, N] + lhs [1, K] times rhs [K, N]."),
    "gemv_bias": ("lhs, rhs, bias, acc_phase='unspecified'", "lhs [1, K] times rhs [K, N] plus bias [1, N]."),
    "dim": ("tensor, axis", "The size of an axis, as an integer."),
    "sels": ("mask, src, tmp=None, scalar=0", "src where mask is not zero, else the scalar."),
    "min": ("lhs, rhs", "The smaller of two scalars."),
    "max": ("lhs, rhs", "The larger of two scalars."),
    "const": ("value, dtype", "A scalar of the given type."),
    "get_block_idx": ("", "The index of the region in the innermost `pl.spmd`."),
    "print": ("*values", "Text and values (scalars, tiles) on the device's log, line by line; a core at a time."),
    "assert_": (
        "condition, msg=''",
        "Stops the kernel where a condition does not hold, naming the line and the values; like Python's `assert`.",
    ),
    "static_assert": ("condition, msg=''", "Refuses to compile where a compile-time condition does not hold."),
    **vocabulary_data.STRUCTURE,
    **HINTS,
}  # fmt: skip

_LATER = """
gather_compare reinterpret_view tri spmd_submit split_aiv print
get_subblock_idx extract
"""
LATER = _LATER.split()
NEVER = {
    "sin": "the chip has no instruction for it, and none of it is accurate for large arguments; compute it on the host",
    "cos": "the chip has no instruction for it, and none of it is accurate for large arguments; compute it on the host",
    "random": "results would differ from run to run; make the numbers on the host",
    "batch_matmul": "tiles have two axes; loop over the batch with pl.parallel or pl.range, and pl.matmul each",
    "batch_matmul_acc": "tiles have two axes; loop over the batch with pl.range, and pl.matmul_acc each",
    "matmul_mx": "the chip has no MX formats",
    "matmul_mx_acc": "the chip has no MX formats",
    "matmul_mx_bias": "the chip has no MX formats",
    "tpush_to_aiv": "pyto places the hand-over between cube and vector cores itself",
    "tpush_to_aic": "pyto places the hand-over between cube and vector cores itself",
    "tpop_from_aic": "pyto places the hand-over between cube and vector cores itself",
    "tpop_from_aiv": "pyto places the hand-over between cube and vector cores itself",
    "tfree_to_aic": "pyto places the hand-over between cube and vector cores itself",
    "tfree_to_aiv": "pyto places the hand-over between cube and vector cores itself",
    "alloc": "pyto plans the memory itself",
    "reserve_buffer": "pyto plans the memory itself",
    "import_peer_buffer": "pyto plans the memory itself",
    **dict.fromkeys(
        ["sync_src", "sync_dst", "sync_set", "sync_wait", "syncall", "set_ffts", "bar_v", "bar_m", "bar_all"],
        "pyto inserts every event, flag and barrier itself, so that none is missing and none is left over",
    ),
}


def _table() -> dict[str, Intrinsic]:
    out: dict[str, Intrinsic] = {}
    for op in OPS.values():
        if op.user:
            out[op.name] = Intrinsic(op.name, op.call, op.doc)
    for name, (signature, doc) in STRUCTURE.items():
        out[name] = Intrinsic(name, signature, doc)
    for name in LATER:
        if name not in out:
            out[name] = Intrinsic(name, "*args", "Not supported yet.", refused="it is not supported yet")
    for name, why in NEVER.items():
        out[name] = Intrinsic(name, "*args", f"Not supported: {why}.", refused=why)
    return out


INTRINSICS = _table()

# Other spellings of the same functions: `pl.tensor.NAME` and `pl.tile.NAME` have every name of `pl`, and these.
ALIASES = {alias: op.name for op in OPS.values() for alias in op.aliases}
