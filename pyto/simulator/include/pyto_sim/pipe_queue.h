// TPipe, TQueBind, TQue, TBuf, TBufPool: memory by bump allocation, buffers handed round with the events that the queue
// stands for, so that code mixing queues and hand-written flags sees the same event ids in use.
#pragma once
#include "pyto_sim/queue_functions.h"
#include "pyto_sim/sync.h"

namespace pyto_sim {

constexpr AscendC::HardEvent queueEvent(AscendC::TPosition src, AscendC::TPosition dst, bool forward) {
    using AscendC::HardEvent;
    using AscendC::Hardware;
    const Hardware s = AscendC::GetPhyType(src), d = AscendC::GetPhyType(dst);
    if (s == Hardware::GM) {
        if (d == Hardware::UB) return forward ? HardEvent::MTE2_V : HardEvent::V_MTE2;
        if (d == Hardware::L1) return forward ? HardEvent::MTE2_MTE1 : HardEvent::MTE1_MTE2;
        if (d == Hardware::L0A || d == Hardware::L0B) return forward ? HardEvent::MTE2_M : HardEvent::M_MTE2;
    } else if (s == Hardware::UB) {
        if (d == Hardware::GM) return forward ? HardEvent::V_MTE3 : HardEvent::MTE3_V;
        if (d == Hardware::L1) return forward ? HardEvent::MTE3_MTE1 : HardEvent::MTE1_MTE3;
        if (d == Hardware::UB) return forward ? HardEvent::MTE2_MTE3 : HardEvent::MTE3_MTE2;
    } else if (s == Hardware::L1) {
        if (d == Hardware::FIXBUF) return forward ? HardEvent::MTE1_FIX : HardEvent::FIX_MTE1;
        return forward ? HardEvent::MTE1_M : HardEvent::M_MTE1;
    } else if (s == Hardware::L0C) {
        return forward ? HardEvent::M_FIX : HardEvent::FIX_M;
    }
    return HardEvent::MAX;
}

constexpr AscendC::TPosition queueSide(AscendC::TPosition pos, bool source) {
    using AscendC::TPosition;
    switch (pos) {
        case TPosition::A1:
        case TPosition::B1:
        case TPosition::C1:
        case TPosition::VECIN:
            return source ? TPosition::GM : pos;
        case TPosition::A2:
            return source ? TPosition::A1 : pos;
        case TPosition::B2:
            return source ? TPosition::B1 : pos;
        case TPosition::C2:
            return source ? TPosition::C1 : pos;
        case TPosition::C2PIPE2GM:
            return source ? TPosition::B1 : pos;
        case TPosition::CO1:
            return source ? pos : TPosition::CO2;
        case TPosition::VECOUT:
        case TPosition::CO2:
            return source ? pos : TPosition::GM;
        default:
            return pos;
    }
}

// Where the buffers of a queue lie: on the source side when the data leaves for GM.
constexpr AscendC::TPosition queueHome(AscendC::TPosition src, AscendC::TPosition dst) {
    return AscendC::GetPhyType(dst) == AscendC::Hardware::GM ? src : dst;
}

// Waits for the events that freed buffers left set, so that every set is matched.
inline void drainBuffers(BufferSpace& space, Loc loc) {
    for (int i = 0; i < space.count; ++i) {
        QueueBuffer& b = space.buffers[i];
        if (b.freeEvent < 0) continue;
        issueWaitFlag(b.freeKind, b.freeEvent, loc);
        releaseEvent(b.freeKind, b.freeEvent);
        b.freeEvent = -1;
    }
}

}  // namespace pyto_sim

PYTO_ASCENDC_BEGIN

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
public:
    static constexpr TPosition srcPosition = src;
    static constexpr TPosition dstPosition = dst;
    static constexpr TPosition home = pyto_sim::queueHome(src, dst);
    static constexpr HardEvent enQueEvt = pyto_sim::queueEvent(src, dst, true);
    static constexpr HardEvent freeBufEvt = pyto_sim::queueEvent(src, dst, false);

    __aicore__ inline TQueBind() {}

    template <typename T>
    __aicore__ inline LocalTensor<T> AllocTensor(Loc loc = Loc::here()) {
        if (skip()) return LocalTensor<T>();
        for (int i = 0; i < num_; ++i) {
            pyto_sim::QueueBuffer& b = bufs_[(cursor_ + i) % num_];
            if (b.state != TBufState::FREE) continue;
            cursor_ = (cursor_ + i + 1) % num_;
            b.state = TBufState::OCCUPIED;
            if (b.freeEvent >= 0) {
                pyto_sim::issueWaitFlag(freeBufEvt, b.freeEvent, loc);
                pyto_sim::releaseEvent(freeBufEvt, b.freeEvent);
                b.freeEvent = -1;
            }
            return tensorOf<T>(b);
        }
        pyto_sim::fail(
            loc,
            "AllocTensor: all %d buffers of the queue are in use; the core would wait for ever. FreeTensor comes first",
            num_);
    }
    template <typename T>
    __aicore__ inline void AllocTensor(LocalTensor<T>& tensor, Loc loc = Loc::here()) {
        tensor = AllocTensor<T>(loc);
    }

    template <typename T>
    __aicore__ inline void FreeTensor(LocalTensor<T>& tensor, Loc loc = Loc::here()) {
        if (skip()) return;
        pyto_sim::QueueBuffer& b = find(tensor.ptr(), "FreeTensor", loc);
        if (b.state == TBufState::FREE) pyto_sim::fail(loc, "FreeTensor: the tensor is free already");
        if (freeBufEvt != HardEvent::MAX && b.state != TBufState::OCCUPIED) {
            b.freeEvent = pyto_sim::allocateEvent(freeBufEvt, loc);
            pyto_sim::issueSetFlag(freeBufEvt, b.freeEvent, loc);
        }
        b.state = TBufState::FREE;
    }

    template <typename T>
    __aicore__ inline bool EnQue(const LocalTensor<T>& tensor, Loc loc = Loc::here()) {
        if (skip()) return true;
        pyto_sim::QueueBuffer& b = find(tensor.ptr(), "EnQue", loc);
        if (b.state == TBufState::FREE)
            pyto_sim::fail(loc, "EnQue: the tensor was not allocated from the queue, or is freed");
        if (b.state == TBufState::ENQUE) pyto_sim::fail(loc, "EnQue: the tensor is in the queue already");
        if (enQueEvt != HardEvent::MAX) {
            b.enqueEvent = pyto_sim::allocateEvent(enQueEvt, loc);
            pyto_sim::issueSetFlag(enQueEvt, b.enqueEvent, loc);
        }
        b.state = TBufState::ENQUE;
        fifo_[(head_ + used_) % kFifo] = uint8_t(&b - bufs_);
        ++used_;
        return true;
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T>
    __aicore__ inline bool EnQue(const LocalTensor<T>& tensor, Loc loc = Loc::here()) {
        if (skip()) return true;
        constexpr HardEvent event = pyto_sim::queueEvent(srcUserPos, dstUserPos, true);
        pyto_sim::QueueBuffer& b = find(tensor.ptr(), "EnQue", loc);
        b.enqueEvent = pyto_sim::allocateEvent(event, loc);
        pyto_sim::issueSetFlag(event, b.enqueEvent, loc);
        b.state = TBufState::ENQUE;
        fifo_[(head_ + used_) % kFifo] = uint8_t(&b - bufs_);
        ++used_;
        return true;
    }

    template <typename T>
    __aicore__ inline LocalTensor<T> DeQue(Loc loc = Loc::here()) {
        if (skip()) return LocalTensor<T>();
        return tensorOf<T>(pop(enQueEvt, loc));
    }
    template <typename T>
    __aicore__ inline void DeQue(LocalTensor<T>& tensor, Loc loc = Loc::here()) {
        tensor = DeQue<T>(loc);
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T>
    __aicore__ inline LocalTensor<T> DeQue(Loc loc = Loc::here()) {
        if (skip()) return LocalTensor<T>();
        return tensorOf<T>(pop(pyto_sim::queueEvent(srcUserPos, dstUserPos, true), loc));
    }

    __aicore__ inline bool VacantInQue() { return used_ < (depth > 0 ? depth : 1); }
    __aicore__ inline bool HasTensorInQue() { return used_ > 0; }
    __aicore__ inline int32_t GetTensorCountInQue() { return used_; }
    __aicore__ inline bool HasIdleBuffer() {
        for (int i = 0; i < num_; ++i)
            if (bufs_[i].state == TBufState::FREE) return true;
        return false;
    }
    __aicore__ inline void FreeAllEvent(Loc loc = Loc::here()) { drain(loc); }
    template <typename T>
    __aicore__ inline TBufState GetState(const LocalTensor<T>& tensor, Loc loc = Loc::here()) const {
        return const_cast<TQueBind*>(this)->find(tensor.ptr(), "GetState", loc).state;
    }

protected:
    static constexpr int kFifo = 64;
    friend class TPipe;
    template <TPosition, uint32_t>
    friend class TBufPool;

    static constexpr bool skip() {
        const pyto_sim::MemId mem = pyto_sim::memOf(home);
        return g_coreType == AIC ? mem == pyto_sim::MemId::Ub : mem != pyto_sim::MemId::Ub;
    }
    void attach(pyto_sim::QueueBuffer* buffers, int num) {
        bufs_ = buffers;
        num_ = num;
        for (int i = 0; i < num; ++i) buffers[i].freeKind = freeBufEvt;
        cursor_ = head_ = used_ = 0;
    }
    template <typename T>
    LocalTensor<T> tensorOf(const pyto_sim::QueueBuffer& b) const {
        LocalTensor<T> t;
        t.set(pyto_sim::core().mem[int(pyto_sim::memOf(home))] + b.address, b.bytes, home);
        return t;
    }
    pyto_sim::QueueBuffer& find(const void* p, const char* call, Loc loc) {
        const uint8_t* base = pyto_sim::core().mem[int(pyto_sim::memOf(home))];
        const uint64_t at = uint64_t(static_cast<const uint8_t*>(p) - base);
        for (int i = 0; i < num_; ++i)
            if (at >= bufs_[i].address && at < uint64_t(bufs_[i].address) + bufs_[i].bytes) return bufs_[i];
        pyto_sim::fail(loc, "%s: the tensor does not belong to this queue", call);
    }
    pyto_sim::QueueBuffer& pop(HardEvent event, Loc loc) {
        if (used_ == 0) pyto_sim::fail(loc, "DeQue: the queue is empty; the core would wait for ever");
        pyto_sim::QueueBuffer& b = bufs_[fifo_[head_]];
        head_ = (head_ + 1) % kFifo;
        --used_;
        if (b.enqueEvent >= 0) {
            pyto_sim::issueWaitFlag(event, b.enqueEvent, loc);
            pyto_sim::releaseEvent(event, b.enqueEvent);
            b.enqueEvent = -1;
        }
        b.state = TBufState::DEQUE;
        return b;
    }
    void drain(Loc loc) {
        for (int i = 0; i < num_; ++i)
            if (bufs_[i].freeEvent >= 0) {
                pyto_sim::issueWaitFlag(bufs_[i].freeKind, bufs_[i].freeEvent, loc);
                pyto_sim::releaseEvent(bufs_[i].freeKind, bufs_[i].freeEvent);
                bufs_[i].freeEvent = -1;
            }
    }

    pyto_sim::QueueBuffer* bufs_ = nullptr;
    int num_ = 0, cursor_ = 0, head_ = 0, used_ = 0;
    uint8_t fifo_[kFifo];
};

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<pyto_sim::queueSide(pos, true), pyto_sim::queueSide(pos, false), depth, mask> {
public:
    __aicore__ inline TQue() = default;
};

template <TPosition pos = TPosition::LCM>
class TBuf {
public:
    __aicore__ inline TBuf() = default;
    template <typename T>
    __aicore__ inline LocalTensor<T> Get() {
        return piece<T>(0, bytes_);
    }
    template <typename T>
    __aicore__ inline LocalTensor<T> Get(uint32_t len, Loc loc = Loc::here()) {
        check(0, uint64_t(len) * sizeof(T), loc);
        return piece<T>(0, len * uint32_t(sizeof(T)));
    }
    template <typename T>
    __aicore__ inline LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset, Loc loc = Loc::here()) {
        check(bufOffset, uint64_t(size) * sizeof(T), loc);
        return piece<T>(bufOffset, size * uint32_t(sizeof(T)));
    }
    template <typename T>
    __aicore__ inline void EnQue(const LocalTensor<T>&) {}
    template <typename T>
    __aicore__ inline LocalTensor<T> DeQue() {
        return Get<T>();
    }
    template <typename T>
    __aicore__ inline LocalTensor<T> AllocTensor() {
        return Get<T>();
    }
    template <typename T>
    __aicore__ inline void FreeTensor(LocalTensor<T>&) {}

private:
    friend class TPipe;
    template <TPosition, uint32_t>
    friend class TBufPool;
    void attach(uint32_t address, uint32_t bytes) {
        address_ = address;
        bytes_ = bytes;
    }
    void check(uint64_t offset, uint64_t bytes, Loc loc) const {
        if (unlikely(offset + bytes > bytes_))
            pyto_sim::fail(loc, "TBuf: bytes %llu..%llu of a buffer of %u bytes", (unsigned long long)offset,
                           (unsigned long long)(offset + bytes), bytes_);
    }
    template <typename T>
    LocalTensor<T> piece(uint32_t offset, uint32_t bytes) const {
        LocalTensor<T> t;
        uint8_t* base = pyto_sim::core().mem[int(pyto_sim::memOf(pos))];
        t.set(base == nullptr ? nullptr : base + address_ + offset, bytes, pos);
        return t;
    }
    uint32_t address_ = 0, bytes_ = 0;
};

template <TPosition pos, uint32_t bufIDSize = 4>
class TBufPool {
public:
    static constexpr TPosition poolPos = pos;
    __aicore__ inline TBufPool() {}
    __aicore__ inline ~TBufPool() { Reset(); }
    template <class Q>
    __aicore__ inline bool InitBuffer(Q& que, uint8_t num, uint32_t len, Loc loc = Loc::here()) {
        que.attach(space_.take(loc, pyto_sim::memOf(pos), cursor_, end_, num, len), num);
        return true;
    }
    template <TPosition bufPos>
    __aicore__ inline bool InitBuffer(TBuf<bufPos>& buf, uint32_t len, Loc loc = Loc::here()) {
        const pyto_sim::QueueBuffer* b = space_.take(loc, pyto_sim::memOf(pos), cursor_, end_, 1, len);
        buf.attach(b->address, b->bytes);
        return true;
    }
    template <class Pool>
    __aicore__ inline bool InitBufPool(Pool& pool, uint32_t len, Loc loc = Loc::here()) {
        const pyto_sim::QueueBuffer* b = space_.take(loc, pyto_sim::memOf(pos), cursor_, end_, 1, len);
        pool.assign(b->address, b->bytes);
        return true;
    }
    template <class Pool, class Shared>
    __aicore__ inline bool InitBufPool(Pool& pool, uint32_t len, Shared& shareBuf) {
        pool.assign(shareBuf.begin_, len);
        return true;
    }
    __aicore__ inline void Reset(Loc loc = Loc::here()) {
        pyto_sim::drainBuffers(space_, loc);
        space_.count = 0;
        cursor_ = begin_;
    }

private:
    friend class TPipe;
    template <TPosition, uint32_t>
    friend class TBufPool;
    void assign(uint32_t begin, uint32_t bytes) {
        begin_ = cursor_ = begin;
        end_ = begin + bytes;
        space_.count = 0;
    }
    pyto_sim::BufferSpace space_;
    uint32_t begin_ = 0, cursor_ = 0, end_ = 0;
};

class TPipe {
public:
    __aicore__ inline TPipe() { Init(); }
    __aicore__ inline ~TPipe() { Destroy(); }
    TPipe(const TPipe&) = delete;
    TPipe& operator=(const TPipe&) = delete;

    __aicore__ inline void Init() {
        clear();
        pyto_sim::core().pipe = this;
    }
    template <class Q>
    __aicore__ inline bool InitBuffer(Q& que, uint8_t num, uint32_t len, Loc loc = Loc::here()) {
        if (Q::skip()) return true;
        constexpr pyto_sim::MemId mem = pyto_sim::memOf(Q::home);
        pyto_sim::QueueBuffer* b = space_.take(loc, mem, cursor_[int(mem)], pyto_sim::kMemBytes[int(mem)], num, len);
        que.attach(b, num);
        return true;
    }
    template <TPosition pos>
    __aicore__ inline bool InitBuffer(TBuf<pos>& buf, uint32_t len, Loc loc = Loc::here()) {
        constexpr pyto_sim::MemId mem = pyto_sim::memOf(pos);
        pyto_sim::QueueBuffer* b = space_.take(loc, mem, cursor_[int(mem)], pyto_sim::kMemBytes[int(mem)], 1, len);
        buf.attach(b->address, b->bytes);
        return true;
    }
    template <class Pool>
    __aicore__ inline bool InitBufPool(Pool& pool, uint32_t len, Loc loc = Loc::here()) {
        constexpr pyto_sim::MemId mem = pyto_sim::memOf(Pool::poolPos);
        const pyto_sim::QueueBuffer* b =
            space_.take(loc, mem, cursor_[int(mem)], pyto_sim::kMemBytes[int(mem)], 1, len);
        pool.assign(b->address, b->bytes);
        return true;
    }
    template <class Pool, class Shared>
    __aicore__ inline bool InitBufPool(Pool& pool, uint32_t len, Shared& shareBuf) {
        pool.assign(shareBuf.begin_, len);
        return true;
    }
    template <HardEvent evt>
    __aicore__ inline TEventID AllocEventID(Loc loc = Loc::here()) {
        return pyto_sim::allocateEvent(evt, loc);
    }
    template <HardEvent evt>
    __aicore__ inline void ReleaseEventID(TEventID id) {
        pyto_sim::releaseEvent(evt, id);
    }
    template <HardEvent evt>
    __aicore__ inline TEventID FetchEventID(Loc loc = Loc::here()) {
        return pyto_sim::firstFreeEvent(evt, loc);
    }
    __aicore__ inline TEventID FetchEventID(HardEvent evt, Loc loc = Loc::here()) {
        return pyto_sim::firstFreeEvent(evt, loc);
    }
    template <TPosition pos, typename T>
    __aicore__ inline LocalTensor<T> GetAbsAddr(int32_t offset, int32_t size) const {
        return LocalTensor<T>(pos, uint32_t(offset), uint32_t(size));
    }
    __aicore__ inline void DestroyWithoutPipeAll(Loc loc = Loc::here()) { finish(loc); }
    __aicore__ inline void Destroy(Loc loc = Loc::here()) {
        finish(loc);
        PipeBarrier<PIPE_ALL>(loc);
    }
    __aicore__ inline void Reset(Loc loc = Loc::here()) {
        finish(loc);
        pyto_sim::core().pipe = this;
    }

private:
    void clear() {
        space_.count = 0;
        for (uint32_t& c : cursor_) c = 0;
    }
    void finish(Loc loc) {
        pyto_sim::drainBuffers(space_, loc);
        clear();
        if (pyto_sim::core().pipe == this) pyto_sim::core().pipe = nullptr;
    }
    pyto_sim::BufferSpace space_;
    uint32_t cursor_[pyto_sim::kMemCount];
};

template <TPosition pos, int32_t depth = 1, auto mask = 0>
using TSCM = TQueBind<pos, TPosition::TSCM, depth, mask>;

template <Hardware hard = Hardware::UB>
class LocalMemAllocator {
public:
    __aicore__ inline LocalMemAllocator() {}
    __aicore__ inline uint32_t GetCurAddr() const { return head_; }
    template <TPosition pos, class DataType>
    __aicore__ inline LocalTensor<DataType> Alloc(uint32_t tileSize, Loc loc = Loc::here()) {
        static_assert(GetPhyType(pos) == hard, "LocalMemAllocator: the position lies in another memory");
        LocalTensor<DataType> t(pos, head_, tileSize, loc);
        head_ += (tileSize * uint32_t(sizeof(DataType)) + 31) / 32 * 32;
        return t;
    }
    template <TPosition pos, class DataType, uint32_t tileSize>
    __aicore__ inline LocalTensor<DataType> Alloc(Loc loc = Loc::here()) {
        return Alloc<pos, DataType>(tileSize, loc);
    }
    template <class DataType>
    __aicore__ inline LocalTensor<DataType> Alloc(uint32_t tileSize, Loc loc = Loc::here()) {
        return Alloc<position(), DataType>(tileSize, loc);
    }
    template <class DataType, uint32_t tileSize>
    __aicore__ inline LocalTensor<DataType> Alloc(Loc loc = Loc::here()) {
        return Alloc<position(), DataType>(tileSize, loc);
    }

private:
    static constexpr TPosition position() {
        switch (hard) {
            case Hardware::UB:
                return TPosition::VECCALC;
            case Hardware::L1:
                return TPosition::A1;
            case Hardware::L0A:
                return TPosition::A2;
            case Hardware::L0B:
                return TPosition::B2;
            case Hardware::L0C:
                return TPosition::CO1;
            case Hardware::BIAS:
                return TPosition::C2;
            default:
                return TPosition::C2PIPE2GM;
        }
    }
    uint32_t head_ = 0;
};

PYTO_ASCENDC_END

__aicore__ inline AscendC::TPipe* GetTPipePtr() { return static_cast<AscendC::TPipe*>(pyto_sim::core().pipe); }
