"""The functions of `pl`: names with a signature and a text, which only a kernel can call."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, NoReturn

from pyto.errors import UsageError


class _Required:
    def __repr__(self) -> str:
        return "<required>"


REQUIRED: Any = _Required()


@dataclass(frozen=True)
class Parameter:
    name: str
    default: Any = REQUIRED
    keyword_only: bool = False
    variadic: bool = False


def parse_parameters(text: str) -> tuple[Parameter, ...]:
    """The parameters of a signature as Python writes it; defaults are literals."""
    args = ast.parse(f"def f({text}): ...").body[0].args  # type: ignore[attr-defined]
    out: list[Parameter] = []
    missing = len(args.args) - len(args.defaults)
    for i, arg in enumerate(args.args):
        default = REQUIRED if i < missing else ast.literal_eval(args.defaults[i - missing])
        out.append(Parameter(arg.arg, default))
    if args.vararg:
        out.append(Parameter(args.vararg.arg, variadic=True))
    for arg, value in zip(args.kwonlyargs, args.kw_defaults):
        out.append(Parameter(arg.arg, REQUIRED if value is None else ast.literal_eval(value), keyword_only=True))
    return tuple(out)


class Intrinsic:
    """One function of `pl`. `name` is what the front end knows it by, `signature` its parameters as Python writes them.

    `refused` says why a kernel cannot use it, if so.
    """

    def __init__(self, name: str, signature: str, doc: str, *, spelled: str = "", refused: str = "") -> None:
        self.name = name
        self.signature = signature
        self.spelled = spelled or f"pl.{name}"
        self.refused = refused
        self.__name__ = name
        self.__doc__ = doc
        self._parameters: tuple[Parameter, ...] | None = None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        if self._parameters is None:
            self._parameters = parse_parameters(self.signature)
        return self._parameters

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise UsageError(
            "outside-kernel",
            f"{self.spelled}(...) means something in a kernel only",
            remedy="call it in a function decorated with @pl.jit, and call that function",
        )

    # `for i in pl.range(4)` outside a kernel ends in __call__ before anything is iterated.

    def __repr__(self) -> str:
        return f"<{self.spelled}({self.signature})>"
