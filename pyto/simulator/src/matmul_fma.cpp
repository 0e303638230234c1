// 16x16 blocks of C from panels, in the widest vectors the machine has. Each element is summed in the order of k.
#include <cstring>

#include "matmul.h"
#include "x86.h"

namespace pyto_sim {

namespace {

template <class T>
inline __attribute__((always_inline)) void plain(const PanelJob<T>& j) {
    T acc[16][16];
    for (int r = 0; r < 16; ++r)
        for (int n = 0; n < 16; ++n) acc[r][n] = j.zero ? T(0) : j.c[r * 16 + n];
    for (uint32_t e = 0; e < j.k; ++e) {
        const T* x = j.a + uint64_t(e) * 16;
        const T* line = j.b + uint64_t(e) * 16;
        for (int r = 0; r < 16; ++r)
            for (int n = 0; n < 16; ++n) acc[r][n] += x[r] * line[n];
    }
    std::memcpy(j.c, acc, sizeof acc);
}

#if PYTO_SIM_X86
PYTO_SIM_AVX512 void floats512(const PanelJob<float>& j) {
    __m512 acc[16];
    for (int r = 0; r < 16; ++r) acc[r] = j.zero ? _mm512_setzero_ps() : _mm512_loadu_ps(j.c + r * 16);
    const float* x = j.a;
    const float* line = j.b;
    for (uint32_t e = 0; e < j.k; ++e, x += 16, line += 16) {
        const __m512 b = _mm512_loadu_ps(line);
#pragma GCC unroll 16
        for (int r = 0; r < 16; ++r) acc[r] = _mm512_fmadd_ps(_mm512_set1_ps(x[r]), b, acc[r]);
    }
    for (int r = 0; r < 16; ++r) _mm512_storeu_ps(j.c + r * 16, acc[r]);
}

PYTO_SIM_AVX2 void floats256(const PanelJob<float>& j) {
    for (int r0 = 0; r0 < 16; r0 += 4) {
        __m256 low[4], high[4];
        for (int r = 0; r < 4; ++r) {
            low[r] = j.zero ? _mm256_setzero_ps() : _mm256_loadu_ps(j.c + (r0 + r) * 16);
            high[r] = j.zero ? _mm256_setzero_ps() : _mm256_loadu_ps(j.c + (r0 + r) * 16 + 8);
        }
        const float* x = j.a + r0;
        const float* line = j.b;
        for (uint32_t e = 0; e < j.k; ++e, x += 16, line += 16) {
            const __m256 a = _mm256_loadu_ps(line), b = _mm256_loadu_ps(line + 8);
#pragma GCC unroll 4
            for (int r = 0; r < 4; ++r) {
                const __m256 f = _mm256_set1_ps(x[r]);
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

// Integers wrap and do not care about order: the compiler's vectors will do.
PYTO_SIM_AVX512 void integers512(const PanelJob<int32_t>& j) { plain(j); }
PYTO_SIM_AVX2 void integers256(const PanelJob<int32_t>& j) { plain(j); }
#endif

}  // namespace

void multiplyPanels(const PanelJob<float>& job) {
#if PYTO_SIM_X86
    if (isa() >= Isa::Avx512) return floats512(job);
    if (isa() >= Isa::Avx2) return floats256(job);
#endif
    plain(job);
}

void multiplyPanels(const PanelJob<int32_t>& job) {
#if PYTO_SIM_X86
    if (isa() >= Isa::Avx512) return integers512(job);
    if (isa() >= Isa::Avx2) return integers256(job);
#endif
    plain(job);
}

}  // namespace pyto_sim
