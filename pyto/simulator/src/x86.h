// x86 intrinsics behind function attributes, so that every file compiles with the same flags on every machine.
#pragma once
#include "pyto_sim/isa.h"

#if defined(__x86_64__)
#define PYTO_SIM_X86 1
#include <immintrin.h>
#define PYTO_SIM_AVX2 __attribute__((target("avx2,fma,f16c")))
#define PYTO_SIM_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#if (defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11) || (defined(__clang__) && __clang_major__ >= 12)
#define PYTO_SIM_HAS_AMX 1
#define PYTO_SIM_TILES \
    __attribute__((target("amx-tile,amx-bf16,amx-int8,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#endif
#endif
#if !defined(PYTO_SIM_X86)
#define PYTO_SIM_X86 0
#endif
#if !defined(PYTO_SIM_HAS_AMX)
#define PYTO_SIM_HAS_AMX 0
#endif
