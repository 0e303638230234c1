// Y[M, N] = half(relu(X[M, K] * W[N, K]^T + bias[N])): cube cores write fp32 tiles of 64 x 128 into a ring of two slots in
// GM, the two vector cores of the group take half of the rows each. K is a multiple of 16, N of 64, any M.
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t TILE_M = 64;
constexpr int32_t TILE_N = 128;
constexpr int32_t TILE_K = 128;
constexpr int32_t SLOT = TILE_M * TILE_N;
constexpr uint16_t READY = 0;  // + slot: cube -> vector
constexpr uint16_t FREE = 2;   // + slot: vector -> cube

struct Problem {
    int32_t m, n, k, tilesN, tiles;
};

__aicore__ inline int32_t Least(int32_t a, int32_t b) { return a < b ? a : b; }

__aicore__ inline void CubeSide(GM_ADDR x, GM_ADDR w, GM_ADDR ring, const Problem& s)
{
    GlobalTensor<half> xGm, wGm;
    GlobalTensor<float> ringGm;
    xGm.SetGlobalBuffer((__gm__ half*)x);
    wGm.SetGlobalBuffer((__gm__ half*)w);
    ringGm.SetGlobalBuffer((__gm__ float*)ring + GetBlockIdx() * 2 * SLOT);
    LocalTensor<half> xL1(TPosition::A1, 0, TILE_M * TILE_K), wL1(TPosition::B1, TILE_M * TILE_K * 2, TILE_N * TILE_K);
    LocalTensor<half> xL0(TPosition::A2, 0, TILE_M * TILE_K), wL0(TPosition::B2, 0, TILE_N * TILE_K);
    LocalTensor<float> acc(TPosition::CO1, 0, SLOT);
    int32_t round = 0;
    SetFlag<HardEvent::MTE1_MTE2>(0);
    SetFlag<HardEvent::M_MTE1>(0);
    SetFlag<HardEvent::FIX_M>(0);
    for (int32_t t = GetBlockIdx(); t < s.tiles; t += GetBlockNum(), ++round) {
        const int32_t m0 = t / s.tilesN * TILE_M, n0 = t % s.tilesN * TILE_N;
        const int32_t m = Least(TILE_M, s.m - m0), n = Least(TILE_N, s.n - n0), m16 = (m + 15) / 16 * 16;
        WaitFlag<HardEvent::FIX_M>(0);
        for (int32_t k0 = 0; k0 < s.k; k0 += TILE_K) {
            const int32_t k = Least(TILE_K, s.k - k0);
            WaitFlag<HardEvent::MTE1_MTE2>(0);
            DataCopy(xL1, xGm[m0 * s.k + k0], Nd2NzParams(1, m, k, 0, s.k, m16, 1, 0));
            DataCopy(wL1, wGm[n0 * s.k + k0], Nd2NzParams(1, n, k, 0, s.k, n, 1, 0));
            SetFlag<HardEvent::MTE2_MTE1>(0);
            WaitFlag<HardEvent::MTE2_MTE1>(0);
            WaitFlag<HardEvent::M_MTE1>(0);
            for (int32_t i = 0; i < m16 / 16; ++i) {
                LoadData(xL0[i * 16 * k], xL1, LoadData2DParams(i, k / 16, m16 / 16, 0, 0, false, 0));
            }
            LoadData(wL0, wL1, LoadData2DParams(0, n / 16 * (k / 16), 1, 0, 0, false, 0));
            SetFlag<HardEvent::MTE1_MTE2>(0);
            SetFlag<HardEvent::MTE1_M>(0);
            WaitFlag<HardEvent::MTE1_M>(0);
            Mmad(acc, xL0, wL0, MmadParams(m == 1 ? 16 : m, n, k, 0, false, k0 == 0));
            PipeBarrier<PIPE_M>();
            SetFlag<HardEvent::M_MTE1>(0);
        }
        if (round >= 2) {
            CrossCoreWaitFlag(FREE + round % 2);
        }
        SetFlag<HardEvent::M_FIX>(0);
        WaitFlag<HardEvent::M_FIX>(0);
        Fixpipe<float, float, CFG_ROW_MAJOR>(ringGm[round % 2 * SLOT], acc, FixpipeParamsV220(n, m, m16, TILE_N, false));
        CrossCoreSetFlag<2, PIPE_FIX>(READY + round % 2);
        SetFlag<HardEvent::FIX_M>(0);
    }
    for (int32_t left = round > 2 ? round - 2 : 0; left < round; ++left) {
        CrossCoreWaitFlag(FREE + left % 2);
    }
    WaitFlag<HardEvent::MTE1_MTE2>(0);
    WaitFlag<HardEvent::M_MTE1>(0);
    WaitFlag<HardEvent::FIX_M>(0);
}

__aicore__ inline void VectorSide(GM_ADDR bias, GM_ADDR y, GM_ADDR ring, const Problem& s)
{
    const int32_t group = GetBlockIdx() / GetTaskRation();
    constexpr int32_t HALF_M = TILE_M / 2;
    GlobalTensor<float> biasGm, ringGm;
    GlobalTensor<half> yGm;
    biasGm.SetGlobalBuffer((__gm__ float*)bias, s.n);
    ringGm.SetGlobalBuffer((__gm__ float*)ring + group * 2 * SLOT + GetSubBlockIdx() * HALF_M * TILE_N);
    yGm.SetGlobalBuffer((__gm__ half*)y, s.m * s.n);
    LocalTensor<float> tile(TPosition::VECCALC, 0, HALF_M * TILE_N), row(TPosition::VECCALC, 16384, TILE_N);
    LocalTensor<half> out(TPosition::VECCALC, 32768, HALF_M * TILE_N);
    int32_t round = 0;
    SetFlag<HardEvent::V_MTE2>(0);
    SetFlag<HardEvent::MTE3_V>(0);
    for (int32_t t = group; t < s.tiles; t += GetBlockNum(), ++round) {
        const int32_t m0 = t / s.tilesN * TILE_M + GetSubBlockIdx() * HALF_M, n0 = t % s.tilesN * TILE_N;
        const int32_t m = Least(HALF_M, s.m - m0), n = Least(TILE_N, s.n - n0);
        CrossCoreWaitFlag(READY + round % 2);
        if (m <= 0) {  // no rows for this core: it still answers
            CrossCoreSetFlag<2, PIPE_MTE2>(FREE + round % 2);
            continue;
        }
        WaitFlag<HardEvent::V_MTE2>(0);
        DataCopy(tile, ringGm[round % 2 * SLOT], m * TILE_N);
        DataCopy(row, biasGm[n0], n);
        CrossCoreSetFlag<2, PIPE_MTE2>(FREE + round % 2);
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE3_V>(0);
        for (int32_t c = 0; c < n; c += 64) {  // bias: one row for all repeats
            Add(tile[c], tile[c], row[c], 64, m, BinaryRepeatParams(1, 1, 1, TILE_N / 8, TILE_N / 8, 0));
        }
        ResetMask();
        PipeBarrier<PIPE_V>();
        Relu(tile, tile, m * TILE_N);
        PipeBarrier<PIPE_V>();
        Cast(out, tile, RoundMode::CAST_RINT, m * TILE_N);
        SetFlag<HardEvent::V_MTE2>(0);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopyPad(yGm[m0 * s.n + n0], out, DataCopyExtParams(m, n * 2, (TILE_N - n) / 16, (s.n - n) * 2, 0));
        SetFlag<HardEvent::MTE3_V>(0);
    }
    WaitFlag<HardEvent::V_MTE2>(0);
    WaitFlag<HardEvent::MTE3_V>(0);
}

extern "C" __global__ __aicore__ void gemm_bias_relu(
    GM_ADDR x, GM_ADDR w, GM_ADDR bias, GM_ADDR ring, GM_ADDR y, int64_t m, int64_t n, int64_t k)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    InitSocState();
    const int32_t acrossN = static_cast<int32_t>((n + TILE_N - 1) / TILE_N);
    const int32_t down = static_cast<int32_t>((m + TILE_M - 1) / TILE_M);
    const Problem s = {static_cast<int32_t>(m), static_cast<int32_t>(n), static_cast<int32_t>(k), acrossN, down * acrossN};
    if ASCEND_IS_AIC {
        CubeSide(x, w, ring, s);
    }
    if ASCEND_IS_AIV {
        VectorSide(bias, y, ring, s);
    }
}
