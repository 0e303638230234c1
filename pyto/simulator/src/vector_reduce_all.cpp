// Reductions of a whole call to one result.
#include "vector_reduce.h"

namespace pyto_sim {
namespace vec {

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
