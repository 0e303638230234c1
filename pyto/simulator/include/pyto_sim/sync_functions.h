// What synchronisation calls do, in the library.
#pragma once
#include "pyto_sim/core.h"

namespace pyto_sim {

void setFlag(AscendC::HardEvent event, int id, Loc loc);
void waitFlag(AscendC::HardEvent event, int id, Loc loc);
void crossCoreSet(int mode, int flagId, Loc loc);
void crossCoreWait(int flagId, Loc loc);
// All cores of this core's kind, or all of both kinds; `cores` > 0 says how many take part.
void syncAll(bool sameKindOnly, int cores, Loc loc);

}  // namespace pyto_sim
