#!/usr/bin/env python3
"""Kills `outlast run` and its trainers at random moments: they must end with the bits of an undisturbed run.

usage: kill_agent.py PROGRAM KILLS --learn PROGRAM [--examples NAME…] [--root URL] [--seed N]

Killed are the agent alone, the trainer alone, or both at once; or the machine is to end, and says so.
Each life begins in an empty folder, so that all that it knows is in the root: a new folder unless
one is given; "test-store" is the bucket that tests/servers/run has started. Unless one is given, every
other job is run without any option, in one folder with its ./outlast-root. Nothing older than the newest
checkpoint that was acknowledged may come back, and nothing that had the time to be saved may be lost.
The moments follow from the seed as far as real time allows.
"""

import argparse
import collections
import dataclasses
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from kill_agent_examples import TABLE, Absent, ready
from kill_agent_life import Life, Trouble

LIFE_SECONDS_MAX = 120  # one that is left alone, on a busy machine
GONE_SECONDS_MAX = 5  # from the agent's end to the trainer's
SLACK = 3.0  # seconds that a busy machine may add to what a save takes
EVERY = {"options": 1, "plain": 10}  # seconds between saves: as we say; the least that outlast chooses itself
GRACE = 5
LEFT = 75
USUAL_WARNINGS = {"notice", "retry", "left"}


@dataclasses.dataclass
class Tally:
    lives: int = 0
    kills: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    lost: list = dataclasses.field(default_factory=list)  # steps, per kill that cost a trainer its life
    resumed: list = dataclasses.field(default_factory=list)  # seconds from start to trainer
    gone: list = dataclasses.field(default_factory=list)  # seconds from the agent's end to the trainer's


class Track:
    """How far a job's trainers are, over all lives of the job, from what they print."""

    def __init__(self, example, late, tally):
        self.example, self.late, self.tally = example, late, tally
        self.steps = []  # (when, step), of the trainer that runs or ran last
        self.owed = 0  # what the next one must have at least
        self.last = None  # steps of the one that was killed, if none has begun since
        self.exactly = None  # where a polite one left
        self.read = 0  # lines of the current life
        self.base = 0  # what its steps are to be added to

    def new_life(self):
        self.read = 0

    def interrupted(self, when):
        if not self.steps:
            return  # it had not said anything yet
        self.last = max(step for _, step in self.steps)
        in_time = [step for at, step in self.steps if at <= when - self.late]
        self.owed = max([self.owed] + [step - self.example.interval - 1 for step in in_time])

    def follow(self, life):
        printed = life.printed
        for when, line in printed[self.read:len(printed)]:
            self.read += 1
            if found := re.search(self.example.resumed, line):
                self.begun(when, int(found[1]))
            elif found := re.search(self.example.step, line):
                step = int(found[1]) + self.base
                if self.steps and step <= self.steps[-1][1] and self.last is not None:
                    self.begun(when, 0)  # from the beginning: it would have said so otherwise
                self.steps.append((when, step))

    def begun(self, when, step):
        if self.last is not None:
            self.tally.lost.append(max(0, self.last - step))
            if step < self.owed:
                raise Trouble(f"it resumed at step {step}: {self.owed} had the time to be saved, of {self.last}")
            if self.exactly is not None and step != self.exactly:
                raise Trouble(f"it left at step {self.exactly}, and resumed at step {step}")
        elif self.steps and step < self.steps[0][1]:
            raise Trouble(f"it resumed at step {step}, after an earlier life had resumed at {self.steps[0][1]}")
        self.last = self.exactly = None
        self.base = step if self.example.counts_anew else 0
        self.steps = [(when, step)]


class Job:
    def __init__(self, game, name, mode, number, kills):
        self.game, self.draw, self.mode, self.kills_left = game, game.draw, mode, kills
        self.example, self.tally = game.examples[name], game.tallies[name]
        self.folder = game.scratch / f"{name}-{number}"
        self.folder.mkdir()
        self.polite = mode == "options" and self.example.polite is not None and (
            not self.example.polite or self.draw.random() < 0.8)
        self.command = self.example.command + (self.example.polite if self.polite else [])
        self.wanted = game.wanted[name]
        self.late = EVERY[mode] + self.example.rest + SLACK
        self.track = Track(self.example, self.late, self.tally)
        self.acknowledged, self.lives, self.result = 0, 0, None
        self.name = f"{name}-{number}"
        self.root = game.root if mode == "options" else str(self.folder / "outlast-root")
        self.begins = game.begins[name]  # seconds from the start to the trainer's first line
        self.trainer_kills = 0
        self.life, self.hurries = None, False

    def start(self):
        self.lives += 1
        self.tally.lives += 1
        where, options = self.folder, []
        if self.mode == "options":
            where = self.folder / f"life{self.lives}"
            where.mkdir()
            # A trainer that is killed has failed, and fails more often here than jobs are given.
            file = self.folder / "job.yaml"
            file.write_text(f"name: {self.name}\nrun: exit 78\nretries: 1000\non_done: keep\n")
            options = ["--root", self.root, "--job", self.name, "--every", f"{EVERY['options']}s",
                       "--grace", f"{GRACE}s", str(file)]
        elif not self.hurries and self.draw.random() < 0.7:
            for path in where.iterdir():
                if path.name != "outlast-root":
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.where = where
        self.track.new_life()
        before = self.life
        self.life = Life([self.game.program, "run", *options, "--", *self.command], where,
                         f"{self.name}.{self.lives}")
        if self.hurries:
            self.tally.gone.append(before.seconds_until_gone(GONE_SECONDS_MAX))

    def play(self):
        while True:
            self.start()
            self.shepherd()
            if self.game.tells:
                print(f"--- {self.name}, life {self.lives}\n{self.life.told()}", flush=True)
            self.judge()
            if self.life.child.returncode == 0:
                break
        if self.result != self.wanted:
            raise Trouble(f"it ended with '{self.result}' instead of '{self.wanted}'")
        verified = subprocess.run([self.game.program, "ckpt", "verify", "--quiet", "--root", self.root, "--job",
                                   self.name], capture_output=True, text=True, check=False)
        if verified.returncode:
            raise Trouble(f"'ckpt verify' ended with {verified.returncode}: {verified.stdout}{verified.stderr}")

    def moment(self):
        if self.draw.random() < 0.3:
            return self.draw.uniform(0, self.begins)
        return self.begins + self.draw.uniform(0, self.example.rest + 2.5)

    def shepherd(self):
        """Until it has ended, by itself or not."""
        life, self.hurries = self.life, False
        while self.kills_left > 0:
            limit = time.monotonic() + self.moment()
            while time.monotonic() < limit and life.wait(0.02) is None:
                self.track.follow(life)
            if life.child.poll() is not None:
                return
            kinds = {"agent": 4, "trainer": 3 if self.mode == "options" or self.trainer_kills < 3 else 0, "both": 3,
                     "notice": 3 if self.mode == "options" else 0}
            kind = self.draw.choices(list(kinds), list(kinds.values()))[0]
            if getattr(self, "kill_" + kind)():
                self.kills_left -= 1
                self.tally.kills[kind] += 1
            if kind != "trainer":
                return
        if life.wait(LIFE_SECONDS_MAX) is None:
            raise Trouble(f"it still runs after {LIFE_SECONDS_MAX} s")

    def kill_agent(self):
        self.life.kill_agent()
        # Whoever starts it again may be faster than the keeper; the folder is the same then.
        self.hurries = self.mode == "plain" and self.draw.random() < 0.5
        if not self.hurries:
            self.tally.gone.append(self.life.seconds_until_gone(GONE_SECONDS_MAX))
        self.interrupted()
        return True

    def kill_both(self):
        self.life.kill_all()
        self.life.seconds_until_gone(GONE_SECONDS_MAX)
        self.interrupted()
        return True

    def interrupted(self):
        when = time.monotonic()
        self.track.follow(self.life)
        self.track.interrupted(when)

    def kill_trainer(self):
        life = self.life
        seen, trainer = len(life.events), life.trainer()
        if trainer is None:
            return False
        try:
            os.kill(trainer, signal.SIGKILL)
        except ProcessLookupError:
            return False
        self.interrupted()
        self.trainer_kills += 1
        life.await_event(GONE_SECONDS_MAX + self.example.rest, "trainer-ended", after=seen)
        # It waits before it tries again: longer each time, until there was progress.
        waits = [facts["wait_seconds"] for _, kind, facts in life.events[seen:] if kind == "retry"]
        life.await_event(10 + sum(waits), "resumed", "began", "done", after=seen)
        return True

    def kill_notice(self):
        life = self.life
        # Before it has the job there is nothing to save, and it dies as any program does.
        listens = life.when("began") is not None or life.when("resumed") is not None
        life.child.terminate()
        code = life.wait(GRACE + 5)
        if code is None:
            raise Trouble(f"it had {GRACE} s to leave, and still runs")
        if code not in (0, LEFT) and (listens or code != -signal.SIGTERM):
            raise Trouble(f"asked to leave, it ended with {code}")
        life.close(GONE_SECONDS_MAX)
        life.seconds_until_gone(GONE_SECONDS_MAX)
        self.interrupted()
        saved_itself = life.when("asked") is not None and life.when("stopped") is None and any(
            facts.get("meaning") == "left" for _, kind, facts in life.events if kind == "trainer-ended")
        if code == LEFT and self.polite and saved_itself:
            self.track.exactly = self.newest()
            self.track.last = max(self.track.last or 0, self.track.exactly)
            self.tally.kills["of these saved by itself"] += 1
        return code != 0

    def newest(self):
        """The step of the newest checkpoint that lies in the folder."""
        found = list(self.where.glob(self.example.newest))
        if "*" not in self.example.newest:
            return int(found[0].read_text().split()[0])
        return max(int(re.findall(r"\d+", path.name)[0]) for path in found)

    def judge(self):
        """What the life that has ended told, in the order of it."""
        life = self.life
        life.close(GONE_SECONDS_MAX)
        if not self.hurries:
            life.seconds_until_gone(GONE_SECONDS_MAX)
        self.track.follow(life)
        begun = life.when("resumed", "began")
        if begun is not None:
            self.tally.resumed.append(begun - life.started)
            if life.printed:
                self.begins = 0.7 * self.begins + 0.3 * (life.printed[0][0] - life.started)
        for _, kind, facts in life.events:
            if kind == "saved":
                self.acknowledged = max(self.acknowledged, facts["checkpoint"])
            elif kind in ("resumed", "began") and facts.get("checkpoint", 0) < self.acknowledged:
                raise Trouble(f"checkpoint {self.acknowledged} was acknowledged, and it {facts['text']}")
            elif kind == "job":
                self.name = re.match(r"job '([^']+)'", facts["text"])[1]
            elif kind in ("waiting", "started-over", "short"):
                raise Trouble(f"{kind}: {facts['text']}")
            elif facts["level"] in ("warning", "bad") and kind not in USUAL_WARNINGS:
                self.game.warnings[f"{kind}: {facts['text']}"] += 1
        for _, line in life.printed:
            if line.startswith("result "):
                self.result = line
                if line != self.wanted:
                    raise Trouble(f"'{line}' instead of '{self.wanted}'")
        code = life.child.returncode
        if code not in (0, LEFT, -signal.SIGKILL, -signal.SIGTERM):
            raise Trouble(f"it ended with {code}")


class Game:
    def __init__(self, options, scratch, root):
        self.program, self.root, self.scratch = os.path.abspath(options.program), root, scratch
        self.draw = random.Random(f"kill-agent/{options.seed}")
        self.examples, self.wanted, self.begins, self.tallies = {}, {}, {}, {}
        self.warnings = collections.Counter()
        self.has_plain = not options.root  # the default root is a folder
        self.job, self.tells = None, options.tell
        for name in options.examples:
            try:
                self.examples[name] = self.prepared(name, options.learn)
            except Absent as absent:
                print(f"{name} is skipped: {absent}", flush=True)

    def prepared(self, name, learn):
        example = ready(name, learn)
        folder = self.scratch / f"{name}-undisturbed"
        folder.mkdir()
        started, begun, line = time.monotonic(), None, ""
        with subprocess.Popen(example.command + example.quick, cwd=folder, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONUNBUFFERED": "1"}) as child:
            for line in child.stdout:
                begun = begun or time.monotonic() - started
        self.wanted[name], self.begins[name] = line.rstrip("\n"), begun
        if child.returncode or not line.startswith("result "):
            sys.exit(f"{name} was not disturbed, and ended with {child.returncode} and '{line}'")
        self.tallies[name] = Tally()
        return example

    def kills(self):
        return sum(tally.kills[kind] for tally in self.tallies.values()
                   for kind in ("agent", "trainer", "both", "notice"))

    def play(self, kills, per_job):
        number = 0
        while self.kills() < kills:
            for at, name in enumerate(self.examples):
                if self.kills() >= kills:
                    break
                mode = "plain" if (at + number) % 2 and self.has_plain else "options"
                self.job = Job(self, name, mode, number, min(per_job, kills - self.kills()))
                self.job.play()
                shutil.rmtree(self.job.folder)
            number += 1

    def show(self):
        def most_and_mean(values, form):
            return (f"{form.format(max(values))} / {form.format(sum(values) / len(values))}" if values else "-")

        print(f"{'':9}{'lives':>6}{'agent':>7}{'trainer':>8}{'both':>6}{'notice':>7} {'(saved)':>8}"
              f"{'steps lost':>18}{'s to resume':>14}{'s to be gone':>15}   (most / mean)")
        for name, tally in self.tallies.items():
            counts = [tally.kills[kind] for kind in ("agent", "trainer", "both", "notice", "of these saved by itself")]
            print(f"{name:9}{tally.lives:6}{counts[0]:7}{counts[1]:8}{counts[2]:6}{counts[3]:7} {counts[4]:8}"
                  f"{most_and_mean(tally.lost, '{:.4g}'):>18}{most_and_mean(tally.resumed, '{:.2f}'):>14}"
                  f"{most_and_mean(tally.gone, '{:.3f}'):>15}")
        for warning, count in self.warnings.items():
            print(f"{count} × {warning}")
        print(f"{self.kills()} kills", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("kills", type=int)
    parser.add_argument("--learn", required=True, help="the program outlast-example-learn")
    parser.add_argument("--examples", nargs="+", choices=TABLE, default=list(TABLE))
    parser.add_argument("--per-job", type=int, default=6, help="kills until a job is left alone")
    parser.add_argument("--root")
    parser.add_argument("--tell", action="store_true", help="what happened in each life")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        root = options.root or str(scratch / "root")
        if root == "test-store":
            root = os.environ["OUTLAST_TEST_STORE"].rstrip("/") + "/kill-agent"
        game = Game(options, scratch, root)
        try:
            game.play(options.kills, options.per_job)
        except Trouble as trouble:
            job = game.job
            print(f"seed {options.seed}, job {job.name} ({job.mode}), life {job.lives}: {trouble}\n{job.life.told()}",
                  file=sys.stderr, flush=True)
            return 1
        finally:
            if game.job and game.job.life.child.poll() is None:
                game.job.life.kill_all()
            game.show()
    return 0


if __name__ == "__main__":
    sys.exit(main())
