"""Memory by its address: what the mmap module cannot do with memory that a child must not inherit."""

from __future__ import annotations

import ctypes
import errno
import os

PAGE = 4096

_PROT_READ, _PROT_WRITE = 1, 2
_MAP_SHARED, _MAP_PRIVATE = 1, 2
_MADV_DONTFORK, _MADV_HUGEPAGE, _MADV_POPULATE_WRITE = 10, 14, 23
_MAP_FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_mmap = _libc.mmap
_mmap.restype = ctypes.c_void_p
_mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_munmap = _libc.munmap
_munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_madvise = _libc.madvise
_madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def view_of(address: int, size: int) -> memoryview:
    """The bytes there. Whoever asks sees to it that they stay."""
    if size == 0:
        return memoryview(bytearray())
    return memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")


class Mapping:
    """A file, or memory that has a descriptor, in this process. A child made by fork() does not have what is
    shared, and must not unmap what may lie there by then."""

    address = 0

    def __init__(self, fd: int, size: int, *, is_shared: bool):
        self._pid = os.getpid()
        self.size = size
        if size == 0:  # which cannot be mapped
            return
        protection = _PROT_READ | _PROT_WRITE if is_shared else _PROT_READ
        address = _mmap(None, size, protection, _MAP_SHARED if is_shared else _MAP_PRIVATE, fd, 0)
        if address is None or address == _MAP_FAILED:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self.address = address
        if is_shared:
            _madvise(address, size, _MADV_DONTFORK)

    def view(self) -> memoryview:
        return view_of(self.address, self.size)

    def prefault(self, begin: int, size: int) -> None:
        """Takes these pages from the machine now, and leaves what is in them. OSError if it has not enough."""
        if size == 0:
            return
        _madvise(self.address + begin, size, _MADV_HUGEPAGE)  # where allowed; nothing is lost where not
        if _madvise(self.address + begin, size, _MADV_POPULATE_WRITE) == 0:
            return
        if ctypes.get_errno() != errno.EINVAL:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        # Linux before 5.14.
        view = self.view()
        for at in range(begin, begin + size, PAGE):
            view[at] = view[at]

    def close(self) -> None:
        """No view may be used after it."""
        if self.address and self._pid == os.getpid():
            _munmap(self.address, self.size)
        self.address = 0

    def __del__(self) -> None:
        self.close()
