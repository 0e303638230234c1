"""Every case of the table of faults is claimed by a test that says so."""

import re
from pathlib import Path

#: The ids of `cases.md`.
CASES = set(
    re.findall(
        r"R\d\d",
        "R01 R02 R05 R07 R08 R09 R13 R15 R16 R17 R19 R20 R24 R25 R26 R29 R30 R32 R34 R35 R37 R39 R41 R43 R45 R46 R47 "
        "R48 R50 R51 R52 R53 R55 R56 R58 R61 R62 R64 R65 R68 R70",
    )
)


def test_every_case_is_claimed() -> None:
    """A claim is the id in a comment, a docstring or a parameter beside the test that proves it."""
    claimed: dict[str, list[str]] = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.name != Path(__file__).name:
            for id in re.findall(r"\bR\d\d\b", path.read_text(encoding="utf-8")):
                claimed.setdefault(id, []).append(path.name)
    missing = sorted(CASES - claimed.keys())
    assert not missing, missing
    assert not claimed.keys() - CASES, "no such case"
