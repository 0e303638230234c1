#include "pyto_sim/queue_functions.h"

#include "launch.h"

namespace pyto_sim {

int8_t firstFreeEvent(AscendC::HardEvent event, Loc loc) {
    const unsigned used = core().eventUsed[int(event)];
    if (used == 0xff) fail(loc, "all 8 event ids of HardEvent::%s are in use", eventName(event));
    return int8_t(__builtin_ctz(~used));
}

int8_t allocateEvent(AscendC::HardEvent event, Loc loc) {
    const int8_t id = firstFreeEvent(event, loc);
    core().eventUsed[int(event)] |= uint8_t(1u << id);
    return id;
}

void releaseEvent(AscendC::HardEvent event, int id) { core().eventUsed[int(event)] &= uint8_t(~(1u << id)); }

QueueBuffer* BufferSpace::take(Loc loc, MemId mem, uint32_t& cursor, uint32_t limit, uint32_t num, uint32_t bytes) {
    if (num == 0) fail(loc, "InitBuffer: zero buffers");
    if (count + int(num) > kMaxBuffers) fail(loc, "InitBuffer: more than %d buffers", kMaxBuffers);
    const uint64_t each = (uint64_t(bytes) + 31) / 32 * 32;
    if (cursor + each * num > limit)
        fail(loc, "InitBuffer: %u buffer(s) of %llu bytes on top of the %u in use do not fit into %s of %u bytes", num,
             (unsigned long long)each, cursor, memName(mem), limit);
    QueueBuffer* first = &buffers[count];
    for (uint32_t i = 0; i < num; ++i) {
        buffers[count++] = {cursor, uint32_t(each), AscendC::TBufState::FREE, -1, -1, AscendC::HardEvent::MAX};
        cursor += uint32_t(each);
    }
    return first;
}

}  // namespace pyto_sim
