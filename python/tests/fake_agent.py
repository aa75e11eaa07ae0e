"""The agent's side of docs/trainer_contract.md, for tests: from that page only, nothing of the package."""

import array
import json
import mmap
import os
import queue
import socket
import tempfile
import threading

PAGE = 4096
READING, ASK, ASK_STEP, DEADLINE, STEP = 8, 9, 10, 11, 16
BEGUN, DONE, OF_STEP, LENGTH, ANSWERS = range(5)
SOON = 60  # seconds after which a test that waits has failed


def parse(snapshot):
    """A safetensors file: its data by name, its header."""
    length = int.from_bytes(snapshot[:8], "little")
    header = json.loads(bytes(snapshot[8 : 8 + length]).decode("utf-8"))
    data = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            data[name] = bytes(snapshot[8 + length + begin : 8 + length + end])
    return data, header


class FakeAgent:
    """One rank's. Listens until close(); the arena stays from trainer to trainer."""

    def __init__(self, slots=2, slot_bytes=None, welcome=None, arena_words=None, refuse=None, silent=False):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "socket")
        self.slots, self.slot_bytes = slots, slot_bytes
        self.hellos, self.messages = queue.Queue(), queue.Queue()
        self._changed_welcome, self._changed_words = welcome or {}, arena_words or {}
        self._refuse, self._silent = refuse, silent
        self.fd, self.memory, self.words, self.connection = None, None, None, None
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(self.path)
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self):
        os.environ["OUTLAST_SOCKET"] = self.path
        return self

    def __exit__(self, *_):
        os.environ.pop("OUTLAST_SOCKET", None)
        self.close()

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self.hang_up()
        self._thread.join(SOON)
        self._listener.close()
        self.folder.cleanup()

    def hang_up(self):
        """As an agent that died. Trainers that come later find nobody."""
        self._listener.shutdown(socket.SHUT_RDWR)
        if self.connection is not None:
            try:
                self.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def make_arena(self, slot_bytes):
        if self.fd is not None:
            return
        self.slot_bytes = self.slot_bytes or -(-slot_bytes // PAGE) * PAGE
        self.fd = os.memfd_create("arena")
        os.ftruncate(self.fd, PAGE + self.slots * self.slot_bytes)
        self.memory = mmap.mmap(self.fd, 0)
        self.words = memoryview(self.memory)[:PAGE].cast("Q")
        self.memory[:8] = b"OUTLAST1"
        for word, value in {1: 1, 2: self.slots, 3: self.slot_bytes, **self._changed_words}.items():
            self.words[word] = value

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connection = connection
            self._talk(connection)
            connection.close()

    def _talk(self, connection):
        while True:
            try:
                data = connection.recv(64 << 10)
            except OSError:
                return
            if not data:
                return
            message = json.loads(data.decode("utf-8"))
            if message["type"] != "hello":
                self.messages.put(message)
                continue
            self.hellos.put(message)
            if self._silent:
                return
            connection.send(b'{"type":"something of tomorrow"}')
            if self._refuse:
                connection.send(json.dumps({"type": "refused", "why": self._refuse}).encode())
                return
            self.make_arena(message["bytes"])
            welcome = {"type": "welcome", "protocol": 1, "slots": self.slots, "slot_bytes": self.slot_bytes,
                       "leave_code": 75, "note": "", "new": [1]}  # fmt: skip
            fds = array.array("i", [self.fd])
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)]
            connection.sendmsg([json.dumps({**welcome, **self._changed_welcome}).encode()], rights)

    # --- What an agent does with the arena

    def slot_word(self, slot, word):
        return self.words[32 + 8 * slot + word]

    def whole(self):
        """(number, slot) of all whole snapshots, the newest last."""
        found = []
        for slot in range(self.slots):
            done = self.slot_word(slot, DONE)
            if done and self.slot_word(slot, BEGUN) == done:
                found.append((done, slot))
        return sorted(found)

    def bytes_of(self, slot):
        begin = PAGE + slot * self.slot_bytes
        return self.memory[begin : begin + self.slot_word(slot, LENGTH)]

    def newest(self):
        """(step, data by name, header)"""
        _, slot = self.whole()[-1]
        return (self.slot_word(slot, OF_STEP), *parse(self.bytes_of(slot)))

    def read(self):
        """The same as a reader beside a trainer that writes: None if there was nothing whole to read."""
        if not self.whole():
            return None
        number, slot = self.whole()[-1]
        self.words[READING] = slot + 1
        try:
            if (number, slot) not in self.whole():
                return None
            step, content = self.slot_word(slot, OF_STEP), self.bytes_of(slot)
            return (step, content) if self.slot_word(slot, BEGUN) == number else None
        finally:
            self.words[READING] = 0

    def ask(self, ask, step=0):
        self.words[ASK_STEP] = step
        self.words[ASK] = ask

    def told(self, kind):
        """The next message of this type."""
        while True:
            message = self.messages.get(timeout=SOON)
            if message["type"] == kind:
                return message
