// L0C to GM or L1: 16 rows at a time are gathered, converted, and stored.
#include "pyto_sim/fixpipe_functions.h"

#include <cmath>
#include <cstring>

#include "atomic.h"
#include "cube_state.h"
#include "pack.h"
#include "pyto_sim/copy_functions.h"
#include "x86.h"

namespace pyto_sim {

namespace {

uint32_t bytesOf(DataType t) {
    switch (t) {
        case DataType::F32:
        case DataType::S32:
            return 4;
        case DataType::F16:
        case DataType::BF16:
            return 2;
        default:
            return 1;
    }
}

// The multiplier as the hardware keeps it: 10 bits of mantissa.
float multiplier(uint64_t scale) { return floatOf(uint32_t(scale) & 0xffffe000u); }
int offsetOf(uint64_t scale) {
    const int raw = int((scale >> 37) & 0x1ff);
    return raw >= 256 ? raw - 512 : raw;
}

int clampRound(float x, int low, int high) {
    if (!(x > float(low))) return low;
    if (x > float(high)) return high;
    return int(std::nearbyintf(x));
}

#if PYTO_SIM_X86
PYTO_SIM_AVX2 void halvesWide(uint16_t* out, const float* in, uint32_t n) {
    for (uint32_t i = 0; i < n; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
}
#endif

// n is a multiple of 16.
void halves(uint16_t* out, const float* in, uint32_t n) {
#if PYTO_SIM_X86
    if (isa() >= Isa::Avx2) return halvesWide(out, in, n);
#endif
    for (uint32_t i = 0; i < n; ++i) out[i] = floatToHalfBits(in[i]);
}

void bfloats(uint16_t* out, const float* in, uint32_t n) {
    const uint32_t* u = reinterpret_cast<const uint32_t*>(in);
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t rounded = (u[i] + 0x7fffu + ((u[i] >> 16) & 1u)) >> 16;
        const uint32_t quiet = (u[i] >> 16) | 0x40u;
        out[i] = uint16_t((u[i] & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
    }
}

// One row of n (a multiple of 16, the tail undefined) values from L0C, as they will be written.
void convertRow(const FixpipeMove& m, const uint64_t* scales, uint8_t* out, const void* in, uint32_t n) {
    const float* f = static_cast<const float*>(in);
    const int32_t* s = static_cast<const int32_t*>(in);
    switch (m.quant) {
        case NoQuant: {
            if (!m.relu) {
                std::memcpy(out, in, uint64_t(n) * 4);
            } else if (m.from == DataType::F32) {
                float* o = reinterpret_cast<float*>(out);
                for (uint32_t i = 0; i < n; ++i) o[i] = f[i] > 0.0f ? f[i] : 0.0f;
            } else {
                int32_t* o = reinterpret_cast<int32_t*>(out);
                for (uint32_t i = 0; i < n; ++i) o[i] = s[i] > 0 ? s[i] : 0;
            }
            return;
        }
        case F322F16:
        case F322BF16: {
            alignas(64) float line[64];
            for (uint32_t i = 0; i < n; i += 64) {
                const uint32_t piece = n - i < 64 ? n - i : 64;
                const float* from = f + i;
                if (m.relu) {
                    for (uint32_t j = 0; j < piece; ++j) line[j] = from[j] > 0.0f ? from[j] : 0.0f;
                    from = line;
                }
                uint16_t* o = reinterpret_cast<uint16_t*>(out) + i;
                if (m.quant == F322F16)
                    halves(o, from, piece);
                else
                    bfloats(o, from, piece);
            }
            return;
        }
        default:
            break;
    }
    const uint32_t columns = m.columns < n ? m.columns : n;
    for (uint32_t i = 0; i < columns; ++i) {
        const uint64_t scale = scales != nullptr ? scales[i] : m.scale;
        float x;
        if (m.from == DataType::F32) {
            x = f[i];
        } else {
            int32_t v = s[i];
            if ((scale >> 36) & 1) {
                v >>= int((scale >> 32) & 0xf) + 1;
                v = v < -32768 ? -32768 : v > 32767 ? 32767 : v;
            }
            x = float(v);
        }
        x = m.relu && x < 0.0f ? 0.0f : x * multiplier(scale);
        if (m.to == DataType::F16) {
            reinterpret_cast<uint16_t*>(out)[i] = floatToHalfBits(x);
            continue;
        }
        const int v = clampRound(x, -256, 255) + offsetOf(scale);
        if (m.to == DataType::S8)
            reinterpret_cast<int8_t*>(out)[i] = int8_t(v < -128 ? -128 : v > 127 ? 127 : v);
        else
            out[i] = uint8_t(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}

void spreadTile(uint8_t* out, int64_t pitch, const uint8_t* tile, bool transposed) {
    if (transposed) return transposeTile(out, tile, pitch);
    for (int r = 0; r < 16; ++r) std::memcpy(out + r * pitch, tile + r * 64, 64);
}

}  // namespace

uint32_t fixpipeBlockColumns(const FixpipeMove& m) {
    if (bytesOf(m.to) == 1) return 32;
    return m.split ? 8 : 16;
}

void fixpipe(const FixpipeMove& m) {
    Core& core = pyto_sim::core();
    CubeState& state = *core.cubeState;
    const uint8_t* l0c = core.mem[int(MemId::L0c)];
    const uint32_t first = uint32_t(static_cast<const uint8_t*>(m.src) - l0c);
    const uint32_t blocks = (m.columns + 15) / 16;
    const uint32_t last = first + (blocks - 1) * m.srcBlockStep + m.rows * 64;
    const bool tiled = first % 1024 == 0 && m.srcBlockStep % 1024 == 0;
    if (!tiled) settleL0C(core, first / 1024, last / 1024 - first / 1024 + 1);
    const uint64_t* scales = nullptr;
    if (m.scales != nullptr && (m.quant == VDEQF16 || m.quant == VQF322B8_PRE || m.quant == VREQ8)) {
        const uint8_t* p = reinterpret_cast<const uint8_t*>(m.scales);
        const uint8_t* l1 = core.mem[int(MemId::L1)];
        if (p >= l1 && p < l1 + kMemBytes[int(MemId::L1)])
            settleL1(core, uint32_t(p - l1), uint32_t(p - l1) + m.columns * 8);
        scales = m.scales;
    }
    const uint32_t outBytes = bytesOf(m.to);
    const uint32_t blockColumns = fixpipeBlockColumns(m);
    const uint32_t lineBytes = blocks * 64;
    uint8_t* gathered = state.scratch;                   // 16 rows of float or int32
    uint8_t* converted = state.scratch + 16 * 4096 * 4;  // 16 rows as written
    // Whole tiles of 32-bit values go straight to their rows.
    const bool straight = m.quant == NoQuant && !m.relu && !m.fractal && m.atomic.op == AtomicOp::None;
    for (uint32_t row = 0; row < m.rows; row += 16) {
        const uint32_t rows = m.rows - row < 16 ? m.rows - row : 16;
        if (straight && rows == 16 && m.columns % 16 == 0) {
            uint8_t* dst = static_cast<uint8_t*>(m.dst) + int64_t(row) * m.dstStep;
            beforeGmStore(m.atomic, dst, uint64_t(rows - 1) * uint64_t(m.dstStep) + m.columns * outBytes);
            for (uint32_t b = 0; b < blocks; ++b) {
                const uint32_t at = first + b * m.srcBlockStep + row * 64;
                spreadTile(dst + b * 64, m.dstStep, l0c + at, tiled && state.transposedC[at / 1024]);
            }
            continue;
        }
        for (uint32_t b = 0; b < blocks; ++b) {
            const uint32_t at = first + b * m.srcBlockStep + row * 64;
            if (tiled && state.transposedC[at / 1024])
                transposeTile(gathered + b * 64, l0c + at, lineBytes);
            else
                for (uint32_t r = 0; r < rows; ++r)
                    std::memcpy(gathered + r * lineBytes + b * 64, l0c + at + r * 64, 64);
        }
        const uint32_t outLine = blocks * 16 * outBytes;
        for (uint32_t r = 0; r < rows; ++r)
            convertRow(m, scales, converted + r * outLine, gathered + r * lineBytes, blocks * 16);
        if (!m.fractal) {
            uint8_t* dst = static_cast<uint8_t*>(m.dst) + int64_t(row) * m.dstStep;
            beforeGmStore(m.atomic, dst, uint64_t(rows - 1) * uint64_t(m.dstStep) + m.columns * outBytes);
            storeRows(core, m.atomic, dst, m.dstStep, converted, outLine, uint64_t(m.columns) * outBytes, rows);
            continue;
        }
        const uint32_t blockBytes = blockColumns * outBytes;
        for (uint32_t b = 0; b * blockColumns < m.columns; ++b) {
            const uint32_t columns =
                m.columns - b * blockColumns < blockColumns ? m.columns - b * blockColumns : blockColumns;
            uint8_t* dst = static_cast<uint8_t*>(m.dst) + int64_t(b) * m.dstStep + uint64_t(row) * blockBytes;
            const uint8_t* src = converted + b * blockBytes;
            if (m.dstMem == MemId::L1) {
                const uint32_t to = uint32_t(dst - core.mem[int(MemId::L1)]);
                overwriteL1(core, to, to + rows * blockBytes, true);
                for (uint32_t r = 0; r < rows; ++r)
                    std::memcpy(dst + r * blockBytes, src + r * outLine, columns * outBytes);
            } else {
                beforeGmStore(m.atomic, dst, uint64_t(rows) * blockBytes);
                storeRows(core, m.atomic, dst, blockBytes, src, outLine, uint64_t(columns) * outBytes, rows);
            }
        }
    }
}

void checkFixpipe(const FixpipeMove& m, MemId src, Loc loc) {
    if (src != MemId::L0c) fail(loc, "Fixpipe: the source lies in %s, not in L0C", memName(src));
    const uint32_t blocks = (m.columns + 15) / 16;
    const uint64_t one = uint64_t(blocks - 1) * m.srcBlockStep + uint64_t(m.rows) * 64;
    checkLocal(loc, "Fixpipe: source", MemId::L0c, m.src, (m.matrices - 1) * m.srcMatrixStep + one, 64);
    if (blocks > 1 && m.srcBlockStep < m.rows * 64)
        fail(loc, "Fixpipe: srcStride %u is smaller than mSize %u", m.srcBlockStep / 64, m.rows);
    if (m.dstMem == MemId::Gm) return;
    if (m.dstMem != MemId::L1) fail(loc, "Fixpipe: no path from L0C to %s", memName(m.dstMem));
    const uint32_t block = fixpipeBlockColumns(m);
    const uint64_t written =
        uint64_t((m.columns + block - 1) / block - 1) * uint64_t(m.dstStep) + uint64_t(m.rows) * block * bytesOf(m.to);
    checkLocal(loc, "Fixpipe: destination", MemId::L1, m.dst, written, 32);
}

}  // namespace pyto_sim
