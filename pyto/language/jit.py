"""`@pl.jit`, `@pl.function` and their kin: the decorated function, kept as it is until somebody compiles it."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

from pyto.errors import UsageError
from pyto.ir.nodes import DType
from pyto.language import hooks
from pyto.language.annotations import Directed, Tensor
from pyto.language.enums import FunctionType


class JitFunction:
    """A kernel, or a function that kernels call. Calling a kernel compiles and runs it.

    kind: "kernel"; "inline", whose body stands where it is called; or "incore", whose body is a region where host code
    calls it. program: the `@pl.program` that it is a method of. values: parameters of a specialized kernel that are
    numbers known when it is compiled.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        kind: str,
        namespace: dict[str, Any],
        values: Mapping[str, Any] | None = None,
        program: JitProgram | None = None,
    ) -> None:
        functools.update_wrapper(self, fn)
        self.fn = fn
        self.name: str = fn.__name__
        self.kind = kind
        self.program = program
        self.values = dict(values or {})
        self.constants: dict[str, Any] = {}  # names that mean these values in the kernel and in what it inlines
        self._namespace = namespace
        self._specialized: dict[Any, JitFunction] = {}

    @property
    def inline(self) -> bool:
        return self.kind != "kernel"

    @functools.cached_property
    def parameters(self) -> list[inspect.Parameter]:
        """Without the `self` of a method."""
        found = list(inspect.signature(self.fn).parameters.values())
        return found if self.program is None else found[1:]

    @functools.cached_property
    def generic(self) -> bool:
        """Whether a call's arguments say what the kernel is compiled for: bare `pl.Tensor`, or `n: pl.INDEX`."""
        found = (self.annotations.get(p.name) for p in self.parameters)
        bare = (a.inner if isinstance(a, Directed) else a for a in found)
        return not self.inline and any(a is Tensor or isinstance(a, DType) for a in bare)

    def specialized(self, key: Any, annotations: Mapping[str, Any], values: Mapping[str, Any]) -> JitFunction:
        """The kernel with other annotations, and numbers for parameters; one object for one `key`."""
        found = self._specialized.get(key)
        if found is None:
            found = JitFunction(self.fn, kind=self.kind, namespace=self._namespace, values=values, program=self.program)
            found.annotations = {**self.annotations, **annotations}
            found = self._specialized.setdefault(key, found)
        return found

    def with_constants(self, constants: dict[str, Any]) -> JitFunction:
        other = JitFunction(
            self.fn, kind=self.kind, namespace=self._namespace, values=self.values, program=self.program
        )
        other.constants = constants
        return other

    @functools.cached_property
    def annotations(self) -> dict[str, Any]:
        """Parameter name -> annotation object; a string annotation (PEP 563) is evaluated where the function was made.

        An annotation that cannot be evaluated is kept as the exception it raised.
        """
        out: dict[str, Any] = {}
        for name, value in self.fn.__annotations__.items():
            if isinstance(value, str):
                cells = zip(self.fn.__code__.co_freevars, self.fn.__closure__ or ())
                local = dict(self._namespace)
                for free, cell in cells:
                    try:
                        local[free] = cell.cell_contents
                    except ValueError:
                        continue
                try:
                    value = eval(value, self.fn.__globals__, local)
                except Exception as error:
                    value = error
            out[name] = value
        return out

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.inline:
            raise UsageError(
                "inline-call",
                f"{self.name} is a @pl.jit.{self.kind} function: kernels call it, Python cannot",
                remedy=f"call it in a function decorated with @pl.jit, or decorate {self.name} with @pl.jit",
            )
        return hooks.launch(self, args, kwargs)

    def __repr__(self) -> str:
        what = f"{self.kind} function" if self.inline else "kernel"
        return f"<{what} {self.fn.__module__}.{self.fn.__qualname__}>"


class JitProgram:
    """`@pl.program` on a class: its functions, of which one is the entry. Calling it calls the entry."""

    def __init__(self, name: str, functions: dict[str, JitFunction], entry: JitFunction) -> None:
        self.name = name
        self.functions = functions
        self.entry = entry

    def __getattr__(self, name: str) -> JitFunction:
        functions = self.__dict__.get("functions", {})
        if name not in functions:
            raise AttributeError(name)
        return functions[name]  # type: ignore[no-any-return]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.entry(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<program {self.name}>"


def _wrap(fn: Any, kind: str, depth: int, decorator: str) -> Any:
    if fn is None:
        return lambda f: _wrap(f, kind, 2, decorator)
    if isinstance(fn, JitFunction):
        raise UsageError("decorator", f"{fn.name} is decorated with @pl.jit twice", remedy="keep one of the decorators")
    if not callable(fn) or not hasattr(fn, "__code__"):
        raise UsageError(
            "decorator",
            f"{decorator} decorates a Python function, not {type(fn).__name__}",
            remedy="put it above a `def`",
        )
    namespace: dict[str, Any] = {}
    if any(isinstance(a, str) for a in fn.__annotations__.values()):
        scope = sys._getframe(depth)
        if "__qualname__" in scope.f_locals and scope.f_back is not None:  # the body of a class
            namespace.update(scope.f_back.f_locals)
        namespace.update(scope.f_locals)
    return JitFunction(fn, kind=kind, namespace=namespace)


class _Jit:
    """Decorator of kernels: `@pl.jit`. Its `inline`, `incore` and `opaque` are for functions that kernels call.

    auto_scope, level: scheduling hints, accepted and never needed.
    """

    def __call__(self, fn: Any = None, *, auto_scope: bool = True) -> Any:
        return _wrap(fn, "kernel", 2, "@pl.jit")

    def inline(self, fn: Any = None, *, auto_scope: bool = True) -> Any:
        """Decorator of functions that are inlined where a kernel calls them."""
        return _wrap(fn, "inline", 2, "@pl.jit.inline")

    def incore(self, fn: Any = None, *, level: Any = None) -> Any:
        """Decorator of functions whose body is a region: what a core does when host code calls them."""
        return _wrap(fn, "incore", 2, "@pl.jit.incore")

    def opaque(self, fn: Any = None, *, auto_scope: bool = True) -> Any:
        """Decorator of functions of host code; they are inlined where a kernel calls them."""
        return _wrap(fn, "inline", 2, "@pl.jit.opaque")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        known = {"extern": "hand-written kernels", "host": "functions of several devices"}
        if name in known:
            raise UsageError(
                "unsupported",
                f"@pl.jit.{name} ({known[name]}) is not supported yet",
                remedy="use @pl.jit, @pl.jit.inline or @pl.jit.incore",
            )
        text = "use @pl.jit, @pl.jit.inline or @pl.jit.incore"
        raise UsageError("unknown-name", f"pl.jit has no {name!r}", remedy=text)


jit = _Jit()

_KINDS = {
    FunctionType.Opaque: "kernel",
    FunctionType.Orchestration: "kernel",
    FunctionType.InCore: "incore",
    FunctionType.AIC: "incore",
    FunctionType.AIV: "incore",
    FunctionType.Inline: "inline",
}


def function(
    fn: Any = None,
    *,
    type: FunctionType = FunctionType.Opaque,
    level: Any = None,
    role: Any = None,
    attrs: Any = None,
    auto_scope: bool = True,
) -> Any:
    """`@pl.function(type=...)`: an InCore function is a region, an Orchestration or Opaque one a kernel.

    level, role, attrs, auto_scope: scheduling hints, accepted and never needed.
    """
    if type not in _KINDS:
        names = ", ".join(f"pl.FunctionType.{t.name}" for t in _KINDS)
        raise UsageError("unsupported", f"@pl.function(type={type}) is not supported", remedy=f"one of {names}")
    return _wrap(fn, _KINDS[type], 2, "@pl.function")


def inline(fn: Any = None) -> Any:
    """Decorator of functions that are inlined where a kernel calls them; the same as `@pl.jit.inline`."""
    return _wrap(fn, "inline", 2, "@pl.inline")


def program(cls: Any = None, **hints: Any) -> Any:
    """`@pl.program` on a class of functions that call each other by `self.NAME(...)`.

    The entry is the function that the others do not call: the only kernel, or the last one of several.
    """
    if cls is None:
        return lambda c: program(c, **hints)
    if not isinstance(cls, type):
        raise UsageError("decorator", f"@pl.program decorates a class, not {cls!r}", remedy="put it above a `class`")
    functions = {n: f for n, f in vars(cls).items() if isinstance(f, JitFunction)}
    kernels = [f for f in functions.values() if not f.inline]
    if not kernels:
        raise UsageError(
            "decorator",
            f"@pl.program class {cls.__name__} has no kernel",
            remedy="decorate its entry with @pl.function(type=pl.FunctionType.Orchestration)",
        )
    made = JitProgram(cls.__name__, functions, kernels[-1])
    for f in functions.values():
        f.program = made
    return made
