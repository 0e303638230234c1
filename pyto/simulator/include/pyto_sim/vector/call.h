// What the vector API functions share: operands, the mask state, the checks, and the record of one instruction.
#pragma once
#include "pyto_sim/vector/params.h"
#include "pyto_sim/vector/records.h"

namespace pyto_sim {
namespace vec {

template <class T> struct ElemOf;
template <> struct ElemOf<float> { static constexpr Elem value = Elem::F32; };
template <> struct ElemOf<half> { static constexpr Elem value = Elem::F16; };
template <> struct ElemOf<bfloat16_t> { static constexpr Elem value = Elem::BF16; };
template <> struct ElemOf<int8_t> { static constexpr Elem value = Elem::I8; };
template <> struct ElemOf<uint8_t> { static constexpr Elem value = Elem::U8; };
template <> struct ElemOf<int16_t> { static constexpr Elem value = Elem::I16; };
template <> struct ElemOf<uint16_t> { static constexpr Elem value = Elem::U16; };
template <> struct ElemOf<int32_t> { static constexpr Elem value = Elem::I32; };
template <> struct ElemOf<uint32_t> { static constexpr Elem value = Elem::U32; };
template <> struct ElemOf<int64_t> { static constexpr Elem value = Elem::I64; };
template <> struct ElemOf<uint64_t> { static constexpr Elem value = Elem::U64; };

template <class T>
inline uint64_t scalarBits(const T& value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

// Contiguous operand; its repeat stride depends on the widest element of the call.
inline Span flat(const void* data, uint32_t size, uint32_t width) { return {data, 1, 8 * size / width}; }

template <class Body>
inline void issueUnary(const char* name, Loc loc, Span dst, uint32_t dstSize, Span a, uint32_t aSize, const Lanes& lanes,
                       bool readsDst, Body&& body) {
    const uint32_t width = dstSize > aSize ? dstSize : aSize;
    const Span spans[2] = {dst, a};
    const uint32_t sizes[2] = {dstSize, aSize};
    verify(loc, name, spans, sizes, 2, lanes);
    issue(name, PIPE_V, loc,
          [&](Record& r) {
              describe(r, false, a, aSize, width, lanes);
              if (readsDst) describe(r, false, dst, dstSize, width, lanes);
              describe(r, true, dst, dstSize, width, lanes);
              r.work = activeLanes(width, lanes);
          },
          std::forward<Body>(body));
}

template <class Body>
inline void issueBinary(const char* name, Loc loc, Span dst, uint32_t dstSize, Span a, Span b, uint32_t srcSize,
                        const Lanes& lanes, bool readsDst, Body&& body) {
    const uint32_t width = dstSize > srcSize ? dstSize : srcSize;
    const Span spans[3] = {dst, a, b};
    const uint32_t sizes[3] = {dstSize, srcSize, srcSize};
    verify(loc, name, spans, sizes, 3, lanes);
    issue(name, PIPE_V, loc,
          [&](Record& r) {
              describe(r, false, a, srcSize, width, lanes);
              describe(r, false, b, srcSize, width, lanes);
              if (readsDst) describe(r, false, dst, dstSize, width, lanes);
              describe(r, true, dst, dstSize, width, lanes);
              r.work = activeLanes(width, lanes);
          },
          std::forward<Body>(body));
}

}  // namespace vec
}  // namespace pyto_sim

PYTO_ASCENDC_BEGIN

namespace vec = pyto_sim::vec;

// Lanes from the mask arguments of a call whose widest element has `width` bytes.
template <bool isSetMask>
inline vec::Lanes maskLanes(Loc loc, const char* name, uint64_t mask, uint32_t width, uint32_t repeats) {
    return isSetMask ? vec::laneCount(loc, name, mask, 256 / width, repeats) : vec::laneState(repeats);
}
template <bool isSetMask>
inline vec::Lanes maskLanes(Loc, const char*, const uint64_t mask[], uint32_t, uint32_t repeats) {
    return isSetMask ? vec::laneBits(mask, repeats) : vec::laneState(repeats);
}

template <class T>
constexpr uint32_t kSize = uint32_t(sizeof(T));

// Types for which a static_assert names the API and what the chip supports.
#define PYTO_VEC_TYPES(API, T, ...) \
    static_assert(SupportType<T, __VA_ARGS__>(), API ": this element type is not supported; supported: " #__VA_ARGS__)

PYTO_ASCENDC_END
