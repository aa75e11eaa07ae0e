#!/usr/bin/env python3
"""What the agent costs: how fast it saves on a notice and brings a trainer back, and what it takes meanwhile.

Run by './dev bench agent', which starts an S3 server (tests/servers/run). The trainer is
bench/steady_trainer.c. Every time is compared with a raw copy of the same bytes in the same run, or
with the same trainer on its own; the table at the end says which goals are met.
"""
import argparse
import os
import pathlib
import shutil
import signal
import statistics
import struct
import sys
import tempfile
import time

import store_bench
from programs import Program, Row
from store_bench import MIB, progress, run

HERE = pathlib.Path(__file__).resolve().parent
PACK_BYTES = 16 * MIB  # of raw uploads: as many as outlast puts into one object
# For an agent to see that a file which replaced another has come to rest, and then some.
REST = 2.0


class Root:
    """Where the job is kept, and how the same bytes go there and back without us."""

    def __init__(self, name, options, scratch):
        self.name, self.options, self.scratch = name, options, scratch
        self.server = store_bench.Server() if name == "S3" else None
        self.url = f"s3://{self.server.bucket}/agent" if self.server else str(scratch / "root")

    def clear(self):
        if self.server:
            run([self.options.program, "store", "rm", "--recursive", self.url])
        else:
            shutil.rmtree(self.url, ignore_errors=True)

    def raw(self, data):
        """(seconds up, seconds down) of these bytes."""
        if not self.server:
            copy = self.scratch / "copy"
            times = []
            for source, target in ((data, copy), (copy, self.scratch / "copy2")):
                times.append(run(["dd", f"if={source}", f"of={target}", "bs=8M", "conv=fsync", "status=none"])[0])
            copy.unlink()
            (self.scratch / "copy2").unlink()
            return tuple(times)
        pieces, fetched = store_bench.pieces_of(self.scratch, data, PACK_BYTES), self.scratch / "fetched"
        fetched.mkdir()
        up = store_bench.ceiling_in_objects(self.server, self.scratch, pieces)
        down = store_bench.ceiling_in_objects(self.server, self.scratch, pieces, fetched)
        shutil.rmtree(pieces)
        shutil.rmtree(fetched)
        return up, down

    @property
    def raw_name(self):
        return "4 curls" if self.server else "dd with fsync"


class Bench:
    def __init__(self, options, scratch):
        self.options, self.scratch, self.rows = options, scratch, []
        self.trainer = scratch / "steady_trainer"
        run(["cc", "-O2", "-o", str(self.trainer), str(HERE / "steady_trainer.c")])

    def agent(self, root, folder, *trainer, words=()):
        return Program([self.options.program, "run", "--root", root.url, "--job", "bench", "--grace", "60s",
                        "--take-over", *words, "--", *trainer], folder)

    def fresh(self, name):
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def command(self, share, manners):
        return [self.trainer, "ckpt", self.options.mib, share, manners]

    # --- 1 and 2: there and back -------------------------------------------------------------

    def there_and_back(self, root, share, manners, by_file):
        """A notice and a resume: what took how long."""
        work, note = self.fresh("work"), self.scratch / "notice"
        note.unlink(missing_ok=True)
        root.clear()
        (work / "ckpt").mkdir()
        words = ["--checkpoint", "ckpt", "--every", "1h"] + (["--notice", f"file:{note}"] if by_file else [])
        agent = self.agent(root, work, *self.command(share, manners), words=words)
        saved, _ = agent.event("saved")
        if manners == "rude":
            os.kill(agent.trainer_pid(), signal.SIGUSR2)
            agent.line("saved in", saved)
            time.sleep(REST)
        began = time.monotonic()
        if by_file:
            note.with_suffix(".new").write_text("60s")
            note.with_suffix(".new").rename(note)
        else:
            agent.process.send_signal(signal.SIGTERM)
        committed, event = agent.event("saved", began)
        own = float(agent.line("saved in", began)[1].split()[2]) if manners == "polite" else 0.0
        agent.interrupt()
        times = {"commit": committed - began, "own save": own, "in the agent": event["seconds"]}

        state = work / "ckpt" / "state.ckpt"
        changed = self.scratch / "changed"
        size = self.options.mib * MIB * share // 100
        run(["sh", "-c", f"tail -c {size} {state} > {changed}"])
        times["raw up"] = root.raw(changed)[0]
        changed.unlink()

        back = self.fresh("back")
        again = self.agent(root, back, *self.command(share, manners), words=["--checkpoint", "ckpt", "--every", "1h"])
        first_step, _ = again.line("step ")
        times["resume"] = first_step - again.began
        again.event("resumed")
        again.interrupt()
        bare = Program(self.command(share, manners), work)
        times["bare start"] = bare.line("step ")[0] - bare.began
        bare.kill()
        times["raw down"] = root.raw(state)[1]
        return times

    def bench_notices(self):
        cases = ((100, "rude", False, "all new, on the disk, SIGTERM"),
                 (100, "rude", True, "all new, on the disk, by a file"),
                 (100, "polite", False, "all new, saved on request"),
                 (10, "rude", False, "10 % new, on the disk, SIGTERM"))
        for root in (Root("folder", self.options, self.scratch), Root("S3", self.options, self.scratch)):
            resumes = []
            for share, manners, by_file, title in cases:
                runs = []
                for repeat in range(self.options.repeats):
                    progress(f"{root.name}: {title}, {repeat + 1} of {self.options.repeats}")
                    runs.append(self.there_and_back(root, share, manners, by_file))
                resumes += runs
                self.show_notice(root, title, runs)
            progress("")
            ours, start, raw = (median(resumes, name) for name in ("resume", "bare start", "raw down"))
            self.add(Row(f"empty folder → first step, {root.name}", f"{ours:.2f} s",
                         f"start {start:.2f} + {root.raw_name} {raw:.2f} s", f"{ours / (start + raw):.2f}×", "", None))
            root.clear()

    def show_notice(self, root, title, runs):
        progress("")
        ours, raw, own = (median(runs, name) for name in ("commit", "raw up", "own save"))
        self.add(Row(f"notice → committed, {root.name}: {title}", f"{ours:.2f} s", f"{root.raw_name} {raw:.2f} s",
                     f"{ours / raw:.2f}×", "≤ 3×", ours / raw <= 3))
        spread = sorted(run["commit"] for run in runs)
        print(f"    {spread[0]:.2f}–{spread[-1]:.2f} s; saving in the agent {median(runs, 'in the agent'):.2f} s"
              + (f"; the trainer's own save {own:.2f} s" if own else ""), flush=True)

    # --- 3: at rest -----------------------------------------------------------------------------

    def bench_rest(self):
        """An agent whose trainer sleeps: memory before and after a save, and processor time."""
        state = self.make_states(1)[0]
        for root in (Root("folder", self.options, self.scratch), Root("S3", self.options, self.scratch)):
            progress(f"at rest: {root.name}")
            root.clear()
            work = self.fresh("work")
            for number in range(1000):
                folder = work / f"data{number % 10}"
                folder.mkdir(exist_ok=True)
                (folder / f"{number}.txt").write_text("x" * number)
            begin = self.scratch / "begin"
            begin.unlink(missing_ok=True)
            script = f"while ! [ -e {begin} ]; do sleep 0.2; done; mkdir c; cp {state} c/t; mv c/t c/model.ckpt; sleep 9999"
            agent = self.agent(root, work, "sh", "-c", script, words=["--every", "1h"])
            agent.event("began")
            time.sleep(3)
            at_start = memory(agent.pid)
            begin.touch()
            agent.event("saved")
            time.sleep(REST)
            after_save = memory(agent.pid)
            before, began = cpu_seconds(agent.pid), time.monotonic()
            time.sleep(self.options.rest)
            share = (cpu_seconds(agent.pid) - before) / (time.monotonic() - began) * 100
            agent.interrupt()
            root.clear()
            progress("")
            for when, (resident, anonymous, peak) in (("after the start", at_start), ("after a save", after_save)):
                self.add(Row(f"resident memory {when}, {root.name}", f"{resident:.1f} MB",
                             f"{anonymous:.1f} MB its own; peak {peak:.0f} MB", "", "≤ 20 MB", resident <= 20))
            self.add(Row(f"processor at rest, 1,000 files, {root.name}", f"{share:.3f} %",
                         f"of one core, {self.options.rest} s", "", "≤ 0.1 %", share <= 0.1))
        state.unlink()

    # --- 4: beside training -----------------------------------------------------------------------

    def make_states(self, count):
        states = []
        for number in range(count):
            folder = self.fresh("made")
            maker = Program([self.trainer, folder, self.options.mib, 100, "rude"], folder)
            maker.line("pid ")
            maker.kill()
            states.append((folder / "state.ckpt").rename(self.scratch / f"state{number}"))
        return states

    def bench_steps(self):
        """Step times of a trainer with one thread while a checkpoint is saved beside it."""
        root = Root("folder", self.options, self.scratch)
        rows = {"bare": [], "saved": [], "hashed": [], "idle": []}
        for repeat in range(self.options.repeats):
            progress(f"steps: {repeat + 1} of {self.options.repeats}")
            rows["bare"].append(self.steps_bare(beside=None))
            states = self.make_states(3)
            rows["hashed"].append(self.steps_bare(beside=["sha256sum", *map(str, states)]))
            idle, saved = self.steps_with_agent(root, states)
            rows["idle"].append(idle)
            rows["saved"].append(saved)
            root.clear()
        progress("")
        bare = statistics.median(rows["bare"])
        for name, title in (("saved", "while a checkpoint is saved"), ("idle", "while the agent is at rest"),
                            ("hashed", "baseline: bare, beside sha256sum of the same")):
            ours = statistics.median(rows[name])
            inflation = (ours / bare - 1) * 100
            goal = "" if name == "hashed" else "≤ 1 %"
            self.add(Row(f"step time {title}", f"{ours:.3f} ms", f"bare {bare:.3f} ms", f"{inflation:+.1f} %", goal,
                         inflation <= 1 if goal else None))

    def steps_bare(self, beside):
        times, work = self.scratch / "times", self.fresh("bare")
        trainer = Program([self.trainer, work, 1, 100, "rude", times], work)
        trainer.line("step ")
        began = time.monotonic()
        if beside:
            run(beside)
        else:
            time.sleep(3)
        ended = time.monotonic()
        trainer.kill()
        return mean_step(times, [(began, ended)])

    def steps_with_agent(self, root, states):
        times, work, own = self.scratch / "times", self.fresh("work"), self.fresh("own")
        (work / "ckpt").mkdir()
        root.clear()
        agent = self.agent(root, work, self.trainer, own, 1, 100, "rude", times,
                           words=["--checkpoint", "ckpt", "--every", "1s"])
        agent.line("step ")
        began = time.monotonic()
        time.sleep(3)
        idle, windows = [(began, time.monotonic())], []
        for state in states:
            # Whoever writes it, it is the trainer's: here nobody has to wait for it.
            began = time.monotonic()
            state.rename(work / "ckpt" / "state.ckpt")
            when, event = agent.event("saved", began)
            windows.append((when - event["seconds"], when))
        agent.interrupt()
        return mean_step(times, idle), mean_step(times, windows)

    # --- The table ------------------------------------------------------------------------------

    def add(self, row):
        self.rows.append(row)
        print(f"  {row.what}: {row.ours} ({row.baseline}) {row.ratio}", flush=True)

    def table(self):
        print(f"\nState of {self.options.mib} MiB, medians of {self.options.repeats}")
        for row in self.rows:
            verdict = {None: "", True: "met", False: "MISSED"}[row.is_met]
            print(f"  {row.what:<60} {row.ours:>9}  {row.ratio:>8}  {row.goal:<8} {verdict:<7} {row.baseline}")


def median(runs, name):
    return statistics.median(run[name] for run in runs)


def memory(pid):
    """(resident, of that not shared with any file, peak) in MB."""
    fields = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return tuple(int(fields[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "RssAnon", "VmHWM"))


def cpu_seconds(pid):
    return time.clock_gettime((~pid << 3) | 2)  # clock_getcpuclockid(3): exact, where /proc counts in ticks


def mean_step(times, windows):
    """Milliseconds a step, of the steps that lie in one of the windows."""
    data = times.read_bytes()
    ends = [stamp / 1e9 for stamp in struct.unpack(f"{len(data) // 8}Q", data[:len(data) // 8 * 8])]
    steps = [end - start for start, end in zip(ends, ends[1:])
             if any(start >= first and end <= last for first, last in windows)]
    if len(steps) < 10:
        sys.exit("agent bench: a save is over before ten steps are done; use a larger --size")
    return statistics.fmean(steps) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the outlast program to measure")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--size", "--mib", dest="mib", metavar="MIB", type=int, default=1024, help="size of the state")
    parser.add_argument("--rest", type=int, default=60, help="seconds that the agent is watched at rest")
    parser.add_argument("--case", action="append", help="notices, rest or steps; all unless given")
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    with tempfile.TemporaryDirectory(prefix="outlast-bench-") as folder:
        bench = Bench(options, pathlib.Path(folder))
        print(f"agent bench: everything is in {bench.scratch.parent}", flush=True)
        for name, measure in (("notices", bench.bench_notices), ("rest", bench.bench_rest), ("steps", bench.bench_steps)):
            if not options.case or name in options.case:
                measure()
        bench.table()


if __name__ == "__main__":
    main()
