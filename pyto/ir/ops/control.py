"""Structure: blocks, loops, launches; at the machine stage buffers and order."""

from __future__ import annotations

from pyto.ir.ops.table import LOWERED, STAGES, declare

declare("for", host=("tensor",), doc="Carries values: its block's parameters are the index, then the carried.")
declare("yield", host=STAGES, doc="Ends a block and hands on its values.")
declare("let", host=STAGES, doc="Names a scalar.")
declare("region", stages=(), host=("tensor",), doc="The work of one core.")
declare("launch", stages=(), host=LOWERED, doc="Starts a device function on a grid of blocks.")

declare("alloc", stages=STAGES[2:], doc="Makes a buffer.")
declare("set_flag", params=("id",), attrs=("src", "dst"), stages=STAGES[2:], doc="An event between two pipes happens.")
declare("wait_flag", params=("id",), attrs=("src", "dst"), stages=STAGES[2:], doc="A pipe waits for an event.")
declare("barrier", attrs=("pipe",), stages=STAGES[2:], doc="A pipe finishes what it has begun.")
