"""Scalar expressions: the operations, exact folding, linear normal forms and bounds."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyto.ir.nodes import BOOL, FP32, INDEX, Apply, Const, DType, Expr, ScalarType, TileType, Var, View, const


def _floordiv(a: Any, b: Any) -> Any:
    if b == 0:
        raise ZeroDivisionError("division by zero in an index expression")
    return a // b


def _mod(a: Any, b: Any) -> Any:
    if b == 0:
        raise ZeroDivisionError("modulo by zero in an index expression")
    return a % b


SCALAR_OPS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": _floordiv,
    "mod": _mod,
    "min": min,
    "max": max,
    "neg": lambda a: -a,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "and": lambda a, b: bool(a) and bool(b),
    "or": lambda a, b: bool(a) or bool(b),
    "not": lambda a: not a,
    "bitand": lambda a, b: int(a) & int(b),
    "bitor": lambda a, b: int(a) | int(b),
    "bitxor": lambda a, b: int(a) ^ int(b),
    "bitnot": lambda a: ~int(a),
    "shl": lambda a, b: int(a) << int(b) if 0 <= b < 64 else 0,
    "shr": lambda a, b: int(a) >> int(b) if b >= 0 else 0,
    "select": lambda c, a, b: a if c else b,
    "cast": lambda a: a,
}
COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"})
PRECEDENCE = {
    "or": 1,
    "and": 2,
    "not": 3,
    "eq": 4,
    "ne": 4,
    "lt": 4,
    "le": 4,
    "gt": 4,
    "ge": 4,
    "add": 5,
    "sub": 5,
    "mul": 6,
    "div": 6,
    "floordiv": 6,
    "mod": 6,
    "neg": 7,
}


def wrapped(value: int) -> int:
    """What 64 bits hold of an integer: scalars are computed in 64 bits."""
    return value if -(1 << 63) <= value < 1 << 63 else (value + (1 << 63)) % (1 << 64) - (1 << 63)


def dtype_of(expr: Expr) -> DType:
    if isinstance(expr, (Const, Apply, Var, View)):
        return expr.dtype
    raise TypeError(expr)


def result_dtype(op: str, args: tuple[Expr, ...]) -> DType:
    """The element type of a scalar operation: bool for comparisons, the wider float, else the operands' own.

    Bools count as integers, integers of different types make an index.
    """
    if op in COMPARISONS:
        return BOOL
    kinds = [dtype_of(a) for a in (args[1:] if op == "select" else args)]
    floats = [d for d in kinds if d.kind == "f"]
    if floats:
        return max(floats, key=lambda d: d.bits)
    if op == "div":
        return FP32
    mixed = any(k != kinds[0] for k in kinds)
    return INDEX if mixed or (kinds[0] == BOOL and op != "select") else kinds[0]


def apply(op: str, *args: Expr, dtype: DType | None = None) -> Expr:
    """`Apply(op, args)` with constants folded and neutral elements dropped; exact for integers."""
    kind = dtype or result_dtype(op, args)
    if op != "cast" and all(isinstance(a, Const) for a in args):
        value = SCALAR_OPS[op](*(a.value for a in args))  # type: ignore[attr-defined]
        if kind.kind in "iu" and isinstance(value, float):
            value = math.trunc(value)
        return Const(value, kind)
    if op == "cast" and isinstance(args[0], Const):
        value = args[0].value
        return Const(float(value) if kind.kind == "f" else bool(value) if kind.kind == "b" else int(value), kind)
    if kind.kind in "iu" and len(args) == 2:
        a, b = args
        if op in ("add", "sub") and b == Const(0):
            return a
        if op == "add" and a == Const(0):
            return b
        if op in ("mul", "floordiv") and b == Const(1):
            return a
        if op == "mul" and a == Const(1):
            return b
        if op == "mul" and Const(0) in (a, b):
            return Const(0, kind)
        if op == "mod" and b == Const(1):
            return Const(0, kind)
        if op == "sub" and a == b:
            return Const(0, kind)
        if op in ("min", "max") and a == b:
            return a
    if op == "select" and isinstance(args[0], Const):
        return args[1] if args[0].value else args[2]
    return Apply(op, tuple(args), kind)


def substitute(expr: Expr, env: Mapping[Var, Expr]) -> Expr:
    """`expr` with variables replaced, folded again; a `View`'s inner expressions and a buffer's type included."""
    if isinstance(expr, Var):
        return env.get(expr, expr)
    if isinstance(expr, Apply):
        args = tuple(substitute(a, env) for a in expr.args)
        return expr if args == expr.args else apply(expr.op, *args, dtype=expr.dtype)
    if isinstance(expr, View):
        buffer = env.get(expr.buffer, expr.buffer)
        assert isinstance(buffer, Var)
        vr, vc = (substitute(v, env) for v in expr.valid)
        slot, row, col = (substitute(e, env) for e in (expr.slot, expr.row, expr.col))
        return View(buffer, expr.shape, (vr, vc), slot, row, col, expr.pitch, expr.element)
    return expr


def variables(expr: Expr) -> set[Var]:
    """The variables an expression reads (a view's buffer included)."""
    if isinstance(expr, Var):
        return {expr}
    if isinstance(expr, Apply):
        return set(expr.free)
    if isinstance(expr, View):
        inner: Iterable[Expr] = (*expr.valid, expr.slot, expr.row, expr.col)
        return {expr.buffer}.union(*(variables(e) for e in inner))
    return set()


def type_variables(var: Var) -> set[Var]:
    """The variables a value's type mentions."""
    if isinstance(var.type, TileType):
        return set().union(*(variables(v) for v in var.type.valid))
    if isinstance(var.type, ScalarType):
        return set()
    return set().union(*(variables(e) for e in var.type.shape)) if var.type.shape else set()


# -------------------------------------------------------------------------------------------------- linear normal form

Linear = tuple[dict[Expr, int], int]
Ranges = Mapping[Var, tuple[Expr | None, Expr | None]]


class KnownRanges(dict[Var, tuple["Expr | None", "Expr | None"]]):
    """Ranges that remember what `simplify` made of expressions, until one of them changes."""

    def __init__(self, known: Ranges | None = None) -> None:
        super().__init__(known or {})
        self.simplified: dict[Expr, Expr] = {}

    def __setitem__(self, var: Var, limits: tuple[Expr | None, Expr | None]) -> None:
        self.simplified.clear()
        super().__setitem__(var, limits)

    def setdefault(self, var: Var, limits: Any = None) -> Any:
        self.simplified.clear()
        return super().setdefault(var, limits)

    def update(self, *others: Any, **more: Any) -> None:
        self.simplified.clear()
        super().update(*others, **more)

    def pop(self, *args: Any) -> Any:
        self.simplified.clear()
        return super().pop(*args)

    def __ior__(self, other: Any) -> KnownRanges:  # type: ignore[override,misc]
        self.update(other)
        return self


@functools.lru_cache(maxsize=1 << 14)
def linear(expr: Expr) -> Linear:
    """`expr` as integer coefficients over atoms (variables and non-linear terms) plus a constant."""
    if isinstance(expr, Const) and isinstance(expr.value, int):
        return {}, int(expr.value)
    if isinstance(expr, Apply) and expr.op in ("add", "sub", "mul", "neg") and expr.dtype.kind in "iu":
        parts = [linear(a) for a in expr.args]
        if expr.op == "neg":
            return _scale(parts[0], -1)
        if expr.op == "add":
            return _sum(parts[0], parts[1])
        if expr.op == "sub":
            return _sum(parts[0], _scale(parts[1], -1))
        for one, other in (parts, parts[::-1]):
            if not one[0]:
                return _scale(other, one[1])
    return {expr: 1}, 0


def _scale(form: Linear, factor: int) -> Linear:
    return ({a: c * factor for a, c in form[0].items()} if factor else {}), form[1] * factor


def _sum(a: Linear, b: Linear) -> Linear:
    out = dict(a[0])
    for atom, coefficient in b[0].items():
        out[atom] = out.get(atom, 0) + coefficient
        if not out[atom]:
            del out[atom]
    return out, a[1] + b[1]


def rebuild(form: Linear) -> Expr:
    """The expression of a linear form, positive terms first, in the order met."""
    terms = sorted(form[0].items(), key=lambda t: t[1] < 0)
    out: Expr | None = None
    for atom, c in terms:
        term = atom if abs(c) == 1 else apply("mul", atom, Const(abs(c)))
        if out is None:
            out = term if c > 0 else apply("sub", Const(form[1]), term)
            if c < 0:
                form = (form[0], 0)
        else:
            out = apply("add" if c > 0 else "sub", out, term)
    if out is None:
        return Const(form[1])
    if form[1]:
        out = apply("add", out, Const(form[1])) if form[1] > 0 else apply("sub", out, Const(-form[1]))
    return out


def bound(expr: Expr, ranges: Ranges, upper: bool, depth: int = 8) -> int | None:
    """A constant that `expr` never exceeds (`upper`) or never falls below, or None. `ranges` holds inclusive bounds."""
    return _bound(linear(expr), ranges, upper, depth)


def _bound(form: Linear, ranges: Ranges, upper: bool, depth: int) -> int | None:
    if not form[0]:
        return form[1]
    if depth == 0:
        return None
    # Replace one variable by its own symbolic bound, so that terms can cancel (B - b with b <= B - 1).
    for atom, c in form[0].items():
        if isinstance(atom, Var) and atom in ranges:
            limit = ranges[atom][(c > 0) == upper]
            if limit is not None:
                without = {a: k for a, k in form[0].items() if a != atom}
                found = _bound(_sum((without, form[1]), _scale(linear(limit), c)), ranges, upper, depth - 1)
                if found is not None:
                    return found
        # c * (e // d) lies between c/d * (e - d + 1) and c/d * e, where d divides c ((B + 15) // 16 * 16 <= B + 15).
        if isinstance(atom, Apply) and atom.op == "floordiv" and isinstance(atom.args[1], Const):
            d = int(atom.args[1].value)
            if d > 1 and c % d == 0:
                near = linear(atom.args[0]) if (c > 0) == upper else linear(atom.args[0] - (d - 1))
                without = {a: k for a, k in form[0].items() if a != atom}
                found = _bound(_sum((without, form[1]), _scale(near, c // d)), ranges, upper, depth - 1)
                if found is not None:
                    return found
    total = form[1]
    for atom, c in form[0].items():
        inner = _atom_bound(atom, ranges, (c > 0) == upper, depth - 1)
        if inner is None:
            return None
        total += c * inner
    return total


def _atom_bound(atom: Expr, ranges: Ranges, upper: bool, depth: int) -> int | None:
    if depth <= 0 or not isinstance(atom, Apply):
        return None
    bounds = [(bound(a, ranges, False, depth), bound(a, ranges, True, depth)) for a in atom.args]
    if atom.op in ("min", "max"):
        known = [b[upper] for b in bounds]
        one_is_enough = (atom.op == "min") == upper
        have = [k for k in known if k is not None]
        if not have or (len(have) < len(known) and not one_is_enough):
            return None
        return min(have) if atom.op == "min" else max(have)
    divisor = atom.args[1] if len(atom.args) == 2 else None
    if isinstance(divisor, Const) and isinstance(divisor.value, int) and divisor.value > 0:
        if atom.op == "mod":
            return divisor.value - 1 if upper else 0
        if atom.op == "floordiv" and bounds[0][upper] is not None:
            return bounds[0][upper] // divisor.value  # type: ignore[operator]
    return None


def simplify(expr: Expr, ranges: Ranges) -> Expr:
    """`expr` with linear parts collected, exact divisions taken and `min`/`max` decided where `ranges` decide them."""
    if not isinstance(expr, Apply):
        return expr
    if not isinstance(ranges, KnownRanges) or expr.dtype.kind == "f":  # 0.0 and -0.0 are equal and not the same
        return _simplify(expr, ranges)
    found = ranges.simplified.get(expr)
    if found is None:
        found = ranges.simplified[expr] = _simplify(expr, ranges)
    return found


def _simplify(expr: Apply, ranges: Ranges) -> Expr:
    args = tuple(simplify(a, ranges) for a in expr.args)
    out = apply(expr.op, *args, dtype=expr.dtype)
    if not isinstance(out, Apply) or out.dtype.kind not in "iub":
        return out
    if out.op in ("add", "sub", "mul", "neg", "floordiv", "mod") and out.dtype != INDEX:
        return out  # linear forms are of indices
    if out.op in ("add", "sub", "mul", "neg"):
        return rebuild(linear(out))
    if out.op in ("min", "max"):
        a, b = out.args
        low, high = bound(a - b, ranges, False), bound(a - b, ranges, True)
        if high is not None and high <= 0:
            return a if out.op == "min" else b
        if low is not None and low >= 0:
            return b if out.op == "min" else a
        for inner, other in ((a, b), (b, a)):  # min(min(x, y), y)
            if isinstance(inner, Apply) and inner.op == out.op and other in inner.args:
                return inner
        return out
    if out.op in ("floordiv", "mod") and isinstance(out.args[1], Const) and isinstance(out.args[1].value, int):
        return _divide(out, out.args[1].value, ranges)
    if out.op in ("lt", "le", "gt", "ge", "eq", "ne") and dtype_of(out.args[0]).kind in "iu":
        return _compare(out, ranges)
    return out


def _divide(out: Apply, divisor: int, ranges: Ranges) -> Expr:
    atoms, offset = linear(out.args[0])
    exact: Linear = ({a: c // divisor for a, c in atoms.items() if c % divisor == 0}, offset // divisor)
    rest: Linear = ({a: c for a, c in atoms.items() if c % divisor}, offset % divisor)
    low, high = _bound(rest, ranges, False, 8), _bound(rest, ranges, True, 8)
    if low is not None and high is not None and low >= 0 and high < divisor:
        return rebuild(exact) if out.op == "floordiv" else rebuild(rest)
    if out.op == "mod":
        return apply("mod", rebuild(rest), Const(divisor))
    return apply("add", rebuild(exact), apply("floordiv", rebuild(rest), Const(divisor)))


def _compare(out: Apply, ranges: Ranges) -> Expr:
    difference = out.args[0] - out.args[1]
    low, high = bound(difference, ranges, False), bound(difference, ranges, True)
    tests: dict[str, tuple[bool, bool]] = {
        "lt": (high is not None and high < 0, low is not None and low >= 0),
        "le": (high is not None and high <= 0, low is not None and low > 0),
        "gt": (low is not None and low > 0, high is not None and high <= 0),
        "ge": (low is not None and low >= 0, high is not None and high < 0),
        "eq": (low == high == 0, (low is not None and low > 0) or (high is not None and high < 0)),
    }
    tests["ne"] = tests["eq"][::-1]
    yes, no = tests[out.op]
    return Const(True, BOOL) if yes else Const(False, BOOL) if no else out


def evaluate(expr: Expr, env: Mapping[Var, Any]) -> Any:
    """The value of a scalar expression; variables come from `env`."""
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Apply):
        if expr.op == "select":
            return evaluate(expr.args[1] if evaluate(expr.args[0], env) else expr.args[2], env)
        value = SCALAR_OPS[expr.op](*(evaluate(a, env) for a in expr.args))
        return int(value) if expr.op == "cast" and expr.dtype.kind in "iu" else value
    return env[expr]  # type: ignore[index]


__all__ = [
    "COMPARISONS",
    "PRECEDENCE",
    "SCALAR_OPS",
    "apply",
    "bound",
    "const",
    "dtype_of",
    "evaluate",
    "linear",
    "rebuild",
    "result_dtype",
    "simplify",
    "substitute",
    "type_variables",
    "variables",
    "wrapped",
]
