"""Programs, functions, operations and attributes of the text form: syntax trees to nodes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lark import Token, Tree

from pyto.errors import CompileError
from pyto.frontends.text.scalars import Node, Scalars, children
from pyto.frontends.text.syntax import place
from pyto.ir.builder import identifier
from pyto.ir.nodes import (
    DTYPES,
    INDEX,
    Block,
    Expr,
    Function,
    Loc,
    Op,
    Param,
    Program,
    ScalarType,
    Var,
    walk,
)
from pyto.ir.ops import OPS

MAX_BLOCKS = 40  # one in another
WORDS = {"true": True, "false": False, "none": None}


def build(tree: Tree[Token], file: str, *, original: bool = False) -> Program:
    """The program of a tree. Locations are those of the text or, with `original`, those that the text carries."""
    name, stage, *functions = tree.children
    out: list[Function] = []
    host: dict[str, Var] = {}
    for node in functions:
        out.append(_Function(file, original, host).build(node))
        if len(out) == 1:
            host = _scalars(out[0])
    return Program(str(name), str(stage), tuple(out))


def check_name(token: Node, file: str) -> str:
    """A name as generated code may print it."""
    assert isinstance(token, Token)
    name = str(token).lstrip("%")
    if identifier(name) != name:
        good = ("%" if token.startswith("%") else "") + identifier(name)
        raise CompileError(
            "pto.name", f"{token} means something else in C++", place(token, file), remedy=f"call it {good}"
        )
    return name


def _scalars(host: Function) -> dict[str, Var]:
    """All scalars of a host function by name."""
    found = [*(p.var for p in host.params), *host.dims]
    for op in walk(host.body):
        found += [*op.results, *(p for b in op.blocks for p in b.params)]
    return {v.name: v for v in found if isinstance(v.type, ScalarType)}


class _Function(Scalars):
    def __init__(self, file: str, original: bool, host: dict[str, Var]) -> None:
        super().__init__(file)
        self.original = original
        self.host = host
        self.blocks = 0

    # ---------------------------------------------------------------------------------------- signature

    def build(self, node: Node) -> Function:
        kind, name, params, dims, blocks, attrs, location, body = children(node)
        if self.host or str(kind) != "host":
            check_name(name, self.file)
        parameters = children(params) if params is not None else []
        # Extents of tensors may name any scalar of the signature, wherever it stands; those of a device function's
        # tensors also scalars of the host that the function does not get.
        variables: dict[int, Var] = {}
        groups: list[Any] = [*parameters, *self._listed(dims), *self._listed(blocks)]
        scalars = [n for n in groups if self._type_of(n).data == "scalar_type"]
        for one in scalars:
            variables[id(one)] = self.define(one.children[0], self.type(self._type_of(one)))
        inner, self.scope = self.scope, {**self.host, **self.scope}
        for one in groups:
            if id(one) not in variables:
                token = one.children[0]
                inner[str(token)[1:]] = variables[id(one)] = self.define(token, self.type(self._type_of(one)))
        self.scope = inner
        found = [self._param(n, variables[id(n)]) for n in groups[: len(parameters)]]
        own = tuple(variables[id(n)] for n in self._listed(blocks))
        bound = tuple(variables[id(n)] for n in self._listed(dims))
        block = self.block(body, own)
        return Function(
            str(name), str(kind), tuple(found), bound, block, self.attributes(attrs), self.location(location, name)
        )

    @staticmethod
    def _listed(node: Node | None) -> list[Tree[Token]]:
        return list(node.children) if node is not None else []  # type: ignore[union-attr,arg-type]

    @staticmethod
    def _type_of(node: Tree[Token]) -> Tree[Token]:
        return node.children[-2] if node.data == "param" else node.children[-1]  # type: ignore[return-value]

    def _param(self, node: Tree[Token], var: Var) -> Param:
        token, direction, _, location = node.children
        if direction is None:
            direction = "in"  # type: ignore[assignment]
        elif str(direction) not in ("in", "out", "inout"):
            self.fail("direction", f"there is no direction {direction}", direction, "write in, out or inout")
        return Param(var, str(direction), self.location(location, token))

    def define(self, token: Node, type: Any) -> Var:
        assert isinstance(token, Token)
        name = check_name(token, self.file)
        if name in self.names:
            self.fail("duplicate", f"{token} is defined twice", token, "names are unique in a function: rename one")
        self.names.add(name)
        var = self.scope[name] = Var(name, type)
        return var

    def location(self, carried: Node | None, token: Node) -> Loc | None:
        """Where the text stands or, if that is wanted, where the text says that it was written first."""
        assert isinstance(token, Token)
        if self.original:
            if carried is None:
                return None
            file, line, columns = str(carried)[1:].rsplit(":", 2)
            beside = Path(self.file).parent / file
            col, end = columns.split("-")
            return Loc(str(beside) if beside.is_file() else file, *(min(int(n), 2**31) for n in (line, col, end)))
        return place(token, self.file)

    # --------------------------------------------------------------------------------------- operations

    def block(self, node: Node, params: tuple[Var, ...]) -> Block:
        outer, self.scope = self.scope, dict(self.scope)
        self.blocks += 1
        if self.blocks > MAX_BLOCKS:
            self.fail("too-deep", f"more than {MAX_BLOCKS} blocks one in another", node, "write fewer loops in loops")
        ops = [getattr(self, f"_{o.data}")(*o.children) for o in children(node)]  # type: ignore[union-attr]
        self.blocks -= 1
        self.scope = outer
        return Block(params, tuple(ops))

    def _operation(
        self,
        results: Node | None,
        name: Token,
        operands: Node | None,
        attrs: Node | None,
        types: Node | None,
        location: Node | None,
        blocks: Node | None,
    ) -> Op:
        if str(name) not in OPS:
            near = self.close(str(name), OPS, "docs/pto.md lists the operations")
            self.fail("operation", f"there is no operation {name}", name, near)
        args = tuple(self.operand(o) for o in children(operands)) if operands is not None else ()
        attributes = self.attributes(attrs)
        inner = tuple(self._inner(b) for b in children(blocks)) if blocks is not None else ()
        return self._op(str(name), args, results, attributes, types, inner, location, name)

    def operand(self, node: Node) -> Expr:
        return self.expression(node)

    def _inner(self, node: Node) -> Block:
        params, body = children(node)
        outer, self.scope = self.scope, dict(self.scope)
        found = tuple(self._value(p) for p in self._listed(params))
        block = self.block(body, found)
        self.scope = outer
        return block

    def _value(self, node: Node) -> Var:
        name, kind = children(node)
        return self.define(name, self.type(kind))

    def _loop(self, results: Node | None, index: Token, *rest: Any) -> Op:
        """A `for`: the types of what it carries are those of its results unless they are written."""
        lo, hi, step, *more = rest
        *carried, attrs, types, location, body = more
        bounds = tuple(self.scalar(e) for e in (lo, hi, step))
        inits = tuple(self.operand(c.children[2]) for c in carried)
        attributes = self.attributes(attrs)
        kinds = children(types) if types is not None else []
        outer, self.scope = self.scope, dict(self.scope)
        params = [self.define(index, ScalarType(INDEX))]
        for i, c in enumerate(carried):
            name, kind, _ = c.children
            if kind is None and i >= len(kinds):
                self.fail("type", f"{name} has no type", name, "the loop has a result for each value that it carries")
            params.append(self.define(name, self.type(kinds[i] if kind is None else kind)))
        block = self.block(body, tuple(params))
        self.scope = outer
        return self._op("for", (*bounds, *inits), results, attributes, types, (block,), location, index)

    def _op(
        self,
        name: str,
        args: tuple[Expr, ...],
        results: Node | None,
        attrs: dict[str, Any],
        types: Node | None,
        blocks: tuple[Block, ...],
        location: Node | None,
        at: Token,
    ) -> Op:
        tokens: Sequence[Node] = children(results) if results is not None else ()
        kinds: Sequence[Node] = children(types) if types is not None else ()
        if len(tokens) != len(kinds):
            self.fail(
                "type",
                f"{len(tokens)} results, {len(kinds)} types",
                tokens[0] if tokens else at,
                "write a type for each",
            )
        # A type may name a result beside it, as the results of a loop do: types of scalars come first.
        variables: dict[int, Var] = {}
        pairs = sorted(zip(tokens, kinds), key=lambda p: p[1].data != "scalar_type")  # type: ignore[union-attr]
        for token, kind in pairs:
            variables[id(token)] = self.define(token, self.type(kind))
        outcome = tuple(variables[id(t)] for t in tokens)
        return Op(name, args, outcome, attrs, blocks, self.location(location, at))

    # --------------------------------------------------------------------------------------- attributes

    def attributes(self, node: Node | None) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for one in children(node) if node is not None else ():
            key, value = children(one)
            if str(key) in found:
                self.fail("duplicate", f"the attribute {key} stands there twice", key, "leave one away")
            found[str(key)] = self.attribute(value)
        return found

    def attribute(self, node: Node) -> Any:
        assert isinstance(node, Tree)
        read: Callable[..., Any] = getattr(self, f"_attribute_{node.data}")
        return read(*node.children)

    def _attribute_number(self, token: Token) -> int | float:
        return self.number(token)

    def _attribute_truth(self, token: Token) -> bool:
        return str(token) == "true"

    def _attribute_string(self, token: Token) -> str:
        try:
            return str(json.loads(str(token)))
        except ValueError as error:
            self.fail("string", f"{token} is no string: {error}", token, "write it as in JSON")

    def _attribute_word(self, token: Token) -> Any:
        if str(token) in WORDS:
            return WORDS[str(token)]
        if str(token) in DTYPES:
            return DTYPES[str(token)]
        near = self.close(str(token), [*WORDS, *DTYPES], "strings stand in quotes")
        self.fail("attribute", f"{token} is no value of an attribute", token, near)

    def _attribute_quoted(self, word: Token, expression: Node) -> Expr:
        if str(word) != "expr":
            self.fail("attribute", f"{word}(...) is no value of an attribute", word, "write expr(...)")
        return self.operand(expression)

    def _attribute_sequence(self, *values: Node | None) -> tuple[Any, ...]:
        return tuple(self.attribute(v) for v in values if v is not None)

    def _attribute_empty_mapping(self) -> dict[str, Any]:
        return {}

    def _attribute_mapping(self, node: Node) -> dict[str, Any]:
        return self.attributes(node)
