// Kernels of the cube tests: one product of one tile, in every way to get its operands into L0 and its result out.
#include "kernel_operator.h"
using namespace AscendC;

constexpr int kAKM = 1;       // A is stored [K, M]
constexpr int kBKN = 2;       // B is stored [K, N]
constexpr int k3d = 4;        // through LoadData3DParamsV2
constexpr int kBias = 8;      // the result starts from a bias
constexpr int kHalves = 16;   // K in two Mmad calls, the second adds to the first
constexpr int kRealA = 32;    // A is copied into L1 row by row with DataCopy, not with Nd2Nz
constexpr int kTranspose = 64;  // LoadDataWithTranspose for a B stored [K, N]

__aicore__ inline int up(int x, int to) { return (x + to - 1) / to * to; }

template <HardEvent event>
__aicore__ inline void hand() {
    SetFlag<event>(EVENT_ID0);
    WaitFlag<event>(EVENT_ID0);
}

struct Place {
    int m, n, k, flags;
    int ma, na, ka;  // rounded to fractals
};

template <class T>
__aicore__ inline Place place(int m, int n, int k, int flags) {
    constexpr int c0 = 32 / int(sizeof(T));
    Place p = {m, n, k, flags, up(m, 16), up(n, 16), up(k, c0)};
    if (sizeof(T) == 2) p.ka = up(k, 16);
    if (flags & kTranspose) {
        p.ka = up(k, sizeof(T) == 1 ? 32 : 16);
        p.na = up(n, sizeof(T) == 1 ? 32 : 16);
    }
    if ((flags & k3d) && sizeof(T) == 4) p.ka = up(k, 16);
    return p;
}

template <class T>
__aicore__ inline void loadA(const LocalTensor<T>& a2, const LocalTensor<T>& a1, const Place& p) {
    constexpr int c0 = 32 / int(sizeof(T));
    if (p.flags & k3d) {
        LoadData3DParamsV2<T> q;
        const bool turned = p.flags & kAKM;
        q.l1H = 1;
        q.l1W = turned ? p.ka : p.ma;
        q.channelSize = turned ? p.ma : p.ka;
        q.kExtension = q.channelSize;
        q.mExtension = q.l1W;
        q.enTranspose = turned;
        LoadData(a2, a1, q);
    } else if (p.flags & kAKM) {
        for (int m1 = 0; m1 < p.ma / 16; ++m1)
            LoadData(a2[m1 * 16 * p.ka], a1, LoadData2DParams(m1 * (p.ka / 16), p.ka / 16, 1, 0, 0, true, 0));
    } else {
        for (int m1 = 0; m1 < p.ma / 16; ++m1)
            LoadData(a2[m1 * 16 * p.ka], a1, LoadData2DParams(m1, p.ka / c0, p.ma / 16, 0, 0, false, 0));
    }
}

template <class T>
__aicore__ inline void loadB(const LocalTensor<T>& b2, const LocalTensor<T>& b1, const Place& p) {
    constexpr int c0 = 32 / int(sizeof(T));
    if (p.flags & kTranspose) {
        constexpr int square = sizeof(T) == 1 ? 32 : 16;
        for (int k1 = 0; k1 < p.ka / square; ++k1)
            LoadDataWithTranspose(b2[k1 * p.na * square], b1,
                                  LoadData2dTransposeParams(k1, p.na / square, p.ka / square, sizeof(T) == 1 ? 1 : 0, 0));
    } else if ((p.flags & k3d) && (p.flags & kBKN)) {
        LoadData3DParamsV2<T> q;
        q.l1H = 1;
        q.l1W = p.ka;
        q.channelSize = p.na;
        q.kExtension = p.na;
        q.mExtension = p.ka;
        LoadData(b2, b1, q);
    } else if (p.flags & kBKN) {
        for (int k1 = 0; k1 < p.ka / 16; ++k1)
            LoadData(b2[k1 * p.na * 16], b1, LoadData2DParams(k1, p.na / 16, p.ka / 16, 0, 0, true, 0));
    } else {
        for (int k1 = 0; k1 < p.ka / c0; ++k1) LoadData(b2[k1 * p.na * c0], b1, LoadData2DParams(k1 * (p.na / 16), p.na / 16, 1, 0, 0, false, 0));
    }
}

// L0C, n1 m1 16 16, holds A B (+ bias) after this.
template <class T, class C>
__aicore__ inline LocalTensor<C> multiply(GM_ADDR ap, GM_ADDR bp, GM_ADDR biasp, int m, int n, int k, int flags) {
    constexpr int c0 = 32 / int(sizeof(T));
    const Place p = place<T>(m, n, k, flags);
    GlobalTensor<T> a, b;
    a.SetGlobalBuffer((__gm__ T*)ap);
    b.SetGlobalBuffer((__gm__ T*)bp);
    LocalTensor<T> a1(TPosition::A1, 0, 128 * 1024 / sizeof(T)), b1(TPosition::B1, 128 * 1024, 256 * 1024 / sizeof(T));
    LocalTensor<T> a2(TPosition::A2, 0, 64 * 1024 / sizeof(T)), b2(TPosition::B2, 0, 64 * 1024 / sizeof(T));
    LocalTensor<C> c(TPosition::CO1, 0, 32 * 1024);
    if (flags & kRealA) {
        for (int k1 = 0; k1 < p.ka / c0; ++k1)
            DataCopy(a1[k1 * p.ma * c0], a[k1 * c0], DataCopyParams(m, 1, k * sizeof(T) / 32 - 1, 0));
    } else if (flags & kAKM) {
        DataCopy(a1, a, Nd2NzParams(1, k, m, 0, m, p.ka, 1, 0));
    } else {
        DataCopy(a1, a, Nd2NzParams(1, m, k, 0, k, p.ma, 1, 0));
    }
    if (flags & kBKN)
        DataCopy(b1, b, Nd2NzParams(1, k, n, 0, n, p.ka, 1, 0));
    else
        DataCopy(b1, b, Nd2NzParams(1, n, k, 0, k, p.na, 1, 0));
    LocalTensor<C> bias1(TPosition::C1, 400 * 1024, 256), bias2(TPosition::C2, 0, 256);
    if (flags & kBias) {
        GlobalTensor<C> bias;
        bias.SetGlobalBuffer((__gm__ C*)biasp);
        DataCopy(bias1, bias, up(n, 16));
    }
    hand<HardEvent::MTE2_MTE1>();
    if (flags & kBias) DataCopy(bias2, bias1, DataCopyParams(1, up(n, 16) * sizeof(C) / 64, 0, 0));
    loadA(a2, a1, p);
    loadB(b2, b1, p);
    hand<HardEvent::MTE1_M>();
    MmadParams q;
    q.m = m == 1 ? 16 : m;
    q.n = (flags & kTranspose) ? p.na : n;
    q.k = k;
    q.kDirectionAlign = (flags & k3d) && sizeof(T) == 4;
    q.cmatrixInitVal = !(flags & kBias);
    if (flags & kHalves) {
        const int first = p.ka / 2 / (sizeof(T) == 4 ? 16 : 32) * (sizeof(T) == 4 ? 16 : 32);
        // L0A is [m1][k1]: a part of K is contiguous for one m1 only.
        q.k = first;
        q.cmatrixSource = flags & kBias;  // from the bias table's start
        Mmad(c, a2, b2, q);
        PipeBarrier<PIPE_M>();
        q.k = k - first;
        q.cmatrixInitVal = false;
        q.cmatrixSource = false;
        Mmad(c, a2[16 * first], b2[p.na * first], q);
    } else if (flags & kBias) {
        Mmad(c, a2, b2, bias2, q);
    } else {
        Mmad(c, a2, b2, q);
    }
    hand<HardEvent::M_FIX>();
    return c;
}

template <class T, class C>
__aicore__ inline void product(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR out, int64_t m, int64_t n, int64_t k, int64_t flags) {
    LocalTensor<C> c = multiply<T, C>(a, b, bias, int(m), int(n), int(k), int(flags));
    GlobalTensor<C> o;
    o.SetGlobalBuffer((__gm__ C*)out);
    const int rows = m == 1 ? 16 : up(int(m), 16);
    Fixpipe(o, c, FixpipeParamsV220(n, m, rows, n, false));
}

extern "C" __global__ __aicore__ void product_bf16(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR out, int64_t m, int64_t n, int64_t k,
                                                   int64_t flags) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    product<bfloat16_t, float>(a, b, bias, out, m, n, k, flags);
}
extern "C" __global__ __aicore__ void product_half(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR out, int64_t m, int64_t n, int64_t k,
                                                   int64_t flags) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    product<half, float>(a, b, bias, out, m, n, k, flags);
}
extern "C" __global__ __aicore__ void product_float(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR out, int64_t m, int64_t n, int64_t k,
                                                   int64_t flags) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    product<float, float>(a, b, bias, out, m, n, k, flags);
}
extern "C" __global__ __aicore__ void product_int8(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR out, int64_t m, int64_t n, int64_t k,
                                                   int64_t flags) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    product<int8_t, int32_t>(a, b, bias, out, m, n, k, flags);
}

// One row times a matrix, the row as a plain vector in L0A.
extern "C" __global__ __aicore__ void vector_matrix(GM_ADDR a, GM_ADDR b, GM_ADDR out, int64_t n, int64_t k) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    const int ka = up(int(k), 256), na = up(int(n), 16);
    GlobalTensor<bfloat16_t> ga, gb;
    GlobalTensor<float> go;
    ga.SetGlobalBuffer((__gm__ bfloat16_t*)a);
    gb.SetGlobalBuffer((__gm__ bfloat16_t*)b);
    go.SetGlobalBuffer((__gm__ float*)out);
    LocalTensor<bfloat16_t> a1(TPosition::A1, 0, ka), b1(TPosition::B1, 65536, na * k), a2(TPosition::A2, 0, ka), b2(TPosition::B2, 0, na * k);
    LocalTensor<float> c(TPosition::CO1, 0, 16 * na);
    DataCopy(a1, ga, uint32_t(k));
    DataCopy(b1, gb, Nd2NzParams(1, n, k, 0, k, na, 1, 0));
    hand<HardEvent::MTE2_MTE1>();
    LoadData(a2, a1, LoadData2DParams(0, ka / 256, 1, 0, 0, false, 0));
    for (int k1 = 0; k1 < k / 16; ++k1) LoadData(b2[k1 * na * 16], b1, LoadData2DParams(k1 * (na / 16), na / 16, 1, 0, 0, false, 0));
    hand<HardEvent::MTE1_M>();
    Mmad(c, a2, b2, MmadParams(1, n, k, 0, false, true));
    hand<HardEvent::M_FIX>();
    Fixpipe(go, c, FixpipeParamsV220(n, 1, 16, n, false));
}

// Ways out: the destination's type, layout and quantisation.
template <class T, class C, class O, const FixpipeConfig& config>
__aicore__ inline void wayOut(GM_ADDR a, GM_ADDR b, GM_ADDR scales, GM_ADDR out, int64_t m, int64_t n, int64_t k, QuantMode_t quant,
                              uint64_t scale, int64_t stride, int64_t options) {
    LocalTensor<C> c = multiply<T, C>(a, b, nullptr, int(m), int(n), int(k), 0);
    GlobalTensor<O> o;
    o.SetGlobalBuffer((__gm__ O*)out);
    FixpipeParamsV220 p(n, m, up(int(m), 16), stride, options & 1);
    p.quantPre = quant;
    p.deqScalar = scale;
    p.isChannelSplit = options & 2;
    if (quant == VDEQF16 || quant == VREQ8 || quant == VQF322B8_PRE) {
        GlobalTensor<uint64_t> s;
        s.SetGlobalBuffer((__gm__ uint64_t*)scales);
        LocalTensor<uint64_t> s1(TPosition::C1, 480 * 1024, 512);
        DataCopy(s1, s, uint32_t(up(int(n), 4)));
        hand<HardEvent::MTE2_FIX>();
        Fixpipe<O, C, config>(o, c, s1, p);
    } else {
        Fixpipe<O, C, config>(o, c, p);
    }
}

extern "C" __global__ __aicore__ void way_out(GM_ADDR a, GM_ADDR b, GM_ADDR scales, GM_ADDR out, int64_t m, int64_t n, int64_t k,
                                              int64_t quant, int64_t scale, int64_t stride, int64_t options, int64_t which) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    const QuantMode_t q = QuantMode_t(quant);
    switch (which) {
        case 0: return wayOut<bfloat16_t, float, float, CFG_ROW_MAJOR>(a, b, scales, out, m, n, k, q, scale, stride, options);
        case 1: return wayOut<bfloat16_t, float, bfloat16_t, CFG_ROW_MAJOR>(a, b, scales, out, m, n, k, q, scale, stride, options);
        case 2: return wayOut<bfloat16_t, float, half, CFG_ROW_MAJOR>(a, b, scales, out, m, n, k, q, scale, stride, options);
        case 3: return wayOut<bfloat16_t, float, int8_t, CFG_ROW_MAJOR>(a, b, scales, out, m, n, k, q, scale, stride, options);
        case 4: return wayOut<int8_t, int32_t, half, CFG_ROW_MAJOR>(a, b, scales, out, m, n, k, q, scale, stride, options);
        case 5: return wayOut<int8_t, int32_t, int8_t, CFG_ROW_MAJOR>(a, b, scales, out, m, n, k, q, scale, stride, options);
        case 6: return wayOut<bfloat16_t, float, float, CFG_NZ>(a, b, scales, out, m, n, k, q, scale, stride, options);
        case 7: return wayOut<bfloat16_t, float, bfloat16_t, CFG_NZ>(a, b, scales, out, m, n, k, q, scale, stride, options);
        default: return wayOut<int8_t, int32_t, int8_t, CFG_NZ>(a, b, scales, out, m, n, k, q, scale, stride, options);
    }
}

// (A B) C with A B kept in L1 as bf16: L0C -> L1 -> L0A.
extern "C" __global__ __aicore__ void chained(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR out, int64_t m, int64_t n, int64_t k, int64_t p) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    LocalTensor<float> first = multiply<bfloat16_t, float>(a, b, nullptr, int(m), int(n), int(k), 0);
    const int ma = up(int(m), 16), pa = up(int(p), 16);
    LocalTensor<bfloat16_t> mid(TPosition::A1, 0, ma * n), a2(TPosition::A2, 0, ma * n), c1(TPosition::B1, 128 * 1024, pa * n), c2(TPosition::B2, 0, pa * n);
    FixpipeParamsV220 q(n, ma, ma, ma, false);
    q.quantPre = F322BF16;
    hand<HardEvent::MTE1_FIX>();
    Fixpipe<bfloat16_t, float, CFG_NZ>(mid, first, q);
    hand<HardEvent::FIX_MTE1>();
    GlobalTensor<bfloat16_t> gc;
    GlobalTensor<float> go;
    gc.SetGlobalBuffer((__gm__ bfloat16_t*)c);
    go.SetGlobalBuffer((__gm__ float*)out);
    DataCopy(c1, gc, Nd2NzParams(1, p, n, 0, n, pa, 1, 0));
    hand<HardEvent::MTE2_MTE1>();
    hand<HardEvent::M_MTE1>();
    for (int m1 = 0; m1 < ma / 16; ++m1) LoadData(a2[m1 * 16 * n], mid, LoadData2DParams(m1, n / 16, ma / 16, 0, 0, false, 0));
    for (int k1 = 0; k1 < n / 16; ++k1) LoadData(c2[k1 * pa * 16], c1, LoadData2DParams(k1 * (pa / 16), pa / 16, 1, 0, 0, false, 0));
    hand<HardEvent::MTE1_M>();
    hand<HardEvent::FIX_M>();
    LocalTensor<float> second(TPosition::CO1, 64 * 1024, ma * pa);
    Mmad(second, a2, c2, MmadParams(m, p, n, 0, false, true));
    hand<HardEvent::M_FIX>();
    Fixpipe(go, second, FixpipeParamsV220(p, m, ma, p, false));
}

// A list of steps that write and read L1 and L0 in any order; every L0C byte comes out at the end. With the input bound
// as input copies may stay descriptions, bound as inout they are copies: the results must not differ in a bit.
extern "C" __global__ __aicore__ void any_order(GM_ADDR in, GM_ADDR steps, GM_ADDR out, int64_t count) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GlobalTensor<bfloat16_t> g;
    g.SetGlobalBuffer((__gm__ bfloat16_t*)in);
    GlobalTensor<float> o;
    o.SetGlobalBuffer((__gm__ float*)out);
    const int32_t* s = reinterpret_cast<const int32_t*>(steps);
    LocalTensor<bfloat16_t> l1(TPosition::A1, 0, 256 * 1024), a2(TPosition::A2, 0, 32 * 1024), b2(TPosition::B2, 0, 32 * 1024);
    LocalTensor<float> c(TPosition::CO1, 0, 32 * 1024);
    Fill(l1, InitConstValueParams<bfloat16_t>(32, 512, 0, bfloat16_t(0.5f)));
    Fill(a2, InitConstValueParams<bfloat16_t>(1, 128, 0, bfloat16_t(0.25f)));
    Fill(b2, InitConstValueParams<bfloat16_t>(1, 128, 0, bfloat16_t(0.125f)));
    Mmad(c[0], a2, b2, MmadParams(256, 128, 16, 0, false, true));
    for (int64_t i = 0; i < count; ++i, s += 8) {
        PipeBarrier<PIPE_ALL>();
        switch (s[0]) {
            case 0: DataCopy(l1[s[1]], g[s[2]], Nd2NzParams(1, s[3], s[4], 0, s[5], s[6], 1, 0)); break;
            case 1: DataCopy(l1[s[1]], g[s[2]], uint32_t(s[3])); break;
            case 2: LoadData(a2[s[1]], l1[s[2]], LoadData2DParams(s[3], s[4], s[5], 0, s[6], s[7] != 0, 0)); break;
            case 3: LoadData(b2[s[1]], l1[s[2]], LoadData2DParams(s[3], s[4], s[5], 0, s[6], s[7] != 0, 0)); break;
            case 4: Fill(l1[s[1]], InitConstValueParams<bfloat16_t>(s[2], s[3], s[4], bfloat16_t(float(s[5])))); break;
            case 5: Mmad(c[s[1]], a2[s[2]], b2[s[3]], MmadParams(s[4], s[5], s[6], 0, false, s[7] != 0)); break;
            default: {
                FixpipeParamsV220 p(s[3], s[4], s[5], s[6], false);
                p.quantPre = F322BF16;
                Fixpipe<bfloat16_t, float, CFG_NZ>(l1[s[1]], c[s[2]], p);
                break;
            }
        }
    }
    PipeBarrier<PIPE_ALL>();
    Fixpipe<float, float, CFG_NZ>(o, c, FixpipeParamsV220(16, 2048, 2048, 2048, false));
}

// What must be refused.
extern "C" __global__ __aicore__ void wrong_cube(GM_ADDR in, GM_ADDR out, int64_t which) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GlobalTensor<bfloat16_t> g;
    g.SetGlobalBuffer((__gm__ bfloat16_t*)in);
    GlobalTensor<float> o;
    o.SetGlobalBuffer((__gm__ float*)out);
    LocalTensor<bfloat16_t> l1(TPosition::A1, 0, 64 * 1024), a2(TPosition::A2, 0, 32 * 1024), b2(TPosition::B2, 0, 32 * 1024);
    LocalTensor<float> c(TPosition::CO1, 0, 32 * 1024);
    switch (which) {
        case 0: LocalTensor<bfloat16_t>(TPosition::A2, 0, 40 * 1024); break;
        case 1: LoadData(a2[8], l1, LoadData2DParams(0, 1, 1, 0, 0, false, 0)); break;
        case 2: LoadData(a2, l1, LoadData2DParams(0, 200, 1, 0, 0, false, 0)); break;
        case 3: Mmad(c, a2, b2, MmadParams(256, 256, 256, 0, false, true)); break;
        case 4: Mmad(c[64], a2, b2, MmadParams(16, 16, 16, 0, false, true)); break;
        case 5: Fixpipe(o, c, FixpipeParamsV220(16, 64, 64, 16, false)); break;
        case 6: Fixpipe(o, c, FixpipeParamsV220(16, 16, 16, 16, false, F322BF16, 0, 1, 0, 0, 0)); break;
        case 7: DataCopy(l1, g, Nd2NzParams(1, 64, 64, 0, 64, 64, 1, 0)); break;
        case 8: LoadData(l1, l1, LoadData2DParams(0, 1, 1, 0, 0, false, 0)); break;
        default: DataCopy(l1[8], g, uint32_t(16)); break;
    }
}
