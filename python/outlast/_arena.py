"""The arena's words and slots: docs/trainer_contract.md in Python, the writer's side.

Each word is stored and loaded by one instruction (an aligned item of 8 bytes of a memoryview), so that the other
side never sees half of it.
"""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass
from typing import Optional

from outlast._errors import SnapshotError
from outlast._memory import PAGE, Mapping

MAGIC = int.from_bytes(b"OUTLAST1", "little")
VERSION = 1
SLOTS_MAX = 2

# Where a word is, counted in words of 8 bytes.
WORD_MAGIC, WORD_VERSION, WORD_SLOTS, WORD_SLOT_BYTES = 0, 1, 2, 3
WORD_READING, WORD_ASK, WORD_ASK_STEP, WORD_DEADLINE = 8, 9, 10, 11
WORD_STEP = 16
# Of slot n, from SLOT_WORDS + n * SLOT_STRIDE.
SLOT_WORDS, SLOT_STRIDE = 32, 8
BEGUN, DONE, OF_STEP, LENGTH, ANSWERS = 0, 1, 2, 3, 4


def word_of(slot: int, word: int) -> int:
    return SLOT_WORDS + slot * SLOT_STRIDE + word


@dataclass(frozen=True)
class SlotSnapshot:
    """A whole snapshot in a slot."""

    slot: int
    number: int  # grows with every snapshot of the arena
    step: int
    length: int
    answers: int


@dataclass(frozen=True)
class SlotWriting:
    slot: int
    number: int


class Arena:
    """Memory that the agent owns. One thread writes at a time; close() ends its use."""

    def __init__(self, fd: int, needed: int):
        """`needed` bytes of each slot are taken from the machine at once, so that no save waits for them."""
        if sys.byteorder != "little":
            raise SnapshotError("the arena of outlast has little-endian words, which this machine has not")
        size = os.fstat(fd).st_size
        if size < PAGE:
            raise SnapshotError(f"the arena that outlast gave has {size} bytes, less than its first page")
        self._mapping = Mapping(fd, size, is_shared=True)
        self.address = self._mapping.address
        self.bytes = self._mapping.view()
        self.words = self.bytes[:PAGE].cast("Q")
        self._lock = threading.Lock()
        try:
            self._check(size)
            for slot in range(self.slots):
                self._mapping.prefault(self.slot_begin(slot), min(-(-needed // PAGE) * PAGE, self.slot_bytes))
        except OSError as error:
            self.close()
            raise SnapshotError(
                f"this machine has not enough memory for the arena of {size} bytes ({error.strerror}): "
                "use a machine with more, or a smaller state"
            ) from error
        except SnapshotError:
            self.close()
            raise

    def _check(self, size: int) -> None:
        words = self.words
        if words[WORD_MAGIC] != MAGIC:
            raise SnapshotError("the memory that outlast gave is no arena: it does not begin with OUTLAST1")
        if words[WORD_VERSION] != VERSION:
            raise SnapshotError(
                f"the arena is of version {words[WORD_VERSION]}, and this package knows {VERSION}: "
                "install the package of the same version as outlast"
            )
        self.slots, self.slot_bytes = words[WORD_SLOTS], words[WORD_SLOT_BYTES]
        if not 1 <= self.slots <= SLOTS_MAX or self.slot_bytes % PAGE != 0:
            raise SnapshotError(f"the arena says that it has {self.slots} slots of {self.slot_bytes} bytes, which cannot be")
        if size < PAGE + self.slots * self.slot_bytes:
            raise SnapshotError(
                f"the arena has {size} bytes, and {PAGE + self.slots * self.slot_bytes} are needed for its "
                f"{self.slots} slots of {self.slot_bytes}"
            )

    def slot_begin(self, slot: int) -> int:
        return PAGE + slot * self.slot_bytes

    def slot_view(self, slot: int) -> memoryview:
        begin = self.slot_begin(slot)
        return self.bytes[begin : begin + self.slot_bytes]

    def _fence(self) -> None:
        # The nearest that Python has: an atomic exchange. Where that orders less than it should, the reader's
        # second look finds out.
        with self._lock:
            pass

    def look_at(self, slot: int) -> Optional[SlotSnapshot]:
        """What a slot holds, if that is whole at this moment."""
        words, base = self.words, word_of(slot, 0)
        done = words[base + DONE]
        if done == 0 or words[base + BEGUN] != done:
            return None
        return SlotSnapshot(slot, done, words[base + OF_STEP], words[base + LENGTH], words[base + ANSWERS])

    def newest(self) -> Optional[SlotSnapshot]:
        whole = [found for found in map(self.look_at, range(self.slots)) if found]
        return max(whole, key=lambda found: found.number, default=None)

    def begin_writing(self) -> Optional[SlotWriting]:
        """Takes a slot that is not the newest, and not read either if it is whole; else the newest, as the one that is
        read stays whole then. None if the only one that there is is read, or if the reader went from one to the other
        in this moment: try again."""
        words = self.words
        number = 1 + max(words[word_of(slot, BEGUN)] for slot in range(self.slots))
        newest = self.newest()
        newest_slot = newest.slot if newest else -1
        for slot in sorted(range(self.slots), key=lambda slot: slot == newest_slot):
            # What is not whole nobody believes, whoever reads it.
            may_be_read = self.look_at(slot) is not None
            if may_be_read and words[WORD_READING] == slot + 1:
                continue
            begun = word_of(slot, BEGUN)
            before = words[begun]
            words[begun] = number
            self._fence()
            if not may_be_read or words[WORD_READING] != slot + 1:
                return SlotWriting(slot, number)
            words[begun] = before  # the reader came in the same moment, and nothing was touched
        return None

    def end_writing(self, writing: SlotWriting, step: int, length: int, answers: int) -> None:
        """All bytes have been written."""
        words, base = self.words, word_of(writing.slot, 0)
        words[base + OF_STEP] = step
        words[base + LENGTH] = length
        words[base + ANSWERS] = answers
        self._fence()  # what was copied, by this thread and by others, can be seen before the snapshot counts
        words[base + DONE] = writing.number

    def reached(self, step: int) -> None:
        self.words[WORD_STEP] = step + 1
        self._fence()  # before we look for a wish: the agent looks for steps, then stores a wish some steps further

    def forget_step(self) -> None:
        """The one of an earlier trainer, which may have been further."""
        self.words[WORD_STEP] = 0

    def close(self) -> None:
        self.words.release()
        self.bytes.release()
        self._mapping.close()
