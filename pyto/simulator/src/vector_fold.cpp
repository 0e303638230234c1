// Kernels of the reductions. Neighbours are combined pairwise, level by level, as the hardware documentation draws it;
// sums of halves round at every level. Many repeats go through the levels together, as long loops.
#include "vector_half.h"
#include "vector_reduce.h"

namespace pyto_sim {
namespace vec {

namespace {

struct SumOf {
    static PYTO_INLINE float of(float a, float b) { return a + b; }
};
struct MaxOf {
    static PYTO_INLINE float of(float a, float b) { return larger(a, b); }
};
struct MinOf {
    static PYTO_INLINE float of(float a, float b) { return smaller(a, b); }
};

// Folds `n` lanes in `buffer` by 2^levels; the results are at the front.
template <class Combine>
struct FoldKernel {
    template <class Isa>
    static PYTO_INLINE void run(float* buffer, size_t n, int levels, bool round_to_half)
    {
        alignas(64) float other[kBatch / 2];
        uint16_t narrow[kBatch / 2];
        for (int level = 0; level < levels; ++level) {
            n /= 2;
            PYTO_LOOP
            for (size_t i = 0; i < n; ++i) {
                other[i] = Combine::of(buffer[2 * i], buffer[2 * i + 1]);
            }
            if (round_to_half) {
                Isa::float_to_half(narrow, other, n);
                Isa::half_to_float(buffer, narrow, n);
            } else {
                std::memcpy(buffer, other, n * sizeof(float));
            }
        }
    }
};

// The extreme of each row of 64 or 128 lanes, at most kBatch lanes together. Any order of comparisons gives the same.
template <class Combine>
struct ExtremeKernel {
    template <class Isa>
    static PYTO_INLINE void run(const float* rows, size_t n, size_t lanes, float* value)
    {
        alignas(64) float m[kBatch / 4];
        for (size_t r = 0; r < n; ++r) {
            const float* row = rows + r * lanes;
            float* to = m + r * 16;
            PYTO_SHORT_LOOP
            for (int i = 0; i < 16; ++i) {
                to[i] = Combine::of(Combine::of(row[i], row[i + 16]), Combine::of(row[i + 32], row[i + 48]));
            }
            if (lanes == 128) {
                PYTO_SHORT_LOOP
                for (int i = 0; i < 16; ++i) {
                    const float half = Combine::of(Combine::of(row[i + 64], row[i + 80]),
                                                   Combine::of(row[i + 96], row[i + 112]));
                    to[i] = Combine::of(to[i], half);
                }
            }
        }
        FoldKernel<Combine>::template run<Isa>(m, n * 16, 4, false);
        std::memcpy(value, m, n * sizeof(float));
    }
};

// First lane of a row that equals `value`; 128 when there is none.
struct FindKernel {
    template <class Isa>
    static PYTO_INLINE void run(const float* row, size_t lanes, float value, int32_t* found)
    {
        int32_t first = 128;
        PYTO_LOOP
        for (int32_t i = 0; i < static_cast<int32_t>(lanes); ++i) {
            const int32_t at = row[i] == value ? i : 128;
            first = at < first ? at : first;
        }
        *found = first;
    }
};

struct WidenKernel {
    template <class Isa>
    static PYTO_INLINE void run(float* dst, const uint16_t* src, size_t n)
    {
        Isa::half_to_float(dst, src, n);
    }
};

struct NarrowKernel {
    template <class Isa>
    static PYTO_INLINE void run(uint16_t* dst, const float* src, size_t n)
    {
        Isa::float_to_half(dst, src, n);
    }
};

// Lane by lane over rows, for one extreme of a whole call.
template <class Combine>
struct GatherRowsKernel {
    template <class Isa>
    static PYTO_INLINE void run(float* total, const float* rows, size_t n, size_t lanes)
    {
        for (size_t r = 0; r < n; ++r) {
            PYTO_LOOP
            for (size_t i = 0; i < lanes; ++i) {
                total[i] = Combine::of(total[i], rows[r * lanes + i]);
            }
        }
    }
};

}  // namespace

ExtremeFn extreme_of(bool is_max)
{
    return is_max ? pick<ExtremeKernel<MaxOf>, const float*, size_t, size_t, float*>()
                  : pick<ExtremeKernel<MinOf>, const float*, size_t, size_t, float*>();
}

uint32_t find(const float* row, size_t lanes, float value)
{
    int32_t found = 0;
    pick<FindKernel, const float*, size_t, float, int32_t*>()(row, lanes, value, &found);
    return static_cast<uint32_t>(found);
}

GatherRowsFn gather_rows_of(bool is_max)
{
    return is_max ? pick<GatherRowsKernel<MaxOf>, float*, const float*, size_t, size_t>()
                  : pick<GatherRowsKernel<MinOf>, float*, const float*, size_t, size_t>();
}

FoldFn fold_of(ReduceOp op)
{
    switch (op) {
        case ReduceOp::Sum: return pick<FoldKernel<SumOf>, float*, size_t, int, bool>();
        case ReduceOp::Max: return pick<FoldKernel<MaxOf>, float*, size_t, int, bool>();
        default: return pick<FoldKernel<MinOf>, float*, size_t, int, bool>();
    }
}

void widen_span(float* dst, const uint16_t* src, size_t n)
{
    pick<WidenKernel, float*, const uint16_t*, size_t>()(dst, src, n);
}

void narrow_span(uint16_t* dst, const float* src, size_t n)
{
    pick<NarrowKernel, uint16_t*, const float*, size_t>()(dst, src, n);
}

// First active lane that holds `value`.
uint32_t lane_of(const float* row, uint32_t lanes, const Segment& s, float value)
{
    const uint32_t guess = find(row, lanes, value);
    for (uint32_t i = value == value ? guess : 0; i < lanes; ++i) {
        const bool same = row[i] == value || (row[i] != row[i] && value != value);
        if (same && active(s, i)) {
            return i;
        }
    }
    return 0;
}

}  // namespace vec
}  // namespace pyto_sim
