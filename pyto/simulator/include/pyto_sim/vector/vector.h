// The vector API. Every function is a no-op when compiled for a cube core.
#pragma once
#include "pyto_sim/tensor.h"
