#include "operand.h"

namespace pyto_sim {

namespace {

uint32_t elementBytesOf(DataType t) { return t == DataType::F32 ? 4 : t == DataType::S8 ? 1 : 2; }

uint32_t kFractals(const MatrixMultiply& x) {
    const uint32_t e = elementBytesOf(x.type);
    const uint32_t k = e == 4 && x.wideK ? (x.k + 15) / 16 * 16 : x.k;
    return (k * e + kBlockBytes - 1) / kBlockBytes;
}

uint32_t strips(uint32_t rows) { return (rows + 15) / 16; }

// One operand in L0: strip s has fractal kf at index first + s * stripStep + kf * kStep.
struct Layout {
    MemId mem;
    uint32_t first, stripStep, kStep;
    uint32_t rows;      // of the whole operand
    uint32_t kBytes;    // that count
    uint32_t fractals;  // along k, that count
};

// The strips of an operand whose fractals describe regular pieces of GM that cover what is needed: one pass over the
// fractals, strips side by side, so that the comparisons run in vectors.
struct Regular {
    uint8_t good[kMaxStrips];
};

void compareStrips(const LazyL0& lazy, const Layout& l, uint32_t count, Regular& out) {
    for (uint32_t s = 0; s < count; ++s) {
        const uint8_t form = lazy.form[l.first + s * l.stripStep];
        out.good[s] = lazy.forms[form].kind != FractalForm::Real;
    }
    for (uint32_t kf = 1; kf + 1 < l.fractals; ++kf) {
        const uint32_t at = l.first + kf * l.kStep;
        for (uint32_t s = 0; s < count; ++s) {
            const uint32_t i = at + s * l.stripStep, i0 = l.first + s * l.stripStep;
            const FractalForm& f = lazy.forms[lazy.form[i0]];
            const int64_t step = f.kind == FractalForm::Columns ? int64_t(16) * f.pitch : int64_t(kBlockBytes);
            out.good[s] &=
                uint8_t((lazy.src[i] == lazy.src[i0] + int64_t(kf) * step) & (lazy.form[i] == lazy.form[i0]));
        }
    }
}

// When all strips have one form of whole rows, and their fractals lie close together as generated kernels leave them:
// plain vector comparisons.
bool uniformRows(const LazyL0& lazy, const Layout& l, uint32_t count) {
    const uint8_t form = lazy.form[l.first];
    if (lazy.forms[form].kind != FractalForm::Rows || lazy.forms[form].rowBytes < kBlockBytes) return false;
    const bool sideBySide = (count == 1 || l.stripStep == 1) && l.kStep == count;
    const bool below = l.kStep == 1 && l.stripStep == l.fractals;
    if (!sideBySide && !below) return false;
    const uint32_t total = l.fractals * count;
    const uint8_t* forms = lazy.form + l.first;
    const uint8_t* const* src = lazy.src + l.first;
    uint32_t different = 0;
    for (uint32_t i = 0; i < total; ++i) different |= uint32_t(forms[i] ^ form);
    if (different != 0) return false;
    auto step = [](const uint8_t* from, const uint8_t* to) {
        return (reinterpret_cast<uint64_t>(to) - reinterpret_cast<uint64_t>(from)) ^ kBlockBytes;
    };
    uint64_t apart = 0;
    if (sideBySide) {
        for (uint32_t i = count; i < total; ++i) apart |= step(src[i - count], src[i]);
    } else {
        for (uint32_t s = 0; s < count; ++s, src += l.fractals)
            for (uint32_t i = 1; i < l.fractals; ++i) apart |= step(src[i - 1], src[i]);
    }
    return apart == 0;
}

bool lastFits(const LazyL0& lazy, const Layout& l, uint32_t s, uint32_t needRows) {
    const uint32_t at = l.first + s * l.stripStep;
    const FractalForm& f = lazy.forms[lazy.form[at]];
    const uint32_t tail = l.kBytes - (l.fractals - 1) * kBlockBytes;
    if (f.rows < needRows) return false;
    if (l.fractals == 1) return f.rowBytes >= tail;
    const uint32_t i = at + (l.fractals - 1) * l.kStep;
    const FractalForm& last = lazy.forms[lazy.form[i]];
    const int64_t step = f.kind == FractalForm::Columns ? int64_t(16) * f.pitch : int64_t(kBlockBytes);
    return f.rowBytes == kBlockBytes && lazy.src[i] == lazy.src[at] + int64_t(l.fractals - 1) * step &&
           last.kind == f.kind && last.pitch == f.pitch && last.rows >= needRows && last.rowBytes >= tail;
}

void findStrips(Core& core, const Layout& l, Strip* out, uint32_t count) {
    LazyL0& lazy = lazyL0(core, l.mem);
    uint8_t* l0 = core.mem[int(l.mem)];
    const bool uniform = uniformRows(lazy, l, count);
    Regular regular;
    if (!uniform) compareStrips(lazy, l, count, regular);
    for (uint32_t s = 0; s < count; ++s) {
        const uint32_t left = l.rows - s * 16;
        const uint32_t needRows = left < 16 ? left : 16;
        const uint32_t at = l.first + s * l.stripStep;
        if (uniform || (regular.good[s] && lastFits(lazy, l, s, needRows))) {
            const FractalForm& f = lazy.forms[lazy.form[at]];
            if (f.rows >= needRows) {
                out[s] = {lazy.src[at], f.pitch, f.kind == FractalForm::Columns ? Strip::Columns : Strip::Rows,
                          uint8_t(needRows), true};
                continue;
            }
        }
        for (uint32_t kf = 0; kf < l.fractals; ++kf) settleFractal(l0, lazy, at + kf * l.kStep);
        out[s] = {l0 + at * kFractalBytes, int64_t(l.kStep) * kFractalBytes, Strip::Fractals, uint8_t(needRows), false};
    }
}

}  // namespace

uint64_t matrixABytes(const MatrixMultiply& x) {
    if (x.m == 1) return (uint64_t(x.k) * elementBytesOf(x.type) + kFractalBytes - 1) / kFractalBytes * kFractalBytes;
    return uint64_t(strips(x.m)) * kFractals(x) * kFractalBytes;
}
uint64_t matrixBBytes(const MatrixMultiply& x) { return uint64_t(strips(x.n)) * kFractals(x) * kFractalBytes; }
uint64_t matrixCBytes(const MatrixMultiply& x) { return uint64_t(strips(x.m)) * strips(x.n) * 1024; }

void findOperands(Core& core, const MatrixMultiply& x, Operands& out) {
    out.elementBytes = elementBytesOf(x.type);
    out.aStrips = strips(x.m);
    out.bStrips = strips(x.n);
    const uint32_t kBytes = x.k * out.elementBytes;
    const uint32_t used = (kBytes + kBlockBytes - 1) / kBlockBytes;
    const uint32_t aFirst = uint32_t(static_cast<const uint8_t*>(x.a) - core.mem[int(MemId::L0a)]) / kFractalBytes;
    const uint32_t bFirst = uint32_t(static_cast<const uint8_t*>(x.b) - core.mem[int(MemId::L0b)]) / kFractalBytes;
    out.aFirst = aFirst;
    out.aStripStep = x.m == 1 ? 1 : kFractals(x);
    out.aFractals = x.m == 1 ? uint32_t(matrixABytes(x) / kFractalBytes) : used;
    out.aLive = out.aStrips;
    const LazyL0& lazy = core.cubeState->a;
    auto written = [&](uint32_t strip) {
        for (uint32_t k = 0; k < used; ++k)
            if (lazy.written[aFirst + strip * kFractals(x) + k] != lazy.startClock) return true;
        return false;
    };
    while (out.aLive > 1 && !written(out.aLive - 1)) --out.aLive;
    if (x.m == 1) {
        // The matrix-vector form: A is one row of k elements in a line.
        settleL0(core, MemId::L0a, aFirst, uint32_t(matrixABytes(x) / kFractalBytes));
        out.a[0] = {static_cast<const uint8_t*>(x.a), 0, Strip::Rows, 1, false};
    } else {
        findStrips(core, {MemId::L0a, aFirst, kFractals(x), 1, x.m, kBytes, used}, out.a, out.aLive);
    }
    findStrips(core, {MemId::L0b, bFirst, 1, out.bStrips, x.n, kBytes, used}, out.b, out.bStrips);
}

}  // namespace pyto_sim
