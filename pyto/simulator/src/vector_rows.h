// Reduces a call (mask, repeats, block and repeat strides) to 2-D walks of contiguous rows that the kernels understand.
#ifndef PYTO_SIM_VECTOR_ROWS_H
#define PYTO_SIM_VECTOR_ROWS_H

#include "pyto_sim/vector/kernels.h"
#include "vector_isa.h"

namespace pyto_sim {
namespace vec {

// `rows` rows of `cols` lanes. Operand 0 is the destination. Strides are in bytes. A repeated operand gives one block
// that serves all blocks of the row (block stride 0); its rows are at most one repeat long.
struct Rows {
    uint8_t* data[3];
    int64_t stride[3];
    bool repeated[3];
    int64_t rows;
    int64_t cols;
    uint64_t value;
    const void* extra;
};

using RowKernel = void (*)(const Rows*);

// `spans[0]` is the destination; `size[i]` the bytes of an element of operand i. The widest one sets the lanes of a repeat.
void walk(const Span* spans, const uint32_t* size, int operands, const Lanes& lanes, uint64_t value, RowKernel kernel,
          const void* extra = nullptr);

// Splits lanes into (mask of one repeat, first repeat, repeats): counter mode gives full repeats and one tail.
struct Segment {
    uint64_t low;
    uint64_t high;
    uint32_t first;
    uint32_t repeats;
};
int segments(const Lanes& lanes, uint32_t lanes_per_repeat, Segment out[2]);

inline bool active(const Segment& s, uint32_t lane)
{
    return (((lane < 64 ? s.low : s.high) >> (lane & 63u)) & 1u) != 0;
}

PYTO_INLINE uint64_t low_bits(uint32_t n)
{
    return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}

// Address of a row's operand; a repeated block is written out into `room` (one repeat long).
template <class T>
PYTO_INLINE const T* row_of(const Rows& r, int operand, int64_t row, T* room)
{
    const uint8_t* p = r.data[operand] + row * r.stride[operand];
    if (!r.repeated[operand]) {
        return reinterpret_cast<const T*>(p);
    }
    uint8_t* out = reinterpret_cast<uint8_t*>(room);
    const int64_t bytes = r.cols * static_cast<int64_t>(sizeof(T));
    for (int64_t at = 0; at < bytes; at += kBlock) {
        std::memcpy(out + at, p, kBlock);
    }
    return room;
}

}  // namespace vec
}  // namespace pyto_sim

#endif
