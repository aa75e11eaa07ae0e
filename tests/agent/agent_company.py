#!/usr/bin/env python3
"""Several of a kind: helpers of a trainer, agents on one job, agents in one folder. usage: agent_company.py PROGRAM"""

import signal

import agent_rig
from agent_rig import LEFT, AgentTest, is_alive, wait_until

# Two helpers that handle nothing: one in the trainer's process group, one in a session of its own.
WITH_HELPERS = """
def helper(**how):
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], **how).pid
note("pids", " ".join(map(str, [os.getpid(), helper(), helper(start_new_session=True)])))
save(load() + 1)
"""


class Helpers(AgentTest):
    def pids(self):
        return [int(pid) for pid in self.noted("pids").split()]

    def are_gone(self, pids):
        for pid in pids:
            wait_until(f"an end of process {pid}", lambda pid=pid: not is_alive(pid))

    def test_all_are_gone_when_the_machine_is_left(self):
        run = self.train(self.trainer(WITH_HELPERS + "forever()"), "--grace", "3s")
        run.wait_for("saved")
        run.signal(signal.SIGTERM)
        self.ends(run, LEFT)
        self.are_gone(self.pids())

    def test_all_are_gone_when_the_agent_is_killed(self):
        run = self.train(self.trainer(WITH_HELPERS + "forever()"))
        run.wait_for("saved")
        run.signal(signal.SIGKILL)
        self.ends(run, 128 + signal.SIGKILL)
        self.are_gone(self.pids())

    def test_none_outlives_a_trainer_that_dies(self):
        trainer = self.trainer(WITH_HELPERS + """
if load() == 2:
    wait_for("enough")
    sys.exit(0)
wait_for("saved")
os.kill(os.getpid(), signal.SIGKILL)
""")
        run = self.train(trainer)
        run.wait_for("saved")
        first = self.pids()
        self.go("saved")
        run.wait_for("resumed")
        self.are_gone(first)  # while the next life goes on
        self.assertEqual(run.events("done"), [])
        run.wait_for("saved", 2)
        self.go("enough")
        self.ends(run, 0)
        self.are_gone(self.pids())


class TwoAgents(AgentTest):
    STEADY = "save(load() + 1)\nnote(f'pid{load()}', os.getpid())\nwait_for('enough')\n"

    def test_a_second_one_in_the_folder_is_refused(self):
        trainer = self.trainer(self.STEADY)
        first = self.train(trainer)
        first.wait_for("began")
        second = self.ends(self.train(trainer), 1)
        self.assertEqual(second.said(), f"outlast: error: another 'outlast run' works in {self.work}/ckpt; "
                         "wait until it has ended, or run this one in a folder of its own\n")
        self.go("enough")
        self.ends(first, 0)

    def test_a_second_one_on_the_job_is_refused_while_the_first_trains(self):
        trainer = self.trainer(self.STEADY)
        first = self.train(trainer)
        first.wait_for("saved")
        second = self.ends(self.train(trainer, folder=self.folder("elsewhere")), 1)
        self.assertRegex(second.texts("waiting")[0], "^job 'j' was trained on .* a moment ago, which did not say "
                         "that it ended; listening for .* whether it still lives \\(--take-over does not wait\\)$")
        self.assertRegex(second.said(), "\noutlast: error: job 'j' is being trained on .* right now; stop it "
                         "there, or take it over with --take-over\n$")
        self.go("enough")
        self.ends(first, 0)
        self.assertEqual(len(self.attempts()), 1)

    def test_one_that_takes_over_goes_on_and_the_first_ends(self):
        trainer = self.trainer(self.STEADY)
        first = self.train(trainer)
        first.wait_for("saved")
        second = self.train(trainer, "--take-over", folder=self.folder("elsewhere"))
        self.ends(first, 1)
        self.assertRegex(first.texts("taken-over")[0], "^another attempt has taken the job over")
        self.assertEqual(first.texts("taken_over") + first.texts("taken-over")[1:],
                         ["another attempt has taken the job over"])
        self.assertIn("where it is now: outlast status j", first.said())
        self.assertFalse(is_alive(int(self.noted("pid1"))))
        second.wait_for("saved")
        self.assertTrue(is_alive(int(self.noted("pid2"))))
        self.assertEqual(self.beat()["epoch"], 2)
        self.go("enough")
        self.ends(second, 0)
        self.assertEqual([attempt["ended"]["outcome"] for attempt in self.attempts()], ["taken-over", "done"])
        self.is_clean()

    def test_one_whose_agent_was_killed_here_is_taken_up_at_once(self):
        trainer = self.trainer(self.STEADY)
        first = self.train(trainer)
        first.wait_for("saved")
        first.signal(signal.SIGKILL)
        self.ends(first, 128 + signal.SIGKILL)
        self.go("enough")
        second = self.ends(self.train(trainer), 0)
        self.assertEqual(second.events("waiting"), [])
        self.assertRegex(second.texts("resumed")[0], "^resumed on .*, attempt 2, from checkpoint ")


if __name__ == "__main__":
    agent_rig.main()
