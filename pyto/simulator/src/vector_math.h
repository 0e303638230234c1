// Scalar definitions of the operations, branch-free so that loops over them vectorise.
#ifndef PYTO_SIM_VECTOR_MATH_H
#define PYTO_SIM_VECTOR_MATH_H

#include "vector_isa.h"

namespace pyto_sim {
namespace vec {

// c ? a : b by bits: a chain of conditional expressions becomes branches, which keep a loop from vectorising.
PYTO_INLINE uint32_t choose(bool c, uint32_t a, uint32_t b)
{
    const uint32_t mask = 0u - static_cast<uint32_t>(c);
    return (a & mask) | (b & ~mask);
}
PYTO_INLINE int32_t choose(bool c, int32_t a, int32_t b)
{
    return static_cast<int32_t>(choose(c, static_cast<uint32_t>(a), static_cast<uint32_t>(b)));
}
PYTO_INLINE float choose(bool c, float a, float b)
{
    return bits_as<float>(choose(c, bits_as<uint32_t>(a), bits_as<uint32_t>(b)));
}

template <class T>
PYTO_INLINE T larger(T a, T b)
{
    return a > b ? a : b;
}
template <class T>
PYTO_INLINE T smaller(T a, T b)
{
    return a < b ? a : b;
}
// A NaN on either side gives NaN.
PYTO_INLINE float larger(float a, float b)
{
    const float r = a > b ? a : b;
    return a != a ? a : r;
}
PYTO_INLINE float smaller(float a, float b)
{
    const float r = a < b ? a : b;
    return a != a ? a : r;
}
template <class T>
PYTO_INLINE T rectified(T a)
{
    return a < T{} ? T{} : a;
}

// e^x: 2^n * p(r) with |r| <= ln2 / 2. Relative error below 8.2e-8 in the normal range (over all floats), gradual underflow.
// Polynomial: minimax on the reduced interval as published with the Cephes library's expf.
PYTO_INLINE float exponential(float x)
{
    // Beyond 89 the product below overflows by itself, below -104 it vanishes; NaN passes both.
    const float low = -104.0f > x ? -104.0f : x;
    const float t = 89.0f < low ? 89.0f : low;
    // Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
    const float shifted = t * 1.44269504088896341f + 12582912.0f;
    const int32_t n = bits_as<int32_t>(shifted) - 0x4b400000;
    const float whole = shifted - 12582912.0f;
    float r = t - whole * 0.693359375f;  // exact: 9 bits times 8 bits
    r = r + whole * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    // Two factors, so that n = 128 and denormal results come out right.
    const int32_t half = n >> 1;
    const float scale_a = bits_as<float>((half + 127) << 23);
    const float scale_b = bits_as<float>((n - half + 127) << 23);
    return p * scale_a * scale_b;
}

// ln x: x = 2^e * m with m in [sqrt(1/2), sqrt(2)). Relative error below 8.1e-8 over all normal floats. Polynomial as published with the Cephes library's logf.
PYTO_INLINE float logarithm(float x)
{
    const bool denormal = x < 1.17549435e-38f;
    const float scaled = denormal ? x * 8388608.0f : x;
    const uint32_t bits = bits_as<uint32_t>(scaled);
    // Subtracting sqrt(1/2) first moves mantissas below it to the next lower exponent.
    const int32_t e = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
    const float m = bits_as<float>(bits - (static_cast<uint32_t>(e) << 23));
    const float exponent = static_cast<float>(e) - (denormal ? 23.0f : 0.0f);
    const float f = m - 1.0f;
    const float z = f * f;
    float p = 7.0376836292e-2f;
    p = p * f - 1.1514610310e-1f;
    p = p * f + 1.1676998740e-1f;
    p = p * f - 1.2420140846e-1f;
    p = p * f + 1.4249322787e-1f;
    p = p * f - 1.6668057665e-1f;
    p = p * f + 2.0000714765e-1f;
    p = p * f - 2.4999993993e-1f;
    p = p * f + 3.3333331174e-1f;
    float y = p * f * z;
    y = y + exponent * -2.12194440e-4f;
    y = y - 0.5f * z;
    y = (f + y) + exponent * 0.693359375f;
    const float inf = bits_as<float>(0x7f800000u);
    y = x == inf ? inf : y;
    y = x == 0.0f ? -inf : y;
    y = x < 0.0f ? bits_as<float>(0x7fc00000u) : y;
    return x != x ? x : y;
}

}  // namespace vec
}  // namespace pyto_sim

#endif
