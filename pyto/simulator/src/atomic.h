// Float atomics in a fixed order.
//
// Adding floats does not associate, so atomic additions of float, half and bfloat16 to GM are recorded per core and
// applied in block order (cube core, then vector cores) at the next global barrier and at the end of the launch: the
// result does not depend on the number of threads. The block's own later accesses to the bytes see them at once.
// Integer additions, maxima and minima commute and are applied immediately.
#pragma once
#include <cstdint>
#include <vector>

#include "pyto_sim/core.h"

namespace pyto_sim {

struct AtomicEntry {
    uint8_t* dst;
    uint32_t rowBytes;
    uint32_t rows;
    int64_t dstPitch;
    DataType type;
    size_t offset;  // of the data in AtomicLog::data, rows packed
};

struct AtomicLog {
    std::vector<AtomicEntry> entries;
    std::vector<uint8_t> data;
    void clear() {
        entries.clear();
        data.clear();
    }
};

void applyAtomicLog(AtomicLog& log);

// dst op= src for rows of rowBytes, as the mode says; without one a plain copy.
// Before storeRows: applies recorded atomics that a plain store would overtake.
inline void beforeGmStore(AtomicMode atomic, const void* p, uint64_t bytes) {
    if (atomic.op == AtomicOp::None) beforeGmAccess(p, bytes);
}
void storeRows(Core& core, AtomicMode atomic, void* dst, int64_t dstPitch, const void* src, int64_t srcPitch,
               uint64_t rowBytes, uint32_t rows);

}  // namespace pyto_sim
