// Transpositions.
#include "vector_rows.h"

namespace pyto_sim {
namespace vec {

namespace {

template <class T>
void transpose_typed(void* dst, const void* src, uint32_t rows, uint32_t cols)
{
    const T* s = static_cast<const T*>(src);
    T* d = static_cast<T*>(dst);
    constexpr uint32_t kTile = 16;
    for (uint32_t r0 = 0; r0 < rows; r0 += kTile) {
        for (uint32_t c0 = 0; c0 < cols; c0 += kTile) {
            const uint32_t r1 = r0 + kTile < rows ? r0 + kTile : rows;
            const uint32_t c1 = c0 + kTile < cols ? c0 + kTile : cols;
            for (uint32_t c = c0; c < c1; ++c) {
                for (uint32_t r = r0; r < r1; ++r) {
                    d[size_t{c} * rows + r] = s[size_t{r} * cols + c];
                }
            }
        }
    }
}

}  // namespace

void transpose16(void* dst, const void* src)
{
    uint16_t tile[16 * 16];
    std::memcpy(tile, src, sizeof tile);
    transpose_typed<uint16_t>(dst, tile, 16, 16);
}

void transdata_5hd(uint32_t size, const uint64_t dst[16], const uint64_t src[16], bool dst_high, bool src_high,
                   uint32_t repeats, uint32_t dst_rep, uint32_t src_rep)
{
    uint8_t from[16][kBlock];
    uint8_t to[16][kBlock];
    for (uint32_t r = 0; r < repeats; ++r) {
        // A single repeat starts one repeat stride behind the listed addresses.
        const uint64_t step = repeats == 1 ? 1 : r;
        for (uint32_t i = 0; i < 16; ++i) {
            std::memcpy(from[i], reinterpret_cast<const uint8_t*>(src[i]) + step * src_rep * kBlock, kBlock);
            std::memcpy(to[i], reinterpret_cast<const uint8_t*>(dst[i]) + step * dst_rep * kBlock, kBlock);
        }
        const uint32_t columns = size == 4 ? 8 : 16;
        for (uint32_t c = 0; c < columns; ++c) {
            for (uint32_t row = 0; row < 16; ++row) {
                if (size == 1) {
                    to[c][(dst_high ? 16 : 0) + row] = from[row][(src_high ? 16 : 0) + c];
                } else if (size == 2) {
                    std::memcpy(to[c] + row * 2, from[row] + c * 2, 2);
                } else {
                    std::memcpy(to[2 * c + row / 8] + (row % 8) * 4, from[row] + c * 4, 4);
                }
            }
        }
        for (uint32_t i = 0; i < 16; ++i) {
            std::memcpy(reinterpret_cast<uint8_t*>(dst[i]) + step * dst_rep * kBlock, to[i], kBlock);
        }
    }
}

void transpose_planes(uint32_t size, void* dst, const void* src, uint32_t images, uint32_t rows, uint32_t cols)
{
    const size_t bytes = size_t{rows} * cols * size;
    for (uint32_t n = 0; n < images; ++n) {
        uint8_t* d = static_cast<uint8_t*>(dst) + n * bytes;
        const uint8_t* s = static_cast<const uint8_t*>(src) + n * bytes;
        switch (size) {
            case 1: transpose_typed<uint8_t>(d, s, rows, cols); break;
            case 2: transpose_typed<uint16_t>(d, s, rows, cols); break;
            default: transpose_typed<uint32_t>(d, s, rows, cols); break;
        }
    }
}

}  // namespace vec
}  // namespace pyto_sim
