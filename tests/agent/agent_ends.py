#!/usr/bin/env python3
"""How trainers end, well and badly, and what 'outlast run' makes of it. usage: agent_ends.py PROGRAM"""

import signal

import agent_rig
from agent_rig import LEFT, AgentTest


class ExitCodes(AgentTest):
    def test_one_that_exits_0_at_once_is_done_with_a_warning_and_never_started_again(self):
        run = self.ends(self.train(["true"]), 0)
        self.assertRegex(run.texts("short")[0], "^the trainer ended after .* with exit code 0 and without a "
                         "checkpoint: is that all there was to do\\?$")
        self.assertEqual(run.texts("done"), ["the job is done, without a checkpoint"])
        again = self.ends(self.train(["true"]), 0)
        self.assertRegex(again.said(), "job 'j' is done since .*: the trainer is done: it ended with exit code 0; "
                         f"nothing is left to do. To train it further: outlast resume j --root {self.root}\n")
        self.assertEqual(again.events("began"), [])

    def test_75_by_itself_is_started_again_from_what_it_saved(self):
        trainer = self.trainer("""
step = load() + 1
save(step)
sys.exit(0 if step == 3 else 75)
""")
        run = self.ends(self.train(trainer), 0)
        self.assertEqual(run.texts("trainer-ended"),
                         2 * ["the trainer saved and left by itself: exit code 75 means that"] +
                         ["the trainer is done: it ended with exit code 0"])
        self.assertEqual(self.restored(), {"state": "3"})
        self.assertEqual([end["kind"] for end in self.attempts()[0]["ends"]], ["left", "left"])

    def test_78_is_never_tried_again(self):
        run = self.ends(self.train(self.trainer("sys.exit(78)")), 1)
        why = "the trainer failed for good: exit code 78 means that trying again is no use"
        self.assertEqual(run.texts("failed"), [why])
        self.assertEqual(len(run.events("began") + run.events("resumed")), 1)
        again = self.ends(self.train(self.trainer("sys.exit(0)")), 1)
        self.assertRegex(again.said(), f"job 'j' is failed since .*: {why}; to try again: outlast resume j --root")

    def test_failures_use_up_the_retries_and_start_from_the_checkpoint_each_time(self):
        trainer = self.trainer("""
print("step", load(), "torn", (CKPT / "torn").exists(), flush=True)
if not load():
    save(1)
    wait_for("saved")
(CKPT / "torn").write_text("half of some")
sys.exit(1)
""")
        run = self.start(self.job_file(trainer, "retries: 2\ncheckpoint: {dir: ckpt, every: 1s}\n"))
        run.wait_for("saved")
        self.go("saved")
        self.ends(run, 1)
        self.assertEqual(len(run.events("retry")), 2)
        self.assertRegex(run.texts("retry")[1], "^the trainer died of exit code 1 at step 1; retry 2 of 2 in ")
        self.assertEqual(run.texts("failed"), ["the trainer died 2 times in a row of exit code 1 at step 1, and "
                                               "the job's 2 retries without progress are used up"])
        self.assertEqual(run.printed().splitlines(), ["step 0 torn False"] + 2 * ["step 1 torn False"])
        self.assertEqual(next((self.work / "ckpt/.outlast-run/aside").glob("*/torn")).read_text(), "half of some")

    def test_exit_0_after_being_asked_to_leave_is_not_done(self):
        trainer = self.trainer("""
def leave(*_):
    save(load() + 10)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
print("began with", load(), flush=True)
save(load() + 1)
forever()
""")
        for epoch in (1, 2):
            run = self.train(trainer)
            run.wait_for("saved")
            run.signal(signal.SIGTERM)
            self.ends(run, LEFT)
            self.assertEqual(run.texts("trainer-ended"), ["the trainer left as it was asked to, with exit code 0"])
            self.assertEqual(run.printed(), f"began with {11 * (epoch - 1)}\n")
        self.assertEqual(self.restored(), {"state": "22"})
        self.is_clean()


class BadManners(AgentTest):
    def test_who_writes_half_a_file_and_dies_leaves_nothing_of_it(self):
        trainer = self.trainer("""
if load():
    note("came back", sorted(path.name for path in CKPT.iterdir()))
    sys.exit(0)
save(1)
wait_for("saved")
with open(CKPT / "half", "w") as file:
    file.write("half of some")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
""")
        run = self.train(trainer)
        run.wait_for("saved")
        self.go("saved")
        self.ends(run, 0)
        self.assertEqual(run.texts("trainer-ended")[0],
                         "the trainer failed with SIGKILL; most often the machine had run out of memory")
        self.assertEqual(self.noted("came back"), "['.outlast-run', 'outlast.log', 'state']")
        self.assertRegex(run.texts("set-aside")[0], "^1 that no checkpoint has was set aside, in "
                         ".*/ckpt/.outlast-run/aside$")
        self.assertEqual(self.restored(), {"state": "1"})

    def test_who_dies_while_it_overwrites_its_only_checkpoint_gets_the_old_one_back(self):
        trainer = self.trainer("""
if RESUME:
    note("came back", (CKPT / "state").read_text())
    sys.exit(0)
(CKPT / "state").write_text("old " * 1000)
wait_for("saved")
with open(CKPT / "state", "w") as file:
    file.write("new ")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
""")
        run = self.train(trainer)
        run.wait_for("saved")
        self.go("saved")
        self.ends(run, 0)
        self.assertEqual(self.noted("came back"), "old " * 1000)
        self.assertEqual(self.restored(), {"state": "old " * 1000})

    def test_who_is_killed_with_the_agent_while_overwriting_gets_the_old_one_back(self):
        trainer = self.trainer("""
if RESUME:
    note("came back", (CKPT / "state").read_text())
    sys.exit(0)
(CKPT / "state").write_text("old " * 1000)
wait_for("saved")
with open(CKPT / "state", "w") as file:
    file.write("new ")
    file.flush()
    note("writing")
    forever()
""")
        run = self.train(trainer)
        run.wait_for("saved")
        self.go("saved")
        self.noted("writing")
        run.signal(signal.SIGKILL)
        self.ends(run, 128 + signal.SIGKILL)
        self.ends(self.train(trainer), 0)
        self.assertEqual(self.noted("came back"), "old " * 1000)

    def test_who_deletes_its_checkpoints_at_the_end_is_done_and_the_root_keeps_them(self):
        trainer = self.trainer("""
save(7)
wait_for("saved")
(CKPT / "state").unlink()
""")
        run = self.train(trainer)
        run.wait_for("saved")
        self.go("saved")
        self.ends(run, 0)
        self.assertEqual(run.texts("done"), ["the job is done; its last checkpoint is 2"])
        self.assertEqual(self.restored(), {"state": "7"})
        self.is_clean()

    def deaf(self, body):
        run = self.train(self.trainer(body + "\nsave(1)\nnote('pid', os.getpid())\nforever()\n"), "--grace", "3s")
        run.wait_for("saved")
        run.signal(signal.SIGTERM)
        self.ends(run, LEFT)
        self.assertEqual(run.texts("stopped"), ["the trainer was stopped"])
        self.assertEqual(run.texts("left"), ["SIGTERM, which leaves 3s"])
        self.assertFalse(agent_rig.is_alive(int(self.noted("pid"))))
        self.assertEqual(self.restored(), {"state": "1"})
        return run

    def test_who_ignores_sigterm_is_stopped(self):
        run = self.deaf("signal.signal(signal.SIGTERM, signal.SIG_IGN)")
        self.assertEqual(run.events("asked"), [])

    def test_who_catches_sigterm_and_does_nothing_is_stopped_before_the_end(self):
        run = self.deaf("signal.signal(signal.SIGTERM, lambda *_: None)")
        self.assertEqual(run.texts("asked"), ["asked the trainer to save and leave (SIGTERM)"])


if __name__ == "__main__":
    agent_rig.main()
