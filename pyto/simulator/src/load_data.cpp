// Fractals from L1 (or GM) into L0: as descriptions where L1 holds a description, as bytes otherwise.
#include "pyto_sim/load_functions.h"

#include <cstring>

#include "cube_state.h"

namespace pyto_sim {

namespace {

uint32_t offsetIn(const Core& core, MemId mem, const void* p) {
    return uint32_t(static_cast<const uint8_t*>(p) - core.mem[int(mem)]);
}

void transpose16(uint8_t* dst, const uint8_t* src) {
    const uint16_t* s = reinterpret_cast<const uint16_t*>(src);
    uint16_t* d = reinterpret_cast<uint16_t*>(dst);
    for (int r = 0; r < 16; ++r)
        for (int c = 0; c < 16; ++c) d[c * 16 + r] = s[r * 16 + c];
}

__attribute__((noinline)) void copyFractal(Core& core, uint8_t* l0, LazyL0& lazy, uint32_t index, uint32_t at,
                                           bool transpose) {
    if (core.cubeState->viewCount > 0) settleL1(core, at, at + kFractalBytes);
    const uint8_t* s = core.mem[int(MemId::L1)] + at;
    uint8_t* d = l0 + index * kFractalBytes;
    if (transpose)
        transpose16(d, s);
    else
        std::memcpy(d, s, kFractalBytes);
    lazy.form[index] = 0;
    lazy.written[index] = lazy.clock;
}

// Where a fractal lies in the rows that a view stands for.
struct Place {
    uint32_t block;  // column block
    uint32_t row;
};

// Describes one fractal of a view. False when the form table is full, or when rows of the fractal that are not of the
// view hold bytes; else they are undefined, and zero here.
bool describe(const CubeState& state, LazyL0& lazy, uint32_t index, const L1View& v, Place at, bool transpose) {
    const uint32_t rows = at.row >= v.rows ? 0 : (v.rows - at.row < 16 ? v.rows - at.row : 16);
    const uint32_t done = at.block * kBlockBytes;
    const uint32_t begin = v.begin + at.block * v.blockStride + at.row * kBlockBytes;
    if (rows < 16 && anyWritten(state, begin + rows * kBlockBytes, begin + kFractalBytes)) return false;
    const uint32_t bytes = done >= v.rowBytes ? 0 : (v.rowBytes - done < kBlockBytes ? v.rowBytes - done : kBlockBytes);
    // Transposed, the rows of the view become columns of the fractal.
    const int form = transpose ? lazy.formOf(FractalForm::Columns, bytes / 2, rows * 2, v.pitch)
                               : lazy.formOf(FractalForm::Rows, rows, bytes, v.pitch);
    if (form < 0) return false;
    lazy.src[index] = v.src + int64_t(at.row) * v.pitch + done;
    lazy.form[index] = uint8_t(form);
    lazy.written[index] = lazy.clock;
    return true;
}

}  // namespace

namespace {

// Prefetches rows of B that Mmad comes to last, so that memory is busy while descriptions are written; the first strips
// are left to Mmad, which needs them at once. A load column block by column block fetches a few whole rows each time.
inline __attribute__((always_inline)) void prefetchRest(const L1View& v, uint32_t row, uint32_t block, uint32_t each,
                                                        uint32_t blocks) {
    if (each == 1) return;
    const bool once = blocks > 1;
    const uint32_t left = once ? each - (each + 3) / 4 : 2;  // strips left to Mmad
    if (each <= left) return;
    const uint32_t all = (each - left) * 16;
    const uint32_t from = once ? 0 : all * block * v.blocksInverse >> 16;
    const uint32_t to = once ? all : all * (block + 1) * v.blocksInverse >> 16;
    const uint32_t begin = once ? block * kBlockBytes : 0, end = once ? (block + blocks) * kBlockBytes : v.rowBytes;
    const uint8_t* line = v.src + int64_t(row + left * 16 + from) * v.pitch;
    for (uint32_t r = from; r < to; ++r, line += v.pitch)
        for (uint32_t c = begin; c < end; c += 64) __builtin_prefetch(line + c, 0, 2);
}

inline __attribute__((always_inline)) void writeRun(LazyL0& lazy, uint32_t index, uint32_t indexStep,
                                                    const uint8_t* src, int64_t step, uint32_t n, uint8_t form) {
    const uint32_t clock = lazy.clock;
    if (indexStep == 1) {  // in vectors
        const uint8_t** to = lazy.src + index;
        for (uint32_t j = 0; j < n; ++j) to[j] = src + int64_t(j) * step;
        for (uint32_t j = 0; j < n; ++j) lazy.written[index + j] = clock;
        for (uint32_t j = 0; j < n; ++j) lazy.form[index + j] = form;
        return;
    }
    for (uint32_t j = 0; j < n; ++j, index += indexStep, src += step) {
        lazy.src[index] = src;
        lazy.form[index] = form;
        lazy.written[index] = clock;
    }
}

// The usual loads: whole fractals of one view, of the form of the last load; below each other
// with a wrap to the next column block at the view's end, or side by side. False when it is something else.
inline __attribute__((always_inline)) bool loadRun(const L1View& v, LazyL0& lazy, uint32_t index, uint32_t indexStep,
                                                   uint32_t at, uint32_t rowStep, uint32_t count, bool b) {
    const uint32_t rel = at - v.begin;
    const uint32_t block = uint32_t((rel * v.blockInverse) >> 40);
    const uint32_t left = rel - block * v.blockStride;
    const uint32_t row = left / kBlockBytes, blockRows = v.blockStride / kBlockBytes;
    if (left % kBlockBytes != 0) return false;
    const uint8_t form = uint8_t(lazy.lastForm);
    const FractalForm& f = lazy.forms[form];
    if (f.kind != FractalForm::Rows || f.rows != 16 || f.rowBytes != kBlockBytes || f.pitch != v.pitch) return false;
    // Fractals of the first column block, fractals a block, blocks.
    uint32_t each = count, blocks = 1;
    int64_t step = int64_t(rowStep) * v.pitch;
    if (row + (count - 1) * rowStep + 16 > v.rows) {
        if (rowStep == blockRows) {
            blocks = count;
            each = 1;
        } else if (rowStep == 16 && row == 0 && v.rows == blockRows && blockRows % 16 == 0) {
            each = blockRows / 16;
            blocks = (count + each - 1) / each;
        } else {
            return false;
        }
        if (row + (each - 1) * rowStep + 16 > v.rows) return false;
    }
    if ((block + blocks) * kBlockBytes > v.rowBytes) return false;
    const uint8_t* src = v.src + int64_t(row) * v.pitch + block * kBlockBytes;
    if (each == 1) {
        writeRun(lazy, index, indexStep, src, kBlockBytes, count, form);
    } else {
        for (uint32_t k = 0; k < blocks; ++k, index += each * indexStep, src += kBlockBytes)
            writeRun(lazy, index, indexStep, src, step, count - k * each < each ? count - k * each : each, form);
    }
    if (b) prefetchRest(v, row, block, each, blocks);
    return true;
}

__attribute__((noinline)) void loadAny(Core& core, MemId dstMem, uint32_t index, uint32_t first,
                                       const FractalMove& move) {
    CubeState& state = *core.cubeState;
    LazyL0& lazy = lazyL0(core, dstMem);
    uint8_t* l0 = core.mem[int(dstMem)];
    const uint32_t indexStep = move.dstStep / kFractalBytes;
    const int64_t rowStep = move.srcStep / int64_t(kBlockBytes);
    for (uint32_t i = 0; i < move.count;) {
        const uint32_t at = uint32_t(int64_t(first) + int64_t(i) * move.srcStep);
        const L1View* v = findView(state, at);
        const uint32_t rel = v == nullptr ? 0 : at - v->begin;
        Place place = {0, 0};
        uint32_t blockRows = 0;
        if (v != nullptr) {
            blockRows = v->blockStride / kBlockBytes;
            place = {rel / v->blockStride, rel % v->blockStride / kBlockBytes};
        }
        const bool described = v != nullptr && rel % kBlockBytes == 0 && place.row + 16 <= blockRows &&
                               place.block * kBlockBytes < v->rowBytes &&
                               describe(state, lazy, index, *v, place, move.transpose);
        if (!described) {
            copyFractal(core, l0, lazy, index, at, move.transpose);
            ++i;
            index += indexStep;
            continue;
        }
        // The next ones while they stay in this view, column block after column block.
        for (++i, index += indexStep; i < move.count; ++i, index += indexStep) {
            int64_t row = int64_t(place.row) + rowStep;
            if (row < 0) break;
            while (row >= int64_t(blockRows)) {
                row -= blockRows;
                ++place.block;
            }
            place.row = uint32_t(row);
            if (place.row + 16 > blockRows || place.block * kBlockBytes >= v->rowBytes ||
                !describe(state, lazy, index, *v, place, move.transpose))
                break;
        }
    }
}

}  // namespace

void loadFractals(MemId dstMem, void* dst, const void* srcL1, const FractalMove& move) {
    Core& core = pyto_sim::core();
    CubeState& state = *core.cubeState;
    const bool b = dstMem == MemId::L0b;
    LazyL0& lazy = b ? state.b : state.a;
    ++lazy.clock;
    const uint32_t index = offsetIn(core, dstMem, dst) / kFractalBytes;
    const uint32_t first = offsetIn(core, MemId::L1, srcL1);
    const L1View* v = findView(state, first);
    if (v != nullptr && !move.transpose && move.srcStep > 0 &&
        loadRun(*v, lazy, index, move.dstStep / kFractalBytes, first, uint32_t(move.srcStep) / kBlockBytes, move.count,
                b))
        return;
    loadAny(core, dstMem, index, first, move);
}

void loadFractalsGm(MemId dstMem, void* dst, const void* src, const FractalMove& move) {
    Core& core = pyto_sim::core();
    const uint32_t begin = offsetIn(core, dstMem, dst);
    for (uint32_t i = 0; i < move.count; ++i) {
        const uint8_t* s = static_cast<const uint8_t*>(src) + int64_t(i) * move.srcStep;
        const uint32_t at = begin + i * move.dstStep;
        beforeGmAccess(s, kFractalBytes);
        if (dstMem == MemId::L1)
            overwriteL1(core, at, at + kFractalBytes, true);
        else
            overwriteL0(core, dstMem, at, at + kFractalBytes);
        std::memcpy(core.mem[int(dstMem)] + at, s, kFractalBytes);
    }
}

namespace {

// Squares of 8-bit elements: 32x32 from two fractals below each other. Of 32-bit elements: 16x16 from two side by side.
void transposeSquare(uint8_t* first, uint8_t* second, const uint8_t* src, uint32_t elementBytes) {
    if (elementBytes == 2) return transpose16(first, src);
    uint8_t* out[2] = {first, second};
    if (elementBytes == 1) {
        for (int r = 0; r < 32; ++r)
            for (int c = 0; c < 32; ++c) out[c / 16][(c % 16) * 32 + r] = src[r * 32 + c];
        return;
    }
    for (int r = 0; r < 16; ++r)
        for (int c = 0; c < 16; ++c)
            std::memcpy(out[r / 8] + (c * 8 + r % 8) * 4, src + (c / 8) * 512 + (r * 8 + c % 8) * 4, 4);
}

}  // namespace

void loadSquares(MemId dstMem, void* dst, const void* srcL1, const SquareMove& move) {
    if (move.elementBytes == 2) return loadFractals(dstMem, dst, srcL1, {move.count, move.srcStep, move.dstStep, true});
    Core& core = pyto_sim::core();
    const uint32_t begin = offsetIn(core, dstMem, dst), first = offsetIn(core, MemId::L1, srcL1);
    uint8_t* l0 = core.mem[int(dstMem)];
    const uint8_t* l1 = core.mem[int(MemId::L1)];
    for (uint32_t i = 0; i < move.count; ++i) {
        const uint32_t from = uint32_t(int64_t(first) + int64_t(i) * move.srcStep);
        const uint32_t to = begin + i * move.dstStep;
        settleL1(core, from, from + 2 * kFractalBytes);
        overwriteL0(core, dstMem, to, to + kFractalBytes);
        overwriteL0(core, dstMem, to + move.fractalStep, to + move.fractalStep + kFractalBytes);
        transposeSquare(l0 + to, l0 + to + move.fractalStep, l1 + from, move.elementBytes);
    }
}

void setImage(uint32_t height, uint32_t width, const uint8_t pad[4]) {
    auto& image = core().cubeState->image;
    image.height = uint16_t(height);
    image.width = uint16_t(width);
    std::memcpy(image.pad, pad, 4);
}

void getImage(uint32_t& height, uint32_t& width, uint8_t pad[4]) {
    const auto& image = core().cubeState->image;
    height = image.height;
    width = image.width;
    std::memcpy(pad, image.pad, 4);
}

void setLoadPadding(uint64_t value) { core().cubeState->loadPadValue = value; }
uint64_t getLoadPadding() { return core().cubeState->loadPadValue; }

namespace {

uint32_t roundUp(uint32_t x, uint32_t to) { return (x + to - 1) / to * to; }

// Rows and columns of fractals that the cut-out matrix fills, as it stands in L0: [rows][columns] of 16 x C0.
struct L0Shape {
    uint32_t rowBlocks, columnBlocks;
};

L0Shape shapeOf(MemId mem, const ImageMove& m) {
    const uint32_t c0 = kBlockBytes / m.elementBytes;
    if (mem == MemId::L0a && !m.transpose) return {roundUp(m.mCount, 16) / 16, roundUp(m.kCount, c0) / c0};
    // Transposed: rows are the columns of the image, in steps of 16; columns its positions.
    return {roundUp(m.kCount, 16) / 16, roundUp(m.mCount, 16) / c0};
}

void copyElement(uint8_t* out, const uint8_t* l1, const ImageMove& m, uint32_t position, uint32_t column) {
    const uint32_t c0 = kBlockBytes / m.elementBytes;
    const uint32_t outWidth = (m.width + m.padLeft + m.padRight - ((m.filterW - 1) * m.dilationW + 1)) / m.strideW + 1;
    const uint32_t window = column / c0, c = column % c0;
    const uint32_t c1 = window / (m.filterH * m.filterW), tap = window % (m.filterH * m.filterW);
    const int64_t y = int64_t(position / outWidth) * m.strideH - m.padTop + int64_t(tap / m.filterW) * m.dilationH;
    const int64_t x = int64_t(position % outWidth) * m.strideW - m.padLeft + int64_t(tap % m.filterW) * m.dilationW;
    const bool inside = y >= 0 && x >= 0 && y < int64_t(m.height) && x < int64_t(m.width);
    if (!inside)
        std::memcpy(out, &m.padValue, m.elementBytes);
    else
        std::memcpy(
            out,
            l1 + ((uint64_t(c1) * m.height + uint64_t(y)) * m.width + uint64_t(x)) * kBlockBytes + c * m.elementBytes,
            m.elementBytes);
}

}  // namespace

uint64_t imageMoveBytes(MemId dstMem, const ImageMove& move) {
    const L0Shape s = shapeOf(dstMem, move);
    return uint64_t(s.rowBlocks) * s.columnBlocks * kFractalBytes;
}

void loadImage(MemId dstMem, void* dst, const void* srcL1, const ImageMove& m, Loc loc) {
    if (m.strideW == 0 || m.strideH == 0 || m.filterW == 0 || m.filterH == 0 || m.dilationW == 0 || m.dilationH == 0)
        fail(loc, "LoadData(LoadData3DParamsV2): stride, filter and dilation must not be 0");
    Core& core = pyto_sim::core();
    const uint32_t c0 = kBlockBytes / m.elementBytes;
    const L0Shape s = shapeOf(dstMem, m);
    const uint32_t begin = offsetIn(core, dstMem, dst);
    const bool plain = m.filterW == 1 && m.filterH == 1 && m.strideW == 1 && m.strideH == 1 &&
                       m.padLeft + m.padRight + m.padTop + m.padBottom == 0;
    if (plain && m.kStart % c0 == 0 && (!m.transpose || m.elementBytes == 2)) {
        // A plain matrix: fractals of L1 as they are, or each transposed.
        const uint32_t blockBytes = m.height * m.width * kBlockBytes;
        const uint8_t* src = static_cast<const uint8_t*>(srcL1) + uint64_t(m.kStart / c0) * blockBytes +
                             uint64_t(m.mStart) * kBlockBytes;
        const uint32_t mBlocks = roundUp(m.mCount, 16) / 16, kBlocks = roundUp(m.kCount, c0) / c0;
        const uint32_t l1Left = kMemBytes[int(MemId::L1)] - offsetIn(core, MemId::L1, src);
        if (uint64_t(kBlocks - 1) * blockBytes + uint64_t(mBlocks) * kFractalBytes <= l1Left) {
            uint8_t* out = static_cast<uint8_t*>(dst);
            if (!m.transpose) {
                for (uint32_t i = 0; i < mBlocks; ++i)
                    loadFractals(dstMem, out + uint64_t(i) * kBlocks * kFractalBytes, src + i * kFractalBytes,
                                 {kBlocks, int64_t(blockBytes), kFractalBytes, false});
            } else if (dstMem == MemId::L0b) {
                for (uint32_t i = 0; i < mBlocks; ++i)
                    loadFractals(dstMem, out + uint64_t(i) * kBlocks * kFractalBytes, src + i * kFractalBytes,
                                 {kBlocks, int64_t(blockBytes), kFractalBytes, true});
            } else {
                for (uint32_t j = 0; j < kBlocks; ++j)
                    loadFractals(dstMem, out + uint64_t(j) * mBlocks * kFractalBytes, src + uint64_t(j) * blockBytes,
                                 {mBlocks, kFractalBytes, kFractalBytes, true});
            }
            return;
        }
    }
    const uint32_t l1Begin = offsetIn(core, MemId::L1, srcL1);
    settleL1(core, l1Begin, l1Begin + uint32_t(roundUp(m.channels, c0) / c0 * m.height * m.width * kBlockBytes));
    overwriteL0(core, dstMem, begin, begin + s.rowBlocks * s.columnBlocks * kFractalBytes);
    uint8_t* out = core.mem[int(dstMem)] + begin;
    const uint8_t* l1 = static_cast<const uint8_t*>(srcL1);
    std::memset(out, 0, uint64_t(s.rowBlocks) * s.columnBlocks * kFractalBytes);
    const uint32_t e = m.elementBytes;
    for (uint32_t i = 0; i < m.mCount; ++i)
        for (uint32_t j = 0; j < m.kCount; ++j) {
            uint64_t fractal;
            uint32_t inside;
            if (!m.transpose) {  // [m16][k C0][16][C0]
                fractal = uint64_t(i / 16) * s.columnBlocks + j / c0;
                inside = (i % 16) * c0 + j % c0;
            } else if (dstMem == MemId::L0a) {  // [k16][m C0][16 k][C0 m]
                fractal = uint64_t(j / 16) * s.columnBlocks + i / c0;
                inside = (j % 16) * c0 + i % c0;
            } else {  // [m C0][k16][16 k][C0 m]
                fractal = uint64_t(i / c0) * s.rowBlocks + j / 16;
                inside = (j % 16) * c0 + i % c0;
            }
            copyElement(out + fractal * kFractalBytes + inside * e, l1, m, m.mStart + i, m.kStart + j);
        }
}

void fillLocal(MemId mem, void* dst, uint64_t value, uint32_t elementBytes, uint32_t blockBytes, uint32_t blocks,
               uint32_t repeats, uint32_t gapBytes) {
    Core& core = pyto_sim::core();
    const uint32_t row = blocks * blockBytes;
    for (uint32_t r = 0; r < repeats; ++r) {
        const uint32_t at = offsetIn(core, mem, dst) + r * (row + gapBytes);
        if (mem == MemId::L1)
            overwriteL1(core, at, at + row, true);
        else
            overwriteL0(core, mem, at, at + row);
        uint8_t* d = core.mem[int(mem)] + at;
        for (uint32_t i = 0; i < row; i += elementBytes) std::memcpy(d + i, &value, elementBytes);
    }
}

}  // namespace pyto_sim
