// Functions that the public headers declare for other chips: calling one is a compile error that says so.
#pragma once
#include "pyto_sim/vector/call.h"

PYTO_ASCENDC_BEGIN

template <class...>
constexpr bool kNotOnThisChip = false;

#define PYTO_VEC_UNSUPPORTED(NAME, INSTEAD)                                                            \
    template <class... Args>                                                                           \
    inline void NAME(Args&&...) {                                                                      \
        static_assert(kNotOnThisChip<Args...>, #NAME " does not exist on Ascend 910B / 910C" INSTEAD); \
    }
PYTO_VEC_UNSUPPORTED(Subs, ": use Adds with the negated scalar")
PYTO_VEC_UNSUPPORTED(Divs, ": use Muls with the reciprocal, or Duplicate and Div")
PYTO_VEC_UNSUPPORTED(Ands, ": use Duplicate and And")
PYTO_VEC_UNSUPPORTED(Ors, ": use Duplicate and Or")
PYTO_VEC_UNSUPPORTED(Neg, ": use Muls with -1")
PYTO_VEC_UNSUPPORTED(Prelu, "")
PYTO_VEC_UNSUPPORTED(Mull, "")
PYTO_VEC_UNSUPPORTED(AbsSub, ": use Sub and Abs")
PYTO_VEC_UNSUPPORTED(FusedAbsSub, ": use Sub and Abs")
PYTO_VEC_UNSUPPORTED(ExpSub, ": use Sub and Exp")
PYTO_VEC_UNSUPPORTED(FusedExpSub, ": use Sub and Exp")
PYTO_VEC_UNSUPPORTED(MulsCast, ": use Muls and Cast")
PYTO_VEC_UNSUPPORTED(FusedMulsCast, ": use Muls and Cast")
PYTO_VEC_UNSUPPORTED(Truncate, ": use Cast from float to float with CAST_TRUNC")
PYTO_VEC_UNSUPPORTED(Interleave, "")
PYTO_VEC_UNSUPPORTED(DeInterleave, ": use GatherMask with patterns 1 and 2")
PYTO_VEC_UNSUPPORTED(Scatter, ": use Gather with the inverse offsets, or scalar stores")
PYTO_VEC_UNSUPPORTED(VectorPadding, "")
PYTO_VEC_UNSUPPORTED(RpSort16, ": use Sort32")
PYTO_VEC_UNSUPPORTED(MrgSort4, ": use MrgSort")
PYTO_VEC_UNSUPPORTED(ProposalConcat, ": use Sort32 with an index tensor")
PYTO_VEC_UNSUPPORTED(ProposalExtract, ": use Extract")

PYTO_ASCENDC_END
