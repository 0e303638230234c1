"""A simulator of three macros and one function, so that tests of the build compile in a blink."""

from __future__ import annotations

from pathlib import Path

HEADER = """\
#pragma once
#include <cstdint>
#include <cstring>
#define __aicore__
#define __global__
#define __gm__
#define __vector__
#define __cube__
#define __mix__(...)
#define GM_ADDR __gm__ uint8_t*
#define KERNEL_TASK_TYPE_DEFAULT(type) (void)0
#if defined(PYTO_SIM_AIC)
#define ASCEND_IS_AIC constexpr(true)
#define ASCEND_IS_AIV constexpr(false)
#else
#define ASCEND_IS_AIC constexpr(false)
#define ASCEND_IS_AIV constexpr(true)
#endif
namespace AscendC {
int64_t GetBlockIdx();
int64_t GetBlockNum();
}
"""

LAUNCH = """\
#pragma once
#include <cstdint>
#define GM_ADDR uint8_t*
enum { KERNEL_TYPE_AIV_ONLY, KERNEL_TYPE_AIC_ONLY, KERNEL_TYPE_MIX_AIV_1_0, KERNEL_TYPE_MIX_AIC_1_0,
       KERNEL_TYPE_MIX_AIC_1_1, KERNEL_TYPE_MIX_AIC_1_2 };
extern "C" const char* pyto_last_error();
struct MiniKernel { const char* name; void (*aic)(); void (*aiv)(); int type; };
void mini_error(const char* text);
void mini_block(int64_t block, int64_t blocks);
#define PYTO_IN(p, bytes) (uint8_t*)(p)
#define PYTO_OUT(p, bytes) (uint8_t*)(p)
#define PYTO_INOUT(p, bytes) (uint8_t*)(p)
#define PYTO_VECTOR_CORES() int64_t(PYTO_CHIP_VECTOR_CORES)
#define PYTO_CUBE_CORES() int64_t(PYTO_CHIP_CUBE_CORES)
#define PYTO_MIN(a, b) (int64_t(a) < int64_t(b) ? int64_t(a) : int64_t(b))
#define PYTO_KERNEL(name, ...) extern MiniKernel name##__entry; typedef void (*name##__signature)(__VA_ARGS__)
#define PYTO_LAUNCH(name, blocks, stream, ...)                                         \\
    for (int64_t b_ = 0, n_ = (blocks); b_ < n_; b_++) {                               \\
        mini_block(b_, n_);                                                            \\
        if (name##__entry.aic) reinterpret_cast<name##__signature>(name##__entry.aic)(__VA_ARGS__); \\
        if (name##__entry.aiv) reinterpret_cast<name##__signature>(name##__entry.aiv)(__VA_ARGS__); \\
    }
#define MINI_DECLARE(symbol) extern "C" void symbol() __attribute__((weak));
#define PYTO_DEFINE_KERNEL(name, type) \\
    MINI_DECLARE(name##__aic) MINI_DECLARE(name##__aiv) \\
    MiniKernel name##__entry = {#name, name##__aic, name##__aiv, type}
"""

SOURCE = """\
#include "pyto_launch.h"
static thread_local int64_t current, count;
static thread_local const char* message = "none";
namespace AscendC { int64_t GetBlockIdx() { return current; } int64_t GetBlockNum() { return count; } }
void mini_block(int64_t block, int64_t blocks) { current = block; count = blocks; }
void mini_error(const char* text) { message = text; }
extern "C" const char* pyto_last_error() { return message; }
"""


def write(root: Path) -> Path:
    """Lay the mini simulator out in `root`; returns it."""
    (root / "include").mkdir(parents=True)
    (root / "src").mkdir()
    (root / "include" / "kernel_operator.h").write_text(HEADER)
    (root / "include" / "pyto_launch.h").write_text(LAUNCH)
    (root / "src" / "mini.cpp").write_text(SOURCE)
    return root
