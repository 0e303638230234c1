// Stacks and the switch between them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace pyto_sim {

struct Core;

// A stack of kStackBytes, aligned to that, with a guard page at its low end. Stacks are never unmapped, only re-used.
uint8_t* allocateStack();

// Prepares `stack` so that the first switch to the returned stack pointer calls entry(argument) with core() == core.
// entry must not return.
void* prepareStack(uint8_t* stack, Core* core, void (*entry)(void*), void* argument);

// Saves the callee-saved registers on the current stack, stores its pointer to *from, continues at `to`.
extern "C" void pyto_sim_switch_stack(void** from, void* to);

}  // namespace pyto_sim
