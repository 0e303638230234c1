"""What the vector instructions declare: memory ranges of records, and refusals at compile time."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pyto.build.compilers import find_cxx
from pyto.build.cxx import COMMON_FLAGS, SIMULATOR

PROBE = r"""
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include "pyto_sim/vector/records.h"
namespace pyto_sim {
const char* memName(MemId) { return "UB"; }
void fail(Loc, const char*, ...) { std::abort(); }
}
using namespace pyto_sim;
int main() {
    unsigned blk, rep, size, width, repeats;
    unsigned long long low, high;
    int counter;
    while (std::scanf("%u %u %u %u %llu %llu %u %d", &blk, &rep, &size, &width, &low, &high, &repeats, &counter) == 8) {
        Record record("probe", PIPE_V, {"file", 1});
        vec::describe(record, true, {nullptr, blk, rep}, size, width, {low, high, repeats, counter != 0});
        std::printf("[%llu", (unsigned long long)vec::activeLanes(width, {low, high, repeats, counter != 0}));
        for (int i = 0; i < record.writeCount; ++i) {
            const Access& a = record.writes[i];
            std::printf(", [%lld, %llu, %u, %lld]", (long long)(intptr_t)a.base, (unsigned long long)a.bytes, a.rows,
                        (long long)a.pitch);
        }
        std::printf("]\n");
    }
}
"""


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("probe")
    (work / "probe.cpp").write_text(PROBE)
    sources = [str(work / "probe.cpp"), *(str(SIMULATOR / "src" / f"vector_{n}.cpp") for n in ("call", "rows"))]
    command = [*find_cxx().command, *COMMON_FLAGS, "-O1", f"-I{SIMULATOR / 'include'}", *sources, "-o", "probe"]
    subprocess.run(command, cwd=work, check=True, capture_output=True)
    return work / "probe"


def touched(blk: int, rep: int, size: int, width: int, low: int, high: int, repeats: int, counter: int) -> set[int]:
    per_block, per_repeat = 32 // size, 256 // width
    found: set[int] = set()
    for r in range(-(-low // per_repeat) if counter else repeats):
        for lane in range(per_repeat):
            word = low if lane < 64 else high
            if r * per_repeat + lane < low if counter else (word >> (lane % 64)) & 1:
                at = (r * rep + lane // per_block * blk) * 32 + lane % per_block * size
                found.update(range(at, at + size))
    return found


FULL = 2**64 - 1
FORMS = [
    (1, 8, 4, 4, 1000, 0, 1, 1),  # counts
    (1, 4, 2, 4, 1000, 0, 1, 1),
    (2, 16, 4, 4, 150, 0, 1, 1),
    (1, 8, 4, 4, FULL, 0, 7, 0),  # whole repeats
    (1, 8, 2, 2, FULL, FULL, 3, 0),
    (1, 9, 2, 2, FULL, 0x7, 3, 0),  # the first lanes
    (2, 20, 4, 4, FULL, 0, 5, 0),  # block strides
    (0, 1, 4, 4, FULL, 0, 5, 0),  # one block for all
    (1, 4, 2, 4, FULL, 0, 5, 0),  # the narrow side of a conversion
    (3, 30, 2, 4, 0xFFFFFFFFFFF, 0, 2, 0),
    (1, 8, 4, 4, 0xFF00FF00FF, 0, 4, 0),  # runs
    (1, 0, 4, 4, FULL, 0, 9, 0),
    (1, 8, 4, 4, 0, 0, 9, 0),
    (1, 8, 4, 4, FULL, 0, 0, 0),
]


def test_records_name_exactly_the_bytes_that_are_touched(probe: Path) -> None:
    text = "\n".join(" ".join(map(str, form)) for form in FORMS)
    lines = subprocess.run([probe], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) == len(FORMS)
    for form, line in zip(FORMS, lines):
        lanes, *ranges = json.loads(line)
        declared: set[int] = set()
        for base, length, rows, pitch in ranges:
            for row in range(rows):
                declared.update(range(base + row * pitch, base + row * pitch + length))
        want = touched(*form)
        assert declared == want, form
        _, _, _, width, low, high, repeats, counter = form
        per_repeat = 256 // width
        bits = bin(low & (2 ** min(per_repeat, 64) - 1)).count("1") + (bin(high).count("1") if per_repeat > 64 else 0)
        assert lanes == (low if counter else bits * repeats), form


def test_a_mask_of_many_runs_is_bounded(probe: Path) -> None:
    form = (1, 8, 4, 4, 0x5555555555555555, 0, 4, 0)
    line = subprocess.run([probe], input=" ".join(map(str, form)), capture_output=True, text=True, check=True).stdout
    _, *ranges = json.loads(line)
    assert ranges == [[0, 252, 4, 256]]
    assert np.array(sorted(touched(*form))).max() < 3 * 256 + 252


REFUSED = {
    "Add(t<bfloat16_t>(), t<bfloat16_t>(), t<bfloat16_t>(), 16)": "Add: this element type is not supported",
    "Mul(t<int8_t>(), t<int8_t>(), t<int8_t>(), 16)": "Mul: this element type is not supported",
    "Div(t<int32_t>(), t<int32_t>(), t<int32_t>(), 16)": "Div: this element type is not supported; supported: half",
    "Exp(t<int32_t>(), t<int32_t>(), 16)": "Exp: this element type is not supported",
    "Muls(t<uint16_t>(), t<uint16_t>(), uint16_t(1), 16)": "Muls: this element type is not supported",
    "Cast(t<int8_t>(), t<float>(), RoundMode::CAST_RINT, 16)": "Cast: the chip has no conversion between",
    "Cast(t<half>(), t<bfloat16_t>(), RoundMode::CAST_RINT, 16)": "Cast: the chip has no conversion",
    "Cast(t<bfloat16_t>(), t<int32_t>(), RoundMode::CAST_RINT, 16)": "Cast: the chip has no conversion",
    "Duplicate(t<int8_t>(), int8_t(1), 16)": "Duplicate: this element type is not supported",
    "ReduceSum(t<int32_t>(), t<int32_t>(), t<int32_t>(), 16)": "ReduceSum / ReduceMax / ReduceMin: this element",
    "Compare(t<uint8_t>(), t<int16_t>(), t<int16_t>(), CMPMODE::EQ, 128)": "Compare: this element type",
    "Select(t<int32_t>(), t<uint8_t>(), t<int32_t>(), t<int32_t>(), SELMODE::VSEL_CMPMASK_SPR, 64)": "Select: this",
    "Gatherb(t<float>(), t<float>(), t<uint32_t>(), 1, {})": "Gatherb: this element type is not supported",
    "uint64_t n; GatherMask(t<half>(), t<half>(), t<uint32_t>(), true, 1, {}, n)": "GatherMask: the pattern tensor",
    "Sort32(t<int32_t>(), t<int32_t>(), t<uint32_t>(), 1)": "Sort32: this element type is not supported",
    "Scatter(t<float>(), t<float>(), t<uint32_t>(), 0u, 16u)": "Scatter does not exist on Ascend 910B / 910C",
    "Neg(t<float>(), t<float>(), 16u)": "Neg does not exist on Ascend 910B / 910C: use Muls with -1",
    "MulAddDst(t<half>(), t<float>(), t<float>(), 16)": "MulAddDst: this pair of element types is not supported",
    "Transpose(t<float>(), t<float>())": "Transpose: this element type is not supported",
}


def syntax(body: str, core: str, work: Path) -> subprocess.CompletedProcess[str]:
    text = '#include "kernel_operator.h"\nusing namespace AscendC;\ntemplate <class T> LocalTensor<T> t();\n'
    (work / "refused.cpp").write_text(text + body)
    compiler = find_cxx()
    everything = "-fmax-errors=0" if compiler.family == "gcc" else "-ferror-limit=0"
    command = [*compiler.command, "-std=c++17", "-fsyntax-only", everything, *f"-DPYTO_SIM_{core}".split()]
    command += [f"-I{SIMULATOR / 'include'}", "refused.cpp"]
    return subprocess.run(command, cwd=work, capture_output=True, text=True)


def test_what_the_chip_lacks_does_not_compile(tmp_path: Path) -> None:
    functions = [f"void f{i}() {{ {call}; }}" for i, call in enumerate(REFUSED)]
    result = syntax("\n".join(functions), "AIV", tmp_path)
    assert result.returncode != 0
    errors = " ".join(re.findall(r"error:.*", result.stderr))
    missing = [call for call, message in REFUSED.items() if message not in errors]
    assert not missing, result.stderr


def test_the_same_calls_with_supported_types_compile_on_both_cores(tmp_path: Path) -> None:
    body = """
    void f() {
        Add(t<float>(), t<float>(), t<float>(), 16);
        Cast(t<bfloat16_t>(), t<float>(), RoundMode::CAST_RINT, 16);
        Muls<half>(t<half>(), t<half>(), 2.0f, 16);
        Cast<float, half>(t<float>(), t<half>(), RoundMode::CAST_NONE, 64, 1, {1, 1, 8, 4});
        WholeReduceSum<float>(t<float>(), t<float>(), 64, 1, 1, 1, 8);
        Duplicate<bfloat16_t>(t<bfloat16_t>(), 0.0f, 16);
        uint64_t n;
        GatherMask(t<half>(), t<half>(), uint8_t(1), false, 0, {1, 1, 8, 0}, n);
        Select(t<half>(), t<uint8_t>(), t<half>(), t<half>(), SELMODE::VSEL_TENSOR_TENSOR_MODE, 128);
        MrgSort(t<float>(), MrgSortSrcList<float>(), MrgSort4Info());
        ReduceMax(t<float>(), t<float>(), t<float>(), 64, true);
        Transpose(t<half>(), t<half>());
    }
    """
    for core in ("AIV", "AIC", "AIV -DPYTO_SIM_RECORD"):
        result = syntax(body, core, tmp_path)
        assert result.returncode == 0, result.stderr
