"""torch tensors as arguments (skipped without torch), and what bfloat16 is on both sides."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from pyto.errors import LaunchError
from pyto.runtime import Program, load

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

NEGATE = """\
#include "pyto_launch.h"
extern "C" int pyto_negate(void* const* t, const int64_t* dims, const void* scalars, void*, void*)
{
    const uint16_t* x = static_cast<const uint16_t*>(t[0]);
    uint16_t* y = static_cast<uint16_t*>(t[1]);
    uint16_t s = uint16_t(*reinterpret_cast<const uint32_t*>(scalars) >> 16);
    for (int64_t i = 0; i < dims[0]; i++) { y[i] = x[i] ^ 0x8000 ^ s; }
    return 0;
}
"""


@pytest.fixture(scope="module")
def negate(library: Callable[[str, str], Path]) -> Program:
    """y = -x for bfloat16, by flipping the sign bit; the scalar's bits are xored in (0.0 changes nothing)."""
    params = [
        {"name": "x", "kind": "tensor", "dtype": "bfloat16", "shape": ["N"], "direction": "in"},
        {"name": "s", "kind": "scalar", "dtype": "bfloat16"},
        {"name": "y", "kind": "tensor", "dtype": "bfloat16", "shape": ["N"], "direction": "out"},
    ]
    return load(library("negate", NEGATE), {"name": "negate", "params": params, "dims": ["N"], "workspace": "0"})


def test_torch_in_torch_out(echo: Program) -> None:
    x, w = torch.arange(24, dtype=torch.float32).reshape(3, 8), torch.tensor([1.0, 2, 3, 4])
    y, info = echo(x, w, 0.5, 7)
    assert isinstance(y, torch.Tensor) and y.dtype == torch.float32 and info.dtype == torch.int64
    assert torch.equal(y, x + 0.5 * w.repeat(3, 2))
    given = torch.zeros(3, 8)
    assert echo(x, w, 0.5, 7, given)[0] is given and torch.equal(given, y)


def test_torch_and_numpy_mix(echo: Program) -> None:
    x = torch.ones(3, 8)
    y, _ = echo(x, np.ones(4, np.float32), 1.0, 1)
    assert isinstance(y, torch.Tensor) and torch.equal(y, torch.full((3, 8), 2.0))


def test_parameter_is_a_tensor(echo: Program) -> None:
    w = torch.nn.Parameter(torch.ones(4), requires_grad=False)
    assert torch.equal(echo(torch.ones(3, 8), w, 1.0, 1)[0], torch.full((3, 8), 2.0))


def test_bfloat16_on_both_sides(negate: Program) -> None:
    x = torch.tensor([1.5, -2.0, 0.1], dtype=torch.bfloat16)
    y = negate(x, 0.0)
    assert y.dtype == torch.bfloat16 and torch.equal(y, -x)
    a = np.array([1.5, -2.0, 0.1], ml_dtypes.bfloat16)
    b = negate(a, 0)
    assert b.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(b, -a)
    flipped = negate(x, -0.0)
    assert torch.equal(flipped, x)


def test_errors(echo: Program) -> None:
    w = torch.ones(4)
    with pytest.raises(LaunchError, match=r"convert it: x\.to\(torch\.float32\)"):
        echo(torch.ones(3, 8, dtype=torch.bfloat16), w, 1.0, 1)
    with pytest.raises(LaunchError, match=r"x\.contiguous\(\)"):
        echo(torch.ones(8, 3).T, w, 1.0, 1)
    with pytest.raises(LaunchError, match="x is on meta"):
        echo(torch.ones(3, 8, device="meta"), w, 1.0, 1)
    x = torch.ones(3, 8)
    with pytest.raises(LaunchError, match="share memory"):
        echo(x, w, 1.0, 1, x)


def test_negated_views(echo: Program) -> None:
    """The memory of a negated view holds other numbers, also once its shape is known to be right."""
    w, x = torch.ones(4), torch.ones(3, 8)
    echo(x, w, 1.0, 1)
    with pytest.raises(LaunchError, match=r"x\.resolve_neg\(\)"):
        echo(torch._neg_view(x), w, 1.0, 1, torch.empty(3, 8), torch.empty(5, dtype=torch.int64))
    info = torch.empty(5, dtype=torch.int64)
    echo(x, w, 1.0, 1, torch.empty(3, 8), info)
    with pytest.raises(LaunchError, match=r"x\.resolve_neg\(\)"):
        echo(torch._neg_view(x), w, 1.0, 1, torch.empty(3, 8), info)


def test_tensors_without_memory(echo: Program) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    w = torch.ones(4)
    found = []

    def inside(x: object) -> object:
        with pytest.raises(LaunchError) as caught:
            echo(x, w, 1.0, 1)
        with pytest.raises(LaunchError):
            echo(x, w, 1.0, 1, torch.empty(3, 8), torch.empty(5, dtype=torch.int64))
        found.append(caught.value)
        return x

    torch.func.vmap(inside)(torch.ones(2, 3, 8))
    torch.func.grad(lambda x: inside(x).sum())(torch.ones(3, 8))
    inside(torch.ones(3, 8).to_mkldnn())
    inside(torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(3, 3)]))
    with FakeTensorMode():
        fake = torch.ones(3, 8)
    inside(fake)
    assert [e.id for e in found] == ["launch.no-memory"] * 5
    assert all("torch.func" in (e.remedy or "") for e in found)


def test_torch_is_not_imported_by_pyto() -> None:
    code = "import sys, pyto.runtime, pyto.build, pyto.cli.app; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
