// Sorting of 8-byte (score, index) pairs, descending: Sort32 inside groups of 32, MrgSort across lists, Sort over all.
#pragma once
#include "pyto_sim/vector/call.h"

PYTO_ASCENDC_BEGIN

#define PYTO_VEC_SORT_TYPE(API, T) PYTO_VEC_TYPES(API, T, half, float)

template <typename T>
inline void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<uint32_t>& src1,
                   const int32_t repeatTime, Loc loc = Loc::here()) {
    PYTO_VEC_SORT_TYPE("Sort32", T);
    if ASCEND_IS_AIV {
        if (unlikely(repeatTime < 0 || repeatTime > 255)) pyto_sim::fail(loc, "Sort32: repeatTime %d is not in 0..255", repeatTime);
        if (repeatTime == 0) return;
        const uint64_t n = uint64_t(repeatTime) * 32;
        T* to = dst.ptr();
        const T* score = src0.ptr();
        const uint32_t* index = src1.ptr();
        vec::verifyRange(loc, "Sort32", to, n * 8, 32);
        vec::verifyRange(loc, "Sort32", score, n * sizeof(T), 32);
        vec::verifyRange(loc, "Sort32", index, n * 4, 32);
        const uint32_t repeats = uint32_t(repeatTime);
        pyto_sim::issue("Sort32", PIPE_V, loc,
                        [&](pyto_sim::Record& r) {
                            r.read(score, n * sizeof(T));
                            r.read(index, n * 4);
                            r.write(to, n * 8);
                            r.work = n;
                        },
                        [=] { vec::sort32(vec::ElemOf<T>::value, to, score, index, repeats); });
    }
}

// Up to four descending lists into one. Repeats (four equal lists, one behind the other, no suspension) step all lists and
// the destination by the four lengths together.
template <typename T>
inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const MrgSort4Info& params, Loc loc = Loc::here()) {
    PYTO_VEC_SORT_TYPE("MrgSort", T);
    if ASCEND_IS_AIV {
        const uint32_t lists = params.validBit == 3 ? 2 : params.validBit == 7 ? 3 : params.validBit == 15 ? 4 : 0;
        if (unlikely(lists == 0)) pyto_sim::fail(loc, "MrgSort: validBit %u is not 3, 7 or 15", unsigned(params.validBit));
        const LocalTensor<T>* tensors[4] = {&src.src1, &src.src2, &src.src3, &src.src4};
        struct Lists {
            const uint8_t* from[4];
            uint16_t length[4];
        } in{};
        uint64_t total = 0;
        for (uint32_t k = 0; k < lists; ++k) {
            in.from[k] = reinterpret_cast<const uint8_t*>(tensors[k]->ptr());
            in.length[k] = params.elementLengths[k];
            if (unlikely(in.length[k] > 4095)) pyto_sim::fail(loc, "MrgSort: list %u has %u elements, at most 4095", k, unsigned(in.length[k]));
            total += in.length[k];
        }
        const uint32_t repeats = params.repeatTimes;
        if (repeats == 0) return;
        const bool stop = params.ifExhaustedSuspension;
        if (unlikely(repeats > 1)) {
            bool chained = lists == 4 && !stop;
            for (uint32_t k = 1; k < lists; ++k)
                chained = chained && in.length[k] == in.length[0] && in.from[k] == in.from[k - 1] + in.length[0] * 8u;
            if (!chained)
                pyto_sim::fail(loc, "MrgSort: repeatTimes %u needs four lists of one length, one behind the other, and no suspension",
                               repeats);
        }
        for (uint32_t k = 0; k < lists; ++k)
            vec::verifyRange(loc, "MrgSort", in.from[k], (repeats - 1) * total * 8 + in.length[k] * 8u, 8);
        T* to = dst.ptr();
        vec::verifyRange(loc, "MrgSort", to, repeats * total * 8, 32);
        pyto_sim::Core* core = &pyto_sim::core();
        pyto_sim::issue("MrgSort", PIPE_V, loc,
                        [&](pyto_sim::Record& r) {
                            for (uint32_t k = 0; k < lists; ++k)
                                r.readRows(in.from[k], in.length[k] * 8u, repeats, int64_t(total * 8));
                            r.write(to, repeats * total * 8);
                            r.work = repeats * total;
                        },
                        [=] {
                            for (uint32_t n = 0; n < repeats; ++n) {
                                const void* from[4];
                                for (uint32_t k = 0; k < 4; ++k) from[k] = k < lists ? in.from[k] + n * total * 8 : nullptr;
                                vec::merge_sort(vec::ElemOf<T>::value, reinterpret_cast<uint8_t*>(to) + n * total * 8, from,
                                                in.length, lists, stop, core->vector.merged);
                            }
                        });
    }
}
template <typename T, bool isExhaustedSuspension = false>
inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& sortList, const uint16_t elementCountList[4],
                    uint32_t sortedNum[4], uint16_t validBit, const int32_t repeatTime, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        MrgSort(dst, sortList, MrgSort4Info(elementCountList, isExhaustedSuspension, validBit, uint16_t(repeatTime)), loc);
        if constexpr (isExhaustedSuspension) {
            for (int k = 0; k < 4; ++k) sortedNum[k] = pyto_sim::core().vector.merged[k];
        } else {
            (void)sortedNum;
        }
    }
}
// Elements the last MrgSort took from each list.
inline void GetMrgSortResult(uint16_t& mrgSortList1, uint16_t& mrgSortList2, uint16_t& mrgSortList3, uint16_t& mrgSortList4) {
    if ASCEND_IS_AIV {
        const uint16_t* merged = pyto_sim::core().vector.merged;
        mrgSortList1 = merged[0];
        mrgSortList2 = merged[1];
        mrgSortList3 = merged[2];
        mrgSortList4 = merged[3];
    }
}

// Elements of T that a number of (score, index) pairs occupies.
template <typename T>
inline uint32_t GetSortOffset(const uint32_t elemOffset) {
    PYTO_VEC_SORT_TYPE("GetSortOffset", T);
    return elemOffset * (8 / kSize<T>);
}
template <typename T>
inline uint32_t GetSortLen(const uint32_t elemCount) {
    PYTO_VEC_SORT_TYPE("GetSortLen", T);
    return elemCount * (8 / kSize<T>);
}

// On this chip scores are sorted as they are: the result is the source.
template <typename T>
inline void Concat(LocalTensor<T>& concat, const LocalTensor<T>& src, const LocalTensor<T>& tmp, const int32_t repeatTime) {
    PYTO_VEC_SORT_TYPE("Concat", T);
    (void)tmp;
    (void)repeatTime;
    concat = src;
}
// Splits repeatTime * 32 pairs into values and indices.
template <typename T>
inline void Extract(const LocalTensor<T>& dstValue, const LocalTensor<uint32_t>& dstIndex, const LocalTensor<T>& sorted,
                    const int32_t repeatTime, Loc loc = Loc::here()) {
    PYTO_VEC_SORT_TYPE("Extract", T);
    if ASCEND_IS_AIV {
        if (unlikely(repeatTime < 0 || repeatTime > 255)) pyto_sim::fail(loc, "Extract: repeatTime %d is not in 0..255", repeatTime);
        if (repeatTime == 0) return;
        const uint64_t n = uint64_t(repeatTime) * 32;
        T* value = dstValue.ptr();
        uint32_t* index = dstIndex.ptr();
        const T* from = sorted.ptr();
        vec::verifyRange(loc, "Extract", value, n * sizeof(T), 32);
        vec::verifyRange(loc, "Extract", index, n * 4, 32);
        vec::verifyRange(loc, "Extract", from, n * 8, 32);
        pyto_sim::issue("Extract", PIPE_V, loc,
                        [&](pyto_sim::Record& r) {
                            r.read(from, n * 8);
                            r.write(value, n * sizeof(T));
                            r.write(index, n * 4);
                            r.work = n;
                        },
                        [=] { vec::extract_pairs(vec::ElemOf<T>::value, value, index, from, n); });
    }
}

// Sort32 on repeatTime groups of 32; isFullSort merges the groups, four at a time, through tmp (as large as dst).
template <typename T, bool isFullSort>
inline void Sort(const LocalTensor<T>& dst, const LocalTensor<T>& concat, const LocalTensor<uint32_t>& index,
                 LocalTensor<T>& tmp, const int32_t repeatTime, Loc loc = Loc::here()) {
    PYTO_VEC_SORT_TYPE("Sort", T);
    if ASCEND_IS_AIV {
        Sort32(dst, concat, index, repeatTime, loc);
        if constexpr (isFullSort) {
            if (repeatTime <= 1) return;
            const uint64_t n = uint64_t(repeatTime) * 32;
            T* to = dst.ptr();
            T* room = tmp.ptr();
            vec::verifyRange(loc, "Sort", room, n * 8, 32);
            pyto_sim::issue("Sort", PIPE_V, loc,
                            [&](pyto_sim::Record& r) {
                                r.read(to, n * 8);
                                r.write(room, n * 8);
                                r.write(to, n * 8);
                                r.work = n;
                            },
                            [=] { vec::merge_groups(vec::ElemOf<T>::value, to, room, n); });
        }
    }
}

PYTO_ASCENDC_END
