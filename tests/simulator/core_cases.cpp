// Kernels of the tests of launch, fibers, flags, queues, copies and atomics.
#include "kernel_operator.h"
using namespace AscendC;

template <HardEvent event>
__aicore__ inline void hand() {
    SetFlag<event>(EVENT_ID0);
    WaitFlag<event>(EVENT_ID0);
}

// Where each core writes what it is told of itself: 8 numbers a core.
__aicore__ inline void identify(GM_ADDR out, int64_t slot) {
    GlobalTensor<int32_t> o;
    o.SetGlobalBuffer((__gm__ int32_t*)out);
    o.SetValue(slot * 8 + 0, int32_t(GetBlockIdx()));
    o.SetValue(slot * 8 + 1, int32_t(GetBlockNum()));
    o.SetValue(slot * 8 + 2, int32_t(GetSubBlockIdx()));
    o.SetValue(slot * 8 + 3, int32_t(GetTaskRation()));
    if ASCEND_IS_AIC { o.SetValue(slot * 8 + 4, 1); }
    if ASCEND_IS_AIV { o.SetValue(slot * 8 + 4, 2); }
#if defined(__DAV_C220_CUBE__)
    o.SetValue(slot * 8 + 5, 1);
#else
    o.SetValue(slot * 8 + 5, 2);
#endif
}

extern "C" __global__ __aicore__ void who_vector(GM_ADDR out) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    identify(out, GetBlockIdx());
}
extern "C" __global__ __aicore__ void who_cube(GM_ADDR out) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    identify(out, GetBlockIdx());
}
extern "C" __global__ __aicore__ void who_mix(GM_ADDR out) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIC { identify(out, GetBlockIdx() * 3); }
    if ASCEND_IS_AIV { identify(out, GetBlockIdx() / 2 * 3 + 1 + GetSubBlockIdx()); }
}
extern "C" __global__ __aicore__ void who_mix_one(GM_ADDR out) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    if ASCEND_IS_AIC { identify(out, GetBlockIdx() * 2); }
    if ASCEND_IS_AIV { identify(out, GetBlockIdx() * 2 + 1); }
}

// Helper functions of one name that differ between the cores must not be mixed up at link time.
struct Chooser {
    __attribute__((noinline)) int32_t which() {
        if ASCEND_IS_AIC { return 11; }
        return 22;
    }
};
extern "C" __global__ __aicore__ void two_copies(GM_ADDR out) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    GlobalTensor<int32_t> o;
    o.SetGlobalBuffer((__gm__ int32_t*)out);
    Chooser c;
    if ASCEND_IS_AIC { o.SetValue(0, c.which()); }
    if ASCEND_IS_AIV { o.SetValue(1, c.which()); }
}

// x + 1 through queues of two buffers; several tiles a block.
extern "C" __global__ __aicore__ void queued(GM_ADDR x, GM_ADDR y, int64_t tiles) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 2> out;
    TBuf<TPosition::VECCALC> scratch;
    pipe.InitBuffer(in, 2, 256 * sizeof(float));
    pipe.InitBuffer(out, 2, 256 * sizeof(float));
    pipe.InitBuffer(scratch, 2048);
    GlobalTensor<float> gx, gy;
    gx.SetGlobalBuffer((__gm__ float*)x);
    gy.SetGlobalBuffer((__gm__ float*)y);
    for (int64_t t = GetBlockIdx(); t < tiles; t += GetBlockNum()) {
        LocalTensor<float> a = in.AllocTensor<float>();
        DataCopy(a, gx[t * 256], 256);
        in.EnQue(a);
        LocalTensor<float> b = in.DeQue<float>();
        LocalTensor<float> s = scratch.GetWithOffset<float>(256, 1024);
        DataCopy(s, b, 256);
        PipeBarrier<PIPE_V>();
        LocalTensor<float> c = out.AllocTensor<float>();
        Adds(c, s, 1.0f, 256);
        in.FreeTensor(b);
        out.EnQue(c);
        LocalTensor<float> d = out.DeQue<float>();
        DataCopy(gy[t * 256], d, 256);
        out.FreeTensor(d);
    }
}

// Pure copies with one queue bound at both ends, two in flight.
extern "C" __global__ __aicore__ void bound(GM_ADDR x, GM_ADDR y, int64_t tiles) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> through;
    pipe.InitBuffer(through, 2, 1024);
    GlobalTensor<int32_t> gx, gy;
    gx.SetGlobalBuffer((__gm__ int32_t*)x);
    gy.SetGlobalBuffer((__gm__ int32_t*)y);
    for (int64_t t = 0; t <= tiles; ++t) {
        if (t < tiles) {
            LocalTensor<int32_t> a = through.AllocTensor<int32_t>();
            DataCopy(a, gx[t * 256], 256);
            through.EnQue(a);
        }
        if (t > 0) {
            LocalTensor<int32_t> b = through.DeQue<int32_t>();
            DataCopy(gy[(t - 1) * 256], b, 256);
            through.FreeTensor(b);
        }
    }
}

// Every core adds what all cores wrote before the barrier; `rounds` times.
extern "C" __global__ __aicore__ void meet_vector(GM_ADDR work, GM_ADDR out, int64_t rounds) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    GlobalTensor<int32_t> w, o;
    w.SetGlobalBuffer((__gm__ int32_t*)work);
    o.SetGlobalBuffer((__gm__ int32_t*)out);
    const int64_t me = GetBlockIdx(), all = GetBlockNum();
    int32_t sum = 0;
    for (int64_t r = 0; r < rounds; ++r) {
        w.SetValue(r * all + me, int32_t(me + r));
        DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(w[r * all + me]);
        SyncAll();
        for (int64_t i = 0; i < all; ++i) sum += w.GetValue(r * all + i);
    }
    o.SetValue(me, sum);
}

extern "C" __global__ __aicore__ void meet_all(GM_ADDR work, GM_ADDR out) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    GlobalTensor<int32_t> w, o;
    w.SetGlobalBuffer((__gm__ int32_t*)work);
    o.SetGlobalBuffer((__gm__ int32_t*)out);
    const int64_t blocks = GetBlockNum();
    int64_t me = GetBlockIdx();
    if ASCEND_IS_AIV { me += blocks; }
    w.SetValue(me, int32_t(me + 1));
    SyncAll<false>();
    int32_t sum = 0;
    for (int64_t i = 0; i < 3 * blocks; ++i) sum += w.GetValue(i);
    o.SetValue(me, sum);
    SyncAll<false>();
}

// A ring of two slots: the cube core squares numbers, the vector cores add one and send them on.
extern "C" __global__ __aicore__ void ring(GM_ADDR work, GM_ADDR out, int64_t rounds) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    GlobalTensor<int32_t> w, o;
    w.SetGlobalBuffer((__gm__ int32_t*)work);
    o.SetGlobalBuffer((__gm__ int32_t*)out);
    const int64_t block = GetBlockIdx() / GetTaskRation();
    if ASCEND_IS_AIC {
        for (int64_t r = 0; r < rounds; ++r) {
            if (r >= 2) CrossCoreWaitFlag(uint16_t(2 + r % 2));
            w.SetValue(block * 2 + r % 2, int32_t(r * r + block));
            CrossCoreSetFlag<2, PIPE_FIX>(uint16_t(r % 2));
        }
        for (int64_t r = rounds < 2 ? 2 - rounds : 0; r < 2; ++r) CrossCoreWaitFlag(uint16_t(2 + (rounds + r) % 2));
    }
    if ASCEND_IS_AIV {
        for (int64_t r = 0; r < rounds; ++r) {
            CrossCoreWaitFlag(uint16_t(r % 2));
            o.SetValue((block * 2 + GetSubBlockIdx()) * rounds + r, w.GetValue(block * 2 + r % 2) + 1 + int32_t(GetSubBlockIdx()));
            CrossCoreSetFlag<2, PIPE_MTE2>(uint16_t(2 + r % 2));
        }
    }
}

// The two vector cores of a block swap, then all vector cores wait for each other.
extern "C" __global__ __aicore__ void swap(GM_ADDR work, GM_ADDR out) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIV {
        GlobalTensor<int32_t> w, o;
        w.SetGlobalBuffer((__gm__ int32_t*)work);
        o.SetGlobalBuffer((__gm__ int32_t*)out);
        const int64_t me = GetBlockIdx(), all = 2 * GetBlockNum();
        w.SetValue(me, int32_t(me * 3));
        CrossCoreSetFlag<1, PIPE_MTE3>(4);
        CrossCoreWaitFlag(4);
        o.SetValue(me, w.GetValue(me ^ 1));
        CrossCoreSetFlag<0, PIPE_MTE3>(5);
        CrossCoreWaitFlag(5);
        o.SetValue(all + me, w.GetValue((me + 3) % all));
    }
}

// Blocks one after another, three rounds, then a chain from block to block.
extern "C" __global__ __aicore__ void in_turn(GM_ADDR out) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GlobalTensor<int32_t> o, work;
    o.SetGlobalBuffer((__gm__ int32_t*)out);
    LocalTensor<int32_t> ub(TPosition::VECIN, 0, 64);
    const int64_t all = GetBlockNum(), me = GetBlockIdx();
    InitDetermineComputeWorkspace(work, ub);
    for (int r = 0; r < 3; ++r) {
        WaitPreBlock(work, ub);
        const int32_t turn = o.GetValue(0);
        o.SetValue(0, turn + 1);
        o.SetValue(1 + turn, int32_t(me));
        NotifyNextBlock(work, ub);
    }
    SyncAll(work, ub);
    if (me > 0) IBWait(work, ub, int32_t(me - 1), 0);
    const int32_t before = me > 0 ? o.GetValue(3 * all + me) : 0;
    o.SetValue(3 * all + 1 + me, before + int32_t(me));
    if (me + 1 < all) IBSet(work, ub, int32_t(me), 0);
}

// Atomics from every block on the same elements.
template <class T>
__aicore__ inline void addAll(GM_ADDR x, GM_ADDR y, int64_t op) {
    GlobalTensor<T> gx, gy;
    gx.SetGlobalBuffer((__gm__ T*)x);
    gy.SetGlobalBuffer((__gm__ T*)y);
    LocalTensor<T> t(TPosition::VECCALC, 0, 128);
    DataCopy(t, gx[GetBlockIdx() * 128], 128);
    hand<HardEvent::MTE2_MTE3>();
    if (op == 0) SetAtomicAdd<T>();
    if (op == 1) SetAtomicMax<T>();
    if (op == 2) SetAtomicMin<T>();
    DataCopy(gy, t, 128);
    SetAtomicNone();
}
extern "C" __global__ __aicore__ void atomics(GM_ADDR x, GM_ADDR y, int64_t op, int64_t type) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    if (type == 0) addAll<float>(x, y, op);
    if (type == 1) addAll<half>(x, y, op);
    if (type == 2) addAll<bfloat16_t>(x, y, op);
    if (type == 3) addAll<int32_t>(x, y, op);
    if (type == 4) addAll<int16_t>(x, y, op);
    if (type == 5) addAll<int8_t>(x, y, op);
}

// A block sees its own additions at once, and all additions after a barrier.
extern "C" __global__ __aicore__ void atomics_seen(GM_ADDR y, GM_ADDR out) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    GlobalTensor<float> gy, o;
    gy.SetGlobalBuffer((__gm__ float*)y);
    o.SetGlobalBuffer((__gm__ float*)out);
    const int64_t me = GetBlockIdx(), all = GetBlockNum();
    LocalTensor<float> t(TPosition::VECCALC, 0, 8), back(TPosition::VECCALC, 64, 8);
    for (int i = 0; i < 8; ++i) t.SetValue(i, float(i + 1));
    hand<HardEvent::S_MTE3>();
    SetAtomicAdd<float>();
    DataCopy(gy[me * 8], t, 8);
    DataCopy(gy[all * 8], t, 8);
    SetAtomicNone();
    hand<HardEvent::MTE3_MTE2>();
    DataCopy(back, gy[me * 8], 8);
    hand<HardEvent::MTE2_S>();
    float sum = 0;
    for (int i = 0; i < 8; ++i) sum += back.GetValue(i);
    o.SetValue(me * 2, sum);
    SyncAll();
    o.SetValue(me * 2 + 1, gy.GetValue(all * 8 + 7));
}

// Rows in and out with DataCopyPad and DataCopy, all numbers from the caller.
extern "C" __global__ __aicore__ void pads(GM_ADDR x, GM_ADDR y, int64_t rows, int64_t inBytes, int64_t inGap, int64_t ubGap, int64_t left,
                                           int64_t right, int64_t outBytes, int64_t outGap, int64_t isPad) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GlobalTensor<half> gx, gy;
    gx.SetGlobalBuffer((__gm__ half*)x);
    gy.SetGlobalBuffer((__gm__ half*)y);
    LocalTensor<half> t(TPosition::VECIN, 0, 64 * 1024 / 2);
    DataCopyExtParams in(rows, inBytes, inGap, ubGap, 0);
    DataCopyPad(t, gx, in, DataCopyPadExtParams<half>(isPad != 0, left, right, half(9.5f)));
    hand<HardEvent::MTE2_MTE3>();
    DataCopyPad(gy, t, DataCopyExtParams(rows, outBytes, ubGap, outGap, 0));
}

extern "C" __global__ __aicore__ void blocks_of_rows(GM_ADDR x, GM_ADDR y, int64_t count, int64_t length, int64_t inGap, int64_t ubGap,
                                                     int64_t outGap) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GlobalTensor<int16_t> gx, gy;
    gx.SetGlobalBuffer((__gm__ int16_t*)x);
    gy.SetGlobalBuffer((__gm__ int16_t*)y);
    LocalTensor<int16_t> t(TPosition::VECIN, 0, 32 * 1024), u(TPosition::VECIN, 64 * 1024, 32 * 1024);
    DataCopy(t, gx, DataCopyParams(count, length, inGap, ubGap));
    hand<HardEvent::MTE2_V>();
    DataCopy(u, t, DataCopyParams(count, length, ubGap, ubGap));
    hand<HardEvent::V_MTE3>();
    DataCopy(gy, u, DataCopyParams(count, length, ubGap, outGap), DataCopyEnhancedParams());
}

// Slices of 3 x 87, as in the API's documentation; and fractals back to rows.
extern "C" __global__ __aicore__ void slices(GM_ADDR x, GM_ADDR y) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GlobalTensor<float> gx, gy;
    gx.SetGlobalBuffer((__gm__ float*)x);
    gy.SetGlobalBuffer((__gm__ float*)y);
    LocalTensor<float> t(TPosition::VECIN, 0, 96);
    SliceInfo from[] = {{16, 70, 7, 3, 87}, {0, 2, 1, 1, 3}};
    SliceInfo to[] = {{0, 47, 0, 3, 48}, {0, 1, 0, 1, 2}};
    DataCopy(t, gx, to, from, 2);
    hand<HardEvent::MTE2_MTE3>();
    DataCopy(gy, t, to, to, 2);
}
extern "C" __global__ __aicore__ void fractals_to_rows(GM_ADDR x, GM_ADDR y, int64_t rows, int64_t columns) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GlobalTensor<half> gx, gy;
    gx.SetGlobalBuffer((__gm__ half*)x);
    gy.SetGlobalBuffer((__gm__ half*)y);
    LocalTensor<half> t(TPosition::VECIN, 0, rows * columns);
    DataCopy(t, gx, uint32_t(rows * columns));
    hand<HardEvent::MTE2_MTE3>();
    DataCopy(gy, t, Nz2NdParamsFull(1, rows, columns, 1, rows, columns, 1));
}

extern "C" __global__ __aicore__ void scalars(GM_ADDR out) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GlobalTensor<int64_t> o;
    o.SetGlobalBuffer((__gm__ int64_t*)out);
    o.SetValue(0, GetBitCount<1>(0xff00ff));
    o.SetValue(1, GetBitCount<0>(1));
    o.SetValue(2, CountLeadingZero(1));
    o.SetValue(3, GetSFFValue<1>(8));
    o.SetValue(4, GetSFFValue<0>(7));
    o.SetValue(5, int64_t(half(0.1f).bits));
    o.SetValue(6, int64_t(bfloat16_t(3.14159f).bits));
    o.SetValue(7, int64_t(CeilDivision(7, 3)));
    half h = 1.5f;
    h += 1.0f;
    o.SetValue(8, int64_t(float(h) * 2));
    printf("printed %d\n", 1);
    DumpTensor(o, 3, 2);
    ascendc_assert(float(h) == 2.5f);
}

// What must be refused.
extern "C" __global__ __aicore__ void wrong(GM_ADDR x, GM_ADDR y, int64_t which) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GlobalTensor<float> gx, gy;
    gx.SetGlobalBuffer((__gm__ float*)x);
    gy.SetGlobalBuffer((__gm__ float*)y);
    LocalTensor<float> t(TPosition::VECIN, 0, 1024);
    switch (which) {
        case 0: LocalTensor<float>(TPosition::VECIN, 190 * 1024, 1024); break;
        case 1: LocalTensor<float>(TPosition::VECIN, 16, 16); break;
        case 2: DataCopy(t, gx, 7); break;
        case 3: DataCopy(t[4], gx, 8); break;
        case 4: DataCopy(t, gx, 1024 * 50); break;
        case 5: DataCopy(gy[8], t, 64); break;
        case 6: DataCopy(gx, t, 8); break;
        case 7: DataCopyPad(t, gx, DataCopyExtParams(1, 6, 0, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0)); break;
        case 8: DataCopyPad(t, gx, DataCopyExtParams(5000, 4, 0, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0)); break;
        case 9: WaitFlag<HardEvent::MTE2_V>(EVENT_ID3); break;
        case 10: SetFlag<HardEvent::MTE2_V>(EVENT_ID3); break;
        case 11:
            SetFlag<HardEvent::MTE2_V>(EVENT_ID1);
            SetFlag<HardEvent::MTE2_V>(EVENT_ID1);
            break;
        case 12: SetFlag<HardEvent::V_MTE3>(8); break;
        case 13: {
            TPipe pipe;
            TBuf<TPosition::VECCALC> a, b;
            pipe.InitBuffer(a, 150 * 1024);
            pipe.InitBuffer(b, 60 * 1024);
            break;
        }
        case 14: {
            TPipe pipe;
            TQue<TPosition::VECIN, 1> q;
            pipe.InitBuffer(q, 1, 32);
            q.AllocTensor<float>();
            q.AllocTensor<float>();
            break;
        }
        case 15: {
            TPipe pipe;
            TQue<TPosition::VECIN, 1> q;
            pipe.InitBuffer(q, 1, 32);
            q.DeQue<float>();
            break;
        }
        case 16: SyncAll(); break;
        case 17: t.SetValue(1024, 1.0f); break;
        case 18: ascendc_assert(which == 3); break;
        case 19: {
            TPipe pipe;
            TBuf<TPosition::VECCALC> a;
            pipe.InitBuffer(a, 64);
            a.GetWithOffset<float>(16, 32);
            break;
        }
        default: break;
    }
}

extern "C" __global__ __aicore__ void never(GM_ADDR out, int64_t which) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    (void)out;
    if ASCEND_IS_AIC {
        if (which == 0) CrossCoreWaitFlag(3);
        if (which == 1) SyncAll<false>();
        if (which == 4) CrossCoreSetFlag<2, PIPE_FIX>(12);
        if (which == 5)
            for (int i = 0; i < 20; ++i) CrossCoreSetFlag<2, PIPE_FIX>(1);
    }
    if ASCEND_IS_AIV {
        if (which == 2 && GetBlockIdx() != 1) SyncAll();
        if (which == 3) CrossCoreSetFlag<2, PIPE_MTE3>(7);
        if (which == 6 && GetBlockIdx() == 2) ascendc_assert(false);
        if (which == 6) CrossCoreWaitFlag(3);
    }
}
