// C[M, N] = half((A[M, K] * W[N, K]^T) * scale[n]), int8 with int32 sums, dequantised in Fixpipe; a second kernel with
// one scale for all columns, and B [K, N] turned by LoadDataWithTranspose. M <= 64, K a multiple of 32, N of 32.
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t TILE_N = 128;
constexpr int32_t TILE_K = 256;
constexpr int32_t MAX_M = 64;
constexpr uint32_t W_AT = MAX_M * TILE_K;
constexpr uint32_t SCALE_AT = W_AT + TILE_N * TILE_K;

// One K step of A into L0A: L1 holds Nz with m rounded to 16.
__aicore__ inline void LoadA(const LocalTensor<int8_t>& aL0, const LocalTensor<int8_t>& aL1, int32_t m16, int32_t k)
{
    for (int32_t i = 0; i < m16 / 16; ++i) {
        LoadData(aL0[i * 16 * k], aL1, LoadData2DParams(i, k / 32, m16 / 16, 0, 0, false, 0));
    }
}

template <bool KN>
__aicore__ inline void Tile(
    const GlobalTensor<int8_t>& aGm, const GlobalTensor<int8_t>& wGm, const LocalTensor<int32_t>& acc, int32_t m, int32_t n,
    int32_t depth, int32_t pitch)
{
    const int32_t m16 = (m + 15) / 16 * 16;
    LocalTensor<int8_t> aL1(TPosition::A1, 0, MAX_M * TILE_K), wL1(TPosition::B1, W_AT, TILE_N * TILE_K);
    LocalTensor<int8_t> aL0(TPosition::A2, 0, MAX_M * TILE_K), wL0(TPosition::B2, 0, TILE_N * TILE_K);
    for (int32_t k0 = 0; k0 < depth; k0 += TILE_K) {
        const int32_t k = depth - k0 < TILE_K ? depth - k0 : TILE_K;
        WaitFlag<HardEvent::MTE1_MTE2>(0);
        DataCopy(aL1, aGm[k0], Nd2NzParams(1, m, k, 0, depth, m16, 1, 0));
        if constexpr (KN) {
            DataCopy(wL1, wGm[k0 * pitch], Nd2NzParams(1, k, n, 0, pitch, k, 1, 0));
        } else {
            DataCopy(wL1, wGm[k0], Nd2NzParams(1, n, k, 0, depth, n, 1, 0));
        }
        SetFlag<HardEvent::MTE2_MTE1>(0);
        WaitFlag<HardEvent::MTE2_MTE1>(0);
        WaitFlag<HardEvent::M_MTE1>(0);
        LoadA(aL0, aL1, m16, k);
        if constexpr (KN) {  // squares of 32 x 32: two fractals each
            for (int32_t i = 0; i < k / 32; ++i) {
                LoadDataWithTranspose(wL0[i * 32 * n], wL1, LoadData2dTransposeParams(i, n / 32, k / 32, 1, 0));
            }
        } else {
            LoadData(wL0, wL1, LoadData2DParams(0, n / 16 * (k / 32), 1, 0, 0, false, 0));
        }
        SetFlag<HardEvent::MTE1_MTE2>(0);
        SetFlag<HardEvent::MTE1_M>(0);
        WaitFlag<HardEvent::MTE1_M>(0);
        Mmad(acc, aL0, wL0, MmadParams(m == 1 ? 16 : m, n, k, 0, false, k0 == 0));
        PipeBarrier<PIPE_M>();
        SetFlag<HardEvent::M_MTE1>(0);
    }
}

template <bool KN>
__aicore__ inline void MatmulInt8(GM_ADDR a, GM_ADDR w, GM_ADDR scale, GM_ADDR c, int64_t rows, int64_t depth, int64_t cols)
{
    InitSocState();
    GlobalTensor<int8_t> aGm, wGm;
    GlobalTensor<uint64_t> scaleGm;
    GlobalTensor<half> cGm;
    aGm.SetGlobalBuffer((__gm__ int8_t*)a, rows * depth);
    wGm.SetGlobalBuffer((__gm__ int8_t*)w, cols * depth);
    scaleGm.SetGlobalBuffer((__gm__ uint64_t*)scale, KN ? 1 : cols);  // float bits in the low half
    cGm.SetGlobalBuffer((__gm__ half*)c, rows * cols);
    LocalTensor<int32_t> acc(TPosition::CO1, 0, MAX_M * TILE_N);
    LocalTensor<uint64_t> scaleL1(TPosition::A1, SCALE_AT, TILE_N);
    const int32_t m = static_cast<int32_t>(rows);

    SetFlag<HardEvent::MTE1_MTE2>(0);
    SetFlag<HardEvent::M_MTE1>(0);
    SetFlag<HardEvent::FIX_M>(0);
    SetFlag<HardEvent::FIX_MTE2>(0);
    for (int64_t n0 = GetBlockIdx() * TILE_N; n0 < cols; n0 += GetBlockNum() * TILE_N) {
        const int32_t n = static_cast<int32_t>(cols - n0 < TILE_N ? cols - n0 : TILE_N);
        WaitFlag<HardEvent::FIX_M>(0);
        Tile<KN>(aGm, wGm[KN ? n0 : n0 * depth], acc, m, n, static_cast<int32_t>(depth), static_cast<int32_t>(cols));
        FixpipeParamsV220 store(n, m, (m + 15) / 16 * 16, cols, false);
        WaitFlag<HardEvent::FIX_MTE2>(0);
        if constexpr (!KN) {
            DataCopy(scaleL1, scaleGm[n0], n);
        }
        SetFlag<HardEvent::MTE2_FIX>(0);
        WaitFlag<HardEvent::MTE2_FIX>(0);
        SetFlag<HardEvent::M_FIX>(0);
        WaitFlag<HardEvent::M_FIX>(0);
        if constexpr (KN) {
            store.quantPre = QuantMode_t::DEQF16;
            store.deqScalar = scaleGm.GetValue(0);
            Fixpipe<half, int32_t, CFG_ROW_MAJOR>(cGm[n0], acc, store);
        } else {
            store.quantPre = QuantMode_t::VDEQF16;
            Fixpipe<half, int32_t, CFG_ROW_MAJOR>(cGm[n0], acc, scaleL1, store);
        }
        SetFlag<HardEvent::FIX_M>(0);
        SetFlag<HardEvent::FIX_MTE2>(0);
    }
    WaitFlag<HardEvent::FIX_MTE2>(0);
    WaitFlag<HardEvent::FIX_M>(0);
    WaitFlag<HardEvent::M_MTE1>(0);
    WaitFlag<HardEvent::MTE1_MTE2>(0);
}

extern "C" __global__ __aicore__ void matmul_int8_nk(GM_ADDR a, GM_ADDR w, GM_ADDR scale, GM_ADDR c, int64_t m, int64_t k, int64_t n)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    MatmulInt8<false>(a, w, scale, c, m, k, n);
}

extern "C" __global__ __aicore__ void matmul_int8_kn(GM_ADDR a, GM_ADDR w, GM_ADDR scale, GM_ADDR c, int64_t m, int64_t k, int64_t n)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    MatmulInt8<true>(a, w, scale, c, m, k, n);
}
