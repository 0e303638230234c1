"""Functions of `pl` that say how work is placed or ordered. pyto does both itself: they are accepted and change no
result."""

from __future__ import annotations

HINTS = {
    "move": (
        "tile, target_memory=None, blayout=None, slayout=None",
        "The tile itself: pyto places tiles in memories.",
    ),
    "create_l1": ("shape, dtype, transpose=False", "A tile whose lanes are undefined: pyto places tiles in memories."),
    "transpose_view": ("tile", "A tile read with rows and columns exchanged, for an operand of pl.matmul."),
    "while_": (
        "*, init_values",
        "`for (a, b) in pl.while_(init_values=(x, y))`: goes on while the pl.cond that begins the body holds.",
    ),
    "cond": ("condition", "The first statement of a pl.while_ loop: the condition to go on."),
    "static_print": ("*values", "Shows values and types when the kernel is compiled."),
    "func_attr": ("attrs", "Attributes of a function: hints, accepted and never needed."),
    "get_block_num": ("", "The number of regions of the innermost `pl.spmd`."),
    "manual_scope": ("", "`with pl.manual_scope()`: a hint; the order of the statements holds."),
    "scope": ("*, mode=None", "`with pl.scope()`: a hint; the order of the statements holds."),
    "cluster": ("*, name_hint=''", "`with pl.cluster()`: a hint; cores are chosen for each region."),
    "incore": ("*, name_hint=''", "`with pl.incore()`: a region, the same as pl.at on a core group."),
    "submit": (
        "*call, deps=None, allow_early_resolve=False, dumps=None, no_dep_args=None",
        "`out, task = pl.submit(function, *arguments)`: the call, and a task id for `deps`, which is a hint.",
    ),
    "no_dep": ("tensor", "The tensor itself: a hint."),
    "dump_tag": ("*tensors", "A hint for tools of other compilers: changes nothing."),
    "task_array": ("size, dtype=None", "Task ids for `deps`: hints, accepted and never needed."),
    "task_dummy": ("*, deps=None", "A task id for `deps`: a hint, accepted and never needed."),
    "task_invalid": ("", "A task id for `deps`: a hint, accepted and never needed."),
}  # fmt: skip
