"""What becomes of accumulators, seen before the walk: which product starts one, which products belong into windows."""

from __future__ import annotations

from pyto.ir.nodes import Block, Function, Op, TileType, Var, walk
from pyto.ir.scalar import variables
from pyto.passes.matmul_steps import TRUE


def first_product(loop: Op, param: Var) -> list[Op] | None:
    """Loops down to the matmul_acc that is the first to touch the carried `param`, if in every iteration it is."""
    (body,) = loop.blocks
    uses = [o for o in walk(body) if any(param in variables(a) for a in o.args)]
    if len(uses) != 1 or not any(uses[0] is o for o in body.ops):
        return None
    (use,) = uses
    if use.name == "set_validshape":
        return first_product(loop, use.result)
    if use.name == "matmul_acc" and use.args[0] == param and len(use.args) == 3:
        return [loop, use]
    if use.name != "for" or param not in use.args[3:]:
        return None
    inside = {v for o in walk(body) for v in (*o.results, *(p for b in o.blocks for p in b.params))} | set(body.params)
    if any(variables(e) & inside for e in use.args[:3]):
        return None  # an inner loop that may be empty in the first iteration and not in a later one
    rest = first_product(use, use.blocks[0].params[1 + use.args[3:].index(param)])
    return None if rest is None else [loop, *rest]


def replaced(block: Block, old: Op, new: Op) -> Block:
    ops = (new if o is old else o.with_(blocks=tuple(replaced(b, old, new) for b in o.blocks)) if o.blocks else o
           for o in block.ops)  # fmt: skip
    return Block(block.params, tuple(ops))


def products_into_windows(function: Function) -> Function:
    """`acc[:, a:b] = matmul(...)` as a product that starts in that window, for L0C cannot be copied."""
    count: dict[Var, int] = {}
    for op in walk(function.body):
        for arg in op.args:
            for v in variables(arg):
                count[v] = count.get(v, 0) + 1

    def visit(block: Block) -> Block:
        assembled = {op.args[1]: op for op in block.ops if op.name == "assemble"}
        made_here = {r: i for i, op in enumerate(block.ops) for r in op.results}
        out: list[Op] = []
        for i, op in enumerate(block.ops):
            op = op.with_(blocks=tuple(visit(b) for b in op.blocks)) if op.blocks else op
            target = assembled.get(op.result) if op.name == "matmul" else None
            if target is not None and count[op.result] == 1 and made_here.get(target.args[0], -1) < i:  # type: ignore[call-overload]
                whole, _, row, col = target.args
                t = op.result.type
                assert isinstance(t, TileType)
                window = Var(f"{op.result.name}_window", t)
                out.append(Op("slice", (whole, row, col), (window,), {"shape": t.shape}, (), op.loc))
                op = op.with_(name="matmul_acc", args=(window, *op.args, TRUE))
            out.append(op)
        return Block(block.params, tuple(out))

    return function.with_(body=visit(function.body))
