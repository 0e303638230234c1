// A thread's share of a launch: it starts blocks, runs their cores as fibers, and sleeps when none can go on.
#pragma once
#include <vector>

#include "core_pool.h"
#include "launch.h"

namespace pyto_sim {

constexpr int kStatusKernelError = 1;
constexpr int kStatusDeadlock = 2;
constexpr int kStatusBadLaunch = 3;

struct Worker {
    CorePool pool;
    LaunchState* launch = nullptr;
    void* resume = nullptr;  // of the scheduler's own stack
    Fiber* running = nullptr;
    std::vector<Group*> active;

    void run(LaunchState& state);
    bool startBlock();
    bool runReady();
    bool sleepUntilChange(uint64_t seen);
    void finish(Group* group);
    void abandon();
};

// The workers of the process, to tell who waits for what.
const std::vector<Worker*>& allWorkers();

}  // namespace pyto_sim
