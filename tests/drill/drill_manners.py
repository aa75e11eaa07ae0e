#!/usr/bin/env python3
"""Users who do what they should not, and machines that do not do what they should. usage: drill_manners.py PROGRAM"""

import os
import signal
import subprocess
import sys
import time
import unittest

import drill_rig
from drill_rig import BAD_INPUT, FAILED, INTERRUPTED, NOT_MET, WRONG_COMMAND_LINE, DrillTest

COUNTER = ["sh", "counter.sh", "--steps", "10"]


class BadInput(DrillTest):
    def test_is_refused_before_anything_starts(self):
        (self.work / "full").mkdir()
        (self.work / "full" / "file").touch()
        for words, saying in [
                ([], "what is to be run?"),
                (["counter.sh"], "is no job file (.yaml)"),
                (["--as", "cloud", "--", *COUNTER], "gce"),
                (["--notice-time", "30", "--", *COUNTER], "--notice-time takes a time such as 30s, not '30'"),
                (["--preemptions", "0", "--", *COUNTER], "--preemptions takes 1 to"),
                (["--schedule", "5s explode", "--", *COUNTER], "what happens is notice, withdrawn"),
                (["--schedule", "5s withdrawn", "--", *COUNTER], "cannot be taken back"),
                (["--schedule", "5s", "--preemptions", "2", "--", *COUNTER], "--schedule says what happens"),
                (["--poisson", "often", "--", *COUNTER], "--poisson takes a time"),
                (["--seed", "3", "--", *COUNTER], "--seed is for --poisson"),
                (["--expect", "lost=0", "--", *COUNTER], "the expectation 'lost=0'"),
                (["--", "no-such-program"], "there is no program 'no-such-program'"),
        ]:
            with self.subTest(words):
                self.refused(*words, code=WRONG_COMMAND_LINE, saying=saying)
        self.refused("--keep", "full", "--", *COUNTER, code=BAD_INPUT, saying="is not empty")
        self.refused("--baseline", "full", "--", *COUNTER, code=BAD_INPUT, saying="holds no undisturbed run")
        self.refused("--checkpoint", "/var/ckpt", "--", *COUNTER, code=BAD_INPUT, saying="relative")
        self.refused("absent.yaml", code=BAD_INPUT, saying="absent.yaml")

    def test_a_large_folder_is_not_copied(self):
        with open(self.work / "data.bin", "wb") as file:
            file.truncate((1 << 30) + 1)
        self.refused("--", *COUNTER, code=BAD_INPUT, saying="'files:' of a job file")


    def test_a_rehearsal_in_which_nothing_came_about_is_not_passed(self):
        report = self.drill("--schedule", "1h", "--expect", "identical", "--", *COUNTER, code=NOT_MET)
        self.assertEqual([one["text"] for one in report["expectations"] if not one["met"]], ["disturbed"])

    def test_what_is_kept_inside_is_not_copied_into_itself_and_code_is_never_left_out(self):
        (self.work / "src" / "models").mkdir(parents=True)
        (self.work / "src" / "models" / "code.py").touch()
        (self.work / "kept").mkdir()
        self.drill("--schedule", "1s", "--keep", "./kept/", "--checkpoint", "models", "--", "sh", "-c",
                   "test -f src/models/code.py && exec sh counter.sh --polite --steps 30 --pause 0.1")
        self.assertEqual(list((self.work / "kept").rglob("kept")), [])

    def test_a_page_cannot_be_a_folder(self):
        self.refused("--html", ".", "--", *COUNTER, code=BAD_INPUT, saying="is a folder: give a file")


class Ends(DrillTest):
    def interrupted(self, number):
        process = self.start("--", sys.executable, "drill_trainer.py")
        give_up = time.monotonic() + drill_rig.PATIENCE
        while not list(self.pids.iterdir()):
            self.assertLess(time.monotonic(), give_up)
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        process.send_signal(number)
        self.finish(process, INTERRUPTED)

    def test_ctrl_c_leaves_nothing_behind(self):
        self.interrupted(signal.SIGINT)

    def test_nor_does_sigterm(self):
        self.interrupted(signal.SIGTERM)

    def test_a_full_disk_is_told(self):
        small = self.scratch / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small], check=False,
                                 capture_output=True)
        if mounted.returncode != 0:
            raise unittest.SkipTest("a small disk cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", small], check=False)
        with open(self.work / "large.bin", "wb") as file:
            file.write(os.urandom(400 << 10))
        self.environment["TMPDIR"] = str(small)
        _, err = self.finish(self.start("--", *COUNTER), FAILED)
        self.assertIn("o space left", err)
        self.assertEqual(list(small.iterdir()), [])


class Texts(DrillTest):
    def test_a_person_reads_a_table_and_a_verdict(self):
        out, err = self.finish(self.start("--preemptions", "1", "--notice-time", "2s", "--", "sh", "counter.sh",
                                          "--steps", "40", "--pause", "0.1", "--polite"), 0)
        self.assertRegex(out, r"machine +what happened +steps +notice→committed +lost +back after\n")
        self.assertIn("The result is identical, bit for bit", out)
        self.assertRegex(out, r"met +resumed: 1 of 1 machines\n")
        self.assertIn("undisturbed run, machine 1: done", err)


if __name__ == "__main__":
    drill_rig.main()
