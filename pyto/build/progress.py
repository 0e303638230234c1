"""Who wants to know what the build is doing: `with listen(print): ...`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listeners: list[Callable[[str], None]] = []
_lock = threading.Lock()


@contextmanager
def listen(callback: Callable[[str], None]) -> Iterator[None]:
    """Call `callback(text)` at each step of the build, from whichever thread does it."""
    with _lock:
        _listeners.append(callback)
    try:
        yield
    finally:
        with _lock:
            _listeners.remove(callback)


def report(text: str) -> None:
    for callback in tuple(_listeners):
        callback(text)
