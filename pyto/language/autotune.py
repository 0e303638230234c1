"""`@pl.autotune`: a kernel with named constants that are chosen for the shapes it is called with."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from pyto.errors import UsageError
from pyto.language import hooks
from pyto.language.jit import JitFunction

Choice = Mapping[str, Any]


class AutotunedFunction(JitFunction):
    """A kernel of several configurations. Compiled by itself it has the first; a call finds the best for its shapes.

    candidates: the configurations, one kernel each. top: so many of those that the cost estimate ranks first are timed.
    """

    def __init__(self, kernel: JitFunction, choices: Mapping[str, Sequence[Any]], top: int) -> None:
        self.__dict__.update(kernel.__dict__)
        self.choices = {name: tuple(values) for name, values in choices.items()}
        self.top = top
        combinations = itertools.product(*self.choices.values())
        self.candidates = [kernel.with_constants(dict(zip(self.choices, c))) for c in combinations]
        self.constants = self.candidates[0].constants

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return hooks.tuned(self, args, kwargs)

    def best(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The constants chosen for these arguments, which are not changed."""
        return dict(hooks.choose(self, args, kwargs).constants)


def autotune(*, top: int = 4, **choices: Sequence[Any]) -> Any:
    """Decorator above `@pl.jit`: `@pl.autotune(TILE=[32, 64], STAGES=[2, 3])`.

    The kernel, and what it inlines, reads TILE and STAGES like constants of its module. At the first call with new
    dimensions every combination is compiled (one that does not fit the chip is left out), ranked by the predicted time,
    and the first `top` are run on copies of the arguments, on whatever the arguments live on. The choice is kept in the
    build cache. Raises UsageError for a bad list; CompileError if no combination compiles.
    """
    for name, values in choices.items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or not values:
            raise UsageError(
                "autotune", f"{name} needs a list of values, got {values!r}", remedy=f"{name}=[first, second]"
            )
    if not choices or top < 1:
        raise UsageError("autotune", "pl.autotune needs constants to choose", remedy="@pl.autotune(TILE=[32, 64])")

    def decorate(kernel: Any) -> AutotunedFunction:
        if not isinstance(kernel, JitFunction) or kernel.inline:
            raise UsageError("autotune", "pl.autotune decorates kernels", remedy="put it above @pl.jit")
        if kernel.generic:
            text = f"pl.autotune: the tensors of {kernel.name} need dims and an element type"
            raise UsageError("autotune", text, remedy='pl.Tensor[[pl.dynamic("N"), 128], pl.FP32]')
        return AutotunedFunction(kernel, choices, top)

    return decorate
