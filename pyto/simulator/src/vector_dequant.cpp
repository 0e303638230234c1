// Conversions with a scale, fused with a sum or a product, or to and from 4 bits.
#include "vector_cast.h"
#include "vector_elementwise.h"
#include "vector_round.h"

namespace pyto_sim {
namespace vec {

namespace {

PYTO_INLINE float dequantised(int32_t x, float scale)
{
    // Down and up by 2^17 around the scale, so that the product of a large accumulator stays finite.
    return static_cast<float>(x) * 7.62939453125e-06f * scale * 131072.0f;
}

struct DequantKernel {
    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        int32_t room[kRepeat / 4];
        float chunk[kChunk];
        const float scale = half_to_float(static_cast<uint16_t>(r->value));
        for (int64_t row = 0; row < r->rows; ++row) {
            uint16_t* d = reinterpret_cast<uint16_t*>(r->data[0] + row * r->stride[0]);
            const int32_t* s = row_of(*r, 1, row, room);
            for (int64_t at = 0; at < r->cols; at += kChunk) {
                const int64_t n = r->cols - at < kChunk ? r->cols - at : kChunk;
                PYTO_LOOP
                for (int64_t i = 0; i < n; ++i) {
                    chunk[i] = dequantised(s[at + i], scale);
                }
                Isa::float_to_half(d + at, chunk, static_cast<size_t>(n));
            }
        }
    }
};

struct AddDeqReluKernel {
    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        int32_t room_a[kRepeat / 4];
        int32_t room_b[kRepeat / 4];
        float chunk[kChunk];
        const float scale = half_to_float(static_cast<uint16_t>(r->value));
        for (int64_t row = 0; row < r->rows; ++row) {
            uint16_t* d = reinterpret_cast<uint16_t*>(r->data[0] + row * r->stride[0]);
            const int32_t* a = row_of(*r, 1, row, room_a);
            const int32_t* b = row_of(*r, 2, row, room_b);
            for (int64_t at = 0; at < r->cols; at += kChunk) {
                const int64_t n = r->cols - at < kChunk ? r->cols - at : kChunk;
                PYTO_LOOP
                for (int64_t i = 0; i < n; ++i) {
                    const uint32_t sum = static_cast<uint32_t>(a[at + i]) + static_cast<uint32_t>(b[at + i]);
                    chunk[i] = rectified(dequantised(static_cast<int32_t>(sum), scale));
                }
                Isa::float_to_half(d + at, chunk, static_cast<size_t>(n));
            }
        }
    }
};

struct FusedPlan {
    FusedCast op;
    Plan plan;
};

void fused_rows(const Rows* r)
{
    const FusedPlan& fused = *static_cast<const FusedPlan*>(r->extra);
    const Plan& plan = fused.plan;
    alignas(64) uint8_t room[2][kRepeat];
    alignas(64) float a[kChunk];
    alignas(64) float b[kChunk];
    for (int64_t row = 0; row < r->rows; ++row) {
        uint8_t* d = r->data[0] + row * r->stride[0];
        const uint8_t* src[2];
        for (int i = 0; i < 2; ++i) {
            src[i] = r->data[i + 1] + row * r->stride[i + 1];
            if (r->repeated[i + 1]) {
                for (int64_t at = 0; at < r->cols * plan.from_size; at += kBlock) {
                    std::memcpy(room[i] + at, src[i], kBlock);
                }
                src[i] = room[i];
            }
        }
        const size_t n = static_cast<size_t>(r->cols);
        for (size_t at = 0; at < n; at += kChunk) {
            const size_t len = n - at < kChunk ? n - at : kChunk;
            const auto fetch = [&](float* out, const uint8_t* from) {
                if (plan.load != nullptr) {
                    plan.load(out, from + at * plan.from_size, len, plan.mode);
                } else {
                    std::memcpy(out, from + at * 4, len * 4);
                }
            };
            fetch(a, src[0]);
            fetch(b, src[1]);
            for (size_t i = 0; i < len; ++i) {
                a[i] = fused.op == FusedCast::Mul       ? a[i] * b[i]
                       : fused.op == FusedCast::AddRelu ? rectified(a[i] + b[i])
                                                        : rectified(a[i] - b[i]);
            }
            plan.store(d + at * plan.to_size, a, len, plan.mode);
        }
    }
}

}  // namespace

void cast_int4(bool to_int4, Round mode, Span dst, Span a, const Lanes& lanes)
{
    constexpr uint32_t per_repeat = 128;
    const SpanFn narrow = storer(Elem::I8);
    Segment parts[2];
    const int count = segments(lanes, per_repeat, parts);
    for (int s = 0; s < count; ++s) {
        const Segment& p = parts[s];
        for (uint32_t rep = p.first; rep < p.first + p.repeats; ++rep) {
            for (uint32_t lane = 0; lane < per_repeat; ++lane) {
                if (!active(p, lane)) {
                    continue;
                }
                const Span& halves = to_int4 ? a : dst;
                const Span& fours = to_int4 ? dst : a;
                uint8_t* half = static_cast<uint8_t*>(const_cast<void*>(halves.data)) +
                                (size_t{rep} * halves.rep + size_t{lane / 16} * halves.blk) * kBlock + (lane % 16) * 2;
                uint8_t* four = static_cast<uint8_t*>(const_cast<void*>(fours.data)) +
                                (size_t{rep} * fours.rep + size_t{lane / 64} * fours.blk) * kBlock + (lane % 64) / 2;
                const uint32_t shift = (lane & 1u) * 4;
                uint16_t bits;
                if (to_int4) {
                    std::memcpy(&bits, half, 2);
                    const float value = half_to_float(bits);
                    int8_t whole_number;
                    narrow(&whole_number, &value, 1, mode);
                    const int32_t kept = whole_number < -8 ? -8 : (whole_number > 7 ? 7 : whole_number);
                    *four = static_cast<uint8_t>((*four & ~(0xfu << shift)) | ((static_cast<uint32_t>(kept) & 0xfu) << shift));
                } else {
                    const int32_t raw = (*four >> shift) & 0xf;
                    bits = float_to_half(static_cast<float>(raw >= 8 ? raw - 16 : raw));
                    std::memcpy(half, &bits, 2);
                }
            }
        }
    }
}

void cast_dequant(uint16_t half_scale, Span dst, Span a, const Lanes& lanes)
{
    const Span spans[2] = {dst, a};
    const uint32_t sizes[2] = {2, 4};
    walk(spans, sizes, 2, lanes, half_scale, pick<DequantKernel, const Rows*>());
}

void add_deq_relu(uint16_t half_scale, Span dst, Span a, Span b, const Lanes& lanes)
{
    const Span spans[3] = {dst, a, b};
    const uint32_t sizes[3] = {2, 4, 4};
    walk(spans, sizes, 3, lanes, half_scale, pick<AddDeqReluKernel, const Rows*>());
}

void fused_cast(FusedCast op, Elem to, Elem from, Span dst, Span a, Span b, const Lanes& lanes)
{
    const Span spans[3] = {dst, a, b};
    const uint32_t sizes[3] = {elem_size(to), elem_size(from), elem_size(from)};
    const FusedPlan fused{op, {nullptr, loader(from), storer(to), Round::Rint, elem_size(to), elem_size(from)}};
    walk(spans, sizes, 3, lanes, 0, fused_rows, &fused);
}

void dequant_b8(bool is_signed, const uint64_t* scales, bool per_lane, bool high_half, Span dst, Span a,
                const Lanes& lanes)
{
    constexpr uint32_t per_block = 16;
    Segment parts[2];
    const int count = segments(lanes, 8 * per_block, parts);
    for (int s = 0; s < count; ++s) {
        for (uint32_t rep = parts[s].first; rep < parts[s].first + parts[s].repeats; ++rep) {
            for (uint32_t lane = 0; lane < 8 * per_block; ++lane) {
                if (!active(parts[s], lane)) {
                    continue;
                }
                const uint64_t config = scales[per_lane ? lane % per_block : 0];
                // Scale in the low 32 bits (10 bits of mantissa count), a signed 9-bit offset, a sign flag.
                const float scale = bits_as<float>(static_cast<uint32_t>(config) & 0xffffe000u);
                const int32_t raw = static_cast<int32_t>((config >> 37) & 0x1ffu);
                const float offset = static_cast<float>(raw >= 256 ? raw - 512 : raw);
                const size_t block = lane / per_block;
                int16_t x;
                std::memcpy(&x, static_cast<const uint8_t*>(a.data) + (size_t{rep} * a.rep + block * a.blk) * kBlock +
                                    size_t{lane % per_block} * 2, 2);
                const float y = whole<Round::Rint>(static_cast<float>(x) * scale + offset);
                uint8_t* out = static_cast<uint8_t*>(const_cast<void*>(dst.data)) +
                               (size_t{rep} * dst.rep + block * dst.blk) * kBlock + (high_half ? 16u : 0u) +
                               lane % per_block;
                *out = is_signed ? static_cast<uint8_t>(saturated<int8_t>(y)) : saturated<uint8_t>(y);
            }
        }
    }
}

}  // namespace vec
}  // namespace pyto_sim
