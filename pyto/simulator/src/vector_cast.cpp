// Conversions. Values out of an integer's range saturate, NaN becomes 0; a float too large for a half becomes infinity
// unless the rounding mode points towards zero.
#include <limits>
#include <type_traits>

#include "vector_elementwise.h"
#include "vector_math.h"

namespace pyto_sim {
namespace vec {

namespace {

using SpanFn = void (*)(void* dst, const void* src, size_t n, Round mode);

// How to get from one type to another: straight, or by way of a chunk of floats.
struct Plan {
    SpanFn straight;
    SpanFn load;
    SpanFn store;
    Round mode;
    uint32_t to_size;
    uint32_t from_size;
};

void cast_rows(const Rows* r)
{
    const Plan& plan = *static_cast<const Plan*>(r->extra);
    alignas(64) uint8_t room[kRepeat];
    alignas(64) float chunk[kChunk];
    for (int64_t row = 0; row < r->rows; ++row) {
        uint8_t* d = r->data[0] + row * r->stride[0];
        const uint8_t* s = r->data[1] + row * r->stride[1];
        if (r->repeated[1]) {
            for (int64_t at = 0; at < r->cols * plan.from_size; at += kBlock) {
                std::memcpy(room + at, s, kBlock);
            }
            s = room;
        }
        const size_t n = static_cast<size_t>(r->cols);
        if (plan.straight != nullptr) {
            plan.straight(d, s, n, plan.mode);
            continue;
        }
        for (size_t at = 0; at < n; at += kChunk) {
            const size_t len = n - at < kChunk ? n - at : kChunk;
            plan.load(chunk, s + at * plan.from_size, len, plan.mode);
            plan.store(d + at * plan.to_size, chunk, len, plan.mode);
        }
    }
}

// `r` with the sign of x, for r that is zero or has it already.
PYTO_INLINE float signed_like(float r, float x)
{
    return bits_as<float>(bits_as<uint32_t>(r) | (bits_as<uint32_t>(x) & 0x80000000u));
}

PYTO_INLINE float magnitude_of(float x)
{
    return bits_as<float>(bits_as<uint32_t>(x) & 0x7fffffffu);
}

// The neighbouring whole number that the mode asks for, as a float; keeps NaN, infinity and the sign of zero.
template <Round mode>
PYTO_INLINE float whole(float x)
{
    const bool small = magnitude_of(x) < 8388608.0f;  // above, every float is whole
    const float inside = choose(small, x, 0.0f);
    const float cut = static_cast<float>(static_cast<int32_t>(inside));
    float r = cut;
    if (mode == Round::Floor) {
        r = cut - choose(cut > inside, 1.0f, 0.0f);
    } else if (mode == Round::Ceil) {
        r = cut + choose(cut < inside, 1.0f, 0.0f);
    } else if (mode == Round::Round) {
        r = cut + signed_like(choose(magnitude_of(inside - cut) >= 0.5f, 1.0f, 0.0f), inside);
    } else if (mode != Round::Trunc) {
        r = (magnitude_of(inside) + 8388608.0f) - 8388608.0f;
    }
    return choose(small, signed_like(r, x), x);
}

template <class To>
PYTO_INLINE To saturated(float r)
{
    constexpr int32_t low = std::numeric_limits<To>::min();
    constexpr int32_t high = std::numeric_limits<To>::max();
    // 2^31 - 1 is no float: the comparison is with 2^31.
    constexpr float below = static_cast<float>(low);
    constexpr float above = high == 0x7fffffff ? 2147483648.0f : static_cast<float>(high) + 1.0f;
    const bool fits = r >= below && r < above;  // false for NaN
    const int32_t value = static_cast<int32_t>(choose(fits, r, 0.0f));
    return static_cast<To>(choose(r >= above, high, choose(r < below, low, value)));
}
template <>
PYTO_INLINE int64_t saturated<int64_t>(float r)
{
    constexpr float above = 9223372036854775808.0f;
    if (!(r >= -above)) {
        return r == r ? std::numeric_limits<int64_t>::min() : 0;
    }
    return r >= above ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(r);
}

template <Round mode>
PYTO_INLINE uint32_t increment(uint32_t kept, uint32_t rest, uint32_t tie, bool negative)
{
    const uint32_t some = rest != 0 ? 1u : 0u;
    const uint32_t minus = negative ? 1u : 0u;
    switch (mode) {
        case Round::Floor: return some & minus;
        case Round::Ceil: return some & (minus ^ 1u);
        case Round::Round: return rest >= tie ? 1u : 0u;
        case Round::Trunc: return 0u;
        case Round::Odd: return some & ((kept & 1u) ^ 1u);
        default: return (rest > tie ? 1u : 0u) | ((rest == tie ? 1u : 0u) & kept & 1u);
    }
}

template <Round mode>
PYTO_INLINE uint16_t to_half(float f)
{
    const uint32_t all = bits_as<uint32_t>(f);
    const uint32_t sign = (all >> 16) & 0x8000u;
    const bool negative = sign != 0;
    const uint32_t mag = all & 0x7fffffffu;
    const bool normal = mag >= 0x38800000u;
    const uint32_t exponent = mag >> 23;
    // Below the smallest normal half the kept bits end at 2^-24; 31 places are enough to lose everything.
    const uint32_t need = choose(exponent < 95u, 31u, 126u - exponent);
    const uint32_t shift = choose(normal, 13u, need);
    const uint32_t mantissa = (mag & 0x7fffffu) | (exponent != 0 ? 0x800000u : 0u);
    const uint32_t value = choose(normal, mag - 0x38000000u, mantissa);
    uint32_t kept = value >> shift;
    const uint32_t rest = value & ((1u << shift) - 1u);
    kept += increment<mode>(kept, rest, 1u << (shift - 1u), negative);
    const uint32_t minus = negative ? 1u : 0u;
    const uint32_t to_zero = mode == Round::Trunc || mode == Round::Odd ? 1u
                             : mode == Round::Floor                     ? minus ^ 1u
                             : mode == Round::Ceil                      ? minus
                                                                        : 0u;
    const uint32_t limit = 0x7c00u - to_zero;
    kept = choose(kept > limit, limit, kept);
    kept = choose(mag == 0x7f800000u, 0x7c00u, kept);
    kept = choose(mag > 0x7f800000u, 0x7e00u | ((mag >> 13) & 0x3ffu), kept);
    return static_cast<uint16_t>(kept | sign);
}

template <Round mode>
PYTO_INLINE uint16_t to_bf16(float f)
{
    const uint32_t all = bits_as<uint32_t>(f);
    const uint32_t mag = all & 0x7fffffffu;
    const uint32_t sign = (all >> 16) & 0x8000u;
    const uint32_t kept = mag >> 16;
    const uint32_t rounded = kept + increment<mode>(kept, mag & 0xffffu, 0x8000u, sign != 0);
    return static_cast<uint16_t>(choose(mag > 0x7f800000u, kept | 0x40u, rounded) | sign);
}

template <Round mode>
PYTO_INLINE float to_float(int64_t v)
{
    const bool negative = v < 0;
    const uint64_t u = negative ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
    if (u < (uint64_t{1} << 24)) {
        const float exact = static_cast<float>(static_cast<int32_t>(u));
        return negative ? -exact : exact;
    }
    const uint32_t shift = 40u - static_cast<uint32_t>(__builtin_clzll(u));
    uint64_t kept = u >> shift;
    const uint64_t rest = u & ((uint64_t{1} << shift) - 1u);
    const uint64_t tie = uint64_t{1} << (shift - 1u);
    const uint32_t place = rest == 0 ? 0u : (rest < tie ? 1u : (rest == tie ? 2u : 3u));
    kept += increment<mode>(static_cast<uint32_t>(kept), place, 2u, negative);
    const float r = static_cast<float>(static_cast<int32_t>(kept)) * static_cast<float>(uint64_t{1} << shift);
    return negative ? -r : r;
}

// One loop over a span for each rounding mode; `F<mode>::of` converts an element.
template <class To, class From, template <Round> class F>
struct ModeLoop {
    template <class Isa>
    static PYTO_INLINE void run(void* dst, const void* src, size_t n, Round mode)
    {
        switch (mode) {
            case Round::Floor: loop<Round::Floor>(dst, src, n); break;
            case Round::Ceil: loop<Round::Ceil>(dst, src, n); break;
            case Round::Round: loop<Round::Round>(dst, src, n); break;
            case Round::Trunc: loop<Round::Trunc>(dst, src, n); break;
            case Round::Odd: loop<Round::Odd>(dst, src, n); break;
            default: loop<Round::Rint>(dst, src, n); break;
        }
    }

    template <Round mode>
    static PYTO_INLINE void loop(void* dst, const void* src, size_t n)
    {
        To* d = static_cast<To*>(dst);
        const From* s = static_cast<const From*>(src);
        PYTO_LOOP
        for (size_t i = 0; i < n; ++i) {
            d[i] = F<mode>::of(s[i]);
        }
    }
};

template <Round mode>
struct Bf16Of {
    static PYTO_INLINE uint16_t of(float x) { return mode == Round::Rint ? float_to_bf16(x) : to_bf16<mode>(x); }
};
template <Round mode>
struct HalfOf {
    static PYTO_INLINE uint16_t of(float x) { return to_half<mode>(x); }
};
template <Round mode>
struct WholeOf {
    static PYTO_INLINE float of(float x) { return whole<mode>(x); }
};
template <class To>
struct IntegerOf {
    template <Round mode>
    struct With {
        static PYTO_INLINE To of(float x) { return saturated<To>(whole<mode>(x)); }
    };
};
template <Round mode>
struct FloatOf32 {
    static PYTO_INLINE float of(int32_t x) { return mode == Round::Rint ? static_cast<float>(x) : to_float<mode>(x); }
};
template <Round mode>
struct FloatOf64 {
    static PYTO_INLINE float of(int64_t x) { return to_float<mode>(x); }
};

// Nearest even uses the span conversion of the instruction set.
struct HalfStore {
    template <class Isa>
    static PYTO_INLINE void run(void* dst, const void* src, size_t n, Round mode)
    {
        if (mode == Round::None || mode == Round::Rint) {
            Isa::float_to_half(static_cast<uint16_t*>(dst), static_cast<const float*>(src), n);
        } else {
            ModeLoop<uint16_t, float, HalfOf>::template run<Isa>(dst, src, n, mode);
        }
    }
};
struct HalfLoad {
    template <class Isa>
    static PYTO_INLINE void run(void* dst, const void* src, size_t n, Round)
    {
        Isa::half_to_float(static_cast<float*>(dst), static_cast<const uint16_t*>(src), n);
    }
};
struct Bf16Load {
    template <class Isa>
    static PYTO_INLINE void run(void* dst, const void* src, size_t n, Round)
    {
        float* d = static_cast<float*>(dst);
        const uint16_t* s = static_cast<const uint16_t*>(src);
        PYTO_LOOP
        for (size_t i = 0; i < n; ++i) {
            d[i] = bf16_to_float(s[i]);
        }
    }
};
template <class To, class From>
struct ExactLoop {
    template <class Isa>
    static PYTO_INLINE void run(void* dst, const void* src, size_t n, Round)
    {
        To* d = static_cast<To*>(dst);
        const From* s = static_cast<const From*>(src);
        PYTO_LOOP
        for (size_t i = 0; i < n; ++i) {
            d[i] = static_cast<To>(s[i]);
        }
    }
};
template <class To, class From>
struct ClampLoop {
    template <class Isa>
    static PYTO_INLINE void run(void* dst, const void* src, size_t n, Round)
    {
        To* d = static_cast<To*>(dst);
        const From* s = static_cast<const From*>(src);
        constexpr From low = std::numeric_limits<To>::min();
        constexpr From high = std::numeric_limits<To>::max();
        PYTO_LOOP
        for (size_t i = 0; i < n; ++i) {
            d[i] = static_cast<To>(s[i] < low ? low : (s[i] > high ? high : s[i]));
        }
    }
};

template <class Kernel>
SpanFn span_of()
{
    return pick<Kernel, void*, const void*, size_t, Round>();
}

// To float, for types that a float holds exactly.
SpanFn loader(Elem from)
{
    switch (from) {
        case Elem::F16: return span_of<HalfLoad>();
        case Elem::BF16: return span_of<Bf16Load>();
        case Elem::I8: return span_of<ExactLoop<float, int8_t>>();
        case Elem::U8: return span_of<ExactLoop<float, uint8_t>>();
        case Elem::I16: return span_of<ExactLoop<float, int16_t>>();
        default: return nullptr;
    }
}

SpanFn storer(Elem to)
{
    switch (to) {
        case Elem::F16: return span_of<HalfStore>();
        case Elem::BF16: return span_of<ModeLoop<uint16_t, float, Bf16Of>>();
        case Elem::I8: return span_of<ModeLoop<int8_t, float, IntegerOf<int8_t>::With>>();
        case Elem::U8: return span_of<ModeLoop<uint8_t, float, IntegerOf<uint8_t>::With>>();
        case Elem::I16: return span_of<ModeLoop<int16_t, float, IntegerOf<int16_t>::With>>();
        case Elem::I32: return span_of<ModeLoop<int32_t, float, IntegerOf<int32_t>::With>>();
        case Elem::I64: return span_of<ModeLoop<int64_t, float, IntegerOf<int64_t>::With>>();
        default: return span_of<ModeLoop<float, float, WholeOf>>();
    }
}

Plan plan_of(Elem to, Elem from, Round mode)
{
    Plan plan{nullptr, nullptr, nullptr, mode, elem_size(to), elem_size(from)};
    if (from == Elem::F32) {
        plan.straight = storer(to);
    } else if (from == Elem::I32) {
        plan.straight = to == Elem::F32   ? span_of<ModeLoop<float, int32_t, FloatOf32>>()
                        : to == Elem::I16 ? span_of<ClampLoop<int16_t, int32_t>>()
                                          : span_of<ExactLoop<int64_t, int32_t>>();
    } else if (from == Elem::I64) {
        plan.straight =
            to == Elem::F32 ? span_of<ModeLoop<float, int64_t, FloatOf64>>() : span_of<ClampLoop<int32_t, int64_t>>();
    } else if (to == Elem::F32) {
        plan.straight = loader(from);
    } else {
        plan.load = loader(from);
        plan.store = storer(to);
    }
    return plan;
}

PYTO_INLINE float dequantised(int32_t x, float scale)
{
    // Down and up by 2^17 around the scale, so that the product of a large accumulator stays finite.
    return static_cast<float>(x) * 7.62939453125e-06f * scale * 131072.0f;
}

struct DequantKernel {
    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        int32_t room[kRepeat / 4];
        float chunk[kChunk];
        const float scale = half_to_float(static_cast<uint16_t>(r->value));
        for (int64_t row = 0; row < r->rows; ++row) {
            uint16_t* d = reinterpret_cast<uint16_t*>(r->data[0] + row * r->stride[0]);
            const int32_t* s = row_of(*r, 1, row, room);
            for (int64_t at = 0; at < r->cols; at += kChunk) {
                const int64_t n = r->cols - at < kChunk ? r->cols - at : kChunk;
                PYTO_LOOP
                for (int64_t i = 0; i < n; ++i) {
                    chunk[i] = dequantised(s[at + i], scale);
                }
                Isa::float_to_half(d + at, chunk, static_cast<size_t>(n));
            }
        }
    }
};

struct AddDeqReluKernel {
    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        int32_t room_a[kRepeat / 4];
        int32_t room_b[kRepeat / 4];
        float chunk[kChunk];
        const float scale = half_to_float(static_cast<uint16_t>(r->value));
        for (int64_t row = 0; row < r->rows; ++row) {
            uint16_t* d = reinterpret_cast<uint16_t*>(r->data[0] + row * r->stride[0]);
            const int32_t* a = row_of(*r, 1, row, room_a);
            const int32_t* b = row_of(*r, 2, row, room_b);
            for (int64_t at = 0; at < r->cols; at += kChunk) {
                const int64_t n = r->cols - at < kChunk ? r->cols - at : kChunk;
                PYTO_LOOP
                for (int64_t i = 0; i < n; ++i) {
                    const uint32_t sum = static_cast<uint32_t>(a[at + i]) + static_cast<uint32_t>(b[at + i]);
                    chunk[i] = rectified(dequantised(static_cast<int32_t>(sum), scale));
                }
                Isa::float_to_half(d + at, chunk, static_cast<size_t>(n));
            }
        }
    }
};

struct FusedPlan {
    FusedCast op;
    Plan plan;
};

void fused_rows(const Rows* r)
{
    const FusedPlan& fused = *static_cast<const FusedPlan*>(r->extra);
    const Plan& plan = fused.plan;
    alignas(64) uint8_t room[2][kRepeat];
    alignas(64) float a[kChunk];
    alignas(64) float b[kChunk];
    for (int64_t row = 0; row < r->rows; ++row) {
        uint8_t* d = r->data[0] + row * r->stride[0];
        const uint8_t* src[2];
        for (int i = 0; i < 2; ++i) {
            src[i] = r->data[i + 1] + row * r->stride[i + 1];
            if (r->repeated[i + 1]) {
                for (int64_t at = 0; at < r->cols * plan.from_size; at += kBlock) {
                    std::memcpy(room[i] + at, src[i], kBlock);
                }
                src[i] = room[i];
            }
        }
        const size_t n = static_cast<size_t>(r->cols);
        for (size_t at = 0; at < n; at += kChunk) {
            const size_t len = n - at < kChunk ? n - at : kChunk;
            const auto fetch = [&](float* out, const uint8_t* from) {
                if (plan.load != nullptr) {
                    plan.load(out, from + at * plan.from_size, len, plan.mode);
                } else {
                    std::memcpy(out, from + at * 4, len * 4);
                }
            };
            fetch(a, src[0]);
            fetch(b, src[1]);
            for (size_t i = 0; i < len; ++i) {
                a[i] = fused.op == FusedCast::Mul       ? a[i] * b[i]
                       : fused.op == FusedCast::AddRelu ? rectified(a[i] + b[i])
                                                        : rectified(a[i] - b[i]);
            }
            plan.store(d + at * plan.to_size, a, len, plan.mode);
        }
    }
}

}  // namespace

void cast(Elem to, Elem from, Round mode, Span dst, Span a, const Lanes& lanes)
{
    const Span spans[2] = {dst, a};
    const uint32_t sizes[2] = {elem_size(to), elem_size(from)};
    const Plan plan = plan_of(to, from, mode);
    walk(spans, sizes, 2, lanes, 0, cast_rows, &plan);
}

void cast_int4(bool to_int4, Round mode, Span dst, Span a, const Lanes& lanes)
{
    constexpr uint32_t per_repeat = 128;
    const SpanFn narrow = storer(Elem::I8);
    Segment parts[2];
    const int count = segments(lanes, per_repeat, parts);
    for (int s = 0; s < count; ++s) {
        const Segment& p = parts[s];
        for (uint32_t rep = p.first; rep < p.first + p.repeats; ++rep) {
            for (uint32_t lane = 0; lane < per_repeat; ++lane) {
                if (!active(p, lane)) {
                    continue;
                }
                const Span& halves = to_int4 ? a : dst;
                const Span& fours = to_int4 ? dst : a;
                uint8_t* half = static_cast<uint8_t*>(const_cast<void*>(halves.data)) +
                                (size_t{rep} * halves.rep + size_t{lane / 16} * halves.blk) * kBlock + (lane % 16) * 2;
                uint8_t* four = static_cast<uint8_t*>(const_cast<void*>(fours.data)) +
                                (size_t{rep} * fours.rep + size_t{lane / 64} * fours.blk) * kBlock + (lane % 64) / 2;
                const uint32_t shift = (lane & 1u) * 4;
                uint16_t bits;
                if (to_int4) {
                    std::memcpy(&bits, half, 2);
                    const float value = half_to_float(bits);
                    int8_t whole_number;
                    narrow(&whole_number, &value, 1, mode);
                    const int32_t kept = whole_number < -8 ? -8 : (whole_number > 7 ? 7 : whole_number);
                    *four = static_cast<uint8_t>((*four & ~(0xfu << shift)) | ((static_cast<uint32_t>(kept) & 0xfu) << shift));
                } else {
                    const int32_t raw = (*four >> shift) & 0xf;
                    bits = float_to_half(static_cast<float>(raw >= 8 ? raw - 16 : raw));
                    std::memcpy(half, &bits, 2);
                }
            }
        }
    }
}

void cast_dequant(uint16_t half_scale, Span dst, Span a, const Lanes& lanes)
{
    const Span spans[2] = {dst, a};
    const uint32_t sizes[2] = {2, 4};
    walk(spans, sizes, 2, lanes, half_scale, pick<DequantKernel, const Rows*>());
}

void add_deq_relu(uint16_t half_scale, Span dst, Span a, Span b, const Lanes& lanes)
{
    const Span spans[3] = {dst, a, b};
    const uint32_t sizes[3] = {2, 4, 4};
    walk(spans, sizes, 3, lanes, half_scale, pick<AddDeqReluKernel, const Rows*>());
}

void fused_cast(FusedCast op, Elem to, Elem from, Span dst, Span a, Span b, const Lanes& lanes)
{
    const Span spans[3] = {dst, a, b};
    const uint32_t sizes[3] = {elem_size(to), elem_size(from), elem_size(from)};
    const FusedPlan fused{op, {nullptr, loader(from), storer(to), Round::Rint, elem_size(to), elem_size(from)}};
    walk(spans, sizes, 3, lanes, 0, fused_rows, &fused);
}

void dequant_b8(bool is_signed, const uint64_t* scales, bool per_lane, bool high_half, Span dst, Span a,
                const Lanes& lanes)
{
    constexpr uint32_t per_block = 16;
    Segment parts[2];
    const int count = segments(lanes, 8 * per_block, parts);
    for (int s = 0; s < count; ++s) {
        for (uint32_t rep = parts[s].first; rep < parts[s].first + parts[s].repeats; ++rep) {
            for (uint32_t lane = 0; lane < 8 * per_block; ++lane) {
                if (!active(parts[s], lane)) {
                    continue;
                }
                const uint64_t config = scales[per_lane ? lane % per_block : 0];
                // Scale in the low 32 bits (10 bits of mantissa count), a signed 9-bit offset, a sign flag.
                const float scale = bits_as<float>(static_cast<uint32_t>(config) & 0xffffe000u);
                const int32_t raw = static_cast<int32_t>((config >> 37) & 0x1ffu);
                const float offset = static_cast<float>(raw >= 256 ? raw - 512 : raw);
                const size_t block = lane / per_block;
                int16_t x;
                std::memcpy(&x, static_cast<const uint8_t*>(a.data) + (size_t{rep} * a.rep + block * a.blk) * kBlock +
                                    size_t{lane % per_block} * 2, 2);
                const float y = whole<Round::Rint>(static_cast<float>(x) * scale + offset);
                uint8_t* out = static_cast<uint8_t*>(const_cast<void*>(dst.data)) +
                               (size_t{rep} * dst.rep + block * dst.blk) * kBlock + (high_half ? 16u : 0u) +
                               lane % per_block;
                *out = is_signed ? static_cast<uint8_t>(saturated<int8_t>(y)) : saturated<uint8_t>(y);
            }
        }
    }
}

}  // namespace vec
}  // namespace pyto_sim
