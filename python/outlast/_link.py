"""The socket to the agent: hello, welcome, and then only what a trainer tells."""

from __future__ import annotations

import array
import json
import os
import socket
import sys
import weakref
from dataclasses import dataclass
from typing import Optional

from outlast._arena import Arena
from outlast._errors import SnapshotError

PROTOCOL = 1
MESSAGE_MAX = 64 << 10
LEAVE_CODE = 75

_links: "weakref.WeakSet[Link]" = weakref.WeakSet()


@dataclass(frozen=True)
class Welcome:
    arena: Arena
    leave_code: int
    note: str


def _forget_in_child() -> None:
    # A connection that a child has, too, does not end with the trainer.
    for link in list(_links):
        link.close()


os.register_at_fork(after_in_child=_forget_in_child)


class Link:
    """One end of the connection. Sending never waits and never raises."""

    def __init__(self, connected: socket.socket):
        self._socket = connected
        self._is_open = True
        _links.add(self)

    @staticmethod
    def connect(folder: str) -> Optional["Link"]:
        """None if there is no outlast around this process: then snapshots go to this folder."""
        path = os.environ.get("OUTLAST_SOCKET", "")
        if not path:
            return None
        connecting = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            connecting.connect(path)
        except OSError:
            connecting.close()
            print(f"outlast: nobody listens at OUTLAST_SOCKET ({path}): snapshots are files in {folder}", file=sys.stderr)
            return None
        return Link(connecting)

    def hello(self, *, rank: int, ranks: int, size: int) -> Welcome:
        """Waits for the welcome: the agent may be restoring a checkpoint into the arena."""
        self.send({"type": "hello", "protocol": PROTOCOL, "rank": rank, "ranks": ranks, "bytes": size, "sdk": "python"})
        while True:
            message, fds = self._receive()
            try:
                kind = message.get("type")
                if kind == "refused":
                    raise SnapshotError(f"outlast refused this trainer: {message.get('why', 'it did not say why')}")
                if kind == "welcome":
                    return self._read_welcome(message, fds, size)
            except SnapshotError:
                self.close()
                raise
            finally:
                for fd in fds:
                    os.close(fd)

    def _receive(self) -> tuple[dict, list[int]]:
        fds = array.array("i")
        try:
            data, ancillary, flags, _ = self._socket.recvmsg(
                MESSAGE_MAX, socket.CMSG_SPACE(4 * fds.itemsize), socket.MSG_CMSG_CLOEXEC
            )
        except OSError as error:
            self.close()
            raise SnapshotError(f"the connection to outlast ended before its welcome ({error.strerror})") from error
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds.frombytes(content[: len(content) - len(content) % fds.itemsize])
        try:
            if not data:
                raise SnapshotError("outlast ended the connection before its welcome: look at what it printed")
            message = None if flags & socket.MSG_TRUNC else json.loads(data.decode("utf-8"))
            if not isinstance(message, dict):
                raise ValueError
        except (ValueError, SnapshotError) as error:
            for fd in fds:
                os.close(fd)
            self.close()
            if isinstance(error, SnapshotError):
                raise
            raise SnapshotError("outlast answered with something that is no message: is it another version?") from error
        return message, list(fds)

    def _read_welcome(self, message: dict, fds: list[int], size: int) -> Welcome:
        if message.get("protocol") != PROTOCOL:
            raise SnapshotError(
                f"outlast speaks protocol {message.get('protocol')}, and this package {PROTOCOL}: "
                "install the package of the same version as outlast"
            )
        if len(fds) != 1:
            raise SnapshotError(f"the welcome of outlast brought {len(fds)} descriptors instead of the arena's one")
        leave_code = message.get("leave_code", LEAVE_CODE)
        note = message.get("note", "")
        if not isinstance(leave_code, int) or not isinstance(note, str):
            raise SnapshotError("the welcome of outlast has a leave_code or a note of a wrong kind")
        arena = Arena(fds[0], size)
        said = (message.get("slots"), message.get("slot_bytes"))
        if said != (arena.slots, arena.slot_bytes):
            slots, slot_bytes = arena.slots, arena.slot_bytes
            arena.close()
            raise SnapshotError(
                f"outlast says {said[0]} slots of {said[1]} bytes, and its arena says {slots} of {slot_bytes}"
            )
        if arena.slot_bytes < size:
            slot_bytes = arena.slot_bytes
            arena.close()
            raise SnapshotError(f"the state needs {size} bytes, and a slot of the arena has {slot_bytes}")
        return Welcome(arena, leave_code, note)

    def send(self, message: dict) -> None:
        """Lost if there is no room for it, or nobody there."""
        if not self._is_open:
            return
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        if len(data) > MESSAGE_MAX:
            return
        try:
            self._socket.send(data, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self.close()

    def is_open(self) -> bool:
        """Whether the other side is still there."""
        if self._is_open:
            try:
                if not self._socket.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK):
                    self.close()
            except (BlockingIOError, InterruptedError):
                pass
            except OSError:
                self.close()
        return self._is_open

    def close(self) -> None:
        self._is_open = False
        self._socket.close()

    def __del__(self) -> None:
        self._socket.close()
