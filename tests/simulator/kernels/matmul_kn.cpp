// C[M, N] = A[M, K] * B[K, N], bf16 in, fp32 out; B row-major, so LoadData transposes each 16 x 16 fractal on its way
// to L0B. Tiles of 128 x 128, K in steps of 128; M, N, K are multiples of 16. TPipe with TQue on the cube side.
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t TILE = 128;

class MatmulKN {
public:
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR c, int64_t m, int64_t n, int64_t k)
    {
        M = static_cast<int32_t>(m);
        N = static_cast<int32_t>(n);
        K = static_cast<int32_t>(k);
        aGm.SetGlobalBuffer((__gm__ bfloat16_t*)a, m * k);
        bGm.SetGlobalBuffer((__gm__ bfloat16_t*)b, k * n);
        cGm.SetGlobalBuffer((__gm__ float*)c, m * n);
        pipe.InitBuffer(a1, 2, TILE * TILE * sizeof(bfloat16_t));
        pipe.InitBuffer(b1, 2, TILE * TILE * sizeof(bfloat16_t));
        pipe.InitBuffer(a2, 2, TILE * TILE * sizeof(bfloat16_t));
        pipe.InitBuffer(b2, 2, TILE * TILE * sizeof(bfloat16_t));
        pipe.InitBuffer(c1, 1, TILE * TILE * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        const int32_t acrossN = (N + TILE - 1) / TILE;
        const int32_t tiles = (M + TILE - 1) / TILE * acrossN;
        for (int32_t t = GetBlockIdx(); t < tiles; t += GetBlockNum()) {
            Tile(t / acrossN * TILE, t % acrossN * TILE);
        }
    }

private:
    __aicore__ inline int32_t Clip(int32_t start, int32_t end) { return end - start < TILE ? end - start : TILE; }

    __aicore__ inline void Tile(int32_t m0, int32_t n0)
    {
        const int32_t m = Clip(m0, M), n = Clip(n0, N);
        LocalTensor<float> acc = c1.AllocTensor<float>();
        for (int32_t k0 = 0; k0 < K; k0 += TILE) {
            const int32_t k = Clip(k0, K);
            CopyIn(m0, n0, k0, m, n, k);
            Split(m, n, k);
            LocalTensor<bfloat16_t> aL0 = a2.DeQue<bfloat16_t>();
            LocalTensor<bfloat16_t> bL0 = b2.DeQue<bfloat16_t>();
            MmadParams mmad;
            mmad.m = m == 1 ? 16 : m;
            mmad.n = n;
            mmad.k = k;
            mmad.cmatrixInitVal = k0 == 0;
            Mmad(acc, aL0, bL0, mmad);
            PipeBarrier<PIPE_M>();
            a2.FreeTensor(aL0);
            b2.FreeTensor(bL0);
        }
        c1.EnQue(acc);
        acc = c1.DeQue<float>();
        Fixpipe<float, float, CFG_ROW_MAJOR>(cGm[m0 * N + n0], acc, FixpipeParamsV220(n, m, (m + 15) / 16 * 16, N, false));
        c1.FreeTensor(acc);
    }

    __aicore__ inline void CopyIn(int32_t m0, int32_t n0, int32_t k0, int32_t m, int32_t n, int32_t k)
    {
        LocalTensor<bfloat16_t> aL1 = a1.AllocTensor<bfloat16_t>();
        LocalTensor<bfloat16_t> bL1 = b1.AllocTensor<bfloat16_t>();
        DataCopy(aL1, aGm[m0 * K + k0], Nd2NzParams(1, m, k, 0, K, m, 1, 0));
        DataCopy(bL1, bGm[k0 * N + n0], Nd2NzParams(1, k, n, 0, N, k, 1, 0));
        a1.EnQue(aL1);
        b1.EnQue(bL1);
    }

    // A: Nz -> Zz, a row of fractals at a time. B: Nz -> Zn, each fractal transposed.
    __aicore__ inline void Split(int32_t m, int32_t n, int32_t k)
    {
        LocalTensor<bfloat16_t> aL1 = a1.DeQue<bfloat16_t>();
        LocalTensor<bfloat16_t> bL1 = b1.DeQue<bfloat16_t>();
        LocalTensor<bfloat16_t> aL0 = a2.AllocTensor<bfloat16_t>();
        LocalTensor<bfloat16_t> bL0 = b2.AllocTensor<bfloat16_t>();
        for (int32_t i = 0; i < m / 16; ++i) {
            LoadData(aL0[i * 16 * k], aL1, LoadData2DParams(i, k / 16, m / 16, 0, 0, false, 0));
        }
        for (int32_t i = 0; i < k / 16; ++i) {
            LoadData(bL0[i * 16 * n], bL1, LoadData2DParams(i, n / 16, k / 16, 0, 0, true, 0));
        }
        a2.EnQue(aL0);
        b2.EnQue(bL0);
        a1.FreeTensor(aL1);
        b1.FreeTensor(bL1);
    }

    TPipe pipe;
    TQue<TPosition::A1, 2> a1;
    TQue<TPosition::B1, 2> b1;
    TQue<TPosition::A2, 2> a2;
    TQue<TPosition::B2, 2> b2;
    TQue<TPosition::CO1, 1> c1;
    GlobalTensor<bfloat16_t> aGm, bGm;
    GlobalTensor<float> cGm;
    int32_t M = 0, N = 0, K = 0;
};

extern "C" __global__ __aicore__ void matmul_kn(GM_ADDR a, GM_ADDR b, GM_ADDR c, int64_t m, int64_t n, int64_t k)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    MatmulKN op;
    op.Init(a, b, c, m, n, k);
    op.Process();
}
