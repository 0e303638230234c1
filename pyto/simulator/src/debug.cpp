// What kernels print. One buffer a process, one line at a time, so that blocks do not mix within a line.
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string>

#include "pyto_sim/system_functions.h"

namespace pyto_sim {

namespace {
std::mutex& printLock() {
    static std::mutex* lock = new std::mutex();
    return *lock;
}

void appendValue(std::string& text, const void* data, DataType type, uint32_t i) {
    char number[40];
    switch (type) {
        case DataType::F32:
            std::snprintf(number, sizeof number, "%g", double(static_cast<const float*>(data)[i]));
            break;
        case DataType::F16:
            std::snprintf(number, sizeof number, "%g", double(float(static_cast<const half*>(data)[i])));
            break;
        case DataType::BF16:
            std::snprintf(number, sizeof number, "%g", double(float(static_cast<const bfloat16_t*>(data)[i])));
            break;
        case DataType::S8:
            std::snprintf(number, sizeof number, "%d", static_cast<const int8_t*>(data)[i]);
            break;
        case DataType::U8:
            std::snprintf(number, sizeof number, "%u", static_cast<const uint8_t*>(data)[i]);
            break;
        case DataType::S16:
            std::snprintf(number, sizeof number, "%d", static_cast<const int16_t*>(data)[i]);
            break;
        case DataType::U16:
            std::snprintf(number, sizeof number, "%u", static_cast<const uint16_t*>(data)[i]);
            break;
        case DataType::S32:
            std::snprintf(number, sizeof number, "%d", static_cast<const int32_t*>(data)[i]);
            break;
        case DataType::U32:
            std::snprintf(number, sizeof number, "%u", static_cast<const uint32_t*>(data)[i]);
            break;
        case DataType::S64:
            std::snprintf(number, sizeof number, "%lld", (long long)static_cast<const int64_t*>(data)[i]);
            break;
        case DataType::U64:
            std::snprintf(number, sizeof number, "%llu", (unsigned long long)static_cast<const uint64_t*>(data)[i]);
            break;
        default:
            std::snprintf(number, sizeof number, "?");
            break;
    }
    text += number;
}
}  // namespace

void printMessage(const char* format, ...) {
    char text[4096];
    va_list list;
    va_start(list, format);
    std::vsnprintf(text, sizeof text, format, list);
    va_end(list);
    std::lock_guard<std::mutex> hold(printLock());
    std::fputs(text, stdout);
    std::fflush(stdout);
}

void failAssertion(Loc loc, const char* expression, const char* format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    std::vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (text[0] == 0) fail(loc, "assertion failed: %s", expression);
    fail(loc, "%s", text);
}

void dumpValues(const char* where, const void* data, DataType type, uint32_t count, uint32_t desc, uint32_t line) {
    const Core& c = core();
    char head[160];
    std::snprintf(head, sizeof head, "DumpTensor desc=%u line=%u block=%d %s %d, %s of %u: [", desc, line, c.block,
                  c.cube ? "cube" : "vector", c.subBlock, where, count);
    std::string text = head;
    for (uint32_t i = 0; i < count; ++i) {
        if (i > 0) text += ", ";
        appendValue(text, data, type, i);
    }
    text += "]\n";
    std::lock_guard<std::mutex> hold(printLock());
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

int64_t cycleCounter() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

}  // namespace pyto_sim
