#!/usr/bin/env python3
"""Planted defects, each of which must be named. usage: drill_defects.py PROGRAM"""

import sys

import drill_rig
from drill_rig import FAILED, NOT_MET, DrillTest

# Long enough that a file comes to rest and is committed before its machine is taken away.
TWICE = ["--schedule", "2500ms, 2500ms", "--notice-time", "2s", "--every", "1s"]


class Defects(DrillTest):
    def of(self, *words, code=0, options=()):
        defects = [word for word in words if not word.startswith("--")]
        return self.drill(*TWICE, *options, "--", sys.executable, "drill_trainer.py", *defects, code=code)

    def test_none(self):
        report = self.of("polite", options=["--expect", "clean,lost<=0,identical,resumed"])
        self.assertEqual(self.findings(report), [])

    def test_does_not_load_its_checkpoint(self):
        report = self.of("no-load", code=NOT_MET)
        self.assertEqual(self.findings(report), ["does-not-resume"])

    def test_does_not_load_its_checkpoint_and_says_nothing(self):
        report = self.of("no-load", "quiet", "polite", code=NOT_MET)
        self.assertEqual(self.findings(report), ["does-not-resume"])

    def test_its_data_come_in_another_order_after_a_resume(self):
        report = self.of("order", code=NOT_MET)
        self.assertEqual(self.findings(report), ["order-shifts"])
        self.assertTrue(report["comparison"]["repeatable"])
        lives = report["disturbed"]["lives"]
        self.assertEqual(report["comparison"]["first_other_step"], lives[1]["first_step"])

    def test_does_not_repeat_itself(self):
        report = self.of("chance")
        self.assertEqual(self.findings(report), ["not-repeatable"])

    def test_handles_sigterm_by_doing_nothing(self):
        report = self.of("deaf")
        self.assertEqual(self.findings(report), ["ignores-sigterm"])

    def test_ignores_sigterm(self):
        report = self.of("ignore")
        self.assertEqual(self.findings(report), ["ignores-sigterm"])

    def test_saves_torn_files(self):
        report = self.drill("--as", "kill", "--schedule", "3s mid-save, 3s mid-save", "--every", "1s", "--",
                            sys.executable, "drill_trainer.py", "in-place")
        self.assertEqual(self.findings(report), ["torn-files"])
        self.assertIn("mid-save", self.troubles(report))

    def test_cannot_load_what_it_has_saved(self):
        report = self.of("crash", code=NOT_MET)
        self.assertEqual(self.findings(report), ["crashes-on-resume"])
        self.assertIn("KeyError: 'no such thing'", report["findings"][0]["evidence"])
        self.assertIsNone(report["comparison"])

    def test_a_job_that_is_not_done_has_not_survived_whatever_else_was_expected(self):
        report = self.of("crash", code=NOT_MET, options=["--expect", "lost<=99"])
        self.assertIn("done", [one["text"] for one in report["expectations"] if not one["met"]])

    def test_leaves_though_nobody_asked(self):
        _, err = self.finish(self.start("--", sys.executable, "drill_trainer.py", "leaves"), FAILED)
        self.assertIn("the trainer has left 3 times", err)

    def test_saves_once_at_the_end(self):
        report = self.drill("--as", "kill", "--schedule", "1s, 1s", "--", sys.executable, "drill_trainer.py", "rarely",
                            code=NOT_MET)
        self.assertEqual(self.findings(report), ["saves-too-rarely"])

    def test_fails_undisturbed(self):
        _, err = self.finish(self.start("--", sys.executable, "drill_trainer.py", "die"), FAILED)
        self.assertIn("the undisturbed run did not come to an end", err)
        self.assertIn("drill_trainer: there is no more data", err)

    def test_saves_nothing(self):
        _, err = self.finish(self.start("--", sys.executable, "drill_trainer.py", "silent"), FAILED)
        self.assertIn("nothing was saved", err)


if __name__ == "__main__":
    drill_rig.main()
