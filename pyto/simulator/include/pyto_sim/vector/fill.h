// Values without arithmetic: Duplicate, CreateVecIndex, Brcb, Copy.
#pragma once
#include "pyto_sim/vector/call.h"

PYTO_ASCENDC_BEGIN

template <class Body>
inline void issueFill(const char* name, Loc loc, vec::Span dst, uint32_t size, const vec::Lanes& lanes, Body&& body) {
    vec::verify(loc, name, &dst, &size, 1, lanes);
    pyto_sim::issue(name, PIPE_V, loc,
                    [&](pyto_sim::Record& r) {
                        vec::describe(r, true, dst, size, size, lanes);
                        r.work = vec::activeLanes(size, lanes);
                    },
                    std::forward<Body>(body));
}

template <class T>
inline void duplicateRepeats(const LocalTensor<T>& dst, const T& value, uint32_t blk, uint32_t rep, const vec::Lanes& lanes,
                             Loc loc) {
    PYTO_VEC_TYPES("Duplicate", T, half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t, float);
    const vec::Span d{dst.ptr(), blk, rep};
    const uint64_t bits = vec::scalarBits(value);
    issueFill("Duplicate", loc, d, kSize<T>, lanes, [=] { vec::fill(kSize<T>, d, bits, lanes); });
}
template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask, const uint8_t repeatTime,
                      const uint16_t dstBlockStride, const uint8_t dstRepeatStride, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        duplicateRepeats(dst, scalarValue, dstBlockStride, dstRepeatStride,
                         maskLanes<isSetMask>(loc, "Duplicate", mask, kSize<T>, repeatTime), loc);
    }
}
template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask[], const uint8_t repeatTime,
                      const uint16_t dstBlockStride, const uint8_t dstRepeatStride, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        duplicateRepeats(dst, scalarValue, dstBlockStride, dstRepeatStride,
                         maskLanes<isSetMask>(loc, "Duplicate", mask, kSize<T>, repeatTime), loc);
    }
}
template <typename T>
inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, const int32_t& count, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV { duplicateRepeats(dst, scalarValue, 1, 8, vec::laneTotal(loc, "Duplicate", count), loc); }
}

// firstValue, firstValue + 1, ...: the lane number counts, masked lanes included. Built from additions of the block and
// the repeat length, so halves and floats round as they go.
template <class T>
inline void indexRepeats(const LocalTensor<T>& dst, const T& first, uint32_t blk, uint32_t rep, const vec::Lanes& lanes,
                         Loc loc) {
    PYTO_VEC_TYPES("CreateVecIndex", T, half, int16_t, float, int32_t);
    const vec::Span d{dst.ptr(), blk, rep};
    const uint64_t bits = vec::scalarBits(first);
    issueFill("CreateVecIndex", loc, d, kSize<T>, lanes, [=] { vec::iota(vec::ElemOf<T>::value, d, bits, lanes); });
}
template <typename T>
inline void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, uint64_t mask, uint8_t repeatTime,
                           uint16_t dstBlkStride, uint8_t dstRepStride, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        indexRepeats(dst, firstValue, dstBlkStride, dstRepStride,
                     maskLanes<true>(loc, "CreateVecIndex", mask, kSize<T>, repeatTime), loc);
    }
}
template <typename T>
inline void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, uint64_t mask[], uint8_t repeatTime,
                           uint16_t dstBlkStride, uint8_t dstRepStride, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        indexRepeats(dst, firstValue, dstBlkStride, dstRepStride,
                     maskLanes<true>(loc, "CreateVecIndex", mask, kSize<T>, repeatTime), loc);
    }
}
template <typename T>
inline void CreateVecIndex(LocalTensor<T> dst, const T& firstValue, uint32_t count, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV { indexRepeats(dst, firstValue, 1, 8, vec::laneTotal(loc, "CreateVecIndex", count), loc); }
}

// Each of 8 source values a repeat fills one destination block. A block stride of 0 acts as 1.
template <typename T>
inline void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint8_t repeatTime,
                 const BrcbRepeatParams& repeatParams, Loc loc = Loc::here()) {
    PYTO_VEC_TYPES("Brcb", T, int16_t, uint16_t, int32_t, uint32_t, half, bfloat16_t, float);
    if ASCEND_IS_AIV {
        uint64_t* mask = pyto_sim::core().vector.mask;
        mask[0] = mask[1] = ~uint64_t(0);
        if (repeatTime == 0) return;
        T* to = dst.ptr();
        const T* from = src.ptr();
        const uint32_t blk = repeatParams.dstBlkStride == 0 ? 1 : repeatParams.dstBlkStride;
        const uint32_t rep = repeatParams.dstRepStride;
        vec::verifyRange(loc, "Brcb", to, (uint64_t(repeatTime - 1) * rep + 7u * blk + 1) * 32, 32);
        vec::verifyRange(loc, "Brcb", from, uint64_t(repeatTime) * 8 * sizeof(T), 32);
        pyto_sim::issue("Brcb", PIPE_V, loc,
                        [&](pyto_sim::Record& r) {
                            r.read(from, uint64_t(repeatTime) * 8 * sizeof(T));
                            vec::describe(r, true, {to, blk, rep}, 4, 4, {~uint64_t(0), 0, repeatTime, false});
                            r.work = uint64_t(repeatTime) * 256 / sizeof(T);
                        },
                        [=] { vec::brcb(kSize<T>, to, from, repeatTime, blk, rep); });
    }
}

// UB to UB. In counter mode the mask is the number of elements of each repeat, unlike in other instructions.
template <class T>
inline void copyRepeats(const LocalTensor<T>& dst, const LocalTensor<T>& src, const CopyRepeatParams& p, vec::Lanes lanes,
                        uint32_t repeats, Loc loc) {
    PYTO_VEC_TYPES("Copy", T, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float);
    if (lanes.counter) {
        const uint64_t n = lanes.low;
        lanes = {n >= 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1,
                 n >= 128 ? ~uint64_t(0) : n > 64 ? (uint64_t(1) << (n - 64)) - 1 : 0, repeats, false};
    }
    const vec::Span d{dst.ptr(), p.dstStride, p.dstRepeatSize};
    const vec::Span a{src.ptr(), p.srcStride, p.srcRepeatSize};
    vec::issueUnary("Copy", loc, d, kSize<T>, a, kSize<T>, lanes, false, [=] { vec::copy(kSize<T>, d, a, lanes); });
}
template <typename T, bool isSetMask = true>
inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[], const uint8_t repeatTime,
                 const CopyRepeatParams& repeatParams, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        copyRepeats(dst, src, repeatParams, maskLanes<isSetMask>(loc, "Copy", mask, kSize<T>, repeatTime), repeatTime, loc);
    }
}
template <typename T, bool isSetMask = true>
inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask, const uint8_t repeatTime,
                 const CopyRepeatParams& repeatParams, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        copyRepeats(dst, src, repeatParams, maskLanes<isSetMask>(loc, "Copy", mask, kSize<T>, repeatTime), repeatTime, loc);
    }
}

PYTO_ASCENDC_END
