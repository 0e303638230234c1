// pyto_launch.h for CANN: launching Ascend C kernels on the NPU. The CPU simulator has its own file of this name.
// A launcher includes this and nothing else; the build compiles it in one translation unit with the kernels it launches.
#ifndef PYTO_LAUNCH_H
#define PYTO_LAUNCH_H

#include <cstdint>

#include "acl/acl.h"
#include "kernel_operator.h"

// The kernel is defined above, in the same translation unit: nothing to declare.
#define PYTO_KERNEL(kernel, ...) static_assert(true, "")

// Direction and extent of a GM argument are for the simulator.
#define PYTO_IN(pointer, bytes) (static_cast<void>(bytes), reinterpret_cast<uint8_t*>(pointer))
#define PYTO_OUT(pointer, bytes) (static_cast<void>(bytes), reinterpret_cast<uint8_t*>(pointer))
#define PYTO_INOUT(pointer, bytes) (static_cast<void>(bytes), reinterpret_cast<uint8_t*>(pointer))

#define PYTO_MIN(a, b) (static_cast<int64_t>(a) < static_cast<int64_t>(b) ? static_cast<int64_t>(a) : static_cast<int64_t>(b))
#define PYTO_MAX(a, b) (static_cast<int64_t>(a) > static_cast<int64_t>(b) ? static_cast<int64_t>(a) : static_cast<int64_t>(b))

// Asynchronous; an error of the launch itself ends the launcher with its code. Nothing is launched for no blocks.
#define PYTO_LAUNCH(kernel, blocks, stream, ...)                                                \
    do {                                                                                        \
        const int64_t pyto_blocks = static_cast<int64_t>(blocks);                               \
        if (pyto_blocks > 0) {                                                                  \
            kernel<<<static_cast<uint32_t>(pyto_blocks), nullptr, (stream)>>>(__VA_ARGS__);     \
            const aclError pyto_code = aclrtGetLastError(ACL_RT_THREAD_LEVEL);                  \
            if (pyto_code != ACL_SUCCESS) return static_cast<int>(pyto_code);                   \
        }                                                                                       \
    } while (0)

namespace pyto_cann {

inline int64_t DeviceInfo(aclrtDevAttr what, int64_t otherwise)
{
    int32_t device = 0;
    int64_t value = 0;
    if (aclrtGetDevice(&device) != ACL_SUCCESS) return otherwise;
    if (aclrtGetDeviceInfo(static_cast<uint32_t>(device), what, &value) != ACL_SUCCESS || value <= 0) return otherwise;
    return value;
}

} // namespace pyto_cann

// Core counts of the current device; the counts of the chip named at build time if the device does not tell.
// An AI core of A2/A3 holds one cube core and two vector cores.
#define PYTO_CUBE_CORES() \
    ([] { static const int64_t n = pyto_cann::DeviceInfo(ACL_DEV_ATTR_AICORE_CORE_NUM, PYTO_CHIP_CUBE_CORES); return n; }())
#define PYTO_VECTOR_CORES() \
    ([] { static const int64_t n = pyto_cann::DeviceInfo(ACL_DEV_ATTR_VECTOR_CORE_NUM, PYTO_CHIP_VECTOR_CORES); return n; }())

extern "C" __attribute__((weak, used)) const char* pyto_last_error()
{
    const char* text = aclGetRecentErrMsg();
    return text != nullptr ? text : "no message from CANN";
}

#endif // PYTO_LAUNCH_H
