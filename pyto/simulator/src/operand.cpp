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

// Whether the fractals of a strip describe one regular piece of GM that covers what is needed.
bool regular(const LazyL0& lazy, const Layout& l, uint32_t s, uint32_t needRows, Strip& out) {
    const uint32_t at = l.first + s * l.stripStep;
    const uint8_t form = lazy.form[at];
    const FractalForm& f = lazy.forms[form];
    if (f.kind == FractalForm::Real || f.rows < needRows) return false;
    const uint8_t* base = lazy.src[at];
    const bool columns = f.kind == FractalForm::Columns;
    const int64_t step = columns ? int64_t(16) * f.pitch : int64_t(kBlockBytes);
    const uint32_t tail = l.kBytes - (l.fractals - 1) * kBlockBytes;
    bool same = true;
    for (uint32_t kf = 1; kf + 1 < l.fractals; ++kf) {
        const uint32_t i = at + kf * l.kStep;
        same &= lazy.src[i] == base + int64_t(kf) * step;
        same &= lazy.form[i] == form;
    }
    if (!same) return false;
    if (l.fractals > 1) {
        const uint32_t i = at + (l.fractals - 1) * l.kStep;
        const FractalForm& last = lazy.forms[lazy.form[i]];
        if (lazy.src[i] != base + int64_t(l.fractals - 1) * step || last.kind != f.kind || last.pitch != f.pitch || last.rows < needRows ||
            last.rowBytes < tail || f.rowBytes < kBlockBytes)
            return false;
    } else if (f.rowBytes < tail) {
        return false;
    }
    out = {base, f.pitch, columns ? Strip::Columns : Strip::Rows, uint8_t(needRows), true};
    return true;
}

void findStrips(Core& core, const Layout& l, Strip* out, uint32_t count) {
    LazyL0& lazy = lazyL0(core, l.mem);
    uint8_t* l0 = core.mem[int(l.mem)];
    for (uint32_t s = 0; s < count; ++s) {
        const uint32_t left = l.rows - s * 16;
        const uint32_t needRows = left < 16 ? left : 16;
        const uint32_t at = l.first + s * l.stripStep;
        bool anyLazy = false;
        for (uint32_t kf = 0; kf < l.fractals; ++kf) anyLazy |= lazy.form[at + kf * l.kStep] != 0;
        if (anyLazy) {
            if (regular(lazy, l, s, needRows, out[s])) continue;
            for (uint32_t kf = 0; kf < l.fractals; ++kf) settleFractal(l0, lazy, at + kf * l.kStep);
        }
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
    out.aGeneration = core.cubeState->a.generation;
    if (x.m == 1) {
        // The matrix-vector form: A is one row of k elements in a line.
        settleL0(core, MemId::L0a, aFirst, uint32_t(matrixABytes(x) / kFractalBytes));
        out.a[0] = {static_cast<const uint8_t*>(x.a), 0, Strip::Rows, 1, false};
    } else {
        findStrips(core, {MemId::L0a, aFirst, kFractals(x), 1, x.m, kBytes, used}, out.a, out.aStrips);
    }
    findStrips(core, {MemId::L0b, bFirst, 1, out.bStrips, x.n, kBytes, used}, out.b, out.bStrips);
}

}  // namespace pyto_sim
