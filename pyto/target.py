"""The chips: the only place with their numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

KIB = 1024


@dataclass(frozen=True)
class Chip:
    """One device. Capacities in bytes a core; UB without its top 8 KiB, which Select and some other APIs overwrite."""

    name: str
    cube_cores: int
    vector_cores: int
    capacity: dict[str, int] = field(
        default_factory=lambda: {
            "ub": 192 * KIB - 8 * KIB,
            "l1": 512 * KIB,
            "l0a": 64 * KIB,
            "l0b": 64 * KIB,
            "l0c": 128 * KIB,
        }
    )
    alignment: dict[str, int] = field(default_factory=lambda: {"ub": 32, "l1": 32, "l0a": 512, "l0b": 512, "l0c": 1024})
    npu_arch: str = "dav-2201"


CHIPS = {
    chip.name: chip
    for chip in (
        Chip("ascend910b2", 24, 48),
        Chip("ascend910b3", 20, 40),
        Chip("ascend910b4", 20, 40),
        Chip("ascend910c", 24, 48),
    )
}
DEFAULT_CHIP = CHIPS["ascend910b2"]

BLOCK = 32  # bytes of a data block, the unit of UB and L1 addresses
REPEAT = 256  # bytes that one repeat of a vector instruction covers
MAX_REPEAT = 255  # repeats of one vector instruction; also the largest repeat stride, in blocks
MAX_BURSTS = 4095  # rows of one DataCopyPad
MAX_ND2NZ_PITCH = 65535  # elements: 16-bit strides in Nd2NzParams
FRACTAL = 16  # rows of a cube fractal; its columns are 32 bytes
FRACTAL_BYTES = 512
SQUARE = 32  # rows and columns of 8-bit elements that are transposed at once
MMAD_LIMIT = 4095  # m, n and k of one Mmad
BRCB_ROWS = 8  # values that one repeat of Brcb reads, and blocks that it writes
EVENT_IDS = 8  # per pair of pipes
CROSS_FLAGS = 11  # ids of flags between cores: 0 to 10, the others belong to SyncAll
CROSS_FLAG_LIMIT = 15  # sets of one flag that are not waited for yet
# A chain of Mmads on one accumulator needs PipeBarrier<PIPE_M> while it covers fewer fractals than this.
MMAD_BARRIER_FRACTALS = 10

# Rates for predictions. Sources: published figures of the 910B2 (docs/predictions); none was measured by this project.
CLOCK = 1.85e9  # cycles a second
HBM = 1.8e12  # bytes a second
LAUNCH = 5.3e-6  # seconds of the first task on a core
TRANSFER = {  # bytes a cycle of one core, and cycles that each transfer takes besides
    "load_ub": (100.9e9 / CLOCK, 30),
    "load_l1": (135e9 / CLOCK, 30),
    "store_ub": (188.5e9 / CLOCK, 30),
    "store_l0c": (118, 164),
    "load_a": (129.7, 10),
    "load_b": (85.4, 10),
}
MMAD_CYCLES = 21
VECTOR = {  # cycles a fp32 element (16-bit elements: half), and cycles of each instruction
    "add": (0.0156, 42),
    "mul": (0.0312, 43),
    "exp": (0.0314, 30),
    "sqrt": (0.0314, 31),
    "div": (0.0314, 31),
    "reduce": (0.1094, 44),
}

SPACE_NAMES = {"ub": "UB", "l1": "L1", "l0a": "L0A", "l0b": "L0B", "l0c": "L0C"}
