// Flags between the pipes of a core, flags between cores, barriers.
#pragma once
#include "pyto_sim/sync_functions.h"
#include "pyto_sim/tensor.h"

namespace pyto_sim {

struct EventPipes {
    pipe_t source, target;
};
constexpr EventPipes kEventPipes[] = {
    {PIPE_MTE2, PIPE_MTE1}, {PIPE_MTE1, PIPE_MTE2}, {PIPE_MTE1, PIPE_M},  {PIPE_M, PIPE_MTE1},
    {PIPE_MTE2, PIPE_V},    {PIPE_V, PIPE_MTE2},    {PIPE_MTE3, PIPE_V},  {PIPE_V, PIPE_MTE3},
    {PIPE_M, PIPE_V},       {PIPE_V, PIPE_M},       {PIPE_V, PIPE_V},     {PIPE_MTE3, PIPE_MTE1},
    {PIPE_MTE1, PIPE_MTE3}, {PIPE_MTE1, PIPE_V},    {PIPE_MTE2, PIPE_M},  {PIPE_M, PIPE_MTE2},
    {PIPE_V, PIPE_MTE1},    {PIPE_M, PIPE_FIX},     {PIPE_FIX, PIPE_M},   {PIPE_MTE3, PIPE_MTE2},
    {PIPE_MTE2, PIPE_MTE3}, {PIPE_S, PIPE_V},       {PIPE_V, PIPE_S},     {PIPE_S, PIPE_MTE2},
    {PIPE_MTE2, PIPE_S},    {PIPE_S, PIPE_MTE3},    {PIPE_MTE3, PIPE_S},  {PIPE_MTE2, PIPE_FIX},
    {PIPE_FIX, PIPE_MTE2},  {PIPE_FIX, PIPE_S},     {PIPE_M, PIPE_S},     {PIPE_FIX, PIPE_MTE3},
    {PIPE_MTE1, PIPE_FIX},  {PIPE_FIX, PIPE_MTE1},  {PIPE_FIX, PIPE_FIX},
};
static_assert(sizeof(kEventPipes) / sizeof(kEventPipes[0]) == size_t(AscendC::HardEvent::MAX), "one entry an event");

// HardEvent::MAX for a pair that has no flag.
constexpr AscendC::HardEvent eventOf(pipe_t source, pipe_t target) {
    for (int i = 0; i < int(AscendC::HardEvent::MAX); ++i)
        if (kEventPipes[i].source == source && kEventPipes[i].target == target) return AscendC::HardEvent(i);
    return AscendC::HardEvent::MAX;
}

inline void issueSetFlag(AscendC::HardEvent event, int id, Loc loc) {
    if (event == AscendC::HardEvent::MAX) failFlag(true, event, id, loc);
    issue(
        "SetFlag", kEventPipes[int(event)].source, loc,
        [&](Record& r) { r.synchronise(SyncKind::SetFlag, int(event), id); }, [=] { setFlag(event, id, loc); });
}
inline void issueWaitFlag(AscendC::HardEvent event, int id, Loc loc) {
    if (event == AscendC::HardEvent::MAX) failFlag(false, event, id, loc);
    issue(
        "WaitFlag", kEventPipes[int(event)].target, loc,
        [&](Record& r) { r.synchronise(SyncKind::WaitFlag, int(event), id); }, [=] { waitFlag(event, id, loc); });
}

}  // namespace pyto_sim

PYTO_ASCENDC_BEGIN

template <HardEvent event>
__aicore__ inline void SetFlag(int32_t eventID, Loc loc = Loc::here()) {
    pyto_sim::issueSetFlag(event, eventID, loc);
}

template <HardEvent event>
__aicore__ inline void WaitFlag(int32_t eventID, Loc loc = Loc::here()) {
    pyto_sim::issueWaitFlag(event, eventID, loc);
}

template <pipe_t pipe>
__aicore__ inline void PipeBarrier(Loc loc = Loc::here()) {
    pyto_sim::issue(
        "PipeBarrier", pipe, loc,
        [&](pyto_sim::Record& r) { r.synchronise(pyto_sim::SyncKind::PipeBarrier, int(pipe), 0); }, [] {});
}

template <MemDsbT arg0>
__aicore__ inline void DataSyncBarrier() {}

template <uint8_t modeId, pipe_t pipe>
__aicore__ inline void CrossCoreSetFlag(uint16_t flagId, Loc loc = Loc::here()) {
    static_assert(modeId <= 2, "CrossCoreSetFlag: mode 0, 1 or 2 on this chip");
    pyto_sim::issue(
        "CrossCoreSetFlag", pipe, loc,
        [&](pyto_sim::Record& r) { r.synchronise(pyto_sim::SyncKind::CrossCoreSet, modeId, flagId); },
        [=] { pyto_sim::crossCoreSet(modeId, flagId, loc); });
}

template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
__aicore__ inline void CrossCoreWaitFlag(uint16_t flagId, Loc loc = Loc::here()) {
    pyto_sim::issue(
        "CrossCoreWaitFlag", pipe, loc,
        [&](pyto_sim::Record& r) { r.synchronise(pyto_sim::SyncKind::CrossCoreWait, modeId, flagId); },
        [=] { pyto_sim::crossCoreWait(flagId, loc); });
}

template <bool isAIVOnly = true>
__aicore__ inline void SyncAll(Loc loc = Loc::here()) {
    pyto_sim::issue(
        "SyncAll", PIPE_ALL, loc,
        [&](pyto_sim::Record& r) { r.synchronise(pyto_sim::SyncKind::SyncAll, isAIVOnly, 0); },
        [=] { pyto_sim::syncAll(isAIVOnly, 0, true, loc); });
}

// The software barrier: the same meeting of all cores; the workspaces are not touched.
template <bool isAIVOnly = true>
__aicore__ inline void SyncAll(const GlobalTensor<int32_t>&, const LocalTensor<int32_t>&, const int32_t usedCores = 0,
                               Loc loc = Loc::here()) {
    pyto_sim::issue(
        "SyncAll", PIPE_ALL, loc,
        [&](pyto_sim::Record& r) { r.synchronise(pyto_sim::SyncKind::SyncAll, isAIVOnly, usedCores); },
        [=] { pyto_sim::syncAll(isAIVOnly, usedCores, false, loc); });
}

// Block to block, over GM workspaces that are not touched here.
template <bool isAIVOnly = true>
__aicore__ inline void IBSet(const GlobalTensor<int32_t>&, const LocalTensor<int32_t>&, int32_t blockIdx,
                             int32_t eventID, Loc loc = Loc::here()) {
    pyto_sim::issue(
        "IBSet", PIPE_ALL, loc,
        [&](pyto_sim::Record& r) { r.synchronise(pyto_sim::SyncKind::CrossCoreSet, blockIdx, eventID); },
        [=] { pyto_sim::signalCounter(blockIdx, eventID); });
}
template <bool isAIVOnly = true>
__aicore__ inline void IBWait(const GlobalTensor<int32_t>&, const LocalTensor<int32_t>&, int32_t blockIdx,
                              int32_t eventID, Loc loc = Loc::here()) {
    pyto_sim::issue(
        "IBWait", PIPE_ALL, loc,
        [&](pyto_sim::Record& r) { r.synchronise(pyto_sim::SyncKind::CrossCoreWait, blockIdx, eventID); },
        [=] { pyto_sim::awaitCounter(blockIdx, eventID, "IBWait", loc); });
}

// Blocks one after another, round after round, beginning with block 0.
__aicore__ inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t>&, LocalTensor<int32_t>&) {
    const pyto_sim::Core& c = pyto_sim::core();
    if (c.block == 0 && c.subBlock == 0) pyto_sim::signalCounter(0, -1);
}
__aicore__ inline void WaitPreBlock(GlobalTensor<int32_t>&, LocalTensor<int32_t>&, Loc loc = Loc::here()) {
    const pyto_sim::Core& c = pyto_sim::core();
    const int me = c.block * c.ratio + c.subBlock;
    pyto_sim::issue(
        "WaitPreBlock", PIPE_ALL, loc,
        [&](pyto_sim::Record& r) { r.synchronise(pyto_sim::SyncKind::CrossCoreWait, me, -1); },
        [=] { pyto_sim::awaitCounter(me, -1, "WaitPreBlock", loc); });
}
__aicore__ inline void NotifyNextBlock(GlobalTensor<int32_t>&, LocalTensor<int32_t>&, Loc loc = Loc::here()) {
    const pyto_sim::Core& c = pyto_sim::core();
    const int next = (c.block * c.ratio + c.subBlock + 1) % (c.blocks * c.ratio);
    pyto_sim::issue(
        "NotifyNextBlock", PIPE_ALL, loc,
        [&](pyto_sim::Record& r) { r.synchronise(pyto_sim::SyncKind::CrossCoreSet, next, -1); },
        [=] { pyto_sim::signalCounter(next, -1); });
}

// Launches run one after another here.
template <pipe_t AIV_PIPE = PIPE_MTE3, pipe_t AIC_PIPE = PIPE_FIX, bool FORCE = false>
__aicore__ inline void SetNextTaskStart() {}
template <bool FORCE = false>
__aicore__ inline void WaitPreTaskEnd() {}

template <pipe_t src, pipe_t dst>
class TQueSync {
public:
    __aicore__ inline void SetFlag(TEventID id, Loc loc = Loc::here()) {
        pyto_sim::issueSetFlag(pyto_sim::eventOf(src, dst), id, loc);
    }
    __aicore__ inline void WaitFlag(TEventID id, Loc loc = Loc::here()) {
        pyto_sim::issueWaitFlag(pyto_sim::eventOf(src, dst), id, loc);
    }
};

PYTO_ASCENDC_END

__aicore__ inline void set_flag(pipe_t src, pipe_t dst, int id, pyto_sim::Loc loc = pyto_sim::Loc::here()) {
    pyto_sim::issueSetFlag(pyto_sim::eventOf(src, dst), id, loc);
}
__aicore__ inline void wait_flag(pipe_t src, pipe_t dst, int id, pyto_sim::Loc loc = pyto_sim::Loc::here()) {
    pyto_sim::issueWaitFlag(pyto_sim::eventOf(src, dst), id, loc);
}
__aicore__ inline void pipe_barrier(pipe_t pipe, pyto_sim::Loc loc = pyto_sim::Loc::here()) {
    pyto_sim::issue(
        "pipe_barrier", pipe, loc,
        [&](pyto_sim::Record& r) { r.synchronise(pyto_sim::SyncKind::PipeBarrier, int(pipe), 0); }, [] {});
}
