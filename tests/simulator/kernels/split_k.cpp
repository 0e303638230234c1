// Y[M, N] = bf16(alpha * A[M, K] * W[N, K]^T) for a long K: each cube core takes every blocks-th K slice and adds its fp32
// product to `sums` atomically; vector cores clear `sums` before and scale it after, with global barriers between.
// M <= 16, K a multiple of 16, N a multiple of 16.
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t TILE_N = 64;
constexpr int32_t SLICE_K = 256;
constexpr int32_t CHUNK = 2048;

__aicore__ inline void Clear(const GlobalTensor<float>& sums, int64_t count)
{
    LocalTensor<float> zero(TPosition::VECCALC, 0, CHUNK);
    Duplicate(zero, 0.0f, CHUNK);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    const int64_t cores = GetBlockNum() * GetTaskRation();
    for (int64_t i = GetBlockIdx() * CHUNK; i < count; i += cores * CHUNK) {
        const int64_t n = count - i < CHUNK ? count - i : CHUNK;
        DataCopyPad(sums[i], zero, DataCopyExtParams(1, n * sizeof(float), 0, 0, 0));
    }
}

__aicore__ inline void AddProducts(
    const GlobalTensor<bfloat16_t>& a, const GlobalTensor<bfloat16_t>& w, const GlobalTensor<float>& sums, int32_t m, int32_t cols,
    int32_t depth)
{
    LocalTensor<bfloat16_t> aL1(TPosition::A1, 0, 16 * SLICE_K), wL1(TPosition::B1, 16384, TILE_N * SLICE_K);
    LocalTensor<bfloat16_t> aL0(TPosition::A2, 0, 16 * SLICE_K), wL0(TPosition::B2, 0, TILE_N * SLICE_K);
    LocalTensor<float> acc(TPosition::CO1, 0, 16 * TILE_N);
    SetAtomicAdd<float>();
    for (int32_t k0 = GetBlockIdx() * SLICE_K; k0 < depth; k0 += GetBlockNum() * SLICE_K) {
        const int32_t k = depth - k0 < SLICE_K ? depth - k0 : SLICE_K;
        for (int32_t n0 = 0; n0 < cols; n0 += TILE_N) {
            const int32_t n = cols - n0 < TILE_N ? cols - n0 : TILE_N;
            DataCopy(aL1, a[k0], Nd2NzParams(1, m, k, 0, depth, 16, 1, 0));
            DataCopy(wL1, w[n0 * depth + k0], Nd2NzParams(1, n, k, 0, depth, n, 1, 0));
            SetFlag<HardEvent::MTE2_MTE1>(0);
            WaitFlag<HardEvent::MTE2_MTE1>(0);
            LoadData(aL0, aL1, LoadData2DParams(0, k / 16, 1, 0, 0, false, 0));
            LoadData(wL0, wL1, LoadData2DParams(0, n / 16 * (k / 16), 1, 0, 0, false, 0));
            SetFlag<HardEvent::MTE1_M>(0);
            WaitFlag<HardEvent::MTE1_M>(0);
            Mmad(acc, aL0, wL0, MmadParams(m == 1 ? 16 : m, n, k, 0, false, true));
            SetFlag<HardEvent::M_FIX>(0);
            WaitFlag<HardEvent::M_FIX>(0);
            Fixpipe<float, float, CFG_ROW_MAJOR>(sums[n0], acc, FixpipeParamsV220(n, m, 16, cols, false));
            PipeBarrier<PIPE_ALL>();  // one set of buffers
        }
    }
    SetAtomicNone();
}

__aicore__ inline void Scale(const GlobalTensor<float>& sums, const GlobalTensor<bfloat16_t>& y, float alpha, int64_t count)
{
    LocalTensor<float> x(TPosition::VECCALC, 0, CHUNK);
    LocalTensor<bfloat16_t> out(TPosition::VECCALC, CHUNK * sizeof(float), CHUNK);
    const int64_t cores = GetBlockNum() * GetTaskRation();
    for (int64_t i = GetBlockIdx() * CHUNK; i < count; i += cores * CHUNK) {
        const int64_t n = count - i < CHUNK ? count - i : CHUNK;
        DataCopyPad(x, sums[i], DataCopyExtParams(1, n * sizeof(float), 0, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0));
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        Muls(x, x, alpha, n);
        PipeBarrier<PIPE_V>();
        Cast(out, x, RoundMode::CAST_RINT, n);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopyPad(y[i], out, DataCopyExtParams(1, n * sizeof(bfloat16_t), 0, 0, 0));
        PipeBarrier<PIPE_ALL>();
    }
}

extern "C" __global__ __aicore__ void split_k(
    GM_ADDR a, GM_ADDR w, GM_ADDR alpha, GM_ADDR sums, GM_ADDR y, int64_t m, int64_t n, int64_t k)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    InitSocState();
    GlobalTensor<bfloat16_t> aGm, wGm, yGm;
    GlobalTensor<float> sumsGm, alphaGm;
    aGm.SetGlobalBuffer((__gm__ bfloat16_t*)a, m * k);
    wGm.SetGlobalBuffer((__gm__ bfloat16_t*)w, n * k);
    alphaGm.SetGlobalBuffer((__gm__ float*)alpha, 1);
    sumsGm.SetGlobalBuffer((__gm__ float*)sums, m * n);
    yGm.SetGlobalBuffer((__gm__ bfloat16_t*)y, m * n);
    if ASCEND_IS_AIV {
        Clear(sumsGm, m * n);
    }
    SyncAll<false>();
    if ASCEND_IS_AIC {
        AddProducts(aGm, wGm, sumsGm, static_cast<int32_t>(m), static_cast<int32_t>(n), static_cast<int32_t>(k));
    }
    SyncAll<false>();
    if ASCEND_IS_AIV {
        Scale(sumsGm, yGm, alphaGm.GetValue(0), m * n);
    }
}
