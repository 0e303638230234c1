// Entry points of the precompiled vector library: typed by value, so that the API headers stay templates of a few lines.
#ifndef PYTO_SIM_VECTOR_KERNELS_H
#define PYTO_SIM_VECTOR_KERNELS_H

#include <cstdint>

namespace pyto_sim {
namespace vec {

enum class Elem : uint8_t { F32, F16, BF16, I8, U8, I16, U16, I32, U32, I64, U64 };

constexpr uint32_t kBlock = 32;    // bytes of a block, the unit of every stride
constexpr uint32_t kRepeat = 256;  // bytes that one repeat handles of the widest operand

constexpr uint32_t elem_size(Elem t)
{
    return t == Elem::I8 || t == Elem::U8                                                        ? 1
           : t == Elem::F16 || t == Elem::BF16 || t == Elem::I16 || t == Elem::U16               ? 2
           : t == Elem::I64 || t == Elem::U64                                                    ? 8
                                                                                                 : 4;
}

// A strided operand: `blk` and `rep` are start-to-start distances in blocks, within and between repeats.
struct Span {
    const void* data;
    uint32_t blk;
    uint32_t rep;
};

// Which lanes take part. Normal mode: `repeats` repeats, each with the lanes of the bit mask. Counter mode: `low` is the
// number of elements of the whole call, the repeats follow from it.
struct Lanes {
    uint64_t low;
    uint64_t high;
    uint32_t repeats;
    bool counter;
};

enum class BinaryOp : uint8_t {
    Add, Sub, Mul, Div, Max, Min, And, Or, AddRelu, SubRelu, MulAddDst, FusedMulAdd, FusedMulAddRelu, MulAddDstWide
};
enum class UnaryOp : uint8_t { Exp, Ln, Abs, Sqrt, Rsqrt, Reciprocal, Relu, Not };
enum class ScalarOp : uint8_t { Adds, Muls, Maxs, Mins, LeakyRelu, ShiftLeft, ShiftRight, ShiftRightRound, Axpy, AxpyWide };
enum class ReduceOp : uint8_t { Sum, Max, Min };
enum class Order : uint8_t { ValueIndex, IndexValue, OnlyValue, OnlyIndex };
enum class Round : uint8_t { None, Rint, Floor, Ceil, Round, Trunc, Odd };
enum class Cmp : uint8_t { Lt, Gt, Eq, Le, Ge, Ne };

// Scalars travel as the bits of their own type, zero extended.
void binary(BinaryOp op, Elem t, Span dst, Span a, Span b, const Lanes& lanes);
void unary(UnaryOp op, Elem t, Span dst, Span a, const Lanes& lanes);
void scalar(ScalarOp op, Elem t, Span dst, Span a, uint64_t value, const Lanes& lanes);
void fill(uint32_t size, Span dst, uint64_t value, const Lanes& lanes);
void copy(uint32_t size, Span dst, Span a, const Lanes& lanes);
void cast(Elem to, Elem from, Round mode, Span dst, Span a, const Lanes& lanes);
// half <-> int4 pairs: 64 lanes a block on the int4 side. Masks come in pairs of equal bits.
void cast_int4(bool to_int4, Round mode, Span dst, Span a, const Lanes& lanes);
void cast_dequant(uint16_t half_scale, Span dst, Span a, const Lanes& lanes);
// int16 -> 8 bit with 16 scales of a block (`per_lane`) or one; a block of 16 results fills half a destination block.
void dequant_b8(bool is_signed, const uint64_t* scales, bool per_lane, bool high_half, Span dst, Span a,
                const Lanes& lanes);
enum class FusedCast : uint8_t { AddRelu, SubRelu, Mul };
void fused_cast(FusedCast op, Elem to, Elem from, Span dst, Span a, Span b, const Lanes& lanes);
void add_deq_relu(uint16_t half_scale, Span dst, Span a, Span b, const Lanes& lanes);
void iota(Elem t, Span dst, uint64_t first, const Lanes& lanes);
void brcb(uint32_t size, void* dst, const void* src, uint32_t repeats, uint32_t blk, uint32_t rep);

// Compare writes one bit a lane, packed over the repeats; `b_scalar` replaces the second operand when b.data is null.
void compare(Cmp op, Elem t, uint8_t* dst, Span a, Span b, uint64_t b_scalar, uint32_t repeats);
void compare_to_mask(Cmp op, Elem t, uint64_t mask[2], Span a, Span b, const Lanes& lanes);
// `bits` holds one bit a lane: packed over the repeats, or, with `reuse`, the same 256 / size bits for each repeat.
void select(uint32_t size, Span dst, Span a, Span b, uint64_t b_scalar, const uint8_t* bits, bool reuse,
            const Lanes& lanes);

// Whole, block and pair reductions. `dst_rep` is in bytes.
void reduce_repeat_sum(Elem t, void* dst, Span a, uint32_t dst_rep, const Lanes& lanes);
uint64_t reduce_repeat_extreme(bool is_max, Elem t, void* dst, Span a, uint32_t dst_rep, Order order,
                               const Lanes& lanes);
void reduce_block(ReduceOp op, Elem t, void* dst, Span a, uint32_t dst_rep, const Lanes& lanes);
void reduce_pair(Elem t, void* dst, Span a, uint32_t dst_rep, const Lanes& lanes);
// The whole call to one value (and one index). `tree`: repeats add up as a tree, else one after the other.
uint32_t reduce_sum(Elem t, Span a, bool tree, const Lanes& lanes);
uint64_t reduce_extreme(bool is_max, Elem t, Span a, bool with_index, const Lanes& lanes);

// Offsets are bytes from `src`; false when one of an active lane, or its end, is beyond `limit` bytes.
bool gather(uint32_t size, void* dst, const void* src, uint64_t limit, const uint32_t* offset, uint32_t dst_rep,
            const Lanes& lanes);
bool gather_blocks(void* dst, const void* src, uint64_t limit, const uint32_t* offset, uint32_t repeats, uint32_t blk,
                   uint32_t rep);
// `per_repeat` elements of each repeat are looked at. `bits` is null for a fixed pattern 1..7. Returns how many were kept.
uint64_t gather_mask(uint32_t size, void* dst, Span a, const void* bits, uint32_t bits_rep, uint32_t pattern,
                     uint32_t per_repeat, uint32_t repeats);

void sort32(Elem t, void* dst, const void* score, const uint32_t* index, uint32_t repeats);
// Merges up to four descending lists of 8-byte (score, index) pairs; `taken` receives how many of each were used.
void merge_sort(Elem t, void* dst, const void* const src[4], const uint16_t length[4], uint32_t lists,
                bool stop_when_exhausted, uint16_t taken[4]);
// Merges descending groups of 32 pairs, four at a time, until all `count` pairs are in order; `room` is as large.
void merge_groups(Elem t, void* pairs, void* room, uint64_t count);
void extract_pairs(Elem t, void* values, uint32_t* index, const void* sorted, uint64_t count);

void transpose16(void* dst, const void* src);
void transdata_5hd(uint32_t size, const uint64_t dst[16], const uint64_t src[16], bool dst_high, bool src_high,
                   uint32_t repeats, uint32_t dst_rep, uint32_t src_rep);
// Swaps the channel axis of `images` planes: [channels][inner] -> [inner][channels], or back.
void transpose_planes(uint32_t size, void* dst, const void* src, uint32_t images, uint32_t rows, uint32_t cols);

}  // namespace vec
}  // namespace pyto_sim

#endif
