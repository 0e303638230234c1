// The way out of L0C, in the library.
#pragma once
#include "pyto_sim/core.h"

namespace pyto_sim {

struct FixpipeMove {
    MemId dstMem;  // Gm or L1
    void* dst;
    const void* src;    // in L0C
    DataType from, to;  // F32 or S32; what is written
    uint32_t rows, columns;
    uint32_t srcBlockStep;  // bytes from 16 columns to the next 16
    int64_t dstStep;        // bytes from row to row, or, fractal, from column block to column block
    bool fractal;           // write 16-row-free fractal columns instead of rows
    bool split;             // fractal float: column blocks of 8 instead of 16
    bool relu;
    QuantMode_t quant;
    uint64_t scale;          // of the scalar modes
    const uint64_t* scales;  // of the vector modes, one a column, in L1 or the fixpipe buffer
    uint32_t matrices;
    uint64_t srcMatrixStep, dstMatrixStep;
    AtomicMode atomic;
};
void fixpipe(const FixpipeMove& move);
void checkFixpipe(const FixpipeMove& move, MemId src, Loc loc);
uint32_t fixpipeBlockColumns(const FixpipeMove& move);

}  // namespace pyto_sim
