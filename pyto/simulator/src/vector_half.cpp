#include "vector_half.h"

#include <cmath>

#if PYTO_VEC_X86
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // g++ 12 inside its own AVX-512 header
#endif
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace pyto_sim {
namespace vec {

void Portable::half_to_float(float* dst, const uint16_t* src, size_t n)
{
    PYTO_LOOP
    for (size_t i = 0; i < n; ++i) {
        dst[i] = vec::half_to_float(src[i]);
    }
}

void Portable::float_to_half(uint16_t* dst, const float* src, size_t n)
{
    PYTO_LOOP
    for (size_t i = 0; i < n; ++i) {
        dst[i] = vec::float_to_half(src[i]);
    }
}

void Portable::root(float* dst, const float* src, size_t n)
{
    size_t i = 0;
#if PYTO_VEC_X86
    for (; i + 4 <= n; i += 4) {
        _mm_storeu_ps(dst + i, _mm_sqrt_ps(_mm_loadu_ps(src + i)));
    }
#elif defined(__ARM_NEON) && defined(__aarch64__)
    for (; i + 4 <= n; i += 4) {
        vst1q_f32(dst + i, vsqrtq_f32(vld1q_f32(src + i)));
    }
#endif
    for (; i < n; ++i) {
        dst[i] = std::sqrt(src[i]);
    }
}

void Portable::spread(uint8_t* dst, const uint8_t* src, int64_t stride, int64_t rows)
{
    for (int64_t r = 0; r < rows; ++r) {
        for (int i = 0; i < 8; ++i) {
            std::memcpy(dst + r * 256 + i * 32, src + r * stride, 32);
        }
    }
}

#if PYTO_VEC_X86
PYTO_TARGET_AVX2 void Avx2::spread(uint8_t* dst, const uint8_t* src, int64_t stride, int64_t rows)
{
    for (int64_t r = 0; r < rows; ++r) {
        const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + r * stride));
        __m256i* to = reinterpret_cast<__m256i*>(dst + r * 256);
        for (int i = 0; i < 8; ++i) {
            _mm256_storeu_si256(to + i, block);
        }
    }
}

PYTO_TARGET_AVX512 void Avx512::spread(uint8_t* dst, const uint8_t* src, int64_t stride, int64_t rows)
{
    for (int64_t r = 0; r < rows; ++r) {
        const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + r * stride));
        const __m512i twice = _mm512_broadcast_i64x4(block);
        uint8_t* to = dst + r * 256;
        for (int i = 0; i < 4; ++i) {
            _mm512_storeu_si512(to + i * 64, twice);
        }
    }
}

PYTO_TARGET_AVX2 void Avx2::half_to_float(float* dst, const uint16_t* src, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i))));
    }
    for (; i < n; ++i) {
        dst[i] = vec::half_to_float(src[i]);
    }
}

PYTO_TARGET_AVX2 void Avx2::float_to_half(uint16_t* dst, const float* src, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + i), h);
    }
    for (; i < n; ++i) {
        dst[i] = vec::float_to_half(src[i]);
    }
}

PYTO_TARGET_AVX2 void Avx2::root(float* dst, const float* src, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(dst + i, _mm256_sqrt_ps(_mm256_loadu_ps(src + i)));
    }
    for (; i < n; ++i) {
        _mm_store_ss(dst + i, _mm_sqrt_ss(_mm_load_ss(src + i)));
    }
}

PYTO_TARGET_AVX512 void Avx512::half_to_float(float* dst, const uint16_t* src, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        _mm512_storeu_ps(dst + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + i))));
    }
    if (i < n) {
        const __mmask16 m = static_cast<__mmask16>((1u << (n - i)) - 1u);
        _mm512_mask_storeu_ps(dst + i, m, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(m, src + i)));
    }
}

PYTO_TARGET_AVX512 void Avx512::float_to_half(uint16_t* dst, const float* src, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m256i h = _mm512_cvtps_ph(_mm512_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst + i), h);
    }
    if (i < n) {
        const __mmask16 m = static_cast<__mmask16>((1u << (n - i)) - 1u);
        const __m512 v = _mm512_maskz_loadu_ps(m, src + i);
        _mm256_mask_storeu_epi16(dst + i, m, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
}

PYTO_TARGET_AVX512 void Avx512::root(float* dst, const float* src, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        _mm512_storeu_ps(dst + i, _mm512_sqrt_ps(_mm512_loadu_ps(src + i)));
    }
    if (i < n) {
        const __mmask16 m = static_cast<__mmask16>((1u << (n - i)) - 1u);
        _mm512_mask_storeu_ps(dst + i, m, _mm512_sqrt_ps(_mm512_maskz_loadu_ps(m, src + i)));
    }
}
#endif

}  // namespace vec
}  // namespace pyto_sim
