// Strips rearranged for the multiplication kernels. All zero-fill what does not exist.
#pragma once
#include <cstdint>

#include "operand.h"

namespace pyto_sim {

// 16 x 16 words of 4 bytes, transposed; rows of the result `pitch` bytes apart.
void transposeTile(uint8_t* out, const uint8_t* in, int64_t pitch = 64);

// Row tiles: kTiles tiles of 16 rows of 64 bytes.
void packRowTiles(uint8_t* out, const Strip& s, uint32_t kBytes, uint32_t firstTile, uint32_t kTiles,
                  uint32_t elementBytes);
// Pair tiles: line i of a tile holds, for each of the 16 rows of the strip, the 4 bytes [4 i, 4 i + 4) of its 64.
void packPairTiles(uint8_t* out, const Strip& s, uint32_t kBytes, uint32_t kTiles, uint32_t elementBytes);
// The pair tiles of `count` strips of 16-bit columns that lie side by side in whole rows: `step` bytes from strip to
// strip in out, read row after row.
void packPairTilesOfRows(uint8_t* out, uint32_t step, const Strip& first, uint32_t count, uint32_t k, uint32_t kTiles);

// Panels of float, or of int32 for 8-bit integers: out[e * 16 + row].
void packPanel(float* out, const Strip& s, uint32_t k, DataType type);
void packPanelInt(int32_t* out, const Strip& s, uint32_t k);

}  // namespace pyto_sim
