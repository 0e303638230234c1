// Mmad. Cube cores only: a no-op on a vector core.
#pragma once
#include "pyto_sim/copy_functions.h"
#include "pyto_sim/data_copy.h"
#include "pyto_sim/mm_params.h"
#include "pyto_sim/mmad_functions.h"
#include "pyto_sim/tensor.h"

namespace pyto_sim {

template <class T, class U, class S>
constexpr bool multipliable() {
    return (std::is_same<T, float>::value && std::is_same<U, S>::value &&
            (std::is_same<U, bfloat16_t>::value || std::is_same<U, half>::value || std::is_same<U, float>::value)) ||
           (std::is_same<T, int32_t>::value && std::is_same<U, int8_t>::value && std::is_same<S, int8_t>::value);
}

inline void issueMultiply(const MatrixMultiply& args, Loc loc) {
    issue(
        "Mmad", PIPE_M, loc,
        [&](Record& r) {
            r.read(args.a, matrixABytes(args));
            r.read(args.b, matrixBBytes(args));
            if (args.start == MatrixStart::Bias) r.read(args.bias, args.n * 4);
            if (args.start == MatrixStart::Keep) r.read(args.dst, matrixCBytes(args));
            r.write(args.dst, matrixCBytes(args));
            r.work = uint64_t(args.m) * args.n * args.k;
        },
        [=] { multiply(args); });
}

}  // namespace pyto_sim

PYTO_ASCENDC_BEGIN

template <typename T, typename U, typename S>
__aicore__ inline void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,
                            const MmadParams& p, Loc loc = Loc::here()) {
    static_assert(pyto_sim::multipliable<T, U, S>(),
                  "Mmad: float <- bfloat16_t, half or float operands of one type; int32_t <- int8_t operands");
    if (!pyto_sim::kCubeCode || p.m == 0 || p.n == 0 || p.k == 0) return;
    pyto_sim::MatrixMultiply args = {dst.ptr(),
                                     fm.ptr(),
                                     filter.ptr(),
                                     pyto_sim::core().mem[int(pyto_sim::MemId::Bt)],
                                     pyto_sim::dataTypeOf<U>(),
                                     pyto_sim::MatrixStart::Keep,
                                     p.kDirectionAlign,
                                     p.m,
                                     p.n,
                                     p.k};
    if (p.cmatrixInitVal && !p.isBias)
        args.start = pyto_sim::MatrixStart::Zero;
    else if (p.cmatrixSource)
        args.start = pyto_sim::MatrixStart::Bias;
    pyto_sim::checkMultiply(args, dst.mem(), fm.mem(), filter.mem(), loc);
    pyto_sim::issueMultiply(args, loc);
}

template <typename T, typename U, typename S, typename V>
__aicore__ inline void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,
                            const LocalTensor<V>& bias, const MmadParams& p, Loc loc = Loc::here()) {
    static_assert(pyto_sim::multipliable<T, U, S>(),
                  "Mmad: float <- bfloat16_t, half or float operands of one type; int32_t <- int8_t operands");
    static_assert(std::is_same<V, T>::value, "Mmad: the bias has the type of the result");
    if (!pyto_sim::kCubeCode || p.m == 0 || p.n == 0 || p.k == 0) return;
    pyto_sim::MatrixMultiply args = {
        dst.ptr(),         fm.ptr(), filter.ptr(), bias.ptr(), pyto_sim::dataTypeOf<U>(), pyto_sim::MatrixStart::Keep,
        p.kDirectionAlign, p.m,      p.n,          p.k};
    if (p.cmatrixInitVal)
        args.start = pyto_sim::MatrixStart::Zero;
    else if (bias.mem() == pyto_sim::MemId::Bt)
        args.start = pyto_sim::MatrixStart::Bias;
    else if (bias.mem() != pyto_sim::MemId::L0c)
        pyto_sim::fail(loc, "Mmad: the bias lies in %s, not in the bias table or L0C", pyto_sim::memName(bias.mem()));
    if (args.start == pyto_sim::MatrixStart::Bias)
        pyto_sim::checkLocal(loc, "Mmad: bias", pyto_sim::MemId::Bt, args.bias, uint64_t(p.n) * 4, 64);
    pyto_sim::checkMultiply(args, dst.mem(), fm.mem(), filter.mem(), loc);
    pyto_sim::issueMultiply(args, loc);
}

// hf32 rounds operands to 10 mantissa bits: a faster, less exact float mode that the simulator does not imitate.
__aicore__ inline void SetHF32Mode(bool hf32Mode, Loc loc = Loc::here()) {
    if (pyto_sim::kCubeCode && hf32Mode) pyto_sim::fail(loc, "SetHF32Mode: hf32 is not simulated");
}
__aicore__ inline void SetHF32Mode(HF32Mode mode, Loc loc = Loc::here()) { SetHF32Mode(mode == HF32Mode::ENABLE, loc); }
__aicore__ inline void SetHF32TransMode(bool) {}
__aicore__ inline void SetHF32TransMode(HF32TransMode) {}
// The order in which the cube walks C; the result is the same.
__aicore__ inline void SetMMRowMajor() {}
__aicore__ inline void SetMMColumnMajor() {}
__aicore__ inline void SetMMLayoutTransform(bool) {}

PYTO_ASCENDC_END
