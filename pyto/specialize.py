"""Kernels whose signature leaves shapes and numbers to the call: bare `pl.Tensor`, parameters like `n: pl.INDEX`."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from pyto.errors import LaunchError
from pyto.ir.nodes import BF16, BOOL, FP16, FP32, INDEX, INT8, INT16, INT32, UINT8, UINT16, UINT32, DType
from pyto.language.annotations import Directed, Tensor, TensorAnnotation
from pyto.language.jit import JitFunction
from pyto.runtime.arrays import describe

_DTYPES = {
    "float32": FP32, "float16": FP16, "bfloat16": BF16, "int8": INT8, "int16": INT16, "int32": INT32, "int64": INDEX,
    "uint8": UINT8, "uint16": UINT16, "uint32": UINT32, "bool": BOOL,
}  # fmt: skip


def specialize(kernel: JitFunction, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[JitFunction, list[Any]]:
    """The kernel for a call's arguments, and the arguments that are left to pass to it, in the order of its signature.

    A bare `pl.Tensor` gets the shape and element type of its argument, a parameter annotated with an element type the
    argument's value. Raises LaunchError where an argument is missing or of another kind.
    """
    annotations: dict[str, Any] = {}
    values: dict[str, Any] = {}
    left = []
    for parameter, value in zip(kernel.parameters, _in_order(kernel, args, kwargs)):
        annotation = kernel.annotations.get(parameter.name)
        inner = annotation.inner if isinstance(annotation, Directed) else annotation
        if isinstance(inner, DType):
            values[parameter.name] = _number(kernel, parameter.name, inner, value)
            continue
        if inner is Tensor:
            array = describe(value, parameter.name, kernel.name)
            if array.dtype not in _DTYPES or not array.shape:
                text = f"{kernel.name}: {parameter.name} is {list(array.shape)} {array.dtype}"
                raise LaunchError("launch.dtype", text, remedy=f"at least one axis, and one of {', '.join(_DTYPES)}")
            known = TensorAnnotation(list(array.shape), _DTYPES[array.dtype])
            annotations[parameter.name] = (
                Directed(annotation.direction, known) if isinstance(annotation, Directed) else known
            )
        left.append(value)
    key = (
        tuple((n, tuple((a.inner if isinstance(a, Directed) else a).dims), str(a)) for n, a in annotations.items()),
        tuple((n, type(v), v) for n, v in values.items()),
    )
    return kernel.specialized(key, annotations, values), left


def _in_order(kernel: JitFunction, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    names = [p.name for p in kernel.parameters]
    signature = f"{kernel.name}({', '.join(names)})"
    if len(args) > len(names):
        text = f"{kernel.name}: {len(args)} arguments for {len(names)} parameters"
        raise LaunchError("launch.arguments", text, remedy=signature)
    given = dict(zip(names, args))
    for name, value in kwargs.items():
        if name not in names or name in given:
            what = "is given twice" if name in given else "is no parameter"
            raise LaunchError("launch.arguments", f"{kernel.name}: {name} {what}", remedy=signature)
        given[name] = value
    for parameter in kernel.parameters:
        if parameter.name not in given:
            if parameter.default is parameter.empty:
                text = f"{kernel.name}: missing argument: {parameter.name}"
                raise LaunchError("launch.arguments", text, remedy=f"{signature}: outputs too, they give the shapes")
            given[parameter.name] = parameter.default
    return [given[name] for name in names]


def _number(kernel: JitFunction, name: str, dtype: DType, value: Any) -> int | float | bool:
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    wanted = numbers.Real if dtype.kind == "f" else numbers.Integral
    if not isinstance(value, wanted):
        text = f"{kernel.name}: {name} is {dtype}, got {value!r}"
        raise LaunchError("launch.scalar", text, remedy="pass a number")
    return float(value) if dtype.kind == "f" else bool(value) if dtype.kind == "b" else int(value)  # type: ignore[call-overload,no-any-return]
