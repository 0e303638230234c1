// Reductions of blocks, pairs, repeats and whole calls; half and float.
//
// Units of dstRepStride: WholeReduceSum one element; WholeReduceMax/Min what one repeat writes (a value and index pair, a
// value, or 4 bytes of index); BlockReduce 8 elements; PairReduceSum half a repeat. Indices are unsigned integers in the
// element's width.
#pragma once
#include "pyto_sim/vector/call.h"

PYTO_ASCENDC_BEGIN

// dst: `bytes` at every `pitch` bytes, one piece a repeat.
template <class T, class Body>
inline void issueReduce(const char* name, Loc loc, const LocalTensor<T>& dst, uint32_t bytes, uint64_t pitch,
                        uint32_t align, vec::Span a, const vec::Lanes& lanes, Body&& body) {
    PYTO_VEC_TYPES("Reduce", T, half, float);
    const uint32_t size = kSize<T>;
    vec::verify(loc, name, &a, &size, 1, lanes);
    const uint64_t repeats = lanes.counter ? (lanes.low * size + 255) / 256 : lanes.repeats;
    if (repeats == 0) return;
    vec::verifyRange(loc, name, dst.ptr(), (repeats - 1) * pitch + bytes, align);
    pyto_sim::issue(name, PIPE_V, loc,
                    [&](pyto_sim::Record& r) {
                        vec::describe(r, false, a, size, size, lanes);
                        r.writeRows(dst.ptr(), bytes, uint32_t(repeats), int64_t(pitch));
                        r.work = vec::activeLanes(size, lanes);
                    },
                    std::forward<Body>(body));
}
inline void checkReduceRepeats(Loc loc, const char* name, int32_t repeatTime, int32_t dstRep, int32_t srcBlk, int32_t srcRep) {
    if (unlikely(repeatTime < 0 || repeatTime > 255))
        pyto_sim::fail(loc, "%s: repeatTime %d is not in 0..255", name, repeatTime);
    if (unlikely(((dstRep | srcBlk | srcRep) & ~0xffff) != 0))
        pyto_sim::fail(loc, "%s: a stride is not in 0..65535 (dstRepStride %d, srcBlkStride %d, srcRepStride %d)", name, dstRep,
                       srcBlk, srcRep);
}

template <class T>
inline void reduceRepeatLanes(const char* name, ReduceType type, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                              int32_t repeatTime, int32_t dstRep, int32_t srcBlk, int32_t srcRep, ReduceOrder order,
                              const vec::Lanes& lanes, Loc loc) {
    checkReduceRepeats(loc, name, repeatTime, dstRep, srcBlk, srcRep);
    const vec::Span a{src.ptr(), uint32_t(srcBlk), uint32_t(srcRep)};
    T* to = dst.ptr();
    if (type == ReduceType::SUM) {
        const uint32_t pitch = uint32_t(dstRep) * kSize<T>;
        issueReduce(name, loc, dst, kSize<T>, pitch, kSize<T>, a, lanes,
                    [=] { vec::reduce_repeat_sum(vec::ElemOf<T>::value, to, a, pitch, lanes); });
        return;
    }
    const uint32_t unit = order == ReduceOrder::ORDER_ONLY_VALUE ? kSize<T> : order == ReduceOrder::ORDER_ONLY_INDEX ? 4 : 2 * kSize<T>;
    const uint32_t pitch = uint32_t(dstRep) * unit;
    pyto_sim::Core* core = &pyto_sim::core();
    issueReduce(name, loc, dst, unit, pitch, unit, a, lanes, [=] {
        core->vector.extreme = vec::reduce_repeat_extreme(type == ReduceType::MAX, vec::ElemOf<T>::value, to, a, pitch,
                                                          vec::Order(order), lanes);
    });
}
template <class T>
inline void reduceBlockLanes(const char* name, ReduceType type, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                             int32_t repeatTime, int32_t dstRep, int32_t srcBlk, int32_t srcRep, const vec::Lanes& lanes,
                             Loc loc) {
    checkReduceRepeats(loc, name, repeatTime, dstRep, srcBlk, srcRep);
    const vec::Span a{src.ptr(), uint32_t(srcBlk), uint32_t(srcRep)};
    T* to = dst.ptr();
    const uint32_t pitch = uint32_t(dstRep) * 8 * kSize<T>;
    issueReduce(name, loc, dst, 8 * kSize<T>, pitch, 8 * kSize<T>, a, lanes,
                [=] { vec::reduce_block(vec::ReduceOp(type), vec::ElemOf<T>::value, to, a, pitch, lanes); });
}
template <class T>
inline void reducePairLanes(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t repeatTime,
                            int32_t dstRep, int32_t srcBlk, int32_t srcRep, const vec::Lanes& lanes, Loc loc) {
    checkReduceRepeats(loc, name, repeatTime, dstRep, srcBlk, srcRep);
    const vec::Span a{src.ptr(), uint32_t(srcBlk), uint32_t(srcRep)};
    T* to = dst.ptr();
    const uint32_t pitch = uint32_t(dstRep) * 128;
    issueReduce(name, loc, dst, 128, pitch, 32, a, lanes,
                [=] { vec::reduce_pair(vec::ElemOf<T>::value, to, a, pitch, lanes); });
}

inline uint64_t reduceMask(int32_t mask) { return uint64_t(uint32_t(mask)); }
inline const uint64_t* reduceMask(const uint64_t* mask) { return mask; }

#define PYTO_VEC_REDUCE_FORM(MASK)                                                                                      \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                     \
    inline void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<U>& src, MASK, const int32_t repeatTime,      \
                             const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,        \
                             ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, Loc loc = Loc::here()) {               \
        static_assert(IsSameType<T, U>::value, "ReduceRepeat: source and destination have one type on this chip");      \
        if ASCEND_IS_AIV {                                                                                              \
            reduceRepeatLanes("ReduceRepeat", reduceType, dst, src, repeatTime, dstRepStride, srcBlkStride, srcRepStride,\
                              order, maskLanes<isSetMask>(loc, "ReduceRepeat", reduceMask(mask), kSize<T>,              \
                                                          uint32_t(repeatTime)), loc);                                  \
        }                                                                                                               \
    }                                                                                                                   \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                     \
    inline void ReduceDataBlock(const LocalTensor<T>& dst, const LocalTensor<U>& src, MASK, const int32_t repeatTime,   \
                                const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,     \
                                Loc loc = Loc::here()) {                                                                \
        static_assert(IsSameType<T, U>::value, "ReduceDataBlock: source and destination have one type on this chip");   \
        if ASCEND_IS_AIV {                                                                                              \
            reduceBlockLanes("ReduceDataBlock", reduceType, dst, src, repeatTime, dstRepStride, srcBlkStride,           \
                             srcRepStride, maskLanes<isSetMask>(loc, "ReduceDataBlock", reduceMask(mask), kSize<T>,     \
                                                                uint32_t(repeatTime)), loc);                            \
        }                                                                                                               \
    }                                                                                                                   \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                     \
    inline void ReducePairElem(const LocalTensor<T>& dst, const LocalTensor<U>& src, MASK, const int32_t repeatTime,    \
                               const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,      \
                               Loc loc = Loc::here()) {                                                                 \
        static_assert(IsSameType<T, U>::value && reduceType == ReduceType::SUM,                                         \
                      "ReducePairElem: only ReduceType::SUM, and one type, on this chip");                              \
        if ASCEND_IS_AIV {                                                                                              \
            reducePairLanes("ReducePairElem", dst, src, repeatTime, dstRepStride, srcBlkStride, srcRepStride,           \
                            maskLanes<isSetMask>(loc, "ReducePairElem", reduceMask(mask), kSize<T>,                     \
                                                 uint32_t(repeatTime)), loc);                                           \
        }                                                                                                               \
    }                                                                                                                   \
    template <typename T, bool isSetMask = true>                                                                        \
    inline void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, MASK, const int32_t repeatTime,    \
                               const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,      \
                               Loc loc = Loc::here()) {                                                                 \
        if ASCEND_IS_AIV {                                                                                              \
            reduceRepeatLanes("WholeReduceSum", ReduceType::SUM, dst, src, repeatTime, dstRepStride, srcBlkStride,      \
                              srcRepStride, ReduceOrder::ORDER_ONLY_VALUE,                                              \
                              maskLanes<isSetMask>(loc, "WholeReduceSum", reduceMask(mask), kSize<T>,                   \
                                                   uint32_t(repeatTime)), loc);                                         \
        }                                                                                                               \
    }

#define PYTO_VEC_REDUCE_EXTREME(NAME, TYPE, MASK)                                                                       \
    template <typename T, bool isSetMask = true>                                                                        \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, MASK, const int32_t repeatTime,              \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                \
                     ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, Loc loc = Loc::here()) {                       \
        if ASCEND_IS_AIV {                                                                                              \
            reduceRepeatLanes(#NAME, ReduceType::TYPE, dst, src, repeatTime, dstRepStride, srcBlkStride, srcRepStride,  \
                              order, maskLanes<isSetMask>(loc, #NAME, reduceMask(mask), kSize<T>, uint32_t(repeatTime)),\
                              loc);                                                                                     \
        }                                                                                                               \
    }

#define PYTO_VEC_REDUCE_BLOCK(NAME, TYPE, MASK)                                                                         \
    template <typename T, bool isSetMask = true>                                                                        \
    inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, MASK,              \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                \
                     Loc loc = Loc::here()) {                                                                           \
        if ASCEND_IS_AIV {                                                                                              \
            reduceBlockLanes(#NAME, ReduceType::TYPE, dst, src, repeatTime, dstRepStride, srcBlkStride, srcRepStride,   \
                             maskLanes<isSetMask>(loc, #NAME, reduceMask(mask), kSize<T>, uint32_t(repeatTime)), loc);  \
        }                                                                                                               \
    }

#define PYTO_VEC_REDUCE_FORMS(MASK)                                                                                     \
    PYTO_VEC_REDUCE_FORM(MASK)                                                                                          \
    PYTO_VEC_REDUCE_EXTREME(WholeReduceMax, MAX, MASK)                                                                  \
    PYTO_VEC_REDUCE_EXTREME(WholeReduceMin, MIN, MASK)                                                                  \
    PYTO_VEC_REDUCE_BLOCK(BlockReduceSum, SUM, MASK)                                                                    \
    PYTO_VEC_REDUCE_BLOCK(BlockReduceMax, MAX, MASK)                                                                    \
    PYTO_VEC_REDUCE_BLOCK(BlockReduceMin, MIN, MASK)                                                                    \
    template <typename T, bool isSetMask = true>                                                                        \
    inline void PairReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, MASK,     \
                              const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,       \
                              Loc loc = Loc::here()) {                                                                  \
        if ASCEND_IS_AIV {                                                                                              \
            reducePairLanes("PairReduceSum", dst, src, repeatTime, dstRepStride, srcBlkStride, srcRepStride,            \
                            maskLanes<isSetMask>(loc, "PairReduceSum", reduceMask(mask), kSize<T>,                      \
                                                 uint32_t(repeatTime)), loc);                                           \
        }                                                                                                               \
    }

PYTO_VEC_REDUCE_FORMS(const int32_t mask)
PYTO_VEC_REDUCE_FORMS(const uint64_t mask[])

template <typename T, bool isSetMask = true>
inline void RepeatReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                            const int32_t mask, const int32_t dstBlkStride, const int32_t srcBlkStride,
                            const int32_t dstRepStride, const int32_t srcRepStride, Loc loc = Loc::here()) {
    (void)dstBlkStride;
    WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, loc);
}

// ---- one result for the whole call: sharedTmpBuffer is scratch of the chip's implementation ----

template <class T, class Body>
inline void issueReduceAll(const char* name, Loc loc, const LocalTensor<T>& dst, uint32_t results, const LocalTensor<T>& tmp,
                           uint64_t tmpElements, vec::Span a, const vec::Lanes& lanes, Body&& body) {
    PYTO_VEC_TYPES("ReduceSum / ReduceMax / ReduceMin", T, half, float);
    const uint32_t size = kSize<T>;
    vec::verify(loc, name, &a, &size, 1, lanes);
    vec::verifyRange(loc, name, dst.ptr(), uint64_t(results) * size, size);
    if (vec::activeLanes(size, lanes) == 0) return;
    pyto_sim::issue(name, PIPE_V, loc,
                    [&](pyto_sim::Record& r) {
                        vec::describe(r, false, a, size, size, lanes);
                        if (tmpElements != 0) r.write(tmp.ptr(), tmpElements * size);
                        r.write(dst.ptr(), uint64_t(results) * size);
                        r.work = vec::activeLanes(size, lanes);
                    },
                    std::forward<Body>(body));
}

template <class T>
inline void reduceSumLanes(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& tmp, uint64_t tmpElements,
                           int32_t srcRep, bool tree, const vec::Lanes& lanes, Loc loc) {
    const vec::Span a{src.ptr(), 1, uint32_t(srcRep)};
    T* to = dst.ptr();
    pyto_sim::Core* core = &pyto_sim::core();
    issueReduceAll("ReduceSum", loc, dst, 1, tmp, tmpElements, a, lanes, [=] {
        const uint32_t bits = vec::reduce_sum(vec::ElemOf<T>::value, a, tree, lanes);
        std::memcpy(to, &bits, kSize<T>);
        core->vector.sumBits = bits;
    });
}
template <class T>
inline void reduceExtremeLanes(const char* name, bool isMax, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                               const LocalTensor<T>& tmp, uint64_t tmpElements, int32_t srcRep, bool calIndex,
                               const vec::Lanes& lanes, Loc loc) {
    const vec::Span a{src.ptr(), 1, uint32_t(srcRep)};
    T* to = dst.ptr();
    pyto_sim::Core* core = &pyto_sim::core();
    issueReduceAll(name, loc, dst, calIndex ? 2 : 1, tmp, tmpElements, a, lanes, [=] {
        const uint64_t found = vec::reduce_extreme(isMax, vec::ElemOf<T>::value, a, calIndex, lanes);
        std::memcpy(to, &found, kSize<T>);
        const uint32_t index = uint32_t(found >> 32);
        if (calIndex) std::memcpy(to + 1, &index, kSize<T>);
        core->vector.extreme = found;
    });
}

// Repeats add up one after the other; isSetMask = false takes the count from the mask register in counter mode.
template <typename T, bool isSetMask = true>
inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const int32_t count, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        reduceSumLanes(dst, src, sharedTmpBuffer, 0, 8, false,
                       isSetMask ? vec::laneTotal(loc, "ReduceSum", count) : vec::laneState(1), loc);
    }
}
#define PYTO_VEC_REDUCE_ALL(MASK)                                                                                        \
    template <typename T>                                                                                                \
    inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,   \
                          MASK, const int32_t repeatTime, const int32_t srcRepStride, Loc loc = Loc::here()) {           \
        if ASCEND_IS_AIV {                                                                                               \
            reduceSumLanes(dst, src, sharedTmpBuffer, uint64_t(repeatTime), srcRepStride, true,                          \
                           maskLanes<true>(loc, "ReduceSum", reduceMask(mask), kSize<T>, uint32_t(repeatTime)), loc);    \
        }                                                                                                                \
    }                                                                                                                    \
    template <typename T>                                                                                                \
    inline void ReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,   \
                          MASK, const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0,                 \
                          Loc loc = Loc::here()) {                                                                       \
        if ASCEND_IS_AIV {                                                                                               \
            reduceExtremeLanes("ReduceMax", true, dst, src, sharedTmpBuffer, 2 * uint64_t(repeatTime), srcRepStride,     \
                               calIndex, maskLanes<true>(loc, "ReduceMax", reduceMask(mask), kSize<T>,                   \
                                                         uint32_t(repeatTime)), loc);                                    \
        }                                                                                                                \
    }                                                                                                                    \
    template <typename T>                                                                                                \
    inline void ReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,   \
                          MASK, const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0,                 \
                          Loc loc = Loc::here()) {                                                                       \
        if ASCEND_IS_AIV {                                                                                               \
            reduceExtremeLanes("ReduceMin", false, dst, src, sharedTmpBuffer, 2 * uint64_t(repeatTime), srcRepStride,    \
                               calIndex, maskLanes<true>(loc, "ReduceMin", reduceMask(mask), kSize<T>,                   \
                                                         uint32_t(repeatTime)), loc);                                    \
        }                                                                                                                \
    }
PYTO_VEC_REDUCE_ALL(const int32_t mask)
PYTO_VEC_REDUCE_ALL(const uint64_t mask[])

template <class T>
inline uint64_t reduceScratch(int32_t count) {
    const uint64_t repeats = uint64_t(count < 0 ? 0 : count) * sizeof(T) / 256;
    return 2 * (repeats == 0 ? 1 : repeats);
}
template <typename T>
inline void ReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const int32_t count, bool calIndex = 0, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        reduceExtremeLanes("ReduceMax", true, dst, src, sharedTmpBuffer, reduceScratch<T>(count), 8, calIndex,
                           vec::laneTotal(loc, "ReduceMax", count), loc);
    }
}
template <typename T>
inline void ReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const int32_t count, bool calIndex = 0, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        reduceExtremeLanes("ReduceMin", false, dst, src, sharedTmpBuffer, reduceScratch<T>(count), 8, calIndex,
                           vec::laneTotal(loc, "ReduceMin", count), loc);
    }
}

// ---- what the last reduction left in the special registers ----

template <class T>
inline T fromBits(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
// The extreme over all repeats of the last WholeReduceMax / Min; the index, of contiguous data, is an integer in T's bits.
template <typename T>
inline void GetReduceRepeatMaxMinSpr(T& maxMinValue, T& maxMinIndex) {
    PYTO_VEC_TYPES("GetReduceRepeatMaxMinSpr", T, half, float);
    if ASCEND_IS_AIV {
        const uint64_t found = pyto_sim::core().vector.extreme;
        maxMinValue = fromBits<T>(found);
        maxMinIndex = fromBits<T>(found >> 32);
    }
}
template <typename T>
inline void GetReduceMaxMinCount(T& maxMinValue, T& maxMinIndex) {
    GetReduceRepeatMaxMinSpr(maxMinValue, maxMinIndex);
}
template <typename T>
inline void GetReduceRepeatMaxMinSpr(uint32_t& maxMinValue, uint32_t& maxMinIndex) {
    PYTO_VEC_TYPES("GetReduceRepeatMaxMinSpr", T, half, float);
    if ASCEND_IS_AIV {
        const uint64_t found = pyto_sim::core().vector.extreme;
        maxMinValue = uint32_t(found);
        maxMinIndex = uint32_t(found >> 32);
    }
}
template <typename T>
inline void GetReduceMaxMinCount(uint32_t& maxMinValue, uint32_t& maxMinIndex) {
    GetReduceRepeatMaxMinSpr<T>(maxMinValue, maxMinIndex);
}
// The result of the last ReduceSum with a count.
template <typename T>
inline T GetReduceRepeatSumSpr() {
    PYTO_VEC_TYPES("GetReduceRepeatSumSpr", T, half, float);
    if constexpr (g_coreType == AIV) return fromBits<T>(pyto_sim::core().vector.sumBits);
    return T(0);
}
template <typename T>
inline T GetAccVal() {
    return GetReduceRepeatSumSpr<T>();
}

PYTO_ASCENDC_END
