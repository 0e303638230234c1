// Buffers and event ids of TPipe, in the library.
#pragma once
#include "pyto_sim/core.h"

namespace pyto_sim {

struct QueueBuffer {
    uint32_t address;
    uint32_t bytes;
    AscendC::TBufState state;
    int8_t enqueEvent;  // event id set by EnQue, -1 none
    int8_t freeEvent;   // event id set by FreeTensor, -1 none
    AscendC::HardEvent freeKind;
};

int8_t allocateEvent(AscendC::HardEvent event, Loc loc);
void releaseEvent(AscendC::HardEvent event, int id);
int8_t firstFreeEvent(AscendC::HardEvent event, Loc loc);

// Bump allocation in one memory. Shared by TPipe (whole memories) and TBufPool (a slice of one).
struct BufferSpace {
    static constexpr int kMaxBuffers = 64;
    QueueBuffer buffers[kMaxBuffers];
    int count = 0;
    QueueBuffer* take(Loc loc, MemId mem, uint32_t& cursor, uint32_t limit, uint32_t num, uint32_t bytes);
};

}  // namespace pyto_sim
