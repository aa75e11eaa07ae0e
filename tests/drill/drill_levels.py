#!/usr/bin/env python3
"""Trainers of every level, by every source of bad news. usage: drill_levels.py PROGRAM"""

import drill_rig
from drill_rig import DrillTest


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

    def in_clouds(self, *options):
        """The clouds' stand-ins, where the program has them."""
        for source in ("gce", "ec2", "azure"):
            with self.subTest(source):
                process = self.start("--json", "--as", source, *options, "--", *self.command)
                out, err = process.communicate(timeout=drill_rig.PATIENCE)
                if "there is no stand-in" in err + out:
                    self.skipTest("this program has no stand-ins")
                self.assertEqual(process.returncode, 0, out + err)
                self.nothing_is_left()


class Level1(Levels):
    """On SIGTERM it saves and leaves: with a notice, nothing is lost."""

    command = ["sh", "counter.sh", "--steps", "50", "--save-every", "10", "--pause", "0.1", "--polite"]
    expect = ["--notice-time", "3s", "--expect", "lost<=0,resumed,identical,clean"]

    def test_nothing_is_lost(self):
        for report in self.every_source(["signal", "file", "slurm"], "--preemptions", "2", *self.expect):
            self.assertEqual([life["outcome"] for life in report["disturbed"]["lives"]], ["left", "left", "done"])
            for life in report["disturbed"]["lives"][:-1]:
                self.assertIsNotNone(life["injections"][0]["asked"])
                self.assertIsNotNone(life["injections"][0]["notice_to_committed"])

    def test_nothing_is_lost_in_clouds(self):
        self.in_clouds("--preemptions", "2", *self.expect)

    def test_without_a_notice_it_goes_on_from_what_was_saved(self):
        report = self.drill("--as", "kill", "--schedule", "3s, 3s", "--every", "1s", "--", *self.command)
        self.assertTrue(self.resumed(report))
        self.assertEqual(self.troubles(report), ["kill", "kill"])

    def test_notices_that_are_taken_back_or_come_late(self):
        report = self.drill("--as", "file", "--notice-time", "3s", "--schedule", "1s withdrawn, 1s late, 1s",
                            "--", *self.command)
        self.assertEqual(self.troubles(report), ["withdrawn", "too-late", "notice"])
        self.assertTrue(report["passed"])


class Level0(Levels):
    """It knows nothing, and writes files: at most an interval is lost."""

    command = ["sh", "counter.sh", "--steps", "70", "--save-every", "10", "--pause", "0.1"]

    def test_it_goes_on_from_its_files(self):
        sources = ["signal", "file", "slurm", "kill"]
        for report in self.every_source(sources, "--schedule", "3s, 3s", "--every", "1s"):
            self.assertTrue(self.resumed(report))

    def test_it_goes_on_from_its_files_in_clouds(self):
        self.in_clouds("--schedule", "3s, 3s", "--notice-time", "3s", "--every", "1s")

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
