"""Kernels, their types and includes, from the text of a source."""

from __future__ import annotations

import pytest

from pyto.build.scan import blank, includes, leading_defines, param_name, scan_kernels
from pyto.errors import BuildError


def types(text: str) -> dict[str, str]:
    return {kernel.name: kernel.type for kernel in scan_kernels("k.cpp", text)}


def test_type_from_macro_qualifier_and_text() -> None:
    text = """
    extern "C" __global__ __aicore__ void a(GM_ADDR x) { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY); }
    __global__ __vector__ void b(__gm__ float* x, uint32_t n) {}
    __cube__ __global__ void c() {}
    __schedmode__(1) __global__ __mix__(1, 2) void d(GM_ADDR x) {}
    __global__ __mix__(1, 1) void e(GM_ADDR x) {}
    extern "C" __global__ __aicore__ void f(GM_ADDR x) { if (x) { KERNEL_TASK_TYPE(1, KERNEL_TYPE_MIX_AIV_1_0); } }
    """
    assert types(text) == {
        "a": "KERNEL_TYPE_AIC_ONLY",
        "b": "KERNEL_TYPE_AIV_ONLY",
        "c": "KERNEL_TYPE_AIC_ONLY",
        "d": "KERNEL_TYPE_MIX_AIC_1_2",
        "e": "KERNEL_TYPE_MIX_AIC_1_1",
        "f": "KERNEL_TYPE_MIX_AIV_1_0",
    }


def test_untyped_kernel_starts_the_cores_its_text_needs() -> None:
    assert types("__global__ __aicore__ void a(GM_ADDR x) { Add(x, x, x, 1); }") == {"a": "KERNEL_TYPE_AIV_ONLY"}
    assert types("__global__ __aicore__ void a(GM_ADDR x) { Mmad(x, x, x, p); }") == {"a": "KERNEL_TYPE_MIX_AIC_1_2"}


def test_comments_strings_defines_and_declarations_are_no_kernels() -> None:
    text = """
    // __global__ void no1() {}
    /* __global__ void no2() {} */
    const char* s = "__global__ void no3() {}";
    #define KERNEL(name) \\
        __global__ void name() {}
    extern "C" __global__ __aicore__ void declared(GM_ADDR x);
    template <int N> __global__ void templated(GM_ADDR x) {}
    __global__ __vector__ void yes(GM_ADDR x) { const char* t = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY)"; }
    """
    assert types(text) == {"yes": "KERNEL_TYPE_AIV_ONLY"}


def test_extern_c_block_lines_and_parameters() -> None:
    text = 'extern "C" {\n__global__ __vector__ void k(__gm__ float* x, Pair<int, 2> p, uint32_t n) { { } }\n}\n' + (
        "__global__ __vector__ void plain() {}\n"
    )
    first, second = scan_kernels("k.cpp", text)
    assert (first.extern_c, first.line, first.params) == (True, 2, ("__gm__ float* x", "Pair<int, 2> p", "uint32_t n"))
    assert (second.extern_c, second.line, second.params) == (False, 4, ())
    assert [param_name(param) for param in first.params] == ["x", "p", "n"]


def test_kernel_type_of_another_chip_is_refused() -> None:
    with pytest.raises(BuildError, match=r"k\.cpp:2: kernel v has type KERNEL_TYPE_MIX_VECTOR_CORE") as error:
        types("\n__global__ void v() { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_VECTOR_CORE); }")
    assert "KERNEL_TYPE_AIV_ONLY" in (error.value.remedy or "")


def test_blank_keeps_positions_and_digit_separators() -> None:
    text = 'a /* x\ny */ = 1\'000\'000; // z\n\'"\' "b\\"c" R"(d\n)" e'
    out = blank(text)
    assert len(out) == len(text) and out.count("\n") == text.count("\n")
    assert "1'000'000" in out and "z" not in out and "d" not in out and out.endswith(" e")


def test_includes_and_leading_defines() -> None:
    text = """\
#ifndef GUARD
#define GUARD
#endif
#define CUBE_ONLY
#define F(x) x
#include "kernel_operator.h"
#  include <vector>
// #include <map>
#define LATER
"""
    assert includes(text) == [("kernel_operator.h", False), ("vector", True)]
    assert leading_defines(text) == ["#define CUBE_ONLY"]
