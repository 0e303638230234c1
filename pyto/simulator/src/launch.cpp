// Launching a kernel: threads, what the kernel may touch, and what is left when it has ended.
#include "launch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "worker.h"

extern "C" {
PYTO_EXPORT extern const int pyto_sim_abi_version = 1;
}

namespace pyto_sim {

namespace {

constexpr int64_t kMaxBlocks = 65535;

std::string& lastError() {
    static std::string* text = new std::string();
    return *text;
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
    const std::string& fault() const { return fault_; }
    const std::vector<Worker*>& workers() const { return workers_; }

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
        const char* text = std::getenv("PYTO_THREADS");
        if (text != nullptr && text[0] != 0) {
            char* end = nullptr;
            const long wanted = std::strtol(text, &end, 10);
            if (end == text || *end != 0 || wanted < 1)
                fault_ = std::string("PYTO_THREADS=") + text + " is not a whole number of 1 or more";
            else
                count = int(std::min(wanted, 256L));
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
    std::string fault_;
    std::vector<Worker*> workers_;
    std::mutex mutex_;
    std::condition_variable wake_, idle_;
    LaunchState* state_ = nullptr;
    int wanted_ = 0;
    std::atomic<int> remaining_{0};
    std::atomic<uint64_t> generation_{0};
};

}  // namespace

const std::vector<Worker*>& allWorkers() { return Pool::get().workers(); }

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

int launch(const KernelInfo& kernel, int64_t blocks, const GmArg* ranges, int rangeCount, KernelCall call,
           const void* arguments) {
    static std::mutex* oneAtATime = new std::mutex();
    std::lock_guard<std::mutex> hold(*oneAtATime);
    if (blocks <= 0) return 0;
    if (blocks > kMaxBlocks)
        return refuse(kernel.name, std::to_string(blocks) + " blocks; 1 to 65535 are possible");
    static uint64_t launches = 0;
    LaunchState state;
    state.serial = ++launches;
    state.kernel = &kernel;
    state.call = call;
    state.arguments = arguments;
    state.blocks = int(blocks);
    state.mayWait = true;
    switch (kernel.type) {
        case KERNEL_TYPE_AIV_ONLY:
            state.cubes = 0, state.vectors = 1, state.mayWait = false;
            break;
        case KERNEL_TYPE_AIC_ONLY:
            state.cubes = 1, state.vectors = 0, state.mayWait = false;
            break;
        case KERNEL_TYPE_MIX_AIV_1_0:
            state.cubes = 0, state.vectors = 1;
            break;
        case KERNEL_TYPE_MIX_AIC_1_0:
            state.cubes = 1, state.vectors = 0;
            break;
        case KERNEL_TYPE_MIX_AIC_1_1:
            state.cubes = 1, state.vectors = 1;
            break;
        case KERNEL_TYPE_MIX_AIC_1_2:
            state.cubes = 1, state.vectors = 2;
            break;
        default:
            return refuse(kernel.name, "its kernel type does not exist on this chip");
    }
    if ((state.cubes > 0 && kernel.cubeEntry == nullptr) || (state.vectors > 0 && kernel.vectorEntry == nullptr))
        return refuse(kernel.name, "the program lacks the code for one of its core kinds");
    findConstantRanges(state, ranges, rangeCount);
    if (state.mayWait) state.flags.reset(new CrossFlags[size_t(state.coreCount())]());
    state.logs.resize(size_t(state.coreCount()));
    Pool& pool = Pool::get();
    if (!pool.fault().empty()) return refuse(kernel.name, pool.fault());
    const int workers = int(std::min<int64_t>(pool.threads(), blocks));
    state.working = workers;
    for (Worker* worker : pool.workers()) worker->launch = nullptr;
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
