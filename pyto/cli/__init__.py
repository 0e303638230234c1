"""The command line: `pyto compile | run | ir | doctor`."""

from __future__ import annotations


def main() -> None:
    """Entry point of the console script `pyto`."""
    from pyto.cli.app import run

    run()
