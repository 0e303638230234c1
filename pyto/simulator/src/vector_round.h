// Rounding modes: to whole numbers, to integers with saturation, and to narrower floats.
#ifndef PYTO_SIM_VECTOR_ROUND_H
#define PYTO_SIM_VECTOR_ROUND_H

#include <limits>

#include "pyto_sim/vector/kernels.h"
#include "vector_math.h"

namespace pyto_sim {
namespace vec {

// `r` with the sign of x, for r that is zero or has it already.
PYTO_INLINE float signed_like(float r, float x)
{
    return bits_as<float>(bits_as<uint32_t>(r) | (bits_as<uint32_t>(x) & 0x80000000u));
}

PYTO_INLINE float magnitude_of(float x)
{
    return bits_as<float>(bits_as<uint32_t>(x) & 0x7fffffffu);
}

// The neighbouring whole number that the mode asks for, as a float; keeps NaN, infinity and the sign of zero.
template <Round mode>
PYTO_INLINE float whole(float x)
{
    const bool small = magnitude_of(x) < 8388608.0f;  // above, every float is whole
    const float inside = choose(small, x, 0.0f);
    const float cut = static_cast<float>(static_cast<int32_t>(inside));
    float r = cut;
    if (mode == Round::Floor) {
        r = cut - choose(cut > inside, 1.0f, 0.0f);
    } else if (mode == Round::Ceil) {
        r = cut + choose(cut < inside, 1.0f, 0.0f);
    } else if (mode == Round::Round) {
        r = cut + signed_like(choose(magnitude_of(inside - cut) >= 0.5f, 1.0f, 0.0f), inside);
    } else if (mode != Round::Trunc) {
        r = (magnitude_of(inside) + 8388608.0f) - 8388608.0f;
    }
    return choose(small, signed_like(r, x), x);
}

template <class To>
PYTO_INLINE To saturated(float r)
{
    constexpr int32_t low = std::numeric_limits<To>::min();
    constexpr int32_t high = std::numeric_limits<To>::max();
    // 2^31 - 1 is no float: the comparison is with 2^31.
    constexpr float below = static_cast<float>(low);
    constexpr float above = high == 0x7fffffff ? 2147483648.0f : static_cast<float>(high) + 1.0f;
    const bool fits = r >= below && r < above;  // false for NaN
    const int32_t value = static_cast<int32_t>(choose(fits, r, 0.0f));
    return static_cast<To>(choose(r >= above, high, choose(r < below, low, value)));
}
template <>
PYTO_INLINE int64_t saturated<int64_t>(float r)
{
    constexpr float above = 9223372036854775808.0f;
    if (!(r >= -above)) {
        return r == r ? std::numeric_limits<int64_t>::min() : 0;
    }
    return r >= above ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(r);
}

template <Round mode>
PYTO_INLINE uint32_t increment(uint32_t kept, uint32_t rest, uint32_t tie, bool negative)
{
    const uint32_t some = rest != 0 ? 1u : 0u;
    const uint32_t minus = negative ? 1u : 0u;
    switch (mode) {
        case Round::Floor: return some & minus;
        case Round::Ceil: return some & (minus ^ 1u);
        case Round::Round: return rest >= tie ? 1u : 0u;
        case Round::Trunc: return 0u;
        case Round::Odd: return some & ((kept & 1u) ^ 1u);
        default: return (rest > tie ? 1u : 0u) | ((rest == tie ? 1u : 0u) & kept & 1u);
    }
}

template <Round mode>
PYTO_INLINE uint16_t to_half(float f)
{
    const uint32_t all = bits_as<uint32_t>(f);
    const uint32_t sign = (all >> 16) & 0x8000u;
    const bool negative = sign != 0;
    const uint32_t mag = all & 0x7fffffffu;
    const bool normal = mag >= 0x38800000u;
    const uint32_t exponent = mag >> 23;
    // Below the smallest normal half the kept bits end at 2^-24; 31 places are enough to lose everything.
    const uint32_t need = choose(exponent < 95u, 31u, 126u - exponent);
    const uint32_t shift = choose(normal, 13u, need);
    const uint32_t mantissa = (mag & 0x7fffffu) | (exponent != 0 ? 0x800000u : 0u);
    const uint32_t value = choose(normal, mag - 0x38000000u, mantissa);
    uint32_t kept = value >> shift;
    const uint32_t rest = value & ((1u << shift) - 1u);
    kept += increment<mode>(kept, rest, 1u << (shift - 1u), negative);
    const uint32_t minus = negative ? 1u : 0u;
    const uint32_t to_zero = mode == Round::Trunc || mode == Round::Odd ? 1u
                             : mode == Round::Floor                     ? minus ^ 1u
                             : mode == Round::Ceil                      ? minus
                                                                        : 0u;
    const uint32_t limit = 0x7c00u - to_zero;
    kept = choose(kept > limit, limit, kept);
    kept = choose(mag == 0x7f800000u, 0x7c00u, kept);
    kept = choose(mag > 0x7f800000u, 0x7e00u | ((mag >> 13) & 0x3ffu), kept);
    return static_cast<uint16_t>(kept | sign);
}

template <Round mode>
PYTO_INLINE uint16_t to_bf16(float f)
{
    const uint32_t all = bits_as<uint32_t>(f);
    const uint32_t mag = all & 0x7fffffffu;
    const uint32_t sign = (all >> 16) & 0x8000u;
    const uint32_t kept = mag >> 16;
    const uint32_t rounded = kept + increment<mode>(kept, mag & 0xffffu, 0x8000u, sign != 0);
    return static_cast<uint16_t>(choose(mag > 0x7f800000u, kept | 0x40u, rounded) | sign);
}

template <Round mode>
PYTO_INLINE float to_float(int64_t v)
{
    const bool negative = v < 0;
    const uint64_t u = negative ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
    if (u < (uint64_t{1} << 24)) {
        const float exact = static_cast<float>(static_cast<int32_t>(u));
        return negative ? -exact : exact;
    }
    const uint32_t shift = 40u - static_cast<uint32_t>(__builtin_clzll(u));
    uint64_t kept = u >> shift;
    const uint64_t rest = u & ((uint64_t{1} << shift) - 1u);
    const uint64_t tie = uint64_t{1} << (shift - 1u);
    const uint32_t place = rest == 0 ? 0u : (rest < tie ? 1u : (rest == tie ? 2u : 3u));
    kept += increment<mode>(static_cast<uint32_t>(kept), place, 2u, negative);
    const float r = static_cast<float>(static_cast<int32_t>(kept)) * static_cast<float>(uint64_t{1} << shift);
    return negative ? -r : r;
}

}  // namespace vec
}  // namespace pyto_sim

#endif
