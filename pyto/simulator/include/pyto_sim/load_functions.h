// Moves of fractals into L0, in the library. Steps are bytes, start to start.
#pragma once
#include "pyto_sim/core.h"

namespace pyto_sim {

struct FractalMove {
    uint32_t count;
    int64_t srcStep;
    uint32_t dstStep;
    bool transpose;  // 16-bit elements: each 16x16 fractal
};
void loadFractals(MemId dstMem, void* dst, const void* srcL1, const FractalMove& move);
void loadFractalsGm(MemId dstMem, void* dst, const void* src, const FractalMove& move);

// Squares of 2 fractals (1 of 16-bit elements), transposed and split again, fractals fractalStep apart.
struct SquareMove {
    uint32_t count;
    uint32_t elementBytes;
    int64_t srcStep;
    uint32_t dstStep;
    uint32_t fractalStep;
};
void loadSquares(MemId dstMem, void* dst, const void* srcL1, const SquareMove& move);

// The image-to-column view of an NC1HWC0 image in L1, cut out and laid down in L0.
struct ImageMove {
    uint32_t height, width, channels;
    uint32_t kStart, kCount, mStart, mCount;  // elements, positions
    uint32_t strideW, strideH, filterW, filterH, dilationW, dilationH;
    uint8_t padLeft, padRight, padTop, padBottom;
    bool transpose;
    uint32_t elementBytes;
    uint64_t padValue;
};
void loadImage(MemId dstMem, void* dst, const void* srcL1, const ImageMove& move, Loc loc);
uint64_t imageMoveBytes(MemId dstMem, const ImageMove& move);

void setImage(uint32_t height, uint32_t width, const uint8_t pad[4]);
void getImage(uint32_t& height, uint32_t& width, uint8_t pad[4]);
void setLoadPadding(uint64_t value);
uint64_t getLoadPadding();

void fillLocal(MemId mem, void* dst, uint64_t value, uint32_t elementBytes, uint32_t blockBytes, uint32_t blocks,
               uint32_t repeats, uint32_t gapBytes);

}  // namespace pyto_sim
