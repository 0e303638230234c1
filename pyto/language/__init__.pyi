# Written by `python -m pyto.language.stubs` from the op table: do not edit.
# ruff: noqa
# fmt: off
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, overload

from pyto.errors import CompileError as CompileError
from pyto.errors import PytoError as PytoError
from pyto.errors import UsageError as UsageError
from pyto.ir.nodes import DType as DType
from pyto.language.annotations import DynVar as DynVar
from pyto.language.annotations import InOut as InOut
from pyto.language.annotations import Out as Out
from pyto.language.annotations import Scalar as Scalar
from pyto.language.annotations import dynamic as dynamic
from pyto.language.enums import AtomicType as AtomicType
from pyto.language.enums import Level as Level
from pyto.language.enums import MaskPattern as MaskPattern
from pyto.language.enums import MemorySpace as MemorySpace
from pyto.language.enums import PadValue as PadValue
from pyto.language.enums import SplitMode as SplitMode
from pyto.language.enums import TensorLayout as TensorLayout
from pyto.language.autotune import autotune as autotune
from pyto.language.enums import FunctionType as FunctionType
from pyto.language.enums import Role as Role
from pyto.language.jit import JitFunction as JitFunction
from pyto.language.jit import JitProgram as JitProgram
from pyto.language.jit import function as function
from pyto.language.jit import inline as inline
from pyto.language.jit import program as program

FP32: DType
FP16: DType
BF16: DType
INT8: DType
INT16: DType
INT32: DType
INT64: DType
UINT8: DType
UINT16: DType
UINT32: DType
BOOL: DType
INDEX: DType
TASK_ID: Any
array: Any
Mem = MemorySpace

class Tensor:
    """A row-major tensor in device memory: `pl.Tensor[[rows, columns], pl.FP32]`; bare on inline functions: any."""
    shape: list[Any]
    dtype: DType
    def __class_getitem__(cls, item: Any) -> Any: ...
    def __getitem__(self, index: Any) -> Any: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...

class Tile:
    """A tile on a core; on parameters of inline functions: `pl.Tile[[rows, columns], pl.FP32]`."""
    shape: list[int]
    dtype: DType
    def __class_getitem__(cls, item: Any) -> Any: ...
    def __getitem__(self, index: Any) -> Tile: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...
    def __add__(self, other: Any) -> Tile: ...
    def __radd__(self, other: Any) -> Tile: ...
    def __sub__(self, other: Any) -> Tile: ...
    def __rsub__(self, other: Any) -> Tile: ...
    def __mul__(self, other: Any) -> Tile: ...
    def __rmul__(self, other: Any) -> Tile: ...
    def __truediv__(self, other: Any) -> Tile: ...
    def __rtruediv__(self, other: Any) -> Tile: ...
    def __matmul__(self, other: Any) -> Tile: ...
    def __neg__(self) -> Tile: ...

class _Jit:
    """Decorator of kernels: `@pl.jit`. `@pl.jit.inline` is for functions that kernels call."""
    @overload
    def __call__(self, fn: Callable[..., Any], *, auto_scope: bool = True) -> JitFunction: ...
    @overload
    def __call__(self, fn: None = None, *, auto_scope: bool = True) -> Callable[[Callable[..., Any]], JitFunction]: ...
    @overload
    def inline(self, fn: Callable[..., Any], *, auto_scope: bool = True) -> JitFunction: ...
    @overload
    def inline(self, fn: None = None, *, auto_scope: bool = True) -> Callable[[Callable[..., Any]], JitFunction]: ...
    @overload
    def incore(self, fn: Callable[..., Any], *, level: Any = None) -> JitFunction: ...
    @overload
    def incore(self, fn: None = None, *, level: Any = None) -> Callable[[Callable[..., Any]], JitFunction]: ...
    @overload
    def opaque(self, fn: Callable[..., Any], *, auto_scope: bool = True) -> JitFunction: ...
    @overload
    def opaque(self, fn: None = None, *, auto_scope: bool = True) -> Callable[[Callable[..., Any]], JitFunction]: ...

jit: _Jit

def split(mode: SplitMode, *, slot_num: int | None = None) -> Any:
    """A hint for `optimizations=[...]`: accepted, never needed for a right result."""
def cross_core_slot(*, slot_num: int) -> Any:
    """A hint for `optimizations=[...]`: accepted, never needed for a right result."""
def add(lhs: Any, rhs: Any) -> Any:
    """lhs + rhs; rhs a tile of the same shape or a scalar."""
def sub(lhs: Any, rhs: Any) -> Any:
    """lhs - rhs."""
def mul(lhs: Any, rhs: Any) -> Any:
    """lhs * rhs."""
def div(lhs: Any, rhs: Any, high_precision: bool = False, fast: bool = False) -> Any:
    """lhs / rhs, correctly rounded in fp32; fast=True: by Reciprocal, an approximation."""
def maximum(lhs: Any, rhs: Any) -> Any:
    """The larger of lhs and rhs."""
def minimum(lhs: Any, rhs: Any) -> Any:
    """The smaller of lhs and rhs."""
def neg(input: Any) -> Any:
    """-input."""
def abs(input: Any) -> Tile:
    """|input|; the lowest value of a signed type stays as it is."""
def relu(input: Any) -> Tile:
    """max(input, 0)."""
def lrelu(input: Any, slope: Any) -> Tile:
    """input where it is not negative, else slope * input."""
def exp(input: Any) -> Tile:
    """e to the input."""
def log(input: Any, high_precision: bool = False) -> Tile:
    """Natural logarithm."""
def sqrt(input: Any) -> Tile:
    """Square root."""
def rsqrt(input: Any, high_precision: bool = False, fast: bool = False) -> Tile:
    """1 / sqrt(input), by Sqrt and Div; fast=True: the chip's Rsqrt, an approximation."""
def recip(input: Any, high_precision: bool = False, fast: bool = False) -> Tile:
    """1 / input, by Div; fast=True: the chip's Reciprocal, an approximation."""
def square(input: Any) -> Tile:
    """input * input."""
def sigmoid(input: Any) -> Tile:
    """1 / (1 + exp(-input))."""
def cast(input: Any, target_type: DType, mode: Any = 'rint') -> Any:
    """Another element type: to floats rounding to nearest even, to integers saturating, NaN to 0 (mode: rint, round, floor, ceil, trunc, or their numbers 1 to 5; none is rint), to bool whether it is not zero."""
def and_(lhs: Any, rhs: Any) -> Any:
    """lhs & rhs, bit by bit; of bools: both."""
def or_(lhs: Any, rhs: Any) -> Any:
    """lhs | rhs, bit by bit; of bools: one of them or both."""
def not_(input: Any) -> Any:
    """~input: every bit the other way; of bools: not."""
def xor(lhs: Any, rhs: Any, tmp: Any = None) -> Any:
    """lhs ^ rhs, bit by bit; of bools: just one of them."""
def shl(lhs: Any, rhs: Any) -> Any:
    """lhs shifted left by rhs bits; rhs counts modulo the width."""
def shr(lhs: Any, rhs: Any) -> Any:
    """lhs shifted right by rhs bits (signed types keep their sign); rhs counts modulo the width."""
def row_expand_expdif(lhs: Any, rhs: Any) -> Tile:
    """exp(lhs - rhs), rhs a column broadcast over lhs."""
def col_expand_expdif(lhs: Any, rhs: Any) -> Tile:
    """exp(lhs - rhs), rhs a row broadcast over lhs."""
def row_expand(lhs: Any, rhs: Any) -> Tile:
    """The column rhs [R, 1] repeated over the columns of a tile of the shape of lhs."""
def col_expand(lhs: Any, rhs: Any) -> Tile:
    """The row rhs [1, C] repeated over the rows of a tile of the shape of lhs."""
def row_expand_add(lhs: Any, rhs: Any, tmp: Any = None) -> Tile:
    """add of lhs [R, C] and the column rhs [R, 1] broadcast over the columns."""
def col_expand_add(lhs: Any, rhs: Any) -> Tile:
    """add of lhs [R, C] and the row rhs [1, C] broadcast over the rows."""
def row_expand_sub(lhs: Any, rhs: Any) -> Tile:
    """sub of lhs [R, C] and the column rhs [R, 1] broadcast over the columns."""
def col_expand_sub(lhs: Any, rhs: Any) -> Tile:
    """sub of lhs [R, C] and the row rhs [1, C] broadcast over the rows."""
def row_expand_mul(lhs: Any, rhs: Any) -> Tile:
    """mul of lhs [R, C] and the column rhs [R, 1] broadcast over the columns."""
def col_expand_mul(lhs: Any, rhs: Any) -> Tile:
    """mul of lhs [R, C] and the row rhs [1, C] broadcast over the rows."""
def row_expand_div(lhs: Any, rhs: Any) -> Tile:
    """div of lhs [R, C] and the column rhs [R, 1] broadcast over the columns."""
def col_expand_div(lhs: Any, rhs: Any) -> Tile:
    """div of lhs [R, C] and the row rhs [1, C] broadcast over the rows."""
def row_expand_max(lhs: Any, rhs: Any) -> Tile:
    """maximum of lhs [R, C] and the column rhs [R, 1] broadcast over the columns."""
def col_expand_max(lhs: Any, rhs: Any) -> Tile:
    """maximum of lhs [R, C] and the row rhs [1, C] broadcast over the rows."""
def row_expand_min(lhs: Any, rhs: Any) -> Tile:
    """minimum of lhs [R, C] and the column rhs [R, 1] broadcast over the columns."""
def col_expand_min(lhs: Any, rhs: Any) -> Tile:
    """minimum of lhs [R, C] and the row rhs [1, C] broadcast over the rows."""
def transpose(input: Any, axis1: Any, axis2: Any, tmp_tile: Any = None) -> Tile:
    """Rows become columns: [R, C] -> [C, R]."""
def concat(src0: Any, src1: Any) -> Tile:
    """The columns of src0, then those of src1."""
def arange(start: Any, shape: Any, dtype: DType | None = None, descending: bool = False) -> Tile:
    """start, start + 1, ... as a row [1, N] of integers (int32 unless dtype says); start - 1, ... if descending."""
def sort32(src: Any, idx: Any) -> Tile:
    """Each 32 columns of src sorted, largest first, with their indices: [R, C] -> [R, 2 C] of (value, index) pairs; equal values keep their order. The bits of an index stand in the place of an fp32: see pl.gather_mask."""
def mrgsort(src0: Any, src1: Any = None, src2: Any = None, src3: Any = None, tmp: Any = None, exhausted: bool = False, *, block_len: Any = None) -> Tile:
    """Sorted pairs merged: each four runs of block_len columns to one run, or the rows of two to four tiles."""
def gather(input: Any, dim: Any = None, index: Any = None, *, mask_pattern: Any = None, output_dtype: Any = None, kvalue: Any = None, cmp_mode: Any = None, out_cols: Any = None, offset: Any = None, count_dtype: Any = None) -> Tile:
    """out[r, k] = input[r, index[r, k]]: elements of each row by index. By mask_pattern: see pl.gather_mask."""
def gather_mask(src: Any, mask_pattern: Any, *, output_dtype: Any = None) -> Tile:
    """The columns that a pattern marks (pl.tile.MaskPattern), side by side; output_dtype: their bits as that type."""
def gatherb(src: Any, offset: Any, *, output_dtype: Any = None) -> Tile:
    """Blocks of 32 bytes of src at byte offsets (multiples of 32): [R, C] offsets -> [R, C * 32 / element size]."""
def scatter(input: Any, dim: Any = None, index: Any = None, src: Any = None, *, mask_pattern: Any = None, dst: Any = None) -> Tile:
    """input with out[r, index[r, k]] = src[r, k], in order: the last of equal indices counts."""
def scatter_mask(dst: Any, src: Any, mask_pattern: Any) -> Tile:
    """dst with the columns of src in the columns that a pattern marks."""
def write(dst: Any, offset: Any, value: Any) -> Tile:
    """One element of a tile or of a tensor, in place."""
def addc(lhs: Any, rhs: Any, rhs2: Any) -> Tile:
    """lhs + rhs + rhs2, three tiles."""
def subc(lhs: Any, rhs: Any, rhs2: Any) -> Tile:
    """lhs - rhs - rhs2, three tiles."""
def addsc(lhs: Any, rhs: Any, rhs2: Any) -> Tile:
    """lhs + rhs + rhs2, rhs a scalar."""
def subsc(lhs: Any, rhs: Any, rhs2: Any) -> Tile:
    """lhs - rhs - rhs2, rhs a scalar."""
def prelu(input: Any, slope: Any, tmp: Any = None) -> Tile:
    """input where it is positive, else slope * input, slope a tile."""
def fmod(lhs: Any, rhs: Any) -> Tile:
    """The remainder of lhs / rhs with the sign of lhs; of floats exact while |lhs / rhs| < 4096; of integers by 0: lhs."""
def rem(lhs: Any, rhs: Any, tmp: Any = None) -> Tile:
    """The remainder of lhs / rhs with the sign of rhs; of floats exact while |lhs / rhs| < 4096; of integers by 0: lhs."""
def part_add(lhs: Any, rhs: Any) -> Tile:
    """add of two tiles where both are valid; where one is, that one."""
def part_mul(lhs: Any, rhs: Any) -> Tile:
    """mul of two tiles where both are valid; where one is, that one."""
def part_max(lhs: Any, rhs: Any) -> Tile:
    """maximum of two tiles where both are valid; where one is, that one."""
def part_min(lhs: Any, rhs: Any) -> Tile:
    """minimum of two tiles where both are valid; where one is, that one."""
def expand_clone(src: Any, target: Any) -> Tile:
    """src, a column, a row or one value, repeated over a tile of the shape of target."""
def expands(target: Any, scalar: Any) -> Tile:
    """A tile of the shape and type of target, filled with the scalar."""
def cmp(lhs: Any, rhs: Any, cmp_type: Any = 0) -> Tile:
    """Compares element by element (cmp_type: 0 ==, 1 !=, 2 <, 3 <=, 4 >, 5 >=; or the operators): 1 where it holds, else 0, in the element type of lhs. The operators give bools."""
def sel(mask: Any, lhs: Any, rhs: Any, tmp: Any = None) -> Tile:
    """lhs where mask is not zero, else rhs; one of the two may be a scalar."""
def matmul(lhs: Any, rhs: Any, out_dtype: DType | None = None, a_trans: bool = False, b_trans: bool = False, c_matrix_nz: bool = False) -> Tile:
    """lhs [M, K] times rhs [K, N] (transposed operands by flag), accumulated in fp32 (int8: int32)."""
def matmul_acc(acc: Any, lhs: Any, rhs: Any, a_trans: bool = False, b_trans: bool = False, init_cond: Any = None) -> Tile:
    """acc + lhs times rhs, in place; lhs times rhs alone where init_cond holds."""
def full(shape: Any, dtype: DType, value: Any) -> Tile:
    """A tile of one value."""
def create_tensor(shape: Any, dtype: DType, layout: Any = None, manual_dep: bool = False, init_value: Any = None, target_memory: Any = None) -> Tile:
    """Outside regions a workspace in device memory, inside a tile; the contents are undefined."""
def load(tensor: Any, offsets: Any, shapes: Any, valid_shape: Any = None, target_memory: Any = None, clamp: bool = False) -> Tile:
    """A window of a tensor as a tile; past the end of the tensor the tile is not valid."""
def store(tile: Any, offsets: Any, output_tensor: Any, shapes: Any = None, *, atomic: Any = None) -> Tile:
    """Writes the valid part of a tile to a tensor at the offsets; returns the tensor."""
def slice(input: Any, shape: Any, offset: Any, valid_shape: Any = None, drop_dims: Any = None, pad_value: Any = None, clamp: bool = False) -> Tile:
    """A window of a tensor (loaded) or of a tile, as a tile."""
def assemble(target: Any, source: Any, offset: Any, *, atomic: Any = None) -> Tile:
    """Writes a tile into a tensor (in place; returns it) or into a tile (returns the new tile)."""
def reshape(input: Any, shape: Any) -> Tile:
    """The same elements as a tile of another shape."""
def set_validshape(input: Any, valid_rows: Any, valid_cols: Any) -> Tile:
    """The tile with a smaller valid shape."""
def read(src: Any, offset: Any) -> Tile:
    """One element of a tensor or tile as a scalar."""
def row_sum(input: Any, tmp_tile: Any = None) -> Tile:
    """sum over the valid columns: [R, C] -> [R, 1]; 16-bit floats are summed in fp32."""
def col_sum(input: Any, tmp_tile: Any = None) -> Tile:
    """sum over the valid rows: [R, C] -> [1, C]; 16-bit floats are summed in fp32."""
def row_max(input: Any, tmp_tile: Any = None) -> Tile:
    """max over the valid columns: [R, C] -> [R, 1]."""
def col_max(input: Any, tmp_tile: Any = None) -> Tile:
    """max over the valid rows: [R, C] -> [1, C]."""
def row_min(input: Any, tmp_tile: Any = None) -> Tile:
    """min over the valid columns: [R, C] -> [R, 1]."""
def col_min(input: Any, tmp_tile: Any = None) -> Tile:
    """min over the valid rows: [R, C] -> [1, C]."""
def row_prod(input: Any, tmp_tile: Any = None) -> Tile:
    """prod over the valid columns: [R, C] -> [R, 1]; 16-bit floats are multiplied in fp32."""
def col_prod(input: Any, tmp_tile: Any = None) -> Tile:
    """prod over the valid rows: [R, C] -> [1, C]; 16-bit floats are multiplied in fp32."""
def row_argmax(input: Any, tmp_tile: Any = None) -> Tile:
    """Where the max over the valid columns is, as int32; of equals the first."""
def col_argmax(input: Any, tmp_tile: Any = None) -> Tile:
    """Where the max over the valid rows is, as int32; of equals the first."""
def row_argmin(input: Any, tmp_tile: Any = None) -> Tile:
    """Where the min over the valid columns is, as int32; of equals the first."""
def col_argmin(input: Any, tmp_tile: Any = None) -> Tile:
    """Where the min over the valid rows is, as int32; of equals the first."""
def range(*bounds: Any, init_values: Any = None) -> Iterator[Any]:
    """Loop of a kernel: (stop), (start, stop) or (start, stop, step)."""
def parallel(*bounds: Any, init_values: Any = None) -> Iterator[Any]:
    """Loop of independent iterations, spread over the cores outside regions."""
def pipeline(*bounds: Any, stage: Any = 2, init_values: Any = None) -> Iterator[Any]:
    """Loop whose loads run `stage` - 1 iterations ahead; means the same as pl.range."""
def unroll(*bounds: Any) -> Iterator[int]:
    """Loop with compile-time bounds, written out iteration by iteration."""
def spmd(core_num: Any, *, sync_start: bool = False, name_hint: str = '', optimizations: Any = None, deps: Any = None, allow_early_resolve: bool = False, predicate: Any = None) -> Any:
    """`for i in pl.spmd(n)`: n independent regions, i from 0 to n - 1. `with pl.spmd(n)`: i is pl.get_block_idx()."""
def at(level: Level | None = None, role: Any = None, *, optimizations: Any = None, deps: Any = None, no_dep_args: Any = None, dumps: Any = None, allow_early_resolve: bool = False, name_hint: str = '', windowize: bool = False) -> AbstractContextManager[Any]:
    """`with pl.at(level=pl.Level.CORE_GROUP)`: a region, work of one core."""
def yield_(*values: Any) -> Any:
    """Ends the body of a loop with `init_values`: the values of the next iteration; or a branch of an `if`."""
def matmul_bias(lhs: Any, rhs: Any, bias: Any) -> Any:
    """lhs [M, K] times rhs [K, N] plus the row bias [1, N], of the product's type."""
def gemv(lhs: Any, rhs: Any, acc_phase: Any = 'unspecified') -> Any:
    """matmul of one row: lhs [1, K] times rhs [K, N]."""
def gemv_acc(acc: Any, lhs: Any, rhs: Any, acc_phase: Any = 'unspecified') -> Any:
    """acc [1, N] + lhs [1, K] times rhs [K, N]."""
def gemv_bias(lhs: Any, rhs: Any, bias: Any, acc_phase: Any = 'unspecified') -> Any:
    """lhs [1, K] times rhs [K, N] plus bias [1, N]."""
def dim(tensor: Any, axis: Any) -> Any:
    """The size of an axis, as an integer."""
def sels(mask: Any, src: Any, tmp: Any = None, scalar: Any = 0) -> Any:
    """src where mask is not zero, else the scalar."""
def min(lhs: Any, rhs: Any) -> Any:
    """The smaller of two scalars."""
def max(lhs: Any, rhs: Any) -> Any:
    """The larger of two scalars."""
def const(value: Any, dtype: DType) -> Any:
    """A scalar of the given type."""
def get_block_idx() -> Any:
    """The index of the region in the innermost `pl.spmd`."""
def print(*values: Any) -> Any:
    """Text and values (scalars, tiles) on the device's log, line by line; a core at a time."""
def assert_(condition: Any, msg: Any = '') -> Any:
    """Stops the kernel where a condition does not hold, naming the line and the values; like Python's `assert`."""
def static_assert(condition: Any, msg: Any = '') -> None:
    """Refuses to compile where a compile-time condition does not hold."""
def fillpad(value: Any, pad_value: Any = 0) -> Any:
    """The tile with pad_value (a pl.PadValue) in its lanes that are not valid."""
def fillpad_inplace(value: Any, pad_value: Any = 0) -> Any:
    """The same as pl.fillpad."""
def fillpad_expand(value: Any, shape: Any, pad_value: Any = 0) -> Any:
    """A larger tile: the valid part of this one, then pad_value."""
def gather_flat(src: Any, indices: Any, tmp: Any = None) -> Any:
    """out[r, k] = the element of src at indices[r, k], counted row by row."""
def gather_row(acc: Any, src: Any, dst_offset: Any, src_offset: Any, shapes: Any, transpose: bool = False, *, valid_shape: Any = None) -> Any:
    """The tile with a window of a tensor at dst_offset."""
def scatter_flat(dst: Any, src: Any, indexes: Any) -> Any:
    """dst with src[r, k] at indexes[r, k], counted row by row."""
def scatter_update(input: Any, *operands: Any, dim: Any = None, index: Any = None, src: Any = None) -> Any:
    """Rows of src to the rows of a tensor or tile that the index names; the last of equal indices counts."""
def mgather(mem: Any, idx: Any, coalesce: Any = 'row', *, gather_oob: Any = 'undefined', target_memory: Any = None, scratch: Any = None, valid_shape: Any = None) -> Any:
    """The rows of a tensor that idx names as a tile, or with coalesce='elem' its elements, counted in order."""
def paged_gather(src: Any, indices: Any, block_table: Any, block_size: Any, size: Any, max_indices: Any, *, space: Any = None, col_off: Any = 0, is_trans: bool = False, is_b_matrix: bool = False) -> Any:
    """Rows of a pool of pages as a tile: row block_table[i // block_size] * block_size + i % block_size for each index i."""
def mscatter(src: Any, idx: Any, output_tensor: Any) -> Any:
    """Elements of a tile to a tensor by index."""
def move(tile: Any, target_memory: Any = None, blayout: Any = None, slayout: Any = None) -> Any:
    """The tile itself: pyto places tiles in memories."""
def create_l1(shape: Any, dtype: DType, transpose: bool = False) -> Any:
    """A tile whose lanes are undefined: pyto places tiles in memories."""
def transpose_view(tile: Any) -> Any:
    """A tile read with rows and columns exchanged, for an operand of pl.matmul."""
def while_(*, init_values: Any) -> Any:
    """`for (a, b) in pl.while_(init_values=(x, y))`: goes on while the pl.cond that begins the body holds."""
def cond(condition: Any) -> Any:
    """The first statement of a pl.while_ loop: the condition to go on."""
def static_print(*values: Any) -> Any:
    """Shows values and types when the kernel is compiled."""
def func_attr(attrs: Any) -> Any:
    """Attributes of a function: hints, accepted and never needed."""
def get_block_num() -> Any:
    """The number of regions of the innermost `pl.spmd`."""
def manual_scope() -> Any:
    """`with pl.manual_scope()`: a hint; the order of the statements holds."""
def scope(*, mode: Any = None) -> Any:
    """`with pl.scope()`: a hint; the order of the statements holds."""
def cluster(*, name_hint: str = '') -> Any:
    """`with pl.cluster()`: a hint; cores are chosen for each region."""
def incore(*, name_hint: str = '') -> Any:
    """`with pl.incore()`: a region, the same as pl.at on a core group."""
def submit(*call: Any, deps: Any = None, allow_early_resolve: bool = False, dumps: Any = None, no_dep_args: Any = None) -> Any:
    """`out, task = pl.submit(function, *arguments)`: the call, and a task id for `deps`, which is a hint."""
def no_dep(tensor: Any) -> Any:
    """The tensor itself: a hint."""
def dump_tag(*tensors: Any) -> Any:
    """A hint for tools of other compilers: changes nothing."""
def task_array(size: Any, dtype: DType | None = None) -> Any:
    """Task ids for `deps`: hints, accepted and never needed."""
def task_dummy(*, deps: Any = None) -> Any:
    """A task id for `deps`: a hint, accepted and never needed."""
def task_invalid() -> Any:
    """A task id for `deps`: a hint, accepted and never needed."""
def gather_compare(*args: Any) -> Any:
    """Not supported yet."""
def reinterpret_view(*args: Any) -> Any:
    """Not supported yet."""
def tri(*args: Any) -> Any:
    """Not supported yet."""
def spmd_submit(*args: Any) -> Any:
    """Not supported yet."""
def split_aiv(*args: Any) -> Any:
    """Not supported yet."""
def get_subblock_idx(*args: Any) -> Any:
    """Not supported yet."""
def extract(*args: Any) -> Any:
    """Not supported yet."""
def sin(*args: Any) -> Any:
    """Not supported: the chip has no instruction for it, and none of it is accurate for large arguments; compute it on the host."""
def cos(*args: Any) -> Any:
    """Not supported: the chip has no instruction for it, and none of it is accurate for large arguments; compute it on the host."""
def random(*args: Any) -> Any:
    """Not supported: results would differ from run to run; make the numbers on the host."""
def batch_matmul(*args: Any) -> Any:
    """Not supported: tiles have two axes; loop over the batch with pl.parallel or pl.range, and pl.matmul each."""
def batch_matmul_acc(*args: Any) -> Any:
    """Not supported: tiles have two axes; loop over the batch with pl.range, and pl.matmul_acc each."""
def matmul_mx(*args: Any) -> Any:
    """Not supported: the chip has no MX formats."""
def matmul_mx_acc(*args: Any) -> Any:
    """Not supported: the chip has no MX formats."""
def matmul_mx_bias(*args: Any) -> Any:
    """Not supported: the chip has no MX formats."""
def tpush_to_aiv(*args: Any) -> Any:
    """Not supported: pyto places the hand-over between cube and vector cores itself."""
def tpush_to_aic(*args: Any) -> Any:
    """Not supported: pyto places the hand-over between cube and vector cores itself."""
def tpop_from_aic(*args: Any) -> Any:
    """Not supported: pyto places the hand-over between cube and vector cores itself."""
def tpop_from_aiv(*args: Any) -> Any:
    """Not supported: pyto places the hand-over between cube and vector cores itself."""
def tfree_to_aic(*args: Any) -> Any:
    """Not supported: pyto places the hand-over between cube and vector cores itself."""
def tfree_to_aiv(*args: Any) -> Any:
    """Not supported: pyto places the hand-over between cube and vector cores itself."""
def alloc(*args: Any) -> Any:
    """Not supported: pyto plans the memory itself."""
def reserve_buffer(*args: Any) -> Any:
    """Not supported: pyto plans the memory itself."""
def import_peer_buffer(*args: Any) -> Any:
    """Not supported: pyto plans the memory itself."""
def sync_src(*args: Any) -> Any:
    """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
def sync_dst(*args: Any) -> Any:
    """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
def sync_set(*args: Any) -> Any:
    """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
def sync_wait(*args: Any) -> Any:
    """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
def syncall(*args: Any) -> Any:
    """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
def set_ffts(*args: Any) -> Any:
    """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
def bar_v(*args: Any) -> Any:
    """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
def bar_m(*args: Any) -> Any:
    """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
def bar_all(*args: Any) -> Any:
    """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
def adds(lhs: Any, rhs: Any) -> Any:
    """lhs + rhs; rhs a tile of the same shape or a scalar."""
def subs(lhs: Any, rhs: Any) -> Any:
    """lhs - rhs."""
def muls(lhs: Any, rhs: Any) -> Any:
    """lhs * rhs."""
def divs(lhs: Any, rhs: Any, high_precision: bool = False, fast: bool = False) -> Any:
    """lhs / rhs, correctly rounded in fp32; fast=True: by Reciprocal, an approximation."""
def maximums(lhs: Any, rhs: Any) -> Any:
    """The larger of lhs and rhs."""
def minimums(lhs: Any, rhs: Any) -> Any:
    """The smaller of lhs and rhs."""
def ands(lhs: Any, rhs: Any) -> Any:
    """lhs & rhs, bit by bit; of bools: both."""
def ors(lhs: Any, rhs: Any) -> Any:
    """lhs | rhs, bit by bit; of bools: one of them or both."""
def xors(lhs: Any, rhs: Any, tmp: Any = None) -> Any:
    """lhs ^ rhs, bit by bit; of bools: just one of them."""
def shls(lhs: Any, rhs: Any) -> Any:
    """lhs shifted left by rhs bits; rhs counts modulo the width."""
def shrs(lhs: Any, rhs: Any) -> Any:
    """lhs shifted right by rhs bits (signed types keep their sign); rhs counts modulo the width."""
def ci(start: Any, shape: Any, dtype: DType | None = None, descending: bool = False) -> Tile:
    """start, start + 1, ... as a row [1, N] of integers (int32 unless dtype says); start - 1, ... if descending."""
def fmods(lhs: Any, rhs: Any) -> Tile:
    """The remainder of lhs / rhs with the sign of lhs; of floats exact while |lhs / rhs| < 4096; of integers by 0: lhs."""
def rems(lhs: Any, rhs: Any, tmp: Any = None) -> Tile:
    """The remainder of lhs / rhs with the sign of rhs; of floats exact while |lhs / rhs| < 4096; of integers by 0: lhs."""
def cmps(lhs: Any, rhs: Any, cmp_type: Any = 0) -> Tile:
    """Compares element by element (cmp_type: 0 ==, 1 !=, 2 <, 3 <=, 4 >, 5 >=; or the operators): 1 where it holds, else 0, in the element type of lhs. The operators give bools."""
def create(shape: Any, dtype: DType, layout: Any = None, manual_dep: bool = False, init_value: Any = None, target_memory: Any = None) -> Tile:
    """Outside regions a workspace in device memory, inside a tile; the contents are undefined."""
def create_tile(shape: Any, dtype: DType, layout: Any = None, manual_dep: bool = False, init_value: Any = None, target_memory: Any = None) -> Tile:
    """Outside regions a workspace in device memory, inside a tile; the contents are undefined."""

class _Functions:
    """The functions of `pl` under another name."""
    @staticmethod
    def add(lhs: Any, rhs: Any) -> Any:
        """lhs + rhs; rhs a tile of the same shape or a scalar."""
    @staticmethod
    def sub(lhs: Any, rhs: Any) -> Any:
        """lhs - rhs."""
    @staticmethod
    def mul(lhs: Any, rhs: Any) -> Any:
        """lhs * rhs."""
    @staticmethod
    def div(lhs: Any, rhs: Any, high_precision: bool = False, fast: bool = False) -> Any:
        """lhs / rhs, correctly rounded in fp32; fast=True: by Reciprocal, an approximation."""
    @staticmethod
    def maximum(lhs: Any, rhs: Any) -> Any:
        """The larger of lhs and rhs."""
    @staticmethod
    def minimum(lhs: Any, rhs: Any) -> Any:
        """The smaller of lhs and rhs."""
    @staticmethod
    def neg(input: Any) -> Any:
        """-input."""
    @staticmethod
    def abs(input: Any) -> Tile:
        """|input|; the lowest value of a signed type stays as it is."""
    @staticmethod
    def relu(input: Any) -> Tile:
        """max(input, 0)."""
    @staticmethod
    def lrelu(input: Any, slope: Any) -> Tile:
        """input where it is not negative, else slope * input."""
    @staticmethod
    def exp(input: Any) -> Tile:
        """e to the input."""
    @staticmethod
    def log(input: Any, high_precision: bool = False) -> Tile:
        """Natural logarithm."""
    @staticmethod
    def sqrt(input: Any) -> Tile:
        """Square root."""
    @staticmethod
    def rsqrt(input: Any, high_precision: bool = False, fast: bool = False) -> Tile:
        """1 / sqrt(input), by Sqrt and Div; fast=True: the chip's Rsqrt, an approximation."""
    @staticmethod
    def recip(input: Any, high_precision: bool = False, fast: bool = False) -> Tile:
        """1 / input, by Div; fast=True: the chip's Reciprocal, an approximation."""
    @staticmethod
    def square(input: Any) -> Tile:
        """input * input."""
    @staticmethod
    def sigmoid(input: Any) -> Tile:
        """1 / (1 + exp(-input))."""
    @staticmethod
    def cast(input: Any, target_type: DType, mode: Any = 'rint') -> Any:
        """Another element type: to floats rounding to nearest even, to integers saturating, NaN to 0 (mode: rint, round, floor, ceil, trunc, or their numbers 1 to 5; none is rint), to bool whether it is not zero."""
    @staticmethod
    def and_(lhs: Any, rhs: Any) -> Any:
        """lhs & rhs, bit by bit; of bools: both."""
    @staticmethod
    def or_(lhs: Any, rhs: Any) -> Any:
        """lhs | rhs, bit by bit; of bools: one of them or both."""
    @staticmethod
    def not_(input: Any) -> Any:
        """~input: every bit the other way; of bools: not."""
    @staticmethod
    def xor(lhs: Any, rhs: Any, tmp: Any = None) -> Any:
        """lhs ^ rhs, bit by bit; of bools: just one of them."""
    @staticmethod
    def shl(lhs: Any, rhs: Any) -> Any:
        """lhs shifted left by rhs bits; rhs counts modulo the width."""
    @staticmethod
    def shr(lhs: Any, rhs: Any) -> Any:
        """lhs shifted right by rhs bits (signed types keep their sign); rhs counts modulo the width."""
    @staticmethod
    def row_expand_expdif(lhs: Any, rhs: Any) -> Tile:
        """exp(lhs - rhs), rhs a column broadcast over lhs."""
    @staticmethod
    def col_expand_expdif(lhs: Any, rhs: Any) -> Tile:
        """exp(lhs - rhs), rhs a row broadcast over lhs."""
    @staticmethod
    def row_expand(lhs: Any, rhs: Any) -> Tile:
        """The column rhs [R, 1] repeated over the columns of a tile of the shape of lhs."""
    @staticmethod
    def col_expand(lhs: Any, rhs: Any) -> Tile:
        """The row rhs [1, C] repeated over the rows of a tile of the shape of lhs."""
    @staticmethod
    def row_expand_add(lhs: Any, rhs: Any, tmp: Any = None) -> Tile:
        """add of lhs [R, C] and the column rhs [R, 1] broadcast over the columns."""
    @staticmethod
    def col_expand_add(lhs: Any, rhs: Any) -> Tile:
        """add of lhs [R, C] and the row rhs [1, C] broadcast over the rows."""
    @staticmethod
    def row_expand_sub(lhs: Any, rhs: Any) -> Tile:
        """sub of lhs [R, C] and the column rhs [R, 1] broadcast over the columns."""
    @staticmethod
    def col_expand_sub(lhs: Any, rhs: Any) -> Tile:
        """sub of lhs [R, C] and the row rhs [1, C] broadcast over the rows."""
    @staticmethod
    def row_expand_mul(lhs: Any, rhs: Any) -> Tile:
        """mul of lhs [R, C] and the column rhs [R, 1] broadcast over the columns."""
    @staticmethod
    def col_expand_mul(lhs: Any, rhs: Any) -> Tile:
        """mul of lhs [R, C] and the row rhs [1, C] broadcast over the rows."""
    @staticmethod
    def row_expand_div(lhs: Any, rhs: Any) -> Tile:
        """div of lhs [R, C] and the column rhs [R, 1] broadcast over the columns."""
    @staticmethod
    def col_expand_div(lhs: Any, rhs: Any) -> Tile:
        """div of lhs [R, C] and the row rhs [1, C] broadcast over the rows."""
    @staticmethod
    def row_expand_max(lhs: Any, rhs: Any) -> Tile:
        """maximum of lhs [R, C] and the column rhs [R, 1] broadcast over the columns."""
    @staticmethod
    def col_expand_max(lhs: Any, rhs: Any) -> Tile:
        """maximum of lhs [R, C] and the row rhs [1, C] broadcast over the rows."""
    @staticmethod
    def row_expand_min(lhs: Any, rhs: Any) -> Tile:
        """minimum of lhs [R, C] and the column rhs [R, 1] broadcast over the columns."""
    @staticmethod
    def col_expand_min(lhs: Any, rhs: Any) -> Tile:
        """minimum of lhs [R, C] and the row rhs [1, C] broadcast over the rows."""
    @staticmethod
    def transpose(input: Any, axis1: Any, axis2: Any, tmp_tile: Any = None) -> Tile:
        """Rows become columns: [R, C] -> [C, R]."""
    @staticmethod
    def concat(src0: Any, src1: Any) -> Tile:
        """The columns of src0, then those of src1."""
    @staticmethod
    def arange(start: Any, shape: Any, dtype: DType | None = None, descending: bool = False) -> Tile:
        """start, start + 1, ... as a row [1, N] of integers (int32 unless dtype says); start - 1, ... if descending."""
    @staticmethod
    def sort32(src: Any, idx: Any) -> Tile:
        """Each 32 columns of src sorted, largest first, with their indices: [R, C] -> [R, 2 C] of (value, index) pairs; equal values keep their order. The bits of an index stand in the place of an fp32: see pl.gather_mask."""
    @staticmethod
    def mrgsort(src0: Any, src1: Any = None, src2: Any = None, src3: Any = None, tmp: Any = None, exhausted: bool = False, *, block_len: Any = None) -> Tile:
        """Sorted pairs merged: each four runs of block_len columns to one run, or the rows of two to four tiles."""
    @staticmethod
    def gather(input: Any, dim: Any = None, index: Any = None, *, mask_pattern: Any = None, output_dtype: Any = None, kvalue: Any = None, cmp_mode: Any = None, out_cols: Any = None, offset: Any = None, count_dtype: Any = None) -> Tile:
        """out[r, k] = input[r, index[r, k]]: elements of each row by index. By mask_pattern: see pl.gather_mask."""
    @staticmethod
    def gather_mask(src: Any, mask_pattern: Any, *, output_dtype: Any = None) -> Tile:
        """The columns that a pattern marks (pl.tile.MaskPattern), side by side; output_dtype: their bits as that type."""
    @staticmethod
    def gatherb(src: Any, offset: Any, *, output_dtype: Any = None) -> Tile:
        """Blocks of 32 bytes of src at byte offsets (multiples of 32): [R, C] offsets -> [R, C * 32 / element size]."""
    @staticmethod
    def scatter(input: Any, dim: Any = None, index: Any = None, src: Any = None, *, mask_pattern: Any = None, dst: Any = None) -> Tile:
        """input with out[r, index[r, k]] = src[r, k], in order: the last of equal indices counts."""
    @staticmethod
    def scatter_mask(dst: Any, src: Any, mask_pattern: Any) -> Tile:
        """dst with the columns of src in the columns that a pattern marks."""
    @staticmethod
    def write(dst: Any, offset: Any, value: Any) -> Tile:
        """One element of a tile or of a tensor, in place."""
    @staticmethod
    def addc(lhs: Any, rhs: Any, rhs2: Any) -> Tile:
        """lhs + rhs + rhs2, three tiles."""
    @staticmethod
    def subc(lhs: Any, rhs: Any, rhs2: Any) -> Tile:
        """lhs - rhs - rhs2, three tiles."""
    @staticmethod
    def addsc(lhs: Any, rhs: Any, rhs2: Any) -> Tile:
        """lhs + rhs + rhs2, rhs a scalar."""
    @staticmethod
    def subsc(lhs: Any, rhs: Any, rhs2: Any) -> Tile:
        """lhs - rhs - rhs2, rhs a scalar."""
    @staticmethod
    def prelu(input: Any, slope: Any, tmp: Any = None) -> Tile:
        """input where it is positive, else slope * input, slope a tile."""
    @staticmethod
    def fmod(lhs: Any, rhs: Any) -> Tile:
        """The remainder of lhs / rhs with the sign of lhs; of floats exact while |lhs / rhs| < 4096; of integers by 0: lhs."""
    @staticmethod
    def rem(lhs: Any, rhs: Any, tmp: Any = None) -> Tile:
        """The remainder of lhs / rhs with the sign of rhs; of floats exact while |lhs / rhs| < 4096; of integers by 0: lhs."""
    @staticmethod
    def part_add(lhs: Any, rhs: Any) -> Tile:
        """add of two tiles where both are valid; where one is, that one."""
    @staticmethod
    def part_mul(lhs: Any, rhs: Any) -> Tile:
        """mul of two tiles where both are valid; where one is, that one."""
    @staticmethod
    def part_max(lhs: Any, rhs: Any) -> Tile:
        """maximum of two tiles where both are valid; where one is, that one."""
    @staticmethod
    def part_min(lhs: Any, rhs: Any) -> Tile:
        """minimum of two tiles where both are valid; where one is, that one."""
    @staticmethod
    def expand_clone(src: Any, target: Any) -> Tile:
        """src, a column, a row or one value, repeated over a tile of the shape of target."""
    @staticmethod
    def expands(target: Any, scalar: Any) -> Tile:
        """A tile of the shape and type of target, filled with the scalar."""
    @staticmethod
    def cmp(lhs: Any, rhs: Any, cmp_type: Any = 0) -> Tile:
        """Compares element by element (cmp_type: 0 ==, 1 !=, 2 <, 3 <=, 4 >, 5 >=; or the operators): 1 where it holds, else 0, in the element type of lhs. The operators give bools."""
    @staticmethod
    def sel(mask: Any, lhs: Any, rhs: Any, tmp: Any = None) -> Tile:
        """lhs where mask is not zero, else rhs; one of the two may be a scalar."""
    @staticmethod
    def matmul(lhs: Any, rhs: Any, out_dtype: DType | None = None, a_trans: bool = False, b_trans: bool = False, c_matrix_nz: bool = False) -> Tile:
        """lhs [M, K] times rhs [K, N] (transposed operands by flag), accumulated in fp32 (int8: int32)."""
    @staticmethod
    def matmul_acc(acc: Any, lhs: Any, rhs: Any, a_trans: bool = False, b_trans: bool = False, init_cond: Any = None) -> Tile:
        """acc + lhs times rhs, in place; lhs times rhs alone where init_cond holds."""
    @staticmethod
    def full(shape: Any, dtype: DType, value: Any) -> Tile:
        """A tile of one value."""
    @staticmethod
    def create_tensor(shape: Any, dtype: DType, layout: Any = None, manual_dep: bool = False, init_value: Any = None, target_memory: Any = None) -> Tile:
        """Outside regions a workspace in device memory, inside a tile; the contents are undefined."""
    @staticmethod
    def load(tensor: Any, offsets: Any, shapes: Any, valid_shape: Any = None, target_memory: Any = None, clamp: bool = False) -> Tile:
        """A window of a tensor as a tile; past the end of the tensor the tile is not valid."""
    @staticmethod
    def store(tile: Any, offsets: Any, output_tensor: Any, shapes: Any = None, *, atomic: Any = None) -> Tile:
        """Writes the valid part of a tile to a tensor at the offsets; returns the tensor."""
    @staticmethod
    def slice(input: Any, shape: Any, offset: Any, valid_shape: Any = None, drop_dims: Any = None, pad_value: Any = None, clamp: bool = False) -> Tile:
        """A window of a tensor (loaded) or of a tile, as a tile."""
    @staticmethod
    def assemble(target: Any, source: Any, offset: Any, *, atomic: Any = None) -> Tile:
        """Writes a tile into a tensor (in place; returns it) or into a tile (returns the new tile)."""
    @staticmethod
    def reshape(input: Any, shape: Any) -> Tile:
        """The same elements as a tile of another shape."""
    @staticmethod
    def set_validshape(input: Any, valid_rows: Any, valid_cols: Any) -> Tile:
        """The tile with a smaller valid shape."""
    @staticmethod
    def read(src: Any, offset: Any) -> Tile:
        """One element of a tensor or tile as a scalar."""
    @staticmethod
    def row_sum(input: Any, tmp_tile: Any = None) -> Tile:
        """sum over the valid columns: [R, C] -> [R, 1]; 16-bit floats are summed in fp32."""
    @staticmethod
    def col_sum(input: Any, tmp_tile: Any = None) -> Tile:
        """sum over the valid rows: [R, C] -> [1, C]; 16-bit floats are summed in fp32."""
    @staticmethod
    def row_max(input: Any, tmp_tile: Any = None) -> Tile:
        """max over the valid columns: [R, C] -> [R, 1]."""
    @staticmethod
    def col_max(input: Any, tmp_tile: Any = None) -> Tile:
        """max over the valid rows: [R, C] -> [1, C]."""
    @staticmethod
    def row_min(input: Any, tmp_tile: Any = None) -> Tile:
        """min over the valid columns: [R, C] -> [R, 1]."""
    @staticmethod
    def col_min(input: Any, tmp_tile: Any = None) -> Tile:
        """min over the valid rows: [R, C] -> [1, C]."""
    @staticmethod
    def row_prod(input: Any, tmp_tile: Any = None) -> Tile:
        """prod over the valid columns: [R, C] -> [R, 1]; 16-bit floats are multiplied in fp32."""
    @staticmethod
    def col_prod(input: Any, tmp_tile: Any = None) -> Tile:
        """prod over the valid rows: [R, C] -> [1, C]; 16-bit floats are multiplied in fp32."""
    @staticmethod
    def row_argmax(input: Any, tmp_tile: Any = None) -> Tile:
        """Where the max over the valid columns is, as int32; of equals the first."""
    @staticmethod
    def col_argmax(input: Any, tmp_tile: Any = None) -> Tile:
        """Where the max over the valid rows is, as int32; of equals the first."""
    @staticmethod
    def row_argmin(input: Any, tmp_tile: Any = None) -> Tile:
        """Where the min over the valid columns is, as int32; of equals the first."""
    @staticmethod
    def col_argmin(input: Any, tmp_tile: Any = None) -> Tile:
        """Where the min over the valid rows is, as int32; of equals the first."""
    @staticmethod
    def range(*bounds: Any, init_values: Any = None) -> Iterator[Any]:
        """Loop of a kernel: (stop), (start, stop) or (start, stop, step)."""
    @staticmethod
    def parallel(*bounds: Any, init_values: Any = None) -> Iterator[Any]:
        """Loop of independent iterations, spread over the cores outside regions."""
    @staticmethod
    def pipeline(*bounds: Any, stage: Any = 2, init_values: Any = None) -> Iterator[Any]:
        """Loop whose loads run `stage` - 1 iterations ahead; means the same as pl.range."""
    @staticmethod
    def unroll(*bounds: Any) -> Iterator[int]:
        """Loop with compile-time bounds, written out iteration by iteration."""
    @staticmethod
    def spmd(core_num: Any, *, sync_start: bool = False, name_hint: str = '', optimizations: Any = None, deps: Any = None, allow_early_resolve: bool = False, predicate: Any = None) -> Any:
        """`for i in pl.spmd(n)`: n independent regions, i from 0 to n - 1. `with pl.spmd(n)`: i is pl.get_block_idx()."""
    @staticmethod
    def at(level: Level | None = None, role: Any = None, *, optimizations: Any = None, deps: Any = None, no_dep_args: Any = None, dumps: Any = None, allow_early_resolve: bool = False, name_hint: str = '', windowize: bool = False) -> AbstractContextManager[Any]:
        """`with pl.at(level=pl.Level.CORE_GROUP)`: a region, work of one core."""
    @staticmethod
    def yield_(*values: Any) -> Any:
        """Ends the body of a loop with `init_values`: the values of the next iteration; or a branch of an `if`."""
    @staticmethod
    def matmul_bias(lhs: Any, rhs: Any, bias: Any) -> Any:
        """lhs [M, K] times rhs [K, N] plus the row bias [1, N], of the product's type."""
    @staticmethod
    def gemv(lhs: Any, rhs: Any, acc_phase: Any = 'unspecified') -> Any:
        """matmul of one row: lhs [1, K] times rhs [K, N]."""
    @staticmethod
    def gemv_acc(acc: Any, lhs: Any, rhs: Any, acc_phase: Any = 'unspecified') -> Any:
        """acc [1, N] + lhs [1, K] times rhs [K, N]."""
    @staticmethod
    def gemv_bias(lhs: Any, rhs: Any, bias: Any, acc_phase: Any = 'unspecified') -> Any:
        """lhs [1, K] times rhs [K, N] plus bias [1, N]."""
    @staticmethod
    def dim(tensor: Any, axis: Any) -> Any:
        """The size of an axis, as an integer."""
    @staticmethod
    def sels(mask: Any, src: Any, tmp: Any = None, scalar: Any = 0) -> Any:
        """src where mask is not zero, else the scalar."""
    @staticmethod
    def min(lhs: Any, rhs: Any) -> Any:
        """The smaller of two scalars."""
    @staticmethod
    def max(lhs: Any, rhs: Any) -> Any:
        """The larger of two scalars."""
    @staticmethod
    def const(value: Any, dtype: DType) -> Any:
        """A scalar of the given type."""
    @staticmethod
    def get_block_idx() -> Any:
        """The index of the region in the innermost `pl.spmd`."""
    @staticmethod
    def print(*values: Any) -> Any:
        """Text and values (scalars, tiles) on the device's log, line by line; a core at a time."""
    @staticmethod
    def assert_(condition: Any, msg: Any = '') -> Any:
        """Stops the kernel where a condition does not hold, naming the line and the values; like Python's `assert`."""
    @staticmethod
    def static_assert(condition: Any, msg: Any = '') -> None:
        """Refuses to compile where a compile-time condition does not hold."""
    @staticmethod
    def fillpad(value: Any, pad_value: Any = 0) -> Any:
        """The tile with pad_value (a pl.PadValue) in its lanes that are not valid."""
    @staticmethod
    def fillpad_inplace(value: Any, pad_value: Any = 0) -> Any:
        """The same as pl.fillpad."""
    @staticmethod
    def fillpad_expand(value: Any, shape: Any, pad_value: Any = 0) -> Any:
        """A larger tile: the valid part of this one, then pad_value."""
    @staticmethod
    def gather_flat(src: Any, indices: Any, tmp: Any = None) -> Any:
        """out[r, k] = the element of src at indices[r, k], counted row by row."""
    @staticmethod
    def gather_row(acc: Any, src: Any, dst_offset: Any, src_offset: Any, shapes: Any, transpose: bool = False, *, valid_shape: Any = None) -> Any:
        """The tile with a window of a tensor at dst_offset."""
    @staticmethod
    def scatter_flat(dst: Any, src: Any, indexes: Any) -> Any:
        """dst with src[r, k] at indexes[r, k], counted row by row."""
    @staticmethod
    def scatter_update(input: Any, *operands: Any, dim: Any = None, index: Any = None, src: Any = None) -> Any:
        """Rows of src to the rows of a tensor or tile that the index names; the last of equal indices counts."""
    @staticmethod
    def mgather(mem: Any, idx: Any, coalesce: Any = 'row', *, gather_oob: Any = 'undefined', target_memory: Any = None, scratch: Any = None, valid_shape: Any = None) -> Any:
        """The rows of a tensor that idx names as a tile, or with coalesce='elem' its elements, counted in order."""
    @staticmethod
    def paged_gather(src: Any, indices: Any, block_table: Any, block_size: Any, size: Any, max_indices: Any, *, space: Any = None, col_off: Any = 0, is_trans: bool = False, is_b_matrix: bool = False) -> Any:
        """Rows of a pool of pages as a tile: row block_table[i // block_size] * block_size + i % block_size for each index i."""
    @staticmethod
    def mscatter(src: Any, idx: Any, output_tensor: Any) -> Any:
        """Elements of a tile to a tensor by index."""
    @staticmethod
    def move(tile: Any, target_memory: Any = None, blayout: Any = None, slayout: Any = None) -> Any:
        """The tile itself: pyto places tiles in memories."""
    @staticmethod
    def create_l1(shape: Any, dtype: DType, transpose: bool = False) -> Any:
        """A tile whose lanes are undefined: pyto places tiles in memories."""
    @staticmethod
    def transpose_view(tile: Any) -> Any:
        """A tile read with rows and columns exchanged, for an operand of pl.matmul."""
    @staticmethod
    def while_(*, init_values: Any) -> Any:
        """`for (a, b) in pl.while_(init_values=(x, y))`: goes on while the pl.cond that begins the body holds."""
    @staticmethod
    def cond(condition: Any) -> Any:
        """The first statement of a pl.while_ loop: the condition to go on."""
    @staticmethod
    def static_print(*values: Any) -> Any:
        """Shows values and types when the kernel is compiled."""
    @staticmethod
    def func_attr(attrs: Any) -> Any:
        """Attributes of a function: hints, accepted and never needed."""
    @staticmethod
    def get_block_num() -> Any:
        """The number of regions of the innermost `pl.spmd`."""
    @staticmethod
    def manual_scope() -> Any:
        """`with pl.manual_scope()`: a hint; the order of the statements holds."""
    @staticmethod
    def scope(*, mode: Any = None) -> Any:
        """`with pl.scope()`: a hint; the order of the statements holds."""
    @staticmethod
    def cluster(*, name_hint: str = '') -> Any:
        """`with pl.cluster()`: a hint; cores are chosen for each region."""
    @staticmethod
    def incore(*, name_hint: str = '') -> Any:
        """`with pl.incore()`: a region, the same as pl.at on a core group."""
    @staticmethod
    def submit(*call: Any, deps: Any = None, allow_early_resolve: bool = False, dumps: Any = None, no_dep_args: Any = None) -> Any:
        """`out, task = pl.submit(function, *arguments)`: the call, and a task id for `deps`, which is a hint."""
    @staticmethod
    def no_dep(tensor: Any) -> Any:
        """The tensor itself: a hint."""
    @staticmethod
    def dump_tag(*tensors: Any) -> Any:
        """A hint for tools of other compilers: changes nothing."""
    @staticmethod
    def task_array(size: Any, dtype: DType | None = None) -> Any:
        """Task ids for `deps`: hints, accepted and never needed."""
    @staticmethod
    def task_dummy(*, deps: Any = None) -> Any:
        """A task id for `deps`: a hint, accepted and never needed."""
    @staticmethod
    def task_invalid() -> Any:
        """A task id for `deps`: a hint, accepted and never needed."""
    @staticmethod
    def gather_compare(*args: Any) -> Any:
        """Not supported yet."""
    @staticmethod
    def reinterpret_view(*args: Any) -> Any:
        """Not supported yet."""
    @staticmethod
    def tri(*args: Any) -> Any:
        """Not supported yet."""
    @staticmethod
    def spmd_submit(*args: Any) -> Any:
        """Not supported yet."""
    @staticmethod
    def split_aiv(*args: Any) -> Any:
        """Not supported yet."""
    @staticmethod
    def get_subblock_idx(*args: Any) -> Any:
        """Not supported yet."""
    @staticmethod
    def extract(*args: Any) -> Any:
        """Not supported yet."""
    @staticmethod
    def sin(*args: Any) -> Any:
        """Not supported: the chip has no instruction for it, and none of it is accurate for large arguments; compute it on the host."""
    @staticmethod
    def cos(*args: Any) -> Any:
        """Not supported: the chip has no instruction for it, and none of it is accurate for large arguments; compute it on the host."""
    @staticmethod
    def random(*args: Any) -> Any:
        """Not supported: results would differ from run to run; make the numbers on the host."""
    @staticmethod
    def batch_matmul(*args: Any) -> Any:
        """Not supported: tiles have two axes; loop over the batch with pl.parallel or pl.range, and pl.matmul each."""
    @staticmethod
    def batch_matmul_acc(*args: Any) -> Any:
        """Not supported: tiles have two axes; loop over the batch with pl.range, and pl.matmul_acc each."""
    @staticmethod
    def matmul_mx(*args: Any) -> Any:
        """Not supported: the chip has no MX formats."""
    @staticmethod
    def matmul_mx_acc(*args: Any) -> Any:
        """Not supported: the chip has no MX formats."""
    @staticmethod
    def matmul_mx_bias(*args: Any) -> Any:
        """Not supported: the chip has no MX formats."""
    @staticmethod
    def tpush_to_aiv(*args: Any) -> Any:
        """Not supported: pyto places the hand-over between cube and vector cores itself."""
    @staticmethod
    def tpush_to_aic(*args: Any) -> Any:
        """Not supported: pyto places the hand-over between cube and vector cores itself."""
    @staticmethod
    def tpop_from_aic(*args: Any) -> Any:
        """Not supported: pyto places the hand-over between cube and vector cores itself."""
    @staticmethod
    def tpop_from_aiv(*args: Any) -> Any:
        """Not supported: pyto places the hand-over between cube and vector cores itself."""
    @staticmethod
    def tfree_to_aic(*args: Any) -> Any:
        """Not supported: pyto places the hand-over between cube and vector cores itself."""
    @staticmethod
    def tfree_to_aiv(*args: Any) -> Any:
        """Not supported: pyto places the hand-over between cube and vector cores itself."""
    @staticmethod
    def alloc(*args: Any) -> Any:
        """Not supported: pyto plans the memory itself."""
    @staticmethod
    def reserve_buffer(*args: Any) -> Any:
        """Not supported: pyto plans the memory itself."""
    @staticmethod
    def import_peer_buffer(*args: Any) -> Any:
        """Not supported: pyto plans the memory itself."""
    @staticmethod
    def sync_src(*args: Any) -> Any:
        """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
    @staticmethod
    def sync_dst(*args: Any) -> Any:
        """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
    @staticmethod
    def sync_set(*args: Any) -> Any:
        """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
    @staticmethod
    def sync_wait(*args: Any) -> Any:
        """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
    @staticmethod
    def syncall(*args: Any) -> Any:
        """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
    @staticmethod
    def set_ffts(*args: Any) -> Any:
        """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
    @staticmethod
    def bar_v(*args: Any) -> Any:
        """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
    @staticmethod
    def bar_m(*args: Any) -> Any:
        """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
    @staticmethod
    def bar_all(*args: Any) -> Any:
        """Not supported: pyto inserts every event, flag and barrier itself, so that none is missing and none is left over."""
    @staticmethod
    def adds(lhs: Any, rhs: Any) -> Any:
        """lhs + rhs; rhs a tile of the same shape or a scalar."""
    @staticmethod
    def subs(lhs: Any, rhs: Any) -> Any:
        """lhs - rhs."""
    @staticmethod
    def muls(lhs: Any, rhs: Any) -> Any:
        """lhs * rhs."""
    @staticmethod
    def divs(lhs: Any, rhs: Any, high_precision: bool = False, fast: bool = False) -> Any:
        """lhs / rhs, correctly rounded in fp32; fast=True: by Reciprocal, an approximation."""
    @staticmethod
    def maximums(lhs: Any, rhs: Any) -> Any:
        """The larger of lhs and rhs."""
    @staticmethod
    def minimums(lhs: Any, rhs: Any) -> Any:
        """The smaller of lhs and rhs."""
    @staticmethod
    def ands(lhs: Any, rhs: Any) -> Any:
        """lhs & rhs, bit by bit; of bools: both."""
    @staticmethod
    def ors(lhs: Any, rhs: Any) -> Any:
        """lhs | rhs, bit by bit; of bools: one of them or both."""
    @staticmethod
    def xors(lhs: Any, rhs: Any, tmp: Any = None) -> Any:
        """lhs ^ rhs, bit by bit; of bools: just one of them."""
    @staticmethod
    def shls(lhs: Any, rhs: Any) -> Any:
        """lhs shifted left by rhs bits; rhs counts modulo the width."""
    @staticmethod
    def shrs(lhs: Any, rhs: Any) -> Any:
        """lhs shifted right by rhs bits (signed types keep their sign); rhs counts modulo the width."""
    @staticmethod
    def ci(start: Any, shape: Any, dtype: DType | None = None, descending: bool = False) -> Tile:
        """start, start + 1, ... as a row [1, N] of integers (int32 unless dtype says); start - 1, ... if descending."""
    @staticmethod
    def fmods(lhs: Any, rhs: Any) -> Tile:
        """The remainder of lhs / rhs with the sign of lhs; of floats exact while |lhs / rhs| < 4096; of integers by 0: lhs."""
    @staticmethod
    def rems(lhs: Any, rhs: Any, tmp: Any = None) -> Tile:
        """The remainder of lhs / rhs with the sign of rhs; of floats exact while |lhs / rhs| < 4096; of integers by 0: lhs."""
    @staticmethod
    def cmps(lhs: Any, rhs: Any, cmp_type: Any = 0) -> Tile:
        """Compares element by element (cmp_type: 0 ==, 1 !=, 2 <, 3 <=, 4 >, 5 >=; or the operators): 1 where it holds, else 0, in the element type of lhs. The operators give bools."""
    @staticmethod
    def create(shape: Any, dtype: DType, layout: Any = None, manual_dep: bool = False, init_value: Any = None, target_memory: Any = None) -> Tile:
        """Outside regions a workspace in device memory, inside a tile; the contents are undefined."""
    @staticmethod
    def create_tile(shape: Any, dtype: DType, layout: Any = None, manual_dep: bool = False, init_value: Any = None, target_memory: Any = None) -> Tile:
        """Outside regions a workspace in device memory, inside a tile; the contents are undefined."""

class _TileFunctions(_Functions):
    MaskPattern = MaskPattern
    @staticmethod
    def gather(src: Any, indices: Any, tmp: Any = None) -> Any:  # type: ignore[override]
        """out[r, k] = the element of src at indices[r, k], counted row by row."""
    @staticmethod
    def scatter(dst: Any, src: Any, indexes: Any) -> Any:  # type: ignore[override]
        """dst with src[r, k] at indexes[r, k], counted row by row."""

tensor: _Functions
tile: _TileFunctions
system: _Functions
