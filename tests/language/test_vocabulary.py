"""The names of `pl`: signatures, texts, namespaces, use outside kernels, stubs."""

from __future__ import annotations

import importlib.resources
import inspect

import pytest

import pyto.language as pl
from pyto.errors import UsageError
from pyto.frontends.python.calls import OPERATIONS
from pyto.ir.ops import OPS
from pyto.language import reference, stubs
from pyto.language.intrinsics import REQUIRED, Intrinsic, parse_parameters
from pyto.language.vocabulary import INTRINSICS, LATER, NEVER
from pyto.language.vocabulary_data import TILE_NAMES


@pytest.mark.parametrize("name", [op.name for op in OPS.values() if op.user])
def test_user_ops_are_functions_of_pl(name: str) -> None:
    for place in (pl, pl.tensor, pl.tile):
        if place is pl.tile and name in TILE_NAMES:
            assert getattr(place, name).name == TILE_NAMES[name]
            continue
        fn = getattr(place, name)
        assert isinstance(fn, Intrinsic)
        assert fn.__doc__ == OPS[name].doc
        assert [p.name for p in fn.parameters] == [p.name for p in parse_parameters(OPS[name].call)]


def test_every_function_has_a_meaning_or_is_refused() -> None:
    for name, fn in INTRINSICS.items():
        assert bool(fn.refused) != (name in OPERATIONS), name
        assert fn.__doc__
    assert set(LATER) & set(NEVER) == set()


def test_spellings() -> None:
    assert pl.tensor.dim.spelled == "pl.tensor.dim"
    assert pl.tile.adds.name == "add" and pl.tile.adds.spelled == "pl.tile.adds"
    assert pl.adds.name == "add" and pl.adds.spelled == "pl.adds"
    assert pl.tile.create.name == pl.create_tile.name == "create_tensor"


@pytest.mark.parametrize(
    "call", [lambda: pl.add(1, 2), lambda: pl.at(level=pl.Level.CORE_GROUP), lambda: pl.tile.exp(0)]
)
def test_outside_a_kernel(call) -> None:
    with pytest.raises(UsageError, match=r"means something in a kernel only") as caught:
        call()
    assert caught.value.id == "outside-kernel"
    assert "@pl.jit" in (caught.value.remedy or "")


def test_range_outside_a_kernel_does_not_iterate() -> None:
    with pytest.raises(UsageError):
        for _ in pl.range(3):
            raise AssertionError


def test_unknown_name_suggests() -> None:
    with pytest.raises(AttributeError, match=r"did you mean pl.row_sum\?"):
        pl.row_summ


def test_parameters() -> None:
    a, b, c = parse_parameters("x, mode='rint', *, flag=False")
    assert (a.name, a.default, a.keyword_only) == ("x", REQUIRED, False)
    assert (b.name, b.default) == ("mode", "rint")
    assert (c.name, c.default, c.keyword_only) == ("flag", False, True)
    (rest, only) = parse_parameters("*bounds, stage")
    assert rest.variadic and only.keyword_only and only.default is REQUIRED


def test_stubs_are_current() -> None:
    assert stubs.PATH.read_text(encoding="utf-8") == stubs.generate(), "run: python -m pyto.language.stubs"


def test_stubs_name_everything() -> None:
    text = stubs.generate()
    for name in pl.__all__:
        assert any(
            f"{form}" in text for form in (f"def {name}(", f"class {name}", f"{name}: ", f"as {name}\n", f"{name} = ")
        ), name
    compile(text, "__init__.pyi", "exec")


def test_typed_package() -> None:
    assert importlib.resources.files("pyto").joinpath("py.typed").is_file()
    assert inspect.getdoc(pl) and pl.jit.__doc__


def test_reference_is_current() -> None:
    assert reference.PATH.read_text(encoding="utf-8") == reference.generate(), "run: python -m pyto.language.reference"
