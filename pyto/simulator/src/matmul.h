// Matrix multiplication of L0 operands.
#pragma once
#include <cstdint>

#include "pyto_sim/core.h"

namespace pyto_sim {

// The AMX tile registers of this thread. Another library on the thread may rely on its own configuration, so the first
// use in a launch saves it and the end of the launch restores it.
class ThreadTiles {
public:
    ThreadTiles();
    ~ThreadTiles();
};

}  // namespace pyto_sim
