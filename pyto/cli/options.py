"""Options that several commands have."""

from __future__ import annotations

import click

chip_option = click.option(
    "--chip",
    default="ascend910b2",
    show_default=True,
    metavar="CHIP",
    help="ascend910b2, ascend910b3, ascend910b4 or ascend910c (short: b2, b3, b4, 910c).",
)
toolchain_option = click.option(
    "--toolchain",
    type=click.Choice(["auto", "bisheng", "cxx"]),
    default="auto",
    show_default=True,
    help="bisheng: CANN, for the NPU. cxx: a C++ compiler, for this CPU. auto: bisheng if it is found, else cxx.",
)
memory_option = click.option(
    "--memory",
    type=click.Choice(["auto", "distinct", "reuse"]),
    default="auto",
    show_default=True,
    help="distinct: no two tiles share on-chip memory. reuse: tiles that are never alive together do. auto: they do if"
    " they must.",
)
