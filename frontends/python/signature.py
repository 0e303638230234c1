"""Signatures: annotations become parameters and dims of a kernel, or checks on the arguments of an inlined function."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, ClassVar

from pyto.frontends.python.frame import Frame
from pyto.frontends.python.values import describe, is_number, is_runtime_scalar, is_tensor, is_tile, plain
from pyto.ir.builder import identifier
from pyto.ir.nodes import INDEX, Const, DType, Expr, Param, ScalarType, TensorType, TileType, Var
from pyto.ir.scalar import substitute, variables
from pyto.language.annotations import Directed, DynVar, Scalar, ScalarAnnotation, Tensor, TensorAnnotation, Tile

_KINDS = "pl.Tensor[[dims], dtype], pl.Out[...], pl.InOut[...] or pl.Scalar[dtype]"


@dataclass(frozen=True)
class Parameter:
    """A parameter as written. `annotation` is None where there is none."""

    MISSING: ClassVar[object] = object()
    name: str
    annotation: Any
    direction: str
    default: Any
    node: ast.arg

    @property
    def place(self) -> ast.AST:
        return self.node.annotation or self.node


def parameters_of(frame: Frame) -> list[Parameter]:
    """The parameters of the frame's function, their annotations evaluated but not checked."""
    function, fn = frame.node, frame.function.fn
    spec = function.args
    for extra, what in ((spec.vararg, "*args"), (spec.kwarg, "**kwargs")):
        if extra is not None:
            raise frame.error("bad-signature", f"{what} is not part of the language", extra, "write the parameters out")
    out = []
    positional = [*spec.posonlyargs, *spec.args]
    if frame.function.program is not None:
        if not positional:
            text = f"{frame.function.name} is a method of {frame.function.program.name} and has no `self`"
            raise frame.error("bad-signature", text, function, "make it the first parameter")
        frame.env[positional.pop(0).arg] = frame.function.program
    arguments = [*positional, *spec.kwonlyargs]
    defaults: dict[str, Any] = dict(fn.__kwdefaults__ or {})
    values = fn.__defaults__ or ()
    defaults.update((a.arg, v) for a, v in zip(positional[len(positional) - len(values) :], values))
    for arg in arguments:
        annotation = frame.function.annotations.get(arg.arg)
        direction = "in"
        if isinstance(annotation, Exception):
            raise frame.error(
                "bad-signature",
                f"the annotation of {arg.arg} raises {type(annotation).__name__}: {annotation}",
                arg.annotation or arg,
            )
        if isinstance(annotation, Directed):
            direction, annotation = annotation.direction, annotation.inner
        out.append(Parameter(arg.arg, annotation, direction, plain(defaults.get(arg.arg, Parameter.MISSING)), arg))
    return out


def _dtype(frame: Frame, value: Any, parameter: Parameter) -> DType:
    if isinstance(value, DType):
        return value
    found = "no element type" if value is None else describe(value)
    raise frame.error(
        "bad-signature",
        f"{parameter.name}: {found} where an element type belongs",
        parameter.place,
        "for instance pl.Tensor[[16, 128], pl.FP32]",
    )


def _dims(frame: Frame, annotation: TensorAnnotation, parameter: Parameter) -> list[Any]:
    if not isinstance(annotation.dims, (list, tuple)) or not annotation.dims:
        raise frame.error(
            "bad-signature",
            f"{parameter.name}: the dims must be a list, got {describe(annotation.dims)}",
            parameter.place,
            "pl.Tensor[[16, 128], pl.FP32]",
        )
    out = []
    for dim in annotation.dims:
        dim = plain(dim)
        if isinstance(dim, bool) or not isinstance(dim, (int, DynVar, Expr)):
            raise frame.error(
                "bad-signature",
                f"{parameter.name}: a dim is {describe(dim)}",
                parameter.place,
                'a dim is an integer or pl.dynamic("NAME")',
            )
        if isinstance(dim, int) and dim <= 0:
            raise frame.error(
                "bad-signature", f"{parameter.name}: a dim is {dim}", parameter.place, "dims are positive"
            )
        out.append(dim)
    return out


# ----------------------------------------------------------------------------------------- kernels


def kernel_parameters(frame: Frame) -> tuple[tuple[Param, ...], tuple[Var, ...]]:
    """Parameters and dims of a kernel; its names are bound in the frame."""
    session = frame.session
    if not frame.node.name.isascii():
        raise frame.error(
            "bad-signature",
            f"{frame.node.name!r} cannot be the name of a kernel: generated code needs the name",
            frame.node,
            "use ASCII letters, digits and underscores",
        )
    parameters = parameters_of(frame)
    for name, value in frame.function.values.items():
        frame.env[name] = value
    parameters = [p for p in parameters if p.name not in frame.function.values]
    for parameter in parameters:
        _declare_dims(frame, parameter)
    for name in session.dims:
        session.builder.names.used.add(name)
    out = []
    for parameter in parameters:
        var = Var(session.builder.names.fresh(parameter.name), _kernel_type(frame, parameter))
        if parameter.name in session.dims:
            raise frame.error(
                "name-clash", f"{parameter.name} is a parameter and a dimension", parameter.node, "rename one of them"
            )
        frame.env[parameter.name] = var
        if isinstance(var.type, TensorType):
            session.directions[var] = parameter.direction
        out.append(Param(var, parameter.direction, frame.loc(parameter.node)))
    _check_bound(frame, parameters)
    return tuple(out), tuple(session.dims.values())


def _declare_dims(frame: Frame, parameter: Parameter) -> None:
    if not isinstance(parameter.annotation, TensorAnnotation):
        return
    for dim in _dims(frame, parameter.annotation, parameter):
        if isinstance(dim, int):
            continue
        for var in [dim.var] if isinstance(dim, DynVar) else sorted(variables(dim), key=lambda v: v.name):
            if not var.name.isidentifier() or identifier(var.name) != var.name:
                raise frame.error(
                    "bad-signature",
                    f"{var.name!r} cannot be the name of a dimension: generated code needs the name",
                    parameter.place,
                    "choose another",
                )
            frame.session.dims.setdefault(var.name, var)
            frame.dims.setdefault(var.name, var)
            frame.session.ranges.setdefault(var, (Const(0), None))


def _check_bound(frame: Frame, parameters: list[Parameter]) -> None:
    """Each dim must be the size of an axis somewhere: that is what binds it at launch."""
    bound = {
        d.name
        for p in parameters
        if isinstance(p.annotation, TensorAnnotation)
        for d in p.annotation.dims
        if isinstance(d, DynVar)
    }
    for parameter in parameters:
        if isinstance(parameter.annotation, TensorAnnotation):
            for dim in parameter.annotation.dims:
                for var in variables(dim) if isinstance(dim, Expr) else ():
                    if var.name not in bound:
                        raise frame.error(
                            "unbound-dim",
                            f"{var.name} is never the size of an axis by itself, so nothing binds it",
                            parameter.place,
                            f"give the axis its own pl.dynamic, or a tensor an axis of size {var.name}",
                        )


def _kernel_type(frame: Frame, parameter: Parameter) -> TensorType | ScalarType:
    annotation = parameter.annotation
    if isinstance(annotation, ScalarAnnotation):
        if parameter.direction != "in":
            raise frame.error(
                "bad-signature",
                f"{parameter.name}: a scalar cannot be an output",
                parameter.place,
                "write it to a tensor",
            )
        return ScalarType(_dtype(frame, annotation.dtype, parameter))
    if isinstance(annotation, TensorAnnotation) and annotation.kind == "tensor":
        dtype = _dtype(frame, annotation.dtype, parameter)
        if dtype is INDEX and parameter.direction != "in":
            raise frame.error(
                "bad-signature",
                f"{parameter.name}: a tensor of int64 can be read, not written: no operation on tiles takes it",
                parameter.place,
                "use pl.INT32",
            )
        dims = _dims(frame, annotation, parameter)
        return TensorType(
            tuple(d.var if isinstance(d, DynVar) else Const(d) if isinstance(d, int) else d for d in dims), dtype
        )
    if annotation is Tensor:
        raise frame.error(
            "bad-signature",
            f"{parameter.name}: the arguments of a call give a bare pl.Tensor its shape: by itself the kernel has none",
            parameter.place,
            f"call it from Python, or give dims and an element type: {parameter.name}: pl.Tensor[[16, 128], pl.FP32]",
        )
    what = "has no annotation" if parameter.annotation is None else f"is annotated with {describe(annotation)}"
    raise frame.error("bad-signature", f"{parameter.name} {what}", parameter.place, f"annotate it with {_KINDS}")


# ------------------------------------------------------------------------------- inlined functions


def bind_parameter(inner: Frame, parameter: Parameter, value: Any, where: ast.AST, caller: Frame) -> None:
    """Bind an argument of an inlined function, checked against the annotation as far as that goes."""
    annotation = parameter.annotation
    if isinstance(annotation, TensorAnnotation):
        _check_tensor(inner, parameter, annotation, value, where, caller)
    elif annotation in (Tensor, Tile):
        if not (is_tensor(value) or is_tile(value)) or (annotation is Tile and not is_tile(value)):
            kind = "tensor" if annotation is Tensor else "tile"
            raise caller.error(
                "operand-kind",
                f"{parameter.name} of {inner.function.name} must be a {kind}, got {describe(value)}",
                where,
            )
    elif annotation is Scalar or isinstance(annotation, (ScalarAnnotation, DType)):
        if isinstance(annotation, DType):
            annotation = ScalarAnnotation(annotation)
        if not (is_number(value) or is_runtime_scalar(value)):
            raise caller.error(
                "operand-kind",
                f"{parameter.name} of {inner.function.name} must be a scalar, got {describe(value)}",
                where,
            )
        if isinstance(annotation, ScalarAnnotation) and isinstance(annotation.dtype, DType):
            kind = annotation.dtype.kind
            if isinstance(value, int) and kind == "f":
                value = float(value)
            elif isinstance(value, float) and kind in "iu":
                raise caller.error(
                    "dtype-mismatch",
                    f"{parameter.name} of {inner.function.name} is {annotation.dtype}, got {value!r}",
                    where,
                )
    inner.env[parameter.name] = value


def _check_tensor(
    inner: Frame, parameter: Parameter, annotation: TensorAnnotation, value: Any, where: ast.AST, caller: Frame
) -> None:
    label = f"{parameter.name} of {inner.function.name}"
    if not (is_tensor(value) or is_tile(value)):
        raise caller.error("operand-kind", f"{label} must be a tensor, got {describe(value)}", where)
    assert isinstance(value, Var) and isinstance(value.type, (TensorType, TileType))
    dims = _dims(inner, annotation, parameter)
    dtype = _dtype(inner, annotation.dtype, parameter)
    if value.type.dtype != dtype:
        raise caller.error("dtype-mismatch", f"{label} is {dtype}, {value.name} is {value.type.dtype}", where)
    extents = [e if isinstance(e, Expr) else Const(e) for e in value.type.shape]
    if len(extents) != len(dims):
        raise caller.error("rank-mismatch", f"{label} has {len(dims)} axes, {value.name} has {len(extents)}", where)
    for axis, (dim, extent) in enumerate(zip(dims, extents)):
        if isinstance(dim, DynVar):
            known = inner.dims.get(dim.name)
            if known is None:
                inner.dims[dim.name] = extent
                continue
            want: Expr = known
        else:
            want = (
                Const(dim)
                if isinstance(dim, int)
                else substitute(dim, {v: inner.dims[v.name] for v in variables(dim) if v.name in inner.dims})
            )
        if caller.session.constant(want - extent) != 0:
            named = f"{dim.name} = " if isinstance(dim, DynVar) else ""
            message = f"axis {axis} of {label} is {named}{_say(want)}, that of {value.name} is {_say(extent)}"
            raise caller.error("dim-conflict" if named else "shape-mismatch", message, where)


def _say(expr: Expr) -> str:
    from pyto.ir.printer import show

    return show(expr).replace("%", "")


__all__ = ["Parameter", "bind_parameter", "kernel_parameters", "parameters_of"]
