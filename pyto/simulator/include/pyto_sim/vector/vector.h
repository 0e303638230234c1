// The vector API. Every function is a no-op when compiled for a cube core.
//
// Each function checks types (static_assert) and addresses, builds one record for issue() and calls a kernel of the
// precompiled library (kernels.h). Calls with a count leave the mask register all ones in normal mode; calls with a mask
// leave it as they set it.
#pragma once
#include "pyto_sim/vector/binary.h"
#include "pyto_sim/vector/cast.h"
#include "pyto_sim/vector/compare.h"
#include "pyto_sim/vector/fill.h"
#include "pyto_sim/vector/gather.h"
#include "pyto_sim/vector/layout.h"
#include "pyto_sim/vector/mask.h"
#include "pyto_sim/vector/reduce.h"
#include "pyto_sim/vector/scalar.h"
#include "pyto_sim/vector/sort.h"
#include "pyto_sim/vector/unary.h"
#include "pyto_sim/vector/unsupported.h"
