// Mask registers: SetVectorMask, ResetMask, SetMaskCount, SetMaskNorm, SetCmpMask, GetCmpMask.
#pragma once
#include "pyto_sim/vector/call.h"

PYTO_ASCENDC_BEGIN

inline void SetMaskCount() {
    if ASCEND_IS_AIV { pyto_sim::core().vector.counterMode = true; }
}
inline void SetMaskNorm() {
    if ASCEND_IS_AIV { pyto_sim::core().vector.counterMode = false; }
}
inline void ResetMask() {
    if ASCEND_IS_AIV {
        uint64_t* mask = pyto_sim::core().vector.mask;
        mask[0] = mask[1] = ~uint64_t(0);
    }
}

// Normal mode: one bit a lane. Counter mode: maskLow is the number of elements.
template <typename T, MaskMode mode = MaskMode::NORMAL>
static inline void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow) {
    if ASCEND_IS_AIV {
        uint64_t* mask = pyto_sim::core().vector.mask;
        mask[0] = maskLow;
        mask[1] = maskHigh;
    }
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
static inline void SetVectorMask(int32_t len) {
    if constexpr (mode == MaskMode::COUNTER) {
        SetVectorMask<T, mode>(0, uint64_t(len));
    } else if constexpr (g_coreType == AIV) {
        const uint32_t n = len < 0 ? 0u : uint32_t(len);
        SetVectorMask<T, mode>(n >= 128 ? ~uint64_t(0) : n > 64 ? (uint64_t(1) << (n - 64)) - 1 : 0,
                               n >= 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1);
    }
}

// The compare register: 128 bits, one a lane.
template <typename T>
inline void GetCmpMask(const LocalTensor<T>& dst, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        T* to = dst.ptr();
        vec::verifyRange(loc, "GetCmpMask", to, 16, 16);
        pyto_sim::Core* core = &pyto_sim::core();
        pyto_sim::issue("GetCmpMask", PIPE_V, loc, [&](pyto_sim::Record& r) { r.write(to, 16); },
                        [=] { std::memcpy(to, core->vector.cmpMask, 16); });
    }
}
template <typename T>
inline void SetCmpMask(const LocalTensor<T>& src, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        const T* from = src.ptr();
        vec::verifyRange(loc, "SetCmpMask", from, 16, 16);
        pyto_sim::Core* core = &pyto_sim::core();
        pyto_sim::issue("SetCmpMask", PIPE_V, loc, [&](pyto_sim::Record& r) { r.read(from, 16); },
                        [=] { std::memcpy(core->vector.cmpMask, from, 16); });
    }
}

PYTO_ASCENDC_END
