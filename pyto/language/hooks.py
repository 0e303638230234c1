"""The one way from the language to the compiler: a function that `pyto.compiler` registers here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

#: Compiles (or finds) and runs a kernel: (function, arguments, keyword arguments) -> what the kernel returns.
call: Callable[[Any, Sequence[Any], Mapping[str, Any]], Any] | None = None


def launch(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Run a kernel through the registered compiler, which is loaded at the first call."""
    if call is None:
        importlib.import_module("pyto.compiler")
    if call is None:
        from pyto.errors import InternalError

        raise InternalError("pyto.compiler registered no way to call a kernel")
    return call(function, args, kwargs)
