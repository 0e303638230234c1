// Recorded instructions, run late: a core's instructions wait in a queue until the scalar unit reads or writes, cores
// meet, or the queue is full. The order stays; that a body does not depend on anything but what it captured is what
// this mode is good for until check and timeline modes take its place.
#include <deque>

#include "launch.h"
#include "pyto_sim/core.h"

#if !defined(PYTO_SIM_RECORD)
#define PYTO_SIM_RECORD 1
#endif
#include "pyto_sim/issue.h"

namespace pyto_sim {

struct Pending {
    std::deque<std::function<void()>> bodies;
};

void runPending(Core& core) {
    if (core.pending == nullptr) return;
    std::deque<std::function<void()>> bodies;
    bodies.swap(core.pending->bodies);
    for (std::function<void()>& body : bodies) body();
}

void dropPending(Core& core) {
    if (core.pending != nullptr) core.pending->bodies.clear();
}

void submit(Core& core, const Record& record, std::function<void()> body) {
    constexpr size_t kMost = 64;
    if (core.pending == nullptr) core.pending = new Pending();
    core.pending->bodies.push_back(std::move(body));
    const bool meets = record.sync == SyncKind::CrossCoreSet || record.sync == SyncKind::CrossCoreWait ||
                       record.sync == SyncKind::SyncAll;
    if (record.pipe == PIPE_S || meets || core.pending->bodies.size() > kMost) runPending(core);
}

}  // namespace pyto_sim
