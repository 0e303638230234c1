// Transpositions: 16x16 tiles, NCHW <-> NHWC, and TransDataTo5HD over lists of sixteen block addresses.
#pragma once
#include "pyto_sim/vector/call.h"

PYTO_ASCENDC_BEGIN

template <typename T>
inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, Loc loc = Loc::here()) {
    PYTO_VEC_TYPES("Transpose", T, int16_t, uint16_t, half);
    if ASCEND_IS_AIV {
        T* to = dst.ptr();
        const T* from = src.ptr();
        vec::verifyRange(loc, "Transpose", to, 512, 32);
        vec::verifyRange(loc, "Transpose", from, 512, 32);
        pyto_sim::issue("Transpose", PIPE_V, loc,
                        [&](pyto_sim::Record& r) {
                            r.read(from, 512);
                            r.write(to, 512);
                            r.work = 256;
                        },
                        [=] { vec::transpose16(to, from); });
    }
}

template <typename T>
inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                      const TransposeParamsExt& params, Loc loc = Loc::here()) {
    PYTO_VEC_TYPES("Transpose", T, int8_t, uint8_t, int16_t, uint16_t, half, int32_t, uint32_t, float);
    if ASCEND_IS_AIV {
        if (params.transposeType == TransposeType::TRANSPOSE_TYPE_NONE) return;
        if (params.transposeType == TransposeType::TRANSPOSE_ND2ND_B16) {
            if constexpr (sizeof(T) == 2) {
                Transpose(dst.template ReinterpretCast<uint16_t>(), src.template ReinterpretCast<uint16_t>(), loc);
            } else {
                pyto_sim::fail(loc, "Transpose: TRANSPOSE_ND2ND_B16 needs a 16-bit element type");
            }
            return;
        }
        const bool toNhwc = params.transposeType == TransposeType::TRANSPOSE_NCHW2NHWC;
        if (unlikely(!toNhwc && params.transposeType != TransposeType::TRANSPOSE_NHWC2NCHW))
            pyto_sim::fail(loc, "Transpose: transposeType %d is not available; available: TRANSPOSE_ND2ND_B16, "
                                "TRANSPOSE_NCHW2NHWC, TRANSPOSE_NHWC2NCHW", int(params.transposeType));
        const uint32_t images = params.nSize, channels = params.cSize;
        const uint32_t inner = uint32_t(params.hSize) * params.wSize;
        if (unlikely(inner * kSize<T> % 32 != 0))
            pyto_sim::fail(loc, "Transpose: hSize * wSize (%u elements) is not a multiple of 32 bytes", inner);
        const uint64_t bytes = uint64_t(images) * channels * inner * sizeof(T);
        if (bytes == 0) return;
        T* to = dst.ptr();
        const T* from = src.ptr();
        vec::verifyRange(loc, "Transpose", to, bytes, 32);
        vec::verifyRange(loc, "Transpose", from, bytes, 32);
        const uint32_t rows = toNhwc ? channels : inner;
        const uint32_t cols = toNhwc ? inner : channels;
        pyto_sim::issue("Transpose", PIPE_V, loc,
                        [&](pyto_sim::Record& r) {
                            r.read(from, bytes);
                            r.write(sharedTmpBuffer.ptr(), sharedTmpBuffer.byteSize());
                            r.write(to, bytes);
                            r.work = bytes / sizeof(T);
                        },
                        [=] { vec::transpose_planes(kSize<T>, to, from, images, rows, cols); });
    }
}

// Sixteen source blocks of 32 bytes are rows; their columns go to the destination blocks. 32-bit: columns 0..7, block 2j
// takes rows 0..7 and block 2j + 1 rows 8..15 of column j. 8-bit: halves of blocks. A single repeat starts one repeat stride
// behind the listed addresses, so give it strides of 0.
struct BlockLists {
    uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE];
    uint64_t src[NCHW_CONV_ADDR_LIST_SIZE];
};
template <class T>
inline void transDataLists(const BlockLists& lists, const TransDataTo5HDParams& p, Loc loc) {
    PYTO_VEC_TYPES("TransDataTo5HD", T, int8_t, uint8_t, int16_t, uint16_t, half, float, int32_t, uint32_t);
    const uint32_t repeats = p.repeatTimes;
    if (repeats == 0) return;
    const uint32_t last = repeats == 1 ? 1 : repeats - 1;
    for (int i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
        vec::verifyRange(loc, "TransDataTo5HD", reinterpret_cast<const void*>(uintptr_t(lists.dst[i])),
                         uint64_t(last) * p.dstRepStride * 32 + 32, 32);
        vec::verifyRange(loc, "TransDataTo5HD", reinterpret_cast<const void*>(uintptr_t(lists.src[i])),
                         uint64_t(last) * p.srcRepStride * 32 + 32, 32);
    }
    const TransDataTo5HDParams params = p;
    pyto_sim::issue("TransDataTo5HD", PIPE_V, loc,
                    [&](pyto_sim::Record& r) {
                        const uint64_t first = repeats == 1 ? 1 : 0;
                        for (int i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
                            r.readRows(reinterpret_cast<const uint8_t*>(uintptr_t(lists.src[i])) + first * p.srcRepStride * 32, 32,
                                       repeats, int64_t(p.srcRepStride) * 32);
                            r.writeRows(reinterpret_cast<const uint8_t*>(uintptr_t(lists.dst[i])) + first * p.dstRepStride * 32,
                                        32, repeats, int64_t(p.dstRepStride) * 32);
                        }
                        r.work = uint64_t(repeats) * 512 / sizeof(T);
                    },
                    [=] {
                        vec::transdata_5hd(kSize<T>, lists.dst, lists.src, params.dstHighHalf, params.srcHighHalf,
                                           params.repeatTimes, params.dstRepStride, params.srcRepStride);
                    });
}

template <typename T>
inline void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE], const TransDataTo5HDParams& nchwconvParams,
                           Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        BlockLists lists;
        for (int i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
            lists.dst[i] = dstList[i].GetPhyAddr();
            lists.src[i] = srcList[i].GetPhyAddr();
        }
        transDataLists<T>(lists, nchwconvParams, loc);
    }
}
template <typename T>
inline void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams& nchwconvParams, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        BlockLists lists;
        std::memcpy(lists.dst, dstList, sizeof lists.dst);
        std::memcpy(lists.src, srcList, sizeof lists.src);
        transDataLists<T>(lists, nchwconvParams, loc);
    }
}
// The addresses lie in UB.
template <typename T>
inline void TransDataTo5HD(const LocalTensor<uint64_t>& dst, const LocalTensor<uint64_t>& src,
                           const TransDataTo5HDParams& nchwconvParams, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        BlockLists lists;
        std::memcpy(lists.dst, dst.ptr(), sizeof lists.dst);
        std::memcpy(lists.src, src.ptr(), sizeof lists.src);
        transDataLists<T>(lists, nchwconvParams, loc);
    }
}

PYTO_ASCENDC_END
