"""All that is registered, and how it goes into a snapshot and comes back."""

from __future__ import annotations

from typing import Any, Iterator, Sequence

from outlast._copy import CopyPlan
from outlast._errors import SnapshotError
from outlast._layout import Blob, Entry, Layout, read_entries
from outlast._memory import view_of
from outlast._tensors import Places, Tensor, Watch, describe

_WRITTEN_AT_ONCE = 64 << 20


class State:
    """Of one process. Grows until seal(), and never after."""

    def __init__(self, threads: int):
        self._threads = threads
        self._names: set[str] = set()
        self._tensors: list[Tensor] = []
        self._blobs: list[Blob] = []
        self._places = Places()
        self.is_sealed = False

    def add_tensor(self, tensor: Tensor) -> None:
        self._check_name(tensor.name)
        self._places.take(tensor)
        self._names.add(tensor.name)
        self._tensors.append(tensor)

    def add_blob(self, blob: Blob) -> None:
        self._check_name(blob.name)
        if not isinstance(blob.capacity, int) or blob.capacity < 0:
            raise SnapshotError(f'"{blob.name}" has a capacity of {blob.capacity!r}, which is no number of bytes')
        self._names.add(blob.name)
        self._blobs.append(blob)

    def _check_name(self, name: str) -> None:
        if self.is_sealed:
            raise SnapshotError(f'"{name}" is registered too late: all must be before resume() and the first save')
        if not isinstance(name, str) or not name or name == "__metadata__":
            raise SnapshotError(f"{name!r} cannot be a name: it must be text, not empty, and not __metadata__")
        if name in self._names:
            raise SnapshotError(f'"{name}" is registered already: each name once')
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            raise SnapshotError(f"{name!r} cannot be a name: it is not valid Unicode") from error

    def seal(self) -> None:
        """What is registered now is the state."""
        if self.is_sealed:
            return
        if not self._names:
            raise SnapshotError("nothing is registered: call add() first, for all that a resumed training needs")
        self.layout = Layout(self._tensors, self._blobs)
        self._watch = Watch(self._tensors)
        self._make_plan()
        self.is_sealed = True

    def _make_plan(self) -> None:
        layout = self.layout
        self._pieces = [
            (begin, tensor.address, tensor.size)
            for begin, tensor in zip(layout.begins, layout.tensors)
            if tensor.copy_out is None
        ]
        self._plan = CopyPlan(self._pieces, self._threads)
        self._custom = [pair for pair in zip(layout.begins, layout.tensors) if pair[1].copy_out is not None]

    def blobs_now(self) -> list[bytes]:
        """And looks whether the tensors are still what they were. The first part of every save."""
        if self._watch.look():
            self._make_plan()
        return [blob.bytes_now() for blob in self._blobs]

    def length(self, blobs: Sequence[bytes]) -> int:
        return self.layout.blobs_begin + sum(map(len, blobs))

    def copy_into(self, address: int, view: memoryview, step: int, blobs: Sequence[bytes], *, has_head: bool,
                  is_waited_for: bool) -> None:  # fmt: skip
        """Into a slot at this address, which is the same as `view`."""
        layout = self.layout
        if not has_head:
            view[: len(layout.head)] = layout.head
        view[len(layout.head) : layout.data_begin] = layout.tail(step, blobs)
        for begin, tensor in self._custom:
            tensor.copy_out(view[begin : begin + tensor.size])
        self._plan.run(address, is_waited_for)
        at = layout.blobs_begin
        for blob in blobs:
            view[at : at + len(blob)] = blob
            at += len(blob)

    def parts(self, step: int, blobs: Sequence[bytes]) -> Iterator:
        """The same as bytes, one after the other."""
        layout = self.layout
        yield layout.head
        yield layout.tail(step, blobs)
        for tensor in layout.tensors:
            if tensor.copy_out is not None:
                buffer = bytearray(tensor.size)
                tensor.copy_out(memoryview(buffer))
                yield buffer
                continue
            for begin in range(0, tensor.size, _WRITTEN_AT_ONCE):
                yield view_of(tensor.address + begin, min(_WRITTEN_AT_ONCE, tensor.size - begin))
        yield from blobs

    def read_from(self, address: int, length: int, where: str) -> None:
        """Puts back a snapshot. Changes nothing if that does not fit; what a copy_in or a set raises comes too late for
        that."""
        view = view_of(address, length)
        entries = read_entries(view, where)
        self._check_fit(entries, where)
        values = [self._decoded(blob, view, entries[blob.name], where) for blob in self._blobs]
        self._watch.look()
        self._make_plan()
        pieces = []
        for tensor in self._tensors:
            begin = entries[tensor.name].begin
            if tensor.copy_in is None:
                pieces.append((tensor.address, address + begin, tensor.size))
        CopyPlan(sorted(pieces), self._threads).run(0)
        for tensor in self._tensors:
            if tensor.copy_in is not None:
                begin = entries[tensor.name].begin
                tensor.copy_in(view[begin : begin + tensor.size])
        for blob, value in zip(self._blobs, values):
            blob.set(value)

    @staticmethod
    def _decoded(blob: Blob, view: memoryview, entry: Entry, where: str) -> Any:
        data = bytes(view[entry.begin : entry.end])
        if blob.decode is None:
            return data
        try:
            return blob.decode(data)
        except SnapshotError:
            raise
        except Exception as error:  # unpickling raises whatever the class of an object raises
            raise SnapshotError(f'"{blob.name}" in {where} cannot be read ({type(error).__name__}: {error})') from error

    def _check_fit(self, entries: dict[str, Entry], where: str) -> None:
        for tensor in self._tensors:
            entry = entries.get(tensor.name)
            if entry is None:
                raise SnapshotError(f'{where} has no "{tensor.name}": it is of another state than the one registered')
            if (entry.dtype, entry.shape) != (tensor.dtype, tensor.shape):
                raise SnapshotError(
                    f'"{tensor.name}" is {describe(entry.dtype, entry.shape)} in {where}, and was registered as '
                    f"{describe(tensor.dtype, tensor.shape)}"
                )
        for blob in self._blobs:
            entry = entries.get(blob.name)
            if entry is None:
                raise SnapshotError(f'{where} has no "{blob.name}": it is of another state than the one registered')
            if entry.dtype != "U8" or len(entry.shape) != 1:
                raise SnapshotError(
                    f'"{blob.name}" is {describe(entry.dtype, entry.shape)} in {where}, and was registered as bytes'
                )
            if entry.end - entry.begin > blob.capacity:
                raise SnapshotError(
                    f'"{blob.name}" has {entry.end - entry.begin} bytes in {where}, and was registered with at most '
                    f"{blob.capacity}: register it with a larger capacity"
                )
        for name in entries:
            if name not in self._names:
                raise SnapshotError(f'{where} has "{name}", which is not registered: it is of another state')
