"""Binding of arguments to a host function's parameters and dims, and the value of scalar expressions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pyto.errors import LaunchError
from pyto.ir.nodes import Apply, Const, DType, Expr, Function, ScalarType, TensorType, Type, Var
from pyto.ir.scalar import SCALAR_OPS, wrapped
from pyto.numerics import NUMPY, Array

Env = dict[str, Any]


def bind(host: Function, tensors: Mapping[str, Array], scalars: Mapping[str, int | float]) -> Env:
    """Parameters and dims by name: arrays checked against the signature, read-only where the direction is in."""
    given = {**tensors, **scalars}
    for p in host.params:
        if p.var.name not in given:
            raise LaunchError("launch.arguments", f"{host.name}: argument {p.var.name!r} is missing", p.loc)
    env: Env = {p.var.name: _scalar(p.var.type, given[p.var.name]) for p in host.params}
    extra = sorted(given.keys() - env.keys())
    if extra:
        raise LaunchError("launch.arguments", f"{host.name} has no parameter {extra[0]!r}")
    bound_by: dict[str, str] = {}
    arrays = [p for p in host.params if isinstance(p.var.type, TensorType)]
    for p in arrays:
        _check_tensor(host, p.var, env, bound_by)
    written = [env[p.var.name] for p in arrays if p.direction != "in"]
    for p in arrays:
        if p.direction == "in":
            array = env[p.var.name]
            overlaps = any(np.may_share_memory(array, w) for w in written)
            env[p.var.name] = frozen = array.copy() if overlaps else array.view()
            frozen.flags.writeable = False  # so that its loads can be views
    return env


def _scalar(t: Type, value: Any) -> Any:
    if isinstance(t, ScalarType) and t.dtype.kind == "f":
        return float(np.array(float(value)).astype(np.float32).astype(NUMPY[t.dtype.name]))
    return value


def _check_tensor(host: Function, var: Var, env: Env, bound_by: dict[str, str]) -> None:
    array, t = env[var.name], var.type
    assert isinstance(t, TensorType)
    where = f"{host.name}: {var.name}"
    if array.dtype != NUMPY[t.dtype.name]:
        raise LaunchError("launch.dtype", f"{where} is {array.dtype}, the kernel takes {NUMPY[t.dtype.name]}")
    if array.ndim != len(t.shape):
        raise LaunchError("launch.shape", f"{where} has {array.ndim} dimensions, the kernel takes {len(t.shape)}")
    if not array.flags.c_contiguous:
        raise LaunchError(
            "launch.contiguous", f"{where} is not contiguous", remedy="pass np.ascontiguousarray(...) of it"
        )
    for axis, extent in enumerate(t.shape):
        have = array.shape[axis]
        if isinstance(extent, Var) and extent.name not in env:
            env[extent.name], bound_by[extent.name] = have, f"{var.name}.shape[{axis}]"
        elif have != (want := evaluate(extent, env)):
            why = f" ({extent.name}, bound by {bound_by.get(extent.name)})" if isinstance(extent, Var) else ""
            raise LaunchError("launch.shape", f"{where}.shape[{axis}] is {have}, expected {want}{why}")


def evaluate(expr: Expr, env: Env) -> Any:
    """A scalar expression's value; variables come from `env` by name."""
    if isinstance(expr, Const):
        return float(np.float32(expr.value)) if expr.dtype.kind == "f" else expr.value
    if isinstance(expr, Var):
        return env[expr.name]
    assert isinstance(expr, Apply)
    if expr.op == "select":
        chosen = evaluate(expr.args[1] if evaluate(expr.args[0], env) else expr.args[2], env)
        return float(chosen) if expr.dtype.kind == "f" else chosen
    values = [evaluate(a, env) for a in expr.args]
    if expr.dtype.kind == "f":
        return _float(expr.op, values)
    if expr.op in ("floordiv", "mod") and values[1] == 0:
        return 0
    if expr.op == "cast":
        return _integer(values[0], expr.dtype)
    value = SCALAR_OPS[expr.op](*values)
    return wrapped(int(value)) if expr.dtype.kind in "iu" else value


def _integer(value: Any, dtype: DType) -> Any:
    """To an integer towards zero, saturated, NaN to 0; to a bool."""
    if dtype.kind == "b":
        return bool(value)
    low = 0 if dtype.kind == "u" else -(1 << (dtype.bits - 1))
    high = low + (1 << dtype.bits) - 1
    if isinstance(value, float) and not math.isfinite(value):
        return 0 if math.isnan(value) else high if value > 0 else low
    return max(low, min(high, int(value)))


def _float(op: str, values: list[Any]) -> float:
    """Scalar floats are computed in fp32, by IEEE."""
    with np.errstate(all="ignore"):
        a = [np.float32(v) for v in values]
        return float(np.float32(a[0] / a[1] if op == "div" else SCALAR_OPS[op](*a)))
