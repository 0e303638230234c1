"""The Python front end: a function decorated with `@pl.jit` becomes IR of the tensor stage.

The function is never called: its syntax tree is read. Numbers known from closures, globals and configuration objects
are folded, inlined functions are written out, types are checked, and every mistake has its place in the source.
"""

from __future__ import annotations

import traceback
from typing import Any

from pyto.errors import CompileError, InternalError, PytoError, UsageError
from pyto.frontends.python import data_operations, debug, hints  # noqa: F401 - they register what operations mean
from pyto.frontends.python.frame import Frame, Session
from pyto.frontends.python.operations import OPERATIONS
from pyto.frontends.python.signature import kernel_parameters
from pyto.frontends.python.source import locate
from pyto.frontends.python.statements import run
from pyto.frontends.python.values import CompileErrors, combine
from pyto.ir.nodes import Block, Function, Program, TensorType
from pyto.ir.verifier import verify
from pyto.language.jit import JitFunction


def parse(function: Any) -> Program:
    """The program of one kernel, at stage "tensor", verified.

    Raises CompileError for what the language does not allow (CompileErrors for several mistakes at once), and
    UsageError where `function` is not a kernel.
    """
    if not isinstance(function, JitFunction):
        raise UsageError("not-a-kernel", f"{function!r} is not a kernel", remedy="decorate a function with @pl.jit")
    if function.inline:
        raise UsageError(
            "not-a-kernel",
            f"{function.name} is inlined where kernels call it and is no kernel itself",
            remedy=f"decorate {function.name} with @pl.jit",
        )
    source, node = locate(function.fn)
    session = Session(constants=function.constants)
    frame = Frame(session, source, node, function, None)
    try:
        params, dims = kernel_parameters(frame)
        run(frame, node.body)
    except PytoError:
        raise
    except RecursionError:
        where, statement = session.at or (frame, node)
        session.report(
            CompileError(
                "too-deep",
                "this nests too deeply to be compiled",
                where.loc(statement),
                remedy="give parts of the expression names of their own",
            )
        )
    except OverflowError as error:
        where, statement = session.at or (frame, node)
        session.report(
            CompileError(
                "not-constant", f"a number is out of range: {error}", where.loc(statement), remedy="use a smaller one"
            )
        )
    except Exception as error:
        where, statement = session.at or (frame, node)
        message = f"the front end failed here: {type(error).__name__}: {error}"
        raise InternalError(message, where.loc(statement), details=traceback.format_exc()) from error
    if not session.errors:
        params = (*params, *session.outputs)
        for param in params:
            if param.direction == "out" and param.var not in session.written and isinstance(param.var.type, TensorType):
                session.report(
                    CompileError(
                        "not-written",
                        f"{param.var.name} is pl.Out and nothing is written to it",
                        param.loc,
                        remedy="store to it, or take it out of the signature",
                    )
                )
    if session.errors:
        raise combine(session.errors)
    unread = [name for name in function.constants if name not in session.constants_read]
    if unread:
        raise UsageError(
            "autotune",
            f"{function.name} does not read {unread[0]}, which pl.autotune gives it",
            remedy="take it out of pl.autotune, or use it; a parameter's shape cannot depend on it",
        )
    returned = frame.returned if isinstance(frame.returned, (tuple, list)) else [frame.returned]
    attrs = {"returns": tuple(v.name for v in returned)} if frame.returned is not None else {}
    host = Function(function.name, "host", params, dims, Block((), tuple(session.builder.ops)), attrs, frame.loc(node))
    program = Program(function.name, "tensor", (host,))
    verify(program)
    return program


__all__ = ["OPERATIONS", "CompileErrors", "parse"]
