"""Which tiles of a device function live in one buffer.

A result takes its operand's buffer when the op works in place and nobody needs the operand any more; windows and
reshapes share their source's; what a loop carries and what an `if` gives keeps one place where it can.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyto.ir.nodes import INDEX, LOOPS, Block, Const, Expr, Function, Op, ScalarType, Var, first_values, walk
from pyto.ir.ops import OPS
from pyto.passes.liveness import Life, Liveness, is_tile
from pyto.target import BRCB_ROWS, REPEAT, SQUARE

ALIASES = frozenset({"slice", "reshape", "set_validshape", "bitcast"})
# The result is the first operand, changed.
CHANGES = frozenset({"mmad", "assemble", "fillpad", "write", "scatter", "scatter_mask"})
IN_WINDOW = frozenset(n for n, op in OPS.items() if op.form in ("elementwise", "copy", "cast", "full"))
WHOLE_REPEATS = frozenset({"compare"})
FLAT = frozenset({"compare", "select", "every_other"})
LOADS = frozenset({"load", "load_a", "load_b"})
NOT_MADE = ALIASES | CHANGES | LOOPS | {"if"}  # what these give is not made by an op that could write elsewhere


FIRST = Const(0)
NO_LOOP = Var("", ScalarType(INDEX))


@dataclass
class Group:
    """Values that live in one buffer."""

    first: Var
    loops: tuple[Var, ...]
    members: set[Var] = field(default_factory=set)
    transferred: set[Var] = field(default_factory=set)  # loops in which an MTE loads or stores it
    row_unit: int = 1  # the instruction that fills it writes whole multiples of so many rows
    byte_unit: int = 1  # an instruction reads it in whole multiples of so many bytes
    col_unit: int = 1  # and columns
    buffer: Var | None = None
    slot: Expr = FIRST


class Sharing:
    """Which values share a buffer: `group[value]`, and `in_place`: parts that are made in their window."""

    def __init__(self, function: Function, tight: bool = False) -> None:
        self.function = function
        self.tight = tight
        self.liveness = Liveness(function)
        self.life: dict[Var, Life] = self.liveness.of
        self.group: dict[Var, Group] = {}
        self.windows: set[Var] = set()  # values that are a part or another shape of their buffer
        self.loop_ops: dict[Var, Op] = {}
        self.made_by: dict[Var, str] = {}
        self.in_place: dict[Var, Op] = {}  # parts that are made in their window, and the assemble that puts them there
        # Tiles that instructions take as they lie, gaps included: they must not lie in another.
        self.flat = {
            a for op in walk(function.body) if OPS[op.name].form in FLAT for a in (*op.args, *op.results) if is_tile(a)
        }
        self._share(function.body, ())

    def _new(self, var: Var) -> Group:
        if var not in self.group:
            self.group[var] = Group(var, self.life[var].loops, {var})
        return self.group[var]

    def _join(self, var: Var, group: Group) -> None:
        old = self.group.get(var)
        if old is group:
            return
        for member in old.members if old else {var}:
            self.group[member] = group
            group.members.add(member)
            group.loops = _common(group.loops, self.life[member].loops)
        if old:
            group.transferred |= old.transferred
            group.row_unit = max(group.row_unit, old.row_unit)
            group.byte_unit = max(group.byte_unit, old.byte_unit)
            group.col_unit = max(group.col_unit, old.col_unit)

    def _free_after(self, value: Expr, position: int) -> bool:
        """Whether nobody reads `value`'s buffer after `position` (a whole-buffer value only)."""
        assert isinstance(value, Var)
        return value not in self.windows and self._rests(self._new(value), position)

    def _rests(self, group: Group, position: int) -> bool:
        return not any(self.liveness.needed_after(member, position) for member in group.members)

    def _share(self, block: Block, loops: tuple[Var, ...]) -> None:
        for op in block.ops:
            if op.name in LOOPS:
                self._share_loop(op, loops)
            elif op.name == "if":
                self._share_if(op, loops)
            elif op.name == "store":
                self._new(op.args[1]).transferred.update(loops[-1:] or (NO_LOOP,))  # type: ignore[arg-type]
            elif op.results and is_tile(op.result):
                self._share_result(op, loops)

    def _share_result(self, op: Op, loops: tuple[Var, ...]) -> None:
        result, at = op.result, self.life[op.result].start
        source = next((a for a in op.args if is_tile(a)), None)
        if op.name in ALIASES:
            assert isinstance(source, Var)
            self._join(result, self._new(source))
            if op.name not in ("set_validshape", "bitcast") or source in self.windows:
                self.windows.add(result)
        elif op.name == "assemble" and self._free_after(source, at):  # type: ignore[arg-type]
            self._join(result, self._new(source))  # type: ignore[arg-type]
            self._make_in_place(op)
        elif op.name in CHANGES and self._free_after(source, at):  # type: ignore[arg-type]
            self._join(result, self._new(source))  # type: ignore[arg-type]
        else:
            for arg in (op.args[i] for i in OPS[op.name].in_place if i < len(op.args)):
                if result in self.group or not is_tile(arg) or not self._free_after(arg, at):
                    continue
                same = isinstance(arg, Var) and arg.type.shape == result.type.shape and arg.dtype == result.dtype  # type: ignore[union-attr]
                if same and (self.tight or not self._new(arg).transferred):  # type: ignore[arg-type]
                    self._join(result, self._new(arg))  # type: ignore[arg-type]
        if OPS[op.name].form in WHOLE_REPEATS:
            for arg in op.args:
                if is_tile(arg):
                    self._new(arg).byte_unit = REPEAT  # type: ignore[arg-type]
        group = self._new(result)
        self.made_by[result] = op.name
        if op.name == "brcb":
            group.row_unit = BRCB_ROWS
        if op.name == "mmad":
            group.col_unit = max(group.col_unit, op.attrs["n_unit"])
        if op.name in ("load_a", "load_b") and (op.name == "load_a") == op.attrs["trans"] and result.dtype.bytes == 1:
            group.row_unit = self._new(source).row_unit = SQUARE  # type: ignore[arg-type]  # turned in squares
        if op.name in LOADS and loops:
            group.transferred.add(loops[-1])

    def _make_in_place(self, op: Op) -> None:
        """Let the op that makes the part of an assemble write it where it belongs, if the tile rests meanwhile."""
        tile, part, row, col = op.args
        if not isinstance(part, Var) or part in self.windows or part not in self.made_by:
            return
        made, (start, end) = self.made_by[part], (self.life[part].start, self.life[part].end)
        alone = self._new(part).members == {part}
        fixed = isinstance(row, Const) and isinstance(col, Const)
        rests = all(
            life.start < start and (life.end <= start or life.end >= end)
            for v in self._new(tile).members - {op.result}  # type: ignore[arg-type]
            for life in (self.life[v],)
        )
        plain = part.dtype.bits > 8 and not self.flat & self._new(part).members
        once = end == self.life[op.result].start and self.life[part].loops == self.life[op.result].loops
        if alone and fixed and rests and once and plain and made in IN_WINDOW:
            self.in_place[part] = op

    def _share_loop(self, op: Op, loops: tuple[Var, ...]) -> None:
        (body,) = op.blocks
        index, *carried = body.params
        self.loop_ops[index] = op
        handed: set[Expr] = set()
        for param, init, result, last in zip(carried, first_values(op), op.results, body.ops[-1].args):
            if not is_tile(param):
                continue
            assert isinstance(last, Var)
            group = self._new(param)
            if self._free_after(init, self.life[param].start):
                self._join(param, self._new(init))  # type: ignore[arg-type]
                group = self.group[param]
            made = next((o for o in body.ops if last in o.results), None)
            again = last in handed  # two carried values may get one tile, but have a buffer each
            handed.add(last)
            if made is None or again or made.name in NOT_MADE:
                continue
            if self._rests(group, self.life[result].start):
                if self.life[param].end <= self.life[last].start:
                    self._join(last, group)
        self._share(body, (*loops, index))
        for param, result in zip(carried, op.results):
            if is_tile(param):
                self._join(result, self._new(param))

    def _share_if(self, op: Op, loops: tuple[Var, ...]) -> None:
        """A result lives where a branch leaves it, if that is free from then on; the other branch makes it there too,
        or copies it there."""
        bounds = []
        for block in op.blocks:
            self._share(block, loops)
            made = {r for o in walk(block) for r in (*o.results, *(p for b in o.blocks for p in b.params))}
            bounds.append({v for v in made if is_tile(v)})
        for result, *ends in zip(op.results, *(b.ops[-1].args for b in op.blocks)):
            if not is_tile(result):
                continue
            for end in ends:  # first the values from outside of the branches: they have no other place to go
                if not any(end in made for made in bounds):
                    self._give(result, end)
            for end, made in zip(ends, bounds):
                if end in made:
                    self._give(result, end) if result not in self.group else self._move_in(end, result, made)

    def _give(self, result: Var, end: Expr) -> None:
        if result not in self.group and self._free_after(end, self.life[result].start):
            self._join(result, self._new(end))  # type: ignore[arg-type]

    def _move_in(self, end: Expr, result: Var, made: set[Var]) -> None:
        """Let a branch make `end` where `result` lies, if that place rests from then on in the branch."""
        assert isinstance(end, Var)
        group, place = self._new(end), self._new(result)
        if group is place or end in self.windows or not group.members <= made or group.transferred | place.transferred:
            return
        first = min(group.members, key=lambda v: self.life[v].start)
        start = self.life[first].start
        in_place = first in self.made_by and bool(OPS[self.made_by[first]].in_place)
        busy = [v for v in place.members - {result} if self.liveness.needed_after(v, start - (not in_place))]
        inside = [v for v in place.members & made if self.life[v].start >= start]
        same = group.first.type.shape == place.first.type.shape  # type: ignore[union-attr]
        if same and not busy and not inside:
            self._join(end, place)


def _common(a: tuple[Var, ...], b: tuple[Var, ...]) -> tuple[Var, ...]:
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return a[:n]
