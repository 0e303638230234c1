// Lazy copies of a cube core.
//
// A copy of rows from constant GM into L1, and of fractals from such rows on to L0, leaves a description of what was
// copied instead of the bytes. Mmad reads through descriptions; everything else first asks for the bytes
// (settle* materialises them). Whatever writes into a memory tells it, so that a description never outlives the bytes
// it stands for. GM is constant when the launch binds it as input and nothing that it may write overlaps it, so a
// description cannot change under us within a launch; all are dropped when a block starts.
#pragma once
#include <cstdint>

#include "pyto_sim/copy_functions.h"
#include "pyto_sim/core.h"

namespace pyto_sim {

constexpr uint32_t kFractalBytes = 512;
constexpr uint32_t kBlockBytes = 32;
constexpr uint32_t kFractalsL0 = 64 * 1024 / kFractalBytes;
constexpr uint32_t kTilesL0C = 128 * 1024 / 1024;

// Rows of GM standing for fractals in L1: row r, bytes [32 k, 32 k + 32) of it at begin + k * blockStride + 32 r.
struct L1View {
    uint32_t begin, end;   // in L1; the hull of what the copy would have written
    const uint8_t* src;
    int64_t pitch;
    uint32_t rows, rowBytes;
    uint32_t blockStride;
    bool dense;            // every byte of the hull
};

// What an L0 fractal (16 rows of 32 bytes) would contain.
struct Fractal {
    enum Kind : uint8_t { Real, Rows, Columns };
    const uint8_t* src;    // of its element (0, 0)
    int32_t pitch;         // Rows: bytes from row to row. Columns: bytes from source row (= column here) to source row
    uint8_t rows;          // rows that exist, at most 16; the others, and bytes past rowBytes, are zero
    uint8_t rowBytes;      // bytes of a row that exist, at most 32
    Kind kind;
};

struct PackedKey {
    const void* src;
    int64_t pitch;
    uint32_t rows, bytes;
    uint32_t form;         // how it is packed, which element type
    uint32_t generation;   // of L0A for packed copies of real bytes, 0 for GM
};

class PackCache {
public:
    PackCache();
    // The packed bytes of `key`; `fresh` tells that they still have to be written.
    uint8_t* find(const PackedKey& key, uint32_t bytes, bool& fresh);
    void clear();

private:
    struct Slot {
        PackedKey key;
        uint32_t offset;
        uint32_t epoch;
    };
    static constexpr uint32_t kSlots = 1024;
    static constexpr uint32_t kArena = 8u << 20;
    Slot slots_[kSlots];
    uint8_t* arena_;
    uint32_t used_ = 0, count_ = 0, epoch_ = 1;
};

struct CubeState {
    static constexpr int kMaxViews = 64;
    L1View views[kMaxViews];
    int viewCount;
    int lastView;
    Fractal a[kFractalsL0];
    Fractal b[kFractalsL0];
    uint32_t aGeneration;
    bool transposedC[kTilesL0C];   // a 16x16 tile of L0C kept column by column
    uint16_t padRegister;
    struct {
        uint16_t height, width;
        uint8_t pad[4];
    } image;                       // SetFmatrix
    uint64_t loadPadValue;
    const uint8_t* nextStream;     // start of rows that a coming Mmad will probably read: prefetched ahead
    PackCache packed;
    uint8_t* scratch;              // kScratchBytes, 64-byte aligned
    static constexpr uint32_t kScratchBytes = 1u << 20;
};

CubeState* createCubeState();
void resetCubeState(CubeState& state);

bool isConstantGm(const Core& core, const void* p, int64_t bytes);

// L1
void leaveView(Core& core, const L1View& view);
void settleL1(Core& core, uint32_t begin, uint32_t end);        // before its bytes are read
void overwriteL1(Core& core, uint32_t begin, uint32_t end, bool dense);  // before bytes are written
const L1View* findView(CubeState& state, uint32_t at);
void copyFractalRows(uint8_t* dst, const Nd2Nz& shape, const uint8_t* src);

// L0
void settleFractal(uint8_t* l0, Fractal& fractal, uint32_t index);
void settleL0(Core& core, MemId mem, uint32_t firstFractal, uint32_t count);
void overwriteL0(Core& core, MemId mem, uint32_t begin, uint32_t end);

// Makes the 16x16 tiles of L0C hold rows again.
void settleL0C(Core& core, uint32_t firstTile, uint32_t count);

}  // namespace pyto_sim
