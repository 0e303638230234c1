#include "pack.h"

#include <cstring>

#include "x86.h"

namespace pyto_sim {

namespace {

const uint8_t* element(const Strip& s, uint32_t row, uint32_t byte, uint32_t elementBytes) {
    switch (s.kind) {
        case Strip::Rows:
            return s.base + int64_t(row) * s.pitch + byte;
        case Strip::Fractals:
            return s.base + int64_t(byte / kBlockBytes) * s.pitch + row * kBlockBytes + byte % kBlockBytes;
        default:
            return s.base + int64_t(byte / elementBytes) * s.pitch + row * elementBytes;
    }
}

// 64 bytes of one row, fewer at the end of k.
void rowPiece(uint8_t* out, const Strip& s, uint32_t row, uint32_t from, uint32_t bytes, uint32_t elementBytes) {
    if (bytes < 64) std::memset(out, 0, 64);
    if (s.kind == Strip::Rows) {
        std::memcpy(out, element(s, row, from, elementBytes), bytes);
    } else if (s.kind == Strip::Fractals) {
        const uint32_t first = bytes < kBlockBytes ? bytes : kBlockBytes;
        std::memcpy(out, element(s, row, from, elementBytes), first);
        if (bytes > kBlockBytes)
            std::memcpy(out + kBlockBytes, element(s, row, from + kBlockBytes, elementBytes), bytes - kBlockBytes);
    } else {
        for (uint32_t b = 0; b < bytes; b += elementBytes)
            std::memcpy(out + b, element(s, row, from + b, elementBytes), elementBytes);
    }
}

#if PYTO_SIM_X86
// Two source lines of 16 16-bit elements become one line of pairs.
PYTO_SIM_AVX512 void interleaveLines(uint8_t* out, const uint8_t* even, const uint8_t* odd) {
    const __m256i e = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(even));
    const __m256i o = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(odd));
    const __m512i line = _mm512_or_si512(_mm512_cvtepu16_epi32(e), _mm512_slli_epi32(_mm512_cvtepu16_epi32(o), 16));
    _mm512_storeu_si512(out, line);
}

// 16 rows of 16 dwords, transposed.
PYTO_SIM_AVX512 void transposeDwords(uint8_t* out, const uint8_t* in, int64_t pitch) {
    __m512i r[16], t[16];
    for (int i = 0; i < 16; ++i) r[i] = _mm512_loadu_si512(in + i * 64);
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for (int i = 0; i < 4; ++i) {
        t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
    }
    for (int i = 0; i < 4; ++i) {
        _mm512_storeu_si512(out + i * pitch, _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88));
        _mm512_storeu_si512(out + (i + 4) * pitch, _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88));
        _mm512_storeu_si512(out + (i + 8) * pitch, _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd));
        _mm512_storeu_si512(out + (i + 12) * pitch, _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd));
    }
}
#endif

float toFloat(const uint8_t* p, DataType type) {
    uint16_t h;
    float f;
    switch (type) {
        case DataType::F32:
            std::memcpy(&f, p, 4);
            return f;
        case DataType::BF16:
            std::memcpy(&h, p, 2);
            return bf16BitsToFloat(h);
        default:
            std::memcpy(&h, p, 2);
            return halfBitsToFloat(h);
    }
}

uint32_t elementBytesOf(DataType type) { return type == DataType::F32 ? 4 : type == DataType::S8 ? 1 : 2; }

}  // namespace

void transposeTile(uint8_t* out, const uint8_t* in, int64_t pitch) {
#if PYTO_SIM_X86
    if (isa() >= Isa::Avx512) return transposeDwords(out, in, pitch);
#endif
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j) std::memcpy(out + i * pitch + j * 4, in + j * 64 + i * 4, 4);
}

void packRowTiles(uint8_t* out, const Strip& s, uint32_t kBytes, uint32_t firstTile, uint32_t kTiles,
                  uint32_t elementBytes) {
    for (uint32_t t = firstTile; t < kTiles; ++t, out += 1024) {
        const uint32_t from = t * 64;
        const uint32_t bytes = kBytes - from < 64 ? kBytes - from : 64;
        for (uint32_t r = 0; r < s.rows; ++r) rowPiece(out + r * 64, s, r, from, bytes, elementBytes);
        if (s.rows < 16) std::memset(out + s.rows * 64, 0, (16 - s.rows) * 64);
    }
}

#if PYTO_SIM_X86
namespace {
PYTO_SIM_AVX512 void interleaveRows(uint8_t* out, const uint8_t* even, const uint8_t* odd, uint32_t count,
                                    uint32_t step) {
    for (uint32_t i = 0; i < count; ++i, even += 32, odd += 32, out += step) {
        const __m512i e = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(even)));
        const __m512i o = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(odd)));
        _mm512_store_si512(out, _mm512_or_si512(e, _mm512_slli_epi32(o, 16)));
    }
}
}  // namespace
#endif

void packPairTilesOfRows(uint8_t* out, uint32_t step, const Strip& first, uint32_t count, uint32_t k, uint32_t kTiles) {
#if PYTO_SIM_X86
    static const uint8_t zeros[4096] = {0};
    for (uint32_t line = 0; line < kTiles * 16; ++line) {
        const uint32_t e = line * 2;
        const uint8_t* even = e < k ? first.base + int64_t(e) * first.pitch : zeros;
        const uint8_t* odd = e + 1 < k ? first.base + int64_t(e + 1) * first.pitch : zeros;
        interleaveRows(out + line * 64, even, odd, count, step);
    }
#else
    for (uint32_t i = 0; i < count; ++i) {
        Strip s = first;
        s.base += i * 32;
        packPairTiles(out + uint64_t(i) * step, s, k * 2, kTiles, 2);
    }
#endif
}

void packPairTiles(uint8_t* out, const Strip& s, uint32_t kBytes, uint32_t kTiles, uint32_t elementBytes) {
#if PYTO_SIM_X86
    if (s.kind == Strip::Columns && elementBytes == 2 && s.rows == 16 && isa() >= Isa::Avx512) {
        static const uint8_t zeros[32] = {0};
        const uint32_t k = kBytes / 2;
        for (uint32_t line = 0; line < kTiles * 16; ++line) {
            const uint32_t e = line * 2;
            const uint8_t* even = e < k ? s.base + int64_t(e) * s.pitch : zeros;
            const uint8_t* odd = e + 1 < k ? s.base + int64_t(e + 1) * s.pitch : zeros;
            interleaveLines(out + line * 64, even, odd);
        }
        return;
    }
#endif
    alignas(64) uint8_t tile[1024];
    for (uint32_t t = 0; t < kTiles; ++t) {
        packRowTiles(tile, s, kBytes, t, t + 1, elementBytes);
        transposeTile(out + t * 1024, tile);
    }
}

namespace {

#if PYTO_SIM_X86
PYTO_SIM_AVX512 void floats512(float* out, const uint8_t* in, DataType type) {
    if (type == DataType::F32) return _mm512_storeu_ps(out, _mm512_loadu_ps(in));
    const __m256i raw = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
    const __m512 value = type == DataType::F16 ? _mm512_cvtph_ps(raw)
                                               : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(raw), 16));
    _mm512_storeu_ps(out, value);
}
PYTO_SIM_AVX2 void floats256(float* out, const uint8_t* in, DataType type) {
    if (type == DataType::F32) {
        std::memcpy(out, in, 64);
        return;
    }
    for (int i = 0; i < 2; ++i) {
        const __m128i raw = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in) + i);
        const __m256 value = type == DataType::F16
                                 ? _mm256_cvtph_ps(raw)
                                 : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(raw), 16));
        _mm256_storeu_ps(out + 8 * i, value);
    }
}
#endif

// 16 elements that lie in a line.
void sixteenFloats(float* out, const uint8_t* in, DataType type) {
#if PYTO_SIM_X86
    if (isa() >= Isa::Avx512) return floats512(out, in, type);
    if (isa() >= Isa::Avx2) return floats256(out, in, type);
#endif
    const uint32_t e = elementBytesOf(type);
    for (uint32_t i = 0; i < 16; ++i) out[i] = toFloat(in + i * e, type);
}

// 16 elements of a row of the strip from element `from` on, all of which exist.
void rowFloats(float* out, const Strip& s, uint32_t row, uint32_t from, DataType type) {
    const uint32_t e = elementBytesOf(type);
    if (s.kind == Strip::Fractals && e == 4) {
        std::memcpy(out, element(s, row, from * 4, 4), 32);
        std::memcpy(out + 8, element(s, row, from * 4 + 32, 4), 32);
    } else if (s.kind == Strip::Columns) {
        for (uint32_t i = 0; i < 16; ++i) out[i] = toFloat(element(s, row, (from + i) * e, e), type);
    } else {
        sixteenFloats(out, element(s, row, from * e, e), type);
    }
}

}  // namespace

void packPanel(float* out, const Strip& s, uint32_t k, DataType type) {
    const uint32_t e = elementBytesOf(type);
    if (s.rows < 16) std::memset(out, 0, uint64_t(k) * 64);
    if (s.kind == Strip::Columns) {
        for (uint32_t i = 0; i < k; ++i) {
            const uint8_t* line = s.base + int64_t(i) * s.pitch;
            if (s.rows == 16)
                sixteenFloats(out + i * 16, line, type);
            else
                for (uint32_t r = 0; r < s.rows; ++r) out[i * 16 + r] = toFloat(line + r * e, type);
        }
        return;
    }
    const uint32_t whole = k / 16 * 16;
    alignas(64) float block[256] = {0};
    for (uint32_t i = 0; i < whole; i += 16) {
        for (uint32_t r = 0; r < s.rows; ++r) rowFloats(block + r * 16, s, r, i, type);
        transposeTile(reinterpret_cast<uint8_t*>(out + i * 16), reinterpret_cast<const uint8_t*>(block));
    }
    for (uint32_t i = whole; i < k; ++i)
        for (uint32_t r = 0; r < s.rows; ++r) out[i * 16 + r] = toFloat(element(s, r, i * e, e), type);
}

void packPanelInt(int32_t* out, const Strip& s, uint32_t k) {
    if (s.rows < 16) std::memset(out, 0, uint64_t(k) * 64);
    for (uint32_t i = 0; i < k; i += kBlockBytes) {
        const uint32_t n = k - i < kBlockBytes ? k - i : kBlockBytes;
        for (uint32_t r = 0; r < s.rows; ++r) {
            const int8_t* p = reinterpret_cast<const int8_t*>(element(s, r, i, 1));
            for (uint32_t j = 0; j < n; ++j) out[(i + j) * 16 + r] = p[j];
        }
    }
}

}  // namespace pyto_sim
