"""The error ids that pyto's code can raise, read from its syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FAMILIES = {"CompileError", "UsageError", "BuildError", "LaunchError", "OpError", "InternalError"}
#: Methods that make an error of an id, and what they put before it.
MAKERS = {"error": "", "fail": "pto.", "_fail": "launch."}


def sources() -> Iterator[Path]:
    for folder in ("pyto", "frontends", "codegen", "models"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not any(p.is_symlink() for p in (path, *path.parents)):
                yield path


def _id_of(call: ast.Call) -> ast.expr | None:
    keyword = next((k.value for k in call.keywords if k.arg == "id"), None)
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    if name == "InternalError":
        return keyword or ast.Constant("internal")
    if name in FAMILIES or name in MAKERS:
        return keyword or (call.args[0] if call.args else None)
    return None


def raised() -> dict[str, str]:
    """Every id of the code, and a place that raises it."""
    found: dict[str, str] = {}
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            id = _id_of(node) if isinstance(node, ast.Call) else None
            if id is None:
                continue
            assert isinstance(node, ast.Call)
            prefix = MAKERS.get(getattr(node.func, "attr", ""), "")
            for value in (id.body, id.orelse) if isinstance(id, ast.IfExp) else (id,):
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    found.setdefault(prefix + value.value, f"{path.relative_to(ROOT)}:{node.lineno}")
    return found
