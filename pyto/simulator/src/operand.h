// What Mmad multiplies: for each 16 rows of A (or 16 columns of B), where their elements are.
#pragma once
#include <cstdint>

#include "cube_state.h"
#include "pyto_sim/mmad_functions.h"

namespace pyto_sim {

constexpr int kMaxStrips = 256;

// 16 rows of k elements each. Element e of row r, with b = e * elementBytes:
//   Rows       base + r * pitch + b
//   Fractals   base + (b / 32) * pitch + r * 32 + b % 32
//   Columns    base + e * pitch + r * elementBytes          (16-bit elements)
struct Strip {
    enum Kind : uint8_t { Rows, Fractals, Columns };
    const uint8_t* base;
    int64_t pitch;
    Kind kind;
    uint8_t rows;   // that exist and count; the others are zero
    bool constant;  // GM that does not change during the launch
};

struct Operands {
    Strip a[kMaxStrips], b[kMaxStrips];
    uint32_t aStrips, bStrips;
    uint32_t aLive;  // strips of A up to the last that was written in this block; the others hold nothing defined
    uint32_t elementBytes;
    uint32_t aFirst, aStripStep, aFractals;  // fractals of L0A: of the first strip, from strip to strip, along k
};

void findOperands(Core& core, const MatrixMultiply& args, Operands& out);

}  // namespace pyto_sim
