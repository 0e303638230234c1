// Launching kernels, CPU side. A host file includes this and nothing else; pyto/build/cann/pyto_launch.h gives the same
// macros for the NPU.
//
//   PYTO_KERNEL(name, types...)          declares a kernel and its parameter types
//   PYTO_LAUNCH(name, blocks, stream, args...)   runs it to its end; on an error the enclosing function returns the
//                                        nonzero code and pyto_last_error() has the message
//   PYTO_IN / PYTO_OUT / PYTO_INOUT(pointer, bytes)   a GM argument with direction and extent
//   PYTO_DEFINE_KERNEL(name, type)       ties name -> {name__aic, name__aiv, type}; once a program, written by
//   pyto.build
#pragma once
#include <cstdint>

#include "pyto_sim/kernel_type.h"

#ifndef GM_ADDR
#define GM_ADDR uint8_t*
#endif

#ifndef PYTO_CHIP_CUBE_CORES
#define PYTO_CHIP_CUBE_CORES 24
#endif
#ifndef PYTO_CHIP_VECTOR_CORES
#define PYTO_CHIP_VECTOR_CORES 48
#endif

#if defined(_WIN32)
#error "the pyto simulator runs on Linux and macOS"
#endif
#define PYTO_EXPORT __attribute__((visibility("default")))

extern "C" PYTO_EXPORT const char* pyto_last_error();
extern "C" PYTO_EXPORT const int pyto_sim_abi_version;

namespace pyto_sim {

enum class GmDirection : int { In, Out, InOut };

struct GmArg {
    void* pointer;
    int64_t bytes;
    GmDirection direction;
    template <class T>
    operator T*() const {
        return static_cast<T*>(pointer);
    }
};

struct KernelInfo {
    const char* name;
    void (*cubeEntry)();
    void (*vectorEntry)();
    KernelMetaType type;
};

using KernelCall = void (*)(void (*entry)(), const void* arguments);

int launch(const KernelInfo& kernel, int64_t blocks, const GmArg* ranges, int rangeCount, KernelCall call,
           const void* arguments);

inline void addGmRange(GmArg* ranges, int& count, const GmArg& arg) { ranges[count++] = arg; }
template <class T>
inline void addGmRange(GmArg*, int&, const T&) {}

template <class Call>
inline void callKernel(void (*entry)(), const void* call) {
    (*static_cast<const Call*>(call))(entry);
}

template <class... P>
struct KernelSignature {
    template <class... A>
    static int run(const KernelInfo& kernel, int64_t blocks, const A&... args) {
        static_assert(sizeof...(A) == sizeof...(P), "PYTO_LAUNCH: the number of arguments differs from PYTO_KERNEL");
        GmArg ranges[sizeof...(A) + 1];
        int count = 0;
        (addGmRange(ranges, count, args), ...);
        auto call = [&](void (*entry)()) { reinterpret_cast<void (*)(P...)>(entry)(static_cast<P>(args)...); };
        return launch(kernel, blocks, ranges, count, &callKernel<decltype(call)>, &call);
    }
};

}  // namespace pyto_sim

#define PYTO_IN(pointer, bytes)                                                                           \
    ::pyto_sim::GmArg {                                                                                   \
        const_cast<void*>(static_cast<const void*>(pointer)), int64_t(bytes), ::pyto_sim::GmDirection::In \
    }
#define PYTO_OUT(pointer, bytes) \
    ::pyto_sim::GmArg { static_cast<void*>(pointer), int64_t(bytes), ::pyto_sim::GmDirection::Out }
#define PYTO_INOUT(pointer, bytes) \
    ::pyto_sim::GmArg { static_cast<void*>(pointer), int64_t(bytes), ::pyto_sim::GmDirection::InOut }

#define PYTO_CUBE_CORES() int64_t(PYTO_CHIP_CUBE_CORES)
#define PYTO_VECTOR_CORES() int64_t(PYTO_CHIP_VECTOR_CORES)
#define PYTO_MIN(a, b) (int64_t(a) < int64_t(b) ? int64_t(a) : int64_t(b))
#define PYTO_MAX(a, b) (int64_t(a) > int64_t(b) ? int64_t(a) : int64_t(b))

#define PYTO_KERNEL(name, ...)                                  \
    extern "C" const ::pyto_sim::KernelInfo pyto_kernel_##name; \
    using pyto_signature_##name = ::pyto_sim::KernelSignature<__VA_ARGS__>

#define PYTO_LAUNCH(name, blocks, stream, ...)                                                            \
    do {                                                                                                  \
        (void)(stream);                                                                                   \
        const int pyto_status_ = pyto_signature_##name::run(pyto_kernel_##name, (blocks), ##__VA_ARGS__); \
        if (pyto_status_ != 0) return pyto_status_;                                                       \
    } while (0)

#define PYTO_ENTRY_SOME_(symbol) extern "C" void symbol();
#define PYTO_DECLARE_KERNEL_TYPE_AIV_ONLY(name) PYTO_ENTRY_SOME_(name##__aiv)
#define PYTO_DECLARE_KERNEL_TYPE_AIC_ONLY(name) PYTO_ENTRY_SOME_(name##__aic)
#define PYTO_DECLARE_KERNEL_TYPE_MIX_AIV_1_0(name) PYTO_ENTRY_SOME_(name##__aiv)
#define PYTO_DECLARE_KERNEL_TYPE_MIX_AIC_1_0(name) PYTO_ENTRY_SOME_(name##__aic)
#define PYTO_DECLARE_KERNEL_TYPE_MIX_AIC_1_1(name) PYTO_ENTRY_SOME_(name##__aic) PYTO_ENTRY_SOME_(name##__aiv)
#define PYTO_DECLARE_KERNEL_TYPE_MIX_AIC_1_2(name) PYTO_ENTRY_SOME_(name##__aic) PYTO_ENTRY_SOME_(name##__aiv)
#define PYTO_ENTRIES_KERNEL_TYPE_AIV_ONLY(name) nullptr, &name##__aiv
#define PYTO_ENTRIES_KERNEL_TYPE_AIC_ONLY(name) &name##__aic, nullptr
#define PYTO_ENTRIES_KERNEL_TYPE_MIX_AIV_1_0(name) nullptr, &name##__aiv
#define PYTO_ENTRIES_KERNEL_TYPE_MIX_AIC_1_0(name) &name##__aic, nullptr
#define PYTO_ENTRIES_KERNEL_TYPE_MIX_AIC_1_1(name) &name##__aic, &name##__aiv
#define PYTO_ENTRIES_KERNEL_TYPE_MIX_AIC_1_2(name) &name##__aic, &name##__aiv

#define PYTO_DEFINE_KERNEL(name, type)                                                    \
    PYTO_DECLARE_##type(name) extern "C" const ::pyto_sim::KernelInfo pyto_kernel_##name; \
    const ::pyto_sim::KernelInfo pyto_kernel_##name = {#name, PYTO_ENTRIES_##type(name), type}
