// Matrix multiplication of L0 operands: kernels for the instruction sets, chosen in mmad.cpp.
#pragma once
#include <cstdint>

#include "operand.h"

namespace pyto_sim {

// The AMX tile registers of this thread. Another library on the thread may rely on its own configuration, so the first
// use in a launch saves it and the end of the launch restores it.
class ThreadTiles {
public:
    ThreadTiles();
    ~ThreadTiles();
};
void needTiles();

// Tiles of 16 rows of 64 bytes along k: tile t at base + t * step, its rows pitch apart; the last one, if tail is not
// null, there with rows 64 bytes apart.
struct TileRow {
    const uint8_t* base;
    int64_t pitch;
    uint32_t step;
    const uint8_t* tail;
};

// c[i * cRowStep + j * cColumnStep] (1 KB tiles) += rows[i] * pairs[j] over kTiles, 64 bytes of k each.
// pairs[j] points to kTiles pair tiles.
struct TileJob {
    const TileRow* rows;
    const uint8_t* const* pairs;
    uint32_t rowCount, pairCount, kTiles;
    uint8_t* c;
    uint32_t cRowStep, cPairStep;  // bytes
    bool zero;
    bool integer;
};
void multiplyTiles(const TileJob& job);

// c (16 x 16, row-major) += a^T b for panels of k lines of 16.
template <class T>
struct PanelJob {
    const T* a;
    const T* b;
    uint32_t k;
    T* c;
    bool zero;
};
void multiplyPanels(const PanelJob<float>& job);
void multiplyPanels(const PanelJob<int32_t>& job);

}  // namespace pyto_sim
