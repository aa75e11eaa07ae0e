#!/usr/bin/env python3
"""How fast bad news reaches the trainer, what listening costs, and what a drill costs.

Run by './dev bench notice'. From the moment a stand-in of a metadata service says that the machine ends to the
moment the trainer gets its signal, beside the same for SIGTERM to the agent, which nobody has to listen for.
"""
import argparse
import json
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from agent_bench import cpu_seconds
from programs import PATIENCE, Lines, Program, Row

# Writes a small state when it is asked to, so that it is asked at once; says when that was.
TRAINER = """
import os, pathlib, signal, sys, time
state = pathlib.Path(os.environ["OUTLAST_CHECKPOINT_DIR"]) / "state"
def save():
    beside = state.with_name(".state.new")
    beside.write_text(str(time.monotonic()))
    beside.rename(state)
def leave(*_):
    print(f"asked {time.monotonic()}", flush=True)
    save()
    sys.exit(75)
signal.signal(signal.SIGTERM, leave)
save()
print("step 1", flush=True)
while True:
    time.sleep(3600)
"""
# What one poll takes at most, by the source; GCE answers a long poll.
POLLS = {"gce": 0.0, "ec2": 2.0, "azure": 1.0}
LONG_POLL_MAX = 0.05


class StandIn:
    """A metadata service: 'outlast stand-in'."""

    def __init__(self, program, cloud):
        self.process = subprocess.Popen([program, "stand-in", cloud, "--json"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        lines = Lines(self.process.stdout)
        _, line = lines.wait(lambda text: '"serving"' in text, 0.0, f"the stand-in of {cloud}")
        self.environment = json.loads(line)["environment"]

    def announce(self):
        self.process.send_signal(signal.SIGUSR1)
        return time.monotonic()

    def end(self):
        self.process.terminate()
        self.process.wait(PATIENCE)


class NoticeBench:
    def __init__(self, options, scratch):
        self.options = options
        self.scratch = scratch
        self.rows = []
        self.count = 0
        (scratch / "train.py").write_text(TRAINER, encoding="utf-8")

    def agent(self, *words, environment=()):
        self.count += 1
        work = self.scratch / f"work-{self.count}"
        (work / "ckpt").mkdir(parents=True)
        variables = [f"{name}={value}" for name, value in dict(environment).items()]
        command = ["env", *variables, self.options.program, "run", "--root", self.scratch / f"root-{self.count}", "--job",
                   "bench", "--checkpoint", "ckpt", *words, "--", sys.executable, self.scratch / "train.py"]
        agent = Program(command, work)
        agent.line("step ")
        agent.event("saved")
        return agent

    # --- From the news to the trainer ---

    def asked_after(self, began, agent):
        seconds = float(agent.line("asked ")[1].split()[1]) - began
        agent.process.wait(PATIENCE)
        return seconds

    def by_signal(self):
        agent = self.agent("--notice", "signal")
        began = time.monotonic()
        agent.process.send_signal(signal.SIGTERM)
        return self.asked_after(began, agent)

    def by_cloud(self, cloud):
        service = StandIn(self.options.program, cloud)
        agent = self.agent("--notice", cloud, environment=service.environment)
        time.sleep(1 + 0.37 * self.count % 2)  # somewhere between two polls
        seconds = self.asked_after(service.announce(), agent)
        service.end()
        return seconds

    def bench_news(self):
        signals = statistics.median(self.by_signal() for _ in range(self.options.repeats))
        for cloud, poll in POLLS.items():
            times = [self.by_cloud(cloud) for _ in range(self.options.repeats)]
            most = max(times)
            allowed = poll + LONG_POLL_MAX
            self.add(Row(what=f"{cloud}: from the announcement to the trainer's signal", ours=f"{most * 1e3:.0f} ms",
                         baseline=f"median {statistics.median(times) * 1e3:.0f} ms; by SIGTERM {signals * 1e3:.0f} ms",
                         ratio=f"{most / allowed:.2f}", goal=f"<= {allowed * 1e3:.0f} ms", is_met=most <= allowed))

    # --- At rest ---

    def share_at_rest(self, agent):
        time.sleep(3)  # the start is not rest
        began, used = time.monotonic(), cpu_seconds(agent.pid)
        time.sleep(self.options.rest)
        share = (cpu_seconds(agent.pid) - used) / (time.monotonic() - began)
        agent.interrupt()
        return share

    def bench_rest(self):
        services = [StandIn(self.options.program, cloud) for cloud in POLLS]
        everywhere = {name: value for service in services for name, value in service.environment.items()}
        alone = self.share_at_rest(self.agent("--notice", "signal"))
        words = [word for cloud in POLLS for word in ("--notice", cloud)]
        watching = self.share_at_rest(self.agent(*words, environment=everywhere))
        for service in services:
            service.end()
        cost = watching - alone
        self.add(Row(what="processor of all watchers together, at rest", ours=f"{cost * 100:.3f} %",
                     baseline=f"{watching * 100:.3f} % with, {alone * 100:.3f} % without them",
                     ratio=f"{cost / 0.001:.2f}", goal="<= 0.1 %", is_met=cost <= 0.001))

    # --- The drill ---

    def bench_drill(self):
        counter = pathlib.Path(__file__).resolve().parent.parent / "examples" / "counter.sh"
        work = self.scratch / "drill"
        work.mkdir()
        steps = self.options.drill * 10
        command = [self.options.program, "drill", "--as", "signal", "--preemptions", "2", "--notice-time", "5s", "--json",
                   "--", "sh", counter, "--polite", "--steps", steps, "--pause", "0.1"]
        drill = subprocess.Popen(list(map(str, command)), cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
        used = 0.0
        while True:
            try:
                used = cpu_seconds(drill.pid)
            except OSError:
                break
            if drill.poll() is not None:
                break
            time.sleep(0.2)
        report = json.loads(drill.stdout.read())
        trained = report["undisturbed"]["training_seconds"] + report["disturbed"]["training_seconds"]
        self.add(Row(what="the drill's own processor time", ours=f"{used:.2f} s", baseline=f"{trained:.0f} s of training",
                     ratio=f"{used / trained * 100:.2f} %", goal="<= 1 %", is_met=used <= 0.01 * trained))

    def add(self, row):
        self.rows.append(row)
        print(f"  {row.what}: {row.ours} ({row.baseline})", flush=True)

    def table(self):
        print(f"\nWorst of {self.options.repeats}; ratio: to the goal")
        for row in self.rows:
            verdict = "met" if row.is_met else "MISSED"
            print(f"  {row.what:<56} {row.ours:>9}  {row.ratio:>7}  {row.goal:<10} {verdict:<7} {row.baseline}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the outlast program to measure")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rest", type=int, default=60, help="seconds that the agent is watched at rest")
    parser.add_argument("--drill", type=int, default=30, help="seconds of training that the drill disturbs")
    parser.add_argument("--case", action="append", help="news, rest or drill; all unless given")
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    with tempfile.TemporaryDirectory(prefix="outlast-bench-") as folder:
        bench = NoticeBench(options, pathlib.Path(folder))
        for name, measure in (("news", bench.bench_news), ("rest", bench.bench_rest), ("drill", bench.bench_drill)):
            if not options.case or name in options.case:
                measure()
        bench.table()


if __name__ == "__main__":
    main()
