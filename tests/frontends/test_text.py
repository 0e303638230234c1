"""The text form as a front end: what is printed reads back, goes on from its stage, and is refused with a place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyto import compiler
from pyto.errors import CompileError, UsageError
from pyto.frontends.text import load, parse
from pyto.frontends.text.syntax import GRAMMAR, WORDS, parser
from pyto.ir.nodes import Block, Program, walk
from pyto.ir.ops import OPS
from pyto.ir.printer import print_program
from pyto.language import JitFunction
from pyto.passes import PASSES

ROOT = Path(__file__).parents[2]
FILES = [
    *sorted((ROOT / "tests" / "codegen").glob("*kernels.py")),
    *sorted((ROOT / "models" / "qwen3_14b").glob("*.py")),
    *sorted((ROOT / "examples").rglob("*.py")),
    ROOT / "benchmarks" / "gemm_by_hand.py",
    ROOT / "tests" / "frontends" / "test_golden.py",
    ROOT / "tests" / "frontends" / "test_meaning.py",
]
KERNELS = {(path.stem, name): kernel for path in FILES for name, kernel in compiler.find_kernels(path).items()}


def stages(kernel: JitFunction | Program) -> list[compiler.Stage]:
    """The stages that a kernel gets through: some of the front end's tests are refused by a pass."""
    found: list[compiler.Stage] = []
    try:
        compiler.lower(kernel, dump=found.append)
    except CompileError:
        assert found
    return found


def same_but_names(program: Program) -> str:
    numbers: dict[str, str] = {}
    return re.sub(r"%[A-Za-z_]\w*", lambda m: numbers.setdefault(m[0], f"%{len(numbers)}"), print_program(program))


def locations(program: Program) -> Iterator[object]:
    for f in program.functions:
        yield f.loc
        yield from (p.loc for p in f.params)
        yield from (op.loc for op in walk(f.body))


@pytest.mark.parametrize("key", KERNELS, ids="-".join)
def test_reads_back_and_goes_on(key: tuple[str, str]) -> None:
    """parse(print(p)) == p at every pass boundary, and from each one the passes end where they ended before."""
    done = stages(KERNELS[key])
    for stage in done:
        text = print_program(stage.program, locations=True)
        program = parse(text)
        assert program == stage.program, stage.name
        assert print_program(program, locations=True) == text
        if stage.changed:
            plain = parse(stage.text)
            assert plain == program
            if done[-1].name == PASSES[-1].__name__:
                assert same_but_names(stages(plain)[-1].program) == same_but_names(done[-1].program), stage.name


def test_the_same_text_gives_the_same_sources() -> None:
    kernel = KERNELS["kernels", "softmax"]
    want = compiler.lower(kernel)
    got = compiler.lower(parse(print_program(want.stages[0].program)))

    def code(compiled: compiler.Compiled) -> str:
        lines = "\n".join(compiled.generated.sources.values()).splitlines()
        return "\n".join(line for line in lines if not line.strip().startswith("//"))

    assert code(got) == code(want) and got.generated.manifest == want.generated.manifest


def test_any_number_of_blocks_reads_back() -> None:
    """Operations that declare themselves need nothing of the text form: `if` here has three blocks with parameters."""
    text = """
program p machine

host p() {
  %a, %b = if true {n = 3} : index, fp16 with (%x: index, %y: fp16) {
    yield %x + 1, %y
  } else {
    yield 1, fp16(2.5)
  } else with (%z: bool) {
    yield 2, fp16(-inf)
  }
}
""".lstrip()
    from pyto.frontends.text.build import build
    from pyto.frontends.text.syntax import syntax_tree

    had = OPS.get("if")
    if had is None:
        OPS["if"] = OPS["region"]
    try:
        program = build(syntax_tree(text, "t"), "t")
    finally:
        if had is None:
            del OPS["if"]
    (op,) = program.host.body.ops
    assert [len(b.params) for b in op.blocks] == [2, 0, 1] and len(op.results) == 2
    assert print_program(program) == text


def test_locations() -> None:
    """What a text says of its origin wins over its own lines; a file beside the text is found there."""
    text = print_program(compiler.lower(KERNELS["kernels", "add_one"]).stages[0].program, locations=True)
    program = parse(text, str(ROOT / "tests" / "codegen" / "add_one.pto"))
    files = {loc.file for loc in locations(program) if loc is not None}  # type: ignore[attr-defined]
    assert files == {str(ROOT / "tests" / "codegen" / "kernels.py")}
    bare = parse(re.sub(r" @[^\s,){]*", "", text), "add_one.pto")
    assert {loc.file for loc in locations(bare)} == {"add_one.pto"}  # type: ignore[attr-defined]


def test_wrong_programs_name_the_line_of_the_text(tmp_path: Path) -> None:
    text = print_program(compiler.lower(KERNELS["kernels", "matmul_nk"]).stages[0].program).replace(
        " = matmul_acc ", " = matmul_acc 0, "
    )
    path = tmp_path / "p.pto"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CompileError) as error:
        compiler.lower(load(path))
    assert error.value.loc is not None and error.value.loc.file == str(path)


HEAD = "program p tensor\n\nhost p(%x: in tensor[(16, 64), fp32], %y: out tensor[(16, 64), fp32], %n: in int32) {\n"
LOAD = "    %t = load %x, 0, 0 {cols = 1, rows = 0, shape = [16, 64]} : tile[16x64, fp32]\n"
REGION = HEAD + '  region {name = "r"} {\n' + LOAD


def region(line: str) -> str:
    return f"{REGION}    {line}\n    yield\n  }}\n}}\n"


# fmt: off
WRONG = [  # one a line
    ("", "pto.syntax", "expected `program` or the end of the line, the file ends", 1, 1),
    ("program p tensor\nhost p(%x: in tensor[(16, 64) fp32]) {\n}\n",
     "pto.syntax", "expected `,`, found `fp32`", 2, 31),
    (region("%u = neg %t"), "pto.type", "1 results, 0 types", 6, 5),
    (region("%u = neg %t : tile[16x64, fp32"), "pto.syntax", "expected `,` or `]`, the line ends", 6, 35),
    (region("%u = neg %t : tile[16x64 fp32]"), "pto.syntax", "expected `,`, found `fp32`", 6, 30),
    (region("%u = = neg"), "pto.syntax", "expected `for` or a name, found `=`", 6, 10),
    (region("store %y, %t, 0, ! {}"), "pto.syntax", "expected an expression, found '!'", 6, 22),
    (region('barrier {pipe = "V}'), "pto.syntax", "found a string that does not end on its line", 6, 21),
    (region("%u = negate %t : tile[16x64, fp32]"), "pto.operation", "there is no operation negate", 6, 10),
    (region("%u = neg %t : tile[16x64, fp33]"), "pto.dtype", "there is no element type fp33", 6, 31),
    (region("%u = neg %t : tile[16x64, fp32, ubb]"), "pto.space", "there is no memory space ubb", 6, 37),
    (region("%u = neg %s : tile[16x64, fp32]"), "pto.undefined", "%s is not defined", 6, 14),
    (region("%t = neg %t : tile[16x64, fp32]"), "pto.duplicate", "%t is defined twice", 6, 5),
    (region("%int = neg %t : tile[16x64, fp32]"), "pto.name", "%int means something else in C++", 6, 5),
    (region("%u = neg %t : tile[16x32, fp32]"), "pto.invalid", "neg gives tile[16x64, fp32], its result is", 6, 10),
    (region("%u = neg %t : tile[16x64, fp16]"), "pto.invalid", "neg gives tile[16x64, fp32], its result is", 6, 10),
    (region("%u = let %t + 1 : index"), "pto.scalar", "%t is not a scalar", 6, 14),
    (region("%u = let 1 < 2 < 3 : bool"), "pto.syntax", "comparisons do not chain", 6, 16),
    (region("%u = let min(1) : index"), "pto.function", "min takes two or more operands, not 1", 6, 14),
    (region("%u = let sin(1) : index"), "pto.function", "there is no scalar operation sin", 6, 14),
    (region("%u = let int32(%n) : int32"),
     "pto.conversion", "int32(...) gives a constant or an operation its type", 6, 14),
    (region("%u = let 9223372036854775808 : index"), "pto.number", "9223372036854775808 is no index", 6, 14),
    (region("%u = let " + "9" * 5000 + " : index"), "pto.number", "a number of 5000 digits", 6, 14),
    (region("%u = let " + "(" * 300 + "1" + ")" * 300 + " : index"),
     "pto.too-deep", "more than 200 operations", 6, None),
    (region("%u = let " + "1 + " * 300 + "1 : index"), "pto.too-deep", "more than 200 operations", 6, None),
    (region("launch 1"), "pto.invalid", "launch does not belong into device code of the tensor stage", 6, 5),
    (region("%u = read %x[0, 0 : 1, 0 : 1], 0 : fp32"), "pto.view", "%x is no buffer", 6, 15),
    (region('for %i in 0 .. 4 step 1, %c = %t {kind = "range"} {\n      yield\n    }'),
     "pto.type", "%c has no type", 6, 30),
    (region("%u = neg %t {a = 1, a = 2} : tile[16x64, fp32]"),
     "pto.duplicate", "the attribute a stands there twice", 6, 25),
    (region("%u = neg %t {a = nothing} : tile[16x64, fp32]"),
     "pto.attribute", "nothing is no value of an attribute", 6, 22),
    (region("} }"), "pto.syntax", "expected `else` or the end of the line, found `}`", 6, 7),
    (REGION, "pto.syntax", "the file ends", 5, 82),
    (region("%u = read %x, 0, 0 : fp32\n  }\n  %v = let %u : fp32\n  region {"),
     "pto.undefined", "%u is defined in another", 8, 12),
    (HEAD.replace("%n: in", "%n: im") + "}\n", "pto.direction", "there is no direction im", 3, 75),
    (HEAD.replace("tensor[(16, 64), fp32], %y", "tensr[(16, 64), fp32], %y") + "}\n",
     "pto.type", "there is no type tensr", 3, 15),
    (HEAD.replace("tensor\n", "tensr\n") + "}\n", "pto.invalid", "there is no stage 'tensr'", 1, 9),
]
# fmt: on


@pytest.mark.parametrize(("text", "id", "message", "line", "column"), WRONG, ids=lambda v: str(v)[:12])
def test_wrong_texts(text: str, id: str, message: str, line: int, column: int | None) -> None:
    with pytest.raises(CompileError) as error:
        parse(text, "wrong.pto")
    found = error.value
    assert (found.id, found.loc.line) == (id, line), found  # type: ignore[union-attr]
    assert message in found.message and found.remedy and ("^" in str(found) or not text), found
    assert column is None or found.loc.col + 1 == column, found  # type: ignore[union-attr]


def test_missing_and_binary_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read"):
        load(tmp_path / "none.pto")
    (tmp_path / "binary.pto").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"not UTF-8"):
        load(tmp_path / "binary.pto")


def test_layout_is_free() -> None:
    """Comments, blank lines, indentation, the ends of lines, and spaces around operators do not count."""
    text = region("%u = neg %t : tile[16x64, fp32]\n    store %y, %u, %n*2-1, 0 {cols=1,rows=0,atomic=none}")
    loose = text.replace("\n", "   # why\r\n\r\n# so\r\n\t").replace(", ", " ,\t")
    assert parse(loose) == parse(text)
    many = text.replace("p(%x", "p(\n    %x").replace(", %y", ",\n    %y").replace("int32)", "int32\n)")
    assert parse(many) == parse(text)


def test_every_terminal_has_words() -> None:
    fixed = {t.name for t in parser().terminals if t.pattern.type == "str"}
    assert {t.name for t in parser().terminals} - fixed - set(WORDS) <= set(parser().ignore_tokens)


def test_the_grammar_page_shows_the_grammar() -> None:
    page = (ROOT / "docs" / "pto.md").read_text(encoding="utf-8")
    grammar = GRAMMAR.read_text(encoding="utf-8")
    assert f"```\n{grammar}```" in page, "docs/pto.md: its grammar is not frontends/text/pto.lark"


def test_the_pages_example_is_read_and_compiles() -> None:
    page = (ROOT / "docs" / "pto.md").read_text(encoding="utf-8")
    texts = re.findall(r"```pto\n(.*?)```", page, re.S)
    assert texts
    for text in texts:
        compiler.lower(parse(text))


def test_an_empty_block_and_function() -> None:
    program = parse("program p tensor\nhost p() {\n}")
    assert program.host.body == Block((), ())
