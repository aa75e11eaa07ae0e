from __future__ import annotations

import math
import os
import pickle
import sys
import threading
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Callable, Optional

from outlast._copy import threads_for
from outlast._errors import Leave, SnapshotError
from outlast._files import SnapshotFiles
from outlast._layout import Blob
from outlast._link import LEAVE_CODE, Link
from outlast._numbers import finite, step_number
from outlast._ranks import find_rank
from outlast._savers import ArenaSaver, FileSaver
from outlast._state import State
from outlast._tensors import WIDTHS, Tensor, tensor_of

_TELL_EVERY = 0.2  # seconds


@dataclass(frozen=True)
class Notice:
    """Why this trainer will have to go."""

    ends: datetime  # of the machine

    @property
    def seconds_left(self) -> float:
        return (self.ends - datetime.now(timezone.utc)).total_seconds()


class Snapshots:
    """The state of one process of a training. Everything in it is registered once, before resume(); from then on
    it is changed in place. Belongs to the thread that made it, and to this process: a child made by fork() is
    refused. Calls raise SnapshotError where it says so.

        snapshots = outlast.Snapshots()
        snapshots.add("weights", weights)
        for step in range(snapshots.resume() or 0, steps):
            train(step)
            snapshots.step_done(step + 1)
        snapshots.done()

    Under `outlast run` a snapshot is a copy into memory that the agent owns: it outlives a crash of the trainer, and
    the agent makes checkpoints of it; should outlast itself end, training goes on, and nothing is saved any more.
    Without outlast around it the same calls save to files and resume from them.

    rank, ranks: which process of the job this is, and of how many; both or neither. Unless given: RANK and
        WORLD_SIZE, or SLURM_PROCID and SLURM_NTASKS within a step of srun (a batch script has them, too, and is no
        rank), or OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE, or 0 of 1; what is empty is as absent. A snapshot
        of the job counts when all ranks have one of the same step.
    every_steps: step_done() also takes a snapshot after every so many steps; 0: only when outlast wants one, and,
        where there is only one process, as often as costs no more than a hundredth of the time.
    folder, file_interval: without outlast, where files go, and after how many seconds step_done() writes them unless
        every_steps says it. Several ranks must say every_steps there, as all must choose the same steps: without it
        step_done() saves nothing by itself.
    threads: for copying; as many as this process may use, 4 at most, unless given.
    """

    def __init__(self, *, rank: Optional[int] = None, ranks: Optional[int] = None, every_steps: int = 0,
                 folder: str = "outlast-snapshots", file_interval: float = 300.0,
                 threads: Optional[int] = None):  # fmt: skip
        self._pid = os.getpid()
        self._rank, self._ranks = find_rank(rank, ranks)
        self._every_steps = step_number(every_steps)
        self._state = State(threads_for(threads))
        self._files = FileSaver(SnapshotFiles(folder, self._rank, self._ranks), self._state, file_interval, self._ranks)
        self._arena: Optional[ArenaSaver] = None
        self._link = Link.connect(self._files.folder)
        self._leave_code = LEAVE_CODE
        self._is_begun = False
        self._is_leaving = False
        self._reached: Optional[int] = None  # by step_done()
        self._saved: Optional[int] = None
        self._told_at = -math.inf
        self._is_closed = False
        self._saving: Optional[threading.Thread] = None
        self._saving_error: Optional[BaseException] = None
        self._is_saving = threading.Lock()

    # --- What belongs to the state. Names are text, not empty, each once. Refused after resume() or a save, and if
    # --- two overlap in memory.

    def add(self, name: str, array: Any) -> None:
        """A numpy array, a torch tensor on the CPU, or a writable buffer (array.array, bytearray, memoryview);
        contiguous. resume() writes into it."""
        self._check_process()
        self._state.add_tensor(tensor_of(name, array))

    def add_custom(self, name: str, dtype: str, shape: Any, copy_out: Callable[[memoryview], None],
                   copy_in: Callable[[memoryview], None]) -> None:  # fmt: skip
        """A tensor that only its owner can copy, as on a GPU. `copy_out` fills the bytes that it is given, in each
        save, for save_async() on another thread; `copy_in` takes them in resume(). Neither may keep them. `dtype` is
        called as in the safetensors format: "F32", "BF16", …"""
        self._check_process()
        if dtype not in WIDTHS:
            raise SnapshotError(f'"{name}" has the dtype {dtype!r}, which is none of {", ".join(WIDTHS)}')
        self._state.add_tensor(Tensor(name, dtype, tuple(map(int, shape)), copy_out=copy_out, copy_in=copy_in))

    def add_blob(self, name: str, get: Callable[[], bytes], set: Callable[[bytes], None], capacity: int = 1 << 20) -> None:
        """Bytes that differ in length from time to time (a generator's state, a position in the data): `get` is
        called in each save, `set` in resume(). At most `capacity` bytes."""
        self._check_process()
        self._state.add_blob(Blob(name, capacity, get, set))

    def add_object(self, name: str, get: Callable[[], Any], set: Callable[[Any], None], capacity: int = 1 << 20,
                   check: Optional[Callable[[Any], None]] = None) -> None:  # fmt: skip
        """Anything that can be pickled, by two functions such as state_dict and load_state_dict. `check` sees it in
        resume() before anything is changed, and may raise SnapshotError."""

        def decode(data: bytes) -> Any:
            value = pickle.loads(data)
            if check is not None:
                check(value)
            return value

        self._check_process()
        self._state.add_blob(Blob(name, capacity, lambda: pickle.dumps(get(), protocol=4), set, decode))

    # --- The beginning

    def resume(self) -> Optional[int]:
        """Puts back the newest snapshot and returns its step; None if there is none, and nothing is changed then.
        SnapshotError if there is one that does not fit what was registered, naming the first that differs; nothing is
        changed then either. Only if a `set`, a `copy_in` or a load_state_dict() raises by itself is a part changed."""
        self._begin()
        self.before_update()
        return self._saver().resume()

    # --- After each step

    def step_done(self, step: int, total: Optional[int] = None, *, leave: bool = True, **metrics: Any) -> bool:
        """Tells how far training is, and takes a snapshot if one is wanted or due, and after the last step of all.
        Raises Leave, which ends the process, if this machine ends and the snapshot is taken; with leave=False it returns
        False instead, and the trainer is to exit with leave_code."""
        number = step_number(step)
        self._begin()
        self.before_update()
        if not self._is_leaving:
            saver = self._saver()
            saver.reached(number)
            self._reached = number
            # Each message wakes the agent up; the arena has the step at any time.
            if time.monotonic() - self._told_at >= _TELL_EVERY or number == total:
                self._told_at = time.monotonic()
                self.progress(number, total)
            if metrics:
                self.metrics(**metrics)
            wish = saver.wish(number)
            if wish or saver.is_due(number, self._every_steps) or (total is not None and number >= total):
                self._save(saver, number, self._state.blobs_now(), wish)
                self._saved = number
            self._is_leaving = saver.is_told_to_leave  # by this wish, or by one that the user's save() answered
        if self._is_leaving and leave:
            raise Leave(self._leave_code)
        return not self._is_leaving

    def save(self, step: int) -> None:
        """Takes a snapshot: returns when all is copied. SnapshotError if nothing is registered, a blob is longer than
        it may be, or a tensor is not what it was."""
        number = step_number(step)
        self._begin()
        self.before_update()
        saver = self._saver()
        saver.reached(number)
        self._save(saver, number, self._state.blobs_now(), saver.wish(number))
        self._saved = number

    def save_async(self, step: int) -> None:
        """The same, while training goes on: what is registered must not change before before_update() has
        returned. Blobs are taken at once."""
        number = step_number(step)
        self._begin()
        self.before_update()
        saver, blobs = self._saver(), self._state.blobs_now()
        saver.reached(number)
        wish = saver.wish(number)
        self._saved = number

        def run() -> None:
            try:
                self._save(saver, number, blobs, wish, is_waited_for=False)
            except BaseException as error:  # told by before_update()
                self._saving_error = error

        # Not a daemon: a snapshot that has begun is finished before the process ends.
        self._saving = threading.Thread(target=run, name="outlast-save")
        self._saving.start()

    def before_update(self) -> None:
        """Waits for save_async(), if one is under way, and raises what went wrong there. Before the parameters change,
        in every step."""
        if self._saving is None:
            return
        self._check_process()
        self._saving.join()
        self._saving = None
        error, self._saving_error = self._saving_error, None
        if error is not None:
            raise error

    # --- What else can be said and asked. Never raises, never waits, but for done().

    def notice(self) -> Optional[Notice]:
        milliseconds = self._arena.deadline() if self._is_usable() and self._arena else 0
        if not milliseconds:
            return None
        try:
            return Notice(datetime.fromtimestamp(milliseconds / 1000, timezone.utc))
        except (ValueError, OverflowError, OSError):
            return None

    def is_wanted(self, step: int) -> bool:
        """Whether outlast would like a snapshot after this step, which is done: for those who do not use step_done()."""
        try:
            number = step_number(step)
        except SnapshotError:
            return False
        if not self._is_usable() or self._arena is None:
            return False
        # Else the agent would ask several ranks for a step that some have behind them.
        self._arena.reached(number)
        return self._arena.wish(number) != 0

    def progress(self, step: int, total: Optional[int] = None, epoch: Optional[float] = None) -> None:
        try:
            message = {"type": "progress", "step": step_number(step)}
            if total is not None:
                message["total"] = step_number(total)
        except SnapshotError:
            return
        if epoch is not None and finite(epoch) is not None:
            message["epoch"] = finite(epoch)
        if self._is_usable() and self._arena is not None:
            self._arena.reached(message["step"])
        self._tell(message)

    def metrics(self, **values: Any) -> None:
        """Only finite numbers are kept."""
        kept = {name: finite(value) for name, value in values.items() if finite(value) is not None}
        names = list(kept)
        # A message has room for so many, unless their names are very long.
        for begin in range(0, len(names), 100):
            self._tell({"type": "metrics", "values": {name: kept[name] for name in names[begin : begin + 100]}})

    def done(self) -> None:
        """The job is done, whatever exit code follows: takes a last snapshot, if step_done() told of a step since the
        last one, and says so; of several ranks, each. Ignored after step_done() said leave. SnapshotError as save()."""
        if self._is_leaving or not self._is_usable():
            return
        self.before_update()
        if self._reached is not None and self._reached != self._saved:
            self.save(self._reached)
        self._tell({"type": "done"})

    @property
    def has_agent(self) -> bool:
        """Whether `outlast run` is around this process, and still there."""
        return self._is_usable() and self._link is not None and self._link.is_open()

    @property
    def leave_code(self) -> int:
        return self._leave_code

    # --- The end

    def close(self) -> None:
        """Waits for a save under way. Never says done()."""
        if self._is_closed or self._pid != os.getpid():
            return
        try:
            self.before_update()
        finally:
            self._is_closed = True
            if self._link is not None:
                self._link.close()
            if self._arena is not None:
                self._arena.close()
                self._arena = None
            self._files.close()

    def __enter__(self) -> "Snapshots":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # --- Inside

    def _is_usable(self) -> bool:
        return self._pid == os.getpid() and not self._is_closed

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            raise SnapshotError("these snapshots belong to the process that made them, and this is a child of it: make others here")
        if self._is_closed:
            raise SnapshotError("these snapshots are closed")

    def _begin(self) -> None:
        """What is registered is the state from now on; the arena is as large as that."""
        self._check_process()
        if self._is_begun:
            return
        self._state.seal()
        if self._link is not None:
            welcome = self._link.hello(rank=self._rank, ranks=self._ranks, size=self._state.layout.bytes_max)
            self._leave_code = welcome.leave_code
            if welcome.note:
                print(f"outlast: {welcome.note}", file=sys.stderr)
            self._arena = ArenaSaver(welcome.arena, self._link, self._state, self._ranks)
        self._is_begun = True

    def _save(self, saver: Any, step: int, blobs: list[bytes], wish: int, is_waited_for: bool = True) -> None:
        # Two at the same time would write into one slot.
        if not self._is_saving.acquire(blocking=False):
            raise SnapshotError(
                "a snapshot is being taken already: these snapshots belong to one thread, and not to a signal handler, "
                "which should only leave a note for the training loop"
            )
        try:
            saver.save(step, blobs, wish, is_waited_for)
        finally:
            self._is_saving.release()

    def _saver(self) -> Any:
        return self._files if self._arena is None else self._arena

    def _tell(self, message: dict) -> None:
        if self._is_usable() and self._arena is not None and self._link is not None:
            self._link.send(message)
