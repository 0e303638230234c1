// The 64 largest of each row of 2048 floats with their columns: Sort32, three rounds of MrgSort, GatherMask to take
// the (value, index) pairs apart.
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t COLS = 2048;
constexpr int32_t TOP = 64;

class TopK {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR values, GM_ADDR indices, int64_t count)
    {
        rows = count;
        xGm.SetGlobalBuffer((__gm__ float*)x, rows * COLS);
        valueGm.SetGlobalBuffer((__gm__ float*)values, rows * TOP);
        indexGm.SetGlobalBuffer((__gm__ uint32_t*)indices, rows * TOP);
        pipe.InitBuffer(inQueue, 2, COLS * sizeof(float));
        pipe.InitBuffer(valueQueue, 1, TOP * sizeof(float));
        pipe.InitBuffer(indexQueue, 1, TOP * sizeof(uint32_t));
        pipe.InitBuffer(columnBuf, COLS * sizeof(int32_t));
        pipe.InitBuffer(pairBuf, 2 * COLS * 2 * sizeof(float));
        CreateVecIndex(columnBuf.Get<int32_t>(), static_cast<int32_t>(0), COLS);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Process()
    {
        for (int64_t r = GetBlockIdx(); r < rows; r += GetBlockNum()) {
            LocalTensor<float> x = inQueue.AllocTensor<float>();
            DataCopy(x, xGm[r * COLS], COLS);
            inQueue.EnQue(x);
            Sort();
            LocalTensor<float> value = valueQueue.DeQue<float>();
            DataCopy(valueGm[r * TOP], value, TOP);
            valueQueue.FreeTensor(value);
            LocalTensor<uint32_t> index = indexQueue.DeQue<uint32_t>();
            DataCopy(indexGm[r * TOP], index, TOP);
            indexQueue.FreeTensor(index);
        }
    }

private:
    // Merges groups of four neighbouring sorted lists of `length` pairs.
    __aicore__ inline void Merge(const LocalTensor<float>& to, const LocalTensor<float>& from, uint16_t length)
    {
        const uint16_t lengths[4] = {length, length, length, length};
        const int32_t step = length * 2;
        MrgSort(
            to, MrgSortSrcList<float>(from, from[step], from[2 * step], from[3 * step]),
            MrgSort4Info(lengths, false, 0b1111, COLS / (4 * length)));
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Sort()
    {
        LocalTensor<float> even = pairBuf.GetWithOffset<float>(COLS * 2, 0);
        LocalTensor<float> odd = pairBuf.GetWithOffset<float>(COLS * 2, COLS * 2 * sizeof(float));
        LocalTensor<float> x = inQueue.DeQue<float>();
        Sort32(even, x, columnBuf.Get<uint32_t>(), COLS / 32);
        PipeBarrier<PIPE_V>();
        inQueue.FreeTensor(x);
        Merge(odd, even, 32);
        Merge(even, odd, 128);
        Merge(odd, even, 512);

        LocalTensor<float> value = valueQueue.AllocTensor<float>();
        LocalTensor<uint32_t> index = indexQueue.AllocTensor<uint32_t>();
        const GatherMaskParams params(1, 1, 8, 0);
        uint64_t taken = 0;
        GatherMask(value, odd, 1, true, TOP * 2, params, taken);  // pattern 1: even places
        GatherMask(index, odd.ReinterpretCast<uint32_t>(), 2, true, TOP * 2, params, taken);
        ResetMask();
        PipeBarrier<PIPE_V>();
        valueQueue.EnQue(value);
        indexQueue.EnQue(index);
    }

    TPipe pipe;
    TQue<TPosition::VECIN, 1> inQueue;
    TQue<TPosition::VECOUT, 1> valueQueue, indexQueue;
    TBuf<TPosition::VECCALC> columnBuf, pairBuf;
    GlobalTensor<float> xGm, valueGm;
    GlobalTensor<uint32_t> indexGm;
    int64_t rows = 0;
};

extern "C" __global__ __aicore__ void topk(GM_ADDR x, GM_ADDR values, GM_ADDR indices, int64_t rows)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    TopK op;
    op.Init(x, values, indices, rows);
    op.Process();
}
