// The vector unit's registers that outlive an instruction: mask, compare mask, results that scalar code reads back.
// Owned by pyto_sim/vector; zeroed, and the mask set to all ones, at the start of every block.
#pragma once
#include <cstdint>

namespace pyto_sim {

struct VectorState {
    uint64_t mask[2];            // low 64 lanes, high 64 lanes
    bool counterMode;            // SetMaskCount: mask[0] is a number of elements
    uint64_t cmpMask[2];         // result of Compare without destination, operand of the Select forms without a mask
    uint64_t sumBits;            // bits of the last ReduceSum over a count: GetAccVal
    uint64_t extreme;            // last whole or repeat maximum / minimum: value bits, index in the high 32 bits
    uint64_t deqScale;           // SetDeqScale: the register's bits
    const uint64_t* deqVector;   // SetDeqScale with a tensor: 16 such words in UB
    uint16_t merged[4];          // elements MrgSort took from each list
};

}  // namespace pyto_sim
