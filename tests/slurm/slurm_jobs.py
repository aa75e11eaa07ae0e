"""'outlast run' in real Slurm jobs, by the batch scripts of examples/slurm: preempted by a real job of higher priority,
at its time limit, cancelled; and in the end the result of a run that nobody disturbed.

usage: slurm_jobs.py OUTLAST LEARN here|debian13 [TEST…]
"""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
import unittest

import slurm_cluster
import slurm_root

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
OUTLAST = LEARN = PLACE = None

LEARNING = ["--epochs", "6", "--save-every", "200"]


def result_in(text):
    found = re.findall(r"^result .*$", text, re.M)
    return found[-1] if found else None


class SlurmTest(unittest.TestCase):
    """The tests of a class share a cluster of one node with as many processors as slurm_cluster.CPUS."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="outlast-slurm-", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        cls.cluster = slurm_cluster.Cluster(cls.scratch, PLACE)
        cls.cluster.add_program(OUTLAST)
        cls.cluster.add_program(LEARN)
        cls.examples = cls.scratch / "examples"
        shutil.copytree(EXAMPLES, cls.examples)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def setUp(self):
        self.work = self.scratch / self.id().rsplit(".", 1)[-1]
        self.work.mkdir()
        self.counter = ["sh", self.examples / "counter.sh", "--steps", "150", "--polite"]
        self.learn = [self.cluster.bin / LEARN.name, *LEARNING]

    def undisturbed(self, command):
        """The result, where the job runs: another C library computes other numbers."""
        alone = self.work / "alone"
        alone.mkdir()
        return result_in(self.cluster.run(*command, folder=alone))

    def submit(self, script, trainer, *options):
        """A job of all processors, with the name and in the folder of the test."""
        return self.cluster.submit(
            f"--job-name={self.work.name}", f"--cpus-per-task={slurm_cluster.CPUS}", "--time=60", *options,
            self.examples / "slurm" / script, *trainer, folder=self.work,
            environment={"OUTLAST_ROOT": str(self.scratch / "root"), "OUTLAST_NOTICE_SOURCES": "slurm"})

    def log(self, job):
        path = self.work / f"{self.work.name}-{job}.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def texts(self, job, kind):
        """What outlast said by events of this kind, in all lives."""
        lines = [line for line in self.log(job).splitlines() if line.startswith('{"')]
        return [event["text"] for event in map(json.loads, lines) if event.get("event") == kind]

    def wait_until(self, what, condition, job):
        give_up = time.monotonic() + slurm_cluster.PATIENCE
        while not condition():
            if time.monotonic() > give_up:
                self.fail(f"there never was {what}: {self.cluster.job(job)}\n{self.log(job)}")
            time.sleep(0.1)

    def wait_for_state(self, job, *states):
        self.wait_until(" or ".join(states), lambda: self.cluster.job(job).get("JobState") in states, job)

    def wait_for_step(self, job, step):
        def reached():
            return any(int(number) >= step for number in re.findall(r"\bstep (\d+)", self.log(job)))
        self.wait_until(f"step {step}", reached, job)

    def preempt(self, job, cpus=slurm_cluster.CPUS):
        """By a job that is more urgent; returns when that has gone again."""
        urgent = self.cluster.submit("--partition=urgent", f"--cpus-per-task={cpus}", "--time=1", "--output=/dev/null",
                                     "--wrap=true")
        self.wait_until("an urgent job that is done",
                        lambda: self.cluster.job(urgent).get("JobState") == "COMPLETED", job)

    def start_again(self, job):
        """Slurm leaves a job that was queued again alone for two minutes; a node refuses one that comes back within the
        same second or two."""
        self.wait_for_state(job, "PENDING")
        self.cluster.run("scontrol", "update", f"JobId={job}", "StartTime=now+3")

    def finishes(self, job, restarts, state="COMPLETED"):
        self.wait_for_state(job, "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "PREEMPTED")
        said = self.cluster.job(job)
        self.assertEqual((said["JobState"], said["Restarts"]), (state, str(restarts)), self.log(job))

    def survives_preemption(self, script, trainer, alone, *options, step=20, state="COMPLETED"):
        job = self.submit(script, trainer, *options)
        self.wait_for_step(job, step)
        self.preempt(job)
        self.start_again(job)
        self.finishes(job, restarts=1, state=state)
        self.assertEqual(result_in(self.log(job)), self.undisturbed(alone), self.log(job))
        self.assertEqual(len(self.texts(job, "left")), 1, self.log(job))
        return job

    def loses_no_step(self, job):
        """Each was done once."""
        steps = [int(number) for number in re.findall(r"^step (\d+)/", self.log(job), re.M)]
        self.assertEqual(steps, sorted(set(steps)), self.log(job))


class Preempted(SlurmTest):
    def test_the_batch_process_saves_in_its_grace_and_goes_on(self):
        job = self.survives_preemption("train.sbatch", [*self.counter, "--pause", "0.05"], self.counter)
        self.loses_no_step(job)
        self.assertIn(f"this machine ends in {slurm_cluster.GRACE_SECONDS}s: Slurm preempts job {job}",
                      " ".join(self.texts(job, "notice")).replace(f"{slurm_cluster.GRACE_SECONDS - 1}s",
                                                                  f"{slurm_cluster.GRACE_SECONDS}s"))
        # Older releases end a job that leaves in its grace; newer ones would queue it twice.
        by_us = self.cluster.release < (24, 5)
        self.assertEqual(self.texts(job, "released"),
                         [f"Slurm job {job} is queued again" if by_us
                          else "Slurm queues the job again once we have left"], self.log(job))

    def test_a_trainer_in_c_plus_plus(self):
        self.survives_preemption("train.sbatch", [*self.learn, "--pause-ms", "4"], self.learn, step=300)

    def test_a_step_of_the_job(self):
        job = self.survives_preemption("step.sbatch", [*self.counter, "--pause", "0.05"], self.counter)
        self.loses_no_step(job)

    def test_without_any_grace(self):
        job = self.survives_preemption("train.sbatch", [*self.counter, "--pause", "0.05"], self.counter,
                                       "--partition=harsh")
        self.loses_no_step(job)

    def test_where_preempted_jobs_are_cancelled(self):
        # Newer releases still take it for preempted when it is done.
        state = "COMPLETED" if self.cluster.release < (24, 5) else "PREEMPTED"
        job = self.survives_preemption("train.sbatch", [*self.counter, "--pause", "0.05"], self.counter,
                                       "--partition=cancel", state=state)
        self.loses_no_step(job)


class Others(SlurmTest):
    def test_a_job_that_nobody_disturbs_is_done_once(self):
        job = self.submit("train.sbatch", [*self.counter, "--pause", "0.01"])
        self.finishes(job, restarts=0)
        self.assertEqual(result_in(self.log(job)), self.undisturbed(self.counter))
        again = self.submit("train.sbatch", [*self.counter, "--pause", "0.01"])
        self.finishes(again, restarts=0)
        self.assertEqual(result_in(self.log(again)), None, "it is done already")

    def test_a_cancelled_job_saves_and_is_not_queued_again(self):
        job = self.submit("train.sbatch", [*self.counter, "--pause", "0.05"])
        self.wait_for_step(job, 20)
        self.cluster.run("scancel", job)
        self.wait_until("an end", lambda: self.texts(job, "left"), job)
        self.wait_for_state(job, "CANCELLED")
        self.assertEqual(self.cluster.job(job)["Restarts"], "0")
        self.assertEqual(self.texts(job, "released") + self.texts(job, "release-failed"), [])
        # Whoever submits it again goes on.
        again = self.submit("train.sbatch", [*self.counter, "--pause", "0.01"])
        self.finishes(again, restarts=0)
        self.assertIn("resumed at step", self.log(again))
        self.assertEqual(result_in(self.log(again)), self.undisturbed(self.counter))

    def test_of_an_array_only_the_task_that_is_preempted_starts_again(self):
        array = self.submit("array.sbatch", [*self.counter, "--pause", "0.1"], "--cpus-per-task=1")
        tasks = [f"{array}_{task}" for task in range(3)]
        for task in tasks:
            self.wait_for_step(task, 20)
        self.preempt(tasks[0], cpus=2)  # one is free

        def queued_again():
            return [task for task in tasks if self.cluster.job(task).get("Restarts") == "1"]
        self.wait_until("a task that is queued again", queued_again, tasks[0])
        preempted = queued_again()
        self.assertEqual(len(preempted), 1)
        self.start_again(preempted[0])
        expected = self.undisturbed(self.counter)
        for task in tasks:
            self.finishes(task, restarts=1 if task in preempted else 0)
            self.assertEqual(result_in(self.log(task)), expected, self.log(task))
        jobs = sorted(path.name for path in (self.scratch / "root/jobs").glob(f"{self.work.name}-*"))
        self.assertEqual(jobs, [f"{self.work.name}-{task}" for task in range(3)])


class TimeLimit(SlurmTest):
    def test_a_job_leaves_before_its_time_limit_and_goes_on(self):
        job = self.submit("train.sbatch", [*self.counter, "--pause", "0.5"])
        self.wait_for_step(job, 20)
        self.cluster.run("scontrol", "update", f"JobId={job}", "TimeLimit=1")  # there is none below a minute
        self.wait_for_state(job, "PENDING")
        self.cluster.run("scontrol", "update", f"JobId={job}", "TimeLimit=60")
        self.start_again(job)
        self.finishes(job, restarts=1)
        self.assertEqual(result_in(self.log(job)), self.undisturbed(self.counter), self.log(job))
        self.loses_no_step(job)
        self.assertEqual(self.texts(job, "left"), [f"the time limit of Slurm job {job}"])
        self.assertEqual(self.texts(job, "released"), [f"Slurm job {job} is queued again"])


def main():
    global OUTLAST, LEARN, PLACE
    OUTLAST, LEARN = (pathlib.Path(os.path.abspath(sys.argv.pop(1))) for _ in range(2))
    PLACE = {"here": slurm_cluster.Here, "debian13": slurm_root.Debian13}[sys.argv.pop(1)]()
    try:
        PLACE.check()
    except slurm_cluster.Missing as missing:
        print(f"Skipped: {missing}")
        sys.exit(77)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
