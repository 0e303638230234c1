// Instruction-set variants of the vector kernels. A kernel is a type with `template <class Isa> static void run(...)`
// made of plain loops; the wrappers below compile it once for each instruction set, and `pick` chooses at run time.
// Plain loops of the same operations give the same bits on every instruction set (build with -ffp-contract=off).
#ifndef PYTO_SIM_VECTOR_ISA_H
#define PYTO_SIM_VECTOR_ISA_H

// g++ does not turn a conditional float operation into a select when the operation might trap.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "pyto_sim/isa.h"

#define PYTO_INLINE inline __attribute__((always_inline))

// Iterations are independent up to exact overlap of source and destination, which the API allows.
#if defined(__clang__)
#define PYTO_LOOP _Pragma("clang loop vectorize(assume_safety)")
#define PYTO_SHORT_LOOP _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#else
#define PYTO_LOOP _Pragma("GCC ivdep")
#define PYTO_SHORT_LOOP _Pragma("GCC ivdep") _Pragma("GCC unroll 1")  // unrolled whole, it would stay scalar
#endif

#if defined(__x86_64__) || defined(__amd64__)
#define PYTO_VEC_X86 1
#define PYTO_TARGET_AVX2 __attribute__((target("avx2,f16c")))
#if defined(__clang__)
#define PYTO_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,f16c"), min_vector_width(512)))
#else
#define PYTO_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,f16c,prefer-vector-width=512")))
#endif
#else
#define PYTO_VEC_X86 0
#endif

namespace pyto_sim {
namespace vec {

template <class To, class From>
PYTO_INLINE To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "same size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

// The few things that plain loops do not vectorise well: conversions and square roots of whole spans, and `spread`, which
// writes blocks of 32 bytes, `stride` apart, eight times each into rows of 256 bytes.
struct Portable {
    static void half_to_float(float* dst, const uint16_t* src, size_t n);
    static void float_to_half(uint16_t* dst, const float* src, size_t n);
    static void root(float* dst, const float* src, size_t n);
    static void spread(uint8_t* dst, const uint8_t* src, int64_t stride, int64_t rows);
};
#if PYTO_VEC_X86
struct Avx2 {
    static void half_to_float(float* dst, const uint16_t* src, size_t n);
    static void float_to_half(uint16_t* dst, const float* src, size_t n);
    static void root(float* dst, const float* src, size_t n);
    static void spread(uint8_t* dst, const uint8_t* src, int64_t stride, int64_t rows);
};
struct Avx512 {
    static void half_to_float(float* dst, const uint16_t* src, size_t n);
    static void float_to_half(uint16_t* dst, const float* src, size_t n);
    static void root(float* dst, const float* src, size_t n);
    static void spread(uint8_t* dst, const uint8_t* src, int64_t stride, int64_t rows);
};
#endif

template <class Kernel, class... Args>
void run_portable(Args... args)
{
    Kernel::template run<Portable>(args...);
}
#if PYTO_VEC_X86
template <class Kernel, class... Args>
PYTO_TARGET_AVX2 void run_avx2(Args... args)
{
    Kernel::template run<Avx2>(args...);
}
template <class Kernel, class... Args>
PYTO_TARGET_AVX512 void run_avx512(Args... args)
{
    Kernel::template run<Avx512>(args...);
}
#endif

template <class Kernel, class... Args>
using KernelFn = void (*)(Args...);

template <class Kernel, class... Args>
PYTO_INLINE KernelFn<Kernel, Args...> pick()
{
#if PYTO_VEC_X86
    const Isa best = isa();
    if (best >= Isa::Avx512) {
        return run_avx512<Kernel, Args...>;
    }
    if (best >= Isa::Avx2) {
        return run_avx2<Kernel, Args...>;
    }
#endif
    return run_portable<Kernel, Args...>;
}

}  // namespace vec
}  // namespace pyto_sim

#endif
