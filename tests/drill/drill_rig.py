"""What the tests of 'outlast drill' stand on: the real program, with short trainers, in a folder of its own.

A test file ends with drill_rig.main(); its first argument is the program. No test asserts a time. After every drill
nothing may be left of it, neither a process nor a file.
"""

import concurrent.futures
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PATIENCE = 240
AT_ONCE = 4
HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
PROGRAM = None

FAILED = 1
WRONG_COMMAND_LINE = 2
BAD_INPUT = 3
NOT_MET = 5
INTERRUPTED = 130


class DrillTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="outlast-drill-test-"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.work = self.scratch / "work"
        self.work.mkdir()
        self.tmp = self.scratch / "tmp"
        self.tmp.mkdir()
        # Trainers put their process ids there: what a drill leaves behind must not run.
        self.pids = self.scratch / "pids"
        self.pids.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.tmp), "PIDS": str(self.pids),
                            "PYTHONDONTWRITEBYTECODE": "1"}
        shutil.copy(EXAMPLES / "counter.sh", self.work)
        shutil.copy(HERE / "drill_trainer.py", self.work)

    def start(self, *words):
        return subprocess.Popen([PROGRAM, "drill", *map(str, words)], cwd=self.work, env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process, code):
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, code, out + err)
        self.nothing_is_left()
        return out, err

    def nothing_is_left(self):
        self.assertEqual(list(self.tmp.iterdir()), [])
        for path in self.pids.iterdir():
            stat = pathlib.Path(f"/proc/{path.name}/stat")
            alive = stat.exists() and stat.read_text(encoding="ascii").rpartition(")")[2].split()[0] not in "ZX"
            self.assertFalse(alive and "drill_trainer" in command_of(path.name), f"process {path.name} still runs")

    def drill(self, *words, code=0):
        """Its report."""
        out, _ = self.finish(self.start("--json", *words), code)
        return json.loads(out)

    def refused(self, *words, code, saying):
        _, err = self.finish(self.start(*words), code)
        self.assertIn(saying, err)

    def findings(self, report):
        return [finding["id"] for finding in report["findings"]]

    def resumed(self, report):
        """Every machine but the first went on from a checkpoint."""
        return all(life["restored"] is not None for life in report["disturbed"]["lives"][1:])

    def troubles(self, report):
        return [one["trouble"] for life in report["disturbed"]["lives"] for one in life["injections"]]


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return ""


class Told(unittest.TextTestResult):
    """Without the line for each test, which several at once would mix up."""

    def __init__(self):
        super().__init__(unittest.runner._WritelnDecorator(io.StringIO()), True, 0)


def each_test(suite):
    for test in suite:
        yield from each_test(test) if isinstance(test, unittest.TestSuite) else [test]


def main():
    """Several tests at once: a drill mostly waits. Names of classes or tests may be given."""
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    module = sys.modules["__main__"]
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(sys.argv[1:], module) if sys.argv[1:] else loader.loadTestsFromModule(module)
    tests = list(each_test(suite))

    def run(test):
        told = Told()
        test.run(told)
        return told

    is_good = bool(tests)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for test, told in zip(tests, pool.map(run, tests)):
            verdict = "ok" if told.wasSuccessful() else "FAILED"
            verdict = f"skipped: {told.skipped[0][1]}" if told.skipped else verdict
            print(f"{test.id().removeprefix('__main__.')}: {verdict}")
            for _, text in told.failures + told.errors:
                print(text)
            is_good = is_good and told.wasSuccessful()
    sys.exit(0 if is_good else 1)
