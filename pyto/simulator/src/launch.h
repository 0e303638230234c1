// What one launch shares between its cores, and how a core waits.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "atomic.h"
#include "pyto_launch.h"
#include "pyto_sim/core.h"

namespace pyto_sim {

constexpr int kCrossFlags = 16;
constexpr int kMaxCrossFlag = 15;

struct GmRange {
    const uint8_t* begin;
    const uint8_t* end;
    bool input;     // bound as IN
    bool constant;  // and overlapping nothing that the kernel may write
};

struct CrossFlags {
    std::atomic<int> ready[kCrossFlags];     // sets this core may consume
    std::atomic<int> given[3][kCrossFlags];  // sets by this core per mode, not yet matched by the other members
};

struct LaunchState {
    const KernelInfo* kernel;
    KernelCall call;
    const void* arguments;
    int blocks;
    int cubes;    // cube cores a block
    int vectors;  // vector cores a block
    bool mayWait;
    std::vector<GmRange> ranges;
    uint64_t serial;  // of this launch in the process

    std::atomic<int> nextBlock{0};
    std::atomic<bool> failed{false};
    std::mutex mutex;  // everything below
    std::condition_variable changed;
    std::atomic<uint64_t> epoch{0};  // grows when a core may have become runnable on another worker
    int sleeping = 0;                // workers asleep since the last change of epoch
    int working = 0;                 // workers that have not run out of blocks
    std::string message;
    int status = 0;

    std::unique_ptr<CrossFlags[]> flags;  // cubes first, then vectors: see flagIndex
    int barrierArrived[3] = {0, 0, 0};    // cube, vector, both
    std::atomic<int> barrierGeneration[3] = {};
    std::map<std::pair<int, int>, std::unique_ptr<std::atomic<int>>> counters;
    std::vector<std::unique_ptr<AtomicLog>> logs;  // by order of application

    int coreCount() const { return blocks * (cubes + vectors); }
    int flagIndex(const Core& core) const {
        return core.cube ? core.block : blocks * cubes + core.block * vectors + core.subBlock;
    }
    int flagIndex(bool cube, int block, int sub) const { return cube ? block : blocks * cubes + block * vectors + sub; }
    int logIndex(const Core& core) const {
        return core.block * (cubes + vectors) + (core.cube ? 0 : cubes + core.subBlock);
    }
    void wakeAll();
};

struct WaitPoint {
    const std::atomic<int>* counter = nullptr;     // runnable when > 0
    const std::atomic<int>* generation = nullptr;  // runnable when != seen
    int seen = 0;
    const char* what = "";
    int id = 0;
    Loc loc = {"", 0};
    bool ready() const {
        return (counter == nullptr || counter->load(std::memory_order_acquire) > 0) &&
               (generation == nullptr || generation->load(std::memory_order_acquire) != seen);
    }
};

// Lets other cores run until the point is reached. Returns at once when it already is.
void waitFor(const WaitPoint& point);

// Runs, or forgets, what a core has recorded.
void runPending(Core& core);
void dropPending(Core& core);

const char* eventName(AscendC::HardEvent event);

// Puts the core's atomics where the launch will apply them in order; with launch.mutex held.
void depositAtomics(LaunchState& launch, Core& core);
void applyDeposited(LaunchState& launch);

}  // namespace pyto_sim
