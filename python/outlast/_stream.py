"""A copy that writes past the caches, whatever its size.

The C library does that only for what is larger than the caches, and these have hundreds of megabytes on a server: a
state of a thousand smaller tensors would take half as long again as one of the same size in one piece, because each
line of the arena is read into the cache before it is overwritten. Python has no instruction for it, so here are
some for x86-64. Where there is another processor, or the system lets no process bring its own instructions, it is
memmove().
"""

from __future__ import annotations

import ctypes
import platform
import sys
from typing import Callable

from outlast._memory import executable

# rdi: to, at a multiple of 16; rsi: source; rdx: bytes, a multiple of BLOCK, not 0. Two pages at a time, as memory
# is faster so. Changes no register that a caller keeps.
BLOCK = 8192
_CODE = bytes.fromhex(
    "b9 40 00 00 00"                # mov ecx,0x40
    "f3 0f 6f 06"                   # movdqu xmm0,[rsi]
    "f3 0f 6f 4e 10"                # movdqu xmm1,[rsi+0x10]
    "f3 0f 6f 56 20"                # movdqu xmm2,[rsi+0x20]
    "f3 0f 6f 5e 30"                # movdqu xmm3,[rsi+0x30]
    "f3 0f 6f a6 00 10 00 00"       # movdqu xmm4,[rsi+0x1000]
    "f3 0f 6f ae 10 10 00 00"       # movdqu xmm5,[rsi+0x1010]
    "f3 0f 6f b6 20 10 00 00"       # movdqu xmm6,[rsi+0x1020]
    "f3 0f 6f be 30 10 00 00"       # movdqu xmm7,[rsi+0x1030]
    "66 0f e7 07"                   # movntdq [rdi],xmm0
    "66 0f e7 4f 10"                # movntdq [rdi+0x10],xmm1
    "66 0f e7 57 20"                # movntdq [rdi+0x20],xmm2
    "66 0f e7 5f 30"                # movntdq [rdi+0x30],xmm3
    "66 0f e7 a7 00 10 00 00"       # movntdq [rdi+0x1000],xmm4
    "66 0f e7 af 10 10 00 00"       # movntdq [rdi+0x1010],xmm5
    "66 0f e7 b7 20 10 00 00"       # movntdq [rdi+0x1020],xmm6
    "66 0f e7 bf 30 10 00 00"       # movntdq [rdi+0x1030],xmm7
    "48 83 c6 40"                   # add rsi,0x40
    "48 83 c7 40"                   # add rdi,0x40
    "ff c9"                         # dec ecx
    "75 8e"                         # jne 0x5
    "48 81 c6 00 10 00 00"          # add rsi,0x1000
    "48 81 c7 00 10 00 00"          # add rdi,0x1000
    "48 81 ea 00 20 00 00"          # sub rdx,0x2000
    "0f 85 6e ff ff ff"             # jne 0x0
    "0f ae f8"                      # sfence
    "c3"                            # ret
)

# Below it, the call costs more than it saves, and what was just written may be wanted soon.
STREAMED_MIN = 64 << 10
_LINE = 64

_memmove = ctypes.memmove


def _make() -> Callable[[int, int, int], object]:
    if platform.machine() != "x86_64" or sys.maxsize < 1 << 32:
        return _memmove
    address = executable(_CODE)
    if address == 0:
        return _memmove
    stream = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(address)

    def copy(to: int, source: int, size: int) -> None:
        if size < STREAMED_MIN:
            _memmove(to, source, size)
            return
        before = -to % _LINE
        if before:
            _memmove(to, source, before)
        middle = (size - before) // BLOCK * BLOCK
        stream(to + before, source + before, middle)
        done = before + middle
        if done < size:
            _memmove(to + done, source + done, size - done)

    return copy


# (to, source, bytes): all that was written can be seen by others when it returns. Gives up Python's lock meanwhile.
copy = _make()
IS_STREAMING = copy is not _memmove
