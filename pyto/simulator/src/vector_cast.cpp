// Conversions. Values out of an integer's range saturate, NaN becomes 0; a float too large for a half becomes infinity
// unless the rounding mode points towards zero.
#include "vector_cast.h"

#include <limits>

#include "vector_elementwise.h"
#include "vector_round.h"

namespace pyto_sim {
namespace vec {

namespace {

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

}  // namespace

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

namespace {

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

}  // namespace

void cast(Elem to, Elem from, Round mode, Span dst, Span a, const Lanes& lanes)
{
    const Span spans[2] = {dst, a};
    const uint32_t sizes[2] = {elem_size(to), elem_size(from)};
    const Plan plan = plan_of(to, from, mode);
    walk(spans, sizes, 2, lanes, 0, cast_rows, &plan);
}

}  // namespace vec
}  // namespace pyto_sim
