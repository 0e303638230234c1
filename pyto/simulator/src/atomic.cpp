#include "atomic.h"

#include <atomic>
#include <cstring>

#include "core_pool.h"
#include "launch.h"

namespace pyto_sim {

namespace {

template <class T>
void addFloats(uint8_t* dst, const uint8_t* src, uint64_t bytes) {
    T* d = reinterpret_cast<T*>(dst);
    const T* s = reinterpret_cast<const T*>(src);
    for (uint64_t i = 0; i < bytes / sizeof(T); ++i) d[i] = T(float(d[i]) + float(s[i]));
}

void addRow(DataType type, uint8_t* dst, const uint8_t* src, uint64_t bytes) {
    switch (type) {
        case DataType::F32:
            return addFloats<float>(dst, src, bytes);
        case DataType::F16:
            return addFloats<half>(dst, src, bytes);
        default:
            return addFloats<bfloat16_t>(dst, src, bytes);
    }
}

bool isFloat(DataType t) { return t == DataType::F32 || t == DataType::F16 || t == DataType::BF16; }

// Elements that two threads may touch at the same time: one lock for an aligned run of memory.
std::atomic_flag stripes[64];
struct StripeLock {
    explicit StripeLock(const void* p) : flag(stripes[(reinterpret_cast<uintptr_t>(p) >> 12) % 64]) {
        while (flag.test_and_set(std::memory_order_acquire)) {
        }
    }
    ~StripeLock() { flag.clear(std::memory_order_release); }
    std::atomic_flag& flag;
};

template <class T>
void combine(AtomicOp op, uint8_t* dst, const uint8_t* src, uint64_t count) {
    T* d = reinterpret_cast<T*>(dst);
    const T* s = reinterpret_cast<const T*>(src);
    for (uint64_t i = 0; i < count; ++i) {
        if (op == AtomicOp::Add)
            d[i] = T(d[i] + s[i]);
        else if (op == AtomicOp::Max)
            d[i] = float(s[i]) > float(d[i]) ? s[i] : d[i];
        else
            d[i] = float(s[i]) < float(d[i]) ? s[i] : d[i];
    }
}

template <>
void combine<int32_t>(AtomicOp op, uint8_t* dst, const uint8_t* src, uint64_t count) {
    int32_t* d = reinterpret_cast<int32_t*>(dst);
    const int32_t* s = reinterpret_cast<const int32_t*>(src);
    for (uint64_t i = 0; i < count; ++i) {
        if (op == AtomicOp::Add)
            d[i] = int32_t(uint32_t(d[i]) + uint32_t(s[i]));
        else
            d[i] = (op == AtomicOp::Max) == (s[i] > d[i]) ? s[i] : d[i];
    }
}

// A row may cross several lock stripes: one piece a stripe.
void combineRow(AtomicOp op, DataType type, uint8_t* dst, const uint8_t* src, uint64_t bytes) {
    while (bytes > 0) {
        const uint64_t room = 4096 - (reinterpret_cast<uintptr_t>(dst) & 4095);
        const uint64_t n = bytes < room ? bytes : room;
        StripeLock hold(dst);
        switch (type) {
            case DataType::F32:
                combine<float>(op, dst, src, n / 4);
                break;
            case DataType::F16:
                combine<half>(op, dst, src, n / 2);
                break;
            case DataType::BF16:
                combine<bfloat16_t>(op, dst, src, n / 2);
                break;
            case DataType::S32:
                combine<int32_t>(op, dst, src, n / 4);
                break;
            case DataType::S16:
                combine<int16_t>(op, dst, src, n / 2);
                break;
            default:
                combine<int8_t>(op, dst, src, n);
                break;
        }
        dst += n;
        src += n;
        bytes -= n;
    }
}

Group& groupOf(Core& core) {
    return *reinterpret_cast<Fiber*>(reinterpret_cast<uint8_t*>(&core) - offsetof(Fiber, core))->group;
}

}  // namespace

void applyAtomicLog(AtomicLog& log) {
    for (const AtomicEntry& e : log.entries)
        for (uint32_t r = 0; r < e.rows; ++r)
            addRow(e.type, e.dst + int64_t(r) * e.dstPitch, log.data.data() + e.offset + size_t(r) * e.rowBytes,
                   e.rowBytes);
    log.clear();
}

void storeRows(Core& core, AtomicMode atomic, void* dst, int64_t dstPitch, const void* src, int64_t srcPitch,
               uint64_t rowBytes, uint32_t rows) {
    uint8_t* d = static_cast<uint8_t*>(dst);
    const uint8_t* s = static_cast<const uint8_t*>(src);
    if (atomic.op == AtomicOp::None) {
        for (uint32_t r = 0; r < rows; ++r) std::memcpy(d + int64_t(r) * dstPitch, s + int64_t(r) * srcPitch, rowBytes);
        return;
    }
    if (atomic.op == AtomicOp::Add && isFloat(atomic.type)) {
        AtomicLog& log = *core.atomicLog;
        const size_t offset = log.data.size();
        log.data.resize(offset + size_t(rows) * rowBytes);
        for (uint32_t r = 0; r < rows; ++r)
            std::memcpy(log.data.data() + offset + size_t(r) * rowBytes, s + int64_t(r) * srcPitch, rowBytes);
        log.entries.push_back({d, uint32_t(rowBytes), rows, dstPitch, atomic.type, offset});
        groupOf(core).pendingAtomics = 1;
        return;
    }
    for (uint32_t r = 0; r < rows; ++r)
        combineRow(atomic.op, atomic.type, d + int64_t(r) * dstPitch, s + int64_t(r) * srcPitch, rowBytes);
}

void settleAtomics(const void* p, uint64_t bytes) {
    Core& self = core();
    Group& group = groupOf(self);
    const uint8_t* begin = static_cast<const uint8_t*>(p);
    const uint8_t* end = begin + bytes;
    bool touches = false;
    for (Fiber* f : group.fibers)
        for (const AtomicEntry& e : f->core.atomicLog->entries) {
            const uint8_t* low = e.dst;
            const uint8_t* high = e.dst + int64_t(e.rows - 1) * e.dstPitch + e.rowBytes;
            touches |= low < end && begin < high;
        }
    if (!touches) return;
    std::lock_guard<std::mutex> hold(self.launch->mutex);
    for (Fiber* f : group.fibers) applyAtomicLog(*f->core.atomicLog);
    group.pendingAtomics = 0;
}

void depositAtomics(LaunchState& launch, Core& core) {
    AtomicLog& log = *core.atomicLog;
    if (log.entries.empty()) return;
    std::unique_ptr<AtomicLog>& slot = launch.logs[size_t(launch.logIndex(core))];
    if (slot == nullptr) slot.reset(new AtomicLog());
    const size_t base = slot->data.size();
    slot->data.insert(slot->data.end(), log.data.begin(), log.data.end());
    for (AtomicEntry e : log.entries) {
        e.offset += base;
        slot->entries.push_back(e);
    }
    log.clear();
}

void applyDeposited(LaunchState& launch) {
    for (std::unique_ptr<AtomicLog>& log : launch.logs)
        if (log != nullptr) {
            applyAtomicLog(*log);
            log.reset();
        }
}

}  // namespace pyto_sim
