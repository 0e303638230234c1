// Row kernels of element-wise operations: one loop a row, on the type itself or on float for halves.
#ifndef PYTO_SIM_VECTOR_ELEMENTWISE_H
#define PYTO_SIM_VECTOR_ELEMENTWISE_H

#include "vector_half.h"
#include "vector_rows.h"

namespace pyto_sim {
namespace vec {

struct Half {
    uint16_t bits;
};

constexpr int64_t kChunk = 256;  // halves that are widened at a time

// Op::of(dst, a, b) -> result; `dst` is the old destination, read only when Op::kReadsDst.
template <class Op, class T>
struct BinaryKernel {
    static constexpr int64_t kWhole = kRepeat / sizeof(T);
    static constexpr int64_t kGroup = 16;  // rows whose repeated blocks are written out at a time

    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        if (r->repeated[1] || r->repeated[2]) {
            repeated<Isa>(r);
            return;
        }
        for (int64_t row = 0; row < r->rows; ++row) {
            T* d = reinterpret_cast<T*>(r->data[0] + row * r->stride[0]);
            const T* a = reinterpret_cast<const T*>(r->data[1] + row * r->stride[1]);
            const T* b = reinterpret_cast<const T*>(r->data[2] + row * r->stride[2]);
            if (r->cols == kWhole) {
                loop(d, a, b, kWhole);
            } else {
                loop(d, a, b, r->cols);
            }
        }
    }

    template <class Isa>
    static PYTO_INLINE void repeated(const Rows* r)
    {
        alignas(64) uint8_t room[3][kGroup * kRepeat];
        for (int64_t first = 0; first < r->rows; first += kGroup) {
            const int64_t group = r->rows - first < kGroup ? r->rows - first : kGroup;
            const uint8_t* from[3];
            int64_t stride[3];
            for (int i = 0; i < 3; ++i) {
                from[i] = r->data[i] + first * r->stride[i];
                stride[i] = r->stride[i];
                if (r->repeated[i]) {
                    Isa::spread(room[i], from[i], r->stride[i], group);
                    from[i] = room[i];
                    stride[i] = kRepeat;
                }
            }
            for (int64_t row = 0; row < group; ++row) {
                T* d = reinterpret_cast<T*>(const_cast<uint8_t*>(from[0]) + row * stride[0]);
                const T* a = reinterpret_cast<const T*>(from[1] + row * stride[1]);
                const T* b = reinterpret_cast<const T*>(from[2] + row * stride[2]);
                if (r->cols == kWhole) {
                    loop(d, a, b, kWhole);
                } else {
                    loop(d, a, b, r->cols);
                }
            }
        }
    }

    static PYTO_INLINE void loop(T* d, const T* a, const T* b, int64_t n)
    {
        PYTO_LOOP
        for (int64_t i = 0; i < n; ++i) {
            d[i] = Op::of(d[i], a[i], b[i]);
        }
    }
};

template <class Op>
struct BinaryKernel<Op, Half> {
    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        uint16_t room_a[kRepeat / 2];
        uint16_t room_b[kRepeat / 2];
        float fd[kChunk];
        float fa[kChunk];
        float fb[kChunk];
        for (int64_t row = 0; row < r->rows; ++row) {
            uint16_t* d = reinterpret_cast<uint16_t*>(r->data[0] + row * r->stride[0]);
            const uint16_t* a = row_of(*r, 1, row, room_a);
            const uint16_t* b = row_of(*r, 2, row, room_b);
            for (int64_t at = 0; at < r->cols; at += kChunk) {
                const int64_t n = r->cols - at < kChunk ? r->cols - at : kChunk;
                Isa::half_to_float(fa, a + at, static_cast<size_t>(n));
                Isa::half_to_float(fb, b + at, static_cast<size_t>(n));
                if (Op::kReadsDst) {
                    Isa::half_to_float(fd, d + at, static_cast<size_t>(n));
                }
                half_loop(fd, fa, fb, n);
                Isa::float_to_half(d + at, fd, static_cast<size_t>(n));
            }
        }
    }

    static PYTO_INLINE void half_loop(float* d, const float* a, const float* b, int64_t n)
    {
        PYTO_LOOP
        for (int64_t i = 0; i < n; ++i) {
            d[i] = Op::of(Op::kReadsDst ? d[i] : 0.0f, a[i], b[i]);
        }
    }
};

// Op::of(dst, a, scalar) -> result, the scalar in the arithmetic type (float for halves).
template <class Op, class T>
struct ScalarKernel {
    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        T room[kRepeat / sizeof(T)];
        T s;
        std::memcpy(&s, &r->value, sizeof s);
        for (int64_t row = 0; row < r->rows; ++row) {
            T* d = reinterpret_cast<T*>(r->data[0] + row * r->stride[0]);
            const T* a = row_of(*r, 1, row, room);
            const int64_t n = r->cols;
            PYTO_LOOP
            for (int64_t i = 0; i < n; ++i) {
                d[i] = Op::of(d[i], a[i], s);
            }
        }
    }
};

template <class Op>
struct ScalarKernel<Op, Half> {
    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        uint16_t room[kRepeat / 2];
        float fd[kChunk];
        float fa[kChunk];
        const float s = half_to_float(static_cast<uint16_t>(r->value));
        for (int64_t row = 0; row < r->rows; ++row) {
            uint16_t* d = reinterpret_cast<uint16_t*>(r->data[0] + row * r->stride[0]);
            const uint16_t* a = row_of(*r, 1, row, room);
            for (int64_t at = 0; at < r->cols; at += kChunk) {
                const int64_t n = r->cols - at < kChunk ? r->cols - at : kChunk;
                Isa::half_to_float(fa, a + at, static_cast<size_t>(n));
                if (Op::kReadsDst) {
                    Isa::half_to_float(fd, d + at, static_cast<size_t>(n));
                }
                PYTO_LOOP
                for (int64_t i = 0; i < n; ++i) {
                    fd[i] = Op::of(Op::kReadsDst ? fd[i] : 0.0f, fa[i], s);
                }
                Isa::float_to_half(d + at, fd, static_cast<size_t>(n));
            }
        }
    }
};

// Op::template span<Isa>(dst, a, n) handles a contiguous span of the arithmetic type.
template <class Op, class T>
struct UnaryKernel {
    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        T room[kRepeat / sizeof(T)];
        for (int64_t row = 0; row < r->rows; ++row) {
            T* d = reinterpret_cast<T*>(r->data[0] + row * r->stride[0]);
            Op::template span<Isa>(d, row_of(*r, 1, row, room), r->cols);
        }
    }
};

template <class Op>
struct UnaryKernel<Op, Half> {
    template <class Isa>
    static PYTO_INLINE void run(const Rows* r)
    {
        uint16_t room[kRepeat / 2];
        float fa[kChunk];
        for (int64_t row = 0; row < r->rows; ++row) {
            uint16_t* d = reinterpret_cast<uint16_t*>(r->data[0] + row * r->stride[0]);
            const uint16_t* a = row_of(*r, 1, row, room);
            for (int64_t at = 0; at < r->cols; at += kChunk) {
                const int64_t n = r->cols - at < kChunk ? r->cols - at : kChunk;
                Isa::half_to_float(fa, a + at, static_cast<size_t>(n));
                Op::template span<Isa>(fa, fa, n);
                Isa::float_to_half(d + at, fa, static_cast<size_t>(n));
            }
        }
    }
};

}  // namespace vec
}  // namespace pyto_sim

#endif
