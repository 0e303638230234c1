// Copies between GM and the memories of a core.
#include "pyto_sim/copy_functions.h"

#include <cstring>

#include "atomic.h"
#include "cube_state.h"
#include "launch.h"

namespace pyto_sim {

namespace {

uint32_t offsetIn(const Core& core, MemId mem, const void* p) {
    return uint32_t(static_cast<const uint8_t*>(p) - core.mem[int(mem)]);
}

// Tells lazy descriptions that rows of a local memory are about to change.
void beforeLocalWrite(Core& core, MemId mem, const void* dst, int64_t pitch, uint64_t rowBytes, uint32_t rows) {
    if (mem == MemId::Ub) return;
    const uint32_t begin = offsetIn(core, mem, dst);
    const uint32_t end = uint32_t(begin + uint64_t(rows - 1) * uint64_t(pitch) + rowBytes);
    if (mem == MemId::L1) overwriteL1(core, begin, end, rows == 1 || uint64_t(pitch) == rowBytes);
    if (mem == MemId::L0a || mem == MemId::L0b) overwriteL0(core, mem, begin, end);
}

void moveRows(uint8_t* d, int64_t dstPitch, const uint8_t* s, int64_t srcPitch, uint64_t rowBytes, uint32_t rows) {
    if (rows > 1 && uint64_t(dstPitch) == rowBytes && uint64_t(srcPitch) == rowBytes) {
        rowBytes *= rows;
        rows = 1;
    }
    for (uint32_t r = 0; r < rows; ++r) std::memmove(d + int64_t(r) * dstPitch, s + int64_t(r) * srcPitch, rowBytes);
}

uint64_t extent(int64_t pitch, uint64_t rowBytes, uint32_t rows) {
    return uint64_t(rows - 1) * uint64_t(pitch) + rowBytes;
}

}  // namespace

void failLocal(Loc loc, const char* call, MemId mem, const void* p, uint64_t bytes, uint32_t align) {
    const uint8_t* base = core().mem[int(mem)];
    if (mem == MemId::Gm || base == nullptr) fail(loc, "%s: the tensor lies in no memory of this core", call);
    const uint64_t at = uint64_t(static_cast<const uint8_t*>(p) - base);
    if (at > kMemBytes[int(mem)] || bytes > kMemBytes[int(mem)] - at)
        fail(loc, "%s: bytes %lld..%lld of %s, which has %u", call, (long long)at, (long long)(at + bytes),
             memName(mem), kMemBytes[int(mem)]);
    fail(loc, "%s: address %llu in %s is not a multiple of %u bytes", call, (unsigned long long)at, memName(mem),
         align);
}

void checkGm(Loc loc, const char* call, const void* p, uint64_t bytes, bool write) {
    const uint8_t* begin = static_cast<const uint8_t*>(p);
    const GmRange* found = nullptr;
    for (const GmRange& r : core().launch->ranges) {
        if (begin < r.begin || begin >= r.end) continue;
        if (begin + bytes <= r.end && !(write && r.input)) return;
        found = &r;
    }
    if (found == nullptr) {
        if (core().launch->ranges.empty()) return;
        fail(loc, "%s: %llu bytes of GM that belong to no tensor of the launch", call, (unsigned long long)bytes);
    }
    const long long at = begin - found->begin, size = found->end - found->begin;
    if (at + (long long)bytes > size)
        fail(loc, "%s: bytes %lld..%lld of a GM tensor of %lld", call, at, at + (long long)bytes, size);
    fail(loc, "%s: writes to a GM tensor that the launch binds as input", call);
}

void copyIn(MemId dstMem, void* dst, int64_t dstPitch, const void* src, int64_t srcPitch, uint64_t rowBytes,
            uint32_t rows) {
    beforeGmAccess(src, extent(srcPitch, rowBytes, rows));
    beforeLocalWrite(core(), dstMem, dst, dstPitch, rowBytes, rows);
    moveRows(static_cast<uint8_t*>(dst), dstPitch, static_cast<const uint8_t*>(src), srcPitch, rowBytes, rows);
}

void copyOut(void* dst, int64_t dstPitch, const void* src, int64_t srcPitch, uint64_t rowBytes, uint32_t rows,
             AtomicMode atomic) {
    if (atomic.op != AtomicOp::None) return storeRows(core(), atomic, dst, dstPitch, src, srcPitch, rowBytes, rows);
    beforeGmAccess(dst, extent(dstPitch, rowBytes, rows));
    moveRows(static_cast<uint8_t*>(dst), dstPitch, static_cast<const uint8_t*>(src), srcPitch, rowBytes, rows);
}

void copyLocal(MemId dstMem, void* dst, int64_t dstPitch, MemId srcMem, const void* src, int64_t srcPitch,
               uint64_t rowBytes, uint32_t rows) {
    Core& c = core();
    if (srcMem == MemId::L1) {
        const uint32_t begin = offsetIn(c, srcMem, src);
        settleL1(c, begin, uint32_t(begin + extent(srcPitch, rowBytes, rows)));
    }
    beforeLocalWrite(c, dstMem, dst, dstPitch, rowBytes, rows);
    moveRows(static_cast<uint8_t*>(dst), dstPitch, static_cast<const uint8_t*>(src), srcPitch, rowBytes, rows);
}

void copyInPad(void* dst, int64_t dstPitch, const void* src, int64_t srcPitch, uint64_t rowBytes, uint32_t rows,
               PadRow pad) {
    beforeGmAccess(src, extent(srcPitch, rowBytes, rows));
    uint8_t* d = static_cast<uint8_t*>(dst);
    const uint8_t* s = static_cast<const uint8_t*>(src);
    const uint64_t body = pad.leftBytes + rowBytes + pad.rightBytes;
    const uint64_t whole = (body + 31) / 32 * 32;
    if (whole == rowBytes) return moveRows(d, dstPitch, s, srcPitch, rowBytes, rows);
    uint8_t filling[64 + 32];
    for (uint32_t r = 0; r < rows; ++r, d += dstPitch, s += srcPitch) {
        // Without padding the last block is filled up with the row's first element.
        const void* element = pad.pad ? static_cast<const void*>(&pad.value) : s;
        for (uint32_t i = 0; i < 96; i += pad.elementBytes) std::memcpy(filling + i, element, pad.elementBytes);
        std::memcpy(d, filling, pad.leftBytes);
        std::memcpy(d + pad.leftBytes, s, rowBytes);
        std::memcpy(d + pad.leftBytes + rowBytes, filling, whole - pad.leftBytes - rowBytes);
    }
}

void copyNd2Nz(MemId dstMem, void* dst, const void* src, const Nd2Nz& s) {
    Core& c = core();
    const uint64_t read = extent(s.srcPitch, s.rowBytes, s.rows);
    beforeGmAccess(src, read);
    const uint32_t begin = offsetIn(c, dstMem, dst);
    const uint32_t blocks = (s.rowBytes + kBlockBytes - 1) / kBlockBytes;
    const uint32_t end = begin + (blocks - 1) * s.blockStride + (s.rows - 1) * s.rowStride + kBlockBytes;
    const bool dense = s.rowStride == kBlockBytes && (blocks == 1 || s.blockStride == s.rows * kBlockBytes);
    const bool lazy =
        s.rowStride == kBlockBytes && (blocks == 1 || s.blockStride >= s.rows * kBlockBytes) && s.srcPitch <= INT32_MAX;
    if (lazy && isConstantGm(c, src, int64_t(read))) {
        const uint32_t stride =
            blocks == 1 && s.blockStride < s.rows * kBlockBytes ? s.rows * kBlockBytes : s.blockStride;
        leaveView(c,
                  {begin, end, static_cast<const uint8_t*>(src), s.srcPitch, s.rows, s.rowBytes, stride, 0, dense, 0});
        return;
    }
    overwriteL1(c, begin, end, dense);
    copyFractalRows(static_cast<uint8_t*>(dst), s, static_cast<const uint8_t*>(src));
}

void copyNz2Nd(void* dst, const void* src, const Nz2Nd& s, AtomicMode atomic) {
    Core& c = core();
    beforeGmStore(atomic, dst, extent(s.dstPitch, s.rowBytes, s.rows));
    for (uint32_t done = 0; done < s.rowBytes; done += kBlockBytes) {
        const uint32_t n = s.rowBytes - done < kBlockBytes ? s.rowBytes - done : kBlockBytes;
        storeRows(c, atomic, static_cast<uint8_t*>(dst) + done, s.dstPitch,
                  static_cast<const uint8_t*>(src) + uint64_t(done / kBlockBytes) * s.blockStride, s.rowStride, n,
                  s.rows);
    }
}

}  // namespace pyto_sim
