// z = x + y over any number of floats: TPipe, TQue, two buffers a queue, ragged end by DataCopyPad.
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t TILE = 1000;  // floats; not a multiple of 8, so that tiles start unaligned in GM

class VectorAdd {
public:
    __aicore__ inline VectorAdd() {}

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t count)
    {
        const int64_t tiles = (count + TILE - 1) / TILE;
        const int64_t share = (tiles + GetBlockNum() - 1) / GetBlockNum();
        first = GetBlockIdx() * share;
        last = first + share < tiles ? first + share : tiles;
        total = count;
        xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), count);
        yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), count);
        zGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(z), count);
        pipe.InitBuffer(xQueue, 2, TILE * sizeof(float));
        pipe.InitBuffer(yQueue, 2, TILE * sizeof(float));
        pipe.InitBuffer(zQueue, 2, TILE * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        for (int64_t tile = first; tile < last; ++tile) {
            const int64_t left = total - tile * TILE;
            const uint32_t count = static_cast<uint32_t>(left < TILE ? left : TILE);
            CopyIn(tile, count);
            Compute(count);
            CopyOut(tile, count);
        }
    }

private:
    __aicore__ inline void CopyIn(int64_t tile, uint32_t count)
    {
        LocalTensor<float> x = xQueue.AllocTensor<float>();
        LocalTensor<float> y = yQueue.AllocTensor<float>();
        const DataCopyExtParams copy(1, count * sizeof(float), 0, 0, 0);
        const DataCopyPadExtParams<float> pad(false, 0, 0, 0);
        DataCopyPad(x, xGm[tile * TILE], copy, pad);
        DataCopyPad(y, yGm[tile * TILE], copy, pad);
        xQueue.EnQue(x);
        yQueue.EnQue(y);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<float> x = xQueue.DeQue<float>();
        LocalTensor<float> y = yQueue.DeQue<float>();
        LocalTensor<float> z = zQueue.AllocTensor<float>();
        Add(z, x, y, count);
        zQueue.EnQue(z);
        xQueue.FreeTensor(x);
        yQueue.FreeTensor(y);
    }

    __aicore__ inline void CopyOut(int64_t tile, uint32_t count)
    {
        LocalTensor<float> z = zQueue.DeQue<float>();
        DataCopyPad(zGm[tile * TILE], z, DataCopyExtParams(1, count * sizeof(float), 0, 0, 0));
        zQueue.FreeTensor(z);
    }

    TPipe pipe;
    TQue<TPosition::VECIN, 2> xQueue, yQueue;
    TQue<TPosition::VECOUT, 2> zQueue;
    GlobalTensor<float> xGm, yGm, zGm;
    int64_t first = 0, last = 0, total = 0;
};

extern "C" __global__ __aicore__ void vector_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t count)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    VectorAdd op;
    op.Init(x, y, z, count);
    op.Process();
}
