"""Running a compiler, and telling what it said when it fails."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TypeVar

from pyto.build.cache import Cache
from pyto.build.cpu import threads
from pyto.errors import BuildError, UsageError

T = TypeVar("T")
SHOWN_ERRORS = 6
SHOWN_COMMAND = 600  # characters; the log has all of it
_ERROR = re.compile(r"\berror\b|undefined reference|undefined symbol|multiple definition")


def jobs() -> int:
    """Compilers that run at once: PYTO_JOBS, or the cores of this process."""
    named = os.environ.get("PYTO_JOBS")
    if not named:
        return threads()
    if not (named.isascii() and named.isdigit() and int(named[:9]) >= 1):
        raise UsageError("usage.environment", f"PYTO_JOBS={named} is not a whole number of 1 or more")
    return min(int(named[:9]), 256)


def first_errors(output: str) -> list[str]:
    """The first lines of a compiler's output that say `error`, or its last lines if none does."""
    lines = [line for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR.search(line)]
    return (errors[:SHOWN_ERRORS] if errors else lines[-SHOWN_ERRORS:]) or ["(no output)"]


def _shortened(command: str) -> str:
    return command if len(command) <= SHOWN_COMMAND else f"{command[:SHOWN_COMMAND]} ..."


def run(command: list[str], cwd: Path, what: str, cache: Cache, key: str, remedy: str) -> str:
    """Run `command` in `cwd`; its output. A failure is a BuildError: first errors, command, kept log.

    A command that ends well must have written the file after its `-o`.
    """
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise BuildError(
            "build.compiler-start",
            f"{command[0]} cannot be started: {error.strerror or error}",
            details=f"  command: {shlex.join(command)}",
            remedy="`pyto doctor` lists the compilers that work; CXX names the one to use",
        ) from error
    output = done.stdout + done.stderr
    product = cwd / command[command.index("-o") + 1] if "-o" in command else None
    if done.returncode != 0 or not (product is None or product.exists()):
        status = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
        if done.returncode == 0 and product is not None:
            status = f"it ended well and wrote no {product.name}"
        log = cache.log(key, f"$ {shlex.join(command)}\n{output}\n{status}\n")
        shown = [f"  {line[:400]}" for line in first_errors(output)]
        raise BuildError(
            "build.compiler-failed",
            f"{Path(command[0]).name} failed on {what} ({status})",
            details="\n".join([*shown, f"  command: {_shortened(shlex.join(command))}", f"  all of it: {log}"]),
            remedy=remedy,
        )
    return output


def parallel(tasks: list[Callable[[], T]]) -> list[T]:
    """Run all tasks, `jobs()` at once; the first error stops what has not begun and is raised."""
    if len(tasks) == 1:
        return [tasks[0]()]
    pool = ThreadPoolExecutor(max_workers=min(jobs(), len(tasks)) if tasks else 1)
    try:
        futures: list[Future[T]] = [pool.submit(task) for task in tasks]
        wait(futures, return_when=FIRST_EXCEPTION)
        for future in futures:
            if future.done() and not future.cancelled():
                error = future.exception()
                if error is not None:
                    raise error
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
