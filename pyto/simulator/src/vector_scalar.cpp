// Operations of a tensor with a scalar, and the moves without arithmetic: fill, copy, index vectors, block broadcast.
#include <type_traits>

#include "vector_elementwise.h"
#include "vector_math.h"

namespace pyto_sim {
namespace vec {

namespace {

struct AddsOp {
    static constexpr bool kReadsDst = false;
    static PYTO_INLINE float of(float, float a, float s) { return a + s; }
    template <class T>
    static PYTO_INLINE T of(T, T a, T s) { return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(s)); }
};
struct MulsOp {
    static constexpr bool kReadsDst = false;
    static PYTO_INLINE float of(float, float a, float s) { return a * s; }
    template <class T>
    static PYTO_INLINE T of(T, T a, T s) { return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(s)); }
};
struct MaxsOp {
    static constexpr bool kReadsDst = false;
    template <class T>
    static PYTO_INLINE T of(T, T a, T s) { return larger(a, s); }
};
struct MinsOp {
    static constexpr bool kReadsDst = false;
    template <class T>
    static PYTO_INLINE T of(T, T a, T s) { return smaller(a, s); }
};
struct LeakyReluOp {
    static constexpr bool kReadsDst = false;
    static PYTO_INLINE float of(float, float a, float s)
    {
        const float scaled = a * s;
        return a >= 0.0f ? a : scaled;
    }
};
struct AxpyOp {
    static constexpr bool kReadsDst = true;
    static PYTO_INLINE float of(float d, float a, float s) { return a * s + d; }
};
// A shift by the width of the type is allowed and moves every bit out.
struct ShiftLeftOp {
    template <class T>
    static PYTO_INLINE T of(T, T a, T s)
    {
        return static_cast<T>(static_cast<uint64_t>(a) << (static_cast<uint32_t>(s) & 63u));
    }
};
template <bool rounded>
struct ShiftRightOp {
    template <class T>
    static PYTO_INLINE T of(T, T a, T s)
    {
        using Wide = typename std::conditional<std::is_signed<T>::value, int64_t, uint64_t>::type;
        const uint32_t by = static_cast<uint32_t>(s) & 63u;
        const Wide half = rounded && by != 0 ? static_cast<Wide>(Wide{1} << (by - 1)) : Wide{0};
        return static_cast<T>((static_cast<Wide>(a) + half) >> by);
    }
};

struct AxpyWideKernel {
    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        uint16_t room[kRepeat / 2];
        float fa[kChunk];
        const float s = half_to_float(static_cast<uint16_t>(r->value));
        for (int64_t row = 0; row < r->rows; ++row) {
            float* d = reinterpret_cast<float*>(r->data[0] + row * r->stride[0]);
            const uint16_t* a = row_of(*r, 1, row, room);
            for (int64_t at = 0; at < r->cols; at += kChunk) {
                const int64_t n = r->cols - at < kChunk ? r->cols - at : kChunk;
                Isa::half_to_float(fa, a + at, static_cast<size_t>(n));
                PYTO_LOOP
                for (int64_t i = 0; i < n; ++i) {
                    d[at + i] += fa[i] * s;
                }
            }
        }
    }
};

template <class T>
struct FillKernel {
    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        const T value = static_cast<T>(r->value);
        for (int64_t row = 0; row < r->rows; ++row) {
            T* d = reinterpret_cast<T*>(r->data[0] + row * r->stride[0]);
            const int64_t n = r->cols;
            PYTO_LOOP
            for (int64_t i = 0; i < n; ++i) {
                d[i] = value;
            }
        }
    }
};

template <class T>
struct CopyKernel {
    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        T room[kRepeat / sizeof(T)];
        for (int64_t row = 0; row < r->rows; ++row) {
            uint8_t* d = r->data[0] + row * r->stride[0];
            std::memmove(d, row_of(*r, 1, row, room), static_cast<size_t>(r->cols) * sizeof(T));
        }
    }
};

template <class Op>
RowKernel arithmetic(Elem t)
{
    switch (t) {
        case Elem::F32: return pick<ScalarKernel<Op, float>, const Rows*>();
        case Elem::F16: return pick<ScalarKernel<Op, Half>, const Rows*>();
        case Elem::I16: return pick<ScalarKernel<Op, int16_t>, const Rows*>();
        default: return pick<ScalarKernel<Op, int32_t>, const Rows*>();
    }
}

template <class Op>
RowKernel floating(Elem t)
{
    return t == Elem::F32 ? pick<ScalarKernel<Op, float>, const Rows*>() : pick<ScalarKernel<Op, Half>, const Rows*>();
}

template <class Op>
RowKernel shift(Elem t)
{
    switch (t) {
        case Elem::I16: return pick<ScalarKernel<Op, int16_t>, const Rows*>();
        case Elem::U16: return pick<ScalarKernel<Op, uint16_t>, const Rows*>();
        case Elem::I32: return pick<ScalarKernel<Op, int32_t>, const Rows*>();
        default: return pick<ScalarKernel<Op, uint32_t>, const Rows*>();
    }
}

RowKernel kernel_of(ScalarOp op, Elem t)
{
    switch (op) {
        case ScalarOp::Adds: return arithmetic<AddsOp>(t);
        case ScalarOp::Muls: return arithmetic<MulsOp>(t);
        case ScalarOp::Maxs: return arithmetic<MaxsOp>(t);
        case ScalarOp::Mins: return arithmetic<MinsOp>(t);
        case ScalarOp::LeakyRelu: return floating<LeakyReluOp>(t);
        case ScalarOp::ShiftLeft: return shift<ShiftLeftOp>(t);
        case ScalarOp::ShiftRight: return shift<ShiftRightOp<false>>(t);
        case ScalarOp::ShiftRightRound: return shift<ShiftRightOp<true>>(t);
        case ScalarOp::Axpy: return floating<AxpyOp>(t);
        default: return pick<AxpyWideKernel, const Rows*>();
    }
}

}  // namespace

void scalar(ScalarOp op, Elem t, Span dst, Span a, uint64_t value, const Lanes& lanes)
{
    const Span spans[2] = {dst, a};
    const bool wide = op == ScalarOp::AxpyWide;
    const uint32_t sizes[2] = {wide ? 4 : elem_size(t), wide ? 2 : elem_size(t)};
    walk(spans, sizes, 2, lanes, value, kernel_of(op, t));
}

void fill(uint32_t size, Span dst, uint64_t value, const Lanes& lanes)
{
    walk(&dst, &size, 1, lanes, value,
         size == 2 ? pick<FillKernel<uint16_t>, const Rows*>() : pick<FillKernel<uint32_t>, const Rows*>());
}

void copy(uint32_t size, Span dst, Span a, const Lanes& lanes)
{
    const Span spans[2] = {dst, a};
    const uint32_t sizes[2] = {size, size};
    walk(spans, sizes, 2, lanes, 0, size == 2 ? run_portable<CopyKernel<uint16_t>, const Rows*>
                                              : run_portable<CopyKernel<uint32_t>, const Rows*>);
}

namespace {

// A lane's value is built by additions of the block and repeat lengths, so halves and floats round as they go, like the
// sequence of Adds that the interface stands for.
struct IntegerStep {
    template <class T>
    static T add(T a, uint32_t n) { return static_cast<T>(static_cast<uint32_t>(a) + n); }
};
struct FloatStep {
    static float add(float a, uint32_t n) { return a + static_cast<float>(n); }
};
struct HalfStep {
    static uint16_t add(uint16_t a, uint32_t n) { return float_to_half(half_to_float(a) + static_cast<float>(n)); }
};

template <class Step, class T>
void iota_lanes(Span dst, T first, const Lanes& lanes)
{
    constexpr uint32_t per_block = kBlock / sizeof(T);
    constexpr uint32_t per_repeat = per_block * 8;
    T value[per_repeat];
    for (uint32_t lane = 0; lane < per_repeat; ++lane) {
        value[lane] = lane < per_block ? Step::add(first, lane) : Step::add(value[lane - per_block], per_block);
    }
    Segment parts[2];
    const int count = segments(lanes, per_repeat, parts);
    for (int s = 0; s < count; ++s) {
        const Segment& p = parts[s];
        const bool all = dst.blk == 1 && p.low == ~uint64_t{0} && (per_repeat == 64 || p.high == ~uint64_t{0});
        for (uint32_t rep = p.first; rep < p.first + p.repeats; ++rep) {
            uint8_t* base = static_cast<uint8_t*>(const_cast<void*>(dst.data)) + size_t{rep} * dst.rep * kBlock;
            if (all) {
                std::memcpy(base, value, sizeof value);
            } else {
                for (uint32_t block = 0; block < 8; ++block) {
                    T* to = reinterpret_cast<T*>(base + size_t{block} * dst.blk * kBlock);
                    for (uint32_t i = 0; i < per_block; ++i) {
                        if (active(p, block * per_block + i)) {
                            to[i] = value[block * per_block + i];
                        }
                    }
                }
            }
            for (uint32_t lane = 0; lane < per_repeat; ++lane) {
                value[lane] = Step::add(value[lane], per_repeat);
            }
        }
    }
}

}  // namespace

void iota(Elem t, Span dst, uint64_t first, const Lanes& lanes)
{
    switch (t) {
        case Elem::I16: iota_lanes<IntegerStep>(dst, static_cast<int16_t>(first), lanes); break;
        case Elem::I32: iota_lanes<IntegerStep>(dst, static_cast<int32_t>(first), lanes); break;
        case Elem::F32: iota_lanes<FloatStep>(dst, bits_as<float>(static_cast<uint32_t>(first)), lanes); break;
        default: iota_lanes<HalfStep>(dst, static_cast<uint16_t>(first), lanes); break;
    }
}

void brcb(uint32_t size, void* dst, const void* src, uint32_t repeats, uint32_t blk, uint32_t rep)
{
    uint8_t* d = static_cast<uint8_t*>(dst);
    const uint8_t* s = static_cast<const uint8_t*>(src);
    const uint32_t step = blk == 0 ? 1 : blk;
    for (uint32_t r = 0; r < repeats; ++r) {
        for (uint32_t i = 0; i < 8; ++i) {
            uint8_t* block = d + (size_t{r} * rep + size_t{i} * step) * kBlock;
            uint64_t word = 0;
            if (size == 4) {
                uint32_t v;
                std::memcpy(&v, s, 4);
                word = v * 0x100000001ull;
            } else {
                uint16_t v;
                std::memcpy(&v, s, 2);
                word = v * 0x0001000100010001ull;
            }
            for (uint32_t b = 0; b < kBlock; b += 8) {
                std::memcpy(block + b, &word, 8);
            }
            s += size;
        }
    }
}

}  // namespace vec
}  // namespace pyto_sim
