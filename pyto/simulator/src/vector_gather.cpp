// Gathers by byte offset, by block, and by bit pattern.
#include "vector_rows.h"

namespace pyto_sim {
namespace vec {

namespace {

template <class T>
bool gather_typed(void* dst, const void* src, uint64_t limit, const uint32_t* offset, uint32_t dst_rep,
                  const Lanes& lanes)
{
    constexpr uint32_t per_repeat = kRepeat / sizeof(T);
    const uint8_t* base = static_cast<const uint8_t*>(src);
    Segment parts[2];
    const int count = segments(lanes, per_repeat, parts);
    bool inside = true;
    for (int s = 0; s < count; ++s) {
        const Segment& p = parts[s];
        const bool all = p.low == ~uint64_t{0} && (per_repeat == 64 || p.high == ~uint64_t{0});
        for (uint32_t r = p.first; r < p.first + p.repeats; ++r) {
            T* d = reinterpret_cast<T*>(static_cast<uint8_t*>(dst) + size_t{r} * dst_rep * kBlock);
            const uint32_t* at = offset + size_t{r} * per_repeat;
            uint32_t furthest = 0;
            for (uint32_t i = 0; all && i < per_repeat; ++i) {
                furthest = at[i] > furthest ? at[i] : furthest;
            }
            if (all && uint64_t{furthest} + sizeof(T) <= limit) {
                for (uint32_t i = 0; i < per_repeat; ++i) {
                    std::memcpy(d + i, base + at[i], sizeof(T));
                }
                continue;
            }
            for (uint32_t i = 0; i < per_repeat; ++i) {
                if (!active(p, i)) {
                    continue;
                }
                if (uint64_t{at[i]} + sizeof(T) > limit) {
                    inside = false;
                    continue;
                }
                std::memcpy(d + i, base + at[i], sizeof(T));
            }
        }
    }
    return inside;
}

// Every `step`-th element of a contiguous source. The destination may be the source: it never runs ahead of it.
template <class T, uint32_t step>
struct ThinKernel {
    template <class Isa>
    static PYTO_INLINE void run(T* d, const T* s, size_t n)
    {
        PYTO_LOOP
        for (size_t i = 0; i < n; ++i) {
            d[i] = s[i * step];
        }
    }
};

template <class T>
uint64_t thin(T* d, const T* s, uint32_t pattern, uint64_t count)
{
    if (pattern == 7) {
        std::memmove(d, s, count * sizeof(T));
        return count;
    }
    const uint32_t step = pattern <= 2 ? 2 : 4;
    const uint32_t first = pattern <= 2 ? pattern - 1 : pattern - 3;
    const uint64_t n = count > first ? (count - first + step - 1) / step : 0;
    const auto kernel = step == 2 ? pick<ThinKernel<T, 2>, T*, const T*, size_t>() : pick<ThinKernel<T, 4>, T*, const T*, size_t>();
    kernel(d, s + first, n);
    return n;
}

template <class T>
uint64_t gather_mask_typed(void* dst, Span a, const void* bits, uint32_t bits_rep, uint32_t pattern,
                           uint32_t per_repeat, uint32_t repeats)
{
    // Fixed patterns repeat every four lanes.
    static const uint8_t kPattern[8] = {0x0, 0x5, 0xa, 0x1, 0x2, 0x4, 0x8, 0xf};
    constexpr uint32_t per_block = kBlock / sizeof(T);
    const uint32_t fixed = kPattern[pattern & 7u];
    T* d = static_cast<T*>(dst);
    uint64_t kept = 0;
    const bool dense = uint64_t{a.rep} * kBlock == uint64_t{per_repeat} * sizeof(T) && per_repeat % 4 == 0;
    if (bits == nullptr && a.blk == 1 && (dense || repeats == 1)) {
        return thin(d, static_cast<const T*>(a.data), pattern, uint64_t{per_repeat} * repeats);
    }
    for (uint32_t r = 0; r < repeats; ++r) {
        const uint8_t* base = static_cast<const uint8_t*>(a.data) + size_t{r} * a.rep * kBlock;
        if (bits == nullptr && a.blk == 1) {
            kept += thin(d + kept, reinterpret_cast<const T*>(base), pattern, per_repeat);
            continue;
        }
        const uint8_t* flag = static_cast<const uint8_t*>(bits) + (bits == nullptr ? 0 : size_t{r} * bits_rep * kBlock);
        for (uint32_t i = 0; i < per_repeat; ++i) {
            const uint32_t take = bits == nullptr ? (fixed >> (i & 3u)) & 1u : (flag[i / 8] >> (i & 7u)) & 1u;
            if (take != 0) {
                T v;
                std::memcpy(&v, base + size_t{i / per_block} * a.blk * kBlock + size_t{i % per_block} * sizeof(T),
                            sizeof(T));
                d[kept++] = v;
            }
        }
    }
    return kept;
}

}  // namespace

bool gather(uint32_t size, void* dst, const void* src, uint64_t limit, const uint32_t* offset, uint32_t dst_rep,
            const Lanes& lanes)
{
    return size == 2 ? gather_typed<uint16_t>(dst, src, limit, offset, dst_rep, lanes)
                     : gather_typed<uint32_t>(dst, src, limit, offset, dst_rep, lanes);
}

bool gather_blocks(void* dst, const void* src, uint64_t limit, const uint32_t* offset, uint32_t repeats, uint32_t blk,
                   uint32_t rep)
{
    const uint32_t step = blk == 0 ? 1 : blk;
    bool inside = true;
    for (uint32_t r = 0; r < repeats; ++r) {
        for (uint32_t i = 0; i < 8; ++i) {
            const uint32_t at = offset[r * 8 + i];
            if (uint64_t{at} + kBlock > limit) {
                inside = false;
                continue;
            }
            std::memcpy(static_cast<uint8_t*>(dst) + (size_t{r} * rep + size_t{i} * step) * kBlock,
                        static_cast<const uint8_t*>(src) + at, kBlock);
        }
    }
    return inside;
}

uint64_t gather_mask(uint32_t size, void* dst, Span a, const void* bits, uint32_t bits_rep, uint32_t pattern,
                     uint32_t per_repeat, uint32_t repeats)
{
    return size == 2 ? gather_mask_typed<uint16_t>(dst, a, bits, bits_rep, pattern, per_repeat, repeats)
                     : gather_mask_typed<uint32_t>(dst, a, bits, bits_rep, pattern, per_repeat, repeats);
}

}  // namespace vec
}  // namespace pyto_sim
