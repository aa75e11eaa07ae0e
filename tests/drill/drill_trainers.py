#!/usr/bin/env python3
"""Our own trainers, preempted under outlast. usage: drill_trainers.py PROGRAM OUTLAST-TRAIN [TEST…]"""

import sys

import drill_rig
from drill_rig import DrillTest

TRAIN = sys.argv.pop(2)


class TrainerTest(DrillTest):
    def survives(self, *task, expect="resumed,identical,lost<=0"):
        """Three notices: not one step is done twice, and the result is the same, bit for bit."""
        report = self.drill("--preemptions", "3", "--notice-time", "20s", "--expect", expect, "--", TRAIN, *task)
        self.assertEqual(self.findings(report), [])
        self.assertEqual(self.troubles(report), ["notice"] * 3)


class Cifar10(TrainerTest):
    def test_with_notice(self):
        self.survives("cifar10", "--train-steps", "60000", "--threads", "1")


class Census(TrainerTest):
    def test_with_notice(self):
        # A search counts configurations, and says nothing of steps.
        self.survives("census", "--search", "120", "--threads", "1", expect="resumed,identical")


class Imagenet(TrainerTest):
    def test_with_notice(self):
        self.survives("imagenet", "--arch", "resnet20", "--image-size", "32", "--batch-size", "16", "--train-steps", "120",
                      "--eval-steps", "10", "--threads", "1", expect="resumed,identical")


class Horses(TrainerTest):
    def test_with_notice(self):
        self.survives("horses", "--image-size", "48", "--batch-size", "16", "--train-steps", "120", "--eval-steps", "10",
                      "--threads", "1", expect="resumed,identical")


class Bert(TrainerTest):
    def test_with_notice(self):
        self.survives("bert", "--train-steps", "300", "--eval-steps", "20", "--threads", "1", expect="resumed,identical")


if __name__ == "__main__":
    drill_rig.main()
