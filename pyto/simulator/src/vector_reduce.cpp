// Reductions. Within a repeat neighbours are combined pairwise, level by level, as the hardware documentation draws it;
// sums of halves round at every level. A batch of repeats goes through the levels together, as long loops.
#include <type_traits>

#include "vector_half.h"
#include "vector_math.h"
#include "vector_rows.h"

namespace pyto_sim {
namespace vec {

namespace {

constexpr uint32_t kBatch = 1024;  // lanes folded at a time

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

using FoldFn = void (*)(float*, size_t, int, bool);

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

using ExtremeFn = void (*)(const float*, size_t, size_t, float*);
using GatherRowsFn = void (*)(float*, const float*, size_t, size_t);

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

void float_to_half_span(uint16_t* dst, const float* src, size_t n)
{
    pick<NarrowKernel, uint16_t*, const float*, size_t>()(dst, src, n);
}

float infinity()
{
    return bits_as<float>(0x7f800000u);
}

float neutral(ReduceOp op)
{
    return op == ReduceOp::Sum ? 0.0f : op == ReduceOp::Max ? -infinity() : infinity();
}

// Reads repeats as floats, inactive lanes as the neutral value.
class Reader {
public:
    Reader(Elem t, Span a, float fill)
        : half_(t == Elem::F16), lanes_(half_ ? 128 : 64), a_(a), fill_(fill),
          widen_(pick<WidenKernel, float*, const uint16_t*, size_t>())
    {
    }

    uint32_t lanes() const { return lanes_; }
    bool half() const { return half_; }
    uint32_t unit() const { return half_ ? 2 : 4; }
    uint32_t batch() const { return kBatch / lanes_; }
    int levels() const { return half_ ? 7 : 6; }

    void read(float* out, const Segment& s, uint32_t first, uint32_t n) const
    {
        const bool all = s.low == ~uint64_t{0} && (!half_ || s.high == ~uint64_t{0});
        if (all && a_.blk == 1 && a_.rep == 8) {
            widen(out, address(first, 0), n * lanes_);
            return;
        }
        for (uint32_t r = 0; r < n; ++r) {
            float* row = out + size_t{r} * lanes_;
            if (a_.blk == 1) {
                const uint32_t used = s.high != 0 ? 128 - static_cast<uint32_t>(__builtin_clzll(s.high))
                                                  : 64 - static_cast<uint32_t>(__builtin_clzll(s.low));
                widen(row, address(first + r, 0), used);
            } else {
                for (uint32_t b = 0; b < 8; ++b) {
                    if (block_active(s, b)) {
                        widen(row + b * (lanes_ / 8), address(first + r, b), lanes_ / 8);
                    }
                }
            }
            if (!all) {
                for (uint32_t i = 0; i < lanes_; ++i) {
                    row[i] = active(s, i) ? row[i] : fill_;
                }
            }
        }
    }

    bool block_active(const Segment& s, uint32_t block) const
    {
        const uint32_t per_block = lanes_ / 8;
        const uint32_t at = block * per_block;
        return (((at < 64 ? s.low : s.high) >> (at & 63u)) & low_bits(per_block)) != 0;
    }

private:
    const uint8_t* address(uint32_t rep, uint32_t block) const
    {
        return static_cast<const uint8_t*>(a_.data) + (size_t{rep} * a_.rep + size_t{block} * a_.blk) * kBlock;
    }
    void widen(float* out, const uint8_t* from, size_t n) const
    {
        if (half_) {
            widen_(out, reinterpret_cast<const uint16_t*>(from), n);
        } else {
            std::memcpy(out, from, n * sizeof(float));
        }
    }

    bool half_;
    uint32_t lanes_;
    Span a_;
    float fill_;
    void (*widen_)(float*, const uint16_t*, size_t);
};

void put(void* dst, size_t byte, float v, bool half)
{
    uint8_t* d = static_cast<uint8_t*>(dst) + byte;
    if (half) {
        const uint16_t h = float_to_half(v);
        std::memcpy(d, &h, 2);
    } else {
        std::memcpy(d, &v, 4);
    }
}

// Consecutive results.
void put_all(void* dst, size_t byte, const float* v, size_t n, bool half)
{
    uint8_t* d = static_cast<uint8_t*>(dst) + byte;
    if (half) {
        float_to_half_span(reinterpret_cast<uint16_t*>(d), v, n);
    } else {
        std::memcpy(d, v, n * sizeof(float));
    }
}

uint32_t bits_of(float v, bool half)
{
    return half ? float_to_half(v) : bits_as<uint32_t>(v);
}

// Calls `use(segment, first repeat, repeats, lanes as floats)` for batches of repeats; false ends it.
template <class Use>
void for_batches(const Reader& reader, const Lanes& lanes, Use use)
{
    alignas(64) float buffer[kBatch];
    Segment parts[2];
    const int count = segments(lanes, reader.lanes(), parts);
    for (int s = 0; s < count; ++s) {
        const Segment& p = parts[s];
        for (uint32_t at = 0; at < p.repeats; at += reader.batch()) {
            const uint32_t n = p.repeats - at < reader.batch() ? p.repeats - at : reader.batch();
            reader.read(buffer, p, p.first + at, n);
            if constexpr (std::is_same<decltype(use(p, 0u, 0u, buffer)), bool>::value) {
                if (!use(p, p.first + at, n, buffer)) {
                    return;
                }
            } else {
                use(p, p.first + at, n, buffer);
            }
        }
    }
}

struct Found {
    float value;
    uint32_t index;
};

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

bool better(bool is_max, float a, float b)
{
    return (a != a && b == b) || (is_max ? a > b : a < b);
}

}  // namespace

void reduce_repeat_sum(Elem t, void* dst, Span a, uint32_t dst_rep, const Lanes& lanes)
{
    const Reader reader(t, a, 0.0f);
    const FoldFn fold = fold_of(ReduceOp::Sum);
    for_batches(reader, lanes, [&](const Segment&, uint32_t first, uint32_t n, float* buffer) {
        fold(buffer, size_t{n} * reader.lanes(), reader.levels(), reader.half());
        if (dst_rep == reader.unit()) {
            put_all(dst, size_t{first} * dst_rep, buffer, n, reader.half());
            return;
        }
        for (uint32_t r = 0; r < n; ++r) {
            put(dst, size_t{first + r} * dst_rep, buffer[r], reader.half());
        }
    });
}

uint64_t reduce_repeat_extreme(bool is_max, Elem t, void* dst, Span a, uint32_t dst_rep, Order order,
                               const Lanes& lanes)
{
    const Reader reader(t, a, neutral(is_max ? ReduceOp::Max : ReduceOp::Min));
    const ExtremeFn extreme = extreme_of(is_max);
    const uint32_t unit = reader.unit();
    Found best{0.0f, 0};
    bool any = false;
    for_batches(reader, lanes, [&](const Segment& s, uint32_t first, uint32_t n, float* buffer) {
        float value[kBatch / 64];
        extreme(buffer, n, reader.lanes(), value);
        for (uint32_t r = 0; r < n; ++r) {
            const float* row = buffer + size_t{r} * reader.lanes();
            const bool improves = !any || better(is_max, value[r], best.value);
            const bool wanted = improves || order != Order::OnlyValue;
            const uint32_t index = wanted ? lane_of(row, reader.lanes(), s, value[r]) : 0;
            if (improves) {
                best = {value[r], (first + r) * reader.lanes() + index};
                any = true;
            }
            uint8_t* d = static_cast<uint8_t*>(dst) + size_t{first + r} * dst_rep;
            if (order == Order::OnlyIndex) {
                std::memcpy(d, &index, 4);
            } else if (order == Order::OnlyValue) {
                put(d, 0, value[r], reader.half());
            } else {
                put(d, order == Order::ValueIndex ? 0 : unit, value[r], reader.half());
                std::memcpy(d + (order == Order::ValueIndex ? unit : 0), &index, unit);
            }
        }
    });
    return bits_of(best.value, reader.half()) | (static_cast<uint64_t>(best.index) << 32);
}

namespace {

// Writes groups of results, `per_repeat` a repeat; those without an active lane are left alone.
void put_groups(const Reader& reader, const Segment& s, void* dst, uint32_t dst_rep, uint32_t first, uint32_t n,
                uint32_t per_repeat, const float* results)
{
    const uint32_t lanes_each = reader.lanes() / per_repeat;
    bool used[64];
    bool all = true;
    for (uint32_t i = 0; i < per_repeat; ++i) {
        const uint32_t lane = i * lanes_each;
        used[i] = (((lane < 64 ? s.low : s.high) >> (lane & 63u)) & low_bits(lanes_each)) != 0;
        all = all && used[i];
    }
    for (uint32_t r = 0; r < n; ++r) {
        const float* row = results + size_t{r} * per_repeat;
        const size_t at = size_t{first + r} * dst_rep;
        if (all) {
            put_all(dst, at, row, per_repeat, reader.half());
            continue;
        }
        for (uint32_t i = 0; i < per_repeat; ++i) {
            if (used[i]) {
                put(dst, at + size_t{i} * reader.unit(), row[i], reader.half());
            }
        }
    }
}

}  // namespace

void reduce_block(ReduceOp op, Elem t, void* dst, Span a, uint32_t dst_rep, const Lanes& lanes)
{
    const Reader reader(t, a, neutral(op));
    const FoldFn fold = fold_of(op);
    for_batches(reader, lanes, [&](const Segment& s, uint32_t first, uint32_t n, float* buffer) {
        fold(buffer, size_t{n} * reader.lanes(), reader.levels() - 3, reader.half() && op == ReduceOp::Sum);
        put_groups(reader, s, dst, dst_rep, first, n, 8, buffer);
    });
}

void reduce_pair(Elem t, void* dst, Span a, uint32_t dst_rep, const Lanes& lanes)
{
    const Reader reader(t, a, 0.0f);
    const FoldFn fold = fold_of(ReduceOp::Sum);
    for_batches(reader, lanes, [&](const Segment& s, uint32_t first, uint32_t n, float* buffer) {
        fold(buffer, size_t{n} * reader.lanes(), 1, reader.half());
        put_groups(reader, s, dst, dst_rep, first, n, reader.lanes() / 2, buffer);
    });
}

uint32_t reduce_sum(Elem t, Span a, bool tree, const Lanes& lanes)
{
    const Reader reader(t, a, 0.0f);
    const FoldFn fold = fold_of(ReduceOp::Sum);
    const auto add = [&](float x, float y) {
        return reader.half() ? half_to_float(float_to_half(x + y)) : x + y;
    };
    // With `tree`, the sums of repeats form the lanes of a next round: keep one pending lane row for each round.
    constexpr int kRounds = 6;
    float pending[kRounds][128];
    uint32_t filled[kRounds] = {0, 0, 0, 0, 0, 0};
    float total = 0.0f;
    bool any = false;
    const auto close = [&](int round) {
        for (uint32_t i = filled[round]; i < reader.lanes(); ++i) {
            pending[round][i] = 0.0f;
        }
        fold(pending[round], reader.lanes(), reader.levels(), reader.half());
        filled[round] = 0;
        return pending[round][0];
    };
    const auto push = [&](float v) {
        for (int round = 0; round < kRounds; ++round) {
            pending[round][filled[round]++] = v;
            if (filled[round] < reader.lanes()) {
                return;
            }
            v = close(round);
        }
    };
    for_batches(reader, lanes, [&](const Segment&, uint32_t, uint32_t n, float* buffer) {
        fold(buffer, size_t{n} * reader.lanes(), reader.levels(), reader.half());
        for (uint32_t r = 0; r < n; ++r) {
            if (tree) {
                push(buffer[r]);
            } else {
                total = any ? add(total, buffer[r]) : buffer[r];
            }
            any = true;
        }
    });
    if (tree && any) {
        bool carried = false;
        float v = 0.0f;
        for (int round = 0; round < kRounds; ++round) {
            if (carried) {
                pending[round][filled[round]++] = v;
            }
            bool more = false;
            for (int later = round + 1; later < kRounds; ++later) {
                more = more || filled[later] != 0;
            }
            if (filled[round] != 0) {
                v = filled[round] == 1 ? pending[round][0] : close(round);
                filled[round] = 0;
                carried = true;
            }
            if (!more) {
                break;
            }
        }
        total = v;
    }
    return bits_of(total, reader.half());
}

uint64_t reduce_extreme(bool is_max, Elem t, Span a, bool with_index, const Lanes& lanes)
{
    const float fill = neutral(is_max ? ReduceOp::Max : ReduceOp::Min);
    const Reader reader(t, a, fill);
    const GatherRowsFn gather_rows = gather_rows_of(is_max);
    const ExtremeFn extreme = extreme_of(is_max);
    const uint32_t pitch = a.rep * (reader.lanes() / 8);  // elements from repeat to repeat: indices count them
    alignas(64) float total[128];
    for (uint32_t i = 0; i < reader.lanes(); ++i) {
        total[i] = fill;
    }
    for_batches(reader, lanes, [&](const Segment&, uint32_t, uint32_t n, float* buffer) {
        gather_rows(total, buffer, n, reader.lanes());
    });
    float value;
    extreme(total, 1, reader.lanes(), &value);
    // Second pass: the first repeat that holds the value.
    bool found = false;
    uint32_t index = 0;
    const auto search = [&](const Segment& s, uint32_t first, uint32_t n, float* buffer) {
        float mine[kBatch / 64];
        extreme(buffer, n, reader.lanes(), mine);
        for (uint32_t r = 0; r < n && !found; ++r) {
            if (mine[r] == value || (mine[r] != mine[r] && value != value)) {
                index = (first + r) * pitch + lane_of(buffer + size_t{r} * reader.lanes(), reader.lanes(), s, value);
                found = true;
            }
        }
        return !found;
    };
    if (with_index) {
        for_batches(reader, lanes, search);
    }
    return bits_of(value, reader.half()) | (static_cast<uint64_t>(index) << 32);
}

}  // namespace vec
}  // namespace pyto_sim
