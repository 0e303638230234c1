"""Building IR: unique names that are also good C++ names, and a stack of blocks that operations are appended to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyto.ir.nodes import Block, Expr, Function, Loc, Op, ScalarType, Type, Var, View, walk
from pyto.ir.ops import OPS

_CPP = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await
co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do
double dynamic_cast else enum explicit export extern false float for friend goto if import inline int long module
mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
"""
# Macros of the C library and of GNU mode, the types and macros of Ascend C, and what generated code declares itself.
_LIBRARY = """
assert errno stdin stdout stderr linux unix i386 NULL EOF INFINITY NAN HUGE_VAL I TRUE FALSE major minor makedev signals
slots emit std main half bfloat16_t int4b_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t
uintptr_t intptr_t AscendC GM_ADDR GlobalTensor LocalTensor TPipe TQue TBuf TPosition QuePosition HardEvent PipeBarrier
DataCopy DataCopyPad LoadData Mmad Fixpipe Duplicate block blocks tensors dims scalars workspace stream pipe_t event_t
BinaryRepeatParams BrcbRepeatParams CacheLine Clamp CopyRepeatParams DataCacheCleanAndInvalid DataCopyExtParams
DataCopyPadExtParams DataCopyParams DcciDst DumpTensor FixpipeParamsV220 FloorDiv FloorMod GatherMaskParams
GatherRepeatParams GetBlockIdx GetBlockNum GetSubBlockIdx GetTaskRation InitConstValueParams InitSocState Lanes
LoadData2DParams LoadData2dTransposeParams LoadData3DParamsV2 LoadDataWithTranspose Max MaxFloat Min MinFloat MmadParams
MrgSort4Info MrgSortSrcList Nd2NzParams QuantMode_t ReduceOrder ResetMask RoundMode SetAtomicAdd SetAtomicNone SetFlag
ToBfloat16 ToFloat TransDataTo5HD TransDataTo5HDParams TransposeBlocks TransposedWindow Truncate UnaryRepeatParams
ShiftLeft ShiftRight
WaitFlag WholeReduceMax WholeReduceMin WholeReduceSum WideK CrossCoreSetFlag CrossCoreWaitFlag CMPMODE
"""
_MACROS = re.compile(r"EVENT_ID\d|PIPE_\w+|KERNEL_T\w+|ASCEND\w*|PYTO_\w*|pyto_\w*")
_C_FUNCTIONS = """
abort abs accept access acos asin atan atan2 atexit atof atoi atol bind bsearch calloc cbrt ceil clock close cos cosh
div dup erf erfc exit exp exp2 expm1 fabs fdim floor fma fmax fmin fmod fork fopen fprintf fputs fread free frexp
fseek fwrite gamma getc getenv hypot index j0 j1 jn labs ldexp ldiv lgamma link listen log log10 log1p log2 logb lrint
lround malloc memcmp memcpy memmove memset modf nan nearbyint open pause pipe poll pow printf putc puts qsort raise
rand random read realloc remainder remove rename rint round scalbn scanf select send signal sin sinh sleep sqrt srand
strcmp strlen swab sync system tan tanh tgamma time trunc truncate unlink wait write y0 y1 yn
"""
RESERVED = frozenset(_CPP.split()) | frozenset(_LIBRARY.split())
_C_NAMES = frozenset(_C_FUNCTIONS.split())
_API = frozenset(name for op in OPS.values() for name in (op.api, op.scalar_api) if name[:1].isupper())


def identifier(name: str, symbol: bool = False) -> str:
    """`name` as a C++ identifier that no keyword, macro, API function or reserved form takes.

    symbol: it is to be the name of a function with C linkage, so that no function of the C library may have it.
    """
    text = "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"u{ord(c):x}" for c in name)
    text = re.sub("__+", "_", text).lstrip("_") or "v"
    if text[0].isdigit():
        text = "v" + text
    taken = text in RESERVED or text in _API or _MACROS.fullmatch(text) is not None
    if taken or (symbol and text in _C_NAMES):
        text += "_"
    return text


@dataclass
class Names:
    """Names of one function: the wanted name the first time, then name_1, name_2, ..."""

    used: set[str] = field(default_factory=set)
    _next: dict[str, int] = field(default_factory=dict)

    def fresh(self, hint: str) -> str:
        base = identifier(hint)
        if base not in self.used:
            self.used.add(base)
            return base
        stem = base if base.endswith("_") else base + "_"
        number = self._next.get(base, 1)
        while f"{stem}{number}" in self.used:
            number += 1
        self._next[base] = number + 1
        name = f"{stem}{number}"
        self.used.add(name)
        return name

    def copy(self) -> Names:
        return Names(set(self.used), dict(self._next))


class Builder:
    """Appends operations to the innermost open block; values are named through `names`."""

    def __init__(self, names: Names | None = None) -> None:
        self.names = names or Names()
        self._stack: list[list[Op]] = [[]]

    @property
    def ops(self) -> list[Op]:
        """The operations of the innermost open block."""
        return self._stack[-1]

    def var(self, hint: str, type: Type) -> Var:
        return Var(self.names.fresh(hint), type)

    def append(self, op: Op) -> Op:
        self._stack[-1].append(op)
        return op

    def emit(
        self,
        name: str,
        args: Sequence[Expr] = (),
        attrs: Mapping[str, Any] | None = None,
        *,
        type: Type | None = None,
        hint: str = "",
        loc: Loc | None = None,
    ) -> Var | None:
        """Append `name`; its result has `type`, or the type that the op table infers, or there is none.

        Raises OpError where the operands do not fit.
        """
        attrs = dict(attrs or {})
        infer = OPS[name].infer
        if type is None and infer is not None:
            type = infer([a.type if isinstance(a, Var) and not is_scalar(a) else a for a in args], attrs)
        result = self.var(hint or name, type) if type is not None else None
        self.append(Op(name, tuple(args), (result,) if result is not None else (), attrs, loc=loc))
        return result

    @contextmanager
    def block(self) -> Iterator[list[Op]]:
        """Operations appended inside go to the yielded list, not to the enclosing block."""
        ops: list[Op] = []
        self._stack.append(ops)
        try:
            yield ops
        finally:
            assert self._stack.pop() is ops

    def finish(self, params: Sequence[Var] = ()) -> Block:
        return Block(tuple(params), tuple(self.ops))


def is_scalar(value: Any) -> bool:
    """Whether a value is a scalar expression (a variable of scalar type included)."""
    if isinstance(value, Var):
        return isinstance(value.type, ScalarType)
    return isinstance(value, Expr) and not isinstance(value, View)


__all__ = ["RESERVED", "Builder", "Names", "identifier", "is_scalar"]


def names_of(function: Function) -> Names:
    """All names of a function, for making more."""
    used = (
        {p.var.name for p in function.params} | {d.name for d in function.dims} | {v.name for v in function.body.params}
    )
    for op in walk(function.body):
        used |= {r.name for r in op.results}
        used |= {p.name for b in op.blocks for p in b.params}
    return Names(used)
