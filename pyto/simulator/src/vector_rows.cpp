#include "vector_rows.h"

namespace pyto_sim {
namespace vec {

namespace {

struct Walker {
    const Span* spans;
    const uint32_t* size;
    int operands;
    uint32_t width;  // bytes of the widest element
    Rows rows;
    RowKernel kernel;

    void run(uint32_t first_lane, uint32_t last_lane, uint32_t first, uint32_t repeats)
    {
        bool straight = true;
        bool repeated_any = false;
        const uint32_t lanes = last_lane - first_lane;
        for (int i = 0; i < operands && straight; ++i) {
            const uint32_t per_block = kBlock / size[i];
            const bool one_block = first_lane / per_block == (last_lane - 1) / per_block;
            const bool linear = one_block || spans[i].blk == 1;
            const bool repeated = !linear && i > 0 && spans[i].blk == 0 && first_lane % per_block == 0;
            straight = linear || repeated;
            rows.repeated[i] = repeated;
            repeated_any = repeated_any || repeated;
        }
        if (!straight) {
            const uint32_t step = kBlock / width;
            for (uint32_t at = first_lane; at < last_lane;) {
                const uint32_t end = (at / step + 1) * step;
                const uint32_t stop = end < last_lane ? end : last_lane;
                run(at, stop, first, repeats);
                at = stop;
            }
            return;
        }
        bool dense = !repeated_any;
        for (int i = 0; i < operands; ++i) {
            const uint32_t per_block = kBlock / size[i];
            const uint8_t* base = static_cast<const uint8_t*>(spans[i].data);
            const uint64_t offset = static_cast<uint64_t>(first) * spans[i].rep * kBlock +
                                    static_cast<uint64_t>(first_lane / per_block) * spans[i].blk * kBlock +
                                    static_cast<uint64_t>(first_lane % per_block) * size[i];
            rows.data[i] = const_cast<uint8_t*>(base + offset);
            rows.stride[i] = static_cast<int64_t>(spans[i].rep) * kBlock;
            dense = dense && rows.stride[i] == static_cast<int64_t>(lanes) * size[i];
        }
        rows.rows = repeats;
        rows.cols = lanes;
        if (dense) {
            rows.cols *= repeats;
            rows.rows = 1;
        }
        kernel(&rows);
    }
};

// First set bit at or after `at`; 128 when there is none.
uint32_t next_set(uint64_t low, uint64_t high, uint32_t at)
{
    if (at < 64 && (low >> at) != 0) {
        return at + static_cast<uint32_t>(__builtin_ctzll(low >> at));
    }
    const uint32_t from = at < 64 ? 0 : at - 64;
    if (from < 64 && (high >> from) != 0) {
        return 64 + from + static_cast<uint32_t>(__builtin_ctzll(high >> from));
    }
    return 128;
}

}  // namespace

int segments(const Lanes& lanes, uint32_t per_repeat, Segment out[2])
{
    const uint64_t all_low = low_bits(per_repeat);
    const uint64_t all_high = per_repeat > 64 ? low_bits(per_repeat - 64) : 0;
    int n = 0;
    if (lanes.counter) {
        const uint32_t full = static_cast<uint32_t>(lanes.low / per_repeat);
        const uint32_t tail = static_cast<uint32_t>(lanes.low % per_repeat);
        if (full != 0) {
            out[n++] = {all_low, all_high, 0, full};
        }
        if (tail != 0) {
            out[n++] = {low_bits(tail), tail > 64 ? low_bits(tail - 64) : 0, full, 1};
        }
        return n;
    }
    const uint64_t low = lanes.low & all_low;
    const uint64_t high = lanes.high & all_high;
    if (lanes.repeats != 0 && (low | high) != 0) {
        out[n++] = {low, high, 0, lanes.repeats};
    }
    return n;
}

void walk(const Span* spans, const uint32_t* size, int operands, const Lanes& lanes, uint64_t value, RowKernel kernel,
          const void* extra)
{
    Walker w{};
    w.spans = spans;
    w.size = size;
    w.operands = operands;
    w.kernel = kernel;
    w.rows.value = value;
    w.rows.extra = extra;
    for (int i = 0; i < operands; ++i) {
        w.width = size[i] > w.width ? size[i] : w.width;
    }
    const uint32_t per_repeat = kRepeat / w.width;
    // A dense whole call is one row, whatever its length.
    if (lanes.counter && lanes.low != 0) {
        bool dense = true;
        for (int i = 0; i < operands; ++i) {
            dense = dense && spans[i].blk == 1 && spans[i].rep == per_repeat * size[i] / kBlock;
        }
        if (dense) {
            for (int i = 0; i < operands; ++i) {
                w.rows.data[i] = static_cast<uint8_t*>(const_cast<void*>(spans[i].data));
                w.rows.repeated[i] = false;
                w.rows.stride[i] = 0;
            }
            w.rows.rows = 1;
            w.rows.cols = static_cast<int64_t>(lanes.low);
            kernel(&w.rows);
            return;
        }
    }
    Segment parts[2];
    const int count = segments(lanes, per_repeat, parts);
    for (int s = 0; s < count; ++s) {
        const Segment& p = parts[s];
        for (uint32_t lane = next_set(p.low, p.high, 0); lane < per_repeat;) {
            uint32_t end = next_set(~p.low, ~p.high, lane);
            end = end < per_repeat ? end : per_repeat;
            w.run(lane, end, p.first, p.repeats);
            lane = next_set(p.low, p.high, end);
        }
    }
}

}  // namespace vec
}  // namespace pyto_sim
