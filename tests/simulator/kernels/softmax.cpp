// Row softmax of fp32 [rows, cols]: 16 rows at a time, maxima and sums by 64-lane columns, spread again with Brcb.
// cols is a multiple of 64, at most 1024. No TPipe: addresses and events by hand.
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t ROWS = 16;
constexpr int32_t LANES = 64;
constexpr int32_t MAX_COLS = 1024;
constexpr uint32_t X_AT = 0;                               // [ROWS, cols]
constexpr uint32_t LANE_AT = X_AT + ROWS * MAX_COLS * 4;   // [ROWS, 64]
constexpr uint32_t ROW_AT = LANE_AT + ROWS * LANES * 4;    // [ROWS]
constexpr uint32_t SPREAD_AT = ROW_AT + ROWS * 4;          // [ROWS, 8]

__aicore__ inline void SoftmaxTile(const LocalTensor<float>& x, int32_t cols)
{
    LocalTensor<float> lane(TPosition::VECCALC, LANE_AT, ROWS * LANES);
    LocalTensor<float> row(TPosition::VECCALC, ROW_AT, ROWS);
    LocalTensor<float> spread(TPosition::VECCALC, SPREAD_AT, ROWS * 8);
    const uint8_t pitch = static_cast<uint8_t>(cols / 8);
    const BinaryRepeatParams fold(1, 1, 1, 8, 8, pitch);
    const BinaryRepeatParams byRow(1, 1, 0, pitch, pitch, 1);

    Copy(lane, x, LANES, ROWS, CopyRepeatParams(1, 1, 8, pitch));
    PipeBarrier<PIPE_V>();
    for (int32_t c = LANES; c < cols; c += LANES) {
        Max(lane, lane, x[c], LANES, ROWS, fold);
        PipeBarrier<PIPE_V>();
    }
    WholeReduceMax(row, lane, LANES, ROWS, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    PipeBarrier<PIPE_V>();
    Brcb(spread, row, ROWS / 8, BrcbRepeatParams(1, 8));
    PipeBarrier<PIPE_V>();
    for (int32_t c = 0; c < cols; c += LANES) {
        Sub(x[c], x[c], spread, LANES, ROWS, byRow);
    }
    PipeBarrier<PIPE_V>();
    Exp(x, x, ROWS * cols);
    Duplicate(lane, 0.0f, ROWS * LANES);
    PipeBarrier<PIPE_V>();
    for (int32_t c = 0; c < cols; c += LANES) {
        Add(lane, lane, x[c], LANES, ROWS, fold);
        PipeBarrier<PIPE_V>();
    }
    WholeReduceSum(row, lane, LANES, ROWS, 1, 1, 8);
    PipeBarrier<PIPE_V>();
    Brcb(spread, row, ROWS / 8, BrcbRepeatParams(1, 8));
    PipeBarrier<PIPE_V>();
    for (int32_t c = 0; c < cols; c += LANES) {
        Div(x[c], x[c], spread, LANES, ROWS, byRow);
    }
    ResetMask();
}

extern "C" __global__ __aicore__ void softmax(GM_ADDR x, GM_ADDR y, int64_t rows, int64_t cols)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    InitSocState();
    const int32_t width = static_cast<int32_t>(cols);
    GlobalTensor<float> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ float*)x, rows * cols);
    yGm.SetGlobalBuffer((__gm__ float*)y, rows * cols);
    LocalTensor<float> tile(TPosition::VECCALC, X_AT, ROWS * width);

    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    for (int64_t r = GetBlockIdx() * ROWS; r < rows; r += GetBlockNum() * ROWS) {
        const int64_t left = rows - r;
        const uint32_t bytes = static_cast<uint32_t>((left < ROWS ? left : ROWS) * cols * sizeof(float));
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        DataCopyPad(tile, xGm[r * cols], DataCopyExtParams(1, bytes, 0, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0));
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        SoftmaxTile(tile, width);  // rows past the end hold whatever the tile held before and are not stored
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopyPad(yGm[r * cols], tile, DataCopyExtParams(1, bytes, 0, 0, 0));
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    }
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
}
