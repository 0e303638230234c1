"""Expressions: folded when all operands are known, scalar expressions and tile operations otherwise."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

from pyto.errors import CompileError
from pyto.frontends.python.frame import Frame
from pyto.frontends.python.proofs import settle
from pyto.frontends.python.values import describe, is_number, is_runtime_scalar, is_tensor, is_tile, plain
from pyto.ir.nodes import BOOL, FP32, INDEX, Const, DType, Expr, TensorType, Var
from pyto.ir.scalar import apply, result_dtype
from pyto.language.intrinsics import Intrinsic

Handler = Callable[[Frame, Any, str], Any]

_STATIC: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
_NAMES = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
    ast.BitAnd: "bitand", ast.BitOr: "bitor", ast.BitXor: "bitxor", ast.LShift: "shl", ast.RShift: "shr",
}  # fmt: skip
_TILE_NAMES: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.BitAnd: "and_", ast.BitOr: "or_",
    ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "shr", ast.Mod: "rem",
}  # fmt: skip
BITS = frozenset({"bitand", "bitor", "bitxor", "bitnot", "shl", "shr"})
LOGIC = {"bitand": "and", "bitor": "or", "bitxor": "ne", "bitnot": "not"}  # of bools
_SYMBOLS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.MatMult: "@",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip

MAX_EXPONENT = 1024

# Python that is outside the language: what it is called, and what to write instead.
REFUSED_EXPRESSIONS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("a lambda", "write a function decorated with @pl.jit.inline"),
    ast.ListComp: ("a list comprehension", "compute the list outside the kernel, or loop with pl.unroll"),
    ast.SetComp: ("a set comprehension", "compute it outside the kernel"),
    ast.DictComp: ("a dict comprehension", "compute it outside the kernel"),
    ast.GeneratorExp: ("a generator expression", "loop with pl.range or pl.unroll"),
    ast.Dict: ("a dict", "make it outside the kernel"),
    ast.Set: ("a set", "use a tuple"),
    ast.Await: ("await", "kernels are not asynchronous"),
    ast.Yield: ("yield", "assign the value to a name, or store it to a tensor"),
    ast.YieldFrom: ("yield from", "loop with pl.range"),
    ast.JoinedStr: ("an f-string", "make the string outside the kernel"),
    ast.NamedExpr: ("an assignment expression (:=)", "assign on a line of its own"),
    ast.Starred: ("a starred expression", "write the elements out"),
}


def evaluate(frame: Frame, node: ast.expr, hint: str = "") -> Any:
    handler = HANDLERS.get(type(node))
    if handler is None:
        what, instead = REFUSED_EXPRESSIONS.get(type(node), (f"{type(node).__name__}", "write it with what pl has"))
        raise frame.error("unsupported-python", f"{what} is not part of the language", node, instead)
    return handler(frame, node, hint)


def _constant(frame: Frame, node: ast.Constant, hint: str) -> Any:
    if isinstance(node.value, (bool, int, float, str)) or node.value is None or node.value is Ellipsis:
        return node.value
    raise frame.error("unsupported-python", f"a {type(node.value).__name__} literal is not part of the language", node)


def _name(frame: Frame, node: ast.Name, hint: str) -> Any:
    return frame.lookup(node)


def _sequence(frame: Frame, node: ast.Tuple | ast.List, hint: str) -> Any:
    items = [frame.expr(e) for e in node.elts]
    return tuple(items) if isinstance(node, ast.Tuple) else items


def _attribute(frame: Frame, node: ast.Attribute, hint: str) -> Any:
    value = frame.expr(node.value)
    name = node.attr
    if isinstance(value, Var) and not is_runtime_scalar(value):
        if name == "dtype":
            return value.dtype
        if name == "shape":
            shape = value.type.shape  # type: ignore[union-attr]
            return (
                [e.value if isinstance(e, Const) else e for e in shape]
                if isinstance(value.type, TensorType)
                else list(shape)
            )
        kind = "tensors" if is_tensor(value) else "tiles"
        raise frame.error(
            "unknown-attribute",
            f"{kind} have .shape and .dtype, not .{name}",
            node,
            f"write pl.{name}(...) if it is an operation",
        )
    if isinstance(value, Expr):
        raise frame.error("unknown-attribute", f"a scalar has no attribute {name!r}", node)
    if isinstance(value, (str, list, tuple, int, float)):
        raise frame.error(
            "unsupported-python",
            f"methods of {type(value).__name__} are not part of the language",
            node,
            "compute it outside the kernel",
        )
    try:
        found = getattr(value, name)
    except AttributeError as error:
        hint_text = str(error).partition("; did you mean ")[2]
        label = "pl" if getattr(value, "__name__", "") == "pyto.language" else describe(value)
        label = getattr(value, "_spelled", label)
        if isinstance(value, ModuleType) and label != "pl":
            label = f"the module {value.__name__}"
        raise frame.error(
            "unknown-attribute", f"{label} has no {name!r}", node, f"did you mean {hint_text}" if hint_text else None
        ) from None
    except CompileError:
        raise
    except Exception as error:
        raise frame.error("python-error", f"reading .{name} raised {type(error).__name__}: {error}", node) from None
    return frame.resolve(found, node)


def binary(
    frame: Frame, op: ast.AST, a: Any, b: Any, node: ast.expr, hint: str = "", at: tuple[ast.AST, ast.AST] | None = None
) -> Any:
    """`a op b` for any two values."""
    kind = type(op)
    symbol = _SYMBOLS[kind]
    a, b = (frame.whole(v, where) for v, where in zip((a, b), at or (node, node)))
    if is_tile(a) or is_tile(b):
        return _tile_binary(frame, kind, a, b, node, hint, at or (node, node))
    for value, where in zip((a, b), at or (node, node)):
        if is_tensor(value):
            raise frame.error(
                "operand-kind",
                f"{value.name} is a tensor in device memory: {symbol} works on tiles",
                where,
                f"load a part of it: {value.name}[{', '.join(['a:b'] * len(value.type.shape))}]",
            )
    if isinstance(a, Expr) or isinstance(b, Expr):
        return scalar_binary(frame, kind, a, b, node)
    both_numbers = is_number(a) and is_number(b)
    lists = isinstance(a, (list, tuple)) and type(a) is type(b) and kind is ast.Add
    if not both_numbers and not lists:
        if isinstance(a, str) or isinstance(b, str):
            raise frame.error(
                "unsupported-python",
                "string operations are not part of the language",
                node,
                "compute it outside the kernel",
            )
        raise frame.error("operand-kind", f"{symbol} is not defined for {describe(a)} and {describe(b)}", node)
    if kind not in _STATIC:
        raise frame.error("operand-kind", f"{symbol} is not defined for {describe(a)} and {describe(b)}", node)
    if kind in (ast.Pow, ast.LShift) and abs(b) > MAX_EXPONENT:
        raise frame.error("python-error", f"{a!r} {symbol} {b!r} is too large", node)
    try:
        return plain(_STATIC[kind](a, b))
    except ZeroDivisionError:
        raise frame.error("division-by-zero", f"{a!r} {symbol} {b!r} divides by zero", node) from None
    except (ArithmeticError, TypeError, ValueError) as error:
        raise frame.error("python-error", f"{a!r} {symbol} {b!r}: {error}", node) from None


def scalar_binary(frame: Frame, kind: type[ast.AST], a: Any, b: Any, node: ast.AST) -> Any:
    """A scalar expression; a Python number where it is known after all."""
    symbol = _SYMBOLS[kind]
    name = _NAMES.get(kind)
    if name is None:
        raise frame.error(
            "unsupported-python",
            f"{symbol} on run-time scalars is not part of the language",
            node,
            "use + - * // % & | ^ << >> and comparisons",
        )
    x, y = frame.scalar(a, node, f"the left side of {symbol}"), frame.scalar(b, node, f"the right side of {symbol}")
    return scalar_apply(frame, name, [x, y], node, symbol)


def scalar_apply(frame: Frame, name: str, operands: list[Expr], node: ast.AST, symbol: str = "") -> Any:
    """A scalar operation; a Python number where it is known after all."""
    kinds = {x.dtype.kind for x in operands}  # type: ignore[attr-defined]
    floats = "f" in kinds
    if name in BITS:
        if floats:
            raise frame.error("operand-kind", f"{symbol or name} works on integers, not on floats", node)
        if kinds == {"b"} and name in LOGIC:
            return known(apply(LOGIC[name], *operands))
    if len(operands) == 1:
        return known(apply(name, *operands))
    x, y = operands
    if name in ("shl", "shr"):
        if isinstance(y, Const) and not 0 <= y.value < 64:
            raise frame.error("out-of-range", f"{symbol or name} by {y.value} bits", node, "shift by 0 to 63")
        if isinstance(y, Const):  # what index arithmetic understands
            name, y = ("mul" if name == "shl" else "floordiv"), Const(1 << int(y.value))
    if name in ("floordiv", "mod") and floats:
        raise frame.error(
            "operand-kind", f"{symbol or name} of floats is not part of the language", node, "use / or integers"
        )
    if name in ("floordiv", "mod", "div") and isinstance(y, Const) and y.value == 0:
        raise frame.error("division-by-zero", f"{symbol or name} divides by zero", node)
    if floats or name == "div":
        x, y = (_to_float(e) for e in (x, y))
    try:
        out = apply(name, x, y, dtype=result_dtype(name, (x, y)))
    except ZeroDivisionError:
        raise frame.error("division-by-zero", f"{symbol or name} divides by zero", node) from None
    return known(out)


def known(expr: Expr) -> Any:
    """A constant as the Python number it is."""
    if isinstance(expr, Const) and (expr.dtype in (INDEX, FP32) or expr.dtype.kind == "b"):
        return expr.value
    return expr


def _to_float(e: Expr) -> Expr:
    return e if e.dtype.kind == "f" else apply("cast", e, dtype=FP32)  # type: ignore[attr-defined]


def _tile_binary(
    frame: Frame, kind: type[ast.AST], a: Any, b: Any, node: ast.expr, hint: str, at: tuple[ast.AST, ast.AST]
) -> Any:
    symbol = _SYMBOLS[kind]
    if kind is ast.MatMult:
        frame.tile(a, at[0], "the left side of @")
        frame.tile(b, at[1], "the right side of @")
        return frame.emit("matmul", (a, b), {"a_trans": False, "b_trans": False}, node, hint)
    if kind in (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE):
        return tile_compare(frame, _NAMES[kind], a, b, node, hint, at, BOOL)
    name = _TILE_NAMES.get(kind)
    if name is None:
        raise frame.error("operand-kind", f"{symbol} is not defined for tiles", node, "use + - * / or a function of pl")
    return tile_binary(frame, name, a, b, node, hint, at)


def tile_compare(
    frame: Frame,
    kind: str,
    a: Any,
    b: Any,
    node: ast.AST,
    hint: str,
    at: tuple[ast.AST, ast.AST],
    dtype: DType | None = None,
) -> Any:
    """A comparison of tiles: bools, or 0 and 1 of the operands' type."""
    attrs = {"kind": kind, "dtype": dtype or (a if is_tile(a) else b).dtype}
    return tile_binary(frame, "cmp", a, b, node, hint, at, attrs)


def tile_binary(
    frame: Frame,
    name: str,
    a: Any,
    b: Any,
    node: ast.AST,
    hint: str,
    at: tuple[ast.AST, ast.AST],
    attrs: dict[str, Any] | None = None,
) -> Any:
    """An elementwise operation of two tiles, or of a tile and a scalar on either side."""
    operands = []
    for value, where, other in ((a, at[0], b), (b, at[1], a)):
        if is_tile(value):
            operands.append(value)
        elif is_tensor(value):
            frame.tile(value, where, f"the operand of {name}")
        else:
            operands.append(frame.as_dtype(value, other.dtype, where))
    return frame.emit(name, operands, attrs or {}, node, hint)


def _binop(frame: Frame, node: ast.BinOp, hint: str) -> Any:
    return binary(frame, node.op, frame.expr(node.left), frame.expr(node.right), node, hint, (node.left, node.right))


def _unary(frame: Frame, node: ast.UnaryOp, hint: str) -> Any:
    value = frame.expr(node.operand)
    if isinstance(node.op, ast.Not):
        if isinstance(value, Expr):
            condition = frame.scalar(value, node.operand, "the operand of not")
            return known(apply("not", condition))
        return not value
    if is_tile(value):
        if isinstance(node.op, ast.UAdd):
            return value
        if isinstance(node.op, ast.USub):
            return frame.emit("neg", (value,), {}, node, hint)
        return frame.emit("not_", (value,), {}, node, hint)
    elif is_number(value):
        if isinstance(node.op, ast.USub):
            return -value
        if isinstance(node.op, ast.UAdd):
            return +value
        if isinstance(node.op, ast.Invert) and isinstance(value, int):
            return ~value
    elif is_runtime_scalar(value):
        if isinstance(node.op, ast.Invert):
            return scalar_apply(frame, "bitnot", [value], node, "~")
        return apply("neg", value) if isinstance(node.op, ast.USub) else value
    symbol = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
    remedy = "load a part of it first" if is_tensor(value) else None
    raise frame.error("operand-kind", f"unary {symbol} is not defined for {describe(value)}", node, remedy)


def _boolop(frame: Frame, node: ast.BoolOp, hint: str) -> Any:
    stop = isinstance(node.op, ast.Or)
    result: Any = not stop
    for part in node.values:
        value = frame.expr(part)
        if isinstance(value, Expr):
            value = frame.scalar(value, part, "a condition")
            result = value if not isinstance(result, Expr) else apply("or" if stop else "and", result, value)
        elif bool(value) == stop:
            return value
        elif not isinstance(result, Expr):
            result = value
    return result


def _compare(frame: Frame, node: ast.Compare, hint: str) -> Any:
    result: Any = True
    left = frame.expr(node.left)
    left_node: ast.expr = node.left
    for op, right_node in zip(node.ops, node.comparators):
        right = frame.expr(right_node)
        value = _compare_pair(frame, op, left, right, node, (left_node, right_node))
        if is_tile(value) and is_tile(result):
            result = frame.emit("and_", (result, value), {}, node, hint)
        elif isinstance(value, Expr):
            result = value if not isinstance(result, Expr) else apply("and", result, value)
        elif not value:
            return False
        left, left_node = right, right_node
    return result


def _compare_pair(frame: Frame, op: ast.cmpop, a: Any, b: Any, node: ast.Compare, at: tuple[ast.AST, ast.AST]) -> Any:
    if isinstance(op, (ast.Is, ast.IsNot)):
        if a is None or b is None or isinstance(a, bool) or isinstance(b, bool):
            return (a is b) == isinstance(op, ast.Is)
        raise frame.error("unsupported-python", "`is` compares with None only", node, "use ==")
    if isinstance(op, (ast.In, ast.NotIn)):
        if isinstance(b, (list, tuple)) and not isinstance(a, Expr) and not any(isinstance(x, Expr) for x in b):
            return (a in b) == isinstance(op, ast.In)
        raise frame.error("unsupported-python", "`in` needs a compile-time value and tuple", node, "compare with ==")
    if isinstance(a, Expr) or isinstance(b, Expr):
        if is_number(a) or is_number(b) or (isinstance(a, Expr) and isinstance(b, Expr)):
            return binary(frame, op, a, b, node, "", at)
        return isinstance(op, ast.NotEq)
    if not is_number(a) and isinstance(op, (ast.Eq, ast.NotEq)):
        return (a == b) == isinstance(op, ast.Eq)
    if isinstance(a, str) and isinstance(b, str):
        raise frame.error("unsupported-python", "strings are compared with == only", node)
    return binary(frame, op, a, b, node, "", at)


def _ifexp(frame: Frame, node: ast.IfExp, hint: str) -> Any:
    condition = frame.expr(node.test)
    decided = decide(frame, condition, node.test)
    if decided is not None:
        return frame.expr(node.body if decided else node.orelse, hint)
    if frame.session.region is not None:
        from pyto.frontends.python.branches import choose

        return choose(frame, condition, node, hint)
    a, b = frame.expr(node.body), frame.expr(node.orelse)
    x, y = frame.scalar(a, node.body), frame.scalar(b, node.orelse)
    if "f" in (x.dtype.kind, y.dtype.kind):  # type: ignore[attr-defined]
        x, y = _to_float(x), _to_float(y)
    return known(apply("select", condition, x, y))


def decide(frame: Frame, condition: Any, node: ast.AST) -> bool | None:
    """The truth of a condition known at compile time, else None."""
    if isinstance(condition, Expr):
        expr = settle(frame.scalar(condition, node, "a condition"), frame.session.ranges)
        return bool(expr.value) if isinstance(expr, Const) else None
    if isinstance(condition, Intrinsic) or callable(condition):
        raise frame.error("operand-kind", f"a condition cannot be {describe(condition)}", node)
    return bool(condition)


def _call(frame: Frame, node: ast.Call, hint: str) -> Any:
    from pyto.frontends.python.calls import call

    return call(frame, node, hint)


def _subscript(frame: Frame, node: ast.Subscript, hint: str) -> Any:
    from pyto.frontends.python.subscripts import load_subscript

    return load_subscript(frame, node, hint)


HANDLERS: dict[type[ast.AST], Handler] = {
    ast.Constant: _constant, ast.Name: _name, ast.Tuple: _sequence, ast.List: _sequence, ast.Attribute: _attribute,
    ast.BinOp: _binop, ast.UnaryOp: _unary, ast.BoolOp: _boolop, ast.Compare: _compare, ast.IfExp: _ifexp,
    ast.Call: _call, ast.Subscript: _subscript,
}  # fmt: skip

__all__ = ["binary", "decide", "evaluate", "known", "scalar_apply", "tile_binary", "tile_compare"]
