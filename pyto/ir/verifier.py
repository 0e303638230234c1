"""Checks a program against the rules of its stage."""

from __future__ import annotations

from pyto.ir.nodes import Program


def verify(program: Program) -> None:
    pass
