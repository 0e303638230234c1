"""The decisions that make a random program, as a list of numbers that can be replayed and made smaller."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Numbers drawn from a seed, or replayed; past the end of a replay every choice is the simplest, 0."""

    def __init__(self, seed: int = 0, replay: Sequence[int] | None = None) -> None:
        self.rng = random.Random(seed) if replay is None else None
        self.replay = replay or ()
        self.drawn: list[int] = []

    def below(self, n: int) -> int:
        """A number from 0 to n - 1; the smaller the simpler."""
        if self.rng is not None:
            value = self.rng.randrange(n)
        else:
            at = len(self.drawn)
            value = self.replay[at] % n if at < len(self.replay) else 0
        self.drawn.append(value)
        return value

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def pick(self, options: Sequence[T]) -> T:
        """One of them, the first being the simplest."""
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        return self.below(100) >= 100 - percent

    def weighted(self, options: Sequence[tuple[T, int]]) -> T:
        """One of (option, weight)."""
        at = self.below(sum(weight for _, weight in options))
        for option, weight in options:
            at -= weight
            if at < 0:
                return option
        raise AssertionError


__all__ = ["Choices"]
