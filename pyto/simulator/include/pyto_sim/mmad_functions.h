// Mmad in the library.
#pragma once
#include "pyto_sim/core.h"

namespace pyto_sim {

enum class MatrixStart : uint8_t { Zero, Keep, Bias };

// L0C[dst] (n1, m1, 16, 16) = start + L0A[a] (m1, k1, 16, C0) * L0B[b] (k1, n1, 16, C0).
struct MatrixMultiply {
    void* dst;
    const void* a;
    const void* b;
    const void* bias;  // n values in the bias table, for MatrixStart::Bias
    DataType type;     // of both operands: BF16, F16, F32 or S8
    MatrixStart start;
    bool wideK;  // 32-bit: K is laid out in multiples of 16
    uint32_t m, n, k;
};
void multiply(const MatrixMultiply& args);
void checkMultiply(const MatrixMultiply& args, MemId dst, MemId a, MemId b, Loc loc);

uint64_t matrixABytes(const MatrixMultiply& args);
uint64_t matrixBBytes(const MatrixMultiply& args);
uint64_t matrixCBytes(const MatrixMultiply& args);

}  // namespace pyto_sim
