"""Between a graphics card and the memory of a snapshot."""

from __future__ import annotations

import sys
from typing import Any, Iterable, Optional

import torch


class CardCopies:
    """Copies on a stream of its own, so that training goes on meanwhile. Pinned memory is copied to without a detour,
    and without waiting for one tensor before the next. Confined to its owner, but for copy_out(), which may be
    called by another thread, one at a time."""

    def __init__(self) -> None:
        self._streams: dict[torch.device, Any] = {}
        self._events: dict[torch.device, Any] = {}
        self._pinned = range(0)  # addresses
        self._left = 0  # copies of the save that is under way

    def pin(self, address: int, size: int) -> None:
        """Lasts until unpin(). Where it cannot be done, copies are slower, and no less right."""
        if self._pinned == range(address, address + size):
            return
        self.unpin()
        code = int(torch.cuda.cudart().cudaHostRegister(address, size, 0))
        if code != 0:
            print(f"outlast: {size} bytes could not be pinned (CUDA error {code}): saves are slower", file=sys.stderr)
            return
        self._pinned = range(address, address + size)

    def unpin(self) -> None:
        """Before that memory goes away."""
        if self._pinned:
            torch.cuda.cudart().cudaHostUnregister(self._pinned.start)
            self._pinned = range(0)

    def begin(self, devices: Iterable[torch.device], copies: int) -> None:
        """What the training stream has been given until now is what so many copies are to show."""
        self._left = copies
        for device in devices:
            event = torch.cuda.Event()
            event.record(torch.cuda.current_stream(device))
            self._events[device] = event

    def copy_out(self, tensor: Optional[torch.Tensor], destination: memoryview) -> None:
        """Zeros where there is none. When the last of them returns all bytes are there; into memory that is not
        pinned, each."""
        self._left -= 1
        if tensor is None:
            destination[:] = bytes(len(destination))
        elif len(destination) > 0:
            target = torch.frombuffer(destination, dtype=torch.uint8)
            stream = self._stream_of(tensor.device)
            stream.wait_event(self._events[tensor.device])
            with torch.cuda.stream(stream):
                target.copy_(tensor.view(-1).view(torch.uint8), non_blocking=True)
            if target.data_ptr() not in self._pinned:
                stream.synchronize()
        if self._left == 0:
            for stream in self._streams.values():
                stream.synchronize()

    def copy_in(self, tensor: torch.Tensor, source: memoryview) -> None:
        if len(source) > 0:
            target = tensor.view(-1).view(torch.uint8)
            target.copy_(torch.frombuffer(bytearray(source) if source.readonly else source, dtype=torch.uint8))

    def _stream_of(self, device: torch.device) -> Any:
        if device not in self._streams:
            self._streams[device] = torch.cuda.Stream(device)
        return self._streams[device]
