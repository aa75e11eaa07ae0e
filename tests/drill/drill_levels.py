#!/usr/bin/env python3
"""Trainers of every level, by every source of bad news. usage: drill_levels.py PROGRAM"""

import drill_rig
from drill_rig import DrillTest


WITH_NOTICE = ["signal", "file", "slurm", "gce", "ec2", "azure"]


class Levels(DrillTest):
    """Undisturbed once; every source is rehearsed against that."""

    command = None

    def every_source(self, sources, *options):
        keep = self.scratch / "kept"
        for number, source in enumerate(sources):
            with self.subTest(source):
                result = ["--keep", keep] if number == 0 else ["--baseline", keep]
                report = self.drill("--as", source, *result, *options, "--", *self.command)
                self.assertTrue(report["passed"])
                self.assertEqual(report["planned"], len(self.troubles(report)))
                self.assertTrue(report["comparison"]["identical"])
                self.assertEqual(report["source"], source)
                yield report


class Level1(Levels):
    """On SIGTERM it saves and leaves: with a notice, nothing is lost."""

    command = ["sh", "counter.sh", "--steps", "50", "--save-every", "10", "--pause", "0.1", "--polite"]
    expect = ["--notice-time", "3s", "--expect", "lost<=0,resumed,identical,clean"]

    def test_nothing_is_lost(self):
        for report in self.every_source(WITH_NOTICE, "--preemptions", "2", *self.expect):
            self.assertEqual([life["outcome"] for life in report["disturbed"]["lives"]], ["left", "left", "done"])
            for life in report["disturbed"]["lives"][:-1]:
                self.assertIsNotNone(life["injections"][0]["asked"])
                self.assertIsNotNone(life["injections"][0]["notice_to_committed"])

    def test_without_a_notice_it_goes_on_from_what_was_saved(self):
        report = self.drill("--as", "kill", "--schedule", "3s, 3s", "--every", "1s", "--", *self.command)
        self.assertTrue(self.resumed(report))
        self.assertEqual(self.troubles(report), ["kill", "kill"])

    def test_who_has_left_before_a_notice_is_taken_back_has_left(self):
        report = self.drill("--as", "file", "--notice-time", "3s", "--schedule", "1s withdrawn, 1s late, 1s",
                            "--", *self.command)
        self.assertEqual(self.troubles(report), ["notice", "too-late", "notice"])
        self.assertTrue(report["passed"])


class Level0(Levels):
    """It knows nothing, and writes files: at most an interval is lost."""

    command = ["sh", "counter.sh", "--steps", "70", "--save-every", "10", "--pause", "0.1"]

    def test_it_goes_on_from_its_files(self):
        for report in self.every_source([*WITH_NOTICE, "kill"], "--schedule", "3s, 3s", "--every", "1s"):
            self.assertTrue(self.resumed(report))

    def test_notices_that_are_taken_back_or_come_late(self):
        report = self.drill("--as", "file", "--notice-time", "3s", "--schedule", "2s withdrawn, 2s late", "--every", "1s",
                            "--", *self.command)
        self.assertEqual(self.troubles(report), ["withdrawn", "too-late"])
        self.assertEqual(len(report["disturbed"]["lives"]), 2, "the first machine stayed")

    def test_a_job_file_says_the_same(self):
        (self.work / "job.yaml").write_text("name: counted\nrun: sh counter.sh --steps 40 --pause 0.1\n"
                                            "files: [counter.sh]\non_done: shutdown\n", encoding="utf-8")
        report = self.drill("--preemptions", "1", "--notice-time", "2s", "job.yaml")
        self.assertEqual(report["job"], "counted")
        self.assertTrue(report["passed"])

    def test_by_chance(self):
        report = self.drill("--poisson", "2s", "--seed", "4", "--preemptions", "2", "--notice-time", "2s", "--every",
                            "1s", "--expect", "identical", "--", *self.command)
        self.assertTrue(report["comparison"]["identical"])


if __name__ == "__main__":
    drill_rig.main()
