"""The state of a parse: one `Session` a kernel, one `Frame` a function being parsed (a kernel or an inlined call)."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pyto.errors import CompileError
from pyto.frontends.python.proofs import assumed, constant, not_negative, tidy
from pyto.frontends.python.source import FunctionNode, Source
from pyto.frontends.python.values import (
    Cascade,
    Poison,
    describe,
    is_number,
    is_runtime_scalar,
    is_tensor,
    is_tile,
    plain,
    to_expr,
)
from pyto.ir.builder import Builder
from pyto.ir.nodes import FP32, INDEX, Const, DType, Expr, Loc, Op, Param, ScalarType, TensorType, TileType, Type, Var
from pyto.ir.ops import OPS, OpError
from pyto.ir.scalar import KnownRanges, apply, substitute, variables, wrapped
from pyto.language.annotations import DynVar
from pyto.language.jit import JitFunction

MAX_ERRORS = 20
Bounds = tuple["Expr | None", "Expr | None"]


@dataclass
class Session:
    """What one kernel's parse knows.

    constants: names that an autotuned kernel gives values; constants_read: those that it read.
    ranges: inclusive bounds of scalars; lets: definitions of named scalars, down to parameters and loop indices.
    directions: of tensor parameters ("workspace" for `create_tensor`). written: tensors stored to so far.
    at: the statement being parsed. loops: index and bounds of the sequential loops around it, outermost first.
    indices: of all loops so far; points: those of the loops that spread over cores. outputs: tensors that the kernel
    creates and returns. branches: depth of `if`. shown: places whose pl.static_print was shown.
    """

    constants: dict[str, Any] = field(default_factory=dict)
    constants_read: set[str] = field(default_factory=set)
    builder: Builder = field(default_factory=Builder)
    ranges: dict[Var, Bounds] = field(default_factory=KnownRanges)
    lets: dict[Var, Expr] = field(default_factory=dict)
    dims: dict[str, Var] = field(default_factory=dict)
    directions: dict[Var, str] = field(default_factory=dict)
    written: set[Var] = field(default_factory=set)
    errors: list[CompileError] = field(default_factory=list)
    at: tuple[Frame, ast.stmt] | None = None
    region: Loc | None = None
    region_names: set[str] = field(default_factory=set)
    loops: list[tuple[Var, tuple[Expr, Expr, Expr]]] = field(default_factory=list)
    spmd_indices: list[Var] = field(default_factory=list)
    indices: set[Var] = field(default_factory=set)
    points: set[Var] = field(default_factory=set)
    outputs: list[Param] = field(default_factory=list)
    spmd_counts: list[Expr] = field(default_factory=list)
    branches: int = 0
    shown: set[Loc] = field(default_factory=set)

    def report(self, error: CompileError) -> None:
        if isinstance(error, Cascade):
            return
        key = (error.id, error.loc)
        if len(self.errors) < MAX_ERRORS and all((e.id, e.loc) != key for e in self.errors):
            self.errors.append(error)

    def define(self, name: Var, value: Expr) -> None:
        self.ranges[name] = (value, value)
        self.lets[name] = substitute(value, self.lets)

    def constant(self, expr: Expr) -> int | None:
        return constant(expr, self.ranges, self.lets)

    def tidy_type(self, type: Type) -> Type:
        if isinstance(type, TileType):
            rows, cols = (
                v if isinstance(v, Const) and v.value >= 0 else not_negative(v, self.ranges) for v in type.valid
            )
            return replace(type, valid=(rows, cols))
        return type

    def seen_from(self, expr: Expr, outside: frozenset[str]) -> Expr:
        """`expr` with the scalars named since `outside` were all the names there, replaced by what they stand for."""
        return substitute(expr, {k: v for k, v in self.lets.items() if k.name not in outside})

    @contextmanager
    def assuming(self, condition: Expr, holds: bool = True) -> Iterator[None]:
        """Parses what runs only where `condition` holds (or does not)."""
        before = {v: self.ranges.get(v) for v in variables(condition)}
        self.ranges.update(assumed(condition, holds, self.ranges))
        try:
            yield
        finally:
            for var, known in before.items():
                if known is None:
                    self.ranges.pop(var, None)
                else:
                    self.ranges[var] = known

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Parses a branch of an `if`."""
        self.branches += 1
        try:
            yield
        finally:
            self.branches -= 1

    @contextmanager
    def trial(self) -> Iterator[Callable[[], None]]:
        """Gives a function that takes back everything that was parsed since."""
        names = self.builder.names.copy()
        ops = len(self.builder.ops)
        written, region_names = set(self.written), set(self.region_names)

        def undo() -> None:
            self.builder.names = names.copy()
            del self.builder.ops[ops:]
            self.written, self.region_names = set(written), set(region_names)

        yield undo


class PeelFirst(Exception):
    """An `if` tells the first iteration of a loop from the others: parse that one by itself."""

    def __init__(self, index: Var) -> None:
        super().__init__(index.name)
        self.index = index


class Frame:
    """One function being parsed: its source, its names, and what it returned."""

    def __init__(
        self, session: Session, source: Source, node: FunctionNode, function: JitFunction, parent: Frame | None
    ) -> None:
        self.session = session
        self.source = source
        self.node = node
        self.function = function
        self.parent = parent
        self.env: dict[str, Any] = {}
        self.dims: dict[str, Expr] = {}
        self.returned: Any = None
        self.has_returned = False
        self.lost_writes: list[tuple[str, ast.AST]] = []  # elements of tile parameters that were assigned
        self.nested = 0  # depth of run-time control flow and regions around the current statement
        fn = function.fn
        self._globals = fn.__globals__
        self._closure = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))

    # -------------------------------------------------------------------------------------- errors

    def loc(self, node: ast.AST) -> Loc:
        return self.source.loc(node)

    def error(self, id: str, message: str, node: ast.AST, remedy: str | None = None) -> CompileError:
        return CompileError(id, message, self.loc(node), remedy=remedy, details=self.trace())

    def trace(self) -> str | None:
        """Where the inlined functions around this one were called."""
        lines = []
        frame: Frame | None = self
        while frame is not None and frame.parent is not None:
            call = frame.call_loc
            lines.append(f"  in {frame.function.name}, called at {call.file}:{call.line}")
            frame = frame.parent
        return "\n".join(lines) or None

    call_loc: Loc

    # --------------------------------------------------------------------------------------- names

    def lookup(self, node: ast.Name) -> Any:
        name = node.id
        if name in self.env:
            value = self.env[name]
        elif name in self.session.constants:
            value = self.session.constants[name]
            self.session.constants_read.add(name)
        elif name in self._closure:
            try:
                value = self._closure[name].cell_contents
            except ValueError:
                raise self.error(
                    "undefined-name", f"{name!r} has no value yet when the kernel is compiled", node
                ) from None
        elif name in self._globals:
            value = self._globals[name]
        elif hasattr(builtins, name):
            value = getattr(builtins, name)
        else:
            known = [n for n, v in self.env.items() if not isinstance(v, Poison)]
            close = difflib.get_close_matches(name, [*known, *self._globals, *self._closure], 1)
            remedy = f"did you mean {close[0]!r}?" if close else "assign it before this line"
            raise self.error("undefined-name", f"{name!r} is not defined", node, remedy)
        if isinstance(value, Poison):
            if value.reason is None:
                raise Cascade("cascade", name)
            raise self.error("undefined-name", value.reason, node, value.remedy)
        return self.resolve(value, node)

    def resolve(self, value: Any, node: ast.AST) -> Any:
        """A Python object as a value of the parse: dimensions become integers of this kernel."""
        if isinstance(value, DynVar):
            return self.dim(value.name, node)
        if type(value) in (tuple, list):
            return type(value)(self.resolve(v, node) for v in value)
        return plain(value)

    def dim(self, name: str, node: ast.AST) -> Any:
        frame: Frame | None = self
        while frame is not None:
            if name in frame.dims:
                found = frame.dims[name]
                return found.value if isinstance(found, Const) else found
            frame = frame.parent
        raise self.error(
            "unknown-dim",
            f"the dimension {name} is not in the kernel's signature",
            node,
            f"give a tensor parameter of the kernel the dimension {name}",
        )

    # ------------------------------------------------------------------------------------ emission

    def emit(self, op: str, args: Sequence[Expr], attrs: dict[str, Any] | None, node: ast.AST, hint: str = "") -> Any:
        """Append an operation on tiles; its result type is inferred and its valid shape simplified."""
        session = self.session
        if session.region is None:
            raise self.error(
                "outside-region",
                f"{op} works on tiles, and this is host code",
                node,
                "put it into `with pl.at(level=pl.Level.CORE_GROUP):` or a `for i in pl.spmd(n):` loop",
            )
        attrs = attrs or {}
        infer = OPS[op].infer
        type: Type | None = None
        if infer is not None:
            try:
                type = infer([a.type if isinstance(a, Var) and not is_runtime_scalar(a) else a for a in args], attrs)
            except OpError as error:
                raise self.error(error.id, error.message, node, error.remedy) from None
            assert type is not None
            if isinstance(type, TileType) and type.dtype == INDEX:
                raise self.error("op-dtype", f"{op}: the vector unit has no elements of int64", node, "use pl.INT32")
            type = session.tidy_type(type)
            if isinstance(type, TileType) and Const(0) in type.valid and op == "load":
                raise self.error(
                    "out-of-bounds", "the slice lies past the end of the tensor: no element of it is valid", node
                )
        return session.builder.emit(op, args, attrs, type=type, hint=hint, loc=self.loc(node))

    def name_scalar(self, name: str, value: Expr, node: ast.AST) -> Expr:
        """`name = value`: a `let`, unless the value has a name already."""
        if isinstance(value, (Var, Const)):
            return value
        assert isinstance(value, Expr)
        result = self.session.builder.var(name, ScalarType(value.dtype))  # type: ignore[attr-defined]
        self.session.builder.append(Op("let", (value,), (result,), loc=self.loc(node)))
        self.session.define(result, value)
        return result

    # --------------------------------------------------------------------------------- conversions

    def scalar(self, value: Any, node: ast.AST, what: str = "the value") -> Expr:
        """A scalar expression of a number or run-time scalar."""
        if is_number(value):
            if isinstance(value, int) and wrapped(value) != value:
                raise self.error("out-of-range", f"{what} does not fit 64 bits", node)
            return to_expr(value)
        if is_runtime_scalar(value):
            return value  # type: ignore[no-any-return]
        raise self.error("operand-kind", f"{what} must be a scalar, got {describe(value)}", node)

    def integer(self, value: Any, node: ast.AST, what: str) -> Expr:
        """An index expression."""
        if isinstance(value, float) and value.is_integer():
            raise self.error(
                "operand-kind",
                f"{what} must be an integer, got {value!r}",
                node,
                "use // instead of / in index arithmetic",
            )
        expr = self.scalar(value, node, what)
        if expr.dtype.kind not in "iu" and not isinstance(value, bool):  # type: ignore[attr-defined]
            raise self.error(
                "operand-kind",
                f"{what} must be an integer, got {describe(value)}",
                node,
                "use // instead of / in index arithmetic",
            )
        return expr

    def static_int(self, value: Any, node: ast.AST, what: str, id: str = "not-constant") -> int:
        """A compile-time integer."""
        if isinstance(value, int):
            return int(value)
        expr = self.integer(value, node, what)
        found = self.session.constant(expr)
        if found is None:
            raise self.error(id, f"{what} must be a compile-time integer", node, self._why_dynamic(expr))
        return found

    def _why_dynamic(self, expr: Expr) -> str:
        names = sorted(v.name for v in variables(expr))
        which = " and ".join(names)
        return f"it depends on {which}, known at run time only: use a constant; slices end where the tensor ends"

    def dtype(self, value: Any, node: ast.AST, what: str) -> DType:
        if isinstance(value, DType):
            return value
        raise self.error(
            "operand-kind", f"{what} must be an element type, got {describe(value)}", node, "for instance pl.FP32"
        )

    def tensor(self, value: Any, node: ast.AST, what: str) -> Var:
        if is_tensor(value):
            return value  # type: ignore[no-any-return]
        raise self.error("operand-kind", f"{what} must be a tensor, got {describe(value)}", node)

    def whole(self, value: Any, node: ast.AST) -> Any:
        """A tensor of compile-time shape as a tile with all of it, inside regions; anything else as it is."""
        if self.session.region is None or not is_tensor(value):
            return value
        assert isinstance(value.type, TensorType)
        if not all(isinstance(e, Const) for e in value.type.shape):
            return value
        from pyto.frontends.python.subscripts import Axis, load

        axes = [Axis(Const(0), int(e.value), False, node) for e in value.type.shape if isinstance(e, Const)]
        return load(self, value, axes, node, value.name)

    def tile(self, value: Any, node: ast.AST, what: str) -> Var:
        value = self.whole(value, node)
        if is_tile(value):
            return value  # type: ignore[no-any-return]
        remedy = "load a part of it: x[a:b, c:d]" if is_tensor(value) else None
        raise self.error("operand-kind", f"{what} must be a tile, got {describe(value)}", node, remedy)

    def as_dtype(self, value: Any, d: DType, node: ast.AST) -> Expr:
        """A scalar operand for a tile of element type `d`: integers fit floats, not the other way round."""
        if d.kind == "f" and type(value) is int:
            value = float(value)
        expr = self.scalar(value, node, "the operand")
        kind = expr.dtype  # type: ignore[attr-defined]
        if isinstance(expr, Const):
            if d.kind == "f":
                return Const(float(expr.value), d if d.bits == 32 else FP32)
            if kind.kind in "iu":
                low = -(2 ** (d.bits - 1)) if d.kind == "i" else 0
                if not low <= expr.value < low + 2**d.bits:
                    raise self.error("out-of-range", f"{expr.value} does not fit {d}", node)
                return Const(expr.value, d)
        elif d.kind == "f" and kind.kind in "iub":
            return apply("cast", expr, dtype=FP32)
        return expr

    def simplified(self, expr: Expr) -> Expr:
        return tidy(expr, self.session.ranges)

    # ------------------------------------------------------------------------------------ dispatch

    def expr(self, node: ast.expr, hint: str = "") -> Any:
        """The value of an expression; `hint` names the result of the operation at its root."""
        from pyto.frontends.python.expressions import evaluate

        return evaluate(self, node, hint)

    def block(self, statements: Sequence[ast.stmt]) -> None:
        from pyto.frontends.python.statements import run

        run(self, statements)


__all__ = ["Bounds", "Frame", "PeelFirst", "Session"]
