"""One process writes the files of a rank in a folder, and no other."""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import threading
import weakref

from outlast._errors import SnapshotError

_NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK)

_held: "weakref.WeakValueDictionary[tuple[int, int], FolderLock]" = weakref.WeakValueDictionary()
_taking = threading.Lock()


class FolderLock:
    """Held as long as anybody in this process holds on to it; ends with the process, whatever ends that."""

    def __init__(self, fd: int):
        self._fd = fd
        self.writing = threading.Lock()  # for those of this process that share it

    def _forget(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self._forget()


def _forget_in_child() -> None:
    # What a child has, too, would outlive the trainer. Nothing is unlocked by it: the parent still has it.
    global _taking
    _taking = threading.Lock()
    for lock in list(_held.values()):
        lock._forget()
    _held.clear()


os.register_at_fork(after_in_child=_forget_in_child)


def take(folder: str, rank: int, ranks: int) -> tuple[FolderLock, bool]:
    """And whether it is new to this process: then nobody else writes what is unfinished there. SnapshotError if
    another process has it; OSError if the folder cannot be written to."""
    path = os.path.join(folder, f".rank-{rank}-of-{ranks}.lock")
    with _taking:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            found = os.fstat(fd)
            place = (found.st_dev, found.st_ino)
            held = _held.get(place)
            if held is not None:
                os.close(fd)
                return held, False
            _lock(fd, folder, rank, ranks)
            os.ftruncate(fd, 0)
            os.pwrite(fd, b"%d\n" % os.getpid(), 0)
        except BaseException:
            os.close(fd)
            raise
        lock = _held[place] = FolderLock(fd)
        return lock, True


def _lock(fd: int, folder: str, rank: int, ranks: int) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
        raise SnapshotError(
            f"another process (pid {pid}) saves rank {rank} of {ranks} in {folder}: give another folder, or the right rank"
        ) from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        print(
            f"outlast: the file system of {folder} has no locks ({error.strerror}): see to it that no two processes "
            f"save rank {rank} there",
            file=sys.stderr,
        )
