"""Structure: blocks, loops, launches; at the machine stage buffers and order."""

from __future__ import annotations

from pyto.ir.ops.table import LOWERED, STAGES, declare

declare("for", host=STAGES, doc="Carries values: its block's parameters are the index, then the carried.")
declare(
    "while",
    doc="Carries values: its block's parameters are the number of the iteration, then the carried, which are the "
    "results where its `break` leaves.",
)
declare("break", params=("condition",), doc="Leaves the `while` whose block it stands in, where the condition holds.")
declare("if", host=STAGES, doc="One of two blocks, whose `yield`s give the results.")
declare("yield", host=STAGES, doc="Ends a block and hands on its values.")
declare("let", host=STAGES, doc="Names a scalar.")
declare("region", stages=(), host=("tensor",), doc="The work of one core.")
declare(
    "print",
    attrs=("text",),
    pipe="S",
    api="printf",
    doc="Text with a place `{}` for each operand, scalar or tile, on the device's log.",
)
declare(
    "assert",
    params=("condition",),
    attrs=("text",),
    pipe="S",
    api="ascendc_assert",
    doc="Stops the kernel where the condition does not hold; `text` has a place `{}` for each further operand.",
)
declare("launch", stages=(), host=LOWERED, doc="Starts a device function on a grid of blocks.")

declare("alloc", stages=STAGES[2:], doc="Makes a buffer.")
declare("set_flag", params=("id",), attrs=("src", "dst"), stages=STAGES[2:], doc="An event between two pipes happens.")
declare("wait_flag", params=("id",), attrs=("src", "dst"), stages=STAGES[2:], doc="A pipe waits for an event.")
declare("barrier", attrs=("pipe",), stages=LOWERED, doc="A pipe finishes what it has begun.")

# Mixed regions: flags between the cube core of a block and its two vector cores.
declare(
    "cross_set",
    attrs=("flag", "pipe"),
    api="CrossCoreSetFlag",
    stages=LOWERED,
    doc="Sets a flag of the other kind of core when the earlier instructions of the pipe have ended.",
)
declare(
    "cross_wait",
    attrs=("flag",),
    api="CrossCoreWaitFlag",
    stages=LOWERED,
    doc="Holds all later instructions back until the other kind of core has set the flag.",
)
