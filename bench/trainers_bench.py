#!/usr/bin/env python3
"""How fast our trainers train, beside the same training in PyTorch: same network, rule and batch, one thread, by turns.

Run by './dev bench trainers'. Ours is timed as the difference of two runs of the real program, the second of
which has more steps: what it takes to start, to read data and to evaluate is in both. Examples per second of
processor time are compared, as other programs may have the machine, too; per second of the clock is shown beside it.
A step of the large networks takes seconds, so that there are few of them, in one round unless more are asked for.
"""
import argparse
import dataclasses
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from programs import Row
from store_bench import progress
from trainers_data import make_pictures, make_texts

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "servers"))
import catalogue

NO_SUCH_MODULE = 77  # what torch_trainer.py ends with


@dataclasses.dataclass
class Case:
    """What is measured: steps of a task, beside steps of a model of torch_trainer.py."""
    name: str
    words: list  # of the command line
    model: str
    batch: int
    begun: int  # steps of the shorter run
    steps: int  # and how many more the longer one has
    their_steps: int
    goal: float
    also: dict = dataclasses.field(default_factory=dict)  # other models to show, and what they are called
    rounds: int = 1


def cases(scratch):
    """Data for ResNet-50 are few pictures in a folder, so that no hundreds of them are evaluated: cutting out and
    scaling, and once decoding, are part of our time, not of theirs, but small beside a step. Below 16 pictures
    libtorch multiplies matrices for convolutions of 1 x 1, by whatever BLAS there is, if it has one thread: hence two
    batches.
    """
    resnet50 = ["imagenet", "--arch", "resnet50", "--data", scratch / "pictures"]
    return {
        "cifar10": [Case("CNN", ["cifar10"], "cifar10", 4, 6000, 60000, 6000, 10, rounds=3),
                    Case("CNN", ["cifar10"], "cifar10", 128, 200, 2000, 200, 4, rounds=3)],
        "resnet50": [Case("ResNet-50", resnet50, "resnet50", 8, 1, 1, 1, 1.0),
                     Case("ResNet-50", resnet50, "resnet50", 16, 1, 2, 2, 1.0)],
        "mobilenet_v3": [Case("MobileNetV3-Small", ["horses"], "mobilenet_v3", 16, 2, 16, 10, 1.4,
                              {"mobilenet_v3_channels_last": "channels_last"})],
        "bert": [Case("BERT base, 128 tokens",
                      ["bert", "--size", "base", "--max-length", 128, "--data", scratch / "texts"],
                      "bert", 8, 1, 5, 3, 1.0)],
    }


def make_data(tasks, scratch):
    if "resnet50" in tasks:
        make_pictures(scratch / "pictures", 16, 224)
    if "bert" in tasks:
        make_texts(scratch / "texts", 64, 140)


class Rate:
    """Examples per second: of the processor, and of the clock."""

    def __init__(self, examples, processor, wall):
        self.processor, self.wall = examples / processor, examples / wall

    def __str__(self):
        return f"{shown(self.processor)} ({shown(self.wall)})"


def shown(rate):
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}" if rate >= 10 else f"{rate:.2f}"


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

    def rate(self, case):
        def timed(count):
            with tempfile.TemporaryDirectory() as folder:
                return run([self.program, *case.words, "--job-dir", folder, "--batch-size", case.batch,
                            "--train-steps", count, "--eval-steps", 10 ** 9, "--threads", 1, "--quiet"])

        short, long = timed(case.begun), timed(case.begun + case.steps)
        if long[0] <= short[0] or long[1] <= short[1]:
            sys.exit(f"bench: {case.name}: more steps took less time: other programs have the machine, try again")
        return Rate(case.batch * case.steps, long[0] - short[0], long[1] - short[1])


class Torch:
    def __init__(self, python, version):
        self.python, self.name = python, f"PyTorch {version}"

    def rate(self, case, model):
        """Or nothing, if this Python cannot make the model."""
        command = [self.python, "-B", HERE / "torch_trainer.py", model, str(case.batch), str(case.their_steps)]
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})
        if done.returncode == NO_SUCH_MODULE:
            print(f"{case.name}: without {self.name}: {done.stderr.strip()}")
            return None
        if done.returncode:
            sys.exit(f"bench: {model} of {self.name} failed:\n{done.stderr}")
        wall, processor = map(float, done.stdout.split())
        return Rate(case.batch * case.their_steps, processor, wall)


def torches():
    """Every PyTorch of this machine."""
    found = []
    frameworks = catalogue.folder("python-frameworks") / "bin/python"
    for python in [frameworks, "/usr/bin/python3"]:
        done = subprocess.run([str(python), "-c", "import torch; print(torch.__version__)"], capture_output=True,
                              text=True, check=False) if os.path.exists(python) else None
        if done and done.returncode == 0:
            found.append(Torch(str(python), done.stdout.strip()))
    return found


def compare(ours, others, case, rounds):
    """By turns, so that a machine that is busy for a while is so for all. The goal is against the fastest of those
    that train the plain model."""
    mine, theirs = [], {(who, model): [] for who in others for model in [case.model, *case.also]}
    for number in range(rounds):
        progress(f"{case.name}, batch {case.batch}, {number + 1} of {rounds}: ours")
        mine.append(ours.rate(case))
        for (who, model), rates in list(theirs.items()):
            progress(f"{case.name}, batch {case.batch}, {number + 1} of {rounds}: {who.name}, {model}")
            rate = who.rate(case, model)
            if rate is None:
                del theirs[who, model]
            else:
                rates.append(rate)
    mine, theirs = middle(mine), {key: middle(rates) for key, rates in theirs.items()}
    best = max((rate.processor for (_, model), rate in theirs.items() if model == case.model), default=0)
    rows = []
    for (who, model), rate in theirs.items():
        ratio = mine.processor / rate.processor
        is_best = model == case.model and rate.processor == best
        what = " ".join([f"{case.name}, batch {case.batch}, / {who.name}", *filter(None, [case.also.get(model)])])
        rows.append(Row(what, str(mine), str(rate), f"{ratio:.2f}", f">= {case.goal}" if is_best else "",
                        ratio >= case.goal if is_best else None))
    return rows


def decode_ahead(program, pictures, scratch):
    """Pictures of a folder, each for the first time, with and without decoding of the next ones meanwhile: here it is
    the clock that counts. A folder of one's own should have 352 pictures in train, or later ones are decoded already.
    """
    begun, steps, batch = 2, 20, 16
    if not pictures:
        pictures = scratch / "many"
        make_pictures(pictures, (begun + steps) * batch, 300)
    rates = {}
    for name, words in {"ahead": [], "in turn": ["--decode-ahead", 0]}.items():
        progress(f"decoding {name}")
        case = Case("decoding", ["horses", "--data", pictures, *words], "", batch, begun, steps, 0, 0)
        rates[name] = Ours(program).rate(case)
    ratio = rates["ahead"].wall / rates["in turn"].wall
    return [Row("MobileNetV3-Small of files, / --decode-ahead 0", str(rates["ahead"]), str(rates["in turn"]),
                f"{ratio:.2f}", "", None)]


def knows_decode_ahead(program):
    done = subprocess.run([program, "horses", "--help"], capture_output=True, text=True, check=True)
    return "--decode-ahead" in done.stdout


def measure(options, scratch):
    ours, others = Ours(options.program), torches()
    if not others:
        sys.exit("bench: no PyTorch to compare with: tests/servers/install python-frameworks, or python3-torch")
    known = cases(scratch)
    tasks = options.task or [*known, "decode-ahead"]
    make_data(tasks, scratch)
    rows = []
    for task in tasks:
        for case in known.get(task, []):
            rows += compare(ours, others, case, options.rounds or case.rounds)
    if "decode-ahead" in tasks:
        if knows_decode_ahead(options.program):
            rows += decode_ahead(options.program, options.pictures, scratch)
        else:
            print("decode-ahead: left out: this program has no --decode-ahead")
    return rows


def main():
    parser = argparse.ArgumentParser(description="measures our trainers beside PyTorch")
    parser.add_argument("program", help="outlast-train")
    parser.add_argument("--rounds", type=int, help="how often to measure; unless given, the CNN 3 times, others once")
    parser.add_argument("--task", action="append", choices=[*cases(pathlib.Path()), "decode-ahead"],
                        help="only this; may be given several times")
    parser.add_argument("--pictures", help="for decode-ahead: a folder with train/CLASS/* and val/CLASS/*, instead of "
                                           "PNGs that are made up")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rows = measure(options, pathlib.Path(scratch))
    progress("")
    print("examples per second of one processor (in brackets: of the clock), one thread")
    print("the goal is against the faster PyTorch; ratios are by processor time, that of --decode-ahead by the clock")
    width = max([len(row.what) for row in rows], default=4)
    print(f"{'what':{width}} {'ours':>18} {'theirs':>18} {'ratio':>7}  goal")
    for row in rows:
        met = {True: "met", False: "MISSED", None: ""}[row.is_met]
        print(f"{row.what:{width}} {row.ours:>18} {row.baseline:>18} {row.ratio:>7}  {row.goal:6} {met}")


if __name__ == "__main__":
    main()
