// Mmad: finds the operands, packs what has to be packed, multiplies.
//
// AMX multiplies a tile of rows by a tile of pairs. Rows of a matrix in GM are row tiles as they stand, so with B
// stored [N, K] the product computed is C^T = B A^T: B streams straight from GM, and A, packed into pairs once, stays
// in the cache. With B stored [K, N] its pair tiles are two source lines interleaved, and C = A B. Tiles of C^T stay
// transposed in L0C (CubeState::transposedC) until something else than Mmad looks at them.
#include "pyto_sim/mmad_functions.h"

#include <cstring>

#include "matmul.h"
#include "pack.h"
#include "pyto_sim/copy_functions.h"
#include "pyto_sim/isa.h"

namespace pyto_sim {

namespace {

enum PackForm : uint32_t { kPairForm = 1, kRowForm, kFloatForm, kIntForm };

struct Job {
    Core& core;
    CubeState& state;
    const MatrixMultiply& args;
    Operands operands;   // large: never cleared as a whole
    uint32_t firstTile;  // of C in L0C
    uint32_t kBytes, kTiles;

    Job(Core& c, const MatrixMultiply& a) : core(c), state(*c.cubeState), args(a) {}

    uint8_t* c(uint32_t n1, uint32_t m1) const {
        return core.mem[int(MemId::L0c)] + (firstTile + n1 * operands.aStrips + m1) * 1024;
    }
    bool zero() const { return args.start == MatrixStart::Zero; }
};

// Turns all tiles of C the way the multiplication writes them, and puts a bias there.
void prepareC(Job& j, bool transposed) {
    const uint32_t tiles = j.operands.aStrips * j.operands.bStrips;
    if (j.args.start == MatrixStart::Keep) {
        for (uint32_t t = j.firstTile; t < j.firstTile + tiles; ++t)
            if (j.state.transposedC[t] != transposed) flipTile(j.core, t);
        return;
    }
    std::memset(j.state.transposedC + j.firstTile, transposed, tiles);
    if (j.args.start != MatrixStart::Bias) return;
    for (uint32_t n1 = 0; n1 < j.operands.bStrips; ++n1) {
        uint32_t line[16] = {0};
        const uint32_t left = j.args.n - n1 * 16;
        std::memcpy(line, static_cast<const uint8_t*>(j.args.bias) + n1 * 64, (left < 16 ? left : 16) * 4);
        for (uint32_t m1 = 0; m1 < j.operands.aStrips; ++m1) {
            uint32_t* c = reinterpret_cast<uint32_t*>(j.c(n1, m1));
            for (int r = 0; r < 16; ++r)
                for (int i = 0; i < 16; ++i) c[r * 16 + i] = line[transposed ? r : i];
        }
    }
}

// All strips of A packed in one form; `pack(out, strip)` writes `bytes`. Pieces of constant GM come from the cache.
// Real bytes of L0A are packed once for as long as they are not written again.
template <class Pack>
void packA(Job& j, PackForm form, uint32_t bytes, const uint8_t** out, Pack pack) {
    const Operands& o = j.operands;
    const uint32_t formId = form | uint32_t(j.args.type) << 8;
    j.state.packed.reserve(bytes * o.aLive, o.aLive);
    uint8_t* room = j.state.scratch + CubeState::kScratchBytes / 2;
    for (uint32_t i = 0; i < o.aLive; ++i) {
        const Strip& s = o.a[i];
        bool fresh = true;
        uint8_t* p;
        if (s.constant) {
            p = j.state.packed.find({s.base, s.pitch, s.rows, j.kBytes, formId | uint32_t(s.kind) << 16}, bytes, fresh);
        } else if (bytes <= CubeState::kPackedStripBytes && o.aStrips <= CubeState::kPackedStrips / 2) {
            const uint32_t first = o.aFirst + i * o.aStripStep;
            uint32_t written = 0;
            for (uint32_t k = 0; k < o.aFractals; ++k)
                if (int32_t(j.state.a.written[first + k] - written) > 0 || k == 0)
                    written = j.state.a.written[first + k];
            // Strips of one operand fall on different slots.
            const uint32_t slot = (o.aFirst / (o.aStripStep * o.aStrips) * o.aStrips + i) % CubeState::kPackedStrips;
            CubeState::PackedStrip& known = j.state.packedStrips[slot];
            const CubeState::PackedStrip wanted = {first, written, j.kBytes, formId | uint32_t(j.args.m == 1) << 16,
                                                   s.rows};
            fresh = known.first != wanted.first || known.written != wanted.written || known.bytes != wanted.bytes ||
                    known.form != wanted.form || known.rows != wanted.rows;
            known = wanted;
            p = j.state.packedStripBytes + slot * CubeState::kPackedStripBytes;
        } else {
            p = room;
            room += bytes;
        }
        if (fresh) pack(p, s);
        out[i] = p;
    }
}

// The row tiles of a strip: in place when they are whole rows of GM, else packed into `room`, which advances.
TileRow rowTiles(const Job& j, const Strip& s, uint8_t*& room) {
    const uint32_t e = j.operands.elementBytes;
    if (s.kind == Strip::Rows && s.rows == 16) {
        TileRow r = {s.base, s.pitch, 64, nullptr};
        if (j.kBytes % 64 != 0) {
            packRowTiles(room, s, j.kBytes, j.kTiles - 1, j.kTiles, e);
            r.tail = room;
            room += 1024;
        }
        return r;
    }
    packRowTiles(room, s, j.kBytes, 0, j.kTiles, e);
    const TileRow r = {room, 64, 1024, nullptr};
    room += uint64_t(j.kTiles) * 1024;
    return r;
}

// C^T = B A^T.
void multiplyRowsOfB(Job& j) {
    prepareC(j, true);
    const uint8_t* pairs[kMaxStrips];
    packA(j, kPairForm, j.kTiles * 1024, pairs,
          [&](uint8_t* p, const Strip& s) { packPairTiles(p, s, j.kBytes, j.kTiles, j.operands.elementBytes); });
    TileRow rows[kMaxStrips];
    uint8_t* room = j.state.scratch;
    for (uint32_t i = 0; i < j.operands.bStrips; ++i) rows[i] = rowTiles(j, j.operands.b[i], room);
    const uint32_t m1 = j.operands.aStrips;
    multiplyTiles({rows, pairs, j.operands.bStrips, j.operands.aLive, j.kTiles, j.c(0, 0), m1 * 1024, 1024, j.zero(),
                   j.args.type == DataType::S8});
}

// C = A B, with B stored by columns of C.
void multiplyColumnsOfB(Job& j) {
    prepareC(j, false);
    TileRow rows[kMaxStrips];
    const uint8_t* packed[kMaxStrips];
    bool inPlace = j.kBytes % 64 == 0;
    for (uint32_t i = 0; i < j.operands.aLive; ++i)
        inPlace &= j.operands.a[i].kind == Strip::Rows && j.operands.a[i].rows == 16;
    if (!inPlace)
        packA(j, kRowForm, j.kTiles * 1024, packed,
              [&](uint8_t* p, const Strip& s) { packRowTiles(p, s, j.kBytes, 0, j.kTiles, j.operands.elementBytes); });
    for (uint32_t i = 0; i < j.operands.aLive; ++i)
        rows[i] = inPlace ? TileRow{j.operands.a[i].base, j.operands.a[i].pitch, 64, nullptr}
                          : TileRow{packed[i], 64, 1024, nullptr};
    // Whole rows of B where strips lie side by side, so that it is read in the order of memory.
    const uint8_t* pairs[kMaxStrips];
    // A line more from strip to strip: a power of two would put all of them on the same lines of the cache.
    const uint32_t count = j.operands.bStrips, bytes = j.kTiles * 1024 + 64;
    for (uint32_t n1 = 0; n1 < count;) {
        const Strip& s = j.operands.b[n1];
        uint32_t run = 1;
        auto whole = [&](const Strip& t, uint32_t i) {
            return t.kind == Strip::Columns && t.rows == 16 && t.pitch == s.pitch && t.base == s.base + i * 32;
        };
        while (n1 + run < count && whole(s, 0) && whole(j.operands.b[n1 + run], run)) ++run;
        uint8_t* room = j.state.scratch + uint64_t(n1) * bytes;
        if (run > 1)
            packPairTilesOfRows(room, bytes, s, run, j.args.k, j.kTiles);
        else
            packPairTiles(room, s, j.kBytes, j.kTiles, j.operands.elementBytes);
        for (uint32_t i = 0; i < run; ++i) pairs[n1 + i] = room + uint64_t(i) * bytes;
        n1 += run;
    }
    multiplyTiles({rows, pairs, j.operands.aLive, count, j.kTiles, j.c(0, 0), 1024, j.operands.aStrips * 1024, j.zero(),
                   j.args.type == DataType::S8});
}

void packInto(float* out, const Strip& s, const Job& j) { packPanel(out, s, j.args.k, j.args.type); }
void packInto(int32_t* out, const Strip& s, const Job& j) { packPanelInt(out, s, j.args.k); }

// C = A B in panels of T.
template <class T>
void multiplyWide(Job& j, PackForm form) {
    prepareC(j, false);
    const uint8_t* a[kMaxStrips];
    packA(j, form, j.args.k * 64, a, [&](uint8_t* p, const Strip& s) { packInto(reinterpret_cast<T*>(p), s, j); });
    T* b = reinterpret_cast<T*>(j.state.scratch);
    for (uint32_t n1 = 0; n1 < j.operands.bStrips; ++n1) {
        packInto(b, j.operands.b[n1], j);
        for (uint32_t m1 = 0; m1 < j.operands.aLive; ++m1)
            multiplyPanels(PanelJob<T>{reinterpret_cast<const T*>(a[m1]), b, j.args.k,
                                       reinterpret_cast<T*>(j.c(n1, m1)), j.zero()});
    }
}

}  // namespace

void multiply(const MatrixMultiply& args) {
    Core& core = pyto_sim::core();
    Job j(core, args);
    j.firstTile = uint32_t(static_cast<uint8_t*>(args.dst) - core.mem[int(MemId::L0c)]) / 1024;
    findOperands(core, args, j.operands);
    j.kBytes = args.k * j.operands.elementBytes;
    j.kTiles = (j.kBytes + 63) / 64;
    const bool tiles = isa() >= Isa::Amx && (args.type == DataType::BF16 || args.type == DataType::S8);
    if (tiles) {
        needTiles();
        if (j.operands.b[0].kind == Strip::Columns)
            multiplyColumnsOfB(j);
        else
            multiplyRowsOfB(j);
    } else if (args.type == DataType::S8) {
        multiplyWide<int32_t>(j, kIntForm);
    } else {
        multiplyWide<float>(j, kFloatForm);
    }
}

void checkMultiply(const MatrixMultiply& x, MemId dst, MemId a, MemId b, Loc loc) {
    if (dst != MemId::L0c) fail(loc, "Mmad: the result lies in %s, not in L0C", memName(dst));
    if (a != MemId::L0a) fail(loc, "Mmad: the left matrix lies in %s, not in L0A", memName(a));
    if (b != MemId::L0b) fail(loc, "Mmad: the right matrix lies in %s, not in L0B", memName(b));
    if (x.m > 4095 || x.n > 4095 || x.k > 4095) fail(loc, "Mmad: m %u, n %u, k %u; at most 4095 each", x.m, x.n, x.k);
    checkLocal(loc, "Mmad: result", MemId::L0c, x.dst, matrixCBytes(x), 1024);
    checkLocal(loc, "Mmad: left matrix", MemId::L0a, x.a, matrixABytes(x), 512);
    checkLocal(loc, "Mmad: right matrix", MemId::L0b, x.b, matrixBBytes(x), 512);
}

}  // namespace pyto_sim
