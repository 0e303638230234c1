// Comparisons to bits and selection by bits. Bit i of a byte is lane i, lowest first.
#include "vector_half.h"
#include "vector_math.h"
#include "vector_rows.h"

namespace pyto_sim {
namespace vec {

namespace {

template <Cmp op>
struct Test {
    template <class T>
    static PYTO_INLINE bool of(T a, T b)
    {
        switch (op) {
            case Cmp::Lt: return a < b;
            case Cmp::Gt: return a > b;
            case Cmp::Eq: return a == b;
            case Cmp::Le: return a <= b;
            case Cmp::Ge: return a >= b;
            default: return a != b;
        }
    }
};

// One byte a lane (0 or 1), which vectorises; pack() turns them into bits.
template <Cmp op, class T>
struct FlagKernel {
    template <class Isa>
    static PYTO_INLINE void run(uint8_t* flag, const void* a, const void* b, size_t n)
    {
        const T* x = static_cast<const T*>(a);
        const T* y = static_cast<const T*>(b);
        PYTO_LOOP
        for (size_t i = 0; i < n; ++i) {
            flag[i] = Test<op>::of(x[i], y[i]) ? 1 : 0;
        }
    }
};

template <Cmp op>
struct FlagKernel<op, uint16_t> {  // halves
    template <class Isa>
    static PYTO_INLINE void run(uint8_t* flag, const void* a, const void* b, size_t n)
    {
        float x[128];
        float y[128];
        Isa::half_to_float(x, static_cast<const uint16_t*>(a), n);
        Isa::half_to_float(y, static_cast<const uint16_t*>(b), n);
        PYTO_LOOP
        for (size_t i = 0; i < n; ++i) {
            flag[i] = Test<op>::of(x[i], y[i]) ? 1 : 0;
        }
    }
};

using FlagFn = void (*)(uint8_t*, const void*, const void*, size_t);

template <class T>
FlagFn flags_of(Cmp op)
{
    switch (op) {
        case Cmp::Lt: return pick<FlagKernel<Cmp::Lt, T>, uint8_t*, const void*, const void*, size_t>();
        case Cmp::Gt: return pick<FlagKernel<Cmp::Gt, T>, uint8_t*, const void*, const void*, size_t>();
        case Cmp::Eq: return pick<FlagKernel<Cmp::Eq, T>, uint8_t*, const void*, const void*, size_t>();
        case Cmp::Le: return pick<FlagKernel<Cmp::Le, T>, uint8_t*, const void*, const void*, size_t>();
        case Cmp::Ge: return pick<FlagKernel<Cmp::Ge, T>, uint8_t*, const void*, const void*, size_t>();
        default: return pick<FlagKernel<Cmp::Ne, T>, uint8_t*, const void*, const void*, size_t>();
    }
}

FlagFn flags_for(Cmp op, Elem t)
{
    return t == Elem::F16   ? flags_of<uint16_t>(op)
           : t == Elem::F32 ? flags_of<float>(op)
                            : pick<FlagKernel<Cmp::Eq, int32_t>, uint8_t*, const void*, const void*, size_t>();
}

// Eight flags to a byte: the multiplication moves bit 0 of byte i to bit 56 + i.
PYTO_INLINE uint8_t pack(const uint8_t* flag)
{
    uint64_t eight;
    std::memcpy(&eight, flag, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "the simulator needs a little-endian machine"
#endif
    return static_cast<uint8_t>((eight * 0x0102040810204080ull) >> 56);
}

// A row of one repeat as contiguous memory.
const void* gather_row(const Span& s, uint32_t rep, void* room)
{
    const uint8_t* base = static_cast<const uint8_t*>(s.data) + size_t{rep} * s.rep * kBlock;
    if (s.blk == 1) {
        return base;
    }
    for (uint32_t b = 0; b < 8; ++b) {
        std::memcpy(static_cast<uint8_t*>(room) + b * kBlock, base + size_t{b} * s.blk * kBlock, kBlock);
    }
    return room;
}

void splat(void* room, uint32_t size, uint64_t value)
{
    for (uint32_t at = 0; at < kRepeat; at += size) {
        std::memcpy(static_cast<uint8_t*>(room) + at, &value, size);
    }
}

template <class T>
struct SelectKernel {
    template <class Isa>
    static PYTO_INLINE void run(T* d, const T* a, const T* b, const uint8_t* bits, size_t n)
    {
        for (size_t i = 0; i + 32 <= n; i += 32) {
            uint32_t word;
            std::memcpy(&word, bits + i / 8, 4);
            PYTO_LOOP
            for (uint32_t k = 0; k < 32; ++k) {
                const T mask = static_cast<T>(0u - ((word >> k) & 1u));
                d[i + k] = static_cast<T>((a[i + k] & mask) | (b[i + k] & static_cast<T>(~mask)));
            }
        }
    }
};

template <class T>
void select_typed(Span dst, Span a, Span b, uint64_t b_scalar, const uint8_t* bits, bool reuse, const Lanes& lanes)
{
    constexpr uint32_t per_repeat = kRepeat / sizeof(T);
    const auto kernel = pick<SelectKernel<T>, T*, const T*, const T*, const uint8_t*, size_t>();
    alignas(64) T room_a[per_repeat];
    alignas(64) T room_b[per_repeat];
    alignas(64) T out[per_repeat];
    if (b.data == nullptr) {
        splat(room_b, sizeof(T), b_scalar);
    }
    Segment parts[2];
    const int count = segments(lanes, per_repeat, parts);
    for (int s = 0; s < count; ++s) {
        const Segment& p = parts[s];
        const bool all = p.low == ~uint64_t{0} && (per_repeat == 64 || p.high == ~uint64_t{0});
        for (uint32_t r = p.first; r < p.first + p.repeats; ++r) {
            const T* x = static_cast<const T*>(gather_row(a, r, room_a));
            const T* y = b.data == nullptr ? room_b : static_cast<const T*>(gather_row(b, r, room_b));
            const uint8_t* flags = bits + (reuse ? 0 : size_t{r} * per_repeat / 8);
            uint8_t* base = static_cast<uint8_t*>(const_cast<void*>(dst.data)) + size_t{r} * dst.rep * kBlock;
            if (all && dst.blk == 1) {
                kernel(reinterpret_cast<T*>(base), x, y, flags, per_repeat);
                continue;
            }
            // Only active lanes may be read or written: rows can end at the end of the buffer.
            constexpr uint32_t per_block = kBlock / sizeof(T);
            for (uint32_t i = 0; i < per_repeat; ++i) {
                if (active(p, i)) {
                    out[i] = ((flags[i / 8] >> (i % 8)) & 1u) != 0 ? x[i] : y[i];
                    std::memcpy(base + size_t{i / per_block} * dst.blk * kBlock + (i % per_block) * sizeof(T), out + i,
                                sizeof(T));
                }
            }
        }
    }
}

}  // namespace

void compare(Cmp op, Elem t, uint8_t* dst, Span a, Span b, uint64_t b_scalar, uint32_t repeats)
{
    const FlagFn flags = flags_for(op, t);
    const uint32_t size = elem_size(t);
    const uint32_t lanes = kRepeat / size;
    alignas(64) uint8_t room_a[kRepeat];
    alignas(64) uint8_t room_b[kRepeat];
    uint8_t flag[128];
    if (b.data == nullptr) {
        splat(room_b, size, b_scalar);
    }
    for (uint32_t r = 0; r < repeats; ++r) {
        const void* x = gather_row(a, r, room_a);
        const void* y = b.data == nullptr ? room_b : gather_row(b, r, room_b);
        flags(flag, x, y, lanes);
        for (uint32_t i = 0; i < lanes; i += 8) {
            dst[(r * lanes + i) / 8] = pack(flag + i);
        }
    }
}

void compare_to_mask(Cmp op, Elem t, uint64_t mask[2], Span a, Span b, const Lanes& lanes)
{
    const uint32_t per_repeat = kRepeat / elem_size(t);
    alignas(64) uint8_t room_a[kRepeat];
    alignas(64) uint8_t room_b[kRepeat];
    uint8_t flag[128];
    flags_for(op, t)(flag, gather_row(a, 0, room_a), gather_row(b, 0, room_b), per_repeat);
    Segment parts[2];
    if (segments(lanes, per_repeat, parts) == 0) {
        return;
    }
    for (uint32_t i = 0; i < per_repeat; ++i) {
        const uint64_t bit = uint64_t{1} << (i & 63u);
        if (((i < 64 ? parts[0].low : parts[0].high) & bit) != 0) {
            uint64_t& word = mask[i / 64];
            word = flag[i] != 0 ? word | bit : word & ~bit;
        }
    }
}

void select(uint32_t size, Span dst, Span a, Span b, uint64_t b_scalar, const uint8_t* bits, bool reuse,
            const Lanes& lanes)
{
    if (size == 2) {
        select_typed<uint16_t>(dst, a, b, b_scalar, bits, reuse, lanes);
    } else {
        select_typed<uint32_t>(dst, a, b, b_scalar, bits, reuse, lanes);
    }
}

}  // namespace vec
}  // namespace pyto_sim
