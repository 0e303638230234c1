// What synchronisation calls do, in the library.
#pragma once
#include "pyto_sim/core.h"

namespace pyto_sim {

[[noreturn]] void failFlag(bool set, AscendC::HardEvent event, int id, Loc loc);

// In program order on one thread a pipe flag is bookkeeping: a wait whose set has not been issued yet could never be
// satisfied by later code of the same core without reordering it, and is reported.
inline void setFlag(AscendC::HardEvent event, int id, Loc loc) {
    if (__builtin_expect(uint32_t(id) >= uint32_t(kEventIds), 0)) failFlag(true, event, id, loc);
    uint8_t& flag = core().flag[int(event)][id];
    if (__builtin_expect(flag != 0, 0)) failFlag(true, event, id, loc);
    flag = 1;
}
inline void waitFlag(AscendC::HardEvent event, int id, Loc loc) {
    if (__builtin_expect(uint32_t(id) >= uint32_t(kEventIds), 0)) failFlag(false, event, id, loc);
    uint8_t& flag = core().flag[int(event)][id];
    if (__builtin_expect(flag == 0, 0)) failFlag(false, event, id, loc);
    flag = 0;
}
void crossCoreSet(int mode, int flagId, Loc loc);
void crossCoreWait(int flagId, Loc loc);
// All cores of this core's kind, or all of both kinds; `cores` > 0 says how many take part.
// The hardware barrier needs the scheduler of the mixed kernel types, the one over a GM workspace does not.
void syncAll(bool sameKindOnly, int cores, bool hardware, Loc loc);

// A counter of the launch named by two numbers: signal raises it, await waits until it is above zero and lowers it.
void signalCounter(int first, int second);
void awaitCounter(int first, int second, const char* call, Loc loc);

}  // namespace pyto_sim
