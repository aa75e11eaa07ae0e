#!/usr/bin/env python3
"""Kills a trainer that takes snapshots, and only it, at random moments: it must go on from its last one, in memory.

usage: kill_snapshots.py PROGRAM KILLS TRAINER [--seed N] [--root URL]

TRAINER is outlast-example-snapshots. It takes a snapshot after every step, and has a state that is large enough for many kills to fall
into the middle of a copy; it finds out itself if what it begins with is a mixture. It prints a step just before its snapshot: so the next
life must begin with the last but one that was printed, or a later one; only while an upload holds one of the two slots may a copy that is cut short leave the older snapshot alone.
In the end the result must be that of an undisturbed run.
"""

import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "agent"))
import agent_rig

STEPS_PER_KILL = 60
STATE_MB = 48


def command(trainer, steps, every):
    return [trainer, "--steps", str(steps), "--step-ms", "2", "--every", str(every), "--ballast-mb", str(STATE_MB)]


def result_of(text):
    found = re.findall(r"^result \S+$", text, re.MULTILINE)
    if len(found) != 1:
        raise SystemExit(f"the trainer printed {len(found)} results:\n{text[-2000:]}")
    return found[0]


def children(pid):
    try:
        return [int(word) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                for word in (task / "children").read_text().split()]
    except FileNotFoundError:
        return []


def trainer_pid(agent, name):
    """The agent has a helper process beside the trainer."""
    for pid in children(agent):
        try:
            if os.readlink(f"/proc/{pid}/exe") == name:
                return pid
        except (FileNotFoundError, PermissionError):
            pass
    return None


def last_step(text):
    steps = re.findall(r"^step (\d+)/", text, re.MULTILINE)
    return int(steps[-1]) if steps else 0


def wait_for_progress(run):
    before = last_step(run.printed())
    agent_rig.wait_until("progress", lambda: last_step(run.printed()) > before or run.has_ended())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("kills", type=int)
    parser.add_argument("trainer", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--root")
    options = parser.parse_args()
    agent_rig.PROGRAM = pathlib.Path(options.program).resolve()
    trainer = options.trainer.resolve()
    steps = options.kills * STEPS_PER_KILL
    chance = random.Random(options.seed)

    with tempfile.TemporaryDirectory(prefix="outlast-kill-snapshots-") as scratch:
        scratch = pathlib.Path(scratch)
        environment = {**os.environ, "OUTLAST_NOTICE_SOURCES": "signal"}
        alone = scratch / "alone"
        alone.mkdir()
        undisturbed = subprocess.run(command(trainer, steps, 0), cwd=alone, env=environment, check=True, text=True,
                                     stdout=subprocess.PIPE)
        expected = result_of(undisturbed.stdout)

        work = scratch / "work"
        work.mkdir()
        run = agent_rig.Run(["--root", options.root or scratch / "root", "--job", "j", "--every", "2s", "--json", "--",
                             *command(trainer, steps, 1)], work, environment)
        held, older = 0, 0
        try:
            for kill in range(1, options.kills + 1):
                # Kills that come before any progress would use up the job's retries.
                wait_for_progress(run)
                time.sleep(chance.uniform(0, 0.25))
                pid = trainer_pid(run.process.pid, str(trainer))
                if pid is None or run.has_ended():
                    raise SystemExit(f"the job ended after {kill - 1} kills of {options.kills}: it wants more steps")
                os.kill(pid, signal.SIGKILL)
                event = agent_rig.wait_until("a new life", lambda: run.events("resumed")[kill - 1:kill], alive=run)[0]
                if event.get("from") != "memory":
                    raise SystemExit(f"after kill {kill} it did not go on from memory: {event['text']}")
                printed = [line for line in run.printed().splitlines() if line.startswith("step ")]
                shown = max(int(line.split()[1].split("/")[0]) for line in printed) if printed else 0
                if event["step"] >= shown - 1:
                    held += 1
                else:
                    older += 1
            while not run.has_ended():
                wait_for_progress(run)
            code = run.wait()
            if code != 0:
                raise SystemExit(f"the job ended with {code}:\n{run.said()[-3000:]}")
            if result_of(run.printed()) != expected:
                raise SystemExit(f"another result: {result_of(run.printed())}, undisturbed {expected}")
        finally:
            if not run.has_ended():
                run.process.kill()
                run.process.wait()
    print(f"{options.kills} kills: {held} went on from the last whole step, {older} from the snapshot "
          f"that was being uploaded; {len(run.events('saved'))} checkpoints; the same result")
    if held == 0:
        raise SystemExit("no kill at all went on from the last step: the test shows nothing")


if __name__ == "__main__":
    main()
