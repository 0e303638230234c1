"""The one way from the language to the compiler: a function that `pyto.compiler` registers here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

#: Compiles (or finds) and runs a kernel: (function, arguments, keyword arguments) -> what the kernel returns.
call: Callable[[Any, Sequence[Any], Mapping[str, Any]], Any] | None = None


#: The same for a kernel with choices, and the kernel chosen for arguments.
tune: Callable[[Any, Sequence[Any], Mapping[str, Any]], Any] | None = None


def _loaded(name: str) -> Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]:
    """A registered function; the compiler is loaded at the first call."""
    if globals()[name] is None:
        importlib.import_module("pyto.tuning" if name == "tune" else "pyto.compiler")
    found: Callable[[Any, Sequence[Any], Mapping[str, Any]], Any] | None = globals()[name]
    if found is None:
        from pyto.errors import InternalError

        raise InternalError(f"the compiler registered no way to {name} a kernel")
    return found


def launch(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Run a kernel through the registered compiler."""
    return _loaded("call")(function, args, kwargs)


def choose(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The configuration of an autotuned kernel that is best for these arguments."""
    return _loaded("tune")(function, args, kwargs)


def tuned(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Run an autotuned kernel in its best configuration."""
    return launch(choose(function, args, kwargs), args, kwargs)
