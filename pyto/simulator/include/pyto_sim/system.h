// Indices, atomics, caches, scalar helpers, dumping.
#pragma once
#include "pyto_sim/system_functions.h"
#include "pyto_sim/tensor.h"

namespace pyto_sim {

template <class T>
inline void setAtomic(AtomicOp op, const char* name, Loc loc) {
    constexpr DataType type = dataTypeOf<T>();
    static_assert(type == DataType::F32 || type == DataType::F16 || type == DataType::BF16 || type == DataType::S32 ||
                      type == DataType::S16 || type == DataType::S8,
                  "atomics: float, half, bfloat16_t, int32_t, int16_t or int8_t");
    (void)name;
    (void)loc;
    core().atomic = {op, type};
}

}  // namespace pyto_sim

PYTO_ASCENDC_BEGIN

__aicore__ inline int64_t GetBlockNum() { return pyto_sim::core().blocks; }
__aicore__ inline int64_t GetBlockIdx() {
    const pyto_sim::Core& c = pyto_sim::core();
    return int64_t(c.block) * c.ratio + c.subBlock;
}
__aicore__ inline int64_t GetSubBlockIdx() { return pyto_sim::core().subBlock; }
__aicore__ inline int64_t GetTaskRatio() { return pyto_sim::core().ratio; }
__aicore__ inline int64_t GetTaskRation() { return GetTaskRatio(); }
__aicore__ inline int64_t GetSubBlockNum() { return pyto_sim::core().ratio; }
__aicore__ inline constexpr int16_t GetDataBlockSizeInBytes() { return ONE_BLK_SIZE; }
__aicore__ inline int64_t GetSystemCycle() { return pyto_sim::cycleCounter(); }
__aicore__ inline int64_t GetProgramCounter() { return 0; }
__aicore__ inline void Trap(Loc loc = Loc::here()) { pyto_sim::fail(loc, "Trap"); }
__aicore__ inline void InitSocState() { pyto_sim::core().atomic.op = pyto_sim::AtomicOp::None; }

__aicore__ inline constexpr uint32_t DivCeil(uint32_t a, uint32_t b) { return (a + b - 1) / b; }
__aicore__ inline constexpr uint32_t AlignUp(uint32_t a, uint32_t b) { return DivCeil(a, b) * b; }
__aicore__ inline constexpr uint32_t ConstCeil(uint32_t a, uint32_t b) { return (a + b - 1) / b; }
__aicore__ inline uint32_t Ceil(uint32_t a, uint32_t b) { return (a + b - 1) / b; }
__aicore__ inline int32_t CeilDivision(int32_t a, int32_t b) { return b == 0 ? 0 : (a + b - 1) / b; }

template <typename T>
__aicore__ inline void SetAtomicAdd(Loc loc = Loc::here()) {
    pyto_sim::setAtomic<T>(pyto_sim::AtomicOp::Add, "SetAtomicAdd", loc);
}
template <typename T>
__aicore__ inline void SetAtomicMax(Loc loc = Loc::here()) {
    pyto_sim::setAtomic<T>(pyto_sim::AtomicOp::Max, "SetAtomicMax", loc);
}
template <typename T>
__aicore__ inline void SetAtomicMin(Loc loc = Loc::here()) {
    pyto_sim::setAtomic<T>(pyto_sim::AtomicOp::Min, "SetAtomicMin", loc);
}
template <typename T>
__aicore__ inline void SetAtomicType(Loc loc = Loc::here()) {
    pyto_sim::setAtomic<T>(pyto_sim::core().atomic.op, "SetAtomicType", loc);
}
__aicore__ inline void SetAtomicNone() { pyto_sim::core().atomic.op = pyto_sim::AtomicOp::None; }
__aicore__ inline void DisableDmaAtomic() { SetAtomicNone(); }

// GM is coherent here; check mode looks for the missing ones.
template <typename T, CacheLine entireType, DcciDst dcciDst>
__aicore__ inline void DataCacheCleanAndInvalid(const GlobalTensor<T>&) {}
template <typename T, CacheLine entireType, DcciDst dcciDst>
__aicore__ inline void DataCacheCleanAndInvalid(const LocalTensor<T>&) {}
template <typename T, CacheLine entireType>
__aicore__ inline void DataCacheCleanAndInvalid(const GlobalTensor<T>&) {}
template <typename T>
__aicore__ inline void DataCachePreload(const GlobalTensor<uint64_t>&, const T) {}
__aicore__ inline void ICachePreLoad(const int64_t) {}
__aicore__ inline int64_t GetICachePreloadStatus() { return 0; }

template <typename T>
__aicore__ inline void WriteGmByPassDCache(__gm__ T* addr, T value) {
    pyto_sim::beforeGmAccess(addr, sizeof(T));
    *addr = value;
}
template <typename T>
__aicore__ inline T ReadGmByPassDCache(__gm__ T* addr) {
    pyto_sim::beforeGmAccess(addr, sizeof(T));
    return *addr;
}

template <int countValue>
__aicore__ inline int64_t GetBitCount(uint64_t valueIn) {
    const int64_t ones = __builtin_popcountll(valueIn);
    return countValue == 1 ? ones : 64 - ones;
}
template <int countValue>
__aicore__ inline int64_t ScalarGetCountOfValue(uint64_t valueIn) {
    return GetBitCount<countValue>(valueIn);
}
__aicore__ inline int64_t CountLeadingZero(uint64_t valueIn) { return valueIn == 0 ? 64 : __builtin_clzll(valueIn); }
__aicore__ inline int64_t ScalarCountLeadingZero(uint64_t valueIn) { return CountLeadingZero(valueIn); }
__aicore__ inline int64_t CountBitsCntSameAsSignBit(int64_t valueIn) { return __builtin_clrsbll(valueIn); }
template <int countValue>
__aicore__ inline int64_t GetSFFValue(uint64_t valueIn) {
    const uint64_t bits = countValue == 1 ? valueIn : ~valueIn;
    return bits == 0 ? -1 : __builtin_ctzll(bits);
}
template <int countValue>
__aicore__ inline int64_t ScalarGetSFFValue(uint64_t valueIn) {
    return GetSFFValue<countValue>(valueIn);
}

__aicore__ inline bfloat16_t ToBfloat16(const float& value) { return bfloat16_t(value); }
__aicore__ inline float ToFloat(const bfloat16_t& value) { return float(value); }
__aicore__ inline bfloat16_t Cast(const float& value) { return bfloat16_t(value); }
__aicore__ inline float Cast(const bfloat16_t& value) { return float(value); }

template <typename... Args>
__aicore__ inline void printf(const char* format, Args... args) {
    pyto_sim::printMessage(format, args...);
}
template <typename... Args>
__aicore__ inline void PRINTF(const char* format, Args... args) {
    pyto_sim::printMessage(format, args...);
}

template <typename T>
__aicore__ inline void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize,
                                  Loc loc = Loc::here()) {
    const T* p = tensor.ptr();
    if (pyto_sim::core().mem[int(tensor.mem())] == nullptr) return;
    pyto_sim::issue(
        "DumpTensor", PIPE_S, loc, [&](pyto_sim::Record& r) { r.read(p, dumpSize * sizeof(T)); },
        [=] { pyto_sim::dumpValues("LocalTensor", p, pyto_sim::dataTypeOf<T>(), dumpSize, desc, uint32_t(loc.line)); });
}
template <typename T>
__aicore__ inline void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize,
                                  Loc loc = Loc::here()) {
    const T* p = tensor.ptr();
    pyto_sim::issue(
        "DumpTensor", PIPE_S, loc, [&](pyto_sim::Record& r) { r.read(p, dumpSize * sizeof(T)); },
        [=] {
            pyto_sim::dumpValues("GlobalTensor", p, pyto_sim::dataTypeOf<T>(), dumpSize, desc, uint32_t(loc.line));
        });
}
template <typename T>
__aicore__ inline void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo&,
                                  Loc loc = Loc::here()) {
    DumpTensor(tensor, desc, dumpSize, loc);
}
template <typename T>
__aicore__ inline void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo&,
                                  Loc loc = Loc::here()) {
    DumpTensor(tensor, desc, dumpSize, loc);
}
template <typename Tensor>
__aicore__ inline void DumpAccChkPoint(const Tensor& tensor, uint32_t index, uint32_t countOff, uint32_t dumpSize,
                                       Loc loc = Loc::here()) {
    DumpTensor(tensor[countOff], index, dumpSize, loc);
}

PYTO_ASCENDC_END

#define PYTO_SIM_ASSERT(expression, ...) \
    (static_cast<bool>(expression)       \
         ? void(0)                       \
         : pyto_sim::failAssertion(pyto_sim::Loc{__FILE__, __LINE__}, #expression, __VA_ARGS__))
#undef assert
#define assert(...) PYTO_SIM_ASSERT(__VA_ARGS__, "")
#define ascendc_assert(...) PYTO_SIM_ASSERT(__VA_ARGS__, "")
#define ASSERT(...) PYTO_SIM_ASSERT(__VA_ARGS__, "")
#define ASCENDC_ASSERT(condition, behaviour)                                                                     \
    do {                                                                                                         \
        if (!(condition)) pyto_sim::fail(pyto_sim::Loc{__FILE__, __LINE__}, "assertion failed: %s", #condition); \
    } while (0)

// The compiler's built-in variable; a local of that name hides it.
struct PytoBlockIndex {
    operator int64_t() const { return pyto_sim::core().block; }
};
static constexpr PytoBlockIndex block_idx{};

__aicore__ inline int64_t get_block_idx() { return pyto_sim::core().block; }
__aicore__ inline int64_t get_block_num() { return pyto_sim::core().blocks; }
__aicore__ inline int64_t get_subblockid() { return pyto_sim::core().subBlock; }
__aicore__ inline int64_t get_subblockdim() { return pyto_sim::core().ratio; }
