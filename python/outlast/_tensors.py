"""What is registered: where an array's bytes are, and whether they still are there."""

from __future__ import annotations

import ctypes
import sys
from bisect import bisect_left, insort
from operator import attrgetter, eq
from typing import Any, Callable, Optional

from outlast._errors import SnapshotError

# Bytes of an element; the names are those of the safetensors format.
WIDTHS = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1,
    "I16": 2, "U16": 2, "F16": 2, "BF16": 2,
    "I32": 4, "U32": 4, "F32": 4,
    "I64": 8, "U64": 8, "F64": 8, "C64": 8,
}  # fmt: skip

# As numpy and torch (behind "torch.") call them.
_DTYPES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "uint16": "U16", "int32": "I32", "uint32": "U32",
    "int64": "I64", "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
    "complex64": "C64", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}  # fmt: skip

_FORMAT_KINDS = {**dict.fromkeys("bhilq", "I"), **dict.fromkeys("BHILQ", "U"), **dict.fromkeys("efd", "F")}


class Tensor:
    """One of the state's, of fixed dtype and shape. Either it has an address, or copies itself."""

    __slots__ = ("name", "dtype", "shape", "size", "address", "array", "copy_out", "copy_in")

    def __init__(self, name: str, dtype: str, shape: tuple, address: int = 0, array: Any = None,
                 copy_out: Optional[Callable] = None, copy_in: Optional[Callable] = None):  # fmt: skip
        self.name, self.dtype, self.shape = name, dtype, shape
        self.size = WIDTHS[dtype]
        for extent in shape:
            self.size *= extent
        self.address, self.array = address, array
        self.copy_out, self.copy_in = copy_out, copy_in


def describe(dtype: str, shape: Any) -> str:
    return f"{dtype} {list(shape)}"


def dtype_of(name: str, dtype: Any) -> str:
    known = _DTYPES.get(getattr(dtype, "name", None) or str(dtype).rpartition(".")[2])
    if known is None:
        raise SnapshotError(f'"{name}" has elements of type {dtype}, which a snapshot cannot hold: use add_object() for it')
    return known


def _is_torch(array: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "Tensor") and isinstance(array, torch.Tensor)


def _is_numpy(array: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and hasattr(numpy, "ndarray") and isinstance(array, numpy.ndarray)


def tensor_of(name: str, array: Any) -> Tensor:
    """Of an array that can be copied by its address, and stays there as long as this has it."""
    if _is_torch(array):
        if array.device.type != "cpu":
            raise SnapshotError(f'"{name}" is on {array.device}: outlast.torch.Snapshots copies from there, or add_custom()')
        if str(array.layout) != "torch.strided" or not array.is_contiguous():
            raise SnapshotError(f'"{name}" is not contiguous: register a contiguous tensor, as resume() writes into it')
        return Tensor(name, dtype_of(name, array.dtype), tuple(array.shape), array.data_ptr(), array)
    if _is_numpy(array):
        if not array.flags.c_contiguous or not array.flags.writeable:
            wrong = "cannot be written to" if array.flags.c_contiguous else "is not contiguous (in C order)"
            raise SnapshotError(f'"{name}" {wrong}: register an array that resume() can write into')
        if not array.dtype.isnative:
            raise SnapshotError(f'"{name}" is of type {array.dtype.str}, whose bytes are in another order than this machine\'s')
        return Tensor(name, dtype_of(name, array.dtype), tuple(array.shape), array.__array_interface__["data"][0], array)
    return _buffer_tensor(name, array)


def _buffer_tensor(name: str, array: Any) -> Tensor:
    try:
        view = memoryview(array)
    except TypeError:
        raise SnapshotError(
            f'"{name}" is a {type(array).__name__}: register a numpy array, a torch tensor or a writable buffer, '
            "or use add_object()"
        ) from None
    if view.readonly or not view.c_contiguous:
        wrong = "cannot be written to" if view.readonly else "is not contiguous"
        raise SnapshotError(f'"{name}" {wrong}: register a buffer that resume() can write into')
    letter = view.format.lstrip("@=<")
    kind = _FORMAT_KINDS.get(letter)
    dtype = "BOOL" if letter == "?" else "U8" if letter == "c" else f"{kind}{8 * view.itemsize}"
    if dtype not in WIDTHS or isinstance(array, ctypes.Structure):
        raise SnapshotError(f'"{name}" has elements of format {view.format}, which a snapshot cannot hold: use add_object()')
    if view.nbytes == 0:
        return Tensor(name, dtype, tuple(view.shape), 0, array)
    # As long as this is held, Python does not let the buffer change its size.
    held = (ctypes.c_ubyte * view.nbytes).from_buffer(view.cast("B"))
    return Tensor(name, dtype, tuple(view.shape), ctypes.addressof(held), held)


class Places:
    """Which memory is taken, to refuse what overlaps. What is new is in a short list of its own: to put each into the
    long one costs seconds for 100,000."""

    _RECENT_MAX = 1000

    def __init__(self):
        self._old: list[tuple[int, int, str]] = []  # begin, end, name: in order
        self._recent: list[tuple[int, int, str]] = []

    def take(self, tensor: Tensor) -> None:
        if tensor.size == 0 or tensor.address == 0:
            return
        place = (tensor.address, tensor.address + tensor.size, tensor.name)
        for places in (self._old, self._recent):
            at = bisect_left(places, place)
            for begin, end, name in places[max(at - 1, 0) : at + 1]:
                if begin < place[1] and place[0] < end:
                    raise SnapshotError(f'"{tensor.name}" shares memory with "{name}": register each piece of memory once')
        insort(self._recent, place)
        if len(self._recent) > self._RECENT_MAX:
            self._old = sorted(self._old + self._recent)
            self._recent = []


class Watch:
    """Whether the arrays are what they were when they were registered. Costs one look at each: 100,000 torch
    tensors are some 20 ms, which is why it is done by whole lists."""

    def __init__(self, tensors: list[Tensor]):
        self._torch = [tensor for tensor in tensors if _is_torch(tensor.array)]
        self._shaped = self._torch + [tensor for tensor in tensors if _is_numpy(tensor.array)]
        self._torch_arrays = [tensor.array for tensor in self._torch]
        self._shaped_arrays = [tensor.array for tensor in self._shaped]
        self._shapes = [tensor.shape for tensor in self._shaped]
        self._addresses = [tensor.address for tensor in self._torch]

    def look(self) -> bool:
        """True if memory moved (`parameter.data = …`), which is followed. SnapshotError if a shape changed."""
        # No list of shapes: so many objects at once would set Python's garbage collection going.
        if not all(map(eq, map(attrgetter("shape"), self._shaped_arrays), self._shapes)):
            for tensor in self._shaped:
                if tuple(tensor.array.shape) != tensor.shape:
                    raise SnapshotError(
                        f'"{tensor.name}" was registered as {describe(tensor.dtype, tensor.shape)} and is '
                        f"{list(tensor.array.shape)} now: what is registered must keep its shape"
                    )
        addresses = [array.data_ptr() for array in self._torch_arrays]
        if addresses == self._addresses:
            return False
        places = Places()
        moved = [tensor_of(tensor.name, tensor.array) for tensor in self._torch]
        for tensor, now in zip(self._torch, moved):
            if now.dtype != tensor.dtype:
                raise SnapshotError(f'"{tensor.name}" was registered as {tensor.dtype} and is {now.dtype} now')
            places.take(now)
        for tensor, now in zip(self._torch, moved):
            tensor.address = now.address
        self._addresses = addresses
        return True
