// The instruction set the precompiled kernels use, chosen once a process: the best the CPU and the operating system
// offer, lowered by the environment variable PYTO_SIM_ISA=portable|avx2|avx512|amx. Higher values include lower ones.
#pragma once

namespace pyto_sim {

enum class Isa : int { Portable = 0, Avx2 = 1, Avx512 = 2, Amx = 3 };

Isa isa();
const char* isaName(Isa isa);

}  // namespace pyto_sim
