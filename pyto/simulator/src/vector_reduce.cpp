// Reductions to one result a repeat, block or pair.
#include "vector_reduce.h"

namespace pyto_sim {
namespace vec {

namespace {

struct Found {
    float value;
    uint32_t index;
};

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

}  // namespace vec
}  // namespace pyto_sim
