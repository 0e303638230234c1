"""Names that kernels pass as arguments."""

from __future__ import annotations

from enum import Enum


class Level(Enum):
    """Where a `pl.at` block runs. pyto compiles blocks of one core group; the other levels are refused."""

    AIV = "aiv"
    AIC = "aic"
    CORE_GROUP = "core_group"
    CHIP_DIE = "chip_die"
    CHIP = "chip"
    HOST = "host"


class Role(Enum):
    """Accepted by `pl.at` and `pl.function`: a hint."""

    Orchestrator = "orchestrator"
    SubWorker = "sub_worker"


class FunctionType(Enum):
    """What a `@pl.function` is: host code (Orchestration, Opaque), a region (InCore, AIC, AIV), or text of its caller.

    Group and Spmd are what a compiler makes: refused.
    """

    Opaque = "opaque"
    Orchestration = "orchestration"
    InCore = "incore"
    AIC = "aic"
    AIV = "aiv"
    Inline = "inline"
    Group = "group"
    Spmd = "spmd"


class AtomicType(Enum):
    """How a store combines with what memory holds; Max and Min are pyto's own."""

    None_ = None
    Add = "add"
    Max = "max"
    Min = "min"


class MemorySpace(Enum):
    """Accepted for `target_memory`: pyto places tiles itself."""

    DDR = "gm"
    Vec = "ub"
    Mat = "l1"
    Left = "l0a"
    Right = "l0b"
    Acc = "l0c"


class SplitMode(Enum):
    """Accepted by `pl.split`: how a mixed region is shared by the two vector cores."""

    NONE = "none"
    UP_DOWN = "up_down"
    LEFT_RIGHT = "left_right"


class PadValue(Enum):
    null = "null"
    zero = "zero"
    max = "max"
    min = "min"


class TensorLayout(Enum):
    """Tensors are row-major (ND); the other layouts are refused."""

    ND = "nd"
    DN = "dn"
    NZ = "nz"


class MaskPattern:
    """Columns that `pl.gather_mask` takes; the last digit is the first column."""

    P0101 = 1
    P1010 = 2
    P0001 = 3
    P0010 = 4
    P0100 = 5
    P1000 = 6
    P1111 = 7
