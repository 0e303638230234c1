"""The cores of one block of a mixed region: one runs until it waits for a flag that is not set yet, then another.

Core 0 is the cube core; its set of a flag reaches both vector cores, and it sees a flag that both of them have set.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyto.errors import InternalError
from pyto.ir.nodes import Loc
from pyto.target import CROSS_FLAG_LIMIT


class _Stopped(BaseException):
    """Unwinds a core when another one has failed."""


@dataclass(eq=False)
class Flags:
    """One core's view of the flags, and the thread that runs it."""

    cores: Cores
    number: int
    work: Callable[[], Any]
    ready: Counter[int] = field(default_factory=Counter)
    given: Counter[int] = field(default_factory=Counter)  # by a vector core whose neighbour has not set the flag yet
    awaits: tuple[int, Loc | None] | None = None
    turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    done: bool = False

    def set(self, flag: int, loc: Loc | None) -> None:
        cube, *vectors = self.cores.all
        if self is cube:
            for v in vectors:
                v.release(flag, loc)
        else:
            self.given[flag] += 1
            if all(v.given[flag] for v in vectors):
                for v in vectors:
                    v.given[flag] -= 1
                cube.release(flag, loc)
        if self.cores.order is not None and self.cores.order.random() < 0.5:
            self.rest()

    def release(self, flag: int, loc: Loc | None) -> None:
        self.ready[flag] += 1
        if self.ready[flag] > CROSS_FLAG_LIMIT:
            raise InternalError(f"flag {flag} is set more than {CROSS_FLAG_LIMIT} times ahead of its waits", loc)

    def wait(self, flag: int, loc: Loc | None) -> None:
        if not self.ready[flag]:
            self.awaits = flag, loc
            self.rest()
            self.awaits = None
        self.ready[flag] -= 1

    def rest(self) -> None:
        """Lets others run."""
        self.cores.back.release()
        self.turn.acquire()
        if self.cores.failure is not None:
            raise _Stopped

    def may_run(self) -> bool:
        return not self.done and (self.awaits is None or self.ready[self.awaits[0]] > 0)

    def run(self) -> None:
        self.turn.acquire()
        try:
            if self.cores.failure is None:
                with np.errstate(all="ignore"):
                    self.work()
        except _Stopped:
            pass
        except BaseException as error:  # it goes on in the thread that started this one
            self.cores.failure = error
        self.done = True
        self.cores.back.release()


class Cores:
    """order: who runs next is drawn from it; without it the first that can, so that the cube core runs far ahead."""

    def __init__(self, order: random.Random | None) -> None:
        self.order = order
        self.all: list[Flags] = []
        self.back = threading.Semaphore(0)
        self.failure: BaseException | None = None

    def join(self, work: Callable[[], Any]) -> Flags:
        flags = Flags(self, len(self.all), work)
        self.all.append(flags)
        return flags

    def run(self) -> None:
        threads = [threading.Thread(target=f.run, daemon=True) for f in self.all]
        for thread in threads:
            thread.start()
        while self.failure is None and not all(f.done for f in self.all):
            able = [f for f in self.all if f.may_run()]
            if not able:
                stuck = [f for f in self.all if not f.done]
                names = ", ".join(f"core {f.number} for flag {f.awaits[0]}" for f in stuck if f.awaits)
                self.failure = InternalError(f"cores wait for each other: {names}", stuck[0].awaits[1])  # type: ignore[index]
                break
            chosen = able[0] if self.order is None else self.order.choice(able)
            chosen.turn.release()
            self.back.acquire()
        for flags, thread in zip(self.all, threads):
            flags.turn.release()
            thread.join()
        if self.failure is not None:
            raise self.failure
        left = {n for f in self.all for n in (+f.ready + f.given)}
        if left:
            raise InternalError(f"flags {sorted(left)} are set more often than they are waited for")
