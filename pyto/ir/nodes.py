"""Every node of the IR: types, scalar expressions, operations, functions, programs.

Nodes are immutable and compare by structure; a source location never takes part in a comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Union

__all__ = [  # noqa: RUF022
    "Apply", "BF16", "BOOL", "Block", "Const", "DType", "DTYPES", "Expr", "FP16", "FP32", "Function", "INDEX", "INT8",
    "INT16", "INT32", "LOOPS", "Loc", "Op", "Param", "Program", "ScalarType", "Space", "TensorType", "TileType", "Type",
    "UINT8", "UINT16", "UINT32", "Var", "View", "const", "slot_bytes", "dtype", "first_values",
    "replace", "walk",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Loc:
    """A place in the user's source; lines count from 1, columns from 0, `end_col` is exclusive."""

    file: str
    line: int
    col: int
    end_col: int

    @property
    def name(self) -> str:
        """The file's name alone, the same on every machine."""
        return self.file.replace("\\", "/").rsplit("/", 1)[-1]


# --------------------------------------------------------------------------------------------------------------- types


@dataclass(frozen=True, slots=True)
class DType:
    """An element type. `kind` is f(loat), i(nteger), u(nsigned) or b(ool); `ctype` is its Ascend C name."""

    name: str
    bits: int
    kind: str
    numpy: str
    ctype: str

    @property
    def bytes(self) -> int:
        return self.bits // 8

    def __repr__(self) -> str:
        return self.name


FP32 = DType("fp32", 32, "f", "float32", "float")
FP16 = DType("fp16", 16, "f", "float16", "half")
BF16 = DType("bf16", 16, "f", "bfloat16", "bfloat16_t")
INT8 = DType("int8", 8, "i", "int8", "int8_t")
INT16 = DType("int16", 16, "i", "int16", "int16_t")
INT32 = DType("int32", 32, "i", "int32", "int32_t")
UINT8 = DType("uint8", 8, "u", "uint8", "uint8_t")
UINT16 = DType("uint16", 16, "u", "uint16", "uint16_t")
UINT32 = DType("uint32", 32, "u", "uint32", "uint32_t")
BOOL = DType("bool", 8, "b", "bool", "bool")
INDEX = DType("index", 64, "i", "int64", "int64_t")
DTYPES = {d.name: d for d in (FP32, FP16, BF16, INT8, INT16, INT32, UINT8, UINT16, UINT32, BOOL, INDEX)}


def dtype(name: str) -> DType:
    """The element type of that IR name ("fp32", "bf16", ...)."""
    return DTYPES[name]


class Space:
    """Memory spaces, by the names of the hardware."""

    GM, UB, L1, L0A, L0B, L0C = "gm", "ub", "l1", "l0a", "l0b", "l0c"


@dataclass(frozen=True, slots=True)
class ScalarType:
    dtype: DType


@dataclass(frozen=True, slots=True)
class TensorType:
    """A row-major tensor in GM; its extents are constants or expressions over dims."""

    shape: tuple[Expr, ...]
    dtype: DType


@dataclass(frozen=True, slots=True)
class TileType:
    """A 2-D tile on a core: static `shape`, run-time `valid` extents (rows, columns) and, once known, a memory `space`.

    Lanes outside `valid` are undefined. A tile of one column lies compactly, its rows side by side; every other tile
    starts each row on 32 bytes.
    """

    shape: tuple[int, int]
    dtype: DType
    valid: tuple[Expr, Expr]
    space: str | None = None

    @property
    def is_full(self) -> bool:
        return self.valid == (const(self.shape[0]), const(self.shape[1]))

    @property
    def pitch(self) -> int:
        """Elements from one row to the next in UB; in L1 and L0 the rows of the fractal layout, a multiple of 16."""
        if self.space not in (None, Space.UB):
            return -(-self.shape[0] // 16) * 16
        if self.shape[1] == 1:
            return 1
        per_block = 32 // self.dtype.bytes
        return -(-self.shape[1] // per_block) * per_block


def slot_bytes(t: TileType, alignment: int) -> int:
    """Bytes of one slot of a buffer in its memory, rounded up to where the next may start."""
    rows, cols = t.shape
    size = (rows * t.pitch if t.space == Space.UB and cols > 1 else rows * cols) * t.dtype.bytes
    return -(-size // alignment) * alignment


Type = Union[ScalarType, TensorType, TileType]  # noqa: UP007 - evaluated on Python 3.10

# --------------------------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Expr:
    """A scalar expression, or (as `Var` and `View`) a name for any value."""

    def __add__(self, other: Expr | int) -> Expr:
        return _fold("add", self, other)

    def __sub__(self, other: Expr | int) -> Expr:
        return _fold("sub", self, other)

    def __mul__(self, other: Expr | int) -> Expr:
        return _fold("mul", self, other)

    def __floordiv__(self, other: Expr | int) -> Expr:
        return _fold("floordiv", self, other)

    def __mod__(self, other: Expr | int) -> Expr:
        return _fold("mod", self, other)

    def __radd__(self, other: int) -> Expr:
        return _fold("add", const(other), self)

    def __rsub__(self, other: int) -> Expr:
        return _fold("sub", const(other), self)

    def __rmul__(self, other: int) -> Expr:
        return _fold("mul", const(other), self)


@dataclass(frozen=True, slots=True)
class Const(Expr):
    value: int | float | bool
    dtype: DType = INDEX


@dataclass(frozen=True, slots=True)
class Var(Expr):
    """An SSA value. Names are unique within a function."""

    name: str
    type: Type

    def __hash__(self) -> int:  # types are deep, and values of one name are rarely two
        return hash(self.name)

    @property
    def dtype(self) -> DType:
        return self.type.dtype


@dataclass(frozen=True, slots=True)
class Apply(Expr):
    """A scalar operation of `ir.scalar.SCALAR_OPS` on expressions. `free` are the variables that it reads."""

    op: str
    args: tuple[Expr, ...]
    dtype: DType = INDEX
    free: frozenset[Var] = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        free: set[Var] = set()
        for arg in self.args:
            if isinstance(arg, Apply):
                free |= arg.free
            elif isinstance(arg, Var):
                free.add(arg)
        object.__setattr__(self, "free", frozenset(free))
        object.__setattr__(self, "_hash", hash((self.op, self.args, self.dtype.name)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class View(Expr):
    """A window of a buffer, the operand form of the machine stage.

    `shape` elements at (`row`, `col`) of ping-pong slot `slot` of `buffer` (a `Var` made by `alloc`), of which `valid`
    hold values. `pitch` is the distance of rows in elements (in L1 and L0: the padded rows of the fractal layout).
    `element` is the type that the bytes are read as, where it is not the buffer's: row, col and pitch count of it.
    """

    buffer: Var
    shape: tuple[int, int]
    valid: tuple[Expr, Expr]
    slot: Expr
    row: Expr
    col: Expr
    pitch: int
    element: DType | None = None

    @property
    def dtype(self) -> DType:
        return self.element or self.buffer.dtype

    @property
    def space(self) -> str:
        assert isinstance(self.buffer.type, TileType) and self.buffer.type.space
        return self.buffer.type.space


def const(value: int | Expr) -> Expr:
    return value if isinstance(value, Expr) else Const(value)


def _fold(op: str, a: Expr | int, b: Expr | int) -> Expr:
    from pyto.ir.scalar import apply

    return apply(op, const(a), const(b))


# ---------------------------------------------------------------------------------------------------------- operations


@dataclass(frozen=True, slots=True)
class Block:
    params: tuple[Var, ...]
    ops: tuple[Op, ...]


@dataclass(frozen=True, slots=True)
class Op:
    """One operation; `ir.ops.OPS[name]` says what it means."""

    name: str
    args: tuple[Expr, ...] = ()
    results: tuple[Var, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    loc: Loc | None = field(default=None, compare=False)

    @property
    def result(self) -> Var:
        (only,) = self.results
        return only

    def with_(self, **changes: Any) -> Op:
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Param:
    """A function's parameter. `direction` is in, out or inout for tensors and in for scalars and dims."""

    var: Var
    direction: str = "in"
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Function:
    """`kind` is host, cube or vector, or mixed until `split_mixed`.

    `dims`: the dynamic dimensions that the signature's tensors bind (host only). The body of a device function takes
    the block and the number of blocks, the vector part of a mixed region (its `kernel` attribute names the region)
    also which of the two vector cores it is.
    """

    name: str
    kind: str
    params: tuple[Param, ...]
    dims: tuple[Var, ...]
    body: Block
    attrs: Mapping[str, Any] = field(default_factory=dict)
    loc: Loc | None = field(default=None, compare=False)

    def with_(self, **changes: Any) -> Function:
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Program:
    """Functions of one compilation; the first is the host function. `stage` is tensor, tile or machine."""

    name: str
    stage: str
    functions: tuple[Function, ...]

    @property
    def host(self) -> Function:
        return self.functions[0]

    @property
    def device(self) -> tuple[Function, ...]:
        return self.functions[1:]

    def parts(self, kernel: str) -> tuple[Function, ...]:
        """The device functions of a launched kernel: one, or the cube part and the vector part of a mixed region."""
        return tuple(f for f in self.device if kernel == f.attrs.get("kernel", f.name))

    def map_device(self, transform: Any) -> Program:
        return replace(self, functions=(self.host, *(transform(f) for f in self.device)))


LOOPS = frozenset({"for", "while"})


def first_values(loop: Op) -> tuple[Expr, ...]:
    """What the values that a `for` or `while` carries are before its first iteration."""
    return loop.args[3:] if loop.name == "for" else loop.args


def walk(block: Block) -> Iterator[Op]:
    """All operations of a block, outer before inner."""
    for op in block.ops:
        yield op
        for inner in op.blocks:
            yield from walk(inner)
