// Conversions: Cast with its rounding modes, dequantising casts, and sums that are cast in one instruction.
//
// To an integer: saturates, NaN gives 0. To a float: out of range gives infinity (rounding towards zero: the largest
// finite value). The widest of the two types sets the lanes of a repeat.
#pragma once
#include "pyto_sim/vector/call.h"

PYTO_ASCENDC_BEGIN

// One bit a rounding mode: 1 << RoundMode.
constexpr uint32_t kRoundNone = 1u;
constexpr uint32_t kRoundFive = 0x3eu;  // RINT FLOOR CEIL ROUND TRUNC
constexpr uint32_t kRoundOdd = 1u << uint32_t(RoundMode::CAST_ODD);

// Rounding modes of a pair of types; 0 when the chip has no such conversion.
template <class T, class U>
constexpr uint32_t castModes() {
    if constexpr (IsSameType<U, int4b_t>::value || IsSameType<T, int4b_t>::value) {
        return IsSameType<T, half>::value ? kRoundNone : IsSameType<U, half>::value ? kRoundNone | kRoundFive : 0;
    } else if constexpr (IsSameType<U, float>::value) {
        return IsSameType<T, half>::value ? kRoundNone | kRoundFive | kRoundOdd
               : SupportType<T, float, bfloat16_t, int16_t, int32_t, int64_t>() ? kRoundFive : 0;
    } else if constexpr (IsSameType<U, half>::value) {
        return IsSameType<T, float>::value ? kRoundNone
               : SupportType<T, int8_t, uint8_t>() ? kRoundNone | kRoundFive
               : SupportType<T, int16_t, int32_t>() ? kRoundFive : 0;
    } else if constexpr (IsSameType<U, bfloat16_t>::value) {
        return IsSameType<T, float>::value ? kRoundNone : IsSameType<T, int32_t>::value ? kRoundFive : 0;
    } else if constexpr (SupportType<U, int8_t, uint8_t>()) {
        return IsSameType<T, half>::value ? kRoundNone : 0;
    } else if constexpr (IsSameType<U, int16_t>::value) {
        return IsSameType<T, half>::value ? kRoundNone | kRoundFive : IsSameType<T, float>::value ? kRoundNone : 0;
    } else if constexpr (IsSameType<U, int32_t>::value) {
        return IsSameType<T, float>::value ? kRoundNone | kRoundFive
               : IsSameType<T, half>::value ? 0xffu  // any: the mode is ignored, SetDeqScale(half) gives the scale
               : SupportType<T, int16_t, int64_t>() ? kRoundNone : 0;
    } else if constexpr (IsSameType<U, int64_t>::value) {
        return IsSameType<T, int32_t>::value ? kRoundNone : IsSameType<T, float>::value ? kRoundFive : 0;
    } else {
        return 0;
    }
}

template <class T, class U>
inline void castSpans(vec::Span d, vec::Span a, RoundMode mode, const vec::Lanes& lanes, Loc loc) {
    constexpr bool toInt4 = IsSameType<T, int4b_t>::value;
    if constexpr (toInt4 || IsSameType<U, int4b_t>::value) {
        // The int4 side, 64 lanes a block, is checked and recorded as a whole.
        const uint64_t repeats = lanes.counter ? (lanes.low + 127) / 128 : lanes.repeats;
        if (repeats == 0 || (lanes.low | lanes.high) == 0) return;
        const vec::Span half = toInt4 ? a : d;
        const vec::Span four = toInt4 ? d : a;
        const uint32_t size = 2;
        vec::verify(loc, "Cast", &half, &size, 1, lanes);
        const uint64_t bytes = lanes.counter ? (lanes.low + 1) / 2 : (repeats - 1) * four.rep * 32 + four.blk * 32 + 32;
        vec::verifyRange(loc, "Cast", four.data, bytes, 32);
        pyto_sim::issue("Cast", PIPE_V, loc,
                        [&](pyto_sim::Record& r) {
                            vec::describe(r, !toInt4, half, 2, 2, lanes);
                            toInt4 ? r.write(four.data, bytes) : r.read(four.data, bytes);
                            r.work = vec::activeLanes(2, lanes);
                        },
                        [=] { vec::cast_int4(toInt4, vec::Round(mode), d, a, lanes); });
    } else {
        vec::issueUnary("Cast", loc, d, kSize<T>, a, kSize<U>, lanes, false, [=] {
            vec::cast(vec::ElemOf<T>::value, vec::ElemOf<U>::value, vec::Round(mode), d, a, lanes);
        });
    }
}

template <class T, class U>
inline void castRepeats(const LocalTensor<T>& dst, const LocalTensor<U>& src, RoundMode mode, const UnaryRepeatParams& p,
                        const vec::Lanes& lanes, Loc loc) {
    static_assert(castModes<T, U>() != 0,
                  "Cast: the chip has no conversion between these two types. Go through another one: float and "
                  "(u)int8 by way of half; bfloat16_t and anything but float or int32_t by way of float");
    const vec::Span d{dst.ptr(), p.dstBlkStride, p.dstRepStride};
    const vec::Span a{src.ptr(), p.srcBlkStride, p.srcRepStride};
    if constexpr (IsSameType<T, half>::value && IsSameType<U, int32_t>::value) {
        const uint16_t scale = uint16_t(pyto_sim::core().vector.deqScale);
        vec::issueUnary("Cast", loc, d, 2, a, 4, lanes, false, [=] { vec::cast_dequant(scale, d, a, lanes); });
    } else {
        if (unlikely((castModes<T, U>() >> uint32_t(mode) & 1u) == 0))
            pyto_sim::fail(loc, "Cast: rounding mode %u is not available for this pair of types (0 NONE, 1 RINT, 2 FLOOR, "
                                "3 CEIL, 4 ROUND, 5 TRUNC, 6 ODD; available, one bit each: 0x%x)",
                           uint32_t(mode), castModes<T, U>());
        castSpans<T, U>(d, a, mode, lanes, loc);
    }
}

template <class T, class U>
constexpr uint32_t castWidth() {
    return kSize<T> > kSize<U> ? kSize<T> : kSize<U>;
}
// Repeat strides of contiguous operands.
template <class T>
constexpr uint8_t castStride(uint32_t width) {
    return IsSameType<T, int4b_t>::value ? 2 : uint8_t(8 * kSize<T> / width);
}
template <class T, class U>
inline UnaryRepeatParams castParams() {
    return UnaryRepeatParams(1, 1, castStride<T>(castWidth<T, U>()), castStride<U>(castWidth<T, U>()));
}

template <typename T, typename U, bool isSetMask = true>
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint64_t mask[],
                 const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        castRepeats(dst, src, roundMode, repeatParams,
                    maskLanes<isSetMask>(loc, "Cast", mask, castWidth<T, U>(), repeatTime), loc);
    }
}
template <typename T, typename U, bool isSetMask = true>
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint64_t mask,
                 const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        castRepeats(dst, src, roundMode, repeatParams,
                    maskLanes<isSetMask>(loc, "Cast", mask, castWidth<T, U>(), repeatTime), loc);
    }
}
template <typename T, typename U>
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint32_t count,
                 Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        castRepeats(dst, src, roundMode, castParams<T, U>(), vec::laneTotal(loc, "Cast", count), loc);
    }
}

// The register of dequantising casts. Half scale: Cast and CastDequant from int32_t, AddDeqRelu. Float scale, offset and
// sign: CastDequant from int16_t with isVecDeq = false; the tensor form: with isVecDeq = true.
inline uint64_t deqConfig(float scale, int16_t offset, bool signMode) {
    return uint64_t(signMode) << 46 | uint64_t(offset & 0x1ff) << 37 | pyto_sim::bitsOf(scale);
}
inline void SetDeqScale(half scale) {
    if ASCEND_IS_AIV { pyto_sim::core().vector.deqScale = scale.bits; }
}
inline void SetDeqScale(float scale, int16_t offset, bool signMode) {
    if ASCEND_IS_AIV { pyto_sim::core().vector.deqScale = deqConfig(scale, offset, signMode); }
}
template <typename T>
inline void SetDeqScale(const LocalTensor<T>& vdeq, const VdeqInfo& vdeqInfo, Loc loc = Loc::here()) {
    static_assert(sizeof(T) == 8, "SetDeqScale: the tensor holds 16 values of uint64_t");
    if ASCEND_IS_AIV {
        for (int32_t i = 0; i < VDEQ_TENSOR_SIZE; ++i)
            vdeq.SetValue(uint32_t(i), T(deqConfig(vdeqInfo.vdeqScale[i], vdeqInfo.vdeqOffset[i], vdeqInfo.vdeqSignMode[i])),
                          loc);
        pyto_sim::core().vector.deqVector = reinterpret_cast<const uint64_t*>(vdeq.ptr());
    }
}

template <class T, class U, bool isVecDeq, bool halfBlock>
inline void dequantRepeats(const LocalTensor<T>& dst, const LocalTensor<U>& src, const UnaryRepeatParams& p,
                           const vec::Lanes& lanes, Loc loc) {
    static_assert((IsSameType<U, int16_t>::value && SupportType<T, int8_t, uint8_t>()) ||
                      (IsSameType<U, int32_t>::value && IsSameType<T, half>::value),
                  "CastDequant: supported (dst, src): (int8_t / uint8_t, int16_t), (half, int32_t)");
    const vec::Span d{dst.ptr(), p.dstBlkStride, p.dstRepStride};
    const vec::Span a{src.ptr(), p.srcBlkStride, p.srcRepStride};
    const pyto_sim::VectorState& state = pyto_sim::core().vector;
    if constexpr (IsSameType<U, int32_t>::value) {
        const uint16_t scale = uint16_t(state.deqScale);
        vec::issueUnary("CastDequant", loc, d, 2, a, 4, lanes, false, [=] { vec::cast_dequant(scale, d, a, lanes); });
    } else {
        const uint64_t one = state.deqScale;
        const uint64_t* many = state.deqVector;
        if (unlikely(isVecDeq && many == nullptr))
            pyto_sim::fail(loc, "CastDequant: call SetDeqScale(tensor, info) before a cast with isVecDeq = true");
        // A destination block keeps its other half: it is read and written whole.
        vec::issueUnary("CastDequant", loc, d, 2, a, 2, lanes, true, [=] {
            vec::dequant_b8(IsSameType<T, int8_t>::value, isVecDeq ? many : &one, isVecDeq, halfBlock, d, a, lanes);
        });
    }
}

#define PYTO_VEC_DEQUANT(NAME)                                                                                         \
    template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>              \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint64_t mask[], uint8_t repeatTime,  \
                     const UnaryRepeatParams& repeatParams, Loc loc = Loc::here()) {                                   \
        if ASCEND_IS_AIV {                                                                                             \
            dequantRepeats<T, U, isVecDeq, halfBlock>(                                                                 \
                dst, src, repeatParams, maskLanes<isSetMask>(loc, #NAME, mask, kSize<U>, repeatTime), loc);            \
        }                                                                                                              \
    }                                                                                                                  \
    template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true>              \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src, const int32_t mask, uint8_t repeatTime,     \
                     const UnaryRepeatParams& repeatParams, Loc loc = Loc::here()) {                                   \
        if ASCEND_IS_AIV {                                                                                             \
            dequantRepeats<T, U, isVecDeq, halfBlock>(                                                                 \
                dst, src, repeatParams, maskLanes<isSetMask>(loc, #NAME, uint64_t(mask), kSize<U>, repeatTime), loc);  \
        }                                                                                                              \
    }                                                                                                                  \
    template <typename T, typename U, bool isVecDeq = true, bool halfBlock = true>                                     \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint32_t count,                       \
                     Loc loc = Loc::here()) {                                                                          \
        if ASCEND_IS_AIV {                                                                                             \
            dequantRepeats<T, U, isVecDeq, halfBlock>(                                                                 \
                dst, src, IsSameType<U, int32_t>::value ? UnaryRepeatParams(1, 1, 4, 8) : UnaryRepeatParams(),         \
                vec::laneTotal(loc, #NAME, count), loc);                                                               \
        }                                                                                                              \
    }
PYTO_VEC_DEQUANT(CastDequant)
PYTO_VEC_DEQUANT(CastDeq)

template <class T, class U>
inline void fusedCastRepeats(const char* name, vec::FusedCast op, const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                             const LocalTensor<U>& src1, const BinaryRepeatParams& p, const vec::Lanes& lanes, Loc loc) {
    const vec::Span d{dst.ptr(), p.dstBlkStride, p.dstRepStride};
    const vec::Span a{src0.ptr(), p.src0BlkStride, p.src0RepStride};
    const vec::Span b{src1.ptr(), p.src1BlkStride, p.src1RepStride};
    vec::issueBinary(name, loc, d, kSize<T>, a, b, kSize<U>, lanes, false, [=] {
        vec::fused_cast(op, vec::ElemOf<T>::value, vec::ElemOf<U>::value, d, a, b, lanes);
    });
}
template <class T, class U>
inline BinaryRepeatParams fusedCastParams() {
    const uint8_t src = uint8_t(8 * kSize<U> / castWidth<T, U>());
    return BinaryRepeatParams(1, 1, 1, uint8_t(8 * kSize<T> / castWidth<T, U>()), src, src);
}

#define PYTO_VEC_FUSED_CAST(NAME, OP, CONDITION, PAIRS)                                                                 \
    template <typename T, typename U, bool isSetMask = true>                                                            \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, uint64_t mask,  \
                     const uint8_t repeatTime, const BinaryRepeatParams& repeatParams, Loc loc = Loc::here()) {         \
        static_assert(CONDITION, #NAME ": supported (dst, src): " PAIRS);                                               \
        if ASCEND_IS_AIV {                                                                                              \
            fusedCastRepeats(#NAME, vec::FusedCast::OP, dst, src0, src1, repeatParams,                                  \
                             maskLanes<isSetMask>(loc, #NAME, mask, castWidth<T, U>(), repeatTime), loc);               \
        }                                                                                                               \
    }                                                                                                                   \
    template <typename T, typename U, bool isSetMask = true>                                                            \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, uint64_t mask[],\
                     const uint8_t repeatTime, const BinaryRepeatParams& repeatParams, Loc loc = Loc::here()) {         \
        static_assert(CONDITION, #NAME ": supported (dst, src): " PAIRS);                                               \
        if ASCEND_IS_AIV {                                                                                              \
            fusedCastRepeats(#NAME, vec::FusedCast::OP, dst, src0, src1, repeatParams,                                  \
                             maskLanes<isSetMask>(loc, #NAME, mask, castWidth<T, U>(), repeatTime), loc);               \
        }                                                                                                               \
    }                                                                                                                   \
    template <typename T, typename U>                                                                                   \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,                 \
                     const uint32_t count, Loc loc = Loc::here()) {                                                     \
        static_assert(CONDITION, #NAME ": supported (dst, src): " PAIRS);                                               \
        if ASCEND_IS_AIV {                                                                                              \
            fusedCastRepeats(#NAME, vec::FusedCast::OP, dst, src0, src1, fusedCastParams<T, U>(),                       \
                             vec::laneTotal(loc, #NAME, count), loc);                                                   \
        }                                                                                                               \
    }
#define PYTO_VEC_RELU_CAST_PAIRS                                                                          \
    (IsSameType<T, int8_t>::value && SupportType<U, half, int16_t>()) ||                                  \
        (IsSameType<T, half>::value && IsSameType<U, float>::value)
PYTO_VEC_FUSED_CAST(AddReluCast, AddRelu, (PYTO_VEC_RELU_CAST_PAIRS), "(int8_t, half), (half, float), (int8_t, int16_t)")
PYTO_VEC_FUSED_CAST(SubReluCast, SubRelu, (PYTO_VEC_RELU_CAST_PAIRS), "(int8_t, half), (half, float), (int8_t, int16_t)")
PYTO_VEC_FUSED_CAST(MulCast, Mul, (SupportType<T, int8_t, uint8_t>() && IsSameType<U, half>::value),
                    "(int8_t, half), (uint8_t, half)")

// dst = max(half((src0 + src1) * scale), 0), the scale from SetDeqScale(half). The chip's library also overwrites both
// sources and its scratch in UB, which is not imitated.
template <class T, class U>
inline void addDeqReluRepeats(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
                              const BinaryRepeatParams& p, const vec::Lanes& lanes, Loc loc) {
    static_assert(IsSameType<T, half>::value && IsSameType<U, int32_t>::value,
                  "AddDeqRelu: supported (dst, src): (half, int32_t)");
    const vec::Span d{dst.ptr(), p.dstBlkStride, p.dstRepStride};
    const vec::Span a{src0.ptr(), p.src0BlkStride, p.src0RepStride};
    const vec::Span b{src1.ptr(), p.src1BlkStride, p.src1RepStride};
    const uint16_t scale = uint16_t(pyto_sim::core().vector.deqScale);
    vec::issueBinary("AddDeqRelu", loc, d, 2, a, b, 4, lanes, false, [=] { vec::add_deq_relu(scale, d, a, b, lanes); });
}
template <typename T, typename U, bool isSetMask = true>
inline void AddDeqRelu(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
                       uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams,
                       Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        addDeqReluRepeats(dst, src0, src1, repeatParams, maskLanes<isSetMask>(loc, "AddDeqRelu", mask, 4, repeatTime), loc);
    }
}
template <typename T, typename U, bool isSetMask = true>
inline void AddDeqRelu(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, uint64_t mask,
                       const uint8_t repeatTime, const BinaryRepeatParams& repeatParams, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        addDeqReluRepeats(dst, src0, src1, repeatParams, maskLanes<isSetMask>(loc, "AddDeqRelu", mask, 4, repeatTime), loc);
    }
}
template <bool isSetMask = true>
inline void AddDeqRelu(const LocalTensor<half>& dst, const LocalTensor<int32_t>& src0, const LocalTensor<int32_t>& src1,
                       uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams,
                       Loc loc = Loc::here()) {
    AddDeqRelu<half, int32_t, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams, loc);
}
template <bool isSetMask = true>
inline void AddDeqRelu(const LocalTensor<half>& dst, const LocalTensor<int32_t>& src0, const LocalTensor<int32_t>& src1,
                       uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams,
                       Loc loc = Loc::here()) {
    AddDeqRelu<half, int32_t, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams, loc);
}
template <typename T, typename U>
inline void AddDeqRelu(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
                       const int32_t& count, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        addDeqReluRepeats(dst, src0, src1, BinaryRepeatParams(1, 1, 1, 4, 8, 8), vec::laneTotal(loc, "AddDeqRelu", count),
                          loc);
    }
}

PYTO_ASCENDC_END
