// C[M, N] = A[M, K] * W[N, K]^T in bf16, for few rows (M <= 16) and big weights: A stays in L1, W streams through
// two slots of L1 and two of L0, events by hand. K is a multiple of 16, at most 6144; any N.
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t TILE_N = 64;
constexpr int32_t L1_K = 1024;
constexpr int32_t L0_K = 256;
constexpr uint32_t A_L1_BYTES = 16 * 6144 * 2;
constexpr uint32_t W_L1_BYTES = TILE_N * L1_K * 2;

struct Slots {
    int32_t l1 = 0;
    int32_t l0 = 0;
    int32_t c = 0;
};

// Multiplies rows [n0, n0 + n) of W; `n` is at most TILE_N.
__aicore__ inline void MatmulTile(
    const LocalTensor<bfloat16_t>& aL1, const GlobalTensor<bfloat16_t>& wGm, const LocalTensor<float>& c, Slots& slot,
    int32_t m, int32_t n, int32_t depth)
{
    const int32_t nBlocks = (n + 15) / 16;
    for (int32_t k1 = 0; k1 < depth; k1 += L1_K) {
        const int32_t k1Size = depth - k1 < L1_K ? depth - k1 : L1_K;
        LocalTensor<bfloat16_t> wL1(TPosition::B1, A_L1_BYTES + slot.l1 * W_L1_BYTES, TILE_N * L1_K);
        WaitFlag<HardEvent::MTE1_MTE2>(slot.l1);
        DataCopy(wL1, wGm[k1], Nd2NzParams(1, n, k1Size, 0, depth, nBlocks * 16, 1, 0));
        SetFlag<HardEvent::MTE2_MTE1>(slot.l1);
        WaitFlag<HardEvent::MTE2_MTE1>(slot.l1);
        for (int32_t k0 = 0; k0 < k1Size; k0 += L0_K) {
            const int32_t k = k1Size - k0 < L0_K ? k1Size - k0 : L0_K;
            LocalTensor<bfloat16_t> aL0(TPosition::A2, slot.l0 * 16 * L0_K * 2, 16 * L0_K);
            LocalTensor<bfloat16_t> wL0(TPosition::B2, slot.l0 * TILE_N * L0_K * 2, TILE_N * L0_K);
            WaitFlag<HardEvent::M_MTE1>(slot.l0);
            LoadData(aL0, aL1, LoadData2DParams((k1 + k0) / 16, k / 16, 1, 0, 0, false, 0));
            LoadData(wL0, wL1, LoadData2DParams(k0 / 16 * nBlocks, k / 16 * nBlocks, 1, 0, 0, false, 0));
            SetFlag<HardEvent::MTE1_M>(slot.l0);
            WaitFlag<HardEvent::MTE1_M>(slot.l0);
            Mmad(c, aL0, wL0, MmadParams(m, n, k, 0, false, k1 + k0 == 0));
            PipeBarrier<PIPE_M>();  // few fractals: the next Mmad would read L0C too early
            SetFlag<HardEvent::M_MTE1>(slot.l0);
            slot.l0 ^= 1;
        }
        SetFlag<HardEvent::MTE1_MTE2>(slot.l1);
        slot.l1 ^= 1;
    }
}

extern "C" __global__ __aicore__ void matmul_nk(GM_ADDR a, GM_ADDR w, GM_ADDR c, int64_t rows, int64_t depth, int64_t cols)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    InitSocState();
    GlobalTensor<bfloat16_t> aGm, wGm, cGm;
    aGm.SetGlobalBuffer((__gm__ bfloat16_t*)a, rows * depth);
    wGm.SetGlobalBuffer((__gm__ bfloat16_t*)w, cols * depth);
    cGm.SetGlobalBuffer((__gm__ bfloat16_t*)c, rows * cols);
    const int32_t m = static_cast<int32_t>(rows);
    LocalTensor<bfloat16_t> aL1(TPosition::A1, 0, A_L1_BYTES / 2);
    DataCopy(aL1, aGm, Nd2NzParams(1, m, depth, 0, depth, 16, 1, 0));
    SetFlag<HardEvent::MTE2_MTE1>(2);
    WaitFlag<HardEvent::MTE2_MTE1>(2);

    Slots slot;
    for (int32_t i = 0; i < 2; ++i) {
        SetFlag<HardEvent::MTE1_MTE2>(i);
        SetFlag<HardEvent::M_MTE1>(i);
        SetFlag<HardEvent::FIX_M>(i);
    }
    for (int64_t n0 = GetBlockIdx() * TILE_N; n0 < cols; n0 += GetBlockNum() * TILE_N) {
        const int32_t n = static_cast<int32_t>(cols - n0 < TILE_N ? cols - n0 : TILE_N);
        LocalTensor<float> acc(TPosition::CO1, slot.c * 16 * TILE_N * 4, 16 * TILE_N);
        WaitFlag<HardEvent::FIX_M>(slot.c);
        MatmulTile(aL1, wGm[n0 * depth], acc, slot, m == 1 ? 16 : m, n, static_cast<int32_t>(depth));  // m 1 is a GEMV
        SetFlag<HardEvent::M_FIX>(slot.c);
        WaitFlag<HardEvent::M_FIX>(slot.c);
        FixpipeParamsV220 store(n, m, 16, cols, false);
        store.quantPre = QuantMode_t::F322BF16;
        Fixpipe<bfloat16_t, float, CFG_ROW_MAJOR>(cGm[n0], acc, store);
        SetFlag<HardEvent::FIX_M>(slot.c);
        slot.c ^= 1;
    }
    for (int32_t i = 0; i < 2; ++i) {
        WaitFlag<HardEvent::MTE1_MTE2>(i);
        WaitFlag<HardEvent::M_MTE1>(i);
        WaitFlag<HardEvent::FIX_M>(i);
    }
}
