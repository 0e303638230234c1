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
void syncAll(bool sameKindOnly, int cores, Loc loc);

}  // namespace pyto_sim
