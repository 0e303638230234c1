#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "pyto_sim/core.h"

#if defined(__APPLE__)
#define PYTO_ASM_NAME(name) "_" #name
#define PYTO_ASM_TYPE(name) ""
#else
#define PYTO_ASM_NAME(name) #name
#define PYTO_ASM_TYPE(name) ".type " #name ", %function\n"
#endif

#if defined(__x86_64__)
asm(".text\n.p2align 4\n"
    ".globl " PYTO_ASM_NAME(pyto_sim_switch_stack) "\n"
#if !defined(__APPLE__)
    ".hidden pyto_sim_switch_stack\n.type pyto_sim_switch_stack, @function\n"
#endif
    PYTO_ASM_NAME(pyto_sim_switch_stack) ":\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  subq $8, %rsp\n  stmxcsr (%rsp)\n  fnstcw 4(%rsp)\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  ldmxcsr (%rsp)\n  fldcw 4(%rsp)\n  addq $8, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  retq\n"
    ".p2align 4\n"
    ".globl " PYTO_ASM_NAME(pyto_sim_start_stack) "\n"
#if !defined(__APPLE__)
    ".hidden pyto_sim_start_stack\n.type pyto_sim_start_stack, @function\n"
#endif
    PYTO_ASM_NAME(pyto_sim_start_stack) ":\n"
    "  movq %r13, %rdi\n"
    "  xorl %ebp, %ebp\n"
    "  callq *%r12\n"
    "  ud2\n");
#elif defined(__aarch64__)
asm(".text\n.p2align 4\n"
    ".globl " PYTO_ASM_NAME(pyto_sim_switch_stack) "\n"
#if !defined(__APPLE__)
    ".hidden pyto_sim_switch_stack\n.type pyto_sim_switch_stack, %function\n"
#endif
    PYTO_ASM_NAME(pyto_sim_switch_stack) ":\n"
    "  sub sp, sp, #176\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n"
    "  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #176\n"
    "  ret\n"
    ".p2align 4\n"
    ".globl " PYTO_ASM_NAME(pyto_sim_start_stack) "\n"
#if !defined(__APPLE__)
    ".hidden pyto_sim_start_stack\n.type pyto_sim_start_stack, %function\n"
#endif
    PYTO_ASM_NAME(pyto_sim_start_stack) ":\n"
    "  mov x0, x20\n"
    "  mov x29, xzr\n"
    "  blr x19\n"
    "  brk #1\n");
#else
#error "the pyto simulator knows how to switch stacks on x86-64 and aarch64 only"
#endif

extern "C" void pyto_sim_start_stack();

namespace pyto_sim {

uint8_t* allocateStack() {
    void* raw = mmap(nullptr, 2 * kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) std::abort();
    const uintptr_t begin = reinterpret_cast<uintptr_t>(raw);
    const uintptr_t aligned = (begin + kStackBytes - 1) & ~(kStackBytes - 1);
    if (aligned > begin) munmap(raw, aligned - begin);
    if (begin + kStackBytes > aligned) munmap(reinterpret_cast<void*>(aligned + kStackBytes), begin + kStackBytes - aligned);
    mprotect(reinterpret_cast<void*>(aligned), size_t(sysconf(_SC_PAGESIZE)), PROT_NONE);
    return reinterpret_cast<uint8_t*>(aligned);
}

void* prepareStack(uint8_t* stack, Core* core, void (*entry)(void*), void* argument) {
    uint8_t* top = stack + kStackBytes - 64;
    std::memcpy(top, &core, sizeof core);
#if defined(__x86_64__)
    // [mxcsr|fpucw] r15 r14 r13 r12 rbx rbp return address; rsp is 16-byte aligned when start_stack begins
    uint64_t* frame = reinterpret_cast<uint64_t*>(top) - 8;
    // The default floating-point modes, whatever the caller's are: round to nearest, no flushing of denormals.
    frame[0] = 0x1f80u | (uint64_t(0x037f) << 32);
    frame[1] = 0;
    frame[2] = 0;
    frame[3] = reinterpret_cast<uint64_t>(argument);
    frame[4] = reinterpret_cast<uint64_t>(entry);
    frame[5] = 0;
    frame[6] = 0;
    frame[7] = reinterpret_cast<uint64_t>(&pyto_sim_start_stack);
    return frame;
#else
    uint64_t* frame = reinterpret_cast<uint64_t*>(top - 176);
    std::memset(frame, 0, 176);
    frame[0] = reinterpret_cast<uint64_t>(entry);
    frame[1] = reinterpret_cast<uint64_t>(argument);
    frame[11] = reinterpret_cast<uint64_t>(&pyto_sim_start_stack);
    return frame;
#endif
}

}  // namespace pyto_sim
