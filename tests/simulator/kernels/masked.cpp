// Table lookup and masks over tiles of 1024 floats. With g = table[index]:
//   kept = g where g > 0.25, else -1          larger = g where g > x, else x
//   packed, counts = the g > 0.25 of each tile, moved to its front       turned = 16 x 16 blocks of half(kept), transposed
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t TILE = 1024;

extern "C" __global__ __aicore__ void masked(
    GM_ADDR table, GM_ADDR index, GM_ADDR x, GM_ADDR kept, GM_ADDR larger, GM_ADDR packed, GM_ADDR counts, GM_ADDR turned,
    int64_t entries, int64_t tiles)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    InitSocState();
    GlobalTensor<float> tableGm, xGm, keptGm, largerGm, packedGm;
    GlobalTensor<int32_t> indexGm, countGm;
    GlobalTensor<half> turnedGm;
    tableGm.SetGlobalBuffer((__gm__ float*)table, entries);
    indexGm.SetGlobalBuffer((__gm__ int32_t*)index, tiles * TILE);
    xGm.SetGlobalBuffer((__gm__ float*)x, tiles * TILE);
    keptGm.SetGlobalBuffer((__gm__ float*)kept, tiles * TILE);
    largerGm.SetGlobalBuffer((__gm__ float*)larger, tiles * TILE);
    packedGm.SetGlobalBuffer((__gm__ float*)packed, tiles * TILE);
    countGm.SetGlobalBuffer((__gm__ int32_t*)counts, tiles);
    turnedGm.SetGlobalBuffer((__gm__ half*)turned, tiles * TILE);

    constexpr uint32_t STEP = TILE * sizeof(float);
    LocalTensor<int32_t> place(TPosition::VECCALC, 0, TILE);
    LocalTensor<float> g(TPosition::VECCALC, STEP, TILE), xt(TPosition::VECCALC, 2 * STEP, TILE);
    LocalTensor<float> keep(TPosition::VECCALC, 3 * STEP, TILE), large(TPosition::VECCALC, 4 * STEP, TILE);
    LocalTensor<float> pack(TPosition::VECCALC, 5 * STEP, TILE);
    LocalTensor<half> narrow(TPosition::VECCALC, 6 * STEP, TILE), turn(TPosition::VECCALC, 6 * STEP + 2048, TILE);
    LocalTensor<uint8_t> bits(TPosition::VECCALC, 7 * STEP, TILE / 8), above(TPosition::VECCALC, 7 * STEP + 128, TILE / 8);
    LocalTensor<int32_t> count(TPosition::VECCALC, 7 * STEP + 256, 8);
    LocalTensor<float> lookup(TPosition::VECCALC, 8 * STEP, static_cast<uint32_t>(entries));
    DataCopy(lookup, tableGm, entries);

    for (int64_t t = GetBlockIdx(); t < tiles; t += GetBlockNum()) {
        const int64_t at = t * TILE;
        DataCopy(place, indexGm[at], TILE);
        DataCopy(xt, xGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        ShiftLeft(place, place, 2, TILE);  // Gather wants bytes
        PipeBarrier<PIPE_V>();
        Gather(g, lookup, place.ReinterpretCast<uint32_t>(), 0, TILE);
        PipeBarrier<PIPE_V>();
        CompareScalar(bits, g, 0.25f, CMPMODE::GT, TILE);
        Compare(above, g, xt, CMPMODE::GT, TILE);
        PipeBarrier<PIPE_V>();
        Select(keep, bits, g, -1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, TILE);
        Select(large, above, g, xt, SELMODE::VSEL_TENSOR_TENSOR_MODE, TILE);
        uint64_t taken = 0;
        GatherMask(pack, g, bits.ReinterpretCast<uint32_t>(), true, TILE, GatherMaskParams(1, 1, 8, 0), taken);
        ResetMask();
        PipeBarrier<PIPE_V>();
        Cast(narrow, keep, RoundMode::CAST_RINT, TILE);
        PipeBarrier<PIPE_V>();
        for (int32_t b = 0; b < TILE; b += 256) {
            Transpose(turn[b], narrow[b]);
        }
        count.SetValue(0, static_cast<int32_t>(taken));
        SetFlag<HardEvent::S_MTE3>(0);
        WaitFlag<HardEvent::S_MTE3>(0);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopy(keptGm[at], keep, TILE);
        DataCopy(largerGm[at], large, TILE);
        DataCopy(turnedGm[at], turn, TILE);
        DataCopyPad(countGm[t], count, DataCopyExtParams(1, sizeof(int32_t), 0, 0, 0));
        DataCopyPad(packedGm[at], pack, DataCopyExtParams(1, taken * sizeof(float), 0, 0, 0));
        PipeBarrier<PIPE_ALL>();
    }
}
