"""A small program for the build tests."""

from __future__ import annotations

import pytest

KERNEL = """\
#include "kernel_operator.h"
#include <vector>
using namespace AscendC;

inline int kind() {
    if ASCEND_IS_AIC { return 1; }
    return 2;
}
struct Body {
    __aicore__ inline int tens() { return kind() * 10; }
};
__aicore__ void store(GM_ADDR y, int64_t i, float v) { reinterpret_cast<float*>(y)[i] += v; }

extern "C" __global__ __aicore__ void both(GM_ADDR x, GM_ADDR y, int64_t n)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    for (int64_t i = GetBlockIdx(); i < n; i += GetBlockNum()) {
        store(y, i, Body().tens() + kind() + reinterpret_cast<float*>(x)[i]);
    }
}

__global__ __vector__ void twice(__gm__ float* x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) { x[i] *= 2; }
}
"""

HOST = """\
#include "pyto_launch.h"
PYTO_KERNEL(both, GM_ADDR, GM_ADDR, int64_t);
PYTO_KERNEL(twice, float*, uint32_t);
extern "C" int pyto_mini(void* const* t, const int64_t* dims, const void* scalars, void* workspace, void* stream)
{
    const int64_t N = dims[0];
    PYTO_LAUNCH(both, PYTO_MIN(N, PYTO_VECTOR_CORES()), stream, PYTO_IN(t[0], N * 4), PYTO_INOUT(t[1], N * 4), N);
    PYTO_LAUNCH(twice, 1, stream, (float*)PYTO_INOUT(t[1], N * 4), (uint32_t)N);
    return 0;
}
"""


@pytest.fixture
def sources() -> dict[str, str]:
    """Adds (1*10 + 1 + x) as cube core and (2*10 + 2 + x) as vector core to y, then doubles y: 2 * (33 + 2x + y)."""
    return {"mini.cpp": KERNEL, "mini_host.cpp": HOST}
