// DataCopy and DataCopyPad.
#pragma once
#include "pyto_sim/copy_functions.h"
#include "pyto_sim/copy_params.h"
#include "pyto_sim/tensor.h"

namespace pyto_sim {

// A cube core has no UB and a vector core has nothing else: a copy into what is not there does nothing, as on the chip.
constexpr bool kCubeCode = g_coreType == AscendC::AIC;
constexpr bool onThisCore(MemId mem) { return kCubeCode ? mem != MemId::Ub : mem == MemId::Ub || mem == MemId::Gm; }

// A block of rows, in bytes.
struct Rows {
    uint64_t rowBytes;
    uint32_t rows;
    int64_t dstPitch, srcPitch;
};

constexpr pipe_t inPipe() { return PIPE_MTE2; }
constexpr pipe_t localPipe(MemId src) { return src == MemId::Ub ? PIPE_V : PIPE_MTE1; }

template <class T>
__attribute__((always_inline)) inline void issueCopyIn(const char* name, const AscendC::LocalTensor<T>& dst,
                                                       const AscendC::GlobalTensor<T>& src, Rows s, Loc loc) {
    const MemId mem = dst.mem();
    if (!onThisCore(mem)) return;
    T* d = dst.ptr();
    const T* from = src.ptr();
    if (s.rows == 0 || s.rowBytes == 0) return;
    checkLocal(loc, name, mem, d, uint64_t(s.rows - 1) * uint64_t(s.dstPitch) + s.rowBytes, 32);
    checkGm(loc, name, from, uint64_t(s.rows - 1) * uint64_t(s.srcPitch) + s.rowBytes, false);
    issue(
        name, PIPE_MTE2, loc,
        [&](Record& r) {
            r.readRows(from, s.rowBytes, s.rows, s.srcPitch);
            r.writeRows(d, s.rowBytes, s.rows, s.dstPitch);
        },
        [=] { copyIn(mem, d, s.dstPitch, from, s.srcPitch, s.rowBytes, s.rows); });
}

template <class T>
__attribute__((always_inline)) inline void issueCopyOut(const char* name, const AscendC::GlobalTensor<T>& dst,
                                                        const AscendC::LocalTensor<T>& src, Rows s, Loc loc) {
    const MemId mem = src.mem();
    if (!onThisCore(mem)) return;
    T* d = dst.ptr();
    const T* from = src.ptr();
    if (s.rows == 0 || s.rowBytes == 0) return;
    if (mem != MemId::Ub) fail(loc, "%s: no path from %s to GM; L0C goes out through Fixpipe", name, memName(mem));
    checkLocal(loc, name, mem, from, uint64_t(s.rows - 1) * uint64_t(s.srcPitch) + s.rowBytes, 32);
    checkGm(loc, name, d, uint64_t(s.rows - 1) * uint64_t(s.dstPitch) + s.rowBytes, true);
    const AtomicMode atomic = core().atomic;
    issue(
        name, PIPE_MTE3, loc,
        [&](Record& r) {
            r.readRows(from, s.rowBytes, s.rows, s.srcPitch);
            r.writeRows(d, s.rowBytes, s.rows, s.dstPitch);
        },
        [=] { copyOut(d, s.dstPitch, from, s.srcPitch, s.rowBytes, s.rows, atomic); });
}

template <class T, class U>
__attribute__((always_inline)) inline void issueCopyLocal(const char* name, const AscendC::LocalTensor<T>& dst,
                                                          const AscendC::LocalTensor<U>& src, Rows s, Loc loc) {
    const MemId to = dst.mem(), fromMem = src.mem();
    if (!onThisCore(to) || !onThisCore(fromMem)) return;
    T* d = dst.ptr();
    const U* from = src.ptr();
    if (s.rows == 0 || s.rowBytes == 0) return;
    const bool path =
        (fromMem == MemId::Ub && to == MemId::Ub) || (fromMem == MemId::L1 && (to == MemId::Bt || to == MemId::Fb));
    if (!path) fail(loc, "%s: no path from %s to %s on this chip", name, memName(fromMem), memName(to));
    checkLocal(loc, name, to, d, uint64_t(s.rows - 1) * uint64_t(s.dstPitch) + s.rowBytes, 32);
    checkLocal(loc, name, fromMem, from, uint64_t(s.rows - 1) * uint64_t(s.srcPitch) + s.rowBytes, 32);
    issue(
        name,
        fromMem == MemId::Ub ? PIPE_V
        : to == MemId::Fb    ? PIPE_FIX
                             : PIPE_MTE1,
        loc,
        [&](Record& r) {
            r.readRows(from, s.rowBytes, s.rows, s.srcPitch);
            r.writeRows(d, s.rowBytes, s.rows, s.dstPitch);
        },
        [=] { copyLocal(to, d, s.dstPitch, fromMem, from, s.srcPitch, s.rowBytes, s.rows); });
}

template <class P>
inline Rows rowsOf(const P& p, Loc loc) {
    if (p.blockCount > 4095) fail(loc, "DataCopy: blockCount %u; at most 4095", unsigned(p.blockCount));
    return {uint64_t(p.blockLen) * 32, p.blockCount, int64_t(p.blockLen + p.dstStride) * 32,
            int64_t(p.blockLen + p.srcStride) * 32};
}

// Copies between memories of a core: the bias table counts its blocks in 64 B, the fixpipe buffer in 128 B and from
// head to head.
template <class P>
inline Rows localRowsOf(const P& p, MemId dst, Loc loc) {
    Rows r = rowsOf(p, loc);
    if (dst == MemId::Bt) {
        r.rowBytes = uint64_t(p.blockLen) * 64;
        r.dstPitch = int64_t(p.blockLen + p.dstStride) * 64;
        r.srcPitch = int64_t(p.blockLen) * 64 + int64_t(p.srcStride) * 32;
    } else if (dst == MemId::Fb) {
        r.rowBytes = uint64_t(p.blockLen) * 128;
        r.dstPitch = int64_t(p.dstStride) * 128;
        r.srcPitch = int64_t(p.srcStride) * 32;
    }
    return r;
}

template <class T>
inline Rows oneRow(uint32_t count, Loc loc) {
    const uint64_t bytes = uint64_t(count) * sizeof(T);
    if (bytes % 32 != 0)
        fail(loc, "DataCopy: %u elements of %u bytes are not a multiple of 32 bytes; use DataCopyPad", count,
             unsigned(sizeof(T)));
    return {bytes, count == 0 ? 0u : 1u, int64_t(bytes), int64_t(bytes)};
}

template <class P>
inline void refuseEnhanced(const P& e, Loc loc) {
    if (e.blockMode != AscendC::BlockMode::BLOCK_MODE_NORMAL || e.deqScale != AscendC::DeqScale::DEQ_NONE || e.isRelu ||
        e.padMode != PAD_NONE)
        fail(
            loc,
            "DataCopy with DataCopyEnhancedParams: on this chip only the normal block mode without dequantisation, relu and padding");
}

}  // namespace pyto_sim

PYTO_ASCENDC_BEGIN

template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const DataCopyParams& repeatParams, Loc loc = Loc::here()) {
    pyto_sim::issueCopyIn("DataCopy", dst, src, pyto_sim::rowsOf(repeatParams, loc), loc);
}
template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                const DataCopyParams& repeatParams, Loc loc = Loc::here()) {
    pyto_sim::issueCopyOut("DataCopy", dst, src, pyto_sim::rowsOf(repeatParams, loc), loc);
}
template <typename T, typename U>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                const DataCopyParams& repeatParams, Loc loc = Loc::here()) {
    static_assert(std::is_same<T, U>::value || sizeof(T) == sizeof(U),
                  "DataCopy between local tensors of types of different size");
    pyto_sim::issueCopyLocal("DataCopy", dst, src, pyto_sim::localRowsOf(repeatParams, dst.mem(), loc), loc);
}
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const DataCopyParams& repeatParams, Loc loc = Loc::here()) {
    pyto_sim::issueCopyLocal("DataCopy", dst, src, pyto_sim::localRowsOf(repeatParams, dst.mem(), loc), loc);
}

template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count,
                                Loc loc = Loc::here()) {
    pyto_sim::issueCopyIn("DataCopy", dst, src, pyto_sim::oneRow<T>(count, loc), loc);
}
template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
                                Loc loc = Loc::here()) {
    pyto_sim::issueCopyOut("DataCopy", dst, src, pyto_sim::oneRow<T>(count, loc), loc);
}
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
                                Loc loc = Loc::here()) {
    pyto_sim::issueCopyLocal("DataCopy", dst, src, pyto_sim::oneRow<T>(count, loc), loc);
}

template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const DataCopyParams& intriParams, const DataCopyEnhancedParams& enhancedParams,
                                Loc loc = Loc::here()) {
    pyto_sim::refuseEnhanced(enhancedParams, loc);
    DataCopy(dst, src, intriParams, loc);
}
template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                const DataCopyParams& intriParams, const DataCopyEnhancedParams& enhancedParams,
                                Loc loc = Loc::here()) {
    pyto_sim::refuseEnhanced(enhancedParams, loc);
    DataCopy(dst, src, intriParams, loc);
}
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& intriParams,
                                const DataCopyEnhancedParams& enhancedParams, Loc loc = Loc::here()) {
    pyto_sim::refuseEnhanced(enhancedParams, loc);
    DataCopy(dst, src, intriParams, loc);
}

// GM -> L1, rows to fractals.
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Nd2NzParams& p,
                                Loc loc = Loc::here()) {
    const pyto_sim::MemId mem = dst.mem();
    if (!pyto_sim::onThisCore(mem)) return;
    if (mem != pyto_sim::MemId::L1)
        pyto_sim::fail(loc, "DataCopy with Nd2NzParams goes to L1, not to %s", pyto_sim::memName(mem));
    if (p.nValue == 0 || p.dValue == 0) return;
    const pyto_sim::Nd2Nz shape = {p.nValue, uint32_t(p.dValue * sizeof(T)), int64_t(p.srcDValue) * int64_t(sizeof(T)),
                                   uint32_t(p.dstNzC0Stride) * 32, uint32_t(p.dstNzNStride) * 32};
    const uint32_t blocks = (shape.rowBytes + 31) / 32;
    for (uint32_t i = 0; i < p.ndNum; ++i) {
        T* d = dst.ptr() + uint64_t(i) * p.dstNzMatrixStride;
        const T* s = src.ptr() + uint64_t(i) * p.srcNdMatrixStride;
        pyto_sim::checkLocal(loc, "DataCopy(Nd2NzParams)", mem, d,
                             uint64_t(blocks - 1) * shape.blockStride + uint64_t(shape.rows - 1) * shape.rowStride + 32,
                             32);
        pyto_sim::checkGm(loc, "DataCopy(Nd2NzParams)", s,
                          uint64_t(shape.rows - 1) * uint64_t(shape.srcPitch) + shape.rowBytes, false);
        pyto_sim::issue(
            "DataCopy(Nd2NzParams)", PIPE_MTE2, loc,
            [&](pyto_sim::Record& r) {
                r.readRows(s, shape.rowBytes, shape.rows, shape.srcPitch);
                for (uint32_t b = 0; b < blocks && blocks <= 16; ++b)
                    r.writeRows(reinterpret_cast<const uint8_t*>(d) + b * shape.blockStride, 32, shape.rows,
                                shape.rowStride);
                if (blocks > 16)
                    r.writeRows(d, uint64_t(shape.rows - 1) * shape.rowStride + 32, blocks, shape.blockStride);
            },
            [=] { pyto_sim::copyNd2Nz(mem, d, s, shape); });
    }
}

// UB -> GM, fractals to rows.
template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const Nz2NdParamsFull& p,
                                Loc loc = Loc::here()) {
    const pyto_sim::MemId mem = src.mem();
    if (!pyto_sim::onThisCore(mem)) return;
    if (p.nValue == 0 || p.dValue == 0) return;
    const pyto_sim::Nz2Nd shape = {p.nValue, uint32_t(p.dValue * sizeof(T)), uint32_t(p.srcNStride) * 32, 32,
                                   int64_t(p.dstDStride) * int64_t(sizeof(T))};
    const uint32_t blocks = (shape.rowBytes + 31) / 32;
    const pyto_sim::AtomicMode atomic = pyto_sim::core().atomic;
    for (uint32_t i = 0; i < p.ndNum; ++i) {
        T* d = dst.ptr() + uint64_t(i) * p.dstNdMatrixStride;
        const T* s = src.ptr() + uint64_t(i) * p.srcNdMatrixStride * 256;
        pyto_sim::checkLocal(loc, "DataCopy(Nz2NdParamsFull)", mem, s,
                             uint64_t(blocks - 1) * shape.blockStride + uint64_t(shape.rows) * 32, 32);
        pyto_sim::checkGm(loc, "DataCopy(Nz2NdParamsFull)", d,
                          uint64_t(shape.rows - 1) * uint64_t(shape.dstPitch) + shape.rowBytes, true);
        pyto_sim::issue(
            "DataCopy(Nz2NdParamsFull)", PIPE_MTE3, loc,
            [&](pyto_sim::Record& r) {
                r.readRows(s, uint64_t(shape.rows) * 32, blocks, shape.blockStride);
                r.writeRows(d, shape.rowBytes, shape.rows, shape.dstPitch);
            },
            [=] { pyto_sim::copyNz2Nd(d, s, shape, atomic); });
    }
}

template <typename T>
__aicore__ inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& p,
                                   const DataCopyPadExtParams<T>& pad, Loc loc = Loc::here()) {
    const pyto_sim::MemId mem = dst.mem();
    if (!pyto_sim::onThisCore(mem)) return;
    if (mem != pyto_sim::MemId::Ub && mem != pyto_sim::MemId::L1)
        pyto_sim::fail(loc, "DataCopyPad: no path from GM to %s", pyto_sim::memName(mem));
    if (p.blockCount == 0 || p.blockLen == 0) return;
    if (p.blockCount > 4095) pyto_sim::fail(loc, "DataCopyPad: blockCount %u; at most 4095", unsigned(p.blockCount));
    if (p.blockLen > 2097151)
        pyto_sim::fail(loc, "DataCopyPad: blockLen %u bytes; at most 2097151", unsigned(p.blockLen));
    if (p.blockLen % sizeof(T) != 0)
        pyto_sim::fail(loc, "DataCopyPad: blockLen %u bytes is not a multiple of the element size %u",
                       unsigned(p.blockLen), unsigned(sizeof(T)));
    pyto_sim::PadRow row = {0, 0, uint32_t(sizeof(T)), 0, pad.isPad};
    row.leftBytes = pad.isPad ? uint32_t(pad.leftPadding * sizeof(T)) : 0;
    row.rightBytes = pad.isPad ? uint32_t(pad.rightPadding * sizeof(T)) : 0;
    if (row.leftBytes > 32 || row.rightBytes > 32)
        pyto_sim::fail(loc, "DataCopyPad: left and right padding of %u and %u bytes; at most 32 each", row.leftBytes,
                       row.rightBytes);
    __builtin_memcpy(&row.value, &pad.paddingValue, sizeof(T) < 8 ? sizeof(T) : 8);
    const uint64_t used = (row.leftBytes + uint64_t(p.blockLen) + row.rightBytes + 31) / 32 * 32;
    const pyto_sim::Rows s = {p.blockLen, p.blockCount, int64_t(used + uint64_t(p.dstStride) * 32),
                              int64_t(uint64_t(p.blockLen) + p.srcStride)};
    T* d = dst.ptr();
    const T* from = src.ptr();
    pyto_sim::checkLocal(loc, "DataCopyPad", mem, d, uint64_t(s.rows - 1) * uint64_t(s.dstPitch) + used, 32);
    if (mem == pyto_sim::MemId::L1) {
        if (p.blockLen % 32 != 0 || pad.isPad)
            pyto_sim::fail(loc, "DataCopyPad to L1: rows of whole 32 B without padding");
        return pyto_sim::issueCopyIn("DataCopyPad", dst, src, s, loc);
    }
    pyto_sim::checkGm(loc, "DataCopyPad", from, uint64_t(s.rows - 1) * uint64_t(s.srcPitch) + s.rowBytes, false);
    pyto_sim::issue(
        "DataCopyPad", PIPE_MTE2, loc,
        [&](pyto_sim::Record& r) {
            r.readRows(from, s.rowBytes, s.rows, s.srcPitch);
            r.writeRows(d, used, s.rows, s.dstPitch);
        },
        [=] { pyto_sim::copyInPad(d, s.dstPitch, from, s.srcPitch, s.rowBytes, s.rows, row); });
}

template <typename T>
__aicore__ inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& p,
                                   const DataCopyPadParams& pad, Loc loc = Loc::here()) {
    DataCopyPadExtParams<T> ext;
    ext.isPad = pad.isPad;
    ext.leftPadding = pad.leftPadding;
    ext.rightPadding = pad.rightPadding;
    __builtin_memcpy(static_cast<void*>(&ext.paddingValue), &pad.paddingValue, sizeof(T) < 8 ? sizeof(T) : 8);
    DataCopyPad(dst, src, DataCopyExtParams{p.blockCount, p.blockLen, p.srcStride, p.dstStride, 0}, ext, loc);
}

template <typename T>
__aicore__ inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& p,
                                   Loc loc = Loc::here()) {
    if (p.blockCount > 4095) pyto_sim::fail(loc, "DataCopyPad: blockCount %u; at most 4095", unsigned(p.blockCount));
    if (p.blockLen > 2097151)
        pyto_sim::fail(loc, "DataCopyPad: blockLen %u bytes; at most 2097151", unsigned(p.blockLen));
    if (p.blockLen % sizeof(T) != 0)
        pyto_sim::fail(loc, "DataCopyPad: blockLen %u bytes is not a multiple of the element size %u",
                       unsigned(p.blockLen), unsigned(sizeof(T)));
    const uint64_t used = (uint64_t(p.blockLen) + 31) / 32 * 32;
    pyto_sim::issueCopyOut("DataCopyPad", dst, src,
                           {p.blockLen, p.blockCount, int64_t(uint64_t(p.blockLen) + p.dstStride),
                            int64_t(used + uint64_t(p.srcStride) * 32)},
                           loc);
}

template <typename T>
__aicore__ inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& p,
                                   Loc loc = Loc::here()) {
    DataCopyPad(dst, src, DataCopyExtParams{p.blockCount, p.blockLen, p.srcStride, p.dstStride, 0}, loc);
}

template <typename T, TPosition pos = TPosition::MAX>
__aicore__ inline void SetPadValue(T) {}

PYTO_ASCENDC_END

#include "pyto_sim/slice_copy.h"
