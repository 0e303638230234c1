#include "pyto_sim/isa.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace pyto_sim {

namespace {

#if defined(__x86_64__)
struct Registers {
    unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf, unsigned sub) {
    Registers r;
    if (!__get_cpuid_count(leaf, sub, &r.a, &r.b, &r.c, &r.d)) return Registers();
    return r;
}

uint64_t enabledStates() {
    if ((cpuid(1, 0).c & (1u << 27)) == 0) return 0;
    unsigned low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low | (uint64_t(high) << 32);
}

// The kernel hands out the AMX tile state on request, once a process.
bool requestTiles() {
#if defined(__linux__)
    constexpr long kRequestPermission = 0x1023;
    constexpr unsigned long kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
    return false;
#endif
}

Isa best() {
    const uint64_t states = enabledStates();
    const Registers one = cpuid(1, 0), seven = cpuid(7, 0);
    const bool fma = (one.c >> 12) & 1, f16c = (one.c >> 29) & 1;
    const bool avx2 = (states & 6) == 6 && ((seven.b >> 5) & 1) && fma && f16c;
    if (!avx2) return Isa::Portable;
    const unsigned wanted = (1u << 16) | (1u << 17) | (1u << 30) | (1u << 31);  // F, DQ, BW, VL
    const bool avx512 = (states & 0xe6) == 0xe6 && (seven.b & wanted) == wanted;
    if (!avx512) return Isa::Avx2;
    const bool bf16Tile = (seven.d >> 22) & 1, tile = (seven.d >> 24) & 1, int8Tile = (seven.d >> 25) & 1;
    const bool amx = (states & 0x60000) == 0x60000 && bf16Tile && tile && int8Tile;
    return amx && requestTiles() ? Isa::Amx : Isa::Avx512;
}
#else
Isa best() { return Isa::Portable; }
#endif

Isa choose() {
    const Isa found = best();
    const char* text = std::getenv("PYTO_SIM_ISA");
    if (text == nullptr || text[0] == 0) return found;
    for (Isa candidate : {Isa::Portable, Isa::Avx2, Isa::Avx512, Isa::Amx})
        if (std::strcmp(text, isaName(candidate)) == 0) return candidate < found ? candidate : found;
    std::fprintf(stderr, "PYTO_SIM_ISA=%s is not portable, avx2, avx512 or amx; using %s\n", text, isaName(found));
    return found;
}

}  // namespace

const char* isaName(Isa isa) {
    static const char* const names[] = {"portable", "avx2", "avx512", "amx"};
    return names[int(isa)];
}

Isa isa() {
    static const Isa chosen = choose();
    return chosen;
}

}  // namespace pyto_sim
