#include "cube_state.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "launch.h"

namespace pyto_sim {

namespace {

uint8_t* allocateHuge(size_t bytes) {
    constexpr size_t kHuge = 2u << 20;
    void* raw = mmap(nullptr, bytes + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) std::abort();
    uint8_t* p = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(raw) + kHuge - 1) & ~uintptr_t(kHuge - 1));
#if defined(MADV_HUGEPAGE)
    madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return p;
}

uint32_t hashKey(const PackedKey& k) {
    uint64_t h = reinterpret_cast<uintptr_t>(k.src) * 0x9e3779b97f4a7c15ull;
    h ^= (uint64_t(k.pitch) << 32 ^ uint64_t(k.rows) << 20 ^ k.bytes ^ uint64_t(k.form) << 40) * 0xff51afd7ed558ccdull;
    return uint32_t(h >> 32);
}

bool sameKey(const PackedKey& a, const PackedKey& b) {
    return a.src == b.src && a.pitch == b.pitch && a.rows == b.rows && a.bytes == b.bytes && a.form == b.form;
}

}  // namespace

PackCache::PackCache() : slots_(), arena_(allocateHuge(kArena)) {}

void PackCache::clear() {
    used_ = count_ = 0;
    ++epoch_;
}

void PackCache::reserve(uint32_t bytes, uint32_t count) {
    if (used_ + bytes + count * 64 > kArena || count_ + count > kSlots / 2) clear();
}

uint8_t* PackCache::find(const PackedKey& key, uint32_t bytes, bool& fresh) {
    bytes = (bytes + 63u) & ~63u;
    const uint32_t home = hashKey(key) % kSlots;
    for (uint32_t i = 0;; ++i) {
        Slot& s = slots_[(home + i) % kSlots];
        if (s.epoch == epoch_) {
            if (!sameKey(s.key, key)) continue;
            fresh = false;
            return arena_ + s.offset;
        }
        s = {key, used_, epoch_};
        used_ += bytes;
        ++count_;
        fresh = true;
        return arena_ + s.offset;
    }
}

CubeState* createCubeState() {
    CubeState* s = new CubeState();
    constexpr size_t packed = size_t(CubeState::kPackedStrips) * CubeState::kPackedStripBytes;
    s->packedStripBytes = allocateHuge(packed + CubeState::kScratchBytes);
    s->scratch = s->packedStripBytes + packed;
    return s;
}

void resetCubeState(CubeState& s, uint64_t launch) {
    if (s.launch != launch) s.packed.clear();
    s.launch = launch;
    s.viewCount = 0;
    s.lastView = 0;
    std::memset(s.writtenL1, 0, sizeof s.writtenL1);
    for (LazyL0* l : {&s.a, &s.b}) {
        std::memset(l->form, 0, sizeof l->form);
        l->forms[0] = {FractalForm::Real, 16, kBlockBytes, 0};
        l->formCount = 1;
        l->lastForm = 0;
        l->startClock = ++l->clock;
        for (uint32_t& w : l->written) w = l->clock;
    }
    std::memset(s.transposedC, 0, sizeof s.transposedC);
    std::memset(&s.image, 0, sizeof s.image);
    s.loadPadValue = 0;
    for (auto& p : s.packedStrips) p.bytes = 0;
}

bool isConstantGm(const Core& core, const void* p, int64_t bytes) {
    const uint8_t* begin = static_cast<const uint8_t*>(p);
    for (const GmRange& r : core.launch->ranges)
        if (r.constant && begin >= r.begin && begin + bytes <= r.end) return true;
    return false;
}

// One row after another: two at a time, so that each store is a whole cache line of the fractal.
void copyFractalRows(uint8_t* dst, const Nd2Nz& s, const uint8_t* src) {
    const uint32_t whole = s.rowBytes / kBlockBytes;
    const uint32_t tail = s.rowBytes % kBlockBytes;
    uint32_t r = 0;
    if (s.rowStride == kBlockBytes) {
        for (; r + 2 <= s.rows; r += 2) {
            const uint8_t* p = src + int64_t(r) * s.srcPitch;
            const uint8_t* q = p + s.srcPitch;
            uint8_t* d = dst + r * kBlockBytes;
            for (uint32_t k = 0; k < whole; ++k) {
                std::memcpy(d, p + k * kBlockBytes, kBlockBytes);
                std::memcpy(d + kBlockBytes, q + k * kBlockBytes, kBlockBytes);
                d += s.blockStride;
            }
            if (tail != 0) {
                std::memset(d, 0, 2 * kBlockBytes);
                std::memcpy(d, p + whole * kBlockBytes, tail);
                std::memcpy(d + kBlockBytes, q + whole * kBlockBytes, tail);
            }
        }
    }
    for (; r < s.rows; ++r) {
        const uint8_t* p = src + int64_t(r) * s.srcPitch;
        uint8_t* d = dst + uint64_t(r) * s.rowStride;
        for (uint32_t k = 0; k < whole; ++k, d += s.blockStride) std::memcpy(d, p + k * kBlockBytes, kBlockBytes);
        if (tail != 0) {
            std::memset(d, 0, kBlockBytes);
            std::memcpy(d, p + whole * kBlockBytes, tail);
        }
    }
}

void markWritten(CubeState& s, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin / kBlockBytes; i * kBlockBytes < end;) {
        const uint32_t last = (end + kBlockBytes - 1) / kBlockBytes;
        if (i % 64 == 0 && last - i >= 64) {
            s.writtenL1[i / 64] = ~uint64_t(0);
            i += 64;
        } else {
            s.writtenL1[i / 64] |= uint64_t(1) << (i % 64);
            ++i;
        }
    }
}

bool anyWritten(const CubeState& s, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin / kBlockBytes; i * kBlockBytes < end; ++i)
        if ((s.writtenL1[i / 64] >> (i % 64)) & 1) return true;
    return false;
}

namespace {

void materialise(Core& core, const L1View& v) {
    const Nd2Nz shape = {v.rows, v.rowBytes, v.pitch, v.blockStride, kBlockBytes};
    copyFractalRows(core.mem[int(MemId::L1)] + v.begin, shape, v.src);
    for (uint32_t at = 0; at * kBlockBytes < v.rowBytes; ++at)
        markWritten(*core.cubeState, v.begin + at * v.blockStride, v.begin + at * v.blockStride + v.rows * kBlockBytes);
}

void removeView(CubeState& s, int i) {
    // Order is age; later views may only overlap earlier ones that were handled when the later came.
    for (int j = i; j + 1 < s.viewCount; ++j) s.views[j] = s.views[j + 1];
    --s.viewCount;
}

bool sameFootprint(const L1View& a, const L1View& b) {
    return a.begin == b.begin && a.end == b.end && a.rows == b.rows && a.rowBytes == b.rowBytes &&
           a.blockStride == b.blockStride;
}

}  // namespace

void leaveView(Core& core, L1View view) {
    CubeState& s = *core.cubeState;
    view.blockInverse = ((uint64_t(1) << 40) + view.blockStride - 1) / view.blockStride;
    view.blocksInverse = (1u << 16) / ((view.rowBytes + kBlockBytes - 1) / kBlockBytes);
    for (int i = 0; i < s.viewCount; ++i) {
        const L1View& old = s.views[i];
        if (old.end <= view.begin || view.end <= old.begin) continue;
        const bool covered = (view.dense && view.begin <= old.begin && old.end <= view.end) || sameFootprint(view, old);
        if (!covered) materialise(core, old);
        removeView(s, i--);
    }
    if (s.viewCount == CubeState::kMaxViews) {
        materialise(core, s.views[0]);
        removeView(s, 0);
    }
    s.lastView = s.viewCount;
    s.views[s.viewCount++] = view;
}

void settleL1(Core& core, uint32_t begin, uint32_t end) {
    CubeState& s = *core.cubeState;
    for (int i = 0; i < s.viewCount; ++i) {
        if (s.views[i].end <= begin || end <= s.views[i].begin) continue;
        materialise(core, s.views[i]);
        removeView(s, i--);
    }
}

void overwriteL1(Core& core, uint32_t begin, uint32_t end, bool dense) {
    CubeState& s = *core.cubeState;
    for (int i = 0; i < s.viewCount; ++i) {
        const L1View& old = s.views[i];
        if (old.end <= begin || end <= old.begin) continue;
        if (!(dense && begin <= old.begin && old.end <= end)) materialise(core, old);
        removeView(s, i--);
    }
    markWritten(s, begin, end);
}

const L1View* searchView(CubeState& s, uint32_t at) {
    for (int i = 0; i < s.viewCount; ++i)
        if (s.views[i].begin <= at && at < s.views[i].end) {
            s.lastView = i;
            return &s.views[i];
        }
    return nullptr;
}

int LazyL0::findForm(FractalForm::Kind kind, uint32_t rows, uint32_t rowBytes, int64_t pitch) {
    for (int i = 1; i < formCount; ++i) {
        const FractalForm& f = forms[i];
        if (f.kind == kind && f.rows == rows && f.rowBytes == rowBytes && f.pitch == pitch) return lastForm = i;
    }
    if (formCount == kMaxForms) return -1;
    forms[formCount] = {kind, uint8_t(rows), uint8_t(rowBytes), pitch};
    return lastForm = formCount++;
}

LazyL0& lazyL0(Core& core, MemId mem) { return mem == MemId::L0a ? core.cubeState->a : core.cubeState->b; }

void settleFractal(uint8_t* l0, LazyL0& lazy, uint32_t index) {
    const FractalForm& f = lazy.forms[lazy.form[index]];
    if (f.kind == FractalForm::Real) return;
    const uint8_t* src = lazy.src[index];
    uint8_t* d = l0 + index * kFractalBytes;
    if (f.rows < 16 || f.rowBytes < kBlockBytes) std::memset(d, 0, kFractalBytes);
    if (f.kind == FractalForm::Rows) {
        for (uint32_t r = 0; r < f.rows; ++r) std::memcpy(d + r * kBlockBytes, src + int64_t(r) * f.pitch, f.rowBytes);
    } else {
        const uint32_t columns = f.rowBytes / 2;
        for (uint32_t c = 0; c < columns; ++c) {
            const uint8_t* line = src + int64_t(c) * f.pitch;
            for (uint32_t r = 0; r < f.rows; ++r) std::memcpy(d + r * kBlockBytes + c * 2, line + r * 2, 2);
        }
    }
    lazy.form[index] = 0;
}

void settleL0(Core& core, MemId mem, uint32_t first, uint32_t count) {
    LazyL0& lazy = lazyL0(core, mem);
    for (uint32_t i = first; i < first + count && i < kFractalsL0; ++i) settleFractal(core.mem[int(mem)], lazy, i);
}

void overwriteL0(Core& core, MemId mem, uint32_t begin, uint32_t end) {
    LazyL0& lazy = lazyL0(core, mem);
    ++lazy.clock;
    for (uint32_t i = begin / kFractalBytes; i < kFractalsL0 && i * kFractalBytes < end; ++i) {
        const bool whole = begin <= i * kFractalBytes && (i + 1) * kFractalBytes <= end;
        if (!whole) settleFractal(core.mem[int(mem)], lazy, i);
        lazy.form[i] = 0;
        lazy.written[i] = lazy.clock;
    }
}

void flipTile(Core& core, uint32_t t) {
    bool& flag = core.cubeState->transposedC[t];
    flag = !flag;
    uint32_t* tile = reinterpret_cast<uint32_t*>(core.mem[int(MemId::L0c)] + t * 1024);
    for (int i = 0; i < 16; ++i)
        for (int j = i + 1; j < 16; ++j) {
            const uint32_t x = tile[i * 16 + j];
            tile[i * 16 + j] = tile[j * 16 + i];
            tile[j * 16 + i] = x;
        }
}

void settleL0C(Core& core, uint32_t first, uint32_t count) {
    for (uint32_t t = first; t < first + count && t < kTilesL0C; ++t)
        if (core.cubeState->transposedC[t]) flipTile(core, t);
}

}  // namespace pyto_sim
