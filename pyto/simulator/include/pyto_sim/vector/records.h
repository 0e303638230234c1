// Mask state, checks and records of vector instructions, as the library defines them (src/vector_call.cpp).
#pragma once
#include "pyto_sim/issue.h"
#include "pyto_sim/vector/kernels.h"

namespace pyto_sim {
namespace vec {

// Bytes an instruction touches, for its record. `width` is the size of the widest element of the call.
void describe(Record& record, bool write, const Span& span, uint32_t size, uint32_t width, const Lanes& lanes);
uint64_t activeLanes(uint32_t width, const Lanes& lanes);
// Fails the launch when an operand is not in UB, not aligned to `align` bytes, or reaches past the end of UB.
void verify(Loc loc, const char* name, const Span* spans, const uint32_t* sizes, int operands, const Lanes& lanes);
void verifyRange(Loc loc, const char* name, const void* data, uint64_t bytes, uint32_t align);

// The lanes of a call in normal or counter mode from what the mask register holds.
Lanes laneState(uint32_t repeats);
// Sets the mask register as a mask / mask[] argument does and returns the lanes.
Lanes laneCount(Loc loc, const char* name, uint64_t mask, uint32_t lanesPerRepeat, uint32_t repeats);
Lanes laneBits(const uint64_t mask[2], uint32_t repeats);
// Counter form: leaves the register all ones in normal mode, as the calls with a count do.
Lanes laneTotal(Loc loc, const char* name, int64_t count);

}  // namespace vec
}  // namespace pyto_sim
