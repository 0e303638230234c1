#include "core_pool.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "cube_state.h"
#include "fiber.h"

namespace pyto_sim {

namespace {
constexpr uint32_t kChunkBytes = 2u << 20;
constexpr uint32_t kGapBytes = 4096;  // after each memory: kernels may load a vector past a tail
}  // namespace

const char* memName(MemId mem) {
    static const char* const names[] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "bias table", "fixpipe buffer"};
    return names[int(mem)];
}

uint8_t* CorePool::carve(uint32_t bytes) {
    bytes = (bytes + 4095u) & ~4095u;
    if (bytes > chunkLeft_) {
        void* raw = mmap(nullptr, 2 * size_t(kChunkBytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (raw == MAP_FAILED) std::abort();
        const uintptr_t begin = reinterpret_cast<uintptr_t>(raw);
        const uintptr_t aligned = (begin + kChunkBytes - 1) & ~uintptr_t(kChunkBytes - 1);
        if (aligned > begin) munmap(raw, aligned - begin);
        munmap(reinterpret_cast<void*>(aligned + kChunkBytes), begin + kChunkBytes - aligned);
        chunk_ = reinterpret_cast<uint8_t*>(aligned);
        chunkLeft_ = kChunkBytes;
#if defined(MADV_HUGEPAGE)
        madvise(chunk_, kChunkBytes, MADV_HUGEPAGE);
#endif
    }
    uint8_t* p = chunk_;
    chunk_ += bytes;
    chunkLeft_ -= bytes;
    return p;
}

Fiber* CorePool::create(bool cube) {
    Fiber* f = new Fiber();
    std::memset(static_cast<void*>(&f->core), 0, sizeof f->core);
    f->core.cube = cube;
    f->stack = allocateStack();
    for (int m = 1; m < kMemCount; ++m) {
        const bool has = cube ? MemId(m) != MemId::Ub : MemId(m) == MemId::Ub;
        if (has) f->core.mem[m] = carve(kMemBytes[m] + kGapBytes);
    }
    if (cube) f->core.cubeState = createCubeState();
    f->core.atomicLog = new AtomicLog();
    return f;
}

Fiber* CorePool::take(bool cube) {
    std::vector<Fiber*>& list = free_[cube];
    if (list.empty()) return create(cube);
    Fiber* f = list.back();
    list.pop_back();
    return f;
}

void CorePool::give(Fiber* fiber) { free_[fiber->core.cube].push_back(fiber); }

void resetCore(Core& core) {
    dropPending(core);
    core.atomic = {AtomicOp::None, DataType::Other};
    std::memset(core.flag, 0, sizeof core.flag);
    std::memset(core.eventUsed, 0, sizeof core.eventUsed);
    core.pipe = nullptr;
    core.deqScale = 0;
    std::memset(core.fixpipeConfig, 0, sizeof core.fixpipeConfig);
    std::memset(&core.vector, 0, sizeof core.vector);
    core.vector.mask[0] = core.vector.mask[1] = ~uint64_t(0);
    core.atomicLog->clear();
    if (core.cubeState != nullptr) resetCubeState(*core.cubeState, core.launch->serial);
}

}  // namespace pyto_sim
