// Tiles on AMX.
#include <cstring>

#include "matmul.h"
#include "x86.h"

namespace pyto_sim {

#if PYTO_SIM_HAS_AMX

namespace {

struct alignas(64) TileConfig {
    uint8_t palette, startRow;
    uint8_t reserved[14];
    uint16_t columnBytes[16];
    uint8_t rows[16];
};
static_assert(sizeof(TileConfig) == 64, "as the instruction reads it");

struct SavedTiles {
    TileConfig before;
    bool active;  // a launch is running on this thread
    bool ours;    // and the configuration is ours
};
thread_local SavedTiles saved;

// The intrinsics tell the compiler about the first bytes of the configuration only; the barriers keep the rest.
PYTO_SIM_TILES void loadConfig(const TileConfig* config) {
    asm volatile("" : : "r"(config) : "memory");
    _tile_loadconfig(config);
}
PYTO_SIM_TILES void storeConfig(TileConfig* config) {
    _tile_storeconfig(config);
    asm volatile("" : : "r"(config) : "memory");
}

PYTO_SIM_TILES void start() {
    storeConfig(&saved.before);
    TileConfig config;
    std::memset(&config, 0, sizeof config);
    config.palette = 1;
    for (int i = 0; i < 8; ++i) {
        config.columnBytes[i] = 64;
        config.rows[i] = 16;
    }
    loadConfig(&config);
}

PYTO_SIM_TILES void restore() {
    if (saved.before.palette == 0)
        _tile_release();
    else
        loadConfig(&saved.before);
}

#define PYTO_DOT(INTEGER, C, A, B)   \
    do {                             \
        if (INTEGER)                 \
            _tile_dpbssd(C, A, B);   \
        else                         \
            _tile_dpbf16ps(C, A, B); \
    } while (0)

struct At {
    const uint8_t* p;
    int64_t pitch;
};
inline __attribute__((always_inline)) At tileAt(const TileRow& r, uint32_t t, uint32_t kTiles) {
    if (r.tail != nullptr && t + 1 == kTiles) return {r.tail, 64};
    return {r.base + uint64_t(t) * r.step, r.pitch};
}

template <bool kInteger>
PYTO_SIM_TILES void oneByOne(const TileJob& j, uint32_t i, uint32_t p) {
    uint8_t* c = j.c + uint64_t(i) * j.cRowStep + uint64_t(p) * j.cPairStep;
    if (j.zero)
        _tile_zero(0);
    else
        _tile_loadd(0, c, 64);
    const uint8_t* pair = j.pairs[p];
    for (uint32_t t = 0; t < j.kTiles; ++t) {
        const At a = tileAt(j.rows[i], t, j.kTiles);
        _tile_loadd(4, a.p, a.pitch);
        _tile_loadd(6, pair + t * 1024, 64);
        PYTO_DOT(kInteger, 0, 4, 6);
    }
    _tile_stored(0, c, 64);
}

template <bool kInteger>
PYTO_SIM_TILES void twoByTwo(const TileJob& j, uint32_t i, uint32_t p) {
    uint8_t* c = j.c + uint64_t(i) * j.cRowStep + uint64_t(p) * j.cPairStep;
    if (j.zero) {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    } else {
        _tile_loadd(0, c, 64);
        _tile_loadd(1, c + j.cPairStep, 64);
        _tile_loadd(2, c + j.cRowStep, 64);
        _tile_loadd(3, c + j.cRowStep + j.cPairStep, 64);
    }
    const uint8_t* first = j.pairs[p];
    const uint8_t* second = j.pairs[p + 1];
    for (uint32_t t = 0; t < j.kTiles; ++t) {
        const At a = tileAt(j.rows[i], t, j.kTiles), b = tileAt(j.rows[i + 1], t, j.kTiles);
        _tile_loadd(4, a.p, a.pitch);
        _tile_loadd(6, first + t * 1024, 64);
        PYTO_DOT(kInteger, 0, 4, 6);
        _tile_loadd(7, second + t * 1024, 64);
        PYTO_DOT(kInteger, 1, 4, 7);
        _tile_loadd(5, b.p, b.pitch);
        PYTO_DOT(kInteger, 2, 5, 6);
        PYTO_DOT(kInteger, 3, 5, 7);
    }
    _tile_stored(0, c, 64);
    _tile_stored(1, c + j.cPairStep, 64);
    _tile_stored(2, c + j.cRowStep, 64);
    _tile_stored(3, c + j.cRowStep + j.cPairStep, 64);
}

template <bool kInteger>
PYTO_SIM_TILES void twoByOne(const TileJob& j, uint32_t i, uint32_t p) {
    uint8_t* c = j.c + uint64_t(i) * j.cRowStep + uint64_t(p) * j.cPairStep;
    if (j.zero) {
        _tile_zero(0);
        _tile_zero(2);
    } else {
        _tile_loadd(0, c, 64);
        _tile_loadd(2, c + j.cRowStep, 64);
    }
    const uint8_t* pair = j.pairs[p];
    for (uint32_t t = 0; t < j.kTiles; ++t) {
        const At a = tileAt(j.rows[i], t, j.kTiles), b = tileAt(j.rows[i + 1], t, j.kTiles);
        _tile_loadd(6, pair + t * 1024, 64);
        _tile_loadd(4, a.p, a.pitch);
        PYTO_DOT(kInteger, 0, 4, 6);
        _tile_loadd(5, b.p, b.pitch);
        PYTO_DOT(kInteger, 2, 5, 6);
    }
    _tile_stored(0, c, 64);
    _tile_stored(2, c + j.cRowStep, 64);
}

template <bool kInteger>
PYTO_SIM_TILES void oneByTwo(const TileJob& j, uint32_t i, uint32_t p) {
    uint8_t* c = j.c + uint64_t(i) * j.cRowStep + uint64_t(p) * j.cPairStep;
    if (j.zero) {
        _tile_zero(0);
        _tile_zero(1);
    } else {
        _tile_loadd(0, c, 64);
        _tile_loadd(1, c + j.cPairStep, 64);
    }
    const uint8_t* first = j.pairs[p];
    const uint8_t* second = j.pairs[p + 1];
    for (uint32_t t = 0; t < j.kTiles; ++t) {
        const At a = tileAt(j.rows[i], t, j.kTiles);
        _tile_loadd(4, a.p, a.pitch);
        _tile_loadd(6, first + t * 1024, 64);
        PYTO_DOT(kInteger, 0, 4, 6);
        _tile_loadd(7, second + t * 1024, 64);
        PYTO_DOT(kInteger, 1, 4, 7);
    }
    _tile_stored(0, c, 64);
    _tile_stored(1, c + j.cPairStep, 64);
}

template <bool kInteger>
PYTO_SIM_TILES void run(const TileJob& j) {
    // Two strips of pairs stay in the first-level cache while the rows go by.
    for (uint32_t p = 0; p < j.pairCount; p += 2) {
        const bool two = p + 2 <= j.pairCount;
        uint32_t i = 0;
        for (; i + 2 <= j.rowCount; i += 2) {
            if (two)
                twoByTwo<kInteger>(j, i, p);
            else
                twoByOne<kInteger>(j, i, p);
        }
        if (i == j.rowCount) continue;
        if (two)
            oneByTwo<kInteger>(j, i, p);
        else
            oneByOne<kInteger>(j, i, p);
    }
}

}  // namespace

ThreadTiles::ThreadTiles() {
    saved.active = true;
    saved.ours = false;
}
ThreadTiles::~ThreadTiles() {
    if (saved.ours) restore();
    saved.active = saved.ours = false;
}
void needTiles() {
    if (saved.ours) return;
    start();
    saved.ours = true;
}

void multiplyTiles(const TileJob& job) {
    // Tile instructions hide their memory operands from the compiler.
    asm volatile("" : : : "memory");
    if (job.integer)
        run<true>(job);
    else
        run<false>(job);
    asm volatile("" : : : "memory");
}

#else

ThreadTiles::ThreadTiles() {}
ThreadTiles::~ThreadTiles() {}
void needTiles() {}
void multiplyTiles(const TileJob&) {}

#endif

}  // namespace pyto_sim
