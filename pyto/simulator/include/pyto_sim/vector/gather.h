// Gather by byte offsets, Gatherb by blocks, GatherMask by patterns.
#pragma once
#include "pyto_sim/vector/call.h"

PYTO_ASCENDC_BEGIN

// Bytes from `data` to the end of UB: offsets beyond are refused.
inline uint64_t bytesToEnd(const void* data) {
    const uint8_t* base = pyto_sim::core().mem[int(pyto_sim::MemId::Ub)];
    return uint64_t(base + pyto_sim::kMemBytes[int(pyto_sim::MemId::Ub)] - static_cast<const uint8_t*>(data));
}

template <class T>
inline void gatherLanes(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
                        uint32_t base, uint32_t dstRep, const vec::Lanes& lanes, Loc loc) {
    PYTO_VEC_TYPES("Gather", T, half, bfloat16_t, uint16_t, int16_t, float, uint32_t, int32_t);
    const vec::Span d{dst.ptr(), 1, dstRep};
    const uint8_t* from = reinterpret_cast<const uint8_t*>(src.ptr()) + base;
    vec::verifyRange(loc, "Gather", src.ptr(), base, 32);
    const uint32_t size = kSize<T>;
    vec::verify(loc, "Gather", &d, &size, 1, lanes);
    const uint64_t offsets = (lanes.counter ? lanes.low : uint64_t(lanes.repeats) * (256 / size)) * 4;
    const uint64_t limit = bytesToEnd(from);
    const uint64_t readable = src.byteSize() > base ? src.byteSize() - base : 0;
    T* to = dst.ptr();
    const uint32_t* offset = srcOffset.ptr();
    vec::verifyRange(loc, "Gather", offset, lanes.counter ? offsets : 0, 32);
    pyto_sim::issue("Gather", PIPE_V, loc,
                    [&](pyto_sim::Record& r) {
                        r.read(from, readable);
                        r.read(offset, offsets);
                        vec::describe(r, true, d, size, size, lanes);
                        r.work = vec::activeLanes(size, lanes);
                    },
                    [=] {
                        if (unlikely(!vec::gather(size, to, from, limit, offset, dstRep, lanes)))
                            pyto_sim::fail(loc, "Gather: a byte offset points past the end of UB");
                    });
}

template <typename T>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
                   const uint32_t srcBaseOffset, const uint64_t mask, const uint8_t repeatTime, const uint16_t dstRepStride,
                   Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        gatherLanes(dst, src, srcOffset, srcBaseOffset, dstRepStride, maskLanes<true>(loc, "Gather", mask, kSize<T>, repeatTime),
                    loc);
    }
}
template <typename T>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
                   const uint32_t srcBaseOffset, const uint64_t mask[], const uint8_t repeatTime, const uint16_t dstRepStride,
                   Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        gatherLanes(dst, src, srcOffset, srcBaseOffset, dstRepStride, maskLanes<true>(loc, "Gather", mask, kSize<T>, repeatTime),
                    loc);
    }
}
// The chip's library passes count / (256 / sizeof(T)) as an 8-bit repeat time.
template <typename T>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
                   const uint32_t srcBaseOffset, const uint32_t count, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        if (unlikely(count * sizeof(T) / 256 > 255))
            pyto_sim::fail(loc, "Gather: count %u needs more than 255 repeats: split the call", count);
        gatherLanes(dst, src, srcOffset, srcBaseOffset, 8, vec::laneTotal(loc, "Gather", count), loc);
    }
}

template <typename T>
inline void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& offset,
                    const uint8_t repeatTime, const GatherRepeatParams& repeatParams, Loc loc = Loc::here()) {
    PYTO_VEC_TYPES("Gatherb", T, uint16_t, uint32_t);
    if ASCEND_IS_AIV {
        uint64_t* mask = pyto_sim::core().vector.mask;
        mask[0] = mask[1] = ~uint64_t(0);
        if (repeatTime == 0) return;
        const uint32_t blk = repeatParams.dstBlkStride == 0 ? 1 : repeatParams.dstBlkStride;
        const uint32_t rep = repeatParams.dstRepStride;
        T* to = dst.ptr();
        const T* from = src.ptr();
        const uint32_t* at = offset.ptr();
        vec::verifyRange(loc, "Gatherb", to, (uint64_t(repeatTime - 1) * rep + 7u * blk + 1) * 32, 32);
        vec::verifyRange(loc, "Gatherb", from, 0, 32);
        vec::verifyRange(loc, "Gatherb", at, uint64_t(repeatTime) * 32, 32);
        const uint64_t limit = bytesToEnd(from);
        pyto_sim::issue("Gatherb", PIPE_V, loc,
                        [&](pyto_sim::Record& r) {
                            r.read(from, src.byteSize());
                            r.read(at, uint64_t(repeatTime) * 32);
                            vec::describe(r, true, {to, blk, rep}, 4, 4, {~uint64_t(0), 0, repeatTime, false});
                            r.work = uint64_t(repeatTime) * 256 / sizeof(T);
                        },
                        [=] {
                            if (unlikely(!vec::gather_blocks(to, from, limit, at, repeatTime, blk, rep)))
                                pyto_sim::fail(loc, "Gatherb: a byte offset points past the end of UB");
                        });
    }
}

// Kept elements follow each other in dst. reduceMode: `mask` elements of each repeat (counter mode), else 256 bytes. Leaves
// the mask register with what it used and the mode normal: follow with ResetMask().
template <class T>
inline void gatherMaskRepeats(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const void* bits, uint32_t pattern,
                              bool reduceMode, uint32_t mask, const GatherMaskParams& p, uint64_t& rsvdCnt, Loc loc) {
    PYTO_VEC_TYPES("GatherMask", T, half, bfloat16_t, uint16_t, int16_t, float, uint32_t, int32_t);
    pyto_sim::VectorState& state = pyto_sim::core().vector;
    state.counterMode = false;
    state.mask[0] = mask;
    state.mask[1] = 0;
    rsvdCnt = 0;
    if (unlikely(reduceMode && mask == 0)) pyto_sim::fail(loc, "GatherMask: reduceMode needs a mask of at least 1");
    const uint32_t perRepeat = reduceMode ? mask : 256 / kSize<T>;
    const uint32_t repeats = p.repeatTimes;
    if (repeats == 0) return;
    const vec::Span a{src0.ptr(), p.src0BlockStride, p.src0RepeatStride};
    const uint32_t perBlock = 32 / kSize<T>;
    const uint64_t rowBytes = uint64_t((perRepeat - 1) / perBlock) * a.blk * 32 + ((perRepeat - 1) % perBlock + 1) * kSize<T>;
    const uint64_t bitBytes = (uint64_t(perRepeat) + 7) / 8;
    vec::verifyRange(loc, "GatherMask", a.data, uint64_t(repeats - 1) * a.rep * 32 + rowBytes, 32);
    vec::verifyRange(loc, "GatherMask", dst.ptr(), 0, 32);
    if (bits != nullptr)
        vec::verifyRange(loc, "GatherMask", bits, uint64_t(repeats - 1) * p.src1RepeatStride * 32 + bitBytes, 32);
    T* to = dst.ptr();
    const uint32_t bitsRep = p.src1RepeatStride;
    uint64_t* kept = &rsvdCnt;
    const uint64_t room = bytesToEnd(to) / sizeof(T);
    if (unlikely(bits == nullptr && pattern == 7 && uint64_t(perRepeat) * repeats > room))
        pyto_sim::fail(loc, "GatherMask: the kept elements do not fit into UB");
    pyto_sim::issue("GatherMask", PIPE_V, loc,
                    [&](pyto_sim::Record& r) {
                        if (a.blk == 1) {
                            r.readRows(a.data, rowBytes, repeats, int64_t(a.rep) * 32);
                        } else {
                            r.read(a.data, uint64_t(repeats - 1) * a.rep * 32 + rowBytes);
                        }
                        if (bits != nullptr) r.readRows(bits, bitBytes, repeats, int64_t(bitsRep) * 32);
                        r.write(to, uint64_t(perRepeat) * repeats * sizeof(T));
                        r.work = uint64_t(perRepeat) * repeats;
                    },
                    [=] { *kept = vec::gather_mask(kSize<T>, to, a, bits, bitsRep, pattern, perRepeat, repeats); });
}
template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<U>& src1Pattern,
                       const bool reduceMode, const uint32_t mask, const GatherMaskParams& gatherMaskParams, uint64_t& rsvdCnt,
                       Loc loc = Loc::here()) {
    static_assert(SupportType<U, uint16_t, uint32_t>() && sizeof(U) == sizeof(T),
                  "GatherMask: the pattern tensor is uint16_t for 16-bit elements and uint32_t for 32-bit elements");
    if ASCEND_IS_AIV {
        gatherMaskRepeats(dst, src0, src1Pattern.ptr(), 0, reduceMode, mask, gatherMaskParams, rsvdCnt, loc);
    }
}
template <typename T, GatherMaskMode mode = defaultGatherMaskMode>
inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const uint8_t src1Pattern, const bool reduceMode,
                       const uint32_t mask, const GatherMaskParams& gatherMaskParams, uint64_t& rsvdCnt,
                       Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        if (unlikely(src1Pattern < 1 || src1Pattern > 7))
            pyto_sim::fail(loc, "GatherMask: pattern %u is not in 1..7", unsigned(src1Pattern));
        gatherMaskRepeats(dst, src0, nullptr, src1Pattern, reduceMode, mask, gatherMaskParams, rsvdCnt, loc);
    }
}

PYTO_ASCENDC_END
