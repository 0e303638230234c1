"""Scalar expressions as C++ text."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from pyto.ir.nodes import FP32, INDEX, Apply, Const, DType, Expr, Var
from pyto.ir.ranges import Range
from pyto.ir.scalar import PRECEDENCE, bound, dtype_of, wrapped

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "/", "mod": "%", "eq": "==", "ne": "!=", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=", "and": "&&", "or": "||",
}  # fmt: skip
BITS = {"bitand": "&", "bitor": "|", "bitxor": "^", "shl": "<<", "shr": ">>"}  # always in parentheses
DEVICE_NAMES = {"min": "Min", "max": "Max", "floordiv": "FloorDiv", "mod": "FloorMod"}
HOST_NAMES = {"min": "PYTO_MIN", "max": "PYTO_MAX", "floordiv": "FloorDiv", "mod": "FloorMod"}
SHIFTS = {"shl": "ShiftLeft", "shr": "ShiftRight"}
HELPERS = {
    "ShiftLeft": "__aicore__ inline int64_t ShiftLeft(int64_t a, int64_t n)\n"
    "{\n    return n >= 0 && n < 64 ? static_cast<int64_t>(static_cast<uint64_t>(a) << n) : 0;\n}",
    "ShiftRight": "__aicore__ inline int64_t ShiftRight(int64_t a, int64_t n)\n"
    "{\n    return n >= 0 ? a >> (n < 64 ? n : 63) : 0;\n}",
    "Min": "__aicore__ inline int64_t Min(int64_t a, int64_t b)\n{\n    return a < b ? a : b;\n}",
    "Max": "__aicore__ inline int64_t Max(int64_t a, int64_t b)\n{\n    return a > b ? a : b;\n}",
    "MinFloat": "__aicore__ inline float MinFloat(float a, float b)\n{\n    return b < a ? b : a;\n}",
    "MaxFloat": "__aicore__ inline float MaxFloat(float a, float b)\n{\n    return b > a ? b : a;\n}",
    "FloorDiv": "__aicore__ inline int64_t FloorDiv(int64_t a, int64_t b)\n"
    "{\n    if (b == 0 || b == -1) {\n        return 0 - static_cast<uint64_t>(a) * (b != 0);\n    }\n"
    "    return a / b - (a % b != 0 && (a < 0) != (b < 0));\n}",
    "FloorMod": "__aicore__ inline int64_t FloorMod(int64_t a, int64_t b)\n"
    "{\n    return b == 0 || b == -1 ? 0 : (a % b + b) % b;\n}",
    "Clamp": "__aicore__ inline int64_t Clamp(int64_t x, int64_t low, int64_t high)\n"
    "{\n    return x < low ? low : x > high ? high : x;\n}",
    "Truncate": "__aicore__ inline int64_t Truncate(float x, int64_t low, int64_t high)\n"
    "{\n    if (x != x) {\n        return 0;\n    }\n"
    "    const float first = low, last = high;\n"
    "    return x <= first ? low : x >= last ? high : static_cast<int64_t>(x);\n}",
    "TransposedWindow": "// A part [height, width] of a matrix [rows, columns] in L1, transposed on its way to L0.\n"
    "__aicore__ inline AscendC::LoadData3DParamsV2<float> TransposedWindow(\n"
    "    uint16_t rows, uint16_t columns, uint16_t row, uint16_t column, uint16_t height, uint16_t width)\n"
    "{\n    const uint8_t noPadding[4] = {0, 0, 0, 0};\n"
    "    return AscendC::LoadData3DParamsV2<float>(\n"
    "        noPadding, 1, rows, columns, width, height, column, row, 1, 1, 1, 1, 1, 1, true, false, 0.0f);\n}",
    "WideK": "// A product whose transposed lhs takes multiples of 16 along k.\n"
    "__aicore__ inline AscendC::MmadParams WideK(uint16_t m, uint16_t n, uint16_t k, bool init)\n"
    "{\n    AscendC::MmadParams params(m, n, k, 0, false, init);\n"
    "    params.kDirectionAlign = true;\n    return params;\n}",
    "Lanes": "// Bits first to end - 1 of a word of lanes.\n"
    "__aicore__ inline uint64_t Lanes(int64_t first, int64_t end)\n{\n"
    "    const uint64_t below = first <= 0 ? 0 : first >= 64 ? ~0ULL : (1ULL << first) - 1;\n"
    "    const uint64_t until = end <= 0 ? 0 : end >= 64 ? ~0ULL : (1ULL << end) - 1;\n"
    "    return until & ~below;\n}",
    "TransposeBlocks": "// 16 rows of 32 bytes, the last one again for those that are not there, to the rows of dst.\n"
    "template <typename T>\n"
    "__aicore__ inline void TransposeBlocks(\n"
    "    const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src, uint32_t dst_pitch,\n"
    "    uint32_t src_pitch, uint32_t last, const AscendC::TransDataTo5HDParams& params)\n{\n"
    "    constexpr uint32_t halves = sizeof(T) / 2;\n"
    "    uint64_t to[16], from[16];\n"
    "    for (uint32_t i = 0; i < 16; ++i) {\n"
    "        to[i] = (uint64_t)dst[i / halves * dst_pitch + i % halves * 8].GetPhyAddr();\n"
    "        from[i] = (uint64_t)src[(i < last ? i : last) * src_pitch].GetPhyAddr();\n"
    "    }\n"
    "    AscendC::TransDataTo5HD<T>(to, from, params);\n}",
}


def literal(value: int | float | bool, dtype: DType) -> str:
    """A constant of an element type; floats by their shortest text that reads back the same."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind != "f":
        value = wrapped(int(value))
        if value == -(1 << 63):  # C++ has no literal for it
            return "(-9223372036854775807 - 1)"
        text = str(int(value))
        plain = dtype.kind == "i" and (dtype.bits == 64 or (dtype.bits == 32 and value > -(2**31)))
        return text if plain else f"static_cast<{dtype.ctype}>({text})"
    if math.isinf(value) or math.isnan(value):
        text = '__builtin_nanf("")' if math.isnan(value) else "__builtin_inff()" if value > 0 else "-__builtin_inff()"
    else:
        text = (
            repr(float(np.float32(value)))
            if dtype != FP32
            else np.format_float_positional(np.float32(value), unique=True, trim="0")
        )
        if dtype == FP32 and (abs(value) < 1e-4 or abs(value) >= 1e9) and value:
            text = np.format_float_scientific(np.float32(value), unique=True, trim="0")
        text += "f"
    return text if dtype == FP32 else f"static_cast<{dtype.ctype}>({text})"


class ScalarPrinter:
    """Turns expressions into C++, and remembers which helper functions the text calls."""

    def __init__(self, ranges: Mapping[Var, Range], names: Mapping[str, str] = DEVICE_NAMES) -> None:
        self.ranges, self.names = ranges, names
        self.helpers: set[str] = set()

    def __call__(self, expr: Expr | int, outer: int = 0) -> str:
        if isinstance(expr, int):
            return str(expr)
        if isinstance(expr, Const):
            return literal(expr.value, FP32 if expr.dtype.kind == "f" else expr.dtype)
        if isinstance(expr, Var):
            return expr.name
        assert isinstance(expr, Apply), expr
        return self._apply(expr, outer)

    def _apply(self, expr: Apply, outer: int) -> str:
        op = expr.op
        if op in ("min", "max"):
            return self._call(op, expr)
        if op in ("floordiv", "mod") and not self._not_negative(expr):
            return self._call(op, expr)
        if op == "neg":
            return self._wrap(f"-{self(expr.args[0], PRECEDENCE['neg'])}", PRECEDENCE["neg"], outer)
        if op in SHIFTS and not self._in_word(expr.args[1]):
            self.helpers.add(SHIFTS[op])
            return f"{SHIFTS[op]}({self(expr.args[0])}, {self(expr.args[1])})"
        if op in BITS:
            a, b = self(expr.args[0], 100), self(expr.args[1], 100)
            return f"({a} {BITS[op]} {b})"
        if op == "bitnot":
            return f"~({self(expr.args[0])})"
        if op == "not":
            return f"!({self(expr.args[0])})"
        if op == "select":
            c, a, b = (self(x, 1) for x in expr.args)
            return f"({c} ? {a} : {b})"
        if op == "cast":
            return self._cast(expr.args[0], expr.dtype)
        level = PRECEDENCE[op]
        a, b = self(expr.args[0], level), self(expr.args[1], level + 1)
        return self._wrap(f"{a} {INFIX[op]} {b}", level, outer)

    def _in_word(self, count: Expr) -> bool:
        low, high = (bound(count, self.ranges, upper) for upper in (False, True))
        return low is not None and low >= 0 and high is not None and high < 64

    def _cast(self, value: Expr, target: DType) -> str:
        """Integers saturate, NaN is 0."""
        text, source = self(value), dtype_of(value)
        if target.kind in "iu":
            low = 0 if target.kind == "u" else -(1 << (target.bits - 1))
            limits = [literal(n, INDEX) for n in (low, low + (1 << target.bits) - 1)]
            if source.kind == "f":
                self.helpers.add("Truncate")
                return f"Truncate({text}, {', '.join(limits)})"
            if (source.kind == "b") or (source.kind == target.kind and source.bits <= target.bits):
                return f"static_cast<int64_t>({text})"
            if target.bits == 64 or (source.kind == "u" and source.bits < target.bits):
                return text
            self.helpers.add("Clamp")
            return f"Clamp({text}, {', '.join(limits)})"
        return f"static_cast<{'float' if target.kind == 'f' else target.ctype}>({text})"

    def _not_negative(self, expr: Apply) -> bool:
        low = bound(expr.args[0], self.ranges, False)
        divisor = expr.args[1]
        smallest = bound(divisor, self.ranges, False)
        return low is not None and low >= 0 and smallest is not None and smallest > 0

    def _call(self, op: str, expr: Apply) -> str:
        name = self.names[op]
        if op in ("min", "max") and expr.dtype.kind == "f":
            name = DEVICE_NAMES[op] + "Float"
        self.helpers.add(name)
        return f"{name}({', '.join(self(a) for a in expr.args)})"

    @staticmethod
    def _wrap(text: str, level: int, outer: int) -> str:
        return f"({text})" if level < outer else text
