"""`@pl.jit` and `@pl.jit.inline`: the decorated function, kept as it is until somebody compiles it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from pyto.errors import UsageError
from pyto.language import hooks


class JitFunction:
    """A kernel, or a function that kernels call (`inline`). Calling a kernel compiles and runs it."""

    def __init__(self, fn: Callable[..., Any], *, inline: bool, namespace: dict[str, Any]) -> None:
        functools.update_wrapper(self, fn)
        self.fn = fn
        self.name: str = fn.__name__
        self.inline = inline
        self.constants: dict[str, Any] = {}  # names that mean these values in the kernel and in what it inlines
        self._namespace = namespace

    def with_constants(self, constants: dict[str, Any]) -> JitFunction:
        other = JitFunction(self.fn, inline=self.inline, namespace=self._namespace)
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
                f"{self.name} is a @pl.jit.inline function: kernels call it, Python cannot",
                remedy=f"call it in a function decorated with @pl.jit, or decorate {self.name} with @pl.jit",
            )
        return hooks.launch(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<{'inline function' if self.inline else 'kernel'} {self.fn.__module__}.{self.fn.__qualname__}>"


def _wrap(fn: Any, inline: bool, depth: int) -> Any:
    decorator = "@pl.jit.inline" if inline else "@pl.jit"
    if fn is None:
        return lambda f: _wrap(f, inline, 2)
    if isinstance(fn, JitFunction):
        raise UsageError("decorator", f"{fn.name} is decorated with @pl.jit twice", remedy="keep one of the decorators")
    if not callable(fn) or not hasattr(fn, "__code__"):
        raise UsageError(
            "decorator",
            f"{decorator} decorates a Python function, not {type(fn).__name__}",
            remedy="put it above a `def`",
        )
    strings = any(isinstance(a, str) for a in fn.__annotations__.values())
    namespace = dict(sys._getframe(depth).f_locals) if strings else {}
    return JitFunction(fn, inline=inline, namespace=namespace)


class _Jit:
    """Decorator of kernels: `@pl.jit`. `@pl.jit.inline` is for functions that kernels call.

    auto_scope: a scheduling hint, accepted and never needed.
    """

    def __call__(self, fn: Any = None, *, auto_scope: bool = True) -> Any:
        return _wrap(fn, False, 2)

    def inline(self, fn: Any = None, *, auto_scope: bool = True) -> Any:
        """Decorator of functions that are inlined where a kernel calls them."""
        return _wrap(fn, True, 2)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        known = {
            "extern": "hand-written kernels",
            "host": "host orchestration functions",
            "incore": "separate device functions",
        }
        if name in known:
            raise UsageError(
                "unsupported",
                f"@pl.jit.{name} ({known[name]}) is not supported yet",
                remedy="use @pl.jit or @pl.jit.inline",
            )
        raise UsageError("unknown-name", f"pl.jit has no {name!r}", remedy="use @pl.jit or @pl.jit.inline")


jit = _Jit()
