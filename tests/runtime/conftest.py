"""A program whose launcher writes down what it was called with: no kernel, no simulator to speak of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyto.build import Cache, build_sources, load_simulator
from pyto.runtime import Program, load

#: y[i] = x[i] + a * w[i % 4] row by row; info = {B, N, i8, workspace address, its alignment, stream}.
HOST = """\
#include "pyto_launch.h"
#include <cstring>
extern "C" int pyto_echo(void* const* t, const int64_t* dims, const void* scalars, void* workspace, void* stream)
{
    const int64_t B = dims[0], N = dims[1];
    const char* s = static_cast<const char*>(scalars);
    float a;
    int32_t mode;
    std::memcpy(&a, s, 4);
    std::memcpy(&mode, s + 8, 4);
    if (mode < 0) { mini_error("mode is negative"); return 7; }
    const float* x = static_cast<const float*>(t[0]);
    const float* w = static_cast<const float*>(t[1]);
    float* y = static_cast<float*>(t[2]);
    int64_t* info = static_cast<int64_t*>(t[3]);
    std::memset(workspace, 0xab, B * N * 4);
    for (int64_t i = 0; i < B * N; i++) { y[i] = x[i] + a * w[i % 4]; }
    info[0] = B; info[1] = N; info[2] = mode; info[3] = reinterpret_cast<int64_t>(workspace);
    info[4] = reinterpret_cast<int64_t>(stream);
    return 0;
}
"""


def tensor(name: str, dtype: str, shape: list[int | str], direction: str) -> dict[str, Any]:
    return {"name": name, "kind": "tensor", "dtype": dtype, "shape": shape, "direction": direction}


MANIFEST: dict[str, Any] = {
    "name": "echo",
    "params": [
        tensor("x", "float32", ["B", "N"], "in"),
        tensor("w", "float32", [4], "in"),
        {"name": "a", "kind": "scalar", "dtype": "float32"},
        {"name": "mode", "kind": "scalar", "dtype": "int32"},
        tensor("y", "float32", ["B", "N"], "out"),
        tensor("info", "int64", [5], "out"),
    ],
    "dims": ["B", "N"],
    "workspace": "align(B * N * 4, 64)",
}


@pytest.fixture(scope="session")
def library(mini_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """`library(name, host source)` builds a program with no kernel."""
    cache = Cache(tmp_path_factory.mktemp("cache"))

    def build(name: str, host: str) -> Path:
        return build_sources(name, {f"{name}_host.cpp": host}, simulator=load_simulator(mini_root), cache=cache)

    return build


@pytest.fixture(scope="session")
def echo(library: Callable[[str, str], Path]) -> Program:
    return load(library("echo", HOST), MANIFEST)
