// DataCopy of multi-dimensional slices: a loop over the pieces of the innermost dimension.
#pragma once
#include "pyto_sim/data_copy.h"

namespace pyto_sim {

// Walks the pieces of a slice. Dimension 0 has pieces of burstLen 32 B blocks, the others single indices.
template <class Info>
struct SliceWalk {
    const Info* info;
    uint32_t dims;
    uint32_t index[8] = {0};
    uint32_t elementBytes;

    uint32_t piece() const { return info[0].burstLen * 32 / elementBytes; }
    uint32_t step(uint32_t d) const { return (d == 0 ? piece() : 1) + info[d].stride; }
    uint64_t offset() const {
        uint64_t at = 0, size = 1;
        for (uint32_t d = 0; d < dims; ++d) {
            at += uint64_t(info[d].startIndex + index[d] * step(d)) * size;
            size *= info[d].shapeValue;
        }
        return at;
    }
    bool next() {
        for (uint32_t d = 0; d < dims; ++d) {
            ++index[d];
            const uint64_t last =
                uint64_t(info[d].startIndex) + uint64_t(index[d]) * step(d) + (d == 0 ? piece() : 1) - 1;
            if (last <= info[d].endIndex) return true;
            index[d] = 0;
        }
        return false;
    }
};

}  // namespace pyto_sim

PYTO_ASCENDC_BEGIN

template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const SliceInfo dstSliceInfo[],
                                const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1, Loc loc = Loc::here()) {
    if (dimValue == 0 || dimValue > 8) pyto_sim::fail(loc, "DataCopy with SliceInfo: %u dimensions; 1 to 8", dimValue);
    pyto_sim::SliceWalk<SliceInfo> from{srcSliceInfo, dimValue, {0}, sizeof(T)},
        to{dstSliceInfo, dimValue, {0}, sizeof(T)};
    const int64_t bytes = int64_t(srcSliceInfo[0].burstLen) * 32;
    do {
        pyto_sim::issueCopyIn("DataCopy(SliceInfo)", dst[uint32_t(to.offset())], src[from.offset()],
                              {uint64_t(bytes), 1, bytes, bytes}, loc);
    } while (from.next() && to.next());
}

template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const SliceInfo dstSliceInfo[],
                                const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1, Loc loc = Loc::here()) {
    if (dimValue == 0 || dimValue > 8) pyto_sim::fail(loc, "DataCopy with SliceInfo: %u dimensions; 1 to 8", dimValue);
    pyto_sim::SliceWalk<SliceInfo> from{srcSliceInfo, dimValue, {0}, sizeof(T)},
        to{dstSliceInfo, dimValue, {0}, sizeof(T)};
    const int64_t bytes = int64_t(srcSliceInfo[0].burstLen) * 32;
    do {
        pyto_sim::issueCopyOut("DataCopy(SliceInfo)", dst[to.offset()], src[uint32_t(from.offset())],
                               {uint64_t(bytes), 1, bytes, bytes}, loc);
    } while (from.next() && to.next());
}

PYTO_ASCENDC_END
