#!/usr/bin/env python3
"""Trainers that take snapshots, in C++ and in Python. usage: drill_sdk.py PROGRAM SNAPSHOTS [TEST…]"""

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


class SnapshotTest(DrillTest):
    def setUp(self):
        super().setUp()
        self.environment["PYTHONPATH"] = str(EXAMPLES.parent / "python")

    def survives(self, *trainer):
        """Five notices: not one step is done twice, and the result is the same, bit for bit."""
        report = self.drill("--preemptions", "5", "--notice-time", "20s", "--expect", "resumed,identical,lost<=0", "--", *trainer)
        self.assertEqual(self.findings(report), [])
        self.assertEqual(self.troubles(report), ["notice"] * 5)

    def dies(self, *trainer, every, during_save):
        """Three ends without a word: no more is lost than the steps from one save to the next, and those during a save.
        (How long a save takes is up to the machine; in simulation, snapshot-life, it is bounded.)"""
        report = self.drill("--as", "kill", "--preemptions", "3", "--every", f"{every} steps",
                            "--expect", f"resumed,identical,lost<={every + during_save}", "--", *trainer)
        self.assertEqual(len(report["disturbed"]["lives"]), 4)


class Cpp(SnapshotTest):
    def test_with_notice(self):
        self.survives(SNAPSHOTS, "--steps", "600", "--step-ms", "10")

    def test_without_notice(self):
        self.dies(SNAPSHOTS, "--steps", "1200", "--step-ms", "10", every=40, during_save=100)


class PlainPython(SnapshotTest):
    def test_with_notice(self):
        self.survives(PYTHON, EXAMPLES / "sdk" / "plain_python.py", "--steps", "300", "--step-ms", "20")


@unittest.skipUnless(has_torch(), "python3-torch is not installed")
class Torch(SnapshotTest):
    def test_with_notice(self):
        self.survives(PYTHON, EXAMPLES / "sdk" / "torch_sdk.py", "--steps", "300", "--step-ms", "20")

    def test_without_notice(self):
        self.dies(PYTHON, EXAMPLES / "sdk" / "torch_sdk.py", "--steps", "480", "--step-ms", "20", every=20, during_save=50)


@unittest.skipUnless(has_torch(), "python3-torch is not installed")
class Ranks(SnapshotTest):
    def test_two(self):
        self.survives(PYTHON, EXAMPLES / "sdk" / "torch_ddp.py", "--ranks", "2", "--steps", "300", "--step-ms", "20")

    def test_four(self):
        self.survives(PYTHON, EXAMPLES / "sdk" / "torch_ddp.py", "--ranks", "4", "--steps", "200", "--step-ms", "20")

    def test_eight(self):
        self.survives(PYTHON, EXAMPLES / "sdk" / "torch_ddp.py", "--ranks", "8", "--steps", "60", "--step-ms", "20")


if __name__ == "__main__":
    drill_rig.main()
