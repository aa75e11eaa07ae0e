"""What the tests of 'outlast run' stand on: the real program, with real trainers, in a folder of its own.

A test file ends with agent_rig.main(); its first argument is the program. Waiting is always for something that
happens, never for a time; what does not happen in PATIENCE fails the test.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PATIENCE = 90
HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = None

LEFT = 75  # the program's exit code when the machine ends
NOT_AVAILABLE = 4
BAD_INPUT = 3
WRONG_COMMAND_LINE = 2


def wait_until(what, condition, alive=None):
    """Until condition() is true, and returns what it was. `alive` is a run that must not end before."""
    give_up = time.monotonic() + PATIENCE
    while True:
        ended = alive is not None and alive.has_ended()
        found = condition()
        if found:
            return found
        if ended:
            raise AssertionError(f"outlast ended before {what}:\n{alive.said()}")
        if time.monotonic() > give_up:
            raise AssertionError(f"there never was {what}" + (f":\n{alive.said()}" if alive else ""))
        time.sleep(0.02)


def is_alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


class Run:
    """One 'outlast run'."""

    def __init__(self, words, folder, environment, prefix=()):
        self.folder = folder
        self.out = tempfile.TemporaryFile()
        self.err = tempfile.TemporaryFile()
        self.process = subprocess.Popen([*prefix, PROGRAM, "run", *map(str, words)], cwd=folder, env=environment,
                                        stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err)

    def has_ended(self):
        return self.process.poll() is not None

    def said(self):
        """Everything on standard error: events as JSON, and sentences."""
        return os.pread(self.err.fileno(), 1 << 24, 0).decode()

    def printed(self):
        return os.pread(self.out.fileno(), 1 << 24, 0).decode()

    def events(self, kind=None):
        whole = [line for line in self.said().splitlines(keepends=True) if line.endswith("}\n")]
        found = [json.loads(line) for line in whole if line.startswith("{")]
        return [event for event in found if kind in (None, event["event"])]

    def texts(self, kind):
        return [event["text"] for event in self.events(kind)]

    def wait_for(self, kind, count=1):
        wait_until(f"an event '{kind}'", lambda: len(self.events(kind)) >= count, alive=self)
        return self.events(kind)[count - 1]

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        """Its exit code, as a shell would show it."""
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"outlast did not end:\n{self.said()}") from None
        return code if code >= 0 else 128 - code


class AgentTest(unittest.TestCase):
    """Each test has a scratch folder, a root in it, and trainers that are scripts in it."""

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="outlast-agent-"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.root = self.scratch / "root"
        self.work = self.folder("work")
        self.environment = {**os.environ, "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1",
                            "SCRATCH": str(self.scratch)}
        self.prefix = []  # before the program
        self.runs = []
        self.addCleanup(self.end_runs)

    def end_runs(self):
        for run in self.runs:
            if not run.has_ended():
                run.process.kill()
                run.process.wait()
            run.out.close()
            run.err.close()

    def folder(self, name):
        path = self.scratch / name
        path.mkdir()
        return path

    def trainer(self, body):
        """The command of a trainer whose script this is; see trainer_kit.py for what it may use."""
        path = self.scratch / f"train{len(list(self.scratch.glob('train*.py')))}.py"
        path.write_text("from trainer_kit import *\n" + body, encoding="utf-8")
        return [sys.executable, path]

    def job_file(self, trainer, text):
        path = self.scratch / "job.yaml"
        command = " ".join(map(str, trainer))
        path.write_text(f"name: j\nrun: {command}\nroot: {self.root}\n{text}", encoding="utf-8")
        return path

    def start(self, *words, folder=None):
        """outlast run with exactly these words."""
        run = Run(words, folder or self.work, self.environment, self.prefix)
        self.runs.append(run)
        return run

    def train(self, trainer, *options, folder=None):
        """The job 'j', whose trainer keeps its state in the folder 'ckpt'."""
        words = ["--root", self.root, "--job", "j", "--checkpoint", "ckpt", "--every", "1s", *options, "--", *trainer]
        return self.start(*words, folder=folder)

    def ends(self, run, code):
        self.assertEqual(run.wait(), code, run.said())
        return run

    def go(self, name):
        """What a trainer waits for with wait_for(name)."""
        (self.scratch / name).touch()

    def noted(self, name):
        """What a trainer told with note(name, text), once it has."""
        path = self.scratch / name
        wait_until(f"a note '{name}'", path.exists)
        return path.read_text(encoding="utf-8")

    # --- what the root has ---

    def ckpt(self, verb, *words, code=0):
        done = subprocess.run([PROGRAM, "ckpt", verb, "--root", str(self.root), "--job", "j", *map(str, words)],
                              capture_output=True, text=True, check=False, env=self.environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def is_clean(self):
        self.ckpt("verify", "--full")

    def restored(self, name="back"):
        """The newest checkpoint, in a folder of its own: what its files hold."""
        back = self.scratch / name
        self.ckpt("restore", back)
        return {str(path.relative_to(back)): path.read_text(encoding="utf-8") for path in back.rglob("*")
                if path.is_file() and path.name != "outlast.log"}

    def beat(self):
        path = self.root / "beats" / "j"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def attempts(self):
        paths = sorted(self.root.glob("jobs/j/attempts/*/attempt.json"))
        return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def main():
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
