"""Snapshots without outlast: files in a folder, two of each rank."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from typing import Iterable, Optional

from outlast._errors import SnapshotError
from outlast._folder_lock import FolderLock, take
from outlast._layout import step_in
from outlast._memory import Mapping

_NAME = re.compile(r"snapshot-(0|[1-9][0-9]*)-rank-(0|[1-9][0-9]*)-of-([1-9][0-9]*)\.safetensors")
# What a writer was killed over: this package's, and the C++ library's.
_UNFINISHED = re.compile(
    r"(?:\.snapshot|snapshot-[0-9]+)-rank-([0-9]+)-of-([0-9]+)(?:(?:\.[0-9]+)?\.new|\.safetensors.*\.unfinished)"
)
_KEPT = 2
_ASIDE = ".aside"


class SnapshotFiles:
    """Those of one rank, in a folder that all ranks see."""

    def __init__(self, folder: str, rank: int, ranks: int):
        self.folder = os.fspath(folder)
        self._rank, self._ranks = rank, ranks
        self._lock: Optional[FolderLock] = None

    def own(self) -> FolderLock:
        """Makes the folder, and this the process that writes this rank's files there, until close(). SnapshotError if
        another one does, or nothing can be written there."""
        if self._lock is not None:
            return self._lock
        try:
            os.makedirs(self.folder, exist_ok=True)
            if not os.access(self.folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            self._lock, is_new = take(self.folder, self._rank, self._ranks)
            if is_new:
                for name in os.listdir(self.folder):
                    match = _UNFINISHED.fullmatch(name)
                    if match and (int(match[1]), int(match[2])) == (self._rank, self._ranks):
                        os.unlink(os.path.join(self.folder, name))
        except OSError as error:
            raise SnapshotError(f"cannot save into {self.folder}: {error.strerror}") from error
        return self._lock

    def close(self) -> None:
        self._lock = None

    def path(self, step: int, rank: Optional[int] = None) -> str:
        rank = self._rank if rank is None else rank
        return os.path.join(self.folder, f"snapshot-{step}-rank-{rank}-of-{self._ranks}.safetensors")

    def newest(self) -> Optional[int]:
        """The newest step that all ranks have, whole. Every rank judges the files of all, and so all come to the same."""
        for step in sorted(self._common(self._steps()), reverse=True):
            if all(self._is_whole(step, rank) for rank in range(self._ranks)):
                return step
        return None

    def why_none(self) -> Optional[str]:
        """Why newest() found none, if there are snapshots nevertheless."""
        if self._steps():
            return (
                f"{self.folder} has no step that all of {self._ranks} ranks have, whole: what rank {self._rank} has is set "
                f"aside ({_ASIDE}), and training begins anew"
            )
        others = sorted({ranks for _, _, ranks in self._names()})
        if not others:
            return None
        return (
            f"{self.folder} has snapshots of a training with {' or '.join(map(str, others))} ranks, and this one has "
            f"{self._ranks}: training begins anew"
        )

    def _is_whole(self, step: int, rank: int) -> bool:
        path = self.path(step, rank)
        try:
            mapping = self.map(step, rank)
        except FileNotFoundError:  # its rank came to this judgement, too, and has removed it
            return False
        try:
            if step_in(mapping.view(), path) == step:
                return True
            why = f"{path} is of another step than its name says"
        except SnapshotError as error:
            why = str(error)
        finally:
            mapping.close()
        print(f"outlast: {why}; it is passed over", file=sys.stderr)
        return False

    def map(self, step: int, rank: Optional[int] = None) -> Mapping:
        """SnapshotError if it cannot be read, FileNotFoundError if it is not there."""
        path = self.path(step, rank)
        try:
            with open(path, "rb") as file:
                return Mapping(file.fileno(), os.fstat(file.fileno()).st_size, is_shared=False)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise SnapshotError(f"cannot read {path}: {error.strerror}") from error

    def write(self, step: int, parts: Iterable) -> None:
        """Whole or not at all. Then the two newest up to it are kept, and the newest that all ranks have, from which a
        resume would begin now; later ones belong to a training that was given up."""
        beside = os.path.join(self.folder, f".snapshot-rank-{self._rank}-of-{self._ranks}.{os.getpid()}.new")
        lock = self.own()
        try:
            with lock.writing:
                self._write_whole(beside, self.path(step), parts)
                self._sync_folder()
                steps = self._steps()
                mine = sorted(steps.get(self._rank, set()))
                kept = [other for other in mine if other <= step][-_KEPT:]
                kept += sorted(other for other in self._common(steps) if other <= step)[-1:]
                for other in mine:
                    if other not in kept:
                        os.unlink(self.path(other))
        except OSError as error:
            raise SnapshotError(f"cannot save into {self.folder}: {error.strerror}") from error

    @staticmethod
    def _write_whole(beside: str, path: str, parts: Iterable) -> None:
        with open(beside, "xb") as file:
            try:
                for part in parts:
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
                os.rename(beside, path)
            except BaseException:
                # Half a snapshot would take the room that the next one may need.
                with contextlib.suppress(OSError):
                    os.unlink(beside)
                raise

    def forget_after(self, step: Optional[int]) -> None:
        """Removes this rank's files of later steps than the one that was resumed. If none was, all get another name, as
        somebody may have meant to go on from them. Together with new ones of other ranks they would be believed."""
        lock = self.own()
        try:
            with lock.writing:
                later = [other for other in self._steps().get(self._rank, set()) if step is None or other > step]
                for path in map(self.path, later):
                    if step is None:
                        os.rename(path, path + _ASIDE)
                    else:
                        os.unlink(path)
                if later:
                    self._sync_folder()
        except OSError as error:
            verb = "set aside" if step is None else "remove"
            raise SnapshotError(f"cannot {verb} old snapshots in {self.folder}: {error.strerror}") from error

    def _steps(self) -> dict[int, set[int]]:
        """Of each rank, of a training with as many as this one."""
        found: dict[int, set[int]] = {}
        for step, rank, ranks in self._names():
            if ranks == self._ranks:
                found.setdefault(rank, set()).add(step)
        return found

    def _names(self) -> list[tuple[int, int, int]]:
        """Step, rank and ranks, of all snapshots in the folder."""
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SnapshotError(f"cannot look into {self.folder}: {error.strerror}") from error
        matches = map(_NAME.fullmatch, names)
        return [(int(match[1]), int(match[2]), int(match[3])) for match in matches if match]

    def _common(self, steps: dict[int, set[int]]) -> set[int]:
        return set.intersection(*(steps.get(rank, set()) for rank in range(self._ranks)))

    def _sync_folder(self) -> None:
        fd = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
