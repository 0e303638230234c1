// Fixpipe and what configures it. Cube cores only: no-ops on a vector core.
#pragma once
#include "pyto_sim/copy_functions.h"
#include "pyto_sim/copy_params.h"
#include "pyto_sim/data_copy.h"
#include "pyto_sim/fixpipe_functions.h"
#include "pyto_sim/mm_params.h"
#include "pyto_sim/tensor.h"

namespace pyto_sim {

constexpr bool isVectorQuant(QuantMode_t q) { return q == VDEQF16 || q == VQF322B8_PRE || q == VREQ8; }

template <class T, class U>
inline void checkQuant(QuantMode_t q, Loc loc) {
    constexpr DataType to = dataTypeOf<T>(), from = dataTypeOf<U>();
    static_assert(from == DataType::F32 || from == DataType::S32, "Fixpipe: L0C holds float or int32_t");
    bool good = false;
    if (from == DataType::F32)
        good = (q == NoQuant && to == DataType::F32) || (q == F322F16 && to == DataType::F16) ||
               (q == F322BF16 && to == DataType::BF16) ||
               ((q == QF322B8_PRE || q == VQF322B8_PRE) && (to == DataType::S8 || to == DataType::U8));
    else
        good = (q == NoQuant && to == DataType::S32) || ((q == DEQF16 || q == VDEQF16) && to == DataType::F16) ||
               ((q == REQ8 || q == VREQ8) && (to == DataType::S8 || to == DataType::U8));
    if (!good) fail(loc, "Fixpipe: quantPre %d does not turn the type of L0C into the type of the destination", int(q));
}

inline uint64_t fixpipeBytes(const FixpipeMove& m, uint32_t toBytes) {
    if (!m.fractal) return uint64_t(m.rows - 1) * uint64_t(m.dstStep) + uint64_t(m.columns) * toBytes;
    const uint32_t block = fixpipeBlockColumns(m);
    const uint32_t blocks = (m.columns + block - 1) / block;
    const uint32_t last = m.columns - (blocks - 1) * block;
    return uint64_t(blocks - 1) * uint64_t(m.dstStep) + (uint64_t(m.rows - 1) * block + last) * toBytes;
}

inline void issueFixpipe(const FixpipeMove& m, MemId srcMem, uint32_t toBytes, Loc loc) {
    if (m.rows == 0 || m.columns == 0 || m.matrices == 0) return;
    checkFixpipe(m, srcMem, loc);
    for (uint32_t i = 0; i < m.matrices; ++i) {
        FixpipeMove one = m;
        one.src = static_cast<const uint8_t*>(m.src) + i * m.srcMatrixStep;
        one.dst = static_cast<uint8_t*>(m.dst) + i * m.dstMatrixStep;
        if (m.dstMem == MemId::Gm) checkGm(loc, "Fixpipe", one.dst, fixpipeBytes(one, toBytes), true);
        issue(
            "Fixpipe", PIPE_FIX, loc,
            [&](Record& r) {
                r.readRows(one.src, uint64_t(one.rows) * 64, (one.columns + 15) / 16, one.srcBlockStep);
                if (isVectorQuant(one.quant)) r.read(one.scales, one.columns * 8);
                const uint32_t block = fixpipeBlockColumns(one);
                if (one.fractal)
                    r.writeRows(one.dst, uint64_t(one.rows) * block * toBytes, (one.columns + block - 1) / block,
                                one.dstStep);
                else
                    r.writeRows(one.dst, uint64_t(one.columns) * toBytes, one.rows, one.dstStep);
            },
            [=] { fixpipe(one); });
    }
}

template <class T, class U>
inline FixpipeMove fixpipeMove(T* dst, MemId dstMem, const AscendC::LocalTensor<U>& src, AscendC::CO2Layout layout,
                               const AscendC::FixpipeParamsV220& p, const uint64_t* scales, Loc loc) {
    checkQuant<T, U>(p.quantPre, loc);
    if (layout == AscendC::CO2Layout::COLUMN_MAJOR) fail(loc, "Fixpipe: CFG_COLUMN_MAJOR does not exist on this chip");
    const bool fractal = layout == AscendC::CO2Layout::NZ;
    if (p.isChannelSplit && (!fractal || dataTypeOf<T>() != DataType::F32))
        fail(loc, "Fixpipe: channel split is for float in CFG_NZ");
    if (isVectorQuant(p.quantPre) && scales == nullptr)
        fail(loc, "Fixpipe: quantPre %d needs the quantisation tensor", int(p.quantPre));
    if (p.nSize > 4095) fail(loc, "Fixpipe: nSize %u; at most 4095", unsigned(p.nSize));
    return {dstMem,
            dst,
            src.ptr(),
            dataTypeOf<U>(),
            dataTypeOf<T>(),
            p.mSize,
            p.nSize,
            uint32_t(p.srcStride) * 64,
            fractal ? int64_t(p.dstStride) * 32 : int64_t(p.dstStride) * int64_t(sizeof(T)),
            fractal,
            p.isChannelSplit,
            p.reluEn,
            p.quantPre,
            p.quantPre == NoQuant || p.quantPre == F322F16 || p.quantPre == F322BF16 ? 0 : p.deqScalar,
            scales,
            fractal ? 1u : uint32_t(p.ndNum),
            uint64_t(p.srcNdStride) * 1024,
            uint64_t(p.dstNdStride) * sizeof(T),
            core().atomic};
}

}  // namespace pyto_sim

PYTO_ASCENDC_BEGIN

template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
__aicore__ inline void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParamsV220& p,
                               Loc loc = Loc::here()) {
    if (!pyto_sim::kCubeCode) return;
    pyto_sim::issueFixpipe(pyto_sim::fixpipeMove(dst.ptr(), pyto_sim::MemId::Gm, src, config.format, p, nullptr, loc),
                           src.mem(), sizeof(T), loc);
}

template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR, typename S = uint64_t,
          typename Std::enable_if<Std::is_same<PrimT<S>, uint64_t>::value, bool>::type = true>
__aicore__ inline void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
                               const LocalTensor<S>& cbufWorkspace, const FixpipeParamsV220& p, Loc loc = Loc::here()) {
    if (!pyto_sim::kCubeCode) return;
    pyto_sim::issueFixpipe(
        pyto_sim::fixpipeMove(dst.ptr(), pyto_sim::MemId::Gm, src, config.format, p, cbufWorkspace.ptr(), loc),
        src.mem(), sizeof(T), loc);
}

template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
__aicore__ inline void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParamsV220& p,
                               Loc loc = Loc::here()) {
    if (!pyto_sim::kCubeCode) return;
    if (config.format != CO2Layout::NZ || sizeof(T) == 4)
        pyto_sim::fail(loc, "Fixpipe to L1: only CFG_NZ and types narrower than 32 bits");
    pyto_sim::issueFixpipe(pyto_sim::fixpipeMove(dst.ptr(), dst.mem(), src, config.format, p, nullptr, loc), src.mem(),
                           sizeof(T), loc);
}

template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR, typename S = uint64_t,
          typename Std::enable_if<Std::is_same<PrimT<S>, uint64_t>::value, bool>::type = true>
__aicore__ inline void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                               const LocalTensor<S>& cbufWorkspace, const FixpipeParamsV220& p, Loc loc = Loc::here()) {
    if (!pyto_sim::kCubeCode) return;
    if (config.format != CO2Layout::NZ || sizeof(T) == 4)
        pyto_sim::fail(loc, "Fixpipe to L1: only CFG_NZ and types narrower than 32 bits");
    pyto_sim::issueFixpipe(pyto_sim::fixpipeMove(dst.ptr(), dst.mem(), src, config.format, p, cbufWorkspace.ptr(), loc),
                           src.mem(), sizeof(T), loc);
}

__aicore__ inline void SetFixpipeNz2ndFlag(uint16_t ndNum, uint16_t srcNdStride, uint16_t dstNdStride) {
    pyto_sim::core().fixpipeConfig[2] = uint64_t(ndNum) | uint64_t(srcNdStride) << 16 | uint64_t(dstNdStride) << 32;
}
__aicore__ inline void SetFixpipePreQuantFlag(uint64_t config) { pyto_sim::core().fixpipeConfig[0] = config; }
template <typename T>
__aicore__ inline void SetFixPipeConfig(const LocalTensor<T>&, const LocalTensor<T>& quantPre,
                                        bool isUnitFlag = false) {
    (void)isUnitFlag;
    pyto_sim::core().fixpipeConfig[1] = quantPre.GetPhyAddr();
}
template <typename T, bool setRelu = false>
__aicore__ inline void SetFixPipeConfig(const LocalTensor<T>& preData, bool isUnitFlag = false) {
    (void)isUnitFlag;
    if (!setRelu) pyto_sim::core().fixpipeConfig[1] = preData.GetPhyAddr();
}
__aicore__ inline void SetFixPipeClipRelu(uint64_t config, Loc loc = Loc::here()) {
    if (pyto_sim::kCubeCode && config != 0) pyto_sim::fail(loc, "SetFixPipeClipRelu does not exist on this chip");
}

// L0C out through DataCopy: Fixpipe configured by the Set* calls above.
template <typename T, typename U>
__aicore__ inline FixpipeParamsV220 FixpipeParamsOfDataCopy(const DataCopyCO12DstParams& q) {
    const uint64_t nd = pyto_sim::core().fixpipeConfig[2];
    FixpipeParamsV220 p(q.nSize, q.mSize, q.srcStride, q.dstStride, q.reluPre != 0);
    p.quantPre = q.quantPre;
    p.deqScalar = pyto_sim::core().fixpipeConfig[0];
    p.isChannelSplit = q.channelSplit;
    if (q.nz2ndEn && (nd & 0xffff) > 1) {
        p.ndNum = uint16_t(nd);
        p.srcNdStride = uint16_t(nd >> 16);
        p.dstNdStride = uint16_t(nd >> 32);
    }
    return p;
}
template <typename T, typename U>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyCO12DstParams& q,
                                Loc loc = Loc::here()) {
    if (!pyto_sim::kCubeCode) return;
    const uint64_t* scales = reinterpret_cast<const uint64_t*>(uintptr_t(pyto_sim::core().fixpipeConfig[1]));
    const CO2Layout layout = q.nz2ndEn ? CO2Layout::ROW_MAJOR : CO2Layout::NZ;
    pyto_sim::issueFixpipe(pyto_sim::fixpipeMove(dst.ptr(), pyto_sim::MemId::Gm, src, layout,
                                                 FixpipeParamsOfDataCopy<T, U>(q), scales, loc),
                           src.mem(), sizeof(T), loc);
}
template <typename T, typename U>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyCO12DstParams& q,
                                Loc loc = Loc::here()) {
    if (!pyto_sim::kCubeCode) return;
    if (q.nz2ndEn || sizeof(T) == 4)
        pyto_sim::fail(loc, "DataCopy from L0C to L1: no nz2nd, and types narrower than 32 bits");
    const uint64_t* scales = reinterpret_cast<const uint64_t*>(uintptr_t(pyto_sim::core().fixpipeConfig[1]));
    pyto_sim::issueFixpipe(
        pyto_sim::fixpipeMove(dst.ptr(), dst.mem(), src, CO2Layout::NZ, FixpipeParamsOfDataCopy<T, U>(q), scales, loc),
        src.mem(), sizeof(T), loc);
}

PYTO_ASCENDC_END
