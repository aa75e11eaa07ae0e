#!/usr/bin/env python3
"""How fast our trainers train, beside the same training in PyTorch: same batch, one thread, by turns.

Run by './dev bench trainers'. Ours is timed as the difference of two runs of the real program, the second of
which has more steps: what it takes to start, to read data and to evaluate is in both. Examples per second of
processor time are compared, as other programs may have the machine, too; per second of the clock is shown beside it.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from programs import Row
from store_bench import progress

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "servers"))
import catalogue


class Rate:
    """Examples per second: of the processor, and of the clock."""

    def __init__(self, examples, processor, wall):
        self.processor, self.wall = examples / processor, examples / wall

    def __str__(self):
        return f"{self.processor:,.0f} ({self.wall:,.0f})"


def middle(rates):
    """Of several rates the one in the middle, by processor time."""
    return sorted(rates, key=lambda rate: rate.processor)[len(rates) // 2]


def run(command):
    """Seconds of the processor and of the clock."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"bench: {command} failed:\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


class Ours:
    def __init__(self, program):
        self.program, self.name = program, "ours"

    def rate(self, task, batch, steps):
        def timed(count):
            with tempfile.TemporaryDirectory() as folder:
                return run([self.program, task, "--job-dir", folder, "--batch-size", batch, "--train-steps", count,
                            "--eval-steps", 10 ** 9, "--threads", 1, "--quiet"])

        short, long = timed(steps // 10), timed(steps // 10 + steps)
        return Rate(batch * steps, long[0] - short[0], long[1] - short[1])


class Torch:
    def __init__(self, python, version):
        self.python, self.name = python, f"PyTorch {version}"

    def rate(self, task, batch, steps):
        done = subprocess.run([self.python, HERE / "torch_trainer.py", task, str(batch), str(steps)], capture_output=True,
                              text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        wall, processor = map(float, done.stdout.split())
        return Rate(batch * steps, processor, wall)


def torches():
    """Every PyTorch of this machine."""
    found = []
    frameworks = catalogue.folder("python-frameworks") / "bin/python"
    for python in [frameworks, "/usr/bin/python3"]:
        done = subprocess.run([str(python), "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True,
                              check=False) if os.path.exists(python) else None
        if done and done.returncode == 0:
            found.append(Torch(str(python), done.stdout.strip()))
    return found


def compare(ours, others, task, batch, steps, rounds, goal):
    """By turns, so that a machine that is busy for a while is so for all."""
    rates = {who: [] for who in [ours, *others]}
    for number in range(rounds):
        for who in rates:
            progress(f"{task}, batch {batch}, {number + 1} of {rounds}: {who.name}")
            count = steps if who is ours else max(steps // 10, 50)
            rates[who].append(who.rate(task, batch, count))
    rows = []
    mine = middle(rates.pop(ours))
    best = max((middle(theirs).processor for theirs in rates.values()), default=0)
    for who, theirs in rates.items():
        theirs = middle(theirs)
        ratio = mine.processor / theirs.processor
        is_best = theirs.processor == best
        rows.append(Row(f"{task}, batch {batch}, / {who.name}", str(mine), str(theirs), f"{ratio:.1f}",
                        f">= {goal}" if is_best else "", ratio >= goal if is_best else None))
    return rows


def main():
    parser = argparse.ArgumentParser(description="measures our trainers beside PyTorch")
    parser.add_argument("program", help="outlast-train")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ours, others = Ours(options.program), torches()
    if not others:
        sys.exit("bench: there is no PyTorch to compare with: tests/servers/install python-frameworks, or python3-torch")
    rows = compare(ours, others, "cifar10", 4, 60000, options.rounds, 10)
    rows += compare(ours, others, "cifar10", 128, 2000, options.rounds, 4)
    progress("")
    print("examples per second of one processor (in brackets: of the clock), one thread; the goal is against the faster PyTorch")
    print(f"{'what':44} {'ours':>18} {'theirs':>18} {'ratio':>7}  goal")
    for row in rows:
        met = {True: "met", False: "MISSED", None: ""}[row.is_met]
        print(f"{row.what:44} {row.ours:>18} {row.baseline:>18} {row.ratio:>7}  {row.goal:6} {met}")


if __name__ == "__main__":
    main()
