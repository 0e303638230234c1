// 16x16 blocks of C from panels, in the widest vectors the machine has. Each element is summed in the order of k.
#include <cstring>

#include "matmul.h"
#include "x86.h"

namespace pyto_sim {

namespace {

void portable(const PanelJob& j) {
    float acc[16][16];
    for (int r = 0; r < 16; ++r)
        for (int n = 0; n < 16; ++n) acc[r][n] = j.zero ? 0.0f : j.c[r * 16 + n];
    for (uint32_t e = 0; e < j.k; ++e) {
        const float* line = j.panel + uint64_t(e) * 16;
        for (int r = 0; r < 16; ++r) {
            const float x = j.rows[uint64_t(r) * j.rowPitch + e];
            for (int n = 0; n < 16; ++n) acc[r][n] += x * line[n];
        }
    }
    std::memcpy(j.c, acc, sizeof acc);
}

#if PYTO_SIM_X86
PYTO_SIM_AVX512 void wide(const PanelJob& j) {
    __m512 acc[16];
    for (int r = 0; r < 16; ++r) acc[r] = j.zero ? _mm512_setzero_ps() : _mm512_loadu_ps(j.c + r * 16);
    const float* panel = j.panel;
    for (uint32_t e = 0; e < j.k; ++e, panel += 16) {
        const __m512 line = _mm512_loadu_ps(panel);
        const float* x = j.rows + e;
#if defined(__GNUC__)
#pragma GCC unroll 16
#endif
        for (int r = 0; r < 16; ++r) acc[r] = _mm512_fmadd_ps(_mm512_set1_ps(x[uint64_t(r) * j.rowPitch]), line, acc[r]);
    }
    for (int r = 0; r < 16; ++r) _mm512_storeu_ps(j.c + r * 16, acc[r]);
}

PYTO_SIM_AVX2 void half(const PanelJob& j) {
    for (int r0 = 0; r0 < 16; r0 += 4) {
        __m256 low[4], high[4];
        for (int r = 0; r < 4; ++r) {
            low[r] = j.zero ? _mm256_setzero_ps() : _mm256_loadu_ps(j.c + (r0 + r) * 16);
            high[r] = j.zero ? _mm256_setzero_ps() : _mm256_loadu_ps(j.c + (r0 + r) * 16 + 8);
        }
        const float* panel = j.panel;
        const float* x = j.rows + uint64_t(r0) * j.rowPitch;
        for (uint32_t e = 0; e < j.k; ++e, panel += 16) {
            const __m256 a = _mm256_loadu_ps(panel), b = _mm256_loadu_ps(panel + 8);
#if defined(__GNUC__)
#pragma GCC unroll 4
#endif
            for (int r = 0; r < 4; ++r) {
                const __m256 f = _mm256_set1_ps(x[uint64_t(r) * j.rowPitch + e]);
                low[r] = _mm256_fmadd_ps(f, a, low[r]);
                high[r] = _mm256_fmadd_ps(f, b, high[r]);
            }
        }
        for (int r = 0; r < 4; ++r) {
            _mm256_storeu_ps(j.c + (r0 + r) * 16, low[r]);
            _mm256_storeu_ps(j.c + (r0 + r) * 16 + 8, high[r]);
        }
    }
}
#endif

}  // namespace

void multiplyPanel(const PanelJob& job) {
#if PYTO_SIM_X86
    if (isa() >= Isa::Avx512) return wide(job);
    if (isa() >= Isa::Avx2) return half(job);
#endif
    portable(job);
}

void multiplyPanelInt(const int32_t* rows, uint32_t rowPitch, const int32_t* panel, uint32_t k, int32_t* c, bool zero) {
    int32_t acc[16][16];
    for (int r = 0; r < 16; ++r)
        for (int n = 0; n < 16; ++n) acc[r][n] = zero ? 0 : c[r * 16 + n];
    for (uint32_t e = 0; e < k; ++e) {
        const int32_t* line = panel + uint64_t(e) * 16;
        for (int r = 0; r < 16; ++r) {
            const int32_t x = rows[uint64_t(r) * rowPitch + e];
            for (int n = 0; n < 16; ++n) acc[r][n] += x * line[n];
        }
    }
    std::memcpy(c, acc, sizeof acc);
}

}  // namespace pyto_sim
