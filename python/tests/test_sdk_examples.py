"""The trainers of examples/sdk, killed at random moments: they end with what they would have ended with anyway.

Those whose framework this Python has not are skipped by name. OUTLAST_EXAMPLE_KILLS: how often each is killed."""

import importlib.util
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import outlast

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/sdk"
KILLS = int(os.environ.get("OUTLAST_EXAMPLE_KILLS", "2"))
SECONDS_MAX = 300  # a run that takes longer hangs


class Killed(unittest.TestCase):
    def setUp(self):
        self.chance = random.Random()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_example(self, name, folder, arguments, kill_after=None):
        """Its lines. kill_after: so many of them."""
        (self.folder / folder).mkdir(exist_ok=True)
        package = str(pathlib.Path(outlast.__file__).resolve().parents[1])
        child = subprocess.Popen(
            [sys.executable, str(EXAMPLES / name), *arguments], cwd=self.folder / folder, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "KERAS_BACKEND": "torch", "PYTHONPATH": package, "OMP_NUM_THREADS": "1",
                 "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        lines = []
        try:
            for line in child.stdout:
                lines.append(line.strip())
                if kill_after is not None and len([l for l in lines if l.startswith("step ")]) >= kill_after:
                    os.killpg(child.pid, signal.SIGKILL)
                    break
            _, errors = child.communicate(timeout=SECONDS_MAX)
        finally:
            if child.returncode is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        if kill_after is None:
            self.assertEqual(child.returncode, 0, errors[-3000:])
        return lines

    def check(self, module, name, total, quick, slow):
        if importlib.util.find_spec(module) is None:
            self.skipTest(f"{module} is not installed here: python/tests/install-frameworks")
        wanted = self.run_example(name, "whole", quick)[-1]
        self.assertRegex(wanted, "^result [0-9a-f]{64}$")
        for _ in range(KILLS):
            self.run_example(name, "killed", slow, self.chance.randint(3, total // (KILLS + 1)))
        lines = self.run_example(name, "killed", slow)
        self.assertEqual(lines[-1], wanted)
        first = next(int(found[1]) for line in lines if (found := re.match(r"step (\d+)/", line)))
        self.assertGreater(first, 1, "it began anew")

    def check_steps(self, module, name, total=40):
        quick = ["--steps", str(total)]
        self.check(module, name, total, quick, [*quick, "--step-ms", "5", "--snapshot-seconds", "0"])

    def test_plain_python(self):
        self.check_steps("sys", "plain_python.py")

    def test_torch(self):
        self.check_steps("torch", "torch_sdk.py", 80)

    def test_torch_with_two_ranks(self):
        quick = ["--ranks", "2", "--steps", "40"]
        self.check("torch", "torch_ddp.py", 40, quick, [*quick, "--step-ms", "5", "--every-steps", "2"])

    def test_torch_with_four_ranks(self):
        quick = ["--ranks", "4", "--steps", "40"]
        self.check("torch", "torch_ddp.py", 40, quick, [*quick, "--step-ms", "5", "--every-steps", "2"])

    def test_transformers(self):
        self.check_steps("transformers", "transformers_sdk.py", 45)

    def test_lightning(self):
        self.check_steps("lightning", "lightning_sdk.py", 80)

    def test_keras(self):
        quick = ["--epochs", "12"]
        self.check("keras", "keras_sdk.py", 12, quick, [*quick, "--epoch-ms", "20", "--snapshot-seconds", "0"])

    def test_sklearn(self):
        self.check_steps("sklearn", "sklearn_sdk.py")

    def test_xgboost(self):
        quick = ["--rounds", "40"]
        self.check("xgboost", "xgboost_sdk.py", 40, quick, [*quick, "--round-ms", "10", "--snapshot-seconds", "0"])


if __name__ == "__main__":
    unittest.main()
