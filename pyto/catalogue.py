"""What every error id means: one line on its cause, one on what to do. `docs/errors.md` and `pyto explain` show it."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    cause: str
    remedy: str


def _entries(text: str) -> dict[str, Entry]:
    """`id | cause | remedy` a line."""
    found = {}
    for line in text.strip().splitlines():
        id, cause, remedy = (part.strip() for part in line.split(" | "))
        assert id not in found, id
        found[id] = Entry(cause, remedy)
    return found


ENTRIES = _entries("""
accumulator-reused | An accumulator of the cube was changed and its old value is used after that. | Multiply into a second accumulator, or store the first before it changes.
accumulator-window | A part of an accumulator was taken or handed on where the fractals of L0C do not allow it. | Use an accumulator for each part, or hand on the whole tile.
alignment | A place inside a tile does not start at a multiple of 32 bytes. | Start there at a multiple of 32 bytes; offsets in tensors are free.
assertion | A pl.static_assert, or an assert that is known to fail, does not hold. | Change the constants that it is about.
autotune | pl.autotune was not given lists of constants, or decorates no kernel. | @pl.autotune(TILE=[32, 64]) above @pl.jit.
bad-argument | An argument of a function of pl has a value, or a name, that it does not take. | See the signature that the message shows.
bad-index | A subscript is no integer and no slice of integers. | Index with integers and a:b.
bad-loop | A loop runs over something that is no loop of the language. | for i in pl.range(...), pl.parallel, pl.pipeline, pl.unroll or pl.spmd.
bad-return | A kernel returns what is none of its outputs. | Return an output, or a tensor that the kernel made.
bad-signature | A parameter's annotation says nothing that a kernel can take. | pl.Tensor[[M, 64], pl.FP32], pl.Out[...], pl.InOut[...] or pl.Scalar[pl.INT32].
bad-target | An assignment or a loop has a target that the language does not know. | Assign to a plain name, or to a subscript of a tensor or tile.
build.cache | The folder of the build cache cannot be written. | Set PYTO_CACHE_DIR to a folder that you may write and that has room.
build.compiler-failed | The C++ compiler refused a source, or wrote nothing. | The message names the log; for generated sources report it, your own sources need mending.
build.compiler-start | The C++ compiler could not be started. | `pyto doctor` lists the compilers that work; CXX names the one to use.
build.duplicate-kernel | Two sources of one library define a kernel of the same name. | Give one of them another name.
build.kernel-type | A hand-written kernel has a type that Atlas A2/A3 do not have. | Use one of the types that the message lists.
build.name | A program's name is no C identifier. | Use letters, digits and underscores.
build.no-bisheng | A build for the NPU was asked for and CANN's compiler is not there. | Install CANN and source its set_env.sh, or build with --toolchain cxx.
build.no-cann-home | bisheng is there, CANN's headers and libraries are not. | Source CANN's set_env.sh.
build.no-compiler | No usable C++ compiler is there. | Install g++ 9 or clang 10 or later, or `pip install ziglang`; CXX names one.
build.no-simulator | The headers of the simulator are missing from the installation. | Install pyto again.
build.out-dir | The output folder cannot be written. | Name another folder with -o.
build.source-name | A source's name is no plain file name with an ending that pyto knows. | Use NAME.cpp, NAME_host.cpp or NAME.h.
build.toolchain | There is no toolchain of that name. | auto, bisheng or cxx.
column-copy | A column of a wide tensor was to be copied as it is, which the copy engine cannot. | Load whole rows of at least 32 bytes and slice on the core.
decorator | @pl.jit was put twice, or on something that is no function. | One @pl.jit on a `def`.
dim-conflict | One dimension would have two sizes in a call of an inlined function. | Pass tensors that agree, or name the dimensions apart.
division-by-zero | An index or a scalar is divided by zero. | Guard the divisor.
dtype-mismatch | Element types of operands, or of a tile and the tensor it goes to, differ. | pl.cast one of them.
dynamic-shape | A tile's shape depends on a value of run time. | Use a constant size: slices end where the tensor ends, and tiles carry a valid shape.
dynamic-workspace | The size of a workspace depends on more than the dims of the signature. | Make it as large as it can become.
early-return | A kernel returns inside a loop or region. | Return at the end; guard what follows with `if`.
empty-slice | A slice holds no element whatever the sizes are. | Check its bounds.
endless | A loop that never ends: its step is 0, or its condition is always true. | Change a value that the condition reads.
host-loop | Host code hands values from one iteration of a loop to the next. | Put the loop into the region.
host-read | Host code reads an element of a tensor, which is in device memory. | Read it in a region, or pass it as a scalar argument.
inline-call | Python calls a @pl.jit.inline function. | Call it in a kernel.
internal | A check of pyto's own failed. | Report it: it is a fault of pyto.
internal.unexpected | pyto met an exception that it did not expect. | Report it with the log that the message names.
launch.arguments | A call has too many, too few or misnamed arguments. | See the signature that the message shows.
launch.assertion | A pl.assert_ does not hold while the interpreter runs. | The message names the line and the values.
launch.contiguous | A tensor's memory is not one row-major block. | x.contiguous(), np.ascontiguousarray(x), or x.resolve_neg().
launch.device | Tensors lie on different devices, or on one that pyto does not run on. | Put all of them on the cpu or on one npu.
launch.dim | Two arguments give one dimension different sizes, or none gives it one. | Pass tensors that agree.
launch.dtype | An array's element type is not the declared one. | Convert it as the message says.
launch.empty | A dimension is 0: there is nothing to compute. | Skip the call.
launch.failed | The kernel stopped: the simulator or the device reports why, and at which line. | The message names the instruction and the Python line.
launch.load | A built library cannot be loaded. | Build it for this machine; one for the NPU needs CANN's set_env.sh.
launch.no-memory | A tensor has no memory of its own: fake, sparse, nested, or inside torch.func. | Pass a dense tensor.
launch.no-torch-npu | A tensor is on an NPU and torch_npu is not imported. | import torch_npu.
launch.not-a-tensor | An argument is no numpy array and no torch tensor. | np.asarray(...) or torch.as_tensor(...).
launch.overlap | An output shares memory with another argument. | Give every output memory of its own.
launch.rank | A tensor has another number of axes than declared. | Reshape it.
launch.read-only | An output is a read-only array. | Pass a writable one.
launch.scalar | A scalar argument has the wrong kind, or does not fit its type. | Pass a number in the range of the declared type.
launch.shape | A tensor's axis has another size than declared. | Pass a tensor of the declared shape.
limit | A count is beyond what an instruction of the chip takes. | Use smaller pieces.
load.exception | A file raised an exception while pyto imported it to find its kernels. | Put other code under `if __name__ == '__main__':`.
load.syntax | A file is not Python. | Mend the line that the message shows.
loop-carried | A value changes its shape, type or kind from one iteration to the next, or from an initial value to the first. | Keep it the same in all iterations, or use two names.
lost-write | An inlined function assigns elements of a tile that it was given, which changes nothing for its caller. | Return the tile.
manifest | A program's description (NAME.json) is not what pyto wrote. | Build the program again.
matmul-operand | An operand of a matmul is no slice of a tensor. | Store it to a workspace in an earlier region and load it from there.
memory-overflow | The tiles that are alive together are larger than an on-chip memory. | Make tiles smaller, or pl.pipeline's stage; the message lists them.
misplaced | A loop, region or yield stands where a value is needed. | for i in pl.range(...):, with pl.at(...):
mixed-region | Cube and vector work of one region cannot be split between the cores as it is written. | Make it two regions with a workspace between them.
name-clash | Two things of a signature have one name. | Rename one.
negative-index | An index or offset is negative. | Count from the start: pl.tensor.dim(x, 0) - 1 is the last.
nested-region | A region stands inside a region. | End the first, or make the inner one part of it.
no-effect | A statement computes something and drops it. | Assign it, or remove it.
no-source | A kernel's Python source cannot be read. | Define it in a file.
no-value | The value of a call that returns nothing is used. | Call it as a statement, or let it return something.
not-2d | A tile would have more than two axes. | Take windows with two axes longer than 1, or reshape.
not-a-kernel | Something that is no kernel was given to the compiler. | A function decorated with @pl.jit.
not-constant | A compile-time value is needed. | Use a constant, a closure's value or a global.
not-writable | Something is stored to an input. | Declare it pl.Out or pl.InOut.
not-written | A pl.Out parameter is never written. | Store to it, or declare it an input.
op-dtype | An operation is not defined for an element type. | pl.cast before it; docs/ops.md lists the types of every operation.
operand-kind | An operand is of the wrong kind: a tensor for a tile, a tile for a scalar. | Load tensors: x[a:b, c:d]; see the message.
out-of-bounds | A window lies outside of its tensor or tile. | Check its offsets.
out-of-range | A number does not fit its type. | Use a wider type or a smaller number.
outside-kernel | Python calls a function of pl. | Call it in a function decorated with @pl.jit, and call that function.
outside-region | A tile operation stands in host code. | Put it into `with pl.at(level=pl.Level.CORE_GROUP):` or a pl.spmd loop.
outside-spmd | pl.get_block_idx() stands outside of every pl.spmd. | with pl.spmd(n):
parallel-carry | Iterations of a parallel loop hand values on. | Use pl.range, or atomic=pl.AtomicType.Add.
partial-reshape | A tile that is valid in part would be reshaped. | Reshape before slicing, or pl.fillpad first.
partial-tile | A tile that is valid in part of its columns goes where whole rows are needed. | pl.fillpad first, or slice it.
pto.attribute | IR text: a value that no attribute has. | See docs/pto.md.
pto.conversion | IR text: a type around something that is no constant and no operation. | Put the type around the operation.
pto.direction | IR text: a parameter is neither in, out nor inout. | Use one of them.
pto.dtype | IR text: no such element type. | See docs/pto.md.
pto.duplicate | IR text: a name or attribute stands there twice. | Rename or remove one.
pto.function | IR text: no such scalar operation, or not with that many operands. | See docs/pto.md.
pto.invalid | IR text: the program breaks a rule of its stage. | Compare it with what `pyto ir` prints.
pto.name | IR text: a name cannot be one in C++. | Use another.
pto.number | IR text: a number that no type holds. | Use a smaller one.
pto.operation | IR text: no such operation. | docs/pto.md and docs/ops.md list them.
pto.scalar | IR text: a tile or tensor where a scalar is needed. | Use a scalar.
pto.space | IR text: no such memory. | gm, ub, l1, l0a, l0b or l0c.
pto.string | IR text: a string with an escape that JSON does not know. | Write it as in JSON.
pto.syntax | IR text: the grammar expects something else. | The message says what.
pto.too-deep | IR text: it nests too deeply. | Name parts of expressions.
pto.type | IR text: a type is missing, or none. | See docs/pto.md.
pto.undefined | IR text: a name is not defined here. | Define it before.
pto.unsupported | IR text: valid, but nothing that a front end makes, and a pass cannot take it. | Compare it with what `pyto ir --after` prints of a Python kernel.
pto.view | IR text: a window of something that is no buffer. | See docs/pto.md.
python-error | A Python expression that is evaluated at compile time raised an exception. | The message says which.
rank-mismatch | A list has not one entry an axis. | Give as many as the tensor has axes.
read-before-write | A pl.Out parameter or a workspace is read before anything was written to it. | Write first, or declare it pl.InOut.
recursion | An inlined function calls itself. | Use a loop.
shape-mismatch | Shapes of operands, or of a tile and its window, differ. | Make them agree; row_expand and col_expand operations spread a column or a row.
slice-step | A slice has a step. | Take whole slices.
too-deep | A kernel nests too deeply. | Give parts of expressions names of their own.
too-long | pl.unroll would write out too many iterations. | Use pl.range.
unbound-dim | A dimension is no whole axis of any tensor, so nothing gives it a size. | Make it an axis of a parameter.
undefined-name | A name has no value here: never assigned, or in one branch only. | Assign it before this line on every path.
unknown-attribute | There is no such name. | The message suggests one that is close.
unknown-dim | A dimension that no parameter has. | Give a tensor parameter that dimension.
unknown-name | pl.jit has no such name. | @pl.jit or @pl.jit.inline.
unpack | A tuple is taken apart into another number of names. | Use as many names as values.
unsupported | A part of the language that pyto does not have. | The message says what to use instead.
unsupported-python | A part of Python that is not part of the language. | Compute it outside the kernel, or write it with functions of pl.
usage.chip | There is no chip of that name. | ascend910b2, ascend910b3, ascend910b4 or ascend910c.
usage.dim | A size on the command line is missing, no number, or too large. | --dim NAME=SIZE.
usage.dump | The folder of --dump cannot be written. | Name another.
usage.environment | An environment variable holds something that it cannot mean. | Set it right, or unset it.
usage.error | There is no error of that id. | `pyto explain` lists them.
usage.input | A value for a parameter is missing, unreadable or of the wrong type. | --input NAME=FILE.npy, --input NAME=NUMBER, or --seed.
usage.kernel | A file has no kernel of that name, none at all, or more than one. | PATH:NAME.
usage.manifest | NAME.json cannot be read. | Build the program again.
usage.memory | There is no memory plan of that name. | auto, distinct or reuse.
usage.option | An option is not NAME=VALUE, or given twice. | See --help.
usage.out-dir | A folder cannot be written. | Name another.
usage.pass | There is no pass of that name. | `pyto ir --list` shows them.
usage.path | There is no such file or folder, or it holds nothing that pyto reads. | Name a .py or .pto file, or a folder.
""")  # noqa: E501


def explain(id: str) -> str:
    """The entry of an id as text."""
    entry = ENTRIES[id]
    return f"{id}\n  cause:  {entry.cause}\n  remedy: {entry.remedy}"


__all__ = ["ENTRIES", "Entry", "explain"]
