// dst = src op scalar.
#pragma once
#include "pyto_sim/vector/call.h"

PYTO_ASCENDC_BEGIN

template <class T, class U>
inline void scalarRepeats(const char* name, vec::ScalarOp op, bool readsDst, const LocalTensor<T>& dst,
                          const LocalTensor<U>& src, uint64_t bits, const UnaryRepeatParams& p, const vec::Lanes& lanes,
                          Loc loc) {
    const vec::Span d{dst.ptr(), p.dstBlkStride, p.dstRepStride};
    const vec::Span a{src.ptr(), p.srcBlkStride, p.srcRepStride};
    vec::issueUnary(name, loc, d, kSize<T>, a, kSize<U>, lanes, readsDst,
                    [=] { vec::scalar(op, vec::ElemOf<T>::value, d, a, bits, lanes); });
}

// With a count and isSetMask = false the call uses the mask register as it is, with one repeat.
#define PYTO_VEC_SCALAR_COUNT(NAME, ...)                                                                             \
    template <typename T, bool isSetMask = true>                                                                     \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, const int32_t& count,\
                     Loc loc = Loc::here()) {                                                                        \
        PYTO_VEC_TYPES(#NAME, T, __VA_ARGS__);                                                                       \
        if ASCEND_IS_AIV {                                                                                           \
            scalarRepeats(#NAME, vec::ScalarOp::NAME, false, dst, src, vec::scalarBits(scalarValue),                 \
                          UnaryRepeatParams(), isSetMask ? vec::laneTotal(loc, #NAME, count) : vec::laneState(1),    \
                          loc);                                                                                      \
        }                                                                                                            \
    }

#define PYTO_VEC_SCALAR(NAME, ...)                                                                                   \
    template <typename T, bool isSetMask = true>                                                                     \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, uint64_t mask[],    \
                     const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, Loc loc = Loc::here()) {       \
        PYTO_VEC_TYPES(#NAME, T, __VA_ARGS__);                                                                       \
        if ASCEND_IS_AIV {                                                                                           \
            scalarRepeats(#NAME, vec::ScalarOp::NAME, false, dst, src, vec::scalarBits(scalarValue), repeatParams,   \
                          maskLanes<isSetMask>(loc, #NAME, mask, kSize<T>, repeatTime), loc);                        \
        }                                                                                                            \
    }                                                                                                                \
    template <typename T, bool isSetMask = true>                                                                     \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, uint64_t mask,      \
                     const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, Loc loc = Loc::here()) {       \
        PYTO_VEC_TYPES(#NAME, T, __VA_ARGS__);                                                                       \
        if ASCEND_IS_AIV {                                                                                           \
            scalarRepeats(#NAME, vec::ScalarOp::NAME, false, dst, src, vec::scalarBits(scalarValue), repeatParams,   \
                          maskLanes<isSetMask>(loc, #NAME, mask, kSize<T>, repeatTime), loc);                        \
        }                                                                                                            \
    }                                                                                                                \
    PYTO_VEC_SCALAR_COUNT(NAME, __VA_ARGS__)

PYTO_VEC_SCALAR(Adds, half, float, int16_t, int32_t)
PYTO_VEC_SCALAR(Muls, half, float, int16_t, int32_t)
PYTO_VEC_SCALAR(Maxs, half, float, int16_t, int32_t)
PYTO_VEC_SCALAR(Mins, half, float, int16_t, int32_t)
PYTO_VEC_SCALAR(LeakyRelu, half, float)
PYTO_VEC_SCALAR(ShiftLeft, int16_t, uint16_t, int32_t, uint32_t)
PYTO_VEC_SCALAR_COUNT(ShiftRight, int16_t, uint16_t, int32_t, uint32_t)

// roundEn adds half of the last place that is shifted out; signed types only.
template <class T>
inline vec::ScalarOp shiftRightOp(bool roundEn, Loc loc) {
    PYTO_VEC_TYPES("ShiftRight", T, int16_t, uint16_t, int32_t, uint32_t);
    if (unlikely((roundEn && SupportType<T, uint16_t, uint32_t>())))
        pyto_sim::fail(loc, "ShiftRight: roundEn needs a signed element type");
    return roundEn ? vec::ScalarOp::ShiftRightRound : vec::ScalarOp::ShiftRight;
}
template <typename T, bool isSetMask = true>
inline void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, uint64_t mask[],
                       const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, bool roundEn = false,
                       Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        scalarRepeats("ShiftRight", shiftRightOp<T>(roundEn, loc), false, dst, src, vec::scalarBits(scalarValue),
                      repeatParams, maskLanes<isSetMask>(loc, "ShiftRight", mask, kSize<T>, repeatTime), loc);
    }
}
template <typename T, bool isSetMask = true>
inline void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, uint64_t mask,
                       const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, bool roundEn = false,
                       Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        scalarRepeats("ShiftRight", shiftRightOp<T>(roundEn, loc), false, dst, src, vec::scalarBits(scalarValue),
                      repeatParams, maskLanes<isSetMask>(loc, "ShiftRight", mask, kSize<T>, repeatTime), loc);
    }
}

template <class T, class U>
constexpr vec::ScalarOp axpyOp() {
    static_assert(IsSameType<T, float>::value ? SupportType<U, float, half>() : SupportType<T, half>() && SupportType<U, half>(),
                  "Axpy: this pair of element types is not supported; supported (dst, src): (half, half), "
                  "(float, float), (float, half)");
    return sizeof(T) == sizeof(U) ? vec::ScalarOp::Axpy : vec::ScalarOp::AxpyWide;
}

// dst = src * scalar + dst.
template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, uint64_t mask,
                 const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, Loc loc = Loc::here()) {
    constexpr vec::ScalarOp op = axpyOp<T, U>();
    if ASCEND_IS_AIV {
        scalarRepeats("Axpy", op, true, dst, src, vec::scalarBits(scalarValue), repeatParams,
                      maskLanes<isSetMask>(loc, "Axpy", mask, kSize<T>, repeatTime), loc);
    }
}
template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, uint64_t mask[],
                 const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, Loc loc = Loc::here()) {
    constexpr vec::ScalarOp op = axpyOp<T, U>();
    if ASCEND_IS_AIV {
        scalarRepeats("Axpy", op, true, dst, src, vec::scalarBits(scalarValue), repeatParams,
                      maskLanes<isSetMask>(loc, "Axpy", mask, kSize<T>, repeatTime), loc);
    }
}
template <typename T, typename U>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, const int32_t& count,
                 Loc loc = Loc::here()) {
    constexpr vec::ScalarOp op = axpyOp<T, U>();
    if ASCEND_IS_AIV {
        scalarRepeats("Axpy", op, true, dst, src, vec::scalarBits(scalarValue),
                      UnaryRepeatParams(1, 1, 8, uint8_t(8 * sizeof(U) / sizeof(T))), vec::laneTotal(loc, "Axpy", count),
                      loc);
    }
}

PYTO_ASCENDC_END
