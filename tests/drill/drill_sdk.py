#!/usr/bin/env python3
"""Trainers that take snapshots, in C++ and in Python. usage: drill_sdk.py PROGRAM SNAPSHOTS [TEST…]"""

import importlib.util
import os
import subprocess
import sys
import unittest

import drill_rig
from drill_rig import EXAMPLES, DrillTest

SNAPSHOTS = sys.argv.pop(2)
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


def has_torch():
    return subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode == 0


class Snapshots(DrillTest):
    def setUp(self):
        super().setUp()
        self.environment["PYTHONPATH"] = str(EXAMPLES.parent / "python")

    def survives(self, *trainer):
        """Five notices: not one step is done twice, and the result is the same, bit for bit."""
        report = self.drill("--preemptions", "5", "--notice-time", "5s", "--expect", "resumed,identical,lost<=0", "--", *trainer)
        self.assertEqual(self.findings(report), [])
        self.assertEqual(self.troubles(report), ["notice"] * 5)

    def dies(self, *trainer):
        """Five ends without a word: what came after the last upload is lost, and nothing else."""
        every = 1
        report = self.drill("--as", "kill", "--preemptions", "5", "--every", f"{every}s", "--expect", "resumed,identical",
                            "--", *trainer)
        self.assertEqual(len(report["disturbed"]["lives"]), 6)

    def test_cpp_with_notice(self):
        self.survives(SNAPSHOTS, "--steps", "600", "--step-ms", "10")

    def test_cpp_without_notice(self):
        self.dies(SNAPSHOTS, "--steps", "900", "--step-ms", "10")

    def test_plain_python_with_notice(self):
        self.survives(PYTHON, EXAMPLES / "sdk" / "plain_python.py", "--steps", "300", "--step-ms", "20")

    @unittest.skipUnless(has_torch(), "python3-torch is not installed")
    def test_torch_with_notice(self):
        self.survives(PYTHON, EXAMPLES / "sdk" / "torch_sdk.py", "--steps", "300", "--step-ms", "20")

    @unittest.skipUnless(has_torch(), "python3-torch is not installed")
    def test_torch_without_notice(self):
        self.dies(PYTHON, EXAMPLES / "sdk" / "torch_sdk.py", "--steps", "450", "--step-ms", "20")

    @unittest.skipUnless(has_torch(), "python3-torch is not installed")
    def test_ranks_with_notice(self):
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                self.survives(PYTHON, EXAMPLES / "sdk" / "torch_ddp.py", "--ranks", str(ranks), "--steps", "300",
                              "--step-ms", "20")


if __name__ == "__main__":
    drill_rig.main()
