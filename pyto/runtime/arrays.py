"""What a caller may pass as a tensor: numpy arrays and torch tensors. torch is never imported here."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from pyto.errors import LaunchError

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NUMPY_DTYPES: dict[np.dtype[Any], str] = {
    np.dtype(name): name
    for name in ("float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool")
} | {BFLOAT16: "bfloat16"}
TO_NUMPY: dict[str, np.dtype[Any]] = {name: dtype for dtype, name in NUMPY_DTYPES.items()}


class Described(NamedTuple):
    """A tensor argument: where its bytes are, and what they are."""

    address: int
    dtype: str
    shape: tuple[int, ...]
    contiguous: bool
    writable: bool
    device: str  # "cpu" | "npu" | another torch device type
    library: str  # "numpy" | "torch"
    negated: bool = False  # its memory holds the numbers with the other sign


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_size_t
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_word_at = ctypes.c_size_t.from_address


class _ArrayStruct(ctypes.Structure):
    """numpy's array interface as a C struct (the documented `PyArrayInterface`)."""

    _fields_ = [
        ("two", ctypes.c_int),
        ("rank", ctypes.c_int),
        ("kind", ctypes.c_char),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_int),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
    ]


_DATA = _ArrayStruct.data.offset


def numpy_address(array: np.ndarray[Any, Any]) -> int:
    """Address of the first element; less than half of what `__array_interface__` costs."""
    return _word_at(_capsule_pointer(array.__array_struct__, None) + _DATA).value


def describe_numpy(array: np.ndarray[Any, Any]) -> Described:
    """A numpy array; dtypes that pyto does not have keep numpy's name."""
    flags = array.flags
    return Described(
        numpy_address(array),
        NUMPY_DTYPES.get(array.dtype) or str(array.dtype),
        array.shape,
        flags.c_contiguous and array.dtype.isnative,
        flags.writeable,
        "cpu",
        "numpy",
    )


_torch_dtypes: dict[Any, str] = {}


def describe_torch(tensor: Any) -> Described:
    """A torch tensor on any device."""
    dtype = tensor.dtype
    name = _torch_dtypes.get(dtype)
    if name is None:
        name = _torch_dtypes[dtype] = str(dtype).removeprefix("torch.")
    device = tensor.device.type
    negated = tensor.is_neg()
    strided = device in ("cpu", "npu") and tensor.is_contiguous() and not negated
    address = tensor.data_ptr() if strided else 0
    if strided and address == 0 and tensor.numel():
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
    return Described(address, name, tuple(tensor.shape), strided, True, device, "torch", negated)


_describers: dict[type, Callable[[Any], Described] | None] = {np.ndarray: describe_numpy}


def describer(kind: type) -> Callable[[Any], Described] | None:
    """How to describe values of a type; None if it is no tensor."""
    try:
        return _describers[kind]
    except KeyError:
        found: Callable[[Any], Described] | None = None
        torch = sys.modules.get("torch")
        if issubclass(kind, np.ndarray):
            found = describe_numpy
        elif torch is not None and issubclass(kind, torch.Tensor):
            found = describe_torch
        if found is not None or torch is not None:
            _describers[kind] = found
        return found


def recognise(values: list[Any]) -> tuple[tuple[Any, ...], list[int]] | None:
    """(all that a check looks at but the addresses, the addresses) of plain numpy arrays and torch tensors, quickly.

    None if another type is among them or a torch tensor has no address of its own.
    """
    key: list[Any] = []
    addresses: list[int] = []
    for value in values:
        kind = type(value)
        if kind is np.ndarray:
            address = numpy_address(value)
            key += (value.dtype, value.shape, value.strides, value.flags.writeable)
        elif _describers.get(kind) is describe_torch:
            device = value.device
            if device.type not in ("cpu", "npu"):
                return None
            try:
                address = value.data_ptr()
                key += (value.dtype, value.shape, value.is_contiguous(), value.is_neg(), device)
            except RuntimeError:
                return None
            if address == 0:
                return None
        else:
            return None
        addresses.append(address)
    return tuple(key), addresses


def describe(value: Any, name: str, program: str) -> Described:
    """`value` as a tensor argument, or LaunchError if it is none."""
    how = describer(type(value))
    if how is None:
        raise LaunchError(
            "launch.not-a-tensor",
            f"{program}: argument {name} is {_article(type(value).__name__)}, not a tensor",
            remedy="pass a numpy array or a torch tensor",
        )
    try:
        return how(value)
    except RuntimeError as error:  # what torch says of tensors inside torch.func, fake, sparse or nested ones
        raise LaunchError(
            "launch.no-memory",
            f"{program}: argument {name} is a tensor without memory of its own: {str(error).splitlines()[0]}",
            remedy="pass a dense tensor, outside of torch.func and of torch.compile",
        ) from error


def _article(word: str) -> str:
    return ("an " if word[:1].lower() in "aeiou" else "a ") + word


def empty(shape: tuple[int, ...], dtype: str, library: str, device: str) -> Any:
    """A new uninitialised tensor of the given library."""
    if library == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=device)
    return np.empty(shape, dtype=TO_NUMPY[dtype])
