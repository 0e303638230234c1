// Cores for re-use: memories on huge pages, a stack each. One pool a worker thread, so nothing here is locked.
#pragma once
#include <cstdint>
#include <vector>

#include "launch.h"
#include "pyto_sim/core.h"

namespace pyto_sim {

struct Group;
struct Worker;

struct Fiber {
    Core core;
    uint8_t* stack = nullptr;
    void* resume = nullptr;  // stack pointer while not running
    bool done = false;
    WaitPoint wait;
    Group* group = nullptr;
    Worker* worker = nullptr;
    void (*entry)() = nullptr;
};

// The cores of one running block.
struct Group {
    std::vector<Fiber*> fibers;
    int live = 0;
    uint32_t pendingAtomics = 0;
};

class CorePool {
public:
    Fiber* take(bool cube);
    void give(Fiber* fiber);

private:
    Fiber* create(bool cube);
    uint8_t* carve(uint32_t bytes);
    std::vector<Fiber*> free_[2];
    uint8_t* chunk_ = nullptr;
    uint32_t chunkLeft_ = 0;
};

void resetCore(Core& core);

}  // namespace pyto_sim
