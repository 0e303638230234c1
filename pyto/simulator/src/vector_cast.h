// How a conversion runs over a span: straight, or by way of a chunk of floats.
#ifndef PYTO_SIM_VECTOR_CAST_H
#define PYTO_SIM_VECTOR_CAST_H

#include <cstddef>

#include "pyto_sim/vector/kernels.h"

namespace pyto_sim {
namespace vec {

using SpanFn = void (*)(void* dst, const void* src, size_t n, Round mode);

struct Plan {
    SpanFn straight;
    SpanFn load;
    SpanFn store;
    Round mode;
    uint32_t to_size;
    uint32_t from_size;
};

SpanFn loader(Elem from);  // to float, for types that a float holds exactly; null for others
SpanFn storer(Elem to);    // from float

}  // namespace vec
}  // namespace pyto_sim

#endif
