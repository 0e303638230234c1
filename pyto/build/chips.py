"""Chip names as a user may write them, on top of `pyto.target`."""

from __future__ import annotations

import difflib

from pyto import target
from pyto.errors import UsageError

DEFAULT_CHIP: str = target.DEFAULT_CHIP.name
CHIPS: tuple[str, ...] = tuple(target.CHIPS)


def chip_name(name: str) -> str:
    """The chip's full name: "b3", "910b3" and "Ascend910B3" are "ascend910b3". Raises UsageError if there is none."""
    wanted = name.strip().lower().replace("_", "").replace("-", "")
    for known in CHIPS:
        if wanted in (known, known.removeprefix("ascend"), known.removeprefix("ascend910")):
            return known
    close = difflib.get_close_matches(wanted, CHIPS, n=1)
    raise UsageError(
        "usage.chip",
        f"unknown chip {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""),
        remedy="use one of " + ", ".join(CHIPS),
    )


def chip_cores(name: str) -> tuple[int, int]:
    """(cube cores, vector cores) of a chip."""
    chip = target.CHIPS[chip_name(name)]
    return chip.cube_cores, chip.vector_cores
