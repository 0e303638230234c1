// Sorting of (score, index) pairs, 8 bytes each: the score in the low bytes, the index in the high four. Descending;
// equal scores keep their order.
#include <utility>

#include "vector_half.h"
#include "vector_rows.h"

namespace pyto_sim {
namespace vec {

namespace {

PYTO_INLINE float score_of(Elem t, const uint8_t* pair)
{
    if (t == Elem::F16) {
        uint16_t h;
        std::memcpy(&h, pair, 2);
        return half_to_float(h);
    }
    float f;
    std::memcpy(&f, pair, 4);
    return f;
}

}  // namespace

namespace {

// Place of each of 32 keys: how many come before it. Keys order as integers like the scores do as floats.
struct RankKernel {
    template <class Isa>
    static PYTO_INLINE void run(uint32_t* rank, const int32_t* key)
    {
        for (uint32_t i = 0; i < 32; ++i) {
            rank[i] = 0;
        }
        for (uint32_t j = 0; j < 32; ++j) {
            PYTO_LOOP
            for (uint32_t i = 0; i < 32; ++i) {
                const uint32_t before = static_cast<uint32_t>(key[j] > key[i]) |
                                        (static_cast<uint32_t>(key[j] == key[i]) & static_cast<uint32_t>(j < i));
                rank[i] += before;
            }
        }
    }
};

// T: the bits of a score.
template <class T>
void sort32_typed(Elem t, void* dst, const T* score, const uint32_t* index, uint32_t repeats)
{
    constexpr uint32_t kCount = 32;
    const auto ranks = pick<RankKernel, uint32_t*, const int32_t*>();
    for (uint32_t r = 0; r < repeats; ++r) {
        const T* from = score + size_t{r} * kCount;
        const uint32_t* id = index + size_t{r} * kCount;
        int32_t key[kCount];
        uint32_t rank[kCount];
        for (uint32_t i = 0; i < kCount; ++i) {
            // Adding zero makes the two zeros equal; negative floats order backwards as integers.
            const int32_t bits = bits_as<int32_t>(score_of(t, reinterpret_cast<const uint8_t*>(from + i)) + 0.0f);
            key[i] = bits ^ ((bits >> 31) & 0x7fffffff);
        }
        ranks(rank, key);
        uint64_t sorted[kCount];
        for (uint32_t i = 0; i < kCount; ++i) {
            sorted[rank[i]] = uint64_t{from[i]} | (uint64_t{id[i]} << 32);
        }
        std::memcpy(static_cast<uint8_t*>(dst) + size_t{r} * kCount * 8, sorted, sizeof sorted);
    }
}

}  // namespace

void sort32(Elem t, void* dst, const void* score, const uint32_t* index, uint32_t repeats)
{
    if (t == Elem::F16) {
        sort32_typed(t, dst, static_cast<const uint16_t*>(score), index, repeats);
    } else {
        sort32_typed(t, dst, static_cast<const uint32_t*>(score), index, repeats);
    }
}

void merge_sort(Elem t, void* dst, const void* const src[4], const uint16_t length[4], uint32_t lists,
                bool stop_when_exhausted, uint16_t taken[4])
{
    uint32_t at[4] = {0, 0, 0, 0};
    uint8_t* out = static_cast<uint8_t*>(dst);
    bool running = true;
    for (uint32_t k = 0; stop_when_exhausted && k < lists; ++k) {
        running = running && length[k] != 0;
    }
    while (running) {
        int best = -1;
        float best_score = 0.0f;
        for (uint32_t k = 0; k < lists; ++k) {
            if (at[k] < length[k]) {
                const float score = score_of(t, static_cast<const uint8_t*>(src[k]) + size_t{at[k]} * 8);
                if (best < 0 || score > best_score) {
                    best = static_cast<int>(k);
                    best_score = score;
                }
            }
        }
        if (best < 0) {
            break;
        }
        std::memcpy(out, static_cast<const uint8_t*>(src[best]) + size_t{at[best]} * 8, 8);
        out += 8;
        ++at[best];
        running = !(stop_when_exhausted && at[best] == length[best]);
    }
    for (uint32_t k = 0; k < 4; ++k) {
        taken[k] = static_cast<uint16_t>(at[k]);
    }
}

void merge_groups(Elem t, void* pairs, void* room, uint64_t count)
{
    uint8_t* in = static_cast<uint8_t*>(pairs);
    uint8_t* out = static_cast<uint8_t*>(room);
    for (uint64_t group = 32; group < count; group *= 4) {
        for (uint64_t at = 0; at < count; at += 4 * group) {
            const void* from[4];
            uint16_t length[4];
            for (uint64_t k = 0; k < 4; ++k) {
                const uint64_t begin = at + k * group;
                const uint64_t left = begin < count ? count - begin : 0;
                from[k] = in + begin * 8;
                length[k] = static_cast<uint16_t>(left < group ? left : group);
            }
            uint16_t taken[4];
            merge_sort(t, out + at * 8, from, length, 4, false, taken);
        }
        std::swap(in, out);
    }
    if (in != pairs) {
        std::memcpy(pairs, in, count * 8);
    }
}

void extract_pairs(Elem t, void* values, uint32_t* index, const void* sorted, uint64_t count)
{
    const uint32_t size = elem_size(t);
    const uint8_t* from = static_cast<const uint8_t*>(sorted);
    for (uint64_t i = 0; i < count; ++i) {
        std::memcpy(static_cast<uint8_t*>(values) + i * size, from + i * 8, size);
        std::memcpy(index + i, from + i * 8 + 4, 4);
    }
}

}  // namespace vec
}  // namespace pyto_sim
