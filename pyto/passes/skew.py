"""Loops in which cube and vector cores wait for each other, run so that both work at once.

What a vector core sends to the cube core and what follows from that is the second half of an iteration. In a loop with
its halves apart, every iteration runs its own first half and the second half of the iteration before: while one side
works on the one half, the other side has the other half to work on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from pyto.ir.builder import Names
from pyto.ir.nodes import (
    BOOL,
    INDEX,
    Block,
    Const,
    Expr,
    Op,
    ScalarType,
    TensorType,
    TileType,
    Type,
    Var,
    const,
    walk,
)
from pyto.ir.scalar import apply, simplify, substitute, type_variables, variables
from pyto.passes.homes import PRODUCTS, carried_values
from pyto.passes.liveness import is_tile
from pyto.passes.rewrite import substitute_type

ANYWHERE = -1  # what either half can do for itself
AGAIN = frozenset({"let", "read", "load", "full", "empty"})
PURE = frozenset({"for", "while", "if", "yield", "break", "store"})  # without a result, and yet in no order of its own


def halves(
    loop: Op, to_cube: Callable[[Expr], bool], on_cube: Callable[[Expr], bool], shared: set[Var]
) -> dict[int, int] | None:
    """The half of each operation of a loop's block by its id, or None where the halves cannot be apart.

    to_cube: whether a tile goes from a vector core to the cube core; on_cube: whether the cube core makes it.
    """
    return _Halves(loop, to_cube, on_cube).run() if loop.name == "for" and not _in_order(loop, shared) else None


def _in_order(loop: Op, shared: set[Var]) -> bool:
    """Whether operations of the loop have effects that must stay in their order."""
    for op in walk(loop.blocks[0]):
        if any(a in shared for a in op.args) or (not op.results and op.name not in PURE):
            return True
    return False


class _Halves:
    def __init__(self, loop: Op, to_cube: Callable[[Expr], bool], on_cube: Callable[[Expr], bool]) -> None:
        self.loop, self.to_cube, self.on_cube = loop, to_cube, on_cube
        self.body = loop.blocks[0]
        self.ops = self.body.ops[:-1]
        self.maker = {r: op for op in self.ops for r in op.results}
        self.level: dict[int, int] = {}
        self.home = dict.fromkeys(self.body.params, 0)
        self.written = {a for op in walk(self.body) if op.name == "store" for a in op.args[:1]}

    def run(self) -> dict[int, int] | None:
        while True:
            for op in self.ops:
                self.level[id(op)] = min(1, max((self._reached(op, v) for v in used(op)), default=0))
            home = {p: self._of(last) for p, _, last in carried_values(self.loop)}
            if home == {p: h for p, h in self.home.items() if p in home}:
                break
            self.home |= home
        result = {id(op): ANYWHERE if self._again(op) else self.level[id(op)] for op in self.ops}
        multiplied = {result[id(op)] for op in self.ops if _multiplies(op)}
        return result if multiplied >= {0, 1} and not self._stuck(result) else None

    def _of(self, value: Expr) -> int:
        levels = (self.level[id(self.maker[v])] if v in self.maker else self.home.get(v, 0) for v in variables(value))
        return max(levels, default=0)

    def _reached(self, op: Op, value: Var) -> int:
        """The half in which `op` can have a value."""
        crosses = value in self.maker and self.to_cube(value) and _takes(op, value)
        return self._of(value) + crosses

    def _again(self, op: Op) -> bool:
        if op.name == "set_validshape":
            return op.args[0] in self.maker and self._again(self.maker[op.args[0]])  # type: ignore[index]
        return op.name in AGAIN and not self.written.intersection(op.args)

    def _stuck(self, result: dict[int, int]) -> bool:
        """Whether the second half would need what the first one has in the cube core, or GM accesses would part."""
        for op in self.ops:
            if result[id(op)] == 1:
                for v in used(op):
                    early = self.home[v] == 0 if v in self.home else result.get(id(self.maker.get(v)), 1) == 0
                    if early and is_tile(v) and self.on_cube(v) and _on_cube(op, v, self.on_cube):
                        return True
        touching: dict[Var, set[int]] = {}
        for op in self.ops:
            for inner in walk(Block((), (op,))):
                for a in inner.args:
                    if isinstance(a, Var) and isinstance(a.type, TensorType) and a in self.written:
                        touching.setdefault(a, set()).add(result[id(op)])
        return any(len(found) > 1 or ANYWHERE in found for found in touching.values())


def used(op: Op) -> set[Var]:
    """The values from outside that an operation reads, or that the types of what it makes name."""
    found = set().union(*(variables(a) for a in op.args), *(type_variables(r) for r in op.results))
    for block in op.blocks:
        inside = set(block.params)
        for inner in block.ops:
            found |= used(inner) - inside
            inside |= set(inner.results)
    return found - set(op.results)


def _multiplies(op: Op) -> bool:
    return any(o.name in PRODUCTS for o in walk(Block((), (op,))))


def _takes(op: Op, value: Var) -> bool:
    """Whether a product takes a tile as an operand."""
    return any(o.name in PRODUCTS and value in o.args[o.name == "matmul_acc" :] for o in walk(Block((), (op,))))


def _on_cube(op: Op, value: Var, on_cube: Callable[[Expr], bool]) -> bool:
    """Whether the cube core uses a tile of its own in an operation."""
    for o in walk(Block((), (op,))):
        if value in o.args and (o.name in PRODUCTS or o.name == "store" or any(on_cube(r) for r in o.results)):
            return True
        if o.blocks and value in o.args:
            return True
    return False


# ------------------------------------------------------------------------------------------------------ the loop apart


@dataclass
class _Carried:
    """What the loop with its halves apart carries: a parameter, its first and its next value, its last one."""

    param: Var
    first: Expr
    next: Expr
    last: Var


def apart(
    loop: Op, half_of: Mapping[int, int], names: Names, copied: Callable[[Var, Var], None], certain: bool
) -> list[Op]:
    """One side's loop with its halves apart.

    half_of: the half of each operation, by its id; copied: is told of every tile that stands for another one; certain:
    whether there is an iteration.
    """
    return _Apart(loop, half_of, names, copied).run(certain)


class _Apart:
    def __init__(self, loop: Op, half_of: Mapping[int, int], names: Names, copied: Callable[[Var, Var], None]) -> None:
        self.loop, self.names, self.copied = loop, names, copied
        self.body = loop.blocks[0]
        ops = self.body.ops[:-1]
        self.parts = [[op for op in ops if half_of[id(op)] in (ANYWHERE, half)] for half in (0, 1)]
        self.early = {r for op in ops if half_of[id(op)] == 0 for r in op.results}
        self.late = {r for op in ops if half_of[id(op)] == 1 for r in op.results}
        self.again = {r for op in ops if half_of[id(op)] == ANYWHERE for r in op.results}
        self.carried = list(carried_values(loop))
        self.steps = {p: self._step(p, last) for p, _, last in self.carried}

    @staticmethod
    def _step(param: Var, last: Expr) -> Expr | None:
        """What a carried scalar grows by, where it counts."""
        if is_tile(param) or last == param:
            return None
        by = simplify(last - param, {})
        return by if isinstance(by, Const) else None

    def run(self, certain: bool) -> list[Op]:
        ops, values = self._apart()
        if certain:
            return [*ops, *self._named(values)]
        lo, hi = self.loop.args[:2]
        done = Op("yield", tuple(values), loc=self.loop.loc)
        skipped = Op("yield", tuple(first for _, first, _ in self.carried), loc=self.loop.loc)
        branches = Block((), (*ops, done)), Block((), (skipped,))
        some = apply("lt", lo, hi, dtype=BOOL)
        return [Op("if", (some,), self.loop.results, {}, branches, self.loop.loc)]

    def _named(self, values: Iterable[Expr]) -> Iterator[Op]:
        """Operations that give the results of the loop their old names."""
        for result, value in zip(self.loop.results, values):
            t = result.type
            if isinstance(t, TileType):
                yield Op("set_validshape", (value, *t.valid), (result,), {}, (), self.loop.loc)
            else:
                yield Op("let", (value,), (result,), {}, (), self.loop.loc)

    def _apart(self) -> tuple[list[Op], list[Expr]]:
        lo, hi, step = self.loop.args[:3]
        index = self.body.params[0]
        loc = self.loop.loc
        counting = {p: s for p, s in self.steps.items() if s is not None}
        second = self._needs()
        late = {p for p, _, last in self.carried if p not in counting and self._is_late(last)}
        first_env: dict[Var, Expr] = {index: lo} | {p: first for p, first, _ in self.carried if p not in late}
        ahead, given = self._copy(self.parts[0], first_env)

        # what goes round: the carried values of each half, and what the second half needs of the first
        kept: list[_Carried] = []
        env: list[dict[Var, Expr]] = [{index: index}, {index: index - step}]
        for p, first, last in self.carried:
            mine = p in late
            start = first if mine else first + counting[p] if p in counting else substitute(last, given)
            kept.append(_Carried(p, start, last, self._like(p)))
            env[mine][p] = p
            if p in counting:
                env[1][p] = p - counting[p]
        held: list[tuple[Var, Var]] = []
        for v in sorted(second - late - counting.keys(), key=lambda v: v.name):
            param = self._var(v, self._wide(v.type), f"{v.name}_before")
            kept.append(_Carried(param, given.get(v, v), v, self._like(param)))
            held.append((v, param))
        inner: list[Op] = []
        now, values = self._copy(self.parts[0], env[0], keep_names=True)
        inner += now
        then, later = self._second(held, {**env[1], **dict(held)})
        inner += then
        following = (substitute(k.next, later if k.param in late else values) for k in kept)
        inner.append(Op("yield", tuple(following), loc=loc))
        steady = Op(
            "for",
            (lo + step, hi, step, *(k.first for k in kept)),
            tuple(k.last for k in kept),
            self.loop.attrs,
            (Block((index, *(k.param for k in kept)), tuple(inner)),),
            loc,
        )

        # the second half of the last iteration
        final = Var(self.names.fresh(f"last_{index.name}"), ScalarType(INDEX))
        trips = apply("floordiv", hi - 1 - lo, step)
        ends = {k.param: k.last for k in kept}
        end_env: dict[Var, Expr] = {index: final}
        for p, _, _ in self.carried:
            end_env[p] = ends[p] - counting[p] if p in counting else ends[p]
        behind, over = self._second(held, {**end_env, **{v: ends[p] for v, p in held}})
        out: list[Expr] = [substitute(last, over) if p in late else ends[p] for p, _, last in self.carried]
        ops = [*ahead, steady, Op("let", (lo + trips * step, lo, hi - 1), (final,), {}, (), loc), *behind]
        return ops, out

    def _is_late(self, last: Expr) -> bool:
        """Whether the next value of what is carried comes from the second half."""
        seen: set[Expr] = set()
        nexts = {p: n for p, _, n in self.carried}
        while isinstance(last, Var) and last in nexts and last not in seen:
            seen.add(last)
            last = nexts[last]
        return bool(variables(last) & self.late)

    def _needs(self) -> set[Var]:
        """Values of the first half, or carried by it, that the second half reads."""
        read: set[Var] = set()
        for op in self.parts[1]:
            read |= used(op)
        read |= set().union(*(variables(n) for p, _, n in self.carried if self._is_late(n)))
        found = read & self.early
        return found | {p for p, _, n in self.carried if p in read and not self._is_late(n)}

    # -- copies
    def _copy(
        self, ops: Iterable[Op], env: Mapping[Var, Expr], keep_names: bool = False
    ) -> tuple[list[Op], dict[Var, Expr]]:
        """The operations with `env` put in; what they make has other names unless `keep_names`."""
        env = dict(env)
        return [self._one(op, env, keep_names) for op in ops], env

    def _one(self, op: Op, env: dict[Var, Expr], keep_names: bool) -> Op:
        args = tuple(substitute(a, env) for a in op.args)
        blocks = []
        for block in op.blocks:
            inner = dict(env)
            params = tuple(self._define(p, inner, keep_names) for p in block.params)
            blocks.append(Block(params, tuple(self._one(o, inner, keep_names) for o in block.ops)))
        results = tuple(self._define(r, env, keep_names) for r in op.results)
        return op.with_(args=args, results=results, blocks=tuple(blocks))

    def _define(self, v: Var, env: dict[Var, Expr], keep_names: bool) -> Var:
        t = substitute_type(v.type, env)
        new = Var(v.name, t) if keep_names else self._var(v, t, v.name)
        if keep_names:
            self.copied(v, new)
        env[v] = new
        return new

    def _var(self, like: Var, t: Type, hint: str) -> Var:
        new = Var(self.names.fresh(hint), t)
        self.copied(like, new)
        return new

    def _like(self, v: Var) -> Var:
        return self._var(v, v.type, v.name)

    def _wide(self, t: Type) -> Type:
        """The type of a tile that goes round: what is valid in each iteration does not."""
        if not isinstance(t, TileType):
            return t
        here = {self.body.params[0], *(p for p, _, _ in self.carried), *self.early, *self.late, *self.again}
        rows, cols = (const(n) if variables(v) & here else v for n, v in zip(t.shape, t.valid))
        return TileType(t.shape, t.dtype, (rows, cols), t.space)

    def _second(self, held: Iterable[tuple[Var, Var]], env: dict[Var, Expr]) -> tuple[list[Op], dict[Var, Expr]]:
        """The second half. What is valid of the tiles that went round is said again."""
        first = [op for op in self.parts[1] if op.name in ("let", "read") and not used(op) & self.late]
        out, env = self._copy(first, env)
        for v, _ in held:
            if isinstance(v.type, TileType) and self._wide(v.type) != v.type:
                t = substitute_type(v.type, env)
                assert isinstance(t, TileType)
                narrow = self._var(v, t, v.name)
                out.append(Op("set_validshape", (env[v], *t.valid), (narrow,), {}, (), self.loop.loc))
                env[v] = narrow
        rest, env = self._copy((op for op in self.parts[1] if not any(op is o for o in first)), env)
        return [*out, *rest], env
