"""The two places where snapshots go: the arena of an agent, and files. Both have the same calls."""

from __future__ import annotations

import sys
import time
from typing import Optional, Sequence

from outlast._arena import WORD_ASK, WORD_ASK_STEP, WORD_DEADLINE, Arena, SlotWriting
from outlast._errors import SnapshotError
from outlast._files import SnapshotFiles
from outlast._link import Link
from outlast._state import State

_REST_MIN = 1.0  # seconds from one save to the next that nobody wished for
_REST_FACTOR = 100  # of what a save costs
_READ_WAIT = 0.001


class ArenaSaver:
    """Into memory that the agent owns. When the agent is gone nobody would read it: training goes on, and nothing is
    saved any more."""

    def __init__(self, arena: Arena, link: Link, state: State, ranks: int):
        self._arena, self._link, self._state = arena, link, state
        self._has_head = [False] * arena.slots
        self._is_alone = ranks == 1
        self.is_told_to_leave = False
        self._answered = max((found.answers for found in map(arena.look_at, range(arena.slots)) if found), default=0)
        arena.forget_step()
        self._saved_at = time.monotonic()
        self._cost = 0.0
        self._has_said_gone = False

    def resume(self) -> Optional[int]:
        newest = self._arena.newest()
        if newest is None:
            return None
        if newest.length > self._arena.slot_bytes:
            raise SnapshotError(f"the snapshot in the arena says that it has {newest.length} bytes, more than its slot")
        begin = self._arena.address + self._arena.slot_begin(newest.slot)
        self._state.read_from(begin, newest.length, "the snapshot in the arena")
        self._arena.reached(newest.step)
        return newest.step

    def reached(self, step: int) -> None:
        self._arena.reached(step)

    def wish(self, step: int) -> int:
        """The one that a snapshot of this step answers; 0 if none. Looked up once for each save: there may be another
        in the next moment."""
        if not self._is_there():
            return 0
        words = self._arena.words
        ask = words[WORD_ASK]
        return ask if ask not in (0, self._answered) and step >= words[WORD_ASK_STEP] else 0

    def is_due(self, step: int, every_steps: int) -> bool:
        if not self._is_there():
            return False
        if every_steps > 0:
            return step % every_steps == 0
        rest = max(_REST_MIN, _REST_FACTOR * self._cost)
        return self._is_alone and time.monotonic() - self._saved_at >= rest

    def deadline(self) -> int:
        return self._arena.words[WORD_DEADLINE]

    def _is_there(self) -> bool:
        if self._link.is_open():
            return True
        if not self._has_said_gone:
            self._has_said_gone = True
            print("outlast: outlast itself has ended: training goes on, but nothing is saved any more", file=sys.stderr)
        return False

    def save(self, step: int, blobs: Sequence[bytes], answers: int, is_waited_for: bool = True) -> None:
        writing = self._take_slot()
        if writing is None:
            return
        begun = time.monotonic()
        address = self._arena.address + self._arena.slot_begin(writing.slot)
        view = self._arena.slot_view(writing.slot)
        self._state.copy_into(
            address, view, step, blobs, has_head=self._has_head[writing.slot], is_waited_for=is_waited_for
        )
        self._has_head[writing.slot] = True
        self._arena.end_writing(writing, step, self._state.length(blobs), answers)
        self._saved_at = time.monotonic()
        self._cost = self._saved_at - begun
        if answers:
            self._answered = answers
            self.is_told_to_leave = answers % 2 == 1
        self._link.send({"type": "saved", "seconds": self._cost if is_waited_for else 0.0})

    def _take_slot(self) -> Optional[SlotWriting]:
        """None if the agent is gone."""
        while self._is_there():
            writing = self._arena.begin_writing()
            if writing is not None:
                return writing
            time.sleep(_READ_WAIT)  # the only slot is being read
        return None

    def memory(self) -> tuple[int, int]:
        """Address and size: for those who pin it. It is gone after close()."""
        return self._arena.address, self._arena.bytes.nbytes

    def close(self) -> None:
        self._arena.close()


class FileSaver:
    """Into files, where there is no agent."""

    is_told_to_leave = False

    def __init__(self, files: SnapshotFiles, state: State, interval: float, ranks: int):
        self._files, self._state = files, state
        self._interval, self._is_alone = interval, ranks == 1
        self._saved_at = time.monotonic()
        self._has_said_every_steps = False
        self.folder = files.folder

    def resume(self) -> Optional[int]:
        self._files.own()
        step = self._files.newest()
        if step is None:
            why = self._files.why_none()
            if why:
                print(f"outlast: {why}", file=sys.stderr)
            self._files.forget_after(None)
            return None
        mapping = self._files.map(step)
        try:
            self._state.read_from(mapping.address, mapping.size, self._files.path(step))
        finally:
            mapping.close()
        self._files.forget_after(step)
        return step

    def reached(self, step: int) -> None:
        pass

    def wish(self, step: int) -> int:
        return 0

    def is_due(self, step: int, every_steps: int) -> bool:
        if every_steps > 0:
            return step % every_steps == 0
        if self._is_alone:
            return time.monotonic() - self._saved_at >= self._interval
        # Each by its own clock, they would have no step that all have.
        if not self._has_said_every_steps:
            self._has_said_every_steps = True
            print("outlast: several processes without outlast save nothing by themselves: set every_steps", file=sys.stderr)
        return False

    def save(self, step: int, blobs: Sequence[bytes], answers: int, is_waited_for: bool = True) -> None:
        self._files.write(step, self._state.parts(step, blobs))
        self._saved_at = time.monotonic()

    def close(self) -> None:
        self._files.close()
