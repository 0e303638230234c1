// Flags that go wrong, flags between cores, barriers.
#include "pyto_sim/sync_functions.h"

#include "launch.h"

namespace pyto_sim {

void failFlag(bool set, AscendC::HardEvent event, int id, Loc loc) {
    const char* call = set ? "SetFlag" : "WaitFlag";
    if (event == AscendC::HardEvent::MAX) fail(loc, "%s: this pair of pipes has no flag on this chip", call);
    if (id < 0 || id >= kEventIds)
        fail(loc, "%s<HardEvent::%s>: event id %d; ids are 0 to 7", call, eventName(event), id);
    if (set) fail(loc, "SetFlag<HardEvent::%s>(%d) is set twice without a WaitFlag between", eventName(event), id);
    fail(loc, "WaitFlag<HardEvent::%s>(%d) without a SetFlag before it: the core would wait for ever", eventName(event),
         id);
}

namespace {

void needScheduler(const Core& core, const char* what, Loc loc) {
    if (!core.mayWait)
        fail(
            loc,
            "%s needs the cross-core scheduler, which KERNEL_TYPE_AIV_ONLY and KERNEL_TYPE_AIC_ONLY do not start: use KERNEL_TYPE_MIX_AIV_1_0 or KERNEL_TYPE_MIX_AIC_1_0",
            what);
}

// One set of every member makes one release of every target.
struct Members {
    CrossFlags* member[2];
    int count = 0;
};

bool takeOneOfEach(const Members& members, int mode, int id) {
    for (int i = 0; i < members.count; ++i)
        if (members.member[i]->given[mode][id].load(std::memory_order_relaxed) == 0) return false;
    for (int i = 0; i < members.count; ++i) members.member[i]->given[mode][id].fetch_sub(1, std::memory_order_relaxed);
    return true;
}

void release(CrossFlags& target, int id, Loc loc) {
    if (target.ready[id].fetch_add(1, std::memory_order_release) + 1 > kMaxCrossFlag)
        fail(loc, "cross-core flag %d is set more than %d times ahead of its waits", id, kMaxCrossFlag);
}

void crossSetGlobal(LaunchState& launch, Core& core, int id, Loc loc) {
    bool overflow = false;
    {
        std::lock_guard<std::mutex> hold(launch.mutex);
        depositAtomics(launch, core);
        const int per = core.cube ? launch.cubes : launch.vectors;
        const int first = launch.flagIndex(core.cube, 0, 0);
        const int count = launch.blocks * per;
        launch.flags[size_t(launch.flagIndex(core))].given[0][id].fetch_add(1);
        bool all = true;
        for (int i = 0; i < count && all; ++i) all = launch.flags[size_t(first + i)].given[0][id].load() > 0;
        if (!all) return;
        applyDeposited(launch);
        for (int i = 0; i < count; ++i) {
            CrossFlags& f = launch.flags[size_t(first + i)];
            f.given[0][id].fetch_sub(1);
            overflow |= f.ready[id].fetch_add(1) + 1 > kMaxCrossFlag;
        }
        launch.wakeAll();
    }
    if (overflow) fail(loc, "cross-core flag %d is set more than %d times ahead of its waits", id, kMaxCrossFlag);
}

}  // namespace

void crossCoreSet(int mode, int flagId, Loc loc) {
    Core& c = core();
    needScheduler(c, "CrossCoreSetFlag", loc);
    if (flagId < 0 || flagId >= kCrossFlags) fail(loc, "CrossCoreSetFlag: flag id %d; ids are 0 to 15", flagId);
    if (flagId >= 11 && flagId <= 14)
        fail(loc, "CrossCoreSetFlag: flag ids 11 to 14 belong to SyncAll; use 0 to 10 or 15");
    LaunchState& launch = *c.launch;
    if (mode == 0) return crossSetGlobal(launch, c, flagId, loc);
    CrossFlags& own = launch.flags[size_t(launch.flagIndex(c))];
    Members vectors;
    for (int i = 0; i < launch.vectors; ++i)
        vectors.member[vectors.count++] = &launch.flags[size_t(launch.flagIndex(false, c.block, i))];
    if (mode == 2 && (launch.cubes == 0 || launch.vectors == 0))
        fail(loc, "CrossCoreSetFlag<2>: this kernel type has no %s cores to signal",
             launch.cubes == 0 ? "cube" : "vector");
    if (mode == 1 && c.cube)
        fail(loc, "CrossCoreSetFlag<1> joins the vector cores of a block; a cube core cannot call it");
    if (c.cube) {
        for (int i = 0; i < vectors.count; ++i) release(*vectors.member[i], flagId, loc);
        return;
    }
    own.given[mode][flagId].fetch_add(1, std::memory_order_relaxed);
    if (!takeOneOfEach(vectors, mode, flagId)) return;
    if (mode == 1)
        for (int i = 0; i < vectors.count; ++i) release(*vectors.member[i], flagId, loc);
    else
        release(launch.flags[size_t(launch.flagIndex(true, c.block, 0))], flagId, loc);
}

void crossCoreWait(int flagId, Loc loc) {
    Core& c = core();
    needScheduler(c, "CrossCoreWaitFlag", loc);
    if (flagId < 0 || flagId >= kCrossFlags) fail(loc, "CrossCoreWaitFlag: flag id %d; ids are 0 to 15", flagId);
    std::atomic<int>& ready = c.launch->flags[size_t(c.launch->flagIndex(c))].ready[flagId];
    WaitPoint point;
    point.counter = &ready;
    point.what = "CrossCoreWaitFlag";
    point.id = flagId;
    point.loc = loc;
    waitFor(point);
    ready.fetch_sub(1, std::memory_order_acquire);
}

void syncAll(bool sameKindOnly, int cores, bool hardware, Loc loc) {
    Core& c = core();
    if (hardware) needScheduler(c, "SyncAll", loc);
    LaunchState& launch = *c.launch;
    const int kind = sameKindOnly ? (c.cube ? 0 : 1) : 2;
    const int all = launch.blocks * (kind == 0   ? launch.cubes
                                     : kind == 1 ? launch.vectors
                                                 : launch.cubes + launch.vectors);
    if (cores < 0 || cores > all)
        fail(loc, "SyncAll: usedCores is %d but the launch has %d cores of this kind", cores, all);
    WaitPoint point;
    point.generation = &launch.barrierGeneration[kind];
    point.what = kind == 2 ? "SyncAll<false>" : "SyncAll";
    point.id = -1;
    point.loc = loc;
    {
        std::lock_guard<std::mutex> hold(launch.mutex);
        point.seen = launch.barrierGeneration[kind].load();
        depositAtomics(launch, c);
        if (++launch.barrierArrived[kind] == (cores > 0 ? cores : all)) {
            launch.barrierArrived[kind] = 0;
            applyDeposited(launch);
            launch.barrierGeneration[kind].fetch_add(1);
            launch.wakeAll();
        }
    }
    waitFor(point);
}

namespace {

std::atomic<int>& counterOf(LaunchState& launch, int first, int second) {
    std::unique_ptr<std::atomic<int>>& slot = launch.counters[{first, second}];
    if (slot == nullptr) slot.reset(new std::atomic<int>(0));
    return *slot;
}

}  // namespace

void signalCounter(int first, int second) {
    Core& c = core();
    std::lock_guard<std::mutex> hold(c.launch->mutex);
    depositAtomics(*c.launch, c);
    applyDeposited(*c.launch);
    counterOf(*c.launch, first, second).fetch_add(1);
    c.launch->wakeAll();
}

void awaitCounter(int first, int second, const char* call, Loc loc) {
    LaunchState& launch = *core().launch;
    WaitPoint point;
    {
        std::lock_guard<std::mutex> hold(launch.mutex);
        point.counter = &counterOf(launch, first, second);
    }
    point.what = call;
    point.id = first;
    point.loc = loc;
    waitFor(point);
    const_cast<std::atomic<int>*>(point.counter)->fetch_sub(1);
}

}  // namespace pyto_sim
