"""What the benchmarks of the agent share: programs whose lines are read as they come, and rows of a table."""
import dataclasses
import json
import signal
import subprocess
import sys
import threading
import time

PATIENCE = 120  # seconds for anything that should happen soon


class Lines:
    """The lines of a pipe as they come, each with its time on the monotonic clock."""

    def __init__(self, pipe):
        self._lines, self._changed = [], threading.Condition()
        self._thread = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self._thread.start()

    def _read(self, pipe):
        for line in pipe:
            now = time.monotonic()
            with self._changed:
                self._lines.append((now, line.decode(errors="replace").rstrip("\n")))
                self._changed.notify_all()
        with self._changed:
            self._lines.append((time.monotonic(), None))
            self._changed.notify_all()

    def wait_for_end(self):
        self._thread.join(PATIENCE)

    def so_far(self):
        with self._changed:
            return [(when, line) for when, line in self._lines if line is not None]

    def wait(self, is_wanted, since, what):
        """The first line from `since` on that is wanted: (its time, the line)."""
        until, at = time.monotonic() + PATIENCE, 0
        with self._changed:
            while True:
                for when, line in self._lines[at:]:
                    if line is not None and when >= since and is_wanted(line):
                        return when, line
                at = len(self._lines)
                has_ended = bool(self._lines) and self._lines[-1][1] is None
                if has_ended or not self._changed.wait(until - time.monotonic()):
                    said = "\n".join(str(line) for _, line in self._lines[-15:])
                    sys.exit(f"bench: waited for {what} in vain; the last lines:\n{said}")


class Program:
    """A trainer, on its own or under an agent."""

    def __init__(self, command, folder):
        self.began = time.monotonic()
        self.process = subprocess.Popen(list(map(str, command)), cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.pid = self.process.pid
        self._out, self._err = Lines(self.process.stdout), Lines(self.process.stderr)

    def line(self, start, since=0.0):
        return self._out.wait(lambda line: line.startswith(start), since, f"'{start}'")

    def event(self, kind, since=0.0):
        when, line = self._err.wait(lambda line: json_or_nothing(line).get("event") == kind, since, f"event {kind}")
        return when, json.loads(line)

    def events(self, kind):
        """All of a kind so far, each with its time."""
        events = [(when, json_or_nothing(line)) for when, line in self._err.so_far()]
        return [(when, event) for when, event in events if event.get("event") == kind]

    def trainer_pid(self):
        return int(self.line("pid ")[1].split()[1])

    def interrupt(self):
        """Ctrl-C: what is unsaved is saved, and everything ends."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit("bench: the agent did not end on SIGINT")

    def end(self):
        """Waits until it has ended by itself, and all that it said is read."""
        self._err.wait_for_end()
        self.process.wait(PATIENCE)

    def kill(self):
        self.process.kill()
        self.process.wait()


def json_or_nothing(line):
    try:
        value = json.loads(line) if line.startswith("{") else {}
    except ValueError:
        value = {}
    return value


@dataclasses.dataclass
class Row:
    what: str
    ours: str
    baseline: str
    ratio: str
    goal: str
    is_met: bool | None
