"""One `outlast run` as a process: what it and its trainer say, who belongs to it, and how it is killed."""

import json
import os
import pathlib
import signal
import subprocess
import threading
import time

MARK = "OUTLAST_KILL_TEST_LIFE"
KEEPER = "outlast-keeper"


class Trouble(Exception):
    pass


def read(path):
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b""


class Life:
    """Every process that descends from it bears its mark in the environment."""

    def __init__(self, command, folder, number):
        self.mark = f"{MARK}={os.getpid()}.{number}"
        self.printed, self.events, self.other = [], [], []  # (when, line) and (when, facts); then lines
        self.started = time.monotonic()
        name, value = self.mark.split("=")
        self.child = subprocess.Popen(command, cwd=folder, env={**os.environ, name: value}, text=True,
                                      errors="replace", stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.readers = [threading.Thread(target=self._read_out, daemon=True),
                        threading.Thread(target=self._read_err, daemon=True)]
        for reader in self.readers:
            reader.start()

    def _read_out(self):
        for line in self.child.stdout:
            self.printed.append((time.monotonic(), line.rstrip("\n")))

    def _read_err(self):
        for line in self.child.stderr:
            try:
                facts = json.loads(line)
                self.events.append((time.monotonic(), facts["event"], facts))
            except (ValueError, KeyError, TypeError):
                self.other.append(line.rstrip("\n"))

    def wait(self, seconds):
        """The exit code, or None if it still runs."""
        try:
            return self.child.wait(max(0, seconds))
        except subprocess.TimeoutExpired:
            return None

    def close(self, seconds):
        """Everything that it said is read. A pipe that stays open is held by somebody who lives."""
        for reader in self.readers:
            reader.join(seconds)
            if reader.is_alive():
                raise Trouble(f"somebody holds its output open: {self.family()}")

    def when(self, *kinds, after=0):
        """When the first of these events came, past so many events."""
        return next((when for when, kind, _ in self.events[after:] if kind in kinds), None)

    def await_event(self, seconds, *kinds, after=0):
        limit = time.monotonic() + seconds
        while self.when(*kinds, after=after) is None and self.child.poll() is None:
            if time.monotonic() > limit:
                raise Trouble(f"none of {kinds} happened for {seconds} s")
            time.sleep(0.01)

    def family(self):
        """Name by process, without those that only wait to be asked how they ended."""
        found = {}
        for path in pathlib.Path("/proc").iterdir():
            if path.name.isdigit() and self.mark.encode() in read(path / "environ").split(b"\0"):
                found[int(path.name)] = read(path / "comm").decode().strip()
        return found

    def trainer(self):
        """The agent's child that is no keeper; None while there is none."""
        for pid, name in self.family().items():
            fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
            if fields and int(fields[1]) == self.child.pid and name != KEEPER:
                # Between fork and exec it is not the trainer yet, but what becomes of it is the same.
                return pid
        return None

    def kill_agent(self):
        self.child.kill()
        self.child.wait()

    def kill_all(self):
        """As a machine that goes: nobody is left to do anything about it."""
        for pid in sorted(self.family(), key=lambda pid: read(f"/proc/{pid}/comm").strip() != KEEPER.encode()):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.child.kill()
        self.child.wait()

    def seconds_until_gone(self, limit):
        began = time.monotonic()
        while left := self.family():
            if time.monotonic() - began > limit:
                raise Trouble(f"{limit} s after its agent these still live: {left}")
            time.sleep(0.005)
        return time.monotonic() - began

    def told(self):
        """For a person who wonders what happened."""
        lines = [f"{when - self.started:7.3f} {facts['event']}: {facts.get('text')}"
                 for when, _, facts in list(self.events)]
        lines += self.other[-10:] + ["trainer:"] + [f"{when - self.started:7.3f} {line}"
                                                    for when, line in self.printed[-6:]]
        return "\n".join(lines)
