// Compiler-level names of the Ascend C dialect. Included by kernel_operator.h only: kernel sources are compiled once
// with PYTO_SIM_AIC and once with PYTO_SIM_AIV, library sources with neither.
#pragma once

#if defined(PYTO_SIM_AIC) == defined(PYTO_SIM_AIV)
#error \
    "kernel_operator.h of the pyto simulator: compile with exactly one of -DPYTO_SIM_AIC (cube core) and -DPYTO_SIM_AIV (vector core)"
#endif

#define __NPU_ARCH__ 2201
#define __CCE_AICORE__ 220
#if defined(PYTO_SIM_AIC)
#define __DAV_C220_CUBE__ 1
#define __DAV_C220__ 1
#define __DAV_CUBE__ 1
#define SPLIT_CORE_CUBE 1
#else
#define __DAV_C220_VEC__ 1
#define __DAV_C220__ 1
#define __DAV_VEC__ 1
#define SPLIT_CORE_VEC 1
#endif

#define __aicore__
#define __global__
#define __host__
#define __host_aicore__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __ssbuf__
#define __vector__
#define __cube__
#define __mix__(...)
#define __sync_alias__
#define __sync_noalias__
#define __inout_pipe__(...)
#define __in_pipe__(...)
#define __out_pipe__(...)
#define __simd_vf__

#define GM_ADDR __gm__ uint8_t*
#define UB_ADDR __ubuf__ uint8_t*

#define KERNEL_TASK_TYPE_DEFAULT(value) static_assert((value) < KERNEL_TYPE_MAX, "kernel type")
#define KERNEL_TASK_TYPE(key, value) static_assert((value) < KERNEL_TYPE_MAX, "kernel type")
#define ENABLE_DETERMINISTIC()
#define REGISTER_TILING_DEFAULT(tiling_struct)

#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#endif
#ifndef unlikely
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif

#define ASCEND_IS_AIC constexpr(g_coreType == AscendC::AIC)
#define ASCEND_IS_AIV constexpr(g_coreType == AscendC::AIV)
#define ASCEND_IS_NOT_AIC constexpr(g_coreType != AscendC::AIC)
#define ASCEND_IS_NOT_AIV constexpr(g_coreType != AscendC::AIV)

// A kernel file is compiled for both core kinds into one shared object. The API lives in an inline namespace per kind
// so that the two copies of one function never merge at link time.
#if defined(PYTO_SIM_AIC)
#define PYTO_SIM_CORE_NS pyto_cube_core
#else
#define PYTO_SIM_CORE_NS pyto_vector_core
#endif
#define PYTO_ASCENDC_BEGIN \
    namespace AscendC {    \
    inline namespace PYTO_SIM_CORE_NS {
#define PYTO_ASCENDC_END \
    }                    \
    }
