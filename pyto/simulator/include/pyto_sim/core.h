// State of one simulated core. Kernel code and library code reach it through core(): the stack a core runs on is
// kStackBytes long and aligned to that, and its last words hold the pointer, so switching stacks switches cores and
// nothing has to be re-read or invalidated.
#pragma once
#include <cstdint>

#include "pyto_sim/types.h"
#include "pyto_sim/vector_state.h"

namespace pyto_sim {

enum class MemId : uint8_t { Gm, Ub, L1, L0a, L0b, L0c, Bt, Fb, Count };

constexpr uint32_t kMemBytes[] = {0, 192 * 1024, 512 * 1024, 64 * 1024, 64 * 1024, 128 * 1024, 1024, 7 * 1024};
constexpr int kMemCount = int(MemId::Count);

constexpr MemId memOf(AscendC::TPosition pos) {
    switch (AscendC::GetPhyType(pos)) {
        case AscendC::Hardware::UB:
            return MemId::Ub;
        case AscendC::Hardware::L1:
            return MemId::L1;
        case AscendC::Hardware::L0A:
            return MemId::L0a;
        case AscendC::Hardware::L0B:
            return MemId::L0b;
        case AscendC::Hardware::L0C:
            return MemId::L0c;
        case AscendC::Hardware::BIAS:
            return MemId::Bt;
        case AscendC::Hardware::FIXBUF:
            return MemId::Fb;
        default:
            return MemId::Gm;
    }
}

const char* memName(MemId mem);

// Where in the kernel source a call was written. As the last, defaulted parameter of an API function
// (`Loc loc = Loc::here()`) it evaluates at the caller.
struct Loc {
    const char* file;
    int line;
    static constexpr Loc here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

enum class DataType : uint8_t { F32, F16, BF16, S8, U8, S16, U16, S32, U32, S64, U64, Other };

template <class T>
struct DataTypeOf {
    static constexpr DataType value = DataType::Other;
};
template <>
struct DataTypeOf<float> {
    static constexpr DataType value = DataType::F32;
};
template <>
struct DataTypeOf<half> {
    static constexpr DataType value = DataType::F16;
};
template <>
struct DataTypeOf<bfloat16_t> {
    static constexpr DataType value = DataType::BF16;
};
template <>
struct DataTypeOf<int8_t> {
    static constexpr DataType value = DataType::S8;
};
template <>
struct DataTypeOf<uint8_t> {
    static constexpr DataType value = DataType::U8;
};
template <>
struct DataTypeOf<int16_t> {
    static constexpr DataType value = DataType::S16;
};
template <>
struct DataTypeOf<uint16_t> {
    static constexpr DataType value = DataType::U16;
};
template <>
struct DataTypeOf<int32_t> {
    static constexpr DataType value = DataType::S32;
};
template <>
struct DataTypeOf<uint32_t> {
    static constexpr DataType value = DataType::U32;
};
template <>
struct DataTypeOf<int64_t> {
    static constexpr DataType value = DataType::S64;
};
template <>
struct DataTypeOf<uint64_t> {
    static constexpr DataType value = DataType::U64;
};
template <class T>
constexpr DataType dataTypeOf() {
    return DataTypeOf<T>::value;
}

enum class AtomicOp : uint8_t { None, Add, Max, Min };

// What SetAtomic* left: copies to GM take it along when they are issued.
struct AtomicMode {
    AtomicOp op;
    DataType type;
};

struct CubeState;    // lazy views of L1 and L0, packed operands: src/ only
struct AtomicLog;    // float atomics waiting for their turn: src/ only (see src/atomic.h)
struct Pending;      // instructions recorded and not yet run: src/submit.cpp
struct LaunchState;  // src/launch.cpp

constexpr int kEventCount = int(AscendC::HardEvent::MAX);
constexpr int kEventIds = 8;

struct Core {
    uint8_t* mem[kMemCount];  // base of each memory; null for those this kind of core lacks
    int32_t block;            // launch block of this core
    int32_t blocks;           // launched blocks
    int32_t subBlock;         // 0, or 1 for the second vector core of a block
    int32_t ratio;            // vector cores a block (GetTaskRation on a vector core)
    bool cube;
    bool mayWait;  // the kernel type starts the cross-core scheduler
    AtomicMode atomic;
    uint8_t flag[kEventCount][kEventIds];  // sets not yet waited for
    uint8_t eventUsed[kEventCount];        // ids handed out by AllocEventID, one bit each
    void* pipe;                            // the AscendC::TPipe in scope
    float deqScale;                        // SetDeqScale
    uint64_t fixpipeConfig[4];
    VectorState vector;
    CubeState* cubeState;
    AtomicLog* atomicLog;
    Pending* pending;                // null in fast mode
    const uint32_t* pendingAtomics;  // of this block: float atomics recorded and not yet applied
    LaunchState* launch;
    const char* kernelName;
};

constexpr uintptr_t kStackBytes = uintptr_t(1) << 20;

inline Core& core() {
    const uintptr_t top = uintptr_t(__builtin_frame_address(0)) | (kStackBytes - 1);
    return **reinterpret_cast<Core**>(top + 1 - 64);
}

// Applies the block's recorded atomics when they overlap [p, p + bytes); called before GM is read or plainly written.
void settleAtomics(const void* p, uint64_t bytes);
inline void beforeGmAccess(const void* p, uint64_t bytes) {
    if (__builtin_expect(*core().pendingAtomics != 0, 0)) settleAtomics(p, bytes);
}

// Ends the launch: it returns nonzero and pyto_last_error() gives the message with kernel, block, core and location.
// Never returns; the core's stack is abandoned.
[[noreturn]] __attribute__((format(printf, 2, 3), cold, noinline)) void fail(Loc loc, const char* format, ...);

}  // namespace pyto_sim
