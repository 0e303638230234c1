// LoadData in its forms, LoadDataWithTranspose, Fill. Cube cores only: no-ops on a vector core.
#pragma once
#include "pyto_sim/copy_functions.h"
#include "pyto_sim/data_copy.h"
#include "pyto_sim/load_functions.h"
#include "pyto_sim/mm_params.h"
#include "pyto_sim/tensor.h"

namespace pyto_sim {

inline void needL0(Loc loc, const char* call, MemId mem) {
    if (mem != MemId::L0a && mem != MemId::L0b)
        fail(loc, "%s: the destination lies in %s, not in L0A or L0B", call, memName(mem));
}
inline void needL1(Loc loc, const char* call, MemId mem) {
    if (mem != MemId::L1) fail(loc, "%s: the source lies in %s, not in L1", call, memName(mem));
}

template <class T>
inline void checkFractals(Loc loc, const char* call, const AscendC::LocalTensor<T>& dst, const FractalMove& move) {
    checkLocal(loc, call, dst.mem(), dst.ptr(), uint64_t(move.count - 1) * move.dstStep + 512,
               dst.mem() == MemId::L1 ? 32 : 512);
}

}  // namespace pyto_sim

PYTO_ASCENDC_BEGIN

template <typename T>
__aicore__ inline void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParams& p,
                                Loc loc = Loc::here()) {
    if (!pyto_sim::kCubeCode || p.repeatTimes == 0) return;
    const pyto_sim::MemId mem = dst.mem();
    pyto_sim::needL0(loc, "LoadData", mem);
    pyto_sim::needL1(loc, "LoadData", src.mem());
    if (p.ifTranspose && sizeof(T) != 2)
        pyto_sim::fail(loc, "LoadData: ifTranspose works on 16-bit elements only; use LoadDataWithTranspose");
    const int64_t step = int64_t(p.srcStride) * 512;
    const pyto_sim::FractalMove move = {p.repeatTimes, p.addrMode == 0 ? step : -step, (1u + p.dstGap) * 512u,
                                        p.ifTranspose};
    const uint8_t* s = reinterpret_cast<const uint8_t*>(src.ptr()) + uint64_t(p.startIndex) * 512;
    T* d = dst.ptr();
    pyto_sim::checkFractals(loc, "LoadData", dst, move);
    pyto_sim::checkLocal(loc, "LoadData", pyto_sim::MemId::L1,
                         step >= 0 && p.addrMode == 0 ? s : s - step * (move.count - 1),
                         uint64_t(step) * (move.count - 1) + 512, 32);
    pyto_sim::issue(
        "LoadData", PIPE_MTE1, loc,
        [&](pyto_sim::Record& r) {
            r.readRows(s, 512, move.count, move.srcStep);
            r.writeRows(d, 512, move.count, move.dstStep);
        },
        [=] { pyto_sim::loadFractals(mem, d, s, move); });
}

template <typename T>
__aicore__ inline void LoadData(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const LoadData2DParams& p,
                                Loc loc = Loc::here()) {
    if (!pyto_sim::kCubeCode || p.repeatTimes == 0) return;
    const pyto_sim::MemId mem = dst.mem();
    if (mem != pyto_sim::MemId::L1) pyto_sim::needL0(loc, "LoadData from GM", mem);
    if (p.ifTranspose) pyto_sim::fail(loc, "LoadData from GM: ifTranspose is for L1 to L0 only");
    const int64_t step = int64_t(p.srcStride) * 512;
    const pyto_sim::FractalMove move = {p.repeatTimes, p.addrMode == 0 ? step : -step, (1u + p.dstGap) * 512u, false};
    const uint8_t* s = reinterpret_cast<const uint8_t*>(src.ptr()) + uint64_t(p.startIndex) * 512;
    T* d = dst.ptr();
    pyto_sim::checkFractals(loc, "LoadData from GM", dst, move);
    if (move.srcStep >= 0)
        pyto_sim::checkGm(loc, "LoadData from GM", s, uint64_t(move.count - 1) * uint64_t(move.srcStep) + 512, false);
    pyto_sim::issue(
        "LoadData", PIPE_MTE2, loc,
        [&](pyto_sim::Record& r) {
            r.readRows(s, 512, move.count, move.srcStep);
            r.writeRows(d, 512, move.count, move.dstStep);
        },
        [=] { pyto_sim::loadFractalsGm(mem, d, s, move); });
}

template <typename T>
__aicore__ inline void LoadDataWithTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                             const LoadData2dTransposeParams& p, Loc loc = Loc::here()) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4,
                  "LoadDataWithTranspose: 8, 16 and 32-bit elements");
    if (!pyto_sim::kCubeCode || p.repeatTimes == 0) return;
    const pyto_sim::MemId mem = dst.mem();
    pyto_sim::needL0(loc, "LoadDataWithTranspose", mem);
    pyto_sim::needL1(loc, "LoadDataWithTranspose", src.mem());
    constexpr uint32_t fractals = sizeof(T) == 2 ? 1 : 2;
    const int64_t step = int64_t(p.srcStride) * fractals * 512;
    const pyto_sim::SquareMove move = {p.repeatTimes, uint32_t(sizeof(T)), p.addrMode == 0 ? step : -step,
                                       (1u + p.dstGap) * 512u, (1u + p.dstFracGap) * 512u};
    const uint8_t* s = reinterpret_cast<const uint8_t*>(src.ptr()) + uint64_t(p.startIndex) * fractals * 512;
    T* d = dst.ptr();
    const uint64_t last = uint64_t(fractals - 1) * move.fractalStep + 512;
    pyto_sim::checkLocal(loc, "LoadDataWithTranspose", mem, d, uint64_t(move.count - 1) * move.dstStep + last, 512);
    pyto_sim::checkLocal(loc, "LoadDataWithTranspose", pyto_sim::MemId::L1,
                         p.addrMode == 0 ? s : s - step * (move.count - 1),
                         uint64_t(step) * (move.count - 1) + fractals * 512, 32);
    pyto_sim::issue(
        "LoadDataWithTranspose", PIPE_MTE1, loc,
        [&](pyto_sim::Record& r) {
            r.readRows(s, fractals * 512, move.count, move.srcStep);
            for (uint32_t f = 0; f < fractals; ++f)
                r.writeRows(reinterpret_cast<const uint8_t*>(d) + f * move.fractalStep, 512, move.count, move.dstStep);
        },
        [=] { pyto_sim::loadSquares(mem, d, s, move); });
}

template <typename T, const IsResetLoad3dConfig& defaultConfig = IS_RESER_LOAD3D_DEFAULT_CONFIG, typename U = PrimT<T>,
          typename Std::enable_if<Std::is_same<PrimT<T>, U>::value, bool>::type = true>
__aicore__ inline void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData3DParamsV2<U>& p,
                                Loc loc = Loc::here()) {
    if (!pyto_sim::kCubeCode) return;
    const pyto_sim::MemId mem = dst.mem();
    pyto_sim::needL0(loc, "LoadData(LoadData3DParamsV2)", mem);
    pyto_sim::needL1(loc, "LoadData(LoadData3DParamsV2)", src.mem());
    uint64_t pad = 0;
    __builtin_memcpy(&pad, &p.padValue, sizeof(T));
    if (defaultConfig.isSetFMatrix) pyto_sim::setImage(p.l1H, p.l1W, p.padList);
    if (defaultConfig.isSetPadding) pyto_sim::setLoadPadding(pad);
    uint32_t height = 0, width = 0;
    uint8_t padding[4];
    pyto_sim::getImage(height, width, padding);
    if (height == 0 || width == 0 || p.channelSize == 0 || p.kExtension == 0 || p.mExtension == 0) return;
    if (mem == pyto_sim::MemId::L0b && sizeof(T) == 1)
        pyto_sim::fail(loc, "LoadData(LoadData3DParamsV2): 8-bit elements cannot go to L0B");
    if (mem == pyto_sim::MemId::L0a && p.enTranspose && sizeof(T) == 1)
        pyto_sim::fail(loc, "LoadData(LoadData3DParamsV2): enTranspose does not work on 8-bit elements");
    const pyto_sim::ImageMove move = {height,
                                      width,
                                      p.channelSize,
                                      p.kStartPt,
                                      p.kExtension,
                                      p.mStartPt,
                                      p.mExtension,
                                      p.strideW,
                                      p.strideH,
                                      p.filterW + (p.filterSizeW ? 256u : 0u),
                                      p.filterH + (p.filterSizeH ? 256u : 0u),
                                      p.dilationFilterW,
                                      p.dilationFilterH,
                                      padding[0],
                                      padding[1],
                                      padding[2],
                                      padding[3],
                                      mem == pyto_sim::MemId::L0b || p.enTranspose,
                                      uint32_t(sizeof(T)),
                                      pyto_sim::getLoadPadding()};
    const T* s = src.ptr();
    T* d = dst.ptr();
    const uint64_t written = pyto_sim::imageMoveBytes(mem, move);
    const uint64_t blocks = (uint64_t(move.channels) * sizeof(T) + 31) / 32;
    pyto_sim::checkLocal(loc, "LoadData(LoadData3DParamsV2)", mem, d, written, 512);
    pyto_sim::checkLocal(loc, "LoadData(LoadData3DParamsV2)", pyto_sim::MemId::L1, s, blocks * height * width * 32, 32);
    pyto_sim::issue(
        "LoadData", PIPE_MTE1, loc,
        [&](pyto_sim::Record& r) {
            r.read(s, blocks * height * width * 32);
            r.write(d, written);
        },
        [=] { pyto_sim::loadImage(mem, d, s, move, loc); });
}

template <typename T>
__aicore__ inline void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData3DParamsV2Pro& p,
                                Loc loc = Loc::here()) {
    LoadData3DParamsV2<T> q;
    q.channelSize = p.channelSize;
    q.enTranspose = p.enTranspose;
    q.enSmallK = p.enSmallK;
    q.filterSizeW = p.filterSizeW;
    q.filterSizeH = p.filterSizeH;
    q.fMatrixCtrl = p.fMatrixCtrl;
    q.kExtension = uint16_t(p.extConfig);
    q.mExtension = uint16_t(p.extConfig >> 16);
    q.kStartPt = uint16_t(p.extConfig >> 32);
    q.mStartPt = uint16_t(p.extConfig >> 48);
    q.strideW = uint8_t(p.filterConfig);
    q.strideH = uint8_t(p.filterConfig >> 8);
    q.filterW = uint8_t(p.filterConfig >> 16);
    q.filterH = uint8_t(p.filterConfig >> 24);
    q.dilationFilterW = uint8_t(p.filterConfig >> 32);
    q.dilationFilterH = uint8_t(p.filterConfig >> 40);
    static constexpr IsResetLoad3dConfig keep = {false, false};
    LoadData<T, keep>(dst, src, q, loc);
}

__aicore__ inline void SetFmatrix(uint16_t l1H, uint16_t l1W, const uint8_t padList[4], const FmatrixMode&) {
    if (pyto_sim::kCubeCode) pyto_sim::setImage(l1H, l1W, padList);
}
template <typename T>
__aicore__ inline void SetLoadDataPaddingValue(const T padValue) {
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &padValue, sizeof(T));
    if (pyto_sim::kCubeCode) pyto_sim::setLoadPadding(bits);
}
// 0, the only value on this chip's documented paths, means no boundary.
__aicore__ inline void SetLoadDataBoundary(uint32_t boundaryValue, Loc loc = Loc::here()) {
    if (boundaryValue != 0) pyto_sim::fail(loc, "SetLoadDataBoundary(%u): only 0 is supported", boundaryValue);
}
__aicore__ inline void SetLoadDataRepeat(const LoadDataRepeatParam& p, Loc loc = Loc::here()) {
    if (p.repeatTime > 1) pyto_sim::fail(loc, "SetLoadDataRepeat: repeatTime %u; only 1 is supported", p.repeatTime);
}

template <typename T, typename U = PrimT<T>,
          typename Std::enable_if<Std::is_same<PrimT<T>, U>::value, bool>::type = true>
__aicore__ inline void Fill(const LocalTensor<T>& dst, const InitConstValueParams<U>& p, Loc loc = Loc::here()) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Fill: 16 and 32-bit elements");
    if (!pyto_sim::kCubeCode || p.repeatTimes == 0 || p.blockNum == 0) return;
    const pyto_sim::MemId mem = dst.mem();
    if (mem != pyto_sim::MemId::L1) pyto_sim::needL0(loc, "Fill", mem);
    const uint32_t unit = mem == pyto_sim::MemId::L1 ? 32 : 512;
    const uint32_t row = p.blockNum * unit, gap = p.dstGap * unit, repeats = p.repeatTimes, blocks = p.blockNum;
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &p.initValue, sizeof(T));
    T* d = dst.ptr();
    pyto_sim::checkLocal(loc, "Fill", mem, d, uint64_t(repeats - 1) * (row + gap) + row, unit);
    pyto_sim::issue(
        "Fill", mem == pyto_sim::MemId::L1 ? PIPE_MTE2 : PIPE_MTE1, loc,
        [&](pyto_sim::Record& r) { r.writeRows(d, row, repeats, row + gap); },
        [=] { pyto_sim::fillLocal(mem, d, bits, sizeof(T), unit, blocks, repeats, gap); });
}
template <typename T, typename U = PrimT<T>,
          typename Std::enable_if<Std::is_same<PrimT<T>, U>::value, bool>::type = true>
__aicore__ inline void InitConstValue(const LocalTensor<T>& dst, const InitConstValueParams<U>& p,
                                      Loc loc = Loc::here()) {
    Fill(dst, p, loc);
}

PYTO_ASCENDC_END
