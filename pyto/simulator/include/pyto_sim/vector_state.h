// The vector unit's registers that outlive an instruction: mask, compare mask, scalar operands of some calls.
// Owned by pyto_sim/vector; reset at the start of every block.
#pragma once
#include <cstdint>

namespace pyto_sim {

struct VectorState {
    uint64_t mask[2];      // low 64 lanes, high 64 lanes
    bool counterMode;      // SetMaskCount: mask[0] is a number of elements
    uint64_t cmpMask[2];   // result of Compare without destination, input of VSEL_CMPMASK_SPR
    int64_t accumulator;   // what GetAccVal / GetReduceMaxMinCount return
    uint64_t reduceValue[4];
};

}  // namespace pyto_sim
