"""Kernels with a random change either compile or are refused with a place in the source; the front end never fails."""

from __future__ import annotations

import ast
import copy
import linecache
import random
import warnings
from pathlib import Path

import pytest

from pyto.errors import CompileError, InternalError
from pyto.frontends.python import parse
from pyto.language import JitFunction

HERE = Path(__file__).parent
FILES = [HERE / "test_meaning.py", HERE / "test_golden.py"]


def kernels(tree: ast.Module) -> list[ast.FunctionDef]:
    return [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(d) for d in node.decorator_list)
    ]


class Mutator:
    """Changes one thing in a function: an expression for another, a number, an operator, a statement."""

    def __init__(self, trees: list[ast.Module], seed: int) -> None:
        self.random = random.Random(seed)
        functions = [f for tree in trees for f in kernels(tree)]
        self.pool = [n for f in functions for s in f.body for n in ast.walk(s) if isinstance(n, ast.expr)]
        self.statements = [n for f in functions for s in f.body for n in ast.walk(s) if isinstance(n, ast.stmt)]

    def mutate(self, function: ast.FunctionDef) -> None:
        places = []
        for parent in (n for s in function.body for n in ast.walk(s)):
            for name, value in ast.iter_fields(parent):
                if isinstance(value, ast.expr) and name not in ("annotation", "optional_vars", "ctx"):
                    places.append((parent, name, None))
                elif isinstance(value, list):
                    places += [(parent, name, i) for i, v in enumerate(value) if isinstance(v, (ast.expr, ast.stmt))]
        parent, name, index = self.random.choice(places)
        old = getattr(parent, name) if index is None else getattr(parent, name)[index]
        new = self.replacement(old)
        if index is None:
            setattr(parent, name, new)
        else:
            getattr(parent, name)[index] = new

    def replacement(self, old: ast.AST) -> ast.AST:
        if isinstance(old, ast.Constant) and isinstance(old.value, (int, float)) and self.random.random() < 0.7:
            return ast.Constant(self.random.choice([0, 1, -1, 3, 64, 10**6, 0.5, True, None, "s"]))
        if isinstance(old, ast.BinOp) and self.random.random() < 0.3:
            op = self.random.choice([ast.Add, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.Div])
            return ast.BinOp(old.left, op(), old.right)
        pool = self.statements if isinstance(old, ast.stmt) else self.pool
        new = copy.deepcopy(self.random.choice(pool))
        if isinstance(getattr(old, "ctx", None), ast.Store):
            new = ast.Name(self.random.choice(["x", "y", "t", "i", "fresh"]), ast.Store())
        elif hasattr(new, "ctx"):
            new.ctx = ast.Load()
        return new


def compile_text(text: str, name: str) -> list[JitFunction]:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, object] = {"__name__": "mutated", "__file__": __file__}
    exec(compile(text, name, "exec"), scope)
    return [v for v in scope.values() if isinstance(v, JitFunction) and not v.inline]


def header(tree: ast.Module) -> list[ast.stmt]:
    """Everything but tests and what they need."""
    return [
        n
        for n in tree.body
        if not (isinstance(n, ast.FunctionDef) and n not in kernels(tree))
        and not (isinstance(n, ast.ImportFrom) and n.module and n.module.startswith("pyto."))
        and not (isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "STAGES")
    ]


def check(seed: int) -> str:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in FILES]
    mutator = Mutator(trees, seed)
    tree = mutator.random.choice(trees)
    module = ast.Module(copy.deepcopy(header(tree)), [])
    function = mutator.random.choice(kernels(module))
    for _ in range(mutator.random.choice([1, 1, 2])):
        mutator.mutate(function)
    keep = {function.name, "softmax_rows"}
    module.body = [n for n in module.body if not isinstance(n, ast.FunctionDef) or n.name in keep]
    try:
        text = ast.unparse(ast.fix_missing_locations(module))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            (kernel,) = compile_text(text, f"<mutation {seed}>")
    except (SyntaxError, ValueError):
        return "not Python"
    try:
        parse(kernel)
    except InternalError as error:
        pytest.fail(f"seed {seed}\n{error}\n{ast.unparse(function)}", pytrace=False)
    except CompileError as error:
        assert error.loc is not None and "^" in str(error)
        return error.id
    return "compiles"


def test_mutations() -> None:
    seen = {check(seed) for seed in range(150)}
    assert "compiles" in seen and len(seen) > 12
