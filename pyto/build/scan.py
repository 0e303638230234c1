"""What a device source declares: its kernels with their types, and its includes. Text only; nothing is preprocessed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyto.errors import BuildError

#: Kernel types of the public API -> (starts cube cores, starts vector cores).
KERNEL_TYPES: dict[str, tuple[bool, bool]] = {
    "KERNEL_TYPE_AIV_ONLY": (False, True),
    "KERNEL_TYPE_AIC_ONLY": (True, False),
    "KERNEL_TYPE_MIX_AIV_1_0": (False, True),
    "KERNEL_TYPE_MIX_AIC_1_0": (True, False),
    "KERNEL_TYPE_MIX_AIC_1_1": (True, True),
    "KERNEL_TYPE_MIX_AIC_1_2": (True, True),
}
_MIX = {(1, 0): "MIX_AIC_1_0", (0, 1): "MIX_AIV_1_0", (1, 1): "MIX_AIC_1_1", (1, 2): "MIX_AIC_1_2"}
#: A kernel that states no type starts vector cores, and cube cores too if its file uses one of these.
_CUBE_WORDS = re.compile(r"\b(Mmad|LoadData\w*|Fixpipe|ASCEND_IS_AIC|Matmul|MatmulImpl|__DAV_C220_CUBE__)\b")
_NOT_A_NAME = {"__mix__", "__schedmode__", "__attribute__", "__launch_bounds__", "alignas", "decltype"}


@dataclass(frozen=True)
class Kernel:
    """A `__global__` function that a source defines."""

    name: str
    type: str
    file: str
    line: int
    extern_c: bool
    params: tuple[str, ...]

    @property
    def has_aic(self) -> bool:
        return KERNEL_TYPES[self.type][0]

    @property
    def has_aiv(self) -> bool:
        return KERNEL_TYPES[self.type][1]


_TOKEN = re.compile(
    r"""//[^\n]*(?:\\\n[^\n]*)*|/\*.*?\*/|R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""",
    re.S,
)


def blank(text: str, keep_strings: bool = False) -> str:
    """`text` with comments (and the inside of string literals) replaced by spaces: positions and lines stay."""

    def repl(match: re.Match[str]) -> str:
        token = match.group(0)
        if token[0] == "/":
            return re.sub(r"[^\n]", " ", token)
        if token[0] == "'" and match.start() and text[match.start() - 1].isalnum():
            return token  # a digit separator: 1'000
        if keep_strings:
            return token
        return token[0] + re.sub(r"[^\n]", " ", token[1:-1]) + token[-1]

    return _TOKEN.sub(repl, text)


def _matching(text: str, start: int, pairs: str) -> int:
    """Position of the bracket that closes the one at `start`, or -1."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] == pairs[0]:
            depth += 1
        elif text[i] == pairs[1]:
            depth -= 1
            if depth == 0:
                return i
    return -1


def _split_params(text: str) -> tuple[str, ...]:
    parts, depth, current = [], 0, ""
    for char in text:
        depth += char in "(<[{"
        depth -= char in ")>]}"
        if char == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += char
    parts.append(current)
    cleaned = [" ".join(part.split()) for part in parts]
    return tuple(part for part in cleaned if part and part != "void")


def param_name(param: str) -> str:
    """The declared name in a parameter such as `__gm__ float* x`; "" if it has none."""
    match = re.search(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*(?:=.*)?$", param)
    return match.group(1) if match and len(re.findall(r"[A-Za-z_]\w*", param)) > 1 else ""


def _define_lines(code: str) -> set[int]:
    """Positions' line numbers (from 1) that belong to a #define, with its continuation lines."""
    lines: set[int] = set()
    continued = False
    for number, line in enumerate(code.split("\n"), 1):
        if continued or re.match(r"\s*#\s*define\b", line):
            lines.add(number)
            continued = line.rstrip().endswith("\\")
    return lines


def scan_kernels(file: str, text: str) -> list[Kernel]:
    """The kernels that `text` defines, in order. Raises BuildError for a kernel type that A2/A3 do not have."""
    code = blank(text)
    raw = blank(text, keep_strings=True)
    defines = _define_lines(code)
    kernels: dict[str, Kernel] = {}
    for match in re.finditer(r"\b__global__\b", code):
        line = code.count("\n", 0, match.start()) + 1
        if line in defines:
            continue
        begin = max(code.rfind(char, 0, match.start()) for char in ";}{")
        begin = max(begin, _last_directive_end(code, match.start()))
        opened = None
        for call in re.finditer(r"([A-Za-z_]\w*)\s*\(", code[match.end() :]):
            if call.group(1) not in _NOT_A_NAME:
                opened = call
                break
        if opened is None:
            continue
        name = opened.group(1)
        paren = match.end() + opened.end() - 1
        close = _matching(code, paren, "()")
        after = re.match(r"\s*\{", code[close + 1 :]) if close > 0 else None
        prefix_raw = raw[begin + 1 : match.end() + opened.start()]
        # `extern "C" {` opens a block: look whether the declaration stands inside one.
        extern_c = bool(re.search(r'extern\s*"C"', prefix_raw)) or _in_extern_c_block(code, raw, match.start())
        if after is None or re.search(r"\btemplate\s*<", prefix_raw):
            continue
        body_open = close + after.end()
        body = code[body_open : _matching(code, body_open, "{}") + 1]
        kind = _kernel_type(file, line, name, prefix_raw, body, code)
        params = _split_params(code[paren + 1 : close])
        kernels[name] = Kernel(name, kind, file, line, extern_c, params)
    return list(kernels.values())


def _last_directive_end(code: str, position: int) -> int:
    """End of the last preprocessor line before `position`, or -1."""
    last = -1
    for match in re.finditer(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", code[:position], re.M):
        last = match.end() - 1
    return last


def _in_extern_c_block(code: str, raw: str, position: int) -> bool:
    for match in re.finditer(r'extern\s*"C"\s*\{', raw[:position]):
        close = _matching(code, match.end() - 1, "{}")
        if close < 0 or close > position:
            return True
    return False


def _kernel_type(file: str, line: int, name: str, prefix: str, body: str, code: str) -> str:
    stated = re.search(r"\bKERNEL_TASK_TYPE(?:_DEFAULT)?\s*\((?:[^(),]*,)?\s*(\w+)\s*\)", body)
    mix = re.search(r"\b__mix__\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)", prefix)
    if stated:
        kind = stated.group(1)
    elif mix:
        ratio = (int(mix.group(1)), int(mix.group(2)))
        kind = "KERNEL_TYPE_" + _MIX.get(ratio, f"MIX_AIC_{ratio[0]}_{ratio[1]}")
    elif re.search(r"\b__vector__\b", prefix):
        kind = "KERNEL_TYPE_AIV_ONLY"
    elif re.search(r"\b__cube__\b", prefix):
        kind = "KERNEL_TYPE_AIC_ONLY"
    else:
        kind = "KERNEL_TYPE_MIX_AIC_1_2" if _CUBE_WORDS.search(code) else "KERNEL_TYPE_AIV_ONLY"
    if kind not in KERNEL_TYPES:
        raise BuildError(
            "build.kernel-type",
            f"{file}:{line}: kernel {name} has type {kind}, which Atlas A2/A3 do not have",
            remedy="use one of " + ", ".join(KERNEL_TYPES),
        )
    return kind


def includes(text: str) -> list[tuple[str, bool]]:
    """(name, is it <name>) of each #include, in order."""
    found = re.findall(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', blank(text, keep_strings=True), re.M)
    return [(name.strip(), bracket == "<") for bracket, name in found]


def leading_defines(text: str) -> list[str]:
    """Object-like #defines that stand before the first #include: they may configure what is included."""
    lines: list[str] = []
    previous = ""
    for line in blank(text, keep_strings=True).split("\n"):
        stripped = line.strip()
        if re.match(r"#\s*include\b", stripped):
            return lines
        match = re.match(r"#\s*define\s+(\w+)(?!\()", stripped)
        # `#ifndef X` right before `#define X` is an include guard: it must not reach the prelude.
        if match and not re.match(rf"#\s*ifndef\s+{match.group(1)}\b", previous) and not stripped.endswith("\\"):
            lines.append(stripped)
        if stripped:
            previous = stripped
    return []
