"""Writes `docs/ops.md`, the reference of the operations on tiles: `python -m pyto.language.reference`."""

from __future__ import annotations

from pathlib import Path

from pyto.ir.nodes import BF16, BOOL, FP16, FP32, INT8, INT16, INT32, UINT8, UINT16, UINT32, DType
from pyto.ir.ops import CAST_PAIRS, CUBE_INPUTS, OPS, OpDef
from pyto.language.vocabulary import INTRINSICS

PATH = Path(__file__).resolve().parents[2] / "docs" / "ops.md"
COLUMNS = (FP32, FP16, BF16, INT32, INT16, INT8, UINT32, UINT16, UINT8, BOOL)
GROUPS = (
    ("Arithmetic", "add sub mul div maximum minimum neg abs fmod rem addc subc addsc subsc"),
    ("Functions", "exp log sqrt rsqrt recip relu lrelu prelu"),
    ("Comparisons and choices", "cmp sel"),
    ("Bits", "and_ or_ xor not_ shl shr"),
    ("Reductions", ""),
    ("Columns and rows spread over a tile", ""),
    ("Parts and fills", "part_add part_mul part_max part_min full expands expand_clone"),
)
_HEAD = """# Operations on tiles

Written by `python -m pyto.language.reference` from the op table (`pyto/ir/ops/`): do not edit.

Every name is there as `pl.NAME`, `pl.tile.NAME` and `pl.tensor.NAME`; other names are in the reference below. An
operand `lhs` or `rhs` of an elementwise operation may be a scalar. Scratch tiles of the original language (`tmp`,
`tmp_tile`) and `high_precision` are accepted and not needed. `+ - * / % & | ^ ~ << >>` and the comparisons are the
operations `add sub mul div rem and_ or_ xor not_ shl shr cmp`.

Integers: `add`, `sub`, `mul`, `neg`, `shl`, sums and products wrap as in numpy; casts saturate. 16-bit floats are
computed as if in fp32 and rounded once. A NaN goes through `maximum` and `minimum`; `!=` holds for it, no other
comparison does; extremes of rows and columns are undefined where there is one.

## How each element type is done

- **chip**: one instruction. **bits**: the instruction of another type of the same width, on the same bits.
- **fp32**, **fp16**, **int16**: computed in that type, which holds every value, and rounded or cut back once.
- **made**: of several other operations, exactly.
- **-**: refused with an error that names the operation and the type; `pl.cast` first.
"""


def cell(op: OpDef, d: DType) -> str:
    way = op.ways.get(d)
    if way is None:
        return "-"
    if way.kind in ("through", "wrapping"):
        return str(way.dtype)
    if way.kind == "composed" or (op.compose is not None and not op.api and not op.scalar_api):
        return "made"
    return {"native": "chip", "bits": "bits"}[way.kind]


def _grouped() -> list[tuple[str, list[OpDef]]]:
    table = {op.name: op for op in OPS.values() if op.user and op.ways and op.name != "cast"}
    groups = [(title, [table.pop(n) for n in names.split() if n in table]) for title, names in GROUPS]
    for name, op in table.items():
        groups[4 if op.form == "reduce" else 5 if "expand" in name else 0][1].append(op)
    return groups


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _casts() -> list[str]:
    out = ["## Casts", "", f"`pl.cast({OPS['cast'].call})`: {OPS['cast'].doc}", ""]
    out.append("Every pair is there; **chip** is one instruction, the others go through a third type without a second "
               "rounding (int32 and uint32 to a 16-bit float: through fp32).")  # fmt: skip
    out += ["", _row(["from \\ to", *map(str, COLUMNS)]), _row(["---"] * (len(COLUMNS) + 1))]
    for a in COLUMNS:
        cells = ["" if a == b else "chip" if (a, b) in CAST_PAIRS else "made" for b in COLUMNS]
        out.append(_row([f"**{a}**", *cells]))
    return out


def generate() -> str:
    """The text of `docs/ops.md`."""
    out = [_HEAD.rstrip("\n"), ""]
    for title, ops in _grouped():
        out += [f"### {title}", "", _row(["", *map(str, COLUMNS)]), _row(["---"] * (len(COLUMNS) + 1))]
        out += [_row([f"`{op.name}`", *(cell(op, d) for d in COLUMNS)]) for op in ops]
        out.append("")
    out += [*_casts(), "", "## Reference", ""]
    for title, ops in _grouped():
        out += [f"### {title} ", "", *(_entry(op) for op in ops), ""]
    out += _others()
    return "\n".join(line.rstrip() for line in out).rstrip("\n") + "\n"


def _others() -> list[str]:
    """All other functions of `pl` that are not refused."""
    shown = {op.name for _, ops in _grouped() for op in ops} | {"cast"}
    rest = sorted(n for n, i in INTRINSICS.items() if n not in shown and not i.refused)
    cube = ", ".join(f"{a} to {b}" for a, b in CUBE_INPUTS.items())
    note = (
        f"Products multiply {cube}. Moving, sorting, gathering and the rest take what their tiles and tensors hold; "
        "an element type that one does not take is refused with `op-dtype`, which names those that it does."
    )
    lines = [f"- `{n}({INTRINSICS[n].signature})`: {INTRINSICS[n].__doc__}" for n in rest]
    return ["### Products, memory, order, loops and scalars", "", note, "", *lines]


def _entry(op: OpDef) -> str:
    other = f" (`{'`, `'.join(op.aliases)}`)" if op.aliases else ""
    return f"- `{op.name}({op.call})`{other}: {op.doc}"


if __name__ == "__main__":
    PATH.write_text(generate(), encoding="utf-8")
