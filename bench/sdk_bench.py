#!/usr/bin/env python3
"""What a snapshot costs a trainer: how long it stands still, and what it feels while the agent saves.

Run by './dev bench sdk'. The trainers (bench/sdk_trainer.cc and .py) have the same state and run under
the real agent; every time is divided by one of the same run: a plain memcpy() of the state, PyTorch's
own ways to save, or the same trainer whose snapshots nobody keeps. The table at the end says which
goals are met. Needs memory for four times the state and once more for what the agent packs.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from programs import Program, Row
from store_bench import MIB, progress

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "servers"))
import catalogue

# Of one block of a network and what its optimizer keeps: a few matrices, and many small vectors.
BLOCK = [16 * MIB, 8 * MIB, 4 * MIB, 4 * MIB, 2 * MIB, 2 * MIB, MIB, MIB, MIB, MIB] + [64 << 10] * 2 + [16 << 10] * 8


def sizes_of(total):
    """Of the tensors of a state: an embedding and its copy at the end, and as many blocks as fit."""
    sizes, number = [total // 10 // 64 * 64] * 2, 0
    left = total - sum(sizes)
    while left > 0:
        sizes.append(min(left, BLOCK[number % len(BLOCK)]))
        left -= sizes[-1]
        number += 1
    return sizes


class Python:
    """Who runs sdk_trainer.py, and what it can do."""

    def __init__(self):
        self.command, self.torch, self.missing = None, "", []
        for program in self.candidates():
            self.torch = can(program, "import numpy, torch; print(torch.__version__)")
            if self.torch:
                self.command = program
                break
        if not self.torch:
            self.missing.append("everything with PyTorch: neither tests/servers/install python-frameworks nor python3-torch is there")
            self.command = next((program for program in self.candidates() if can(program, "import numpy; print(1)")), None)
        if not self.command:
            self.missing.append("Python's snapshots: there is no numpy")

    @staticmethod
    def candidates():
        yield str(catalogue.folder("python-frameworks") / "bin" / "python3")
        yield "python3"
        yield "/usr/bin/python3"  # Debian's packages are for this one

    def words(self, *words):
        return [self.command, "-B", HERE / "sdk_trainer.py", *words]


class SdkBench:
    def __init__(self, options, scratch, disk):
        self.options, self.scratch, self.disk, self.rows = options, scratch, disk, []
        self.python = Python()
        for what in self.python.missing:
            print(f"sdk bench: left out: {what}", flush=True)
        # One thread for what computes: the other processor is for whoever copies.
        os.environ.update(PYTHONPATH=str(HERE.parent / "python"), OPENBLAS_NUM_THREADS="1",
                          MKL_NUM_THREADS="1", PYTHONWARNINGS="ignore")

    def fresh(self, name):
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def agent(self, trainer, every):
        work = self.fresh("work")
        shutil.rmtree(self.scratch / "root", ignore_errors=True)
        return Program([self.options.program, "run", "--root", self.scratch / "root", "--job", "bench", "--grace", "60s",
                        "--every", every, "--", *trainer], work)

    @staticmethod
    def result(program):
        found = json.loads(program.line("{")[1])
        if not found["agent"]:
            sys.exit("sdk bench: the trainer's agent was gone, so that there is nothing to compare")
        return found

    # --- How long a trainer stands still ------------------------------------------------------------

    def copies(self, trainer):
        """What a trainer of the kind "copies" has measured while its agent was at rest."""
        go = self.scratch / "go"
        go.unlink(missing_ok=True)
        program = self.agent([*trainer, "copies", self.scratch / "sizes", self.options.repeats, go], "1h")
        program.line("warm")
        program.event("saved")  # the first snapshot, at once
        os.sync()
        go.touch()
        found = self.result(program)
        program.end()
        return found

    def bench_copies(self, size):
        """C++ and Python in turn, and PyTorch's ways of the same state."""
        cpp, python = {}, {}
        for number in range(self.options.rounds):
            progress(f"{size} MiB: copies, {number + 1} of {self.options.rounds}")
            gather(cpp, self.copies([self.options.trainer]))
            if self.python.command:
                gather(python, self.copies(self.python.words()))
        progress("")
        memcpy, save, visible = self.show_copies("", cpp)
        with_threads = statistics.median(cpp["memcpy_threads"])
        threads = cpp["threads"][0]
        self.add(Row(f"   memcpy by {threads} threads, as save has", ms(with_threads), f"memcpy {ms(memcpy)}",
                     f"{with_threads / memcpy:.2f}×", "", None))
        if python:
            self.show_python(python, save, memcpy)
        if self.python.torch:
            self.bench_torch(size, memcpy, save, visible)

    def show_copies(self, language, found):
        """The rows of save and save_async; returns the medians of memcpy, save and what is seen of save_async."""
        memcpy, save = statistics.median(found["memcpy"]), statistics.median(found["save"])
        visible = statistics.median(map(sum, zip(found["begin"], found["wait"])))
        baseline = f"memcpy, 1 thread, warm: {ms(memcpy)}"
        self.add(Row(f"save{language}", ms(save), f"{baseline}, {spread(found['memcpy'])}", f"{save / memcpy:.2f}×",
                     "≤ 1.1×", save / memcpy <= 1.1))
        self.add(Row(f"save_async{language}, what is seen of it", ms(visible),
                     f"{baseline}; {ms(statistics.median(found['begin']))} in it, {ms(statistics.median(found['wait']))} waiting",
                     f"{visible / memcpy:.3f}×", "≤ 0.05×", visible / memcpy <= 0.05))
        beside, alone = statistics.median(found["beside"]), statistics.median(found["alone"])
        self.add(Row(f"   one thread computing meanwhile{language}", ms(beside), f"alone {ms(alone)}",
                     f"{(beside / alone - 1) * 100:+.1f} %", "", None))
        return memcpy, save, visible

    def show_python(self, found, save, memcpy):
        own_memcpy, ours, visible = self.show_copies(" in Python", found)
        self.add(Row("save in Python ÷ C++", ms(ours), f"C++ {ms(save)}; by each one's memcpy {ours / own_memcpy / (save / memcpy):.2f}×",
                     f"{ours / save:.2f}×", "≤ 1.1×", ours / save <= 1.1))

    def torch(self, what, repeats):
        folder = self.disk / "torch"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        words = self.python.words(what, self.scratch / "sizes", repeats, folder)
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
        shutil.rmtree(folder)
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            print(f"sdk bench: left out: {what} of PyTorch {self.python.torch}: {reason}", flush=True)
            return None
        return json.loads(done.stdout.strip().splitlines()[-1])

    def bench_torch(self, size, memcpy, save, visible):
        progress(f"{size} MiB: torch.save")
        found = self.torch("torch-save", self.options.torch_repeats)
        progress("")
        if found:
            theirs = statistics.median(found["seconds"])
            baseline = f"torch.save {found['torch']} + fsync {theirs:.2f} s ({theirs / memcpy:.1f} memcpys)"
            self.add_less("save, against torch.save to the disk", save, theirs, baseline, 20)
        progress(f"{size} MiB: async_save")
        found = self.torch("async-save", self.options.torch_repeats)
        progress("")
        if found:
            for name, goal in (("as it comes", True), ("kept", False), ("background", False)):
                theirs = statistics.median(found[name])
                words = {"as it comes": "", "kept": ", memory kept", "background": ", memory kept, in the background"}[name]
                baseline = f"PyTorch {found['torch']}: stands still {ms(theirs)} ({theirs / memcpy:.2f} memcpys)"
                if name != "background":
                    self.add_less(f"save, against async_save{words}", save, theirs, baseline, 2 if goal else None)
                if name != "kept":
                    self.add_less(f"save_async, against async_save{words}", visible, theirs, baseline, 20 if goal else None)

    def add_less(self, what, ours, theirs, baseline, goal):
        ratio = theirs / ours
        self.add(Row(what, ms(ours), baseline, f"{ratio:.1f}×", f"≥ {goal}×" if goal else "",
                     ratio >= goal if goal else None))

    # --- What it feels while the agent saves ---------------------------------------------------------

    def steps(self, every, beside=None):
        """(begin, end, processor's time) of the steps, and when the agent saved, in seconds."""
        go, times = self.scratch / "go", self.scratch / "go.times"
        go.unlink(missing_ok=True)
        program = self.agent([self.options.trainer, "steps", self.scratch / "sizes", self.options.seconds, go], every)
        program.event("saved")  # the first snapshot is always kept, which takes a while
        os.sync()
        go.touch()
        other = subprocess.Popen(beside, stdout=subprocess.DEVNULL) if beside else None
        try:
            self.result(program)
        finally:
            if other:
                other.kill()
                other.wait()
        program.end()
        windows = [(when - event["seconds"], when) for when, event in program.events("saved")]
        data = times.read_bytes()
        steps = [tuple(nanoseconds / 1e9 for nanoseconds in step)
                 for step in struct.iter_unpack("3Q", data[:len(data) // 24 * 24])]
        return steps, windows[1:]

    def bench_steps(self, size):
        kinds = {"quiet": [], "saved": [], "hashed": []}
        checkpoints = 0
        for number in range(self.options.rounds):
            progress(f"{size} MiB: steps, {number + 1} of {self.options.rounds}")
            kinds["quiet"].append(self.steps("1h")[0])
            kinds["hashed"].append(self.steps("1h", beside=["sha256sum", "/dev/zero"])[0])
            steps, windows = self.steps("1s")
            checkpoints += len(windows)
            kinds["saved"].append([step for step in steps
                                   if any(first <= step[0] and step[1] <= last for first, last in windows)])
        progress("")
        if any(len(steps) < 10 for rounds in kinds.values() for steps in rounds):
            print("sdk bench: left out: step times, as there are not ten beside a save: more --seconds, or larger --sizes", flush=True)
            return
        whole = middle_of(kinds, statistics.fmean, lambda step: step[1] - step[0])
        medians = middle_of(kinds, statistics.median, lambda step: step[1] - step[0])
        used = middle_of(kinds, statistics.fmean, lambda step: step[2])
        for name, title in (("saved", "step time while the agent saves"),
                            ("hashed", "   baseline: beside sha256sum, nothing saved")):
            inflation, by_medians, by_processor = (
                (times[name] / times["quiet"] - 1) * 100 for times in (whole, medians, used))
            count = f"; {checkpoints} checkpoints" if name == "saved" else ""
            self.add(Row(title, ms(whole[name]), f"nothing saved {ms(whole['quiet'])}; by medians {by_medians:+.1f} %, "
                         f"by the processor's time {by_processor:+.1f} %{count}", f"{inflation:+.1f} %",
                         "≤ 1 %" if name == "saved" else "", inflation <= 1 if name == "saved" else None))

    # --- The table -----------------------------------------------------------------------------------

    def add(self, row):
        self.rows.append(row)
        print(f"  {row.what}: {row.ours} ({row.baseline}) {row.ratio}", flush=True)

    def table(self, size, sizes):
        options = self.options
        print(f"\nState of {size} MiB in {len(sizes)} tensors, medians of {options.rounds} × {options.repeats}; "
              f"{len(os.sched_getaffinity(0))} processors")
        for row in self.rows:
            verdict = {None: "", True: "met", False: "MISSED"}[row.is_met]
            print(f"  {row.what:<62} {row.ours:>10}  {row.ratio:>8}  {row.goal:<8} {verdict:<7} {row.baseline}")
        print(flush=True)

    def run(self, size):
        self.rows = []
        others = used_by_others()
        if others > 0.1:
            print(f"sdk bench: others use {others:.1f} processors: what happens beside a trainer is not worth much", flush=True)
        sizes = sizes_of(size * MIB)
        (self.scratch / "sizes").write_text("".join(f"{bytes_}\n" for bytes_ in sizes))
        for name, measure in (("copies", self.bench_copies), ("steps", self.bench_steps)):
            if not self.options.case or name in self.options.case:
                measure(size)
        self.table(size, sizes)


def can(program, script):
    """What it prints; nothing if it is not there, or fails."""
    try:
        done = subprocess.run([program, "-B", "-c", script], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def middle_of(kinds, average, time_of):
    """For each kind the median of its rounds' averages."""
    return {name: statistics.median(average(map(time_of, steps)) for steps in rounds) for name, rounds in kinds.items()}


def used_by_others(seconds=2):
    """How many processors are busy although nothing is measured."""
    def busy():
        fields = list(map(int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]))
        return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")  # without idle and iowait
    before = busy()
    time.sleep(seconds)
    return (busy() - before) / seconds


def gather(found, more):
    for name, value in more.items():
        found.setdefault(name, []).extend(value if isinstance(value, list) else [value])


def ms(seconds):
    return f"{seconds * 1000:.2f} ms"


def spread(values):
    return f"{min(values) * 1000:.1f}–{max(values) * 1000:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the outlast program to measure")
    parser.add_argument("trainer", help="the program outlast-bench-sdk")
    parser.add_argument("--sizes", metavar="MIB", type=int, nargs="+", default=[512, 2048], help="of the states")
    parser.add_argument("--rounds", type=int, default=3, help="how often each trainer is started")
    parser.add_argument("--repeats", type=int, default=9, help="saves of each kind in a round")
    parser.add_argument("--torch-repeats", type=int, default=3, help="saves by PyTorch")
    parser.add_argument("--seconds", type=int, default=20, help="of steps in each round")
    parser.add_argument("--disk", default="/var/tmp", help="where PyTorch saves to")
    parser.add_argument("--case", action="append", help="copies or steps; all unless given")
    options = parser.parse_args()
    options.program, options.trainer = (str(pathlib.Path(path).resolve()) for path in (options.program, options.trainer))
    with (tempfile.TemporaryDirectory(prefix="outlast-bench-") as folder,
          tempfile.TemporaryDirectory(prefix="outlast-bench-", dir=options.disk) as disk):
        bench = SdkBench(options, pathlib.Path(folder), pathlib.Path(disk))
        print(f"sdk bench: everything is in {bench.scratch.parent}, PyTorch saves to {options.disk}", flush=True)
        for size in options.sizes:
            bench.run(size)


if __name__ == "__main__":
    main()
