#!/usr/bin/env python3
"""Notices that come late, or are taken back. usage: agent_notices.py PROGRAM"""

import signal

import agent_rig
from agent_rig import LEFT, AgentTest, wait_until


class Notices(AgentTest):
    def notice(self, text):
        beside = self.scratch / "notice.new"
        beside.write_text(text, encoding="utf-8")
        beside.rename(self.scratch / "notice")

    def test_one_that_is_withdrawn_changes_nothing(self):
        trainer = self.trainer("""
save(1)
told = pathlib.Path(os.environ["OUTLAST_NOTICE"])
while not told.exists(): rest()
note("told")
while told.exists(): rest()
save(2)
wait_for("enough")
""")
        run = self.train(trainer, "--notice", f"file:{self.scratch}/notice")
        run.wait_for("saved")
        self.notice("60s")
        self.assertEqual(run.wait_for("notice")["text"],
                         f"this machine ends in 1m: '{self.scratch}/notice' says 60s")
        self.noted("told")
        (self.scratch / "notice").unlink()
        self.assertEqual(run.wait_for("notice-withdrawn")["text"], "the notice was withdrawn: this machine stays")
        run.wait_for("saved", 2)
        self.go("enough")
        self.ends(run, 0)
        self.assertEqual(len(run.events("began") + run.events("resumed")), 1)
        self.assertEqual(self.restored(), {"state": "2"})

    def one_second(self, body):
        run = self.train(self.trainer(body), "--notice", f"file:{self.scratch}/notice")
        run.wait_for("saved")
        self.notice("1s")
        self.ends(run, LEFT)
        self.assertRegex(run.texts("left")[0], f"^'{self.scratch}/notice' says 1s$")
        self.is_clean()
        return run

    def test_one_second_for_a_trainer_that_does_not_listen(self):
        self.one_second("save(1)\nforever()\n")
        self.assertEqual(self.restored(), {"state": "1"})

    def test_one_second_for_a_trainer_that_is_in_the_middle_of_a_large_file(self):
        self.one_second("""
save(1)
wait_for("notice")
with open(CKPT / "state", "w") as file:
    while True:
        file.write("x" * (1 << 20))
        rest()
""")
        self.assertEqual(self.restored(), {"state": "1"})

    def test_one_second_for_a_trainer_that_takes_for_ever_to_save(self):
        self.one_second("""
def leave(*_):
    with open(CKPT / "state", "w") as file:
        while True:
            file.write("x" * (1 << 20))
            rest()
signal.signal(signal.SIGTERM, leave)
save(1)
forever()
""")
        self.assertEqual(self.restored(), {"state": "1"})

    def test_a_person_at_the_keyboard_ends_it_with_what_is_there(self):
        run = self.train(self.trainer("save(1)\nforever()\n"))
        run.wait_for("saved")
        run.signal(signal.SIGINT)
        self.ends(run, 130)
        self.assertEqual(self.restored(), {"state": "1"})

    def test_who_is_stopped_a_moment_after_a_save_has_it(self):
        run = self.train(self.trainer("""
save(1)
wait_for("saved")
(CKPT / "state").write_text("2")
note("written")
forever()
"""))
        run.wait_for("saved")
        self.go("saved")
        self.noted("written")
        run.signal(signal.SIGINT)
        self.ends(run, 130)
        self.assertEqual(self.restored(), {"state": "2"})

    def test_a_person_need_not_wait_for_the_end_of_a_notice(self):
        run = self.train(self.trainer("save(1)\nforever()\n"), "--notice", f"file:{self.scratch}/notice")
        run.wait_for("saved")
        self.notice("500s")
        run.wait_for("notice")
        run.signal(signal.SIGINT)
        self.ends(run, 130)
        self.assertEqual(run.texts("left"), ["Ctrl-C"])

    def test_two_files_have_each_their_own_word(self):
        run = self.train(self.trainer("save(1)\nforever()\n"), "--notice", f"file:{self.scratch}/notice",
                         "--notice", f"file:{self.scratch}/later")
        run.wait_for("saved")
        self.notice("4s")
        run.wait_for("notice")
        (self.scratch / "later").write_text("500s")
        self.ends(run, LEFT)
        self.assertEqual(run.texts("left"), [f"'{self.scratch}/notice' says 4s"])

    def test_without_notices_sigterm_ends_outlast_and_the_trainer_with_it(self):
        run = self.train(self.trainer("save(1)\nnote('pid', os.getpid())\nforever()\n"), "--notice", "none")
        run.wait_for("saved")
        run.signal(signal.SIGTERM)
        self.ends(run, 128 + signal.SIGTERM)
        pid = int(self.noted("pid"))
        wait_until("an end of the trainer", lambda: not agent_rig.is_alive(pid))


if __name__ == "__main__":
    agent_rig.main()
