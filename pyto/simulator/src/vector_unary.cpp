// One-operand operations. Rsqrt and Reciprocal are exact divisions here; the chip's are approximations.
#include "vector_elementwise.h"
#include "vector_math.h"

namespace pyto_sim {
namespace vec {

namespace {

template <class F>
struct Mapped {
    template <class Isa, class T>
    static PYTO_INLINE void span(T* d, const T* a, int64_t n)
    {
        PYTO_LOOP
        for (int64_t i = 0; i < n; ++i) {
            d[i] = F::of(a[i]);
        }
    }
};

struct ExpOf {
    static PYTO_INLINE float of(float x) { return exponential(x); }
};
struct LnOf {
    static PYTO_INLINE float of(float x) { return logarithm(x); }
};
struct AbsOf {
    static PYTO_INLINE float of(float x) { return bits_as<float>(bits_as<uint32_t>(x) & 0x7fffffffu); }
};
struct ReciprocalOf {
    static PYTO_INLINE float of(float x) { return 1.0f / x; }
};
struct ReluOf {
    template <class T>
    static PYTO_INLINE T of(T x) { return rectified(x); }
};
struct NotOf {
    static PYTO_INLINE uint16_t of(uint16_t x) { return static_cast<uint16_t>(~x); }
};
struct SqrtSpan {
    template <class Isa>
    static PYTO_INLINE void span(float* d, const float* a, int64_t n)
    {
        Isa::root(d, a, static_cast<size_t>(n));
    }
};
struct RsqrtSpan {
    template <class Isa>
    static PYTO_INLINE void span(float* d, const float* a, int64_t n)
    {
        for (int64_t at = 0; at < n; at += kChunk) {
            const int64_t len = n - at < kChunk ? n - at : kChunk;
            Isa::root(d + at, a + at, static_cast<size_t>(len));
            PYTO_LOOP
            for (int64_t i = at; i < at + len; ++i) {
                d[i] = 1.0f / d[i];
            }
        }
    }
};

template <class Op>
RowKernel floating(Elem t)
{
    return t == Elem::F32 ? pick<UnaryKernel<Op, float>, const Rows*>() : pick<UnaryKernel<Op, Half>, const Rows*>();
}

RowKernel kernel_of(UnaryOp op, Elem t)
{
    switch (op) {
        case UnaryOp::Exp: return floating<Mapped<ExpOf>>(t);
        case UnaryOp::Ln: return floating<Mapped<LnOf>>(t);
        case UnaryOp::Abs: return floating<Mapped<AbsOf>>(t);
        case UnaryOp::Sqrt: return floating<SqrtSpan>(t);
        case UnaryOp::Rsqrt: return floating<RsqrtSpan>(t);
        case UnaryOp::Reciprocal: return floating<Mapped<ReciprocalOf>>(t);
        case UnaryOp::Not: return pick<UnaryKernel<Mapped<NotOf>, uint16_t>, const Rows*>();
        default:
            return t == Elem::I32 ? pick<UnaryKernel<Mapped<ReluOf>, int32_t>, const Rows*>()
                                  : floating<Mapped<ReluOf>>(t);
    }
}

}  // namespace

void unary(UnaryOp op, Elem t, Span dst, Span a, const Lanes& lanes)
{
    const Span spans[2] = {dst, a};
    const uint32_t sizes[2] = {elem_size(t), elem_size(t)};
    walk(spans, sizes, 2, lanes, 0, kernel_of(op, t));
}

}  // namespace vec
}  // namespace pyto_sim
