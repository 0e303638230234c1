"""`pyto explain`."""

from __future__ import annotations

import difflib

import click

from pyto.catalogue import ENTRIES, explain
from pyto.cli import console
from pyto.errors import UsageError


@click.command("explain")
@click.argument("id", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(id: str | None, as_json: bool) -> int:
    """Say what an error means and what to do: the ID stands in brackets, `error[ID]`. Without an ID, list all.

    \b
    Examples:
      pyto explain dynamic-shape
      pyto explain
    """
    id = id.removeprefix("error[").removesuffix("]") if id else None
    if id is not None and id not in ENTRIES:
        close = difflib.get_close_matches(id, ENTRIES, n=1)
        remedy = f"did you mean {close[0]}?" if close else "`pyto explain` lists all ids"
        raise UsageError("usage.error", f"no error has the id {id!r}", remedy=remedy)
    chosen = list(ENTRIES) if id is None else [id]
    if as_json:
        console.emit_json({i: ENTRIES[i]._asdict() for i in chosen})
    elif id is not None:
        click.echo(explain(id))
    else:
        width = max(map(len, chosen))
        click.echo("\n".join(f"{i:{width}}  {ENTRIES[i].cause}" for i in chosen))
    return 0
