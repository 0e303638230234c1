// GEMMs as an engineer writes them by hand: y [M, N] = x [M, K] times weights, fp32 from bf16.
#include "kernel_operator.h"
using namespace AscendC;

// Weights [N, K], tiles of 256 x 256 in L1, 64 columns a step in L0, ping-pong at both levels.
extern "C" __global__ __aicore__ void gemm_nk_256(GM_ADDR xp, GM_ADDR wp, GM_ADDR yp, int64_t M, int64_t N, int64_t K)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    constexpr int kN = 256, kK = 256, kStep = 64;
    const int rows = (M + 15) / 16 * 16;
    GlobalTensor<bfloat16_t> x, w;
    GlobalTensor<float> y;
    x.SetGlobalBuffer((__gm__ bfloat16_t*)xp);
    w.SetGlobalBuffer((__gm__ bfloat16_t*)wp);
    y.SetGlobalBuffer((__gm__ float*)yp);
    LocalTensor<bfloat16_t> x1(TPosition::A1, 0, 2 * rows * kK), w1(TPosition::B1, 131072, 2 * kN * kK);
    LocalTensor<bfloat16_t> x2(TPosition::A2, 0, rows * kK), w2(TPosition::B2, 0, 2 * kStep * kK);
    LocalTensor<float> c(TPosition::CO1, 0, rows * kN);
    for (int i = 0; i < 2; ++i) {
        SetFlag<HardEvent::MTE1_MTE2>(i);
        SetFlag<HardEvent::M_MTE1>(i);
    }
    SetFlag<HardEvent::M_MTE1>(EVENT_ID2);
    SetFlag<HardEvent::FIX_M>(EVENT_ID0);
    int slot = 0, step = 0;
    for (int64_t n = GetBlockIdx() * kN; n < N; n += GetBlockNum() * kN) {
        WaitFlag<HardEvent::FIX_M>(EVENT_ID0);
        for (int64_t k = 0; k < K; k += kK, slot ^= 1) {
            WaitFlag<HardEvent::MTE1_MTE2>(slot);
            DataCopy(x1[slot * rows * kK], x[k], Nd2NzParams(1, M, kK, 0, K, rows, 1, 0));
            DataCopy(w1[slot * kN * kK], w[n * K + k], Nd2NzParams(1, kN, kK, 0, K, kN, 1, 0));
            SetFlag<HardEvent::MTE2_MTE1>(slot);
            WaitFlag<HardEvent::MTE2_MTE1>(slot);
            WaitFlag<HardEvent::M_MTE1>(EVENT_ID2);
            for (int m1 = 0; m1 < rows / 16; ++m1) {
                LoadData(x2[m1 * 16 * kK], x1[slot * rows * kK], LoadData2DParams(m1, kK / 16, rows / 16, 0, 0, false, 0));
            }
            for (int j = 0; j < kN; j += kStep, step ^= 1) {
                WaitFlag<HardEvent::M_MTE1>(step);
                for (int k1 = 0; k1 < kK / 16; ++k1) {
                    LoadData(w2[step * kStep * kK + k1 * kStep * 16], w1[slot * kN * kK],
                             LoadData2DParams(k1 * (kN / 16) + j / 16, kStep / 16, 1, 0, 0, false, 0));
                }
                SetFlag<HardEvent::MTE1_M>(step);
                WaitFlag<HardEvent::MTE1_M>(step);
                PipeBarrier<PIPE_M>();
                Mmad(c[j * rows], x2, w2[step * kStep * kK], MmadParams(rows, kStep, kK, 0, false, k == 0));
                SetFlag<HardEvent::M_MTE1>(step);
            }
            SetFlag<HardEvent::M_MTE1>(EVENT_ID2);
            SetFlag<HardEvent::MTE1_MTE2>(slot);
        }
        SetFlag<HardEvent::M_FIX>(EVENT_ID0);
        WaitFlag<HardEvent::M_FIX>(EVENT_ID0);
        Fixpipe(y[n], c, FixpipeParamsV220(kN, M, rows, N, false));
        SetFlag<HardEvent::FIX_M>(EVENT_ID0);
    }
    for (int i = 0; i < 2; ++i) {
        WaitFlag<HardEvent::MTE1_MTE2>(i);
        WaitFlag<HardEvent::M_MTE1>(i);
    }
    WaitFlag<HardEvent::M_MTE1>(EVENT_ID2);
    WaitFlag<HardEvent::FIX_M>(EVENT_ID0);
}

// Weights [N, K], tiles of 64 x 512 in L1, 256 of K a step in L0, one LoadData a step.
extern "C" __global__ __aicore__ void gemm_nk_64(GM_ADDR xp, GM_ADDR wp, GM_ADDR yp, int64_t M, int64_t N, int64_t K)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    constexpr int kN = 64, kK = 512, kStep = 256;
    const int rows = (M + 15) / 16 * 16;
    GlobalTensor<bfloat16_t> x, w;
    GlobalTensor<float> y;
    x.SetGlobalBuffer((__gm__ bfloat16_t*)xp);
    w.SetGlobalBuffer((__gm__ bfloat16_t*)wp);
    y.SetGlobalBuffer((__gm__ float*)yp);
    LocalTensor<bfloat16_t> x1(TPosition::A1, 0, 2 * rows * kK), w1(TPosition::B1, 262144, 2 * kN * kK);
    LocalTensor<bfloat16_t> x2(TPosition::A2, 0, 32768), w2(TPosition::B2, 0, 32768);
    LocalTensor<float> c(TPosition::CO1, 0, rows * kN);
    for (int i = 0; i < 2; ++i) {
        SetFlag<HardEvent::MTE1_MTE2>(i);
        SetFlag<HardEvent::M_MTE1>(i);
    }
    SetFlag<HardEvent::FIX_M>(EVENT_ID0);
    int slot = 0;
    for (int64_t n = GetBlockIdx() * kN; n < N; n += GetBlockNum() * kN) {
        WaitFlag<HardEvent::FIX_M>(EVENT_ID0);
        for (int64_t k = 0; k < K; k += kK, slot ^= 1) {
            WaitFlag<HardEvent::MTE1_MTE2>(slot);
            DataCopy(x1[slot * rows * kK], x[k], Nd2NzParams(1, M, kK, 0, K, rows, 1, 0));
            DataCopy(w1[slot * kN * kK], w[n * K + k], Nd2NzParams(1, kN, kK, 0, K, kN, 1, 0));
            SetFlag<HardEvent::MTE2_MTE1>(slot);
            WaitFlag<HardEvent::MTE2_MTE1>(slot);
            for (int step = 0; step < 2; ++step) {
                WaitFlag<HardEvent::M_MTE1>(step);
                for (int m1 = 0; m1 < rows / 16; ++m1) {
                    LoadData(x2[step * 16384 + m1 * 16 * kStep], x1[slot * rows * kK],
                             LoadData2DParams(step * (kStep / 16) * (rows / 16) + m1, kStep / 16, rows / 16, 0, 0, false, 0));
                }
                LoadData(w2[step * 16384], w1[slot * kN * kK],
                         LoadData2DParams(step * (kStep / 16) * (kN / 16), kStep / 16 * (kN / 16), 1, 0, 0, false, 0));
                SetFlag<HardEvent::MTE1_M>(step);
                WaitFlag<HardEvent::MTE1_M>(step);
                PipeBarrier<PIPE_M>();
                Mmad(c, x2[step * 16384], w2[step * 16384], MmadParams(rows, kN, kStep, 0, false, k == 0 && step == 0));
                SetFlag<HardEvent::M_MTE1>(step);
            }
            SetFlag<HardEvent::MTE1_MTE2>(slot);
        }
        SetFlag<HardEvent::M_FIX>(EVENT_ID0);
        WaitFlag<HardEvent::M_FIX>(EVENT_ID0);
        Fixpipe(y[n], c, FixpipeParamsV220(kN, M, rows, N, false));
        SetFlag<HardEvent::FIX_M>(EVENT_ID0);
    }
    for (int i = 0; i < 2; ++i) {
        WaitFlag<HardEvent::MTE1_MTE2>(i);
        WaitFlag<HardEvent::M_MTE1>(i);
    }
    WaitFlag<HardEvent::FIX_M>(EVENT_ID0);
}

// Weights [K, N], tiles of 128 x 256.
extern "C" __global__ __aicore__ void gemm_kn(GM_ADDR xp, GM_ADDR wp, GM_ADDR yp, int64_t M, int64_t N, int64_t K)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    constexpr int kN = 256, kK = 128;
    const int rows = (M + 15) / 16 * 16;
    GlobalTensor<bfloat16_t> x, w;
    GlobalTensor<float> y;
    x.SetGlobalBuffer((__gm__ bfloat16_t*)xp);
    w.SetGlobalBuffer((__gm__ bfloat16_t*)wp);
    y.SetGlobalBuffer((__gm__ float*)yp);
    LocalTensor<bfloat16_t> x1(TPosition::A1, 0, rows * kK), w1(TPosition::B1, 131072, kN * kK);
    LocalTensor<bfloat16_t> x2(TPosition::A2, 0, rows * kK), w2(TPosition::B2, 0, kN * kK);
    LocalTensor<float> c(TPosition::CO1, 0, rows * kN);
    for (int64_t n = GetBlockIdx() * kN; n < N; n += GetBlockNum() * kN) {
        for (int64_t k = 0; k < K; k += kK) {
            PipeBarrier<PIPE_ALL>();
            DataCopy(x1, x[k], Nd2NzParams(1, M, kK, 0, K, rows, 1, 0));
            DataCopy(w1, w[k * N + n], Nd2NzParams(1, kK, kN, 0, N, kK, 1, 0));
            PipeBarrier<PIPE_ALL>();
            for (int m1 = 0; m1 < rows / 16; ++m1) {
                LoadData(x2[m1 * 16 * kK], x1, LoadData2DParams(m1, kK / 16, rows / 16, 0, 0, false, 0));
            }
            for (int k1 = 0; k1 < kK / 16; ++k1) {
                LoadData(w2[k1 * kN * 16], w1, LoadData2DParams(k1, kN / 16, kK / 16, 0, 0, true, 0));
            }
            PipeBarrier<PIPE_ALL>();
            Mmad(c, x2, w2, MmadParams(rows, kN, kK, 0, false, k == 0));
        }
        PipeBarrier<PIPE_ALL>();
        Fixpipe(y[n], c, FixpipeParamsV220(kN, M, rows, N, false));
    }
}
