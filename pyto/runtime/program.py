"""A built program, loaded and callable."""

from __future__ import annotations

import ctypes
import json
import re
from pathlib import Path
from typing import Any

from pyto.build.program import Manifest, quoted_at
from pyto.errors import LaunchError, UsageError
from pyto.runtime import npu
from pyto.runtime.binding import Plan
from pyto.runtime.workspace import workspace

_PLACE = re.compile(r" at (?:.*/)?([\w.]+):(\d+)$")  # where the simulator says that it stopped


class Program:
    """A shared library built by `pyto.build`, with its manifest.

    `program(*tensors_and_scalars)` takes the arguments of the signature, numpy arrays or torch tensors (bfloat16 is
    `ml_dtypes.bfloat16` in numpy), contiguous and of the declared dtype and shape. Outputs at the end of the signature
    may be left out: they are allocated. Returns the outputs (one, or a tuple; the inouts if there is no output). Raises
    LaunchError.
    """

    def __init__(self, path: str | Path, manifest: Manifest) -> None:
        self.path = Path(path)
        self.manifest = manifest
        self.plan = Plan(manifest)
        self.name = self.plan.name
        self.toolchain: str = manifest.get("toolchain", "cxx")
        try:
            self._library = ctypes.CDLL(str(self.path.resolve()))
            self._entry = getattr(self._library, f"pyto_{self.name}")
        except OSError as error:
            raise LaunchError(
                "launch.load",
                f"{self.path} cannot be loaded: {error}",
                remedy="a library for the NPU needs CANN's set_env.sh; `pyto compile -o` builds for other machines",
            ) from error
        except AttributeError as error:
            raise LaunchError("launch.load", f"{self.path} has no function pyto_{self.name}") from error
        self._entry.argtypes = [ctypes.c_void_p] * 5
        self._entry.restype = ctypes.c_int
        self._last_error = getattr(self._library, "pyto_last_error", None)
        if self._last_error is not None:
            self._last_error.argtypes = []
            self._last_error.restype = ctypes.c_char_p
        self._tensors_type = ctypes.c_void_p * max(1, len(self.plan.tensors))
        self._dims_type = ctypes.c_int64 * max(1, len(self.plan.dims))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        plan = self.plan
        bound = plan.bind(plan.order(args, kwargs))
        if bound.empty:
            raise LaunchError(
                "launch.empty",
                f"{self.name}: dimension {plan.dims[bound.dims.index(0)]} is 0",
                remedy="skip the call: there is nothing to compute",
            )
        keep = None
        if bound.device == "cpu":
            scratch, stream = workspace(bound.workspace), None
        else:
            scratch, keep = npu.workspace(bound.workspace, bound.npu_tensor)
            stream = npu.current_stream(bound.npu_tensor)
        code = self._entry(
            self._tensors_type(*bound.addresses), self._dims_type(*bound.dims), bound.scalars or None, scratch, stream
        )
        if code != 0:
            raise self._failed(code)
        del keep
        return bound.results

    def _failed(self, code: int) -> LaunchError:
        text = self._last_error() if self._last_error is not None else None
        message = text.decode(errors="replace").strip() if text else ""
        found = _PLACE.search(message)
        quoted = quoted_at(self.manifest, found[1], int(found[2])) if found else ""
        return LaunchError(
            "launch.failed",
            f"{self.name} failed with code {code}" + (f": {message}" if message else ""),
            details=f"  {quoted}" if quoted else None,
        )

    def signature(self) -> str:
        """The signature as text, e.g. `rms_norm(x: [B, 5120] bfloat16, y: out [B, 5120] bfloat16)`."""
        return self.plan.signature()

    def __repr__(self) -> str:
        return f"<pyto program {self.signature()}>"


def load(path: str | Path, manifest: Manifest | str | Path | None = None) -> Program:
    """Load `path` (a .so) with its manifest: a dict, a path, or NAME.json beside NAME.so."""
    if manifest is None:
        manifest = Path(path).with_suffix(".json")
    if not isinstance(manifest, dict):
        try:
            manifest = json.loads(Path(manifest).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError("usage.manifest", f"manifest {manifest} cannot be read: {error}") from error
    assert isinstance(manifest, dict)
    return Program(path, manifest)


def toolchain_for(args: tuple[Any, ...]) -> str:
    """The toolchain a call needs: "bisheng" if an argument is on an NPU, else "cxx"."""
    for value in args:
        device = getattr(value, "device", None)
        if getattr(device, "type", None) == "npu":
            return "bisheng"
    return "cxx"
