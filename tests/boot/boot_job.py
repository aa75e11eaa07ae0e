#!/usr/bin/env python3
"""A job on a machine that is stopped, cut off and started again until it is done.

usage: boot_job.py OUTLAST PROBE [--stand-in] [--lose-state] [--steps N] [--run-option WORD]…

The machine is told once, in its first life, to run the job, also at every boot. It is then powered
off as a cloud does it, and boots; its agent is killed; its power is cut, and it boots; and in the end
it powers itself off, because the job is done. With --stand-in a shell script is the agent, and the
probe installs it. With --lose-state what the trainer wrote is gone at every boot, so that it can only
come from the root.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing of ours is left in the source tree

import machine  # noqa: E402
from machine import Trouble  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
UNIT = "outlast-j.service"
AGENT = "/opt/outlast/outlast"
PROBE = "/opt/outlast/boot_probe"

FIRST = """[Unit]
ConditionPathExists=!/root/told
[Service]
ExecStart=/bin/sh /root/first.sh
WorkingDirectory=/root
KillMode=mixed
Environment=HOME=/root
TimeoutStopSec=60
"""


def expected(steps):
    number = 0
    for step in range(1, steps + 1):
        number = (number * 31 + step) % 1000003
    return f"{steps} {number}\n"


class Story:
    def __init__(self, options):
        self.options, self.host = options, None

    def __call__(self, host):
        self.host = host
        self.prepare()
        steps = self.options.steps

        host.boot()
        self.reach(steps // 6)
        host.power_off()
        left = self.life(-1, "left")
        self.check(host.path(f"/etc/systemd/system/{UNIT}").exists(), "no unit was installed")

        self.boot_again()
        self.wait_for_start(2)
        self.check(self.life(-1, "start") == left, f"it left at {left}, and started again elsewhere")
        self.reach(left + steps // 6)
        host.inside("systemctl", "kill", "--kill-who=main", "--signal=KILL", UNIT)
        self.wait_for_start(3)  # on the same machine, by systemd

        self.reach(left + 2 * (steps // 6))
        host.cut_power()
        at = int(host.text("/root/progress") or 0)
        self.boot_again()
        # Nobody said goodbye: the agent listens a minute for whether the one before still lives.
        self.wait_for_start(4, seconds=machine.UP_SECONDS + 60)
        start = self.life(-1, "start")
        self.check(left <= start <= at, f"it was cut off at {at}, and started again at {start}")

        host.wait_off("the job must have been done", seconds=machine.OFF_SECONDS + steps // 5)
        self.check(host.text("/root/result") == expected(steps), f"the result is '{host.text('/root/result')}'")
        self.check(len(self.lives("start")) == 4, f"it started {len(self.lives('start'))} times, not 4")
        if not self.options.stand_in:
            self.look_into_root()
        print("lives: " + ", ".join(host.text("/root/lives").splitlines()))

    def prepare(self):
        host = self.host
        host.add_program(self.options.probe, PROBE)
        for script in ("counter.sh", "stand_in.sh"):
            host.write(f"/root/{script}", (HERE / script).read_text())
        trainer = f"/bin/sh /root/counter.sh {self.options.steps} /root"
        if self.options.stand_in:
            agent = f"/bin/sh /root/stand_in.sh {trainer}"
            tell = f"{PROBE} install j /root {agent} && exec {agent}"
        else:
            host.add_program(self.options.outlast, AGENT)
            tell = (f"{AGENT} run --install-boot --on-done shutdown --job j --root /root/r --checkpoint /root/state "
                    f"--every 2s {' '.join(self.options.run_option)} -- {trainer} && exec systemctl start --no-block {UNIT}")
        host.write("/root/first.sh", f"touch /root/told\n{tell}\n")
        host.add_unit("first.service", FIRST)

    def boot_again(self):
        if self.options.lose_state:
            shutil.rmtree(self.host.path("/root/state"), ignore_errors=True)
        self.host.boot()

    def reach(self, step):
        self.host.wait(f"step {step}", lambda: int(self.host.text("/root/progress").strip() or 0) >= step)

    def lives(self, word):
        return [line for line in self.host.text("/root/lives").splitlines() if line.startswith(word + " ")]

    def life(self, index, word):
        """At which step the trainer did that."""
        found = self.lives(word)
        self.check(found, f"the trainer has never said '{word}'")
        return int(found[index].split()[1])

    def wait_for_start(self, count, seconds=machine.UP_SECONDS):
        self.host.wait(f"start {count} of the trainer", lambda: len(self.lives("start")) >= count, seconds)

    def look_into_root(self):
        for command in (["ckpt", "ls"], ["ckpt", "verify"]):
            done = subprocess.run([self.options.outlast, *command, "--root", str(self.host.path("/root/r")), "--job", "j"],
                                  capture_output=True, text=True, check=False)
            self.check(done.returncode == 0, f"'outlast {' '.join(command)}' ended with {done.returncode}: {done.stderr}")
            print(done.stdout)

    @staticmethod
    def check(is_so, otherwise):
        if not is_so:
            raise Trouble(otherwise)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outlast")
    parser.add_argument("probe")
    parser.add_argument("--stand-in", action="store_true")
    parser.add_argument("--lose-state", action="store_true")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--run-option", action="append", default=[])
    options = parser.parse_args()
    if not options.stand_in:
        told = subprocess.run([options.outlast, "run", "--help"], capture_output=True, text=True, check=False)
        if "--install-boot" not in told.stdout:
            machine.skip("this outlast has no 'run --install-boot'")
    machine.run(Story(options), ["first.service", UNIT])


if __name__ == "__main__":
    main()
