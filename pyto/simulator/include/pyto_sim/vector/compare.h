// Comparisons to bits, and selection by bits. Bit i of the result is lane i, lowest bit of the lowest byte first.
#pragma once
#include "pyto_sim/vector/mask.h"

PYTO_ASCENDC_BEGIN

template <class T, class U>
inline void checkCompare(const char* name, CMPMODE mode, Loc loc) {
    PYTO_VEC_TYPES("Compare", T, half, float, int32_t);
    static_assert(SupportType<U, int8_t, uint8_t>(), "Compare: the result is a tensor of uint8_t (int8_t)");
    if (unlikely((IsSameType<T, int32_t>::value && mode != CMPMODE::EQ)))
        pyto_sim::fail(loc, "%s: int32_t can be compared with CMPMODE::EQ only", name);
    if (unlikely(uint8_t(mode) > uint8_t(CMPMODE::NE))) pyto_sim::fail(loc, "%s: unknown compare mode %d", name, int(mode));
}

template <class T, class U>
inline void compareRepeats(const char* name, const LocalTensor<U>& dst, vec::Span a, vec::Span b, uint64_t scalar, CMPMODE mode,
                           uint32_t repeats, Loc loc) {
    checkCompare<T, U>(name, mode, loc);
    if (repeats == 0) return;
    const vec::Lanes lanes{~uint64_t(0), ~uint64_t(0), repeats, false};
    const vec::Span spans[2] = {a, b};
    const uint32_t sizes[2] = {kSize<T>, kSize<T>};
    vec::verify(loc, name, spans, sizes, b.data == nullptr ? 1 : 2, lanes);
    const uint64_t bytes = uint64_t(repeats) * 32 / sizeof(T);
    uint8_t* to = reinterpret_cast<uint8_t*>(dst.ptr());
    vec::verifyRange(loc, name, to, bytes, 32);
    pyto_sim::issue(name, PIPE_V, loc,
                    [&](pyto_sim::Record& r) {
                        vec::describe(r, false, a, kSize<T>, kSize<T>, lanes);
                        if (b.data != nullptr) vec::describe(r, false, b, kSize<T>, kSize<T>, lanes);
                        r.write(to, bytes);
                        r.work = uint64_t(repeats) * 256 / sizeof(T);
                    },
                    [=] { vec::compare(vec::Cmp(mode), vec::ElemOf<T>::value, to, a, b, scalar, repeats); });
}

// The mask arguments are placeholders on this chip. A count covers whole repeats only: count * sizeof(T) / 256.
template <typename T, typename U, bool isSetMask = true>
inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    const uint64_t mask[], uint8_t repeatTime, const BinaryRepeatParams& p, Loc loc = Loc::here()) {
    (void)mask;
    if ASCEND_IS_AIV {
        compareRepeats<T>("Compare", dst, {src0.ptr(), p.src0BlkStride, p.src0RepStride},
                          {src1.ptr(), p.src1BlkStride, p.src1RepStride}, 0, cmpMode, repeatTime, loc);
    }
}
template <typename T, typename U, bool isSetMask = true>
inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    const uint64_t mask, uint8_t repeatTime, const BinaryRepeatParams& p, Loc loc = Loc::here()) {
    (void)mask;
    if ASCEND_IS_AIV {
        compareRepeats<T>("Compare", dst, {src0.ptr(), p.src0BlkStride, p.src0RepStride},
                          {src1.ptr(), p.src1BlkStride, p.src1RepStride}, 0, cmpMode, repeatTime, loc);
    }
}
template <typename T, typename U>
inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    uint32_t count, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        if (unlikely(count * sizeof(T) % 256 != 0))
            pyto_sim::fail(loc, "Compare: count %u is not a multiple of %u (256 bytes): the rest would not be compared", count,
                           unsigned(256 / sizeof(T)));
        compareRepeats<T>("Compare", dst, {src0.ptr(), 1, 8}, {src1.ptr(), 1, 8}, 0, cmpMode,
                          uint32_t(count * sizeof(T) / 256), loc);
    }
}

// One repeat into the compare register; here the mask counts.
template <class T>
inline void compareToRegister(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode, const BinaryRepeatParams& p,
                              const vec::Lanes& lanes, Loc loc) {
    PYTO_VEC_TYPES("Compare", T, half, float);
    const vec::Span a{src0.ptr(), p.src0BlkStride, p.src0RepStride};
    const vec::Span b{src1.ptr(), p.src1BlkStride, p.src1RepStride};
    const vec::Span spans[2] = {a, b};
    const uint32_t sizes[2] = {kSize<T>, kSize<T>};
    const vec::Lanes whole{~uint64_t(0), ~uint64_t(0), 1, false};
    vec::verify(loc, "Compare", spans, sizes, 2, whole);
    pyto_sim::Core* core = &pyto_sim::core();
    pyto_sim::issue("Compare", PIPE_V, loc,
                    [&](pyto_sim::Record& r) {
                        vec::describe(r, false, a, kSize<T>, kSize<T>, lanes);
                        vec::describe(r, false, b, kSize<T>, kSize<T>, lanes);
                        r.work = vec::activeLanes(kSize<T>, lanes);
                    },
                    [=] {
                        vec::compare_to_mask(vec::Cmp(mode), vec::ElemOf<T>::value, core->vector.cmpMask, a, b, lanes);
                    });
}
template <typename T, bool isSetMask = true>
inline void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode, const uint64_t mask[],
                    const BinaryRepeatParams& repeatParams, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        compareToRegister(src0, src1, cmpMode, repeatParams, maskLanes<isSetMask>(loc, "Compare", mask, kSize<T>, 1), loc);
    }
}
template <typename T, bool isSetMask = true>
inline void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode, const uint64_t mask,
                    const BinaryRepeatParams& repeatParams, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        compareToRegister(src0, src1, cmpMode, repeatParams, maskLanes<isSetMask>(loc, "Compare", mask, kSize<T>, 1), loc);
    }
}

#define PYTO_VEC_COMPARE_SCALAR(NAME)                                                                                     \
    template <typename T, typename U, bool isSetMask = true>                                                              \
    inline void NAME(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,          \
                     const uint64_t mask[], uint8_t repeatTime, const UnaryRepeatParams& p, Loc loc = Loc::here()) {      \
        (void)mask;                                                                                                       \
        if ASCEND_IS_AIV {                                                                                                \
            compareRepeats<T>(#NAME, dst, {src0.ptr(), p.srcBlkStride, p.srcRepStride}, {nullptr, 1, 8},                  \
                              vec::scalarBits(src1Scalar), cmpMode, repeatTime, loc);                                     \
        }                                                                                                                 \
    }                                                                                                                     \
    template <typename T, typename U, bool isSetMask = true>                                                              \
    inline void NAME(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,          \
                     const uint64_t mask, uint8_t repeatTime, const UnaryRepeatParams& p, Loc loc = Loc::here()) {        \
        (void)mask;                                                                                                       \
        if ASCEND_IS_AIV {                                                                                                \
            compareRepeats<T>(#NAME, dst, {src0.ptr(), p.srcBlkStride, p.srcRepStride}, {nullptr, 1, 8},                  \
                              vec::scalarBits(src1Scalar), cmpMode, repeatTime, loc);                                     \
        }                                                                                                                 \
    }                                                                                                                     \
    template <typename T, typename U>                                                                                     \
    inline void NAME(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,          \
                     uint32_t count, Loc loc = Loc::here()) {                                                             \
        if ASCEND_IS_AIV {                                                                                                \
            if (unlikely(count * sizeof(T) % 256 != 0))                                                                   \
                pyto_sim::fail(loc, #NAME ": count %u is not a multiple of %u (256 bytes): the rest would not be compared",\
                               count, unsigned(256 / sizeof(T)));                                                         \
            compareRepeats<T>(#NAME, dst, {src0.ptr(), 1, 8}, {nullptr, 1, 8}, vec::scalarBits(src1Scalar), cmpMode,      \
                              uint32_t(count * sizeof(T) / 256), loc);                                                    \
        }                                                                                                                 \
    }
PYTO_VEC_COMPARE_SCALAR(Compares)
PYTO_VEC_COMPARE_SCALAR(CompareScalar)

// ---- Select: bit 1 takes src0, bit 0 takes src1 ----

enum class SelectFrom : uint8_t {
    Tensor,          // bits are packed over the repeats; the chip's library uses its scratch at TMP_UB_OFFSET
    Address,         // the same without the scratch
    Register,        // bits are those of the compare register, for all repeats
    TensorRegister,  // the same, after loading the register from `bits`
    ScalarRegister,  // bits from the tensor, the scalar from the compare register
};

// b.data null: src1 is the scalar.
template <class T>
inline void selectRepeats(const LocalTensor<T>& dst, vec::Span a, vec::Span b, uint64_t scalar, const uint8_t* bits,
                          SelectFrom source, uint32_t dstBlk, uint32_t dstRep, const vec::Lanes& lanes, Loc loc) {
    PYTO_VEC_TYPES("Select", T, half, float);
    const vec::Span d{dst.ptr(), dstBlk, dstRep};
    const vec::Span spans[3] = {d, a, b};
    const uint32_t sizes[3] = {kSize<T>, kSize<T>, kSize<T>};
    vec::verify(loc, "Select", spans, sizes, b.data == nullptr ? 2 : 3, lanes);
    const uint64_t repeats = lanes.counter ? (lanes.low * sizeof(T) + 255) / 256 : lanes.repeats;
    const uint64_t bitBytes = source == SelectFrom::TensorRegister ? 16
                              : lanes.counter                      ? (lanes.low + 7) / 8
                                                                   : repeats * 32 / sizeof(T);
    if (bits != nullptr) vec::verifyRange(loc, "Select", bits, bitBytes, source == SelectFrom::TensorRegister ? 16 : 32);
    pyto_sim::Core* core = &pyto_sim::core();
    uint8_t* ub = core->mem[int(pyto_sim::MemId::Ub)];
    const uint32_t scratch = source != SelectFrom::Tensor ? 0 : b.data == nullptr ? 32 * kSize<T> : 128;
    pyto_sim::issue("Select", PIPE_V, loc,
                    [&](pyto_sim::Record& r) {
                        vec::describe(r, false, a, kSize<T>, kSize<T>, lanes);
                        if (b.data != nullptr) vec::describe(r, false, b, kSize<T>, kSize<T>, lanes);
                        if (bits != nullptr) r.read(bits, bitBytes);
                        if (scratch != 0) r.write(ub + TMP_UB_OFFSET, scratch);
                        vec::describe(r, true, d, kSize<T>, kSize<T>, lanes);
                        r.work = vec::activeLanes(kSize<T>, lanes);
                    },
                    [=] {
                        // 32 copies of the scalar, or of the address of the bits in UB.
                        const uint64_t copied = b.data == nullptr ? scalar : uint64_t(bits - ub);
                        const uint32_t unit = b.data == nullptr ? kSize<T> : 4;
                        for (uint32_t i = 0; i < scratch; i += unit) std::memcpy(ub + TMP_UB_OFFSET + i, &copied, unit);
                        uint64_t* held = core->vector.cmpMask;
                        if (source == SelectFrom::TensorRegister) std::memcpy(held, bits, 16);
                        const bool reuse = source == SelectFrom::Register || source == SelectFrom::TensorRegister;
                        const uint8_t* from = reuse ? reinterpret_cast<const uint8_t*>(held) : bits;
                        vec::select(kSize<T>, d, a, b, source == SelectFrom::ScalarRegister ? held[0] : scalar, from, reuse,
                                    lanes);
                    });
}

template <class T, class U>
inline void selectTensors(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                          const LocalTensor<T>& src1, SELMODE mode, const BinaryRepeatParams& p, const vec::Lanes& lanes,
                          Loc loc) {
    static_assert(SupportType<U, uint8_t, uint16_t, uint32_t, uint64_t>(), "Select: the mask is a tensor of unsigned integers");
    if (unlikely(mode == SELMODE::VSEL_TENSOR_SCALAR_MODE))
        pyto_sim::fail(loc, "Select: VSEL_TENSOR_SCALAR_MODE needs a scalar as src1");
    selectRepeats(dst, {src0.ptr(), p.src0BlkStride, p.src0RepStride}, {src1.ptr(), p.src1BlkStride, p.src1RepStride}, 0,
                  reinterpret_cast<const uint8_t*>(selMask.ptr()),
                  mode == SELMODE::VSEL_CMPMASK_SPR ? SelectFrom::TensorRegister : SelectFrom::Tensor, p.dstBlkStride,
                  p.dstRepStride, lanes, loc);
}
template <class T, class U>
inline void selectScalar(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
                         SELMODE mode, const BinaryRepeatParams& p, const vec::Lanes& lanes, Loc loc) {
    static_assert(SupportType<U, uint8_t, uint16_t, uint32_t, uint64_t>(), "Select: the mask is a tensor of unsigned integers");
    if (unlikely(mode != SELMODE::VSEL_TENSOR_SCALAR_MODE))
        pyto_sim::fail(loc, "Select: a scalar as src1 needs VSEL_TENSOR_SCALAR_MODE");
    selectRepeats(dst, {src0.ptr(), p.src0BlkStride, p.src0RepStride}, {nullptr, 1, 8}, vec::scalarBits(src1),
                  reinterpret_cast<const uint8_t*>(selMask.ptr()), SelectFrom::Tensor, p.dstBlkStride, p.dstRepStride, lanes,
                  loc);
}

template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, SELMODE selMode, uint64_t mask[], uint8_t repeatTime,
                   const BinaryRepeatParams& repeatParams, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        selectTensors(dst, selMask, src0, src1, selMode, repeatParams, maskLanes<true>(loc, "Select", mask, kSize<T>, repeatTime), loc);
    }
}
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, SELMODE selMode, uint64_t mask, uint8_t repeatTime,
                   const BinaryRepeatParams& repeatParams, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        selectTensors(dst, selMask, src0, src1, selMode, repeatParams, maskLanes<true>(loc, "Select", mask, kSize<T>, repeatTime), loc);
    }
}
template <typename T, typename U>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, SELMODE selMode, uint32_t count, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        selectTensors(dst, selMask, src0, src1, selMode, BinaryRepeatParams(), vec::laneTotal(loc, "Select", count), loc);
    }
}
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1, SELMODE selMode,
                   uint64_t mask[], uint8_t repeatTime, const BinaryRepeatParams& repeatParams, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        selectScalar(dst, selMask, src0, src1, selMode, repeatParams, maskLanes<true>(loc, "Select", mask, kSize<T>, repeatTime), loc);
    }
}
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1, SELMODE selMode,
                   uint64_t mask, uint8_t repeatTime, const BinaryRepeatParams& repeatParams, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        selectScalar(dst, selMask, src0, src1, selMode, repeatParams, maskLanes<true>(loc, "Select", mask, kSize<T>, repeatTime), loc);
    }
}
template <typename T, typename U>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1, SELMODE selMode,
                   uint32_t count, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        selectScalar(dst, selMask, src0, src1, selMode, BinaryRepeatParams(), vec::laneTotal(loc, "Select", count), loc);
    }
}

// Forms that take the mask register and what SetCmpMask put into the compare register: the bits (mode 0), the scalar
// (mode 1), or the address of the bits (mode 2).
template <typename T, SELMODE selMode>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint8_t repeatTime,
                   const BinaryRepeatParams& p, Loc loc = Loc::here()) {
    static_assert(selMode != SELMODE::VSEL_TENSOR_SCALAR_MODE, "Select: VSEL_TENSOR_SCALAR_MODE takes (dst, selMask, src0, ...)");
    if ASCEND_IS_AIV {
        const uint8_t* bits = nullptr;
        if constexpr (selMode == SELMODE::VSEL_TENSOR_TENSOR_MODE) {
            // An on-chip address has 32 bits: the upper half of a host address is that of UB.
            const uint64_t base = uint64_t(uintptr_t(pyto_sim::core().mem[int(pyto_sim::MemId::Ub)]));
            const uint64_t low = pyto_sim::core().vector.cmpMask[0] & 0xffffffffu;
            const uint64_t whole = (base & ~uint64_t(0xffffffffu)) | low;
            bits = reinterpret_cast<const uint8_t*>(uintptr_t(whole < base ? whole + (uint64_t(1) << 32) : whole));
        }
        selectRepeats(dst, {src0.ptr(), p.src0BlkStride, p.src0RepStride}, {src1.ptr(), p.src1BlkStride, p.src1RepStride}, 0,
                      bits, bits == nullptr ? SelectFrom::Register : SelectFrom::Address, p.dstBlkStride, p.dstRepStride,
                      vec::laneState(repeatTime), loc);
    }
}
template <typename T, typename U>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, uint8_t repeatTime,
                   const BinaryRepeatParams& p, Loc loc = Loc::here()) {
    if ASCEND_IS_AIV {
        selectRepeats(dst, {src0.ptr(), p.src0BlkStride, p.src0RepStride}, {nullptr, 1, 8}, 0,
                      reinterpret_cast<const uint8_t*>(selMask.ptr()), SelectFrom::ScalarRegister, p.dstBlkStride,
                      p.dstRepStride, vec::laneState(repeatTime), loc);
    }
}

PYTO_ASCENDC_END
