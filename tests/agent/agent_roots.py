#!/usr/bin/env python3
"""Roots and disks that are full, or away for a while. usage: agent_roots.py PROGRAM"""

import os
import signal
import subprocess
import unittest

import agent_rig
from agent_rig import AgentTest

MIB = 1 << 20

# Saves a number as often as it is told to by files, and says what it has done.
COUNTS = """
for step in (1, 2, 3):
    save(step)
    wait_for(f"after{step}")
note("went on")
"""


class Away(AgentTest):
    def test_training_goes_on_and_all_is_saved_when_the_root_is_back(self):
        run = self.train(self.trainer(COUNTS))
        run.wait_for("saved")
        jobs = self.root / "jobs"
        jobs.rename(self.root / "away")
        jobs.touch()
        self.go("after1")
        self.assertRegex(run.wait_for("save-failed")["text"], "^checkpoints cannot be saved: put .*: 'jobs' is an "
                         "object, .*; training goes on, and it is tried again$")
        self.go("after2")
        jobs.unlink()
        (self.root / "away").rename(jobs)
        self.assertEqual(run.wait_for("caught-up")["text"], "checkpoints can be saved again")
        self.go("after3")
        self.ends(run, 0)
        self.assertEqual(len(run.events("save-failed")), 1)
        self.assertEqual(self.restored(), {"state": "3"})
        self.assertEqual(len(run.events("began") + run.events("resumed")), 1)
        self.is_clean()
        kept = "".join(path.read_text(encoding="utf-8") for path in sorted(jobs.glob("j/attempts/*/events/*")))
        for kind in ("began", "save-failed", "caught-up", "done"):
            self.assertIn(f'"event":"{kind}"', kept)


@unittest.skipUnless(os.geteuid() == 0, "only root can make a small disk")
class Full(AgentTest):
    def small_disk(self, name):
        disk = self.folder(name)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], check=False).returncode != 0:
            self.skipTest("no small disk can be mounted here")
        # Lazily: a test that fails may have left somebody on it.
        self.addCleanup(subprocess.run, ["umount", "--lazy", disk], check=False)
        return disk

    def fill(self, disk):
        ballast = disk / "ballast"
        with open(ballast, "wb") as file:
            try:
                while True:
                    file.write(bytes(MIB))
                    file.flush()
            except OSError:
                pass
        return ballast

    def test_a_full_root_does_not_stop_the_training(self):
        disk = self.small_disk("disk")
        self.root = disk / "root"
        trainer = self.trainer("""
save(1)
wait_for("after1")
(CKPT / "weights").write_text(os.urandom(MIB).hex())
wait_for("after2")
""".replace("MIB", "1 << 20"))
        run = self.train(trainer)
        run.wait_for("saved")
        ballast = self.fill(disk)
        self.go("after1")
        self.assertRegex(run.wait_for("save-failed")["text"], "^checkpoints cannot be saved: .*: No space left on "
                         "device; .*free some space on that disk.*; training goes on, and it is tried again$")
        self.assertEqual(run.events("trainer-ended"), [])
        ballast.unlink()
        run.wait_for("caught-up")
        self.go("after2")
        self.ends(run, 0)
        self.assertEqual(sorted(self.restored()), ["state", "weights"])
        self.is_clean()

    def test_a_disk_too_full_to_restore_to_starts_nothing(self):
        trainer = self.trainer("""
note("started" if RESUME else "began")
(CKPT / "weights").write_text(os.urandom(1 << 20).hex())
forever()
""")
        run = self.train(trainer, "--grace", "3s")
        run.wait_for("saved")
        run.signal(signal.SIGTERM)
        self.ends(run, agent_rig.LEFT)
        disk = self.small_disk("disk")
        work = disk / "work"
        work.mkdir()
        (work / "ckpt" / ".outlast-run" / "output").mkdir(parents=True)
        (work / "ckpt" / ".outlast-run" / "lock").touch()
        self.fill(disk)
        again = self.ends(self.train(trainer, folder=work), 1)
        self.assertRegex(again.texts("broken")[0], "^restore the newest checkpoint: .* it needs 2.0 MiB more on the "
                         "disk, which has 0 B left .*; free some space, or choose another folder$")
        self.assertFalse((self.scratch / "started").exists())
        self.assertIn("once that is put right, give the same command again", again.said())
        # Room is made, and it goes on as if nothing had been.
        (disk / "ballast").unlink()
        run = self.train(trainer, folder=work)
        self.noted("started")
        run.signal(signal.SIGTERM)
        self.ends(run, agent_rig.LEFT)


if __name__ == "__main__":
    agent_rig.main()
