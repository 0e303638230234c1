// One way in for every instruction.
//
// Each API call, after checking its arguments, makes exactly one call of issue():
//
//     issue("Add", PIPE_V, loc,
//           [&](Record& r) { r.read(src0.ptr(), bytes); r.read(src1.ptr(), bytes); r.write(dst.ptr(), bytes); },
//           [=] { kernels::add(dst.ptr(), src0.ptr(), src1.ptr(), count); });
//
// * name: the API name, a literal.  pipe: the pipe that executes the call.
// * loc: the caller's `Loc loc = Loc::here()`, last parameter of every API function. Operators and calls that end in a
//   parameter pack cannot take it: they pass Loc{"<name of the API>", 0}.
// * describe fills in the memory the instruction reads and writes: bytes, or rows of bytes with a pitch. Only addresses
//   that are touched may be given. Pointers into UB, L1, L0, BT, FB and GM are told apart by address. It may capture by
//   reference: it runs, if at all, before issue() returns.
// * body does the work. It captures BY VALUE (a mode that queues instructions runs it later, when the locals of the API
//   function are gone) and it must not depend on core state that a later call changes: read masks, atomics and modes
//   before issue() and capture them.
//
// Fast mode (the default) runs body at once; describe is never instantiated, so a record costs nothing. Compiled with
// PYTO_SIM_RECORD, records and bodies go to submit(): src/submit.cpp runs them late but in order; check and timeline
// modes will judge and price them there.
#pragma once
#include <cstdint>
#include <utility>

#include "pyto_sim/core.h"
#if defined(PYTO_SIM_RECORD)
#include <functional>
#endif

namespace pyto_sim {

struct Access {
    const void* base;
    uint64_t bytes;  // of one row
    uint32_t rows;
    int64_t pitch;  // bytes from row to row
};

// Synchronisation travels the same road: first and second say which event and id, flag id, or mode.
enum class SyncKind : uint8_t { None, SetFlag, WaitFlag, PipeBarrier, CrossCoreSet, CrossCoreWait, SyncAll };

struct Record {
    static constexpr int kMaxReads = 40;
    static constexpr int kMaxWrites = 20;
    const char* name;
    pipe_t pipe;
    Loc loc;
    uint64_t work = 0;  // multiply-adds of Mmad, elements of vector instructions: what timeline prices
    SyncKind sync = SyncKind::None;
    int syncFirst = 0, syncSecond = 0;
    int readCount = 0, writeCount = 0;
    Access reads[kMaxReads];
    Access writes[kMaxWrites];

    Record(const char* nameIn, pipe_t pipeIn, Loc locIn) : name(nameIn), pipe(pipeIn), loc(locIn) {}
    void read(const void* base, uint64_t bytes) { readRows(base, bytes, 1, 0); }
    void write(const void* base, uint64_t bytes) { writeRows(base, bytes, 1, 0); }
    void synchronise(SyncKind kind, int first, int second) {
        sync = kind;
        syncFirst = first;
        syncSecond = second;
    }
    void readRows(const void* base, uint64_t bytes, uint32_t rows, int64_t pitch) {
        if (readCount < kMaxReads) reads[readCount++] = {base, bytes, rows, pitch};
    }
    void writeRows(const void* base, uint64_t bytes, uint32_t rows, int64_t pitch) {
        if (writeCount < kMaxWrites) writes[writeCount++] = {base, bytes, rows, pitch};
    }
};

#if defined(PYTO_SIM_RECORD)
void submit(Core& core, const Record& record, std::function<void()> body);

template <class Describe, class Body>
inline void issue(const char* name, pipe_t pipe, Loc loc, Describe&& describe, Body&& body) {
    Record record(name, pipe, loc);
    describe(record);
    submit(core(), record, std::function<void()>(std::forward<Body>(body)));
}
#else
template <class Describe, class Body>
inline __attribute__((always_inline)) void issue(const char*, pipe_t, Loc, Describe&&, Body&& body) {
    body();
}
#endif

}  // namespace pyto_sim
