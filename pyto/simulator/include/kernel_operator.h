// The Ascend C API on a CPU: include this instead of CANN's kernel_operator.h.
//
//   pyto_sim/issue.h        how an API function is written: one record, one issue()
//   pyto_sim/core.h         the state of a core, core(), fail()
//   pyto_sim/tensor.h       GlobalTensor, LocalTensor
//   pyto_sim/vector/        the vector API: vector.h includes the rest of the folder; the functions check, issue() and
//                           call kernels of the precompiled library (src/vector_*.cpp), which choose by isa()
#pragma once
#include "pyto_sim/macros.h"
#include "pyto_sim/types.h"

#if defined(PYTO_SIM_AIC)
constexpr int32_t g_coreType = AscendC::AIC;
#else
constexpr int32_t g_coreType = AscendC::AIV;
#endif

#include "pyto_sim/data_copy.h"
#include "pyto_sim/fixpipe.h"
#include "pyto_sim/load_data.h"
#include "pyto_sim/mmad.h"
#include "pyto_sim/pipe_queue.h"
#include "pyto_sim/sync.h"
#include "pyto_sim/system.h"
#include "pyto_sim/tensor.h"
#include "pyto_sim/vector/vector.h"
