"""Copying memory as fast as the machine does, from Python.

A call into C gives up Python's lock, so threads copy at the same time, each taking one share after the other.
Neighbours in memory that are neighbours in the snapshot are one piece. Tiny pieces are joined by one call for a
megabyte of them: 0.1 us for each of 100,000 tensors instead of 0.5.
"""

from __future__ import annotations

import ctypes
import os
import threading
from queue import Empty, SimpleQueue
from typing import Iterable, NamedTuple, Optional, Union

_TINY = 16 << 10
_JOINED_MAX = 1 << 20
# Of a thread, until it takes another: the C library writes past the caches only what is larger than these.
_SHARE_MAX = 128 << 20
_ALONE_MAX = 4 << 20  # below it, starting a thread costs more than it saves
_ALIGN = 4096


class Piece(NamedTuple):
    to: int
    source: int
    size: int


class Joined(NamedTuple):
    """Tiny ones whose copies lie side by side."""

    to: int
    sources: list
    size: int

    def copy(self, base: int) -> None:
        ctypes.memmove(base + self.to, b"".join(self.sources), self.size)


def coalesce(pieces: Iterable[tuple[int, int, int]]) -> list[Piece]:
    """(to, source, size) in the order of `to`; neighbours on both sides become one."""
    merged: list[Piece] = []
    for to, source, size in pieces:
        if size == 0:
            continue
        if merged:
            last = merged[-1]
            if last.to + last.size == to and last.source + last.size == source:
                merged[-1] = Piece(last.to, last.source, last.size + size)
                continue
        merged.append(Piece(to, source, size))
    return merged


def _join_tiny(pieces: list[Piece]) -> list[Union[Piece, Joined]]:
    jobs: list[Union[Piece, Joined]] = []
    for piece in pieces:
        if piece.size > _TINY:
            jobs.append(piece)
            continue
        source = (ctypes.c_ubyte * piece.size).from_address(piece.source)
        last = jobs[-1] if jobs else None
        if isinstance(last, Joined) and last.to + last.size == piece.to and last.size < _JOINED_MAX:
            last.sources.append(source)
            jobs[-1] = Joined(last.to, last.sources, last.size + piece.size)
        else:
            jobs.append(Joined(piece.to, [source], piece.size))
    return jobs


def _split(jobs: list[Union[Piece, Joined]], threads: int) -> list[list[Union[Piece, Joined]]]:
    """Into shares that the threads take one after the other."""
    total = sum(job.size for job in jobs)
    if threads <= 1 or total <= _ALONE_MAX:
        return [jobs]
    share_bytes = min(-(-total // threads // _ALIGN) * _ALIGN + _ALIGN, _SHARE_MAX)
    shares: list[list[Union[Piece, Joined]]] = [[]]
    room = share_bytes
    for job in jobs:
        while room < job.size and isinstance(job, Piece):
            if room > _TINY:
                shares[-1].append(Piece(job.to, job.source, room))
                job = Piece(job.to + room, job.source + room, job.size - room)
            shares.append([])
            room = share_bytes
        shares[-1].append(job)
        room -= job.size
    return shares


class CopyPlan:
    """The same copies again and again, to one base address or another. What is copied must stay where it is."""

    def __init__(self, pieces: Iterable[tuple[int, int, int]], threads: int):
        self._shares = _split(_join_tiny(coalesce(pieces)), threads)
        self._threads = min(threads, len(self._shares))

    def run(self, base: int, is_waited_for: bool = True) -> None:
        """Where nobody waits for it, one thread less: whoever trains meanwhile is the other one."""
        waiting: SimpleQueue = SimpleQueue()
        for share in self._shares:
            waiting.put(share)
        count = self._threads - 1 if is_waited_for else self._threads - 2
        helpers = [threading.Thread(target=_work, args=(waiting, base), daemon=True) for _ in range(count)]
        for helper in helpers:
            helper.start()
        try:
            _work(waiting, base)
        finally:
            # Also when a signal ends it: nobody may write any more when this returns.
            for helper in helpers:
                helper.join()


def _work(waiting: SimpleQueue, base: int) -> None:
    while True:
        try:
            share = waiting.get_nowait()
        except Empty:
            return
        for job in share:
            if isinstance(job, Piece):
                ctypes.memmove(base + job.to, job.source, job.size)
            else:
                job.copy(base)


def threads_for(asked: Optional[int]) -> int:
    """As many as this process may use, 4 at most, unless it was said."""
    return max(1, asked) if asked is not None else min(4, len(os.sched_getaffinity(0)))
