// Printing and clocks, in the library.
#pragma once
#include "pyto_sim/core.h"

namespace pyto_sim {

void printMessage(const char* format, ...) __attribute__((format(printf, 1, 2)));
void dumpValues(const char* where, const void* data, DataType type, uint32_t count, uint32_t desc, uint32_t line);
// An assert of a kernel: its expression, then a format with its values, empty if it has none.
[[noreturn]] void failAssertion(Loc loc, const char* expression, const char* format, ...);
int64_t cycleCounter();

}  // namespace pyto_sim
