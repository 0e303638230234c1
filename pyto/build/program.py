"""What the code generator hands to the build, and the manifest that goes with every built program.

The manifest is a JSON object:

    name          str                the entry point is `pyto_<name>`
    version       str                of pyto
    chip          str                "ascend910b2", ...
    params        list               in signature order:
        name      str
        kind      "tensor" | "scalar"
        dtype     str                one of DTYPES
        shape     list               tensors only: of int (fixed), "B" (a dim's name) or an expression such as "B * 2"
        direction "in" | "out" | "inout"; tensors only
    dims          list of str        the order of the C ABI's `dims`; each must be a whole shape entry of some tensor
    workspace     str                bytes of workspace, an expression over dims: integers, + - * / // % ( ), min(..),
                                     max(..), ceil_div(a, b), align(a, b); `/` means `//`
    kernels       list               {"name": str, "type": "KERNEL_TYPE_..."}
    lines         dict               of a device source's name: [its line, "FILE:LINE: text" of the user's program]
                                     from that line on; sorted
    source_hash   str                sha256 of the generated sources

C ABI of the program (0 is success; otherwise `const char* pyto_last_error()` says what went wrong):

    int pyto_<name>(void* const* tensors, const int64_t* dims, const void* scalars, void* workspace, void* stream)

`tensors` are the tensor params in signature order, contiguous; every dim is 1 or more. `scalars` has one 8-byte slot a
scalar param, in signature order; the value sits at the start of its slot in its own dtype (a bool is one byte), 16-bit
floats rounded and as float32.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

from pyto.errors import InternalError

#: dtype name -> bytes an element.
DTYPES: dict[str, int] = {
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "bool": 1,
}

Manifest = dict[str, Any]

#: Endings of files that hold device code, and of files that are only included.
KERNEL_SUFFIXES = (".cpp", ".cce", ".asc")
HEADER_SUFFIXES = (".h", ".hpp", ".hh", ".inc")
HOST_SUFFIX = "_host.cpp"


@dataclass(frozen=True)
class Generated:
    """A program in source form.

    `sources` maps a file name (no folder) to its text: `NAME_host.cpp` is the launcher, other `.cpp` files hold device
    code, `.h` files are included by them. `kernels` lists {"name", "type"}; the build scans the sources itself and does
    not need it.
    """

    name: str
    sources: dict[str, str]
    kernels: list[dict[str, str]] = field(default_factory=list)
    manifest: Manifest = field(default_factory=dict)

    def source_hash(self) -> str:
        return hash_sources(self.sources)


def hash_sources(sources: dict[str, str]) -> str:
    """sha256 over names and texts, in sorted order."""
    digest = hashlib.sha256()
    for name in sorted(sources):
        text = sources[name].encode()
        digest.update(f"{name}\0{len(text)}\0".encode())
        digest.update(text)
    return digest.hexdigest()


_QUOTE = re.compile(r"\s*// ([^\s:]+:\d+: .*)")


def quoted_lines(source: str) -> list[list[Any]]:
    """[line, "FILE:LINE: text"] of every comment of a generated source that quotes the line it stands for.

    The end of a function ends what a quotation speaks of: [line, ""].
    """
    found: list[list[Any]] = []
    for number, line in enumerate(source.splitlines(), 1):
        match = _QUOTE.match(line)
        if match:
            found.append([number, match[1]])
        elif line == "}" and found and found[-1][1]:
            found.append([number, ""])
    return found


def quoted_at(manifest: Manifest, file: str, line: int) -> str:
    """The user's line that line `line` of a generated source stands for, or ""."""
    table = manifest.get("lines", {}).get(file, [])
    at = bisect.bisect_right([start for start, _ in table], line)
    return str(table[at - 1][1]) if at else ""


def dump_manifest(manifest: Manifest) -> str:
    """The text of NAME.json: stable from run to run."""
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def check_manifest(manifest: Manifest) -> None:
    """Raise InternalError if `manifest` does not have the form above."""

    def fail(text: str) -> None:
        raise InternalError(f"manifest of {manifest.get('name', '?')}: {text}", id="manifest")

    for key, kind in (("name", str), ("params", list), ("dims", list)):
        if not isinstance(manifest.get(key), kind):
            fail(f"{key!r} is missing or not a {kind.__name__}")
    names: set[str] = set()
    bound: set[str] = set()
    for param in manifest["params"]:
        name = param.get("name")
        if not isinstance(name, str) or name in names:
            fail(f"parameter name {name!r} is missing or repeated")
        names.add(name)
        if param.get("dtype") not in DTYPES:
            fail(f"parameter {name!r} has dtype {param.get('dtype')!r}")
        if param.get("kind") == "tensor":
            if param.get("direction") not in ("in", "out", "inout"):
                fail(f"parameter {name!r} has direction {param.get('direction')!r}")
            if not isinstance(param.get("shape"), list):
                fail(f"parameter {name!r} has no shape")
            bound.update(entry for entry in param["shape"] if isinstance(entry, str))
        elif param.get("kind") != "scalar":
            fail(f"parameter {name!r} has kind {param.get('kind')!r}")
    for dim in manifest["dims"]:
        if dim not in bound:
            fail(f"dim {dim!r} is no shape entry of any tensor: nothing gives it a value")
