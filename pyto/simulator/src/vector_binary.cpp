// Two-operand arithmetic. Integers wrap; halves are computed in float and rounded once an operation.
#include "vector_elementwise.h"
#include "vector_math.h"

namespace pyto_sim {
namespace vec {

namespace {

struct AddOp {
    static constexpr bool kReadsDst = false;
    static PYTO_INLINE float of(float, float a, float b) { return a + b; }
    template <class T>
    static PYTO_INLINE T of(T, T a, T b)
    {
        return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    }
};
struct SubOp {
    static constexpr bool kReadsDst = false;
    static PYTO_INLINE float of(float, float a, float b) { return a - b; }
    template <class T>
    static PYTO_INLINE T of(T, T a, T b)
    {
        return static_cast<T>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
    }
};
struct MulOp {
    static constexpr bool kReadsDst = false;
    static PYTO_INLINE float of(float, float a, float b) { return a * b; }
    template <class T>
    static PYTO_INLINE T of(T, T a, T b)
    {
        return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
    }
};
struct DivOp {
    static constexpr bool kReadsDst = false;
    static PYTO_INLINE float of(float, float a, float b) { return a / b; }
};
struct MaxOp {
    static constexpr bool kReadsDst = false;
    template <class T>
    static PYTO_INLINE T of(T, T a, T b) { return larger(a, b); }
};
struct MinOp {
    static constexpr bool kReadsDst = false;
    template <class T>
    static PYTO_INLINE T of(T, T a, T b) { return smaller(a, b); }
};
struct AndOp {
    template <class T>
    static PYTO_INLINE T of(T, T a, T b) { return static_cast<T>(a & b); }
};
struct OrOp {
    template <class T>
    static PYTO_INLINE T of(T, T a, T b) { return static_cast<T>(a | b); }
};
struct AddReluOp {
    static constexpr bool kReadsDst = false;
    template <class T>
    static PYTO_INLINE T of(T d, T a, T b) { return rectified(AddOp::of(d, a, b)); }
};
struct SubReluOp {
    static constexpr bool kReadsDst = false;
    template <class T>
    static PYTO_INLINE T of(T d, T a, T b) { return rectified(SubOp::of(d, a, b)); }
};
// The products of halves are exact in float; a float product is rounded before the sum.
struct MulAddDstOp {
    static constexpr bool kReadsDst = true;
    static PYTO_INLINE float of(float d, float a, float b) { return a * b + d; }
};
struct FusedMulAddOp {
    static constexpr bool kReadsDst = true;
    static PYTO_INLINE float of(float d, float a, float b) { return a * d + b; }
};
struct FusedMulAddReluOp {
    static constexpr bool kReadsDst = true;
    static PYTO_INLINE float of(float d, float a, float b) { return rectified(a * d + b); }
};

struct MulAddDstWideKernel {
    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        uint16_t room_a[kRepeat / 2];
        uint16_t room_b[kRepeat / 2];
        float fa[kChunk];
        float fb[kChunk];
        for (int64_t row = 0; row < r->rows; ++row) {
            float* d = reinterpret_cast<float*>(r->data[0] + row * r->stride[0]);
            const uint16_t* a = row_of(*r, 1, row, room_a);
            const uint16_t* b = row_of(*r, 2, row, room_b);
            for (int64_t at = 0; at < r->cols; at += kChunk) {
                const int64_t n = r->cols - at < kChunk ? r->cols - at : kChunk;
                Isa::half_to_float(fa, a + at, static_cast<size_t>(n));
                Isa::half_to_float(fb, b + at, static_cast<size_t>(n));
                PYTO_LOOP
                for (int64_t i = 0; i < n; ++i) {
                    d[at + i] += fa[i] * fb[i];
                }
            }
        }
    }
};

template <class Op>
RowKernel arithmetic(Elem t)
{
    switch (t) {
        case Elem::F32: return pick<BinaryKernel<Op, float>, const Rows*>();
        case Elem::F16: return pick<BinaryKernel<Op, Half>, const Rows*>();
        case Elem::I16: return pick<BinaryKernel<Op, int16_t>, const Rows*>();
        default: return pick<BinaryKernel<Op, int32_t>, const Rows*>();
    }
}

template <class Op>
RowKernel floating(Elem t)
{
    return t == Elem::F32 ? pick<BinaryKernel<Op, float>, const Rows*>() : pick<BinaryKernel<Op, Half>, const Rows*>();
}

template <class Op>
RowKernel relu_arithmetic(Elem t)
{
    return t == Elem::I16 ? pick<BinaryKernel<Op, int16_t>, const Rows*>() : floating<Op>(t);
}

RowKernel kernel_of(BinaryOp op, Elem t)
{
    switch (op) {
        case BinaryOp::Add: return arithmetic<AddOp>(t);
        case BinaryOp::Sub: return arithmetic<SubOp>(t);
        case BinaryOp::Mul: return arithmetic<MulOp>(t);
        case BinaryOp::Div: return floating<DivOp>(t);
        case BinaryOp::Max: return arithmetic<MaxOp>(t);
        case BinaryOp::Min: return arithmetic<MinOp>(t);
        case BinaryOp::And: return pick<BinaryKernel<AndOp, uint16_t>, const Rows*>();
        case BinaryOp::Or: return pick<BinaryKernel<OrOp, uint16_t>, const Rows*>();
        case BinaryOp::AddRelu: return relu_arithmetic<AddReluOp>(t);
        case BinaryOp::SubRelu: return relu_arithmetic<SubReluOp>(t);
        case BinaryOp::MulAddDst: return floating<MulAddDstOp>(t);
        case BinaryOp::FusedMulAdd: return floating<FusedMulAddOp>(t);
        case BinaryOp::FusedMulAddRelu: return floating<FusedMulAddReluOp>(t);
        default: return pick<MulAddDstWideKernel, const Rows*>();
    }
}

}  // namespace

void binary(BinaryOp op, Elem t, Span dst, Span a, Span b, const Lanes& lanes)
{
    const Span spans[3] = {dst, a, b};
    const bool wide = op == BinaryOp::MulAddDstWide;
    const uint32_t size = elem_size(t);
    const uint32_t sizes[3] = {wide ? 4 : size, wide ? 2 : size, wide ? 2 : size};
    walk(spans, sizes, 3, lanes, 0, kernel_of(op, t));
}

}  // namespace vec
}  // namespace pyto_sim
