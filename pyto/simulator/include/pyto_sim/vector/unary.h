// dst = op(src). Rsqrt and Reciprocal are accurate here; the chip's are approximations (half worse than 1e-3, float
// worse than 1e-4). Exp and Ln are polynomials with a relative error below 8.2e-8.
#pragma once
#include "pyto_sim/vector/call.h"

PYTO_ASCENDC_BEGIN

template <class T>
inline void unaryRepeats(const char* name, vec::UnaryOp op, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                         const UnaryRepeatParams& p, const vec::Lanes& lanes, Loc loc) {
    const vec::Span d{dst.ptr(), p.dstBlkStride, p.dstRepStride};
    const vec::Span a{src.ptr(), p.srcBlkStride, p.srcRepStride};
    vec::issueUnary(name, loc, d, kSize<T>, a, kSize<T>, lanes, false,
                    [=] { vec::unary(op, vec::ElemOf<T>::value, d, a, lanes); });
}

#define PYTO_VEC_UNARY(NAME, ...)                                                                                   \
    template <typename T, bool isSetMask = true>                                                                    \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask[], const uint8_t repeatTime,\
                     const UnaryRepeatParams& repeatParams, Loc loc = Loc::here()) {                                \
        PYTO_VEC_TYPES(#NAME, T, __VA_ARGS__);                                                                      \
        if ASCEND_IS_AIV {                                                                                          \
            unaryRepeats(#NAME, vec::UnaryOp::NAME, dst, src, repeatParams,                                         \
                         maskLanes<isSetMask>(loc, #NAME, mask, kSize<T>, repeatTime), loc);                        \
        }                                                                                                           \
    }                                                                                                               \
    template <typename T, bool isSetMask = true>                                                                    \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask, const uint8_t repeatTime, \
                     const UnaryRepeatParams& repeatParams, Loc loc = Loc::here()) {                                \
        PYTO_VEC_TYPES(#NAME, T, __VA_ARGS__);                                                                      \
        if ASCEND_IS_AIV {                                                                                          \
            unaryRepeats(#NAME, vec::UnaryOp::NAME, dst, src, repeatParams,                                         \
                         maskLanes<isSetMask>(loc, #NAME, mask, kSize<T>, repeatTime), loc);                        \
        }                                                                                                           \
    }                                                                                                               \
    template <typename T>                                                                                           \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count,                    \
                     Loc loc = Loc::here()) {                                                                       \
        PYTO_VEC_TYPES(#NAME, T, __VA_ARGS__);                                                                      \
        if ASCEND_IS_AIV {                                                                                          \
            unaryRepeats(#NAME, vec::UnaryOp::NAME, dst, src, UnaryRepeatParams(),                                  \
                         vec::laneTotal(loc, #NAME, count), loc);                                                   \
        }                                                                                                           \
    }

PYTO_VEC_UNARY(Relu, half, float, int32_t)
PYTO_VEC_UNARY(Exp, half, float)
PYTO_VEC_UNARY(Ln, half, float)
PYTO_VEC_UNARY(Abs, half, float)
PYTO_VEC_UNARY(Reciprocal, half, float)
PYTO_VEC_UNARY(Rsqrt, half, float)
PYTO_VEC_UNARY(Sqrt, half, float)
PYTO_VEC_UNARY(Not, int16_t, uint16_t)

PYTO_ASCENDC_END
