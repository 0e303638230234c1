// dst = src0 op src1.
#pragma once
#include "pyto_sim/vector/call.h"

PYTO_ASCENDC_BEGIN

template <class T, class U>
inline void binaryRepeats(const char* name, vec::BinaryOp op, bool readsDst, const LocalTensor<T>& dst,
                          const LocalTensor<U>& src0, const LocalTensor<U>& src1, const BinaryRepeatParams& p,
                          const vec::Lanes& lanes, Loc loc) {
    const vec::Span d{dst.ptr(), p.dstBlkStride, p.dstRepStride};
    const vec::Span a{src0.ptr(), p.src0BlkStride, p.src0RepStride};
    const vec::Span b{src1.ptr(), p.src1BlkStride, p.src1RepStride};
    vec::issueBinary(name, loc, d, kSize<T>, a, b, kSize<U>, lanes, readsDst,
                     [=] { vec::binary(op, vec::ElemOf<T>::value, d, a, b, lanes); });
}
template <class T, class U>
inline void binaryCount(const char* name, vec::BinaryOp op, bool readsDst, const LocalTensor<T>& dst,
                        const LocalTensor<U>& src0, const LocalTensor<U>& src1, int64_t count, Loc loc) {
    BinaryRepeatParams p;
    p.src0RepStride = p.src1RepStride = uint8_t(8 * sizeof(U) / sizeof(T));
    binaryRepeats(name, op, readsDst, dst, src0, src1, p, vec::laneTotal(loc, name, count), loc);
}

#define PYTO_VEC_BINARY(NAME, READS_DST, ...)                                                                         \
    template <typename T, bool isSetMask = true>                                                                      \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,               \
                     uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams,               \
                     Loc loc = Loc::here()) {                                                                         \
        PYTO_VEC_TYPES(#NAME, T, __VA_ARGS__);                                                                        \
        if ASCEND_IS_AIV {                                                                                            \
            binaryRepeats(#NAME, vec::BinaryOp::NAME, READS_DST, dst, src0, src1, repeatParams,                       \
                          maskLanes<isSetMask>(loc, #NAME, mask, kSize<T>, repeatTime), loc);                         \
        }                                                                                                             \
    }                                                                                                                 \
    template <typename T, bool isSetMask = true>                                                                      \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask,\
                     const uint8_t repeatTime, const BinaryRepeatParams& repeatParams, Loc loc = Loc::here()) {       \
        PYTO_VEC_TYPES(#NAME, T, __VA_ARGS__);                                                                        \
        if ASCEND_IS_AIV {                                                                                            \
            binaryRepeats(#NAME, vec::BinaryOp::NAME, READS_DST, dst, src0, src1, repeatParams,                       \
                          maskLanes<isSetMask>(loc, #NAME, mask, kSize<T>, repeatTime), loc);                         \
        }                                                                                                             \
    }

#define PYTO_VEC_BINARY_COUNT(NAME, READS_DST, ...)                                                                   \
    template <typename T>                                                                                             \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,               \
                     const int32_t& count, Loc loc = Loc::here()) {                                                   \
        PYTO_VEC_TYPES(#NAME, T, __VA_ARGS__);                                                                        \
        if ASCEND_IS_AIV { binaryCount(#NAME, vec::BinaryOp::NAME, READS_DST, dst, src0, src1, count, loc); }         \
    }

#define PYTO_VEC_BINARY_BOTH(NAME, READS_DST, ...) \
    PYTO_VEC_BINARY(NAME, READS_DST, __VA_ARGS__)  \
    PYTO_VEC_BINARY_COUNT(NAME, READS_DST, __VA_ARGS__)

PYTO_VEC_BINARY_BOTH(Add, false, half, float, int16_t, int32_t)
PYTO_VEC_BINARY_BOTH(Sub, false, half, float, int16_t, int32_t)
PYTO_VEC_BINARY_BOTH(Mul, false, half, float, int16_t, int32_t)
PYTO_VEC_BINARY_BOTH(Div, false, half, float)
PYTO_VEC_BINARY_BOTH(Max, false, half, float, int16_t, int32_t)
PYTO_VEC_BINARY_BOTH(Min, false, half, float, int16_t, int32_t)
PYTO_VEC_BINARY_BOTH(AddRelu, false, half, float, int16_t)
PYTO_VEC_BINARY_BOTH(SubRelu, false, half, float, int16_t)
PYTO_VEC_BINARY_BOTH(FusedMulAdd, true, half, float)
PYTO_VEC_BINARY_BOTH(FusedMulAddRelu, true, half, float)
PYTO_VEC_BINARY(And, false, int16_t, uint16_t)
PYTO_VEC_BINARY(Or, false, int16_t, uint16_t)

// With a count, 32-bit tensors are accepted and taken as 16-bit lanes: only the first count * 2 bytes change.
#define PYTO_VEC_BITWISE_COUNT(NAME)                                                                          \
    template <typename T>                                                                                     \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,       \
                     const int32_t& count, Loc loc = Loc::here()) {                                           \
        PYTO_VEC_TYPES(#NAME, T, int16_t, uint16_t, int32_t, uint32_t);                                       \
        if ASCEND_IS_AIV {                                                                                    \
            binaryCount(#NAME, vec::BinaryOp::NAME, false, dst.template ReinterpretCast<uint16_t>(),          \
                        src0.template ReinterpretCast<uint16_t>(), src1.template ReinterpretCast<uint16_t>(), \
                        count, loc);                                                                          \
        }                                                                                                     \
    }
PYTO_VEC_BITWISE_COUNT(And)
PYTO_VEC_BITWISE_COUNT(Or)

// dst = max(src0 * dst + src1, 0): the newer name of FusedMulAddRelu.
template <typename T, bool isSetMask = true>
inline void MulAddRelu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                       uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams,
                       Loc loc = Loc::here()) {
    FusedMulAddRelu<T, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams, loc);
}
template <typename T, bool isSetMask = true>
inline void MulAddRelu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask,
                       const uint8_t repeatTime, const BinaryRepeatParams& repeatParams, Loc loc = Loc::here()) {
    FusedMulAddRelu<T, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams, loc);
}
template <typename T>
inline void MulAddRelu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                       const int32_t& count, Loc loc = Loc::here()) {
    FusedMulAddRelu(dst, src0, src1, count, loc);
}

template <class T, class U>
constexpr vec::BinaryOp mulAddDstOp() {
    static_assert(IsSameType<T, float>::value ? SupportType<U, float, half>() : SupportType<T, half>() && SupportType<U, half>(),
                  "MulAddDst: this pair of element types is not supported; supported (dst, src): (half, half), "
                  "(float, float), (float, half)");
    return sizeof(T) == sizeof(U) ? vec::BinaryOp::MulAddDst : vec::BinaryOp::MulAddDstWide;
}

// dst = src0 * src1 + dst.
template <typename T, typename U, bool isSetMask = true>
inline void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
                      const uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams,
                      Loc loc = Loc::here()) {
    constexpr vec::BinaryOp op = mulAddDstOp<T, U>();
    if ASCEND_IS_AIV {
        binaryRepeats("MulAddDst", op, true, dst, src0, src1, repeatParams,
                      maskLanes<isSetMask>(loc, "MulAddDst", mask, kSize<T>, repeatTime), loc);
    }
}
template <typename T, typename U, bool isSetMask = true>
inline void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, uint64_t mask,
                      const uint8_t repeatTime, const BinaryRepeatParams& repeatParams, Loc loc = Loc::here()) {
    constexpr vec::BinaryOp op = mulAddDstOp<T, U>();
    if ASCEND_IS_AIV {
        binaryRepeats("MulAddDst", op, true, dst, src0, src1, repeatParams,
                      maskLanes<isSetMask>(loc, "MulAddDst", mask, kSize<T>, repeatTime), loc);
    }
}
template <typename T, typename U>
inline void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
                      const int32_t& count, Loc loc = Loc::here()) {
    constexpr vec::BinaryOp op = mulAddDstOp<T, U>();
    if ASCEND_IS_AIV { binaryCount("MulAddDst", op, true, dst, src0, src1, count, loc); }
}

PYTO_ASCENDC_END
