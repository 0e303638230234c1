"""Running Python code in a process of its own, with its answer as JSON on the last line of its output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def child(code: str, *arguments: str, **environment: str) -> Any:
    """What `code` prints last, read as JSON. Raises CalledProcessError if it fails."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.strip().splitlines()[-1])
