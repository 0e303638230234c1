// y[b, :] = bf16(x[b, :] / sqrt(mean(x[b, :]^2) + 1e-6) * gamma), bf16 in and out, fp32 inside, a row at a time.
// hidden is a multiple of 64, at most 5120.
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t MAX_HIDDEN = 5120;
constexpr int32_t LANES = 64;

extern "C" __global__ __aicore__ void rms_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, int64_t rows, int64_t hidden)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> inQueue;
    TQue<TPosition::VECOUT, 1> outQueue;
    TBuf<TPosition::VECCALC> gammaBuf, rowBuf, squareBuf, scaleBuf;
    pipe.InitBuffer(inQueue, 2, MAX_HIDDEN * sizeof(bfloat16_t));
    pipe.InitBuffer(outQueue, 2, MAX_HIDDEN * sizeof(bfloat16_t));
    pipe.InitBuffer(gammaBuf, MAX_HIDDEN * sizeof(float));
    pipe.InitBuffer(rowBuf, MAX_HIDDEN * sizeof(float));
    pipe.InitBuffer(squareBuf, MAX_HIDDEN * sizeof(float));
    pipe.InitBuffer(scaleBuf, 64);

    const int32_t n = static_cast<int32_t>(hidden);
    const uint8_t repeats = static_cast<uint8_t>(n / LANES);
    GlobalTensor<bfloat16_t> xGm, yGm, gammaGm;
    xGm.SetGlobalBuffer((__gm__ bfloat16_t*)x, rows * hidden);
    yGm.SetGlobalBuffer((__gm__ bfloat16_t*)y, rows * hidden);
    gammaGm.SetGlobalBuffer((__gm__ bfloat16_t*)gamma, hidden);

    LocalTensor<float> gammaF = gammaBuf.Get<float>();
    LocalTensor<bfloat16_t> gammaB = inQueue.AllocTensor<bfloat16_t>();
    DataCopy(gammaB, gammaGm, n);
    inQueue.EnQue(gammaB);
    gammaB = inQueue.DeQue<bfloat16_t>();
    Cast(gammaF, gammaB, RoundMode::CAST_NONE, n);
    inQueue.FreeTensor(gammaB);

    LocalTensor<float> row = rowBuf.Get<float>();
    LocalTensor<float> square = squareBuf.Get<float>();
    LocalTensor<float> scale = scaleBuf.Get<float>();
    for (int64_t r = GetBlockIdx(); r < rows; r += GetBlockNum()) {
        LocalTensor<bfloat16_t> in = inQueue.AllocTensor<bfloat16_t>();
        DataCopy(in, xGm[r * hidden], n);
        inQueue.EnQue(in);
        in = inQueue.DeQue<bfloat16_t>();
        PipeBarrier<PIPE_V>();  // the row before has been read
        Cast(row, in, RoundMode::CAST_NONE, n);
        PipeBarrier<PIPE_V>();
        inQueue.FreeTensor(in);

        // level 0: one instruction of `repeats` times 64 lanes
        Mul(square, row, row, LANES, repeats, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        PipeBarrier<PIPE_V>();
        ReduceSum(scale, square, square, n);
        Muls(scale, scale, 1.0f / static_cast<float>(n), 8);
        PipeBarrier<PIPE_V>();
        Adds(scale, scale, 1e-6f, 8);
        PipeBarrier<PIPE_V>();
        Sqrt(scale, scale, 8);
        Duplicate(scale[8], 1.0f, 8);
        PipeBarrier<PIPE_V>();
        Div(scale, scale[8], scale, 8);
        const event_t ready = static_cast<event_t>(pipe.FetchEventID(HardEvent::V_S));
        SetFlag<HardEvent::V_S>(ready);
        WaitFlag<HardEvent::V_S>(ready);
        Muls(row, row, scale.GetValue(0), LANES, repeats, UnaryRepeatParams(1, 1, 8, 8));
        PipeBarrier<PIPE_V>();
        Mul(row, row, gammaF, LANES, repeats, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        PipeBarrier<PIPE_V>();

        LocalTensor<bfloat16_t> out = outQueue.AllocTensor<bfloat16_t>();
        Cast(out, row, RoundMode::CAST_RINT, n);
        outQueue.EnQue(out);
        out = outQueue.DeQue<bfloat16_t>();
        DataCopy(yGm[r * hidden], out, n);
        outQueue.FreeTensor(out);
    }
}
