"""Writes `docs/errors.md` from the catalogue and the misuse programs: `python -m tests.misuse.page`."""

from __future__ import annotations

import re
from pathlib import Path

from pyto.catalogue import ENTRIES

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
PROGRAMS = Path(__file__).parent / "programs"
MARK = re.compile(r"^#( *)(\^+) ([a-z0-9-]+): (.*)$")
HEAD = """\
# Errors

Every error has an id, `error[ID]`, with a place in your source where there is one. `pyto explain ID` prints an entry of
this page. Exit codes of the command line: 1 for a kernel that is wrong, 2 for a command line that is, 3 for builds
(`build.`), 4 for calls (`launch.`), 70 for a fault of pyto.

Made from `pyto/catalogue.py` and `tests/misuse/programs`: `python -m tests.misuse.page`.
"""


def examples() -> dict[str, str]:
    """The shortest example of each id: the line, the carets, what is said."""
    found: dict[str, str] = {}
    for path in sorted(PROGRAMS.glob("*.py")):
        line = ""
        for text in path.read_text(encoding="utf-8").splitlines():
            mark = MARK.match(text)
            if mark is None:
                line = line if text.startswith("#") else text
                continue
            indent = len(line) - len(line.lstrip())
            carets = " " * (1 + len(mark[1]) - indent) + mark[2]
            shown = f"{line.strip()}\n{carets} {mark[4]}"
            if mark[3] not in found or len(shown) < len(found[mark[3]]):
                found[mark[3]] = shown
    return found


def page() -> str:
    shown = examples()
    parts = [HEAD]
    for id, entry in sorted(ENTRIES.items()):
        parts.append(f"## {id}\n{entry.cause}\n")
        if id in shown:
            parts.append(f"```python\n{shown[id]}\n```\n")
        parts.append(f"Remedy: {entry.remedy}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
