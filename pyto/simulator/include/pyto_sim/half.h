// half (IEEE binary16) and bfloat16_t with the arithmetic of C++ float: every operator converts to float, computes,
// and rounds to nearest even when the result is stored again.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace pyto_sim {

inline uint32_t bitsOf(float f) {
    uint32_t u;
    std::memcpy(&u, &f, 4);
    return u;
}
inline float floatOf(uint32_t u) {
    float f;
    std::memcpy(&f, &u, 4);
    return f;
}

inline float halfBitsToFloat(uint16_t h) {
    const uint32_t sign = uint32_t(h & 0x8000u) << 16;
    const uint32_t rest = h & 0x7fffu;
    if (rest >= 0x7c00u) return floatOf(sign | 0x7f800000u | ((rest & 0x3ffu) << 13));
    if (rest >= 0x0400u) return floatOf(sign | ((rest + 0x1c000u) << 13));
    // denormal: rest * 2^-24 is exact in binary32
    return floatOf(sign | bitsOf(float(rest) * 5.9604644775390625e-8f));
}

inline uint16_t floatToHalfBits(float f) {
    const uint32_t u = bitsOf(f);
    const uint32_t sign = (u >> 16) & 0x8000u;
    const uint32_t mag = u & 0x7fffffffu;
    if (mag > 0x7f800000u) return uint16_t(sign | 0x7e00u);
    if (mag >= 0x477ff000u) return uint16_t(sign | 0x7c00u);
    if (mag < 0x38800000u) {
        if (mag < 0x33000000u) return uint16_t(sign);
        const uint32_t shift = 126u - (mag >> 23);
        const uint32_t mant = (mag & 0x7fffffu) | 0x800000u;
        const uint32_t kept = mant >> shift;
        const uint32_t lost = mant & ((1u << shift) - 1u);
        const uint32_t tie = 1u << (shift - 1u);
        return uint16_t(sign | (kept + ((lost > tie || (lost == tie && (kept & 1u))) ? 1u : 0u)));
    }
    const uint32_t rounded = mag + 0xfffu + ((mag >> 13) & 1u);
    return uint16_t(sign | ((rounded - 0x38000000u) >> 13));
}

inline float bf16BitsToFloat(uint16_t b) { return floatOf(uint32_t(b) << 16); }

inline uint16_t floatToBf16Bits(float f) {
    const uint32_t u = bitsOf(f);
    if ((u & 0x7fffffffu) > 0x7f800000u) return uint16_t((u >> 16) | 0x40u);
    return uint16_t((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

}  // namespace pyto_sim

#define PYTO_SIM_FLOAT16_TYPE(NAME, TO_BITS, TO_FLOAT)                                          \
    struct NAME {                                                                               \
        uint16_t bits;                                                                          \
        NAME() = default;                                                                       \
        template <class A, class = typename std::enable_if<std::is_arithmetic<A>::value>::type> \
        NAME(A v) : bits(pyto_sim::TO_BITS(float(v))) {}                                        \
        operator float() const { return pyto_sim::TO_FLOAT(bits); }                             \
        static NAME fromBits(uint16_t b) {                                                      \
            NAME r;                                                                             \
            r.bits = b;                                                                         \
            return r;                                                                           \
        }                                                                                       \
        NAME& operator+=(float v) { return *this = NAME(float(*this) + v); }                    \
        NAME& operator-=(float v) { return *this = NAME(float(*this) - v); }                    \
        NAME& operator*=(float v) { return *this = NAME(float(*this) * v); }                    \
        NAME& operator/=(float v) { return *this = NAME(float(*this) / v); }                    \
    };

PYTO_SIM_FLOAT16_TYPE(half, floatToHalfBits, halfBitsToFloat)
PYTO_SIM_FLOAT16_TYPE(bfloat16_t, floatToBf16Bits, bf16BitsToFloat)
#undef PYTO_SIM_FLOAT16_TYPE

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2, "16-bit floats");
