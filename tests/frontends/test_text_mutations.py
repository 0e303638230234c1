"""Texts with random changes are read, or refused with a place in them; the passes take what is read or refuse it."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from pyto import compiler
from pyto.errors import CompileError, InternalError
from pyto.frontends.text import parse
from pyto.ir.printer import print_program

KERNELS = compiler.find_kernels(Path(__file__).parents[1] / "codegen" / "kernels.py")
TOKEN = re.compile(r'"[^"\n]*"|%?\w+|\s+|[^\w\s]')
WORDS = [
    "0", "-1", "3", "16", "2.5", "inf", "true", "none", "%x", "%i", "%M", "for", "with", "tile", "valid", "ub", "fp16",
    "int32", "(", ")", "[", "]", "{", "}", ":", ",", "=", "..", "@a.py:1:2-3", "#", "%", "//", "and", "expr", "\n",
    "é", "99999999999999999999", "\x00", '"', "bool", "pitch",
]  # fmt: skip


def sources() -> list[str]:
    """A text at each stage of some kernels."""
    texts = []
    for name in ("softmax", "matmul_peeled", "nested", "gather_rows", "chain"):
        stages = {s.program.stage: s.program for s in compiler.lower(KERNELS[name]).stages}
        texts += [print_program(p, locations=i % 2 == 0) for i, p in enumerate(stages.values())]
    return texts


def mutate(text: str, rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.2:  # lines
        lines = text.split("\n")
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        if rng.random() < 0.5:
            lines[i], lines[j] = lines[j], lines[i]
        elif rng.random() < 0.5:
            del lines[i]
        else:
            lines.insert(i, lines[j])
        return "\n".join(lines)
    if kind < 0.25:
        return text[: rng.randrange(len(text))]
    tokens = TOKEN.findall(text)
    i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    if kind < 0.35:
        del tokens[i]
    elif kind < 0.6:  # another token of its kind
        tokens[i] = rng.choice([t for t in tokens if t[0] == tokens[i][0]])
    elif kind < 0.8:
        tokens[i] = rng.choice(WORDS)
    else:
        tokens[i], tokens[j] = tokens[j], tokens[i]
    return "".join(tokens)


def check(text: str, seed: int) -> str:
    rng = random.Random(seed)
    for _ in range(rng.choice((1, 1, 2, 3))):
        text = mutate(text, rng)
    try:
        program = parse(text, f"<mutation {seed}>")
    except InternalError as error:
        pytest.fail(f"seed {seed}: {error}\n{text}", pytrace=False)
    except CompileError as error:
        assert error.loc is not None and error.remedy, f"seed {seed}: {error}"
        return error.id
    assert parse(print_program(program)) == program, f"seed {seed}"
    try:
        compiler.lower(program)
    except InternalError as error:
        pytest.fail(f"seed {seed}: {error}\n{text}", pytrace=False)
    except CompileError as error:
        return error.id
    return "compiles"


def test_mutations() -> None:
    texts = sources()
    seen = {check(texts[seed % len(texts)], seed) for seed in range(400)}
    assert "compiles" in seen and len(seen) > 6, seen
