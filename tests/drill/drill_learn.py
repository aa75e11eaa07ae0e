#!/usr/bin/env python3
"""The example in C++, which handles every signal. usage: drill_learn.py PROGRAM LEARN"""

import sys

import drill_rig
from drill_rig import DrillTest

LEARN = sys.argv.pop(2)


class Learn(DrillTest):
    def test_its_weights_are_the_same_after_preemptions(self):
        report = self.drill("--preemptions", "2", "--notice-time", "3s", "--expect", "resumed,identical,lost<=0",
                            "--", LEARN, "--epochs", "3", "--pause-ms", "4", "--save-every", "100")
        self.assertEqual(self.findings(report), [])
        self.assertEqual(self.troubles(report), ["notice", "notice"])


if __name__ == "__main__":
    drill_rig.main()
