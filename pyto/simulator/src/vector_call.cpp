// What the vector API headers share: mask state, address checks, records.
#include "pyto_sim/vector/records.h"
#include "vector_rows.h"

namespace pyto_sim {
namespace vec {

namespace {

constexpr int kMaxRuns = 10;  // pieces of one operand in a record; beyond, their bounding range

uint32_t highest(const Segment& s)
{
    return s.high != 0 ? 127 - static_cast<uint32_t>(__builtin_clzll(s.high))
                       : 63 - static_cast<uint32_t>(__builtin_clzll(s.low));
}

uint32_t lowest(const Segment& s)
{
    return s.low != 0 ? static_cast<uint32_t>(__builtin_ctzll(s.low))
                      : 64 + static_cast<uint32_t>(__builtin_ctzll(s.high));
}

uint64_t offset_of(uint32_t lane, uint32_t per_block, const Span& span, uint32_t size)
{
    return static_cast<uint64_t>(lane / per_block) * span.blk * kBlock + static_cast<uint64_t>(lane % per_block) * size;
}

void add(Record& record, bool write, const uint8_t* base, uint64_t bytes, uint32_t rows, int64_t pitch)
{
    if (write) {
        record.writeRows(base, bytes, rows, pitch);
    } else {
        record.readRows(base, bytes, rows, pitch);
    }
}

}  // namespace

void describe(Record& record, bool write, const Span& span, uint32_t size, uint32_t width, const Lanes& lanes)
{
    const uint8_t* base = static_cast<const uint8_t*>(span.data);
    const uint32_t per_block = kBlock / size;
    const uint32_t per_repeat = kRepeat / width;
    if (lanes.counter && span.blk == 1 && span.rep == per_repeat * size / kBlock) {
        add(record, write, base, lanes.low * size, 1, 0);
        return;
    }
    Segment parts[2];
    const int count = segments(lanes, per_repeat, parts);
    for (int s = 0; s < count; ++s) {
        const Segment& p = parts[s];
        const uint8_t* first = base + static_cast<uint64_t>(p.first) * span.rep * kBlock;
        const int64_t pitch = static_cast<int64_t>(span.rep) * kBlock;
        uint32_t begin[kMaxRuns];
        uint32_t end[kMaxRuns];
        int runs = 0;
        for (uint32_t lane = lowest(p); lane < per_repeat && runs <= kMaxRuns; ++lane) {
            if (!active(p, lane)) {
                continue;
            }
            const bool joined = runs > 0 && end[runs - 1] == lane && (span.blk == 1 || lane % per_block != 0);
            if (joined) {
                ++end[runs - 1];
            } else if (runs < kMaxRuns) {
                begin[runs] = lane;
                end[runs++] = lane + 1;
            } else {
                runs = kMaxRuns + 1;
            }
        }
        if (runs > kMaxRuns) {
            const uint64_t from = offset_of(lowest(p), per_block, span, size);
            add(record, write, first + from, offset_of(highest(p), per_block, span, size) + size - from, p.repeats, pitch);
            continue;
        }
        for (int i = 0; i < runs; ++i) {
            add(record, write, first + offset_of(begin[i], per_block, span, size),
                static_cast<uint64_t>(end[i] - begin[i]) * size, p.repeats, pitch);
        }
    }
}

uint64_t activeLanes(uint32_t width, const Lanes& lanes)
{
    if (lanes.counter) {
        return lanes.low;
    }
    Segment parts[2];
    if (segments(lanes, kRepeat / width, parts) == 0) {
        return 0;
    }
    return static_cast<uint64_t>(__builtin_popcountll(parts[0].low) + __builtin_popcountll(parts[0].high)) *
           parts[0].repeats;
}

void verifyRange(Loc loc, const char* name, const void* data, uint64_t bytes, uint32_t align)
{
    const uint8_t* base = core().mem[static_cast<int>(MemId::Ub)];
    const uint64_t at = static_cast<uint64_t>(static_cast<const uint8_t*>(data) - base);
    constexpr uint64_t room = kMemBytes[static_cast<int>(MemId::Ub)];
    if (__builtin_expect(at > room || bytes > room - at || at % align != 0, 0)) {
        if (data == nullptr) {
            fail(loc, "%s: a tensor has no memory", name);
        }
        if (at > room) {
            fail(loc, "%s: a tensor is not in the unified buffer", name);
        }
        if (at % align != 0) {
            fail(loc, "%s: address %llu in UB is not a multiple of %u bytes", name, static_cast<unsigned long long>(at),
                 align);
        }
        fail(loc, "%s: bytes %llu..%llu are past the end of the unified buffer (%llu bytes)", name,
             static_cast<unsigned long long>(at), static_cast<unsigned long long>(at + bytes),
             static_cast<unsigned long long>(room));
    }
}

void verify(Loc loc, const char* name, const Span* spans, const uint32_t* sizes, int operands, const Lanes& lanes)
{
    uint32_t width = 0;
    for (int i = 0; i < operands; ++i) {
        width = sizes[i] > width ? sizes[i] : width;
    }
    const uint32_t per_repeat = kRepeat / width;
    if (lanes.counter) {
        bool dense = true;
        for (int i = 0; i < operands; ++i) {
            dense = dense && spans[i].blk == 1 && spans[i].rep == per_repeat * sizes[i] / kBlock;
        }
        if (dense) {
            for (int i = 0; i < operands; ++i) {
                verifyRange(loc, name, spans[i].data, lanes.low * sizes[i], kBlock);
            }
            return;
        }
    }
    Segment parts[2];
    const int count = segments(lanes, per_repeat, parts);
    if (count == 0) {
        return;
    }
    for (int i = 0; i < operands; ++i) {
        uint64_t bytes = 0;
        for (int s = 0; s < count; ++s) {
            const Segment& p = parts[s];
            // Blocks of a repeat may be closer than the lanes suggest (stride 0): the last block decides.
            const uint64_t last = static_cast<uint64_t>(p.first + p.repeats - 1) * spans[i].rep * kBlock +
                                  offset_of(highest(p), kBlock / sizes[i], spans[i], sizes[i]) + sizes[i];
            bytes = last > bytes ? last : bytes;
        }
        verifyRange(loc, name, spans[i].data, bytes, kBlock);
    }
}

Lanes laneState(uint32_t repeats)
{
    const VectorState& state = core().vector;
    const uint64_t low = state.counterMode ? state.mask[0] & 0xffffffffu : state.mask[0];
    return {low, state.mask[1], repeats, state.counterMode};
}

Lanes laneBits(const uint64_t mask[2], uint32_t repeats)
{
    VectorState& state = core().vector;
    state.mask[0] = mask[0];
    state.mask[1] = mask[1];
    return laneState(repeats);
}

Lanes laneCount(Loc loc, const char* name, uint64_t mask, uint32_t lanes_per_repeat, uint32_t repeats)
{
    VectorState& state = core().vector;
    if (__builtin_expect(state.counterMode, 0)) {
        fail(loc, "%s: in counter mode give the number of elements as mask[2] = {count, 0}", name);
    }
    if (__builtin_expect(mask > lanes_per_repeat, 0)) {
        fail(loc, "%s: mask %llu is more than the %u lanes of a repeat", name, static_cast<unsigned long long>(mask),
             lanes_per_repeat);
    }
    const uint32_t n = static_cast<uint32_t>(mask);
    state.mask[0] = low_bits(n);
    state.mask[1] = n > 64 ? low_bits(n - 64) : 0;
    return {state.mask[0], state.mask[1], repeats, false};
}

Lanes laneTotal(Loc loc, const char* name, int64_t count)
{
    if (__builtin_expect(count < 0 || count > kMemBytes[static_cast<int>(MemId::Ub)], 0)) {
        fail(loc, "%s: count %lld is not in 0..%u", name, static_cast<long long>(count),
             kMemBytes[static_cast<int>(MemId::Ub)]);
    }
    VectorState& state = core().vector;
    state.mask[0] = state.mask[1] = ~uint64_t{0};
    state.counterMode = false;
    return {static_cast<uint64_t>(count), 0, 1, true};
}

}  // namespace vec
}  // namespace pyto_sim
