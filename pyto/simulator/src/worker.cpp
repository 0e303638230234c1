#include "worker.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "fiber.h"
#include "matmul.h"

namespace pyto_sim {

namespace {

// A fiber never leaves the thread it was started on, so the address of this variable may be cached.
thread_local Worker* currentWorker = nullptr;

std::string describeCore(const Core& core) {
    char text[256];
    if (core.cube)
        std::snprintf(text, sizeof text, "kernel %s, block %d, cube core", core.kernelName, core.block);
    else
        std::snprintf(text, sizeof text, "kernel %s, block %d, vector core %d", core.kernelName, core.block,
                      core.subBlock);
    return text;
}

std::string describeLoc(Loc loc) {
    if (loc.line <= 0) return loc.file == nullptr || loc.file[0] == 0 ? "" : std::string(" (in ") + loc.file + ")";
    return std::string(" at ") + loc.file + ":" + std::to_string(loc.line);
}

void reportFailure(LaunchState& launch, int status, const std::string& message) {
    std::lock_guard<std::mutex> hold(launch.mutex);
    if (!launch.failed.exchange(true)) {
        launch.status = status;
        launch.message = message;
    }
    launch.changed.notify_all();
}

void leaveFiber() {
    Worker* w = currentWorker;
    Fiber* f = w->running;
    w->running = nullptr;
    pyto_sim_switch_stack(&f->resume, w->resume);
}

void checkBalanced(Fiber* f) {
    const Core& core = f->core;
    for (int e = 0; e < kEventCount; ++e)
        for (int i = 0; i < kEventIds; ++i)
            if (core.flag[e][i] != 0)
                fail(Loc{"", 0}, "the kernel ends with a SetFlag<HardEvent::%s>(%d) that no WaitFlag consumed",
                     eventName(AscendC::HardEvent(e)), i);
}

void fiberMain(void* argument) {
    Fiber* f = static_cast<Fiber*>(argument);
    f->core.launch->call(f->entry, f->core.launch->arguments);
    runPending(f->core);
    checkBalanced(f);
    f->done = true;
    leaveFiber();
}

}  // namespace

const char* eventName(AscendC::HardEvent event) {
    static const char* const names[] = {
        "MTE2_MTE1", "MTE1_MTE2", "MTE1_M",    "M_MTE1",    "MTE2_V",   "V_MTE2",   "MTE3_V",   "V_MTE3", "M_V",
        "V_M",       "V_V",       "MTE3_MTE1", "MTE1_MTE3", "MTE1_V",   "MTE2_M",   "M_MTE2",   "V_MTE1", "M_FIX",
        "FIX_M",     "MTE3_MTE2", "MTE2_MTE3", "S_V",       "V_S",      "S_MTE2",   "MTE2_S",   "S_MTE3", "MTE3_S",
        "MTE2_FIX",  "FIX_MTE2",  "FIX_S",     "M_S",       "FIX_MTE3", "MTE1_FIX", "FIX_MTE1", "FIX_FIX"};
    static_assert(sizeof(names) / sizeof(names[0]) == size_t(kEventCount), "one name an event");
    return names[int(event)];
}

void fail(Loc loc, const char* format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    std::vsnprintf(text, sizeof text, format, list);
    va_end(list);
    Worker* w = currentWorker;
    if (w == nullptr || w->running == nullptr) {
        std::fprintf(stderr, "pyto simulator: %s%s\n", text, describeLoc(loc).c_str());
        std::abort();
    }
    // Strings live only inside this block: the stack is abandoned below and no destructor runs after it.
    { reportFailure(*w->launch, kStatusKernelError, describeCore(w->running->core) + ": " + text + describeLoc(loc)); }
    for (;;) leaveFiber();
}

void waitFor(const WaitPoint& point) {
    if (point.ready()) return;
    Fiber* f = currentWorker->running;
    f->wait = point;
    leaveFiber();
    f->wait = WaitPoint();
}

void LaunchState::wakeAll() {
    epoch.fetch_add(1);
    if (sleeping > 0) changed.notify_all();
    sleeping = 0;  // from here on, though their threads may take a while to notice
}

bool Worker::startBlock() {
    const int block = launch->nextBlock.fetch_add(1);
    if (block >= launch->blocks) return false;
    Group* g = new Group();
    auto add = [&](bool cube, int sub) {
        Fiber* f = pool.take(cube);
        Core& c = f->core;
        c.launch = launch;
        resetCore(c);
        c.block = block;
        c.blocks = launch->blocks;
        c.subBlock = sub;
        c.ratio = cube ? 1 : std::max(1, launch->vectors);
        c.mayWait = launch->mayWait;
        c.kernelName = launch->kernel->name;
        c.pendingAtomics = &g->pendingAtomics;
        f->entry = cube ? launch->kernel->cubeEntry : launch->kernel->vectorEntry;
        f->done = false;
        f->wait = WaitPoint();
        f->group = g;
        f->worker = this;
        f->resume = prepareStack(f->stack, &f->core, &fiberMain, f);
        g->fibers.push_back(f);
    };
    for (int i = 0; i < launch->cubes; ++i) add(true, 0);
    for (int i = 0; i < launch->vectors; ++i) add(false, i);
    g->live = int(g->fibers.size());
    active.push_back(g);
    return true;
}

void Worker::finish(Group* group) {
    for (Fiber* f : group->fibers) {
        if (!f->core.atomicLog->entries.empty()) {
            std::lock_guard<std::mutex> hold(launch->mutex);
            depositAtomics(*launch, f->core);
        }
        pool.give(f);
    }
    delete group;
}

bool Worker::runReady() {
    bool ran = false;
    for (size_t g = 0; g < active.size(); ++g) {
        Group* group = active[g];
        bool again = true;
        while (again) {
            again = false;
            for (Fiber* f : group->fibers) {
                if (f->done || !f->wait.ready()) continue;
                running = f;
                pyto_sim_switch_stack(&resume, f->resume);
                running = nullptr;
                ran = again = true;
                if (f->done) --group->live;
                if (launch->failed.load(std::memory_order_relaxed)) return true;
            }
        }
        if (group->live == 0) {
            finish(group);
            active.erase(active.begin() + long(g));
            --g;
        }
    }
    return ran;
}

void Worker::abandon() {
    for (Group* group : active) {
        for (Fiber* f : group->fibers) pool.give(f);
        delete group;
    }
    active.clear();
}

namespace {

void addWaiting(std::string& text, int& shown, const Worker& worker) {
    for (const Group* g : worker.active)
        for (const Fiber* f : g->fibers)
            if (!f->done && shown < 8) {
                ++shown;
                char id[32] = "";
                if (f->wait.id >= 0) std::snprintf(id, sizeof id, "(%d)", f->wait.id);
                text += "\n  " + describeCore(f->core) + " waits in " + f->wait.what + id + describeLoc(f->wait.loc);
            }
}

void reportDeadlock(LaunchState& state) {
    std::string text =
        std::string("kernel ") + state.kernel->name + ": deadlock, every core that has not finished waits";
    int shown = 0;
    for (const Worker* worker : allWorkers())
        if (worker->launch == &state) addWaiting(text, shown, *worker);
    state.failed.store(true);
    state.status = kStatusDeadlock;
    state.message = text;
    state.changed.notify_all();
}

}  // namespace

// Sleeps until another worker may have released one of our cores. When every worker sleeps, none ever will.
bool Worker::sleepUntilChange(uint64_t seen) {
    std::unique_lock<std::mutex> hold(launch->mutex);
    if (launch->failed) return false;
    if (launch->epoch.load() != seen) return true;
    if (launch->sleeping + 1 == launch->working) {
        reportDeadlock(*launch);
        return false;
    }
    ++launch->sleeping;
    launch->changed.wait(hold, [&] { return launch->failed || launch->epoch.load() != seen; });
    return !launch->failed;
}

void Worker::run(LaunchState& state) {
    launch = &state;
    currentWorker = this;
    ThreadTiles tiles;
    for (;;) {
        const uint64_t seen = state.epoch.load();
        const bool ran = runReady();
        if (state.failed) break;
        if (ran) continue;
        if (startBlock()) continue;
        if (active.empty()) break;
        if (!sleepUntilChange(seen)) break;
    }
    if (!active.empty()) {
        std::lock_guard<std::mutex> hold(state.mutex);
        abandon();
    }
    {
        std::lock_guard<std::mutex> hold(state.mutex);
        --state.working;
        if (!state.failed && state.working > 0 && state.sleeping == state.working) reportDeadlock(state);
    }
    currentWorker = nullptr;
}

}  // namespace pyto_sim
