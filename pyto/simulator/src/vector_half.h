// fp16 and bf16 on integers: branch-free, vectorisable, bit-equal to the conversion instructions of x86 and Arm.
#ifndef PYTO_SIM_VECTOR_HALF_H
#define PYTO_SIM_VECTOR_HALF_H

#include "vector_math.h"

namespace pyto_sim {
namespace vec {

PYTO_INLINE float half_to_float(uint16_t h)
{
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
    const uint32_t magnitude = h & 0x7fffu;
    // The exponent bias differs by 112; a multiplication also normalises denormals.
    const uint32_t bits = bits_as<uint32_t>(bits_as<float>(magnitude << 13) * 5.192296858534828e33f);
    const uint32_t special = 0x7f800000u | (magnitude << 13) | (magnitude > 0x7c00u ? 0x400000u : 0u);
    return bits_as<float>(choose(magnitude >= 0x7c00u, special, bits) | sign);
}

PYTO_INLINE uint16_t float_to_half(float f)
{
    const uint32_t all = bits_as<uint32_t>(f);
    const uint32_t sign = (all >> 16) & 0x8000u;
    const uint32_t x = all & 0x7fffffffu;
    const uint32_t normal = (x - 0x38000000u + 0xfffu + ((x >> 13) & 1u)) >> 13;
    // 0.5 has the spacing of the smallest half, so the addition rounds to it.
    const uint32_t small = bits_as<uint32_t>(bits_as<float>(x) + 0.5f) - 0x3f000000u;
    const uint32_t nan = 0x7e00u | ((x >> 13) & 0x3ffu);
    uint32_t r = choose(x < 0x38800000u, small, normal);
    r = choose(x >= 0x47800000u, 0x7c00u, r);
    r = choose(x > 0x7f800000u, nan, r);
    return static_cast<uint16_t>(r | sign);
}

PYTO_INLINE float bf16_to_float(uint16_t b)
{
    return bits_as<float>(static_cast<uint32_t>(b) << 16);
}

// Integer rounding: conversion instructions flush denormals.
PYTO_INLINE uint16_t float_to_bf16(float f)
{
    const uint32_t x = bits_as<uint32_t>(f);
    const uint32_t rounded = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
    const uint32_t nan = (x >> 16) | 0x40u;
    return static_cast<uint16_t>(choose((x & 0x7fffffffu) > 0x7f800000u, nan, rounded));
}

}  // namespace vec
}  // namespace pyto_sim

#endif
