// Copies in the library. Addresses are host addresses, sizes and pitches bytes.
#pragma once
#include "pyto_sim/core.h"

namespace pyto_sim {

// Fails unless [p, p + bytes) lies in the core's memory `mem` and p is a multiple of `align`.
[[noreturn]] void failLocal(Loc loc, const char* call, MemId mem, const void* p, uint64_t bytes, uint32_t align);
inline __attribute__((always_inline)) void checkLocal(Loc loc, const char* call, MemId mem, const void* p,
                                                      uint64_t bytes, uint32_t align) {
    const uint64_t at = uint64_t(static_cast<const uint8_t*>(p) - core().mem[int(mem)]);
    const uint64_t size = kMemBytes[int(mem)];
    if (__builtin_expect((at % align != 0) | (at > size) | (bytes > size - at), 0))
        failLocal(loc, call, mem, p, bytes, align);
}

// Fails when [p, p + bytes) begins in a tensor of the launch and leaves it, or writes to an input.
void checkGm(Loc loc, const char* call, const void* p, uint64_t bytes, bool write);

void copyIn(MemId dstMem, void* dst, int64_t dstPitch, const void* src, int64_t srcPitch, uint64_t rowBytes,
            uint32_t rows);
void copyOut(void* dst, int64_t dstPitch, const void* src, int64_t srcPitch, uint64_t rowBytes, uint32_t rows,
             AtomicMode atomic);
void copyLocal(MemId dstMem, void* dst, int64_t dstPitch, MemId srcMem, const void* src, int64_t srcPitch,
               uint64_t rowBytes, uint32_t rows);

// GM -> UB with rows that start on 32 B: [left pad][row][right pad][filling up to 32 B].
struct PadRow {
    uint32_t leftBytes, rightBytes;
    uint32_t elementBytes;
    uint64_t value;  // of one element
    bool pad;
};
void copyInPad(void* dst, int64_t dstPitch, const void* src, int64_t srcPitch, uint64_t rowBytes, uint32_t rows,
               PadRow pad);

// Rows of GM into the fractal layout of L1: element (r, c) goes to column block c / C0, row r, element c % C0 with
// C0 = 32 B; a partly filled last block is filled with zeros.
struct Nd2Nz {
    uint32_t rows;
    uint32_t rowBytes;
    int64_t srcPitch;
    uint32_t blockStride;  // bytes from column block to column block
    uint32_t rowStride;    // bytes from row to row
};
void copyNd2Nz(MemId dstMem, void* dst, const void* src, const Nd2Nz& shape);

// The reverse, UB -> GM.
struct Nz2Nd {
    uint32_t rows;
    uint32_t rowBytes;
    uint32_t blockStride, rowStride;
    int64_t dstPitch;
};
void copyNz2Nd(void* dst, const void* src, const Nz2Nd& shape, AtomicMode atomic);

}  // namespace pyto_sim
