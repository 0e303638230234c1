// Parts of the reductions: kernels over rows of lanes as floats, and the reader that supplies them.
#ifndef PYTO_SIM_VECTOR_REDUCE_H
#define PYTO_SIM_VECTOR_REDUCE_H

#include <type_traits>

#include "vector_half.h"
#include "vector_rows.h"

namespace pyto_sim {
namespace vec {

constexpr uint32_t kBatch = 1024;  // lanes handled at a time

// Folds n lanes in place by 2^levels; the results are at the front. The flag rounds each level to half.
using FoldFn = void (*)(float* lanes, size_t n, int levels, bool round_to_half);
FoldFn fold_of(ReduceOp op);
// The extreme of each of n rows.
using ExtremeFn = void (*)(const float* rows, size_t n, size_t lanes, float* value);
ExtremeFn extreme_of(bool is_max);
// total = extreme of total and n rows, lane by lane.
using GatherRowsFn = void (*)(float* total, const float* rows, size_t n, size_t lanes);
GatherRowsFn gather_rows_of(bool is_max);
// First active lane that holds `value`.
uint32_t lane_of(const float* row, uint32_t lanes, const Segment& s, float value);
void widen_span(float* dst, const uint16_t* src, size_t n);
void narrow_span(uint16_t* dst, const float* src, size_t n);

inline float infinity()
{
    return bits_as<float>(0x7f800000u);
}

inline float neutral(ReduceOp op)
{
    return op == ReduceOp::Sum ? 0.0f : op == ReduceOp::Max ? -infinity() : infinity();
}

inline void put(void* dst, size_t byte, float v, bool half)
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
inline void put_all(void* dst, size_t byte, const float* v, size_t n, bool half)
{
    uint8_t* d = static_cast<uint8_t*>(dst) + byte;
    if (half) {
        narrow_span(reinterpret_cast<uint16_t*>(d), v, n);
    } else {
        std::memcpy(d, v, n * sizeof(float));
    }
}

inline uint32_t bits_of(float v, bool half)
{
    return half ? float_to_half(v) : bits_as<uint32_t>(v);
}

// Reads repeats as floats, inactive lanes as the neutral value.
class Reader {
public:
    Reader(Elem t, Span a, float fill)
        : half_(t == Elem::F16), lanes_(half_ ? 128 : 64), a_(a), fill_(fill)
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
            widen_span(out, reinterpret_cast<const uint16_t*>(from), n);
        } else {
            std::memcpy(out, from, n * sizeof(float));
        }
    }

    bool half_;
    uint32_t lanes_;
    Span a_;
    float fill_;
};

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

}  // namespace vec
}  // namespace pyto_sim

#endif
