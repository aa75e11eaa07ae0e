"""Where things are in a snapshot: the safetensors format, with a header whose length never changes.

The header's beginning names the tensors and is written once into each slot; its tail names the blobs, whose lengths
change, and the step, and is written again in every save, padded with spaces.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence

from outlast._errors import SnapshotError
from outlast._tensors import WIDTHS, Tensor

_ALIGN = 64
_STEP_MAX = (1 << 64) - 1
_HEADER_MAX = 100_000_000  # what readers of safetensors allow


@dataclass
class Blob:
    """Bytes that differ in length from time to time."""

    name: str
    capacity: int
    get: Callable[[], bytes]
    set: Callable[[Any], None]
    decode: Optional[Callable[[bytes], Any]] = None  # what set() takes; may raise, and changes nothing

    def bytes_now(self) -> bytes:
        got = self.get()
        if not isinstance(got, (bytes, bytearray, memoryview)):
            raise SnapshotError(f'what was registered for "{self.name}" returned a {type(got).__name__} instead of bytes')
        got = bytes(got)
        if len(got) > self.capacity:
            raise SnapshotError(
                f'"{self.name}" has {len(got)} bytes now, and was registered with at most {self.capacity}: '
                "register it with a larger capacity"
            )
        return got


def _entry(name: str, dtype: str, shape: Sequence[int], begin: int, end: int) -> str:
    value = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}
    return json.dumps(name, ensure_ascii=False) + ":" + json.dumps(value, separators=(",", ":"))


class Layout:
    """Of all snapshots of one trainer. Positions are counted from the beginning of the file."""

    def __init__(self, tensors: Sequence[Tensor], blobs: Sequence[Blob]):
        self.tensors = sorted(tensors, key=lambda tensor: -WIDTHS[tensor.dtype])
        self._blob_names = [blob.name for blob in blobs]
        entries, begins, at = [], [], 0
        for tensor in self.tensors:
            entries.append(_entry(tensor.name, tensor.dtype, tensor.shape, at, at + tensor.size))
            begins.append(at)
            at += tensor.size
        self._blobs_at = at
        head = ("{" + "".join(entry + "," for entry in entries)).encode("utf-8")
        tail_length = len(self._tail_text(_STEP_MAX, [blob.capacity for blob in blobs]))
        self.data_begin = -(-(8 + len(head) + tail_length) // _ALIGN) * _ALIGN
        if self.data_begin - 8 > _HEADER_MAX:
            raise SnapshotError(
                f"the names and shapes of {len(tensors) + len(blobs)} tensors make a header of {self.data_begin - 8} bytes, "
                f"and {_HEADER_MAX} is the most: register fewer, larger ones"
            )
        self.head = (self.data_begin - 8).to_bytes(8, "little") + head
        self.begins = [self.data_begin + begin for begin in begins]
        self.blobs_begin = self.data_begin + at
        self.bytes_max = self.blobs_begin + sum(blob.capacity for blob in blobs)

    def _tail_text(self, step: int, lengths: Sequence[int]) -> bytes:
        entries, at = [], self._blobs_at
        for name, length in zip(self._blob_names, lengths):
            entries.append(_entry(name, "U8", [length], at, at + length))
            at += length
        entries.append('"__metadata__":{"outlast.step":"%d"}}' % step)
        return ",".join(entries).encode("utf-8")

    def tail(self, step: int, blobs: Sequence[bytes]) -> bytes:
        """What follows `head`, up to the data."""
        text = self._tail_text(step, [len(blob) for blob in blobs])
        return text.ljust(self.data_begin - len(self.head))


@dataclass(frozen=True)
class Entry:
    """A tensor of a snapshot that was read."""

    dtype: str
    shape: tuple
    begin: int  # in the file
    end: int


def step_in(view: memoryview, where: str) -> Optional[int]:
    """Of a snapshot, as it says itself. SnapshotError if it is none, or not whole."""
    entries = read_entries(view, where)
    length = int.from_bytes(view[:8], "little")
    if max((entry.end for entry in entries.values()), default=8 + length) != len(view):
        raise SnapshotError(f"{where} is no whole snapshot: it is longer than its header says")
    metadata = json.loads(bytes(view[8 : 8 + length]).decode("utf-8")).get("__metadata__", {})
    text = metadata.get("outlast.step") if isinstance(metadata, dict) else None
    return int(text) if isinstance(text, str) and text.isdecimal() else None


def read_entries(view: memoryview, where: str) -> dict[str, Entry]:
    """The header of a snapshot. SnapshotError if it is none."""
    length = int.from_bytes(view[:8], "little")
    if len(view) < 8 or length > len(view) - 8:
        raise SnapshotError(f"{where} is no whole snapshot: its header would be longer than it is")
    try:
        header = json.loads(bytes(view[8 : 8 + length]).decode("utf-8"))
        header.pop("__metadata__", None)
        entries = {}
        for name, value in header.items():
            begin, end = value["data_offsets"]
            entries[name] = Entry(value["dtype"], tuple(value["shape"]), 8 + length + begin, 8 + length + end)
            size = WIDTHS.get(value["dtype"], 0)
            for extent in value["shape"]:
                size *= extent
            if not 0 <= begin <= end <= len(view) - 8 - length or size not in (0, end - begin):
                raise ValueError(name)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise SnapshotError(f"{where} is no whole snapshot: its header makes no sense ({error})") from error
    return entries
