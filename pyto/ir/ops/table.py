"""The form of the op table: what is said of an operation, once, for everything else to read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pyto.ir.infer import Infer
from pyto.ir.nodes import DType, Expr

STAGES = ("tensor", "tile", "machine")
LOWERED = ("tile", "machine")  # what passes make for the chip
BEFORE_MACHINE = ("tensor", "tile")  # what has no place of its own once buffers have addresses


class Composer(Protocol):
    """What a composition is written with: `c.NAME(operands, attribute=...)` makes an operation of the table, itself
    composed where the chip lacks it, and gives its result. Numbers become scalars of the tiles' element type."""

    def __getattr__(self, name: str) -> Callable[..., Any]: ...

    def make(self, name: str, *args: Any, hint: str = "", **attrs: Any) -> Any: ...

    def type(self, value: Any) -> Any:
        """The TileType of a tile, None for a scalar."""

    def lanes(self, value: Any) -> int:
        """Elements of a tile's type in one repeat of a vector instruction."""

    def flat(self, column: Any, op: str) -> Any:
        """The column [R, 1] that `op` takes, as a row: the same bytes."""

    def cast(self, value: Any, target: DType, mode: str = "rint") -> Any: ...

    def scalar(self, value: Any, dtype: DType, plus: int = 0) -> Any:
        """A scalar (or its sum with `plus`) as one of another type."""

    def as_type(self, value: Any, dtype: DType) -> Any:
        """A tile cast, or a scalar, to another type."""

    def wrapped(self, value: Any, dtype: DType) -> Any:
        """The low 8 bits of a tile of int16."""

    def dense(self, value: Any) -> Any:
        """A tile that lies in a buffer of its own, whole repeats of it readable: itself, or a copy."""

    def limited(self, value: Any, valid: Any) -> Any:
        """The tile with that valid shape."""

    def remember(self, mask: Any, bits: Any, like: Any) -> Any:
        """`mask`, of which `bits` are known, one an element of a tile of type `like`."""

    def known_bits(self, mask: Any, like: Any) -> Any:
        """The bits of `mask` for a tile of type `like`, if they are at hand."""


# Operands and attributes of an op -> what stands for it, or None where the chip has it as it is.
Compose = Callable[..., "Expr | None"]


@dataclass(frozen=True)
class Way:
    """How the chip does an operation on one element type.

    native: an instruction takes it. bits: the instruction of `dtype`, another type of the same width, does it to the
    same bits. through: in the wider `dtype`, rounded or saturated back. wrapping: in the wider `dtype`, keeping the low
    bits. composed: of other operations.
    """

    kind: str
    dtype: DType | None = None
    compose: Compose | None = None


Ways = Mapping[DType, Way]


def ways(
    *native: DType,
    bits: Mapping[DType, DType] | None = None,
    through: Mapping[DType, DType] | None = None,
    wrapping: Mapping[DType, DType] | None = None,
    composed: Mapping[DType, Compose] | None = None,
) -> dict[DType, Way]:
    """The ways of an op, native element types first."""
    out = {d: Way("native") for d in native}
    for kind, types in (("bits", bits), ("through", through), ("wrapping", wrapping)):
        out |= {d: Way(kind, by) for d, by in (types or {}).items()}
    return out | {d: Way("composed", None, fn) for d, fn in (composed or {}).items()}


@dataclass(frozen=True)
class OpDef:
    """One operation.

    name: as in the text form and, where users may call it, in `pl`; aliases: its other names there.
    params: the names of its value operands, in order; attrs: those of its compile-time arguments.
    signature: the arguments of the user's call where they are not just `params`.
    infer: operand types (scalars as expressions) and attributes -> result type, or None; raises OpError.
    ways: what it takes and how. compose: of what other operations it is made, whatever the element type.
    pipe: the hardware pipe that runs it ("" for structure). cost: its row in the rates of `target`.
    form: how its Ascend C is written (codegen); api: the function; scalar_api: that with a scalar second operand.
    numpy: operand arrays (and numpy_attrs) -> result array, in the element type of the result.
    scalars: the operands that may be scalars; scalar: the operation of `ir.scalar` that it is where all are.
    swaps: its operands may change places.
    in_place: the operands whose buffer the result may take.
    stages, host: where it may stand in device and in host code. user: callable as `pl.NAME`.
    """

    name: str
    params: tuple[str, ...] = ()
    attrs: tuple[str, ...] = ()
    signature: str = ""
    aliases: tuple[str, ...] = ()
    infer: Infer | None = None
    ways: Ways = field(default_factory=dict)
    compose: Compose | None = None
    pipe: str = ""
    cost: str = ""
    form: str = ""
    api: str = ""
    scalar_api: str = ""
    numpy: Callable[..., Any] | None = None
    numpy_attrs: tuple[str, ...] = ()
    scalar: str = ""
    scalars: tuple[int, ...] = ()
    swaps: bool = False
    in_place: tuple[int, ...] = ()
    stages: tuple[str, ...] = STAGES
    host: tuple[str, ...] = ()
    user: bool = False
    doc: str = ""

    @property
    def dtypes(self) -> tuple[DType, ...]:
        return tuple(self.ways)

    @property
    def call(self) -> str:
        """The parameters of the user's call, as Python writes them."""
        return self.signature or ", ".join(self.params)


OPS: dict[str, OpDef] = {}


def declare(name: str, **fields: Any) -> OpDef:
    assert name not in OPS, name
    OPS[name] = OpDef(name, **fields)
    return OPS[name]
