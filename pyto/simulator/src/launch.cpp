// Runs a kernel: blocks over worker threads, the cores of a block as fibers on one worker.
#include "launch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "core_pool.h"
#include "fiber.h"
#include "matmul.h"

extern "C" {
PYTO_EXPORT extern const int pyto_sim_abi_version = 1;
}

namespace pyto_sim {

namespace {

constexpr int kStatusKernelError = 1;
constexpr int kStatusDeadlock = 2;
constexpr int kStatusBadLaunch = 3;
constexpr int64_t kMaxBlocks = 65535;

std::string& lastError() {
    static std::string* text = new std::string();
    return *text;
}

}  // namespace

struct Worker {
    CorePool pool;
    LaunchState* launch = nullptr;
    void* resume = nullptr;   // of the scheduler's own stack
    Fiber* running = nullptr;
    std::vector<Group*> active;

    void run(LaunchState& state);
    bool startBlock();
    bool runReady();
    bool sleepUntilChange(uint64_t seen);
    void finish(Group* group);
    void abandon();
};

namespace {

// A fiber never leaves the thread it was started on, so the address of this variable may be cached.
thread_local Worker* currentWorker = nullptr;

std::string describeCore(const Core& core) {
    char text[256];
    if (core.cube)
        std::snprintf(text, sizeof text, "kernel %s, block %d, cube core", core.kernelName, core.block);
    else
        std::snprintf(text, sizeof text, "kernel %s, block %d, vector core %d", core.kernelName, core.block, core.subBlock);
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
                fail(Loc{"", 0}, "the kernel ends with a SetFlag<HardEvent::%s>(%d) that no WaitFlag consumed", eventName(AscendC::HardEvent(e)), i);
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
        "MTE2_MTE1", "MTE1_MTE2", "MTE1_M", "M_MTE1", "MTE2_V", "V_MTE2", "MTE3_V", "V_MTE3", "M_V", "V_M", "V_V", "MTE3_MTE1",
        "MTE1_MTE3", "MTE1_V", "MTE2_M", "M_MTE2", "V_MTE1", "M_FIX", "FIX_M", "MTE3_MTE2", "MTE2_MTE3", "S_V", "V_S", "S_MTE2",
        "MTE2_S", "S_MTE3", "MTE3_S", "MTE2_FIX", "FIX_MTE2", "FIX_S", "M_S", "FIX_MTE3", "MTE1_FIX", "FIX_MTE1", "FIX_FIX"};
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
    {
        reportFailure(*w->launch, kStatusKernelError, describeCore(w->running->core) + ": " + text + describeLoc(loc));
    }
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

// A short wait that does not give up the processor: launches often follow each other within microseconds.
template <class Done>
void spin(Done done) {
    for (int i = 0; i < 400 && !done(); ++i) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }
}

class Pool {
public:
    static Pool& get() {
        static Pool* pool = nullptr;
        if (pool == nullptr || pool->owner_ != getpid()) pool = new Pool();  // after fork the threads are gone
        return *pool;
    }
    int threads() const { return int(workers_.size()); }
    Worker& worker(int i) { return *workers_[size_t(i)]; }

    // Runs worker i of `count` on thread i; the caller is thread 0.
    void run(LaunchState& state, int count) {
        if (count > 1) {
            {
                std::lock_guard<std::mutex> hold(mutex_);
                state_ = &state;
                wanted_ = count;
                remaining_ = count - 1;
                ++generation_;
            }
            wake_.notify_all();
        }
        workers_[0]->run(state);
        if (count > 1) {
            spin([&] { return remaining_.load(std::memory_order_acquire) == 0; });
            std::unique_lock<std::mutex> hold(mutex_);
            idle_.wait(hold, [&] { return remaining_ == 0; });
        }
    }

private:
    Pool() : owner_(getpid()) {
        int count = int(std::thread::hardware_concurrency());
        if (const char* text = std::getenv("PYTO_THREADS")) {
            const int wanted = std::atoi(text);
            if (wanted > 0) count = wanted;
        }
        count = std::max(1, std::min(count, 256));
        for (int i = 0; i < count; ++i) workers_.push_back(new Worker());
        for (int i = 1; i < count; ++i) std::thread([this, i] { serve(i); }).detach();
    }
    void serve(int index) {
        uint64_t seen = 0;
        for (;;) {
            spin([&] { return generation_.load(std::memory_order_acquire) != seen; });
            std::unique_lock<std::mutex> hold(mutex_);
            wake_.wait(hold, [&] { return generation_ != seen; });
            seen = generation_;
            if (index >= wanted_) continue;
            LaunchState* state = state_;
            hold.unlock();
            workers_[size_t(index)]->run(*state);
            hold.lock();
            if (--remaining_ == 0) idle_.notify_one();
        }
    }
    pid_t owner_;
    std::vector<Worker*> workers_;
    std::mutex mutex_;
    std::condition_variable wake_, idle_;
    LaunchState* state_ = nullptr;
    int wanted_ = 0;
    std::atomic<int> remaining_{0};
    std::atomic<uint64_t> generation_{0};
};

void reportDeadlock(LaunchState& state) {
    std::string text = std::string("kernel ") + state.kernel->name + ": deadlock, every core that has not finished waits";
    int shown = 0;
    Pool& pool = Pool::get();
    for (int i = 0; i < pool.threads(); ++i)
        if (pool.worker(i).launch == &state) addWaiting(text, shown, pool.worker(i));
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

namespace {

int refuse(const char* kernel, const std::string& why) {
    lastError() = std::string("launch of kernel ") + kernel + ": " + why;
    return kStatusBadLaunch;
}

void findConstantRanges(LaunchState& state, const GmArg* ranges, int count) {
    for (int i = 0; i < count; ++i) {
        GmRange r;
        r.begin = static_cast<const uint8_t*>(ranges[i].pointer);
        r.end = r.begin + std::max<int64_t>(0, ranges[i].bytes);
        r.input = ranges[i].direction == GmDirection::In;
        r.constant = r.input && r.begin != nullptr;
        for (int j = 0; j < count && r.constant; ++j) {
            if (ranges[j].direction == GmDirection::In) continue;
            const uint8_t* begin = static_cast<const uint8_t*>(ranges[j].pointer);
            if (begin < r.end && r.begin < begin + std::max<int64_t>(0, ranges[j].bytes)) r.constant = false;
        }
        state.ranges.push_back(r);
    }
}

std::string leftoverFlags(const LaunchState& state) {
    for (int i = 0; i < state.coreCount(); ++i)
        for (int f = 0; f < kCrossFlags; ++f)
            if (state.flags[i].ready[f].load() != 0)
                return std::string("kernel ") + state.kernel->name + " ends with cross-core flag " + std::to_string(f) +
                       " set and not waited for on a " + (i < state.blocks * state.cubes ? "cube" : "vector") + " core";
    return "";
}

}  // namespace

int launch(const KernelInfo& kernel, int64_t blocks, const GmArg* ranges, int rangeCount, KernelCall call, const void* arguments) {
    static std::mutex* oneAtATime = new std::mutex();
    std::lock_guard<std::mutex> hold(*oneAtATime);
    if (blocks == 0) return 0;
    if (blocks < 0 || blocks > kMaxBlocks) return refuse(kernel.name, std::to_string(blocks) + " blocks; 1 to 65535 are possible");
    static uint64_t launches = 0;
    LaunchState state;
    state.serial = ++launches;
    state.kernel = &kernel;
    state.call = call;
    state.arguments = arguments;
    state.blocks = int(blocks);
    state.mayWait = true;
    switch (kernel.type) {
        case KERNEL_TYPE_AIV_ONLY: state.cubes = 0, state.vectors = 1, state.mayWait = false; break;
        case KERNEL_TYPE_AIC_ONLY: state.cubes = 1, state.vectors = 0, state.mayWait = false; break;
        case KERNEL_TYPE_MIX_AIV_1_0: state.cubes = 0, state.vectors = 1; break;
        case KERNEL_TYPE_MIX_AIC_1_0: state.cubes = 1, state.vectors = 0; break;
        case KERNEL_TYPE_MIX_AIC_1_1: state.cubes = 1, state.vectors = 1; break;
        case KERNEL_TYPE_MIX_AIC_1_2: state.cubes = 1, state.vectors = 2; break;
        default: return refuse(kernel.name, "its kernel type does not exist on this chip");
    }
    if ((state.cubes > 0 && kernel.cubeEntry == nullptr) || (state.vectors > 0 && kernel.vectorEntry == nullptr))
        return refuse(kernel.name, "the program lacks the code for one of its core kinds");
    findConstantRanges(state, ranges, rangeCount);
    if (state.mayWait) state.flags.reset(new CrossFlags[size_t(state.coreCount())]());
    state.logs.resize(size_t(state.coreCount()));
    Pool& pool = Pool::get();
    const int workers = int(std::min<int64_t>(pool.threads(), blocks));
    state.working = workers;
    for (int i = 0; i < pool.threads(); ++i) pool.worker(i).launch = nullptr;
    pool.run(state, workers);
    if (!state.failed) {
        applyDeposited(state);
        if (state.mayWait) {
            const std::string left = leftoverFlags(state);
            if (!left.empty()) {
                lastError() = left;
                return kStatusKernelError;
            }
        }
        return 0;
    }
    lastError() = state.message;
    return state.status;
}

}  // namespace pyto_sim

extern "C" PYTO_EXPORT const char* pyto_last_error() { return pyto_sim::lastError().c_str(); }
