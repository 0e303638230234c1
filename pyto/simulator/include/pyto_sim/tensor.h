// GlobalTensor, LocalTensor and what belongs to them.
#pragma once
#include <type_traits>

#include "pyto_sim/issue.h"

PYTO_ASCENDC_BEGIN

using pyto_sim::Loc;

template <class T>
using PrimT = T;

namespace Std {
using std::conditional;
using std::enable_if;
using std::is_same;
template <class A, class B>
constexpr bool is_same_v = std::is_same<A, B>::value;
template <bool C, class T = void>
using enable_if_t = typename std::enable_if<C, T>::type;
}  // namespace Std

template <class T, class U>
struct IsSameType {
    static constexpr bool value = std::is_same<T, U>::value;
};
template <class T, class... U>
constexpr bool SupportType() {
    return (std::is_same<T, U>::value || ...);
}

struct ShapeInfo {
    __aicore__ inline ShapeInfo() {}
    __aicore__ inline ShapeInfo(const uint8_t dims, const uint32_t sizes[], const uint8_t originalDims,
                                const uint32_t originalSizes[], const DataFormat format)
        : shapeDim(dims), originalShapeDim(originalDims), dataFormat(format) {
        for (int i = 0; i < dims && i < K_MAX_SHAPE_DIM; ++i) shape[i] = sizes[i];
        for (int i = 0; i < originalDims && i < K_MAX_SHAPE_DIM; ++i) originalShape[i] = originalSizes[i];
    }
    __aicore__ inline ShapeInfo(const uint8_t dims, const uint32_t sizes[], const DataFormat format = DataFormat::ND)
        : ShapeInfo(dims, sizes, dims, sizes, format) {}
    uint8_t shapeDim = 0;
    uint8_t originalShapeDim = 0;
    uint32_t shape[K_MAX_SHAPE_DIM] = {0};
    uint32_t originalShape[K_MAX_SHAPE_DIM] = {0};
    DataFormat dataFormat = DataFormat::ND;
};

#define ASCENDC_SHAPE(dimValue, ...) \
    dimValue, (const uint32_t[]) { __VA_ARGS__ }

// A piece of an on-chip memory. ptr() is the host address; byte offsets within the memory are ptr() - core().mem[..].
template <class T>
class LocalTensor {
public:
    using PrimType = T;
    __aicore__ inline LocalTensor() {}
    __aicore__ inline LocalTensor(TPosition pos, uint32_t addr, uint32_t count, Loc loc = Loc::here())
        : bytes_(count * uint32_t(sizeof(T))), pos_(pos), mem_(pyto_sim::memOf(pos)) {
        const pyto_sim::MemId mem = mem_;
        uint8_t* base = pyto_sim::core().mem[int(mem)];
        if (unlikely(uint64_t(addr) + uint64_t(count) * sizeof(T) > pyto_sim::kMemBytes[int(mem)]))
            pyto_sim::fail(loc, "LocalTensor: bytes %u..%llu do not fit into %s of %u bytes", addr,
                           (unsigned long long)(addr + uint64_t(count) * sizeof(T)), pyto_sim::memName(mem),
                           pyto_sim::kMemBytes[int(mem)]);
        if (unlikely(addr % 32 != 0))
            pyto_sim::fail(loc, "LocalTensor: address %u in %s is not a multiple of 32 bytes", addr,
                           pyto_sim::memName(mem));
        ptr_ = base == nullptr ? nullptr : base + addr;
    }
    __aicore__ inline uint64_t GetPhyAddr() const { return uint64_t(uintptr_t(ptr_)); }
    __aicore__ inline uint64_t GetPhyAddr(const uint32_t offset) const { return uint64_t(uintptr_t(ptr() + offset)); }
    __aicore__ inline T GetValue(const uint32_t index, Loc loc = Loc::here()) const {
        checkScalar(index, loc);
        T value{};
        T* out = &value;
        const T* p = ptr() + index;
        pyto_sim::issue(
            "GetValue", PIPE_S, loc, [&](pyto_sim::Record& r) { r.read(p, sizeof(T)); }, [=] { *out = *p; });
        return value;
    }
    template <class S>
    __aicore__ inline void SetValue(const uint32_t index, const S value, Loc loc = Loc::here()) const {
        checkScalar(index, loc);
        T* p = ptr() + index;
        const T v = static_cast<T>(value);
        pyto_sim::issue("SetValue", PIPE_S, loc, [&](pyto_sim::Record& r) { r.write(p, sizeof(T)); }, [=] { *p = v; });
    }
    __aicore__ inline T& operator()(const uint32_t offset) const { return ptr()[offset]; }
    template <class U>
    __aicore__ inline LocalTensor<U> ReinterpretCast() const {
        LocalTensor<U> r;
        r.set(ptr_, bytes_, pos_);
        return r;
    }
    __aicore__ inline LocalTensor operator[](const uint32_t offset) const {
        LocalTensor r(*this);
        const uint64_t skip = uint64_t(offset) * sizeof(T);
        r.ptr_ += skip;
        r.bytes_ = skip <= bytes_ ? bytes_ - uint32_t(skip) : 0;
        return r;
    }
    __aicore__ inline int32_t GetPosition() const { return int32_t(pos_); }
    __aicore__ inline void SetSize(const uint32_t size) { bytes_ = size * uint32_t(sizeof(T)); }
    __aicore__ inline uint32_t GetSize() const { return bytes_ / uint32_t(sizeof(T)); }
    __aicore__ inline uint32_t GetLength() const { return bytes_; }
    __aicore__ inline void SetShapeInfo(const ShapeInfo&) {}
    __aicore__ inline ShapeInfo GetShapeInfo() const { return ShapeInfo(); }

    T* ptr() const { return reinterpret_cast<T*>(ptr_); }
    uint32_t byteSize() const { return bytes_; }
    TPosition position() const { return pos_; }
    pyto_sim::MemId mem() const { return mem_; }
    void set(uint8_t* p, uint32_t bytes, TPosition pos) {
        ptr_ = p;
        bytes_ = bytes;
        pos_ = pos;
        mem_ = pyto_sim::memOf(pos);
    }

private:
    __aicore__ inline void checkScalar(uint32_t index, Loc loc) const {
        if (unlikely((uint64_t(index) + 1) * sizeof(T) > bytes_))
            pyto_sim::fail(loc, "scalar access to element %u of a LocalTensor of %u elements", index, GetSize());
    }
    uint8_t* ptr_ = nullptr;
    uint32_t bytes_ = 0;
    TPosition pos_ = TPosition::MAX;
    pyto_sim::MemId mem_ = pyto_sim::MemId::Gm;
};

template <class T>
class GlobalTensor {
public:
    using PrimType = T;
    __aicore__ inline GlobalTensor() {}
    __aicore__ inline void SetGlobalBuffer(__gm__ T* buffer, uint64_t bufferSize) {
        address_ = buffer;
        bufferSize_ = bufferSize;
    }
    __aicore__ inline void SetGlobalBuffer(__gm__ T* buffer) {
        address_ = buffer;
        bufferSize_ = 0;
    }
    __aicore__ inline const __gm__ T* GetPhyAddr() const { return address_; }
    __aicore__ inline __gm__ T* GetPhyAddr(const uint64_t offset) const { return address_ + offset; }
    __aicore__ inline T GetValue(const uint64_t offset, Loc loc = Loc::here()) const {
        T value{};
        T* out = &value;
        const T* p = address_ + offset;
        pyto_sim::issue(
            "GetValue", PIPE_S, loc, [&](pyto_sim::Record& r) { r.read(p, sizeof(T)); },
            [=] {
                pyto_sim::beforeGmAccess(p, sizeof(T));
                *out = *p;
            });
        return value;
    }
    __aicore__ inline void SetValue(const uint64_t offset, T value, Loc loc = Loc::here()) {
        T* p = address_ + offset;
        pyto_sim::issue(
            "SetValue", PIPE_S, loc, [&](pyto_sim::Record& r) { r.write(p, sizeof(T)); },
            [=] {
                pyto_sim::beforeGmAccess(p, sizeof(T));
                *p = value;
            });
    }
    __aicore__ inline __gm__ T& operator()(const uint64_t offset) const { return address_[offset]; }
    __aicore__ inline uint64_t GetSize() const { return bufferSize_; }
    __aicore__ inline GlobalTensor operator[](const uint64_t offset) const {
        GlobalTensor r(*this);
        r.address_ += offset;
        r.bufferSize_ = offset <= bufferSize_ ? bufferSize_ - offset : 0;
        return r;
    }
    template <class U>
    __aicore__ inline GlobalTensor<U> ReinterpretCast() const {
        GlobalTensor<U> r;
        r.SetGlobalBuffer(reinterpret_cast<U*>(address_), bufferSize_ * sizeof(T) / sizeof(U));
        return r;
    }
    __aicore__ inline void SetShapeInfo(const ShapeInfo&) {}
    __aicore__ inline ShapeInfo GetShapeInfo() const { return ShapeInfo(); }
    template <CacheRwMode rwMode = CacheRwMode::RW>
    __aicore__ inline void SetL2CacheHint(CacheMode) {}

    T* ptr() const { return address_; }

    __gm__ T* address_ = nullptr;
    uint64_t bufferSize_ = 0;
};

PYTO_ASCENDC_END
