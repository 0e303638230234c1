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
    uint32_t begin, end;  // in L1; the hull of what the copy would have written
    const uint8_t* src;
    int64_t pitch;
    uint32_t rows, rowBytes;
    uint32_t blockStride;
    uint64_t blockInverse;   // ceil(2^40 / blockStride): offset * blockInverse >> 40 is the column block
    bool dense;              // every byte of the hull
    uint32_t blocksInverse;  // 2^16 / column blocks
};

// What a fractal of L0 (16 rows of 32 bytes) would contain, apart from where: many fractals share a form.
struct FractalForm {
    enum Kind : uint8_t { Real, Rows, Columns };
    Kind kind;
    uint8_t rows;      // rows that exist, at most 16; the others, and bytes past rowBytes, are zero
    uint8_t rowBytes;  // bytes of a row that exist, at most 32
    int64_t pitch;     // Rows: bytes from row to row. Columns (16-bit): from source row (a column here) to source row
};

// One L0 memory: for each fractal the address of its element (0, 0) in GM and its form; form 0 is "the bytes are here".
struct LazyL0 {
    static constexpr int kMaxForms = 255;
    const uint8_t* src[kFractalsL0];
    uint8_t form[kFractalsL0];
    FractalForm forms[kMaxForms];
    int formCount;  // including form 0
    int lastForm;
    uint32_t clock;                 // counts writes
    uint32_t startClock;            // when the block began: fractals not written since hold nothing
    uint32_t written[kFractalsL0];  // when each fractal was last written

    // The number of a form, -1 when the table is full.
    int formOf(FractalForm::Kind kind, uint32_t rows, uint32_t rowBytes, int64_t pitch) {
        const FractalForm& f = forms[lastForm];
        if (__builtin_expect(f.kind == kind && f.rows == rows && f.rowBytes == rowBytes && f.pitch == pitch, 1))
            return lastForm;
        return findForm(kind, rows, rowBytes, pitch);
    }
    int findForm(FractalForm::Kind kind, uint32_t rows, uint32_t rowBytes, int64_t pitch);
};

struct PackedKey {
    const void* src;
    int64_t pitch;
    uint32_t rows, bytes;
    uint32_t form;  // how it is packed, which element type
};

// Packed copies of pieces of constant GM; empty when a launch begins.
class PackCache {
public:
    PackCache();
    // The packed bytes of `key`; `fresh` tells that they still have to be written.
    uint8_t* find(const PackedKey& key, uint32_t bytes, bool& fresh);
    // After this, finds of up to `bytes` in `count` pieces leave each other's results alone.
    void reserve(uint32_t bytes, uint32_t count);
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
    uint64_t launch;  // that the packed pieces belong to
    L1View views[kMaxViews];
    int viewCount;
    int lastView;
    uint64_t writtenL1[512 * 1024 / kBlockBytes / 64];  // a bit for each 32 B of L1 that holds bytes of this block
    LazyL0 a, b;
    bool transposedC[kTilesL0C];  // a 16x16 tile of L0C kept column by column
    uint16_t padRegister;
    struct {
        uint16_t height, width;
        uint8_t pad[4];
    } image;  // SetFmatrix
    uint64_t loadPadValue;
    PackCache packed;
    // Packed strips of real bytes in L0A, by first fractal: valid while the strip is not written again.
    struct PackedStrip {
        uint32_t first, written, bytes, form, rows;
    };
    static constexpr uint32_t kPackedStrips = 64, kPackedStripBytes = 16384;
    PackedStrip packedStrips[kPackedStrips];
    uint8_t* packedStripBytes;
    uint8_t* scratch;  // kScratchBytes, 64-byte aligned
    static constexpr uint32_t kScratchBytes = 2u << 20;
};

CubeState* createCubeState();
void resetCubeState(CubeState& state, uint64_t launch);

bool isConstantGm(const Core& core, const void* p, int64_t bytes);

// L1
void leaveView(Core& core, L1View view);
void settleL1(Core& core, uint32_t begin, uint32_t end);                 // before its bytes are read
void overwriteL1(Core& core, uint32_t begin, uint32_t end, bool dense);  // before bytes are written
void markWritten(CubeState& state, uint32_t begin, uint32_t end);
bool anyWritten(const CubeState& state, uint32_t begin, uint32_t end);
const L1View* searchView(CubeState& state, uint32_t at);
inline const L1View* findView(CubeState& s, uint32_t at) {
    const L1View& v = s.views[s.lastView];
    if (__builtin_expect(s.lastView < s.viewCount && v.begin <= at && at < v.end, 1)) return &v;
    return s.viewCount > 0 ? searchView(s, at) : nullptr;
}
void copyFractalRows(uint8_t* dst, const Nd2Nz& shape, const uint8_t* src);

// L0
LazyL0& lazyL0(Core& core, MemId mem);
void settleFractal(uint8_t* l0, LazyL0& lazy, uint32_t index);
void settleL0(Core& core, MemId mem, uint32_t firstFractal, uint32_t count);
void overwriteL0(Core& core, MemId mem, uint32_t begin, uint32_t end);

// Turns a 16x16 tile of L0C from rows to columns or back; makes tiles hold rows again.
void flipTile(Core& core, uint32_t tile);
void settleL0C(Core& core, uint32_t firstTile, uint32_t count);

}  // namespace pyto_sim
