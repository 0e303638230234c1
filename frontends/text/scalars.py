"""Scalar expressions, views and types of the text form: syntax trees to nodes."""

from __future__ import annotations

import difflib
import inspect
import math
import re
from collections.abc import Iterable
from typing import NoReturn, Union

from lark import Token, Tree

from pyto.errors import CompileError
from pyto.frontends.text.syntax import place
from pyto.ir.nodes import (
    BOOL,
    DTYPES,
    FP32,
    INDEX,
    Apply,
    Const,
    DType,
    Expr,
    ScalarType,
    Space,
    TensorType,
    TileType,
    Type,
    Var,
    View,
)
from pyto.ir.printer import SYMBOLS
from pyto.ir.scalar import COMPARISONS, PRECEDENCE, SCALAR_OPS, result_dtype

Node = Union[Tree[Token], Token]  # noqa: UP007 - evaluated on Python 3.10

OPERATORS = {symbol: op for op, symbol in SYMBOLS.items()}
SPACES = frozenset(v for k, v in vars(Space).items() if not k.startswith("_"))
MAX_OPERATORS = 200  # of one expression, and how deep it may nest: everything that walks expressions recurses
MAX_DIGITS = 400


def _operand_count(op: str) -> int | None:
    try:
        return len(inspect.signature(SCALAR_OPS[op]).parameters)
    except ValueError:  # builtins such as min
        return None


_COUNTS = {op: _operand_count(op) for op in SCALAR_OPS}


def children(node: Node) -> list[Node]:
    assert isinstance(node, Tree)
    return node.children  # type: ignore[return-value]


def first_token(node: Node) -> Token:
    """The leftmost token of a tree, for its place."""
    while isinstance(node, Tree):
        node = next(c for c in node.children if c is not None)
    return node


class Scalars:
    """Resolves names in `scope`; subclasses define them."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.scope: dict[str, Var] = {}
        self.outer: dict[str, Var] = {}  # what the extents of a device function's tensors may name besides
        self.names: set[str] = set()
        self.depth = self.operators = 0

    def fail(self, id: str, message: str, at: Node, remedy: str | None = None) -> NoReturn:
        raise CompileError(f"pto.{id}", message, place(first_token(at), self.file), remedy=remedy)

    def close(self, name: str, known: Iterable[str], else_: str) -> str:
        near = difflib.get_close_matches(name, list(known), n=1)
        return f"did you mean {near[0]}?" if near else else_

    # ------------------------------------------------------------------------------------------- values

    def value(self, token: Node) -> Var:
        name = str(token)[1:]
        var = self.scope.get(name)
        if var is None:
            if name in self.names:
                self.fail(
                    "undefined",
                    f"%{name} is defined in another block",
                    token,
                    "yield it, and use the operation's result",
                )
            near = self.close(f"%{name}", [f"%{n}" for n in self.scope], f"define %{name} above this line")
            self.fail("undefined", f"%{name} is not defined", token, near)
        return var

    def scalar(self, node: Node) -> Expr:
        """An expression of scalars only."""
        expr = self.expression(node)
        if isinstance(expr, View) or (isinstance(expr, Var) and not isinstance(expr.type, ScalarType)):
            self.fail("scalar", f"{first_token(node)} is not a scalar", node, "only scalars are computed with here")
        return expr

    def expression(self, node: Node) -> Expr:
        if self.depth == 0:
            self.operators = 0
        self.depth += 1
        if self.depth > MAX_OPERATORS or self.operators > MAX_OPERATORS:
            self.fail(
                "too-deep", f"an expression of more than {MAX_OPERATORS} operations", node, "name parts of it with let"
            )
        assert isinstance(node, Tree)
        expr: Expr = getattr(self, f"_{node.data}")(node, *node.children)
        self.depth -= 1
        return expr

    def _variable(self, node: Node, token: Token) -> Expr:
        return self.value(token)

    def _group(self, node: Node, inner: Node) -> Expr:
        return self.scalar(inner)

    def _literal(self, node: Node, token: Token) -> Const:
        if token.type == "BOOL":
            return Const(token == "true", BOOL)
        value = self.number(token)
        return Const(value, FP32) if isinstance(value, float) else self.fits(Const(value, INDEX), token)

    def number(self, token: Node) -> int | float:
        if len(str(token)) > MAX_DIGITS:
            self.fail("number", f"a number of {len(str(token))} digits", token, "numbers fit into their element types")
        text = str(token).lstrip("-")
        return int(token) if text.isdecimal() else _float(str(token))  # type: ignore[arg-type]

    def whole(self, token: Node) -> int:
        value = self.number(token)
        if not isinstance(value, int) or not 0 <= value < 2**31:
            self.fail("number", f"expected a whole number, not {token}", token, "write a number of 0 or more")
        return value

    def fits(self, c: Const, at: Node) -> Const:
        if c.dtype.kind in "iu" and not isinstance(c.value, float):
            low = -(1 << (c.dtype.bits - 1)) if c.dtype.kind == "i" else 0
            if not low <= c.value < low + (1 << c.dtype.bits):
                self.fail(
                    "number",
                    f"{c.value} is no {c.dtype}",
                    at,
                    f"{c.dtype} holds {low} to {low + (1 << c.dtype.bits) - 1}",
                )
        return c

    def _call(self, node: Node, name: Node, arguments: Node) -> Expr:
        args = [self.scalar(a) for a in children(arguments)]
        op = str(name)
        if op in DTYPES:  # a constant of that type, or an operation in it
            kind = DTYPES[op]
            (inner, *more) = args
            if not more and isinstance(inner, Const):
                return self.fits(Const(inner.value, kind), name)
            if not more and isinstance(inner, Apply):
                return Apply(inner.op, inner.args, kind)
            self.fail(
                "conversion", f"{op}(...) gives a constant or an operation its type", name, f"write cast[{op}](...)"
            )
        if op not in SCALAR_OPS or op == "cast":
            near = self.close(op, (o for o in SCALAR_OPS if o not in SYMBOLS and o != "cast"), "")
            self.fail(
                "function",
                f"there is no scalar operation {op}",
                name,
                near or "operations on tiles are lines of their own",
            )
        count = _COUNTS[op]
        if len(args) != count and (count is not None or len(args) < 2):
            self.fail(
                "function", f"{op} takes {count or 'two or more'} operands, not {len(args)}", name, "give it as many"
            )
        return self.apply(op, tuple(args))

    def apply(self, op: str, args: tuple[Expr, ...]) -> Apply:
        self.operators += 1
        return Apply(op, args, result_dtype(op, args))

    def _conversion(self, node: Node, name: Node, kind: Node, inner: Node) -> Expr:
        if name != "cast":
            self.fail("function", f"{name}[...](...) is not known", name, "only cast has an element type in brackets")
        return Apply("cast", (self.scalar(inner),), self.dtype(kind))

    def _expression(self, node: Node, *parts: Node) -> Expr:
        """Operands and operators in turn, by precedence; all bind to the left."""
        operands: list[Expr] = [self.scalar(parts[0])]
        pending: list[tuple[int, str, Node]] = []

        def reduce(level: int) -> None:
            while pending and pending[-1][0] >= level:
                above, op, at = pending.pop()
                if above == level and op in COMPARISONS and op not in ("and", "or"):
                    self.fail("syntax", "comparisons do not chain", at, "write a < b and b < c")
                right, left = operands.pop(), operands.pop()
                operands.append(self.apply(op, (left, right)))

        for symbol, operand in zip(parts[1::2], parts[2::2]):
            op = OPERATORS[str(symbol)]
            reduce(PRECEDENCE[op])
            pending.append((PRECEDENCE[op], op, symbol))
            operands.append(self.scalar(operand))
        reduce(0)
        return operands[0]

    def _view(self, node: Node, *parts: Node) -> View:
        name, slot, row, rows, col, cols, valid, pitch, element = parts
        buffer, shape = self.value(name), (self.whole(rows), self.whole(cols))
        if not isinstance(buffer.type, TileType) or buffer.type.space is None:
            self.fail("view", f"{name} is no buffer", name, "views are of what alloc makes")
        return View(
            buffer,
            shape,
            (Const(shape[0]), Const(shape[1])) if valid is None else self.valid(valid),
            self.scalar(slot),
            self.scalar(row),
            self.scalar(col),
            buffer.type.pitch if pitch is None else self.whole(pitch),
            None if element is None else self.dtype(element),
        )

    # -------------------------------------------------------------------------------------------- types

    def dtype(self, token: Node) -> DType:
        found = DTYPES.get(str(token))
        if found is None:
            near = self.close(str(token), DTYPES, f"one of {', '.join(DTYPES)}")
            self.fail("dtype", f"there is no element type {token}", token, near)
        return found

    def valid(self, node: Node) -> tuple[Expr, Expr]:
        rows, cols = children(node)
        return self.extent(rows), self.extent(cols)

    def extent(self, node: Node) -> Expr:
        return self.scalar(node)

    def type(self, node: Node) -> Type:
        assert isinstance(node, Tree)
        parts = node.children
        if node.data == "scalar_type":
            return ScalarType(self.dtype(parts[0]))
        if node.data == "tensor_type":
            word, extents, kind = parts
            if word != "tensor":
                self.fail("type", f"there is no type {word}[(...), ...]", word, "write tensor[(extents), dtype]")
            shape = tuple(self.extent(e) for e in children(extents)) if extents is not None else ()
            return TensorType(shape, self.dtype(kind))
        word, dims, kind, valid, space = parts
        if word != "tile":
            self.fail("type", f"there is no type {word}[...x..., ...]", word, "write tile[ROWSxCOLUMNS, dtype]")
        rows, cols = (self.whole(Token("NUMBER", n, line=dims.line, column=dims.column)) for n in dims.split("x"))  # type: ignore[union-attr]
        if space is not None and str(space) not in SPACES:
            self.fail("space", f"there is no memory space {space}", space, f"one of {', '.join(sorted(SPACES))}")
        full = Const(rows), Const(cols)
        return TileType(
            (rows, cols),
            self.dtype(kind),
            full if valid is None else self.valid(valid),
            None if space is None else str(space),
        )


def _float(text: str) -> float:
    return math.nan if re.fullmatch("-?nan", text) else float(text)
