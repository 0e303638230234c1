// 3 x 3 convolution, stride 1, padding 1, as an implicit matmul: LoadData3D turns the image in L1 into rows of A.
// image half [C1, H, W, 16], weight half [C1 * 9, Cout / 16, 16, 16] (fractals of L0B), out float [H * W, Cout], Cout <= 64.
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t TILE_M = 64;
constexpr int32_t TAPS = 9;
constexpr int32_t STEP_K = TAPS * 16;
constexpr int32_t MAX_OUT = 64;

extern "C" __global__ __aicore__ void conv2d(
    GM_ADDR image, GM_ADDR weight, GM_ADDR out, int64_t c1, int64_t height, int64_t width, int64_t channelsOut)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    InitSocState();
    const int32_t imageSize = static_cast<int32_t>(c1 * height * width * 16);
    const int32_t weightSize = static_cast<int32_t>(c1 * STEP_K * channelsOut);
    const int32_t pixels = static_cast<int32_t>(height * width), n = static_cast<int32_t>(channelsOut);
    GlobalTensor<half> imageGm, weightGm;
    GlobalTensor<float> outGm;
    imageGm.SetGlobalBuffer((__gm__ half*)image, imageSize);
    weightGm.SetGlobalBuffer((__gm__ half*)weight, weightSize);
    outGm.SetGlobalBuffer((__gm__ float*)out, pixels * channelsOut);

    LocalTensor<half> imageL1(TPosition::A1, 0, imageSize), weightL1(TPosition::B1, 262144, weightSize);
    LocalTensor<half> aL0(TPosition::A2, 0, TILE_M * STEP_K), bL0(TPosition::B2, 0, STEP_K * MAX_OUT);
    LocalTensor<float> acc(TPosition::CO1, 0, TILE_M * MAX_OUT);
    DataCopy(imageL1, imageGm, imageSize);
    DataCopy(weightL1, weightGm, weightSize);
    SetFlag<HardEvent::MTE2_MTE1>(0);
    WaitFlag<HardEvent::MTE2_MTE1>(0);

    LoadData3DParamsV2<half> load;
    for (int32_t i = 0; i < 4; ++i) {
        load.padList[i] = 1;  // left, right, top, bottom
    }
    load.l1H = static_cast<uint16_t>(height);
    load.l1W = static_cast<uint16_t>(width);
    load.channelSize = static_cast<uint16_t>(c1 * 16);
    load.kExtension = STEP_K;
    load.strideW = load.strideH = 1;
    load.filterW = load.filterH = 3;
    load.dilationFilterW = load.dilationFilterH = 1;
    load.padValue = static_cast<half>(0.0f);

    SetFlag<HardEvent::M_MTE1>(0);
    SetFlag<HardEvent::FIX_M>(0);
    for (int32_t m0 = GetBlockIdx() * TILE_M; m0 < pixels; m0 += GetBlockNum() * TILE_M) {
        const int32_t m = pixels - m0 < TILE_M ? pixels - m0 : TILE_M, m16 = (m + 15) / 16 * 16;
        load.mStartPt = static_cast<uint16_t>(m0);
        load.mExtension = static_cast<uint16_t>(m16);
        WaitFlag<HardEvent::FIX_M>(0);
        for (int32_t c = 0; c < static_cast<int32_t>(c1); ++c) {
            load.kStartPt = static_cast<uint16_t>(c * STEP_K);
            WaitFlag<HardEvent::M_MTE1>(0);
            LoadData(aL0, imageL1, load);
            LoadData(bL0, weightL1, LoadData2DParams(c * TAPS * (n / 16), TAPS * (n / 16), 1, 0, 0, false, 0));
            SetFlag<HardEvent::MTE1_M>(0);
            WaitFlag<HardEvent::MTE1_M>(0);
            Mmad(acc, aL0, bL0, MmadParams(m16, n, STEP_K, 0, false, c == 0));
            PipeBarrier<PIPE_M>();
            SetFlag<HardEvent::M_MTE1>(0);
        }
        SetFlag<HardEvent::M_FIX>(0);
        WaitFlag<HardEvent::M_FIX>(0);
        Fixpipe<float, float, CFG_ROW_MAJOR>(outGm[m0 * n], acc, FixpipeParamsV220(n, m, m16, n, false));
        SetFlag<HardEvent::FIX_M>(0);
    }
    WaitFlag<HardEvent::FIX_M>(0);
    WaitFlag<HardEvent::M_MTE1>(0);
}
