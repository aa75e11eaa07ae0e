#!/usr/bin/env python3
"""Saves and restores a really trained state, by outlast and by the tools people use, in turn.

Run by './dev bench checkpoint', which starts an S3 server (tests/servers/run). The states are those of
bench/adam_state.py. Prints tables: one save and one restore against raw copies of the same bytes; a
series of checkpoints against restic and borg, in time and in bytes; and what a save costs when there are
many checkpoints already. Only ratios within one run count.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import store_bench
from store_bench import MIB, progress, run

HERE = pathlib.Path(__file__).resolve().parent
PACK_BYTES = 16 * MIB  # of raw uploads: as many as outlast puts into one object


def tree_bytes(folder):
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


class Outlast:
    def __init__(self, program, root, compression, name):
        self.program, self.root, self.name = program, root, name
        self.compression = compression

    def ckpt(self, verb, *words):
        return [self.program, "ckpt", verb, "--quiet", "--root", str(self.root), "--job", "bench", *map(str, words)]

    def begin(self):
        pass

    def save(self, folder):
        return self.ckpt("save", "--compression", self.compression, folder)

    def restore(self, folder):
        return self.ckpt("restore", folder)


class Restic:
    name = "restic"

    def __init__(self, root):
        self.root = root
        self.base = ["restic", "--repo", str(root), "--no-cache", "--quiet"]

    def begin(self):
        run([*self.base, "init", "--repository-version", "2"])

    def save(self, folder):
        return ["sh", "-c", f"cd {folder} && exec {' '.join(self.base)} backup --host bench ."]

    def restore(self, folder):
        return [*self.base, "restore", "latest", "--target", str(folder)]


class Borg:
    name = "borg"

    def __init__(self, root):
        self.root, self.count = root, 0

    def begin(self):
        run(["borg", "init", "--encryption", "none", str(self.root)])

    def save(self, folder):
        self.count += 1
        return ["sh", "-c", f"cd {folder} && exec borg create --compression lz4 {self.root}::{self.count} ."]

    def restore(self, folder):
        folder.mkdir()
        return ["sh", "-c", f"cd {folder} && exec borg extract {self.root}::{self.count}"]


def time_of(command, env):
    return run(command, env)[0]


def dd(source_folder, target, env):
    """A plain copy of the same bytes to one file, on the disk when it ends."""
    copies = [f"dd if={path} of={target} bs=8M conv=notrunc,fsync oflag=append status=none"
              for path in sorted(source_folder.iterdir())]
    return time_of(["sh", "-c", " && ".join(copies)], env)


def bench_one(options, scratch, state, env):
    size = sum(path.stat().st_size for path in state.iterdir())
    rows = {"save to a folder": [], "dd with fsync": [], "restore from a folder": [], "save to S3": [],
            "4 curls to S3": [], "restore from S3": [], "4 curls from S3": []}
    peak = 0
    server = store_bench.Server()
    for repeat in range(options.repeats):
        progress(f"one state: {repeat + 1} of {options.repeats}")
        root, back, plain = scratch / "root", scratch / "back", scratch / "plain"
        ours = Outlast(options.program, root, "auto", "outlast")
        seconds, memory = run(ours.save(state), env)
        rows["save to a folder"].append(seconds)
        peak = max(peak, memory)
        rows["dd with fsync"].append(dd(state, plain, env))
        rows["restore from a folder"].append(time_of(ours.restore(back), env))
        run(["diff", "-r", str(state), str(back)])
        shutil.rmtree(back)
        remote = Outlast(options.program, f"s3://{server.bucket}/root", "auto", "outlast")
        rows["save to S3"].append(time_of(remote.save(state), env))
        rows["restore from S3"].append(time_of(remote.restore(back), env))
        pieces, fetched = store_bench.pieces_of(scratch, plain, PACK_BYTES), scratch / "fetched"
        fetched.mkdir()
        rows["4 curls to S3"].append(store_bench.ceiling_in_objects(server, scratch, pieces))
        rows["4 curls from S3"].append(store_bench.ceiling_in_objects(server, scratch, pieces, fetched))
        run([options.program, "store", "rm", "--recursive", f"s3://{server.bucket}/root"], env)
        for path in (root, back, pieces, fetched):
            shutil.rmtree(path)
        plain.unlink()
    progress("")
    print(f"One state of {size / MIB:.0f} MiB (median of {options.repeats}; peak memory of a save {peak:.0f} MiB)")
    for name, seconds in rows.items():
        median = statistics.median(seconds)
        print(f"  {name:<24} {median:7.2f} s  {min(seconds):.2f}–{max(seconds):.2f} s  {size / median / 1e6:7.0f} MB/s")
    for ours, raw in (("save to a folder", "dd with fsync"), ("restore from a folder", "dd with fsync"),
                      ("save to S3", "4 curls to S3"), ("restore from S3", "4 curls from S3")):
        ratio = statistics.median(rows[raw]) / statistics.median(rows[ours])
        print(f"  {ours}: {ratio:.2f}× as fast as {raw}")


def stage(state, scratch):
    """The state where its trainer would have written it, over the one before."""
    current = scratch / "current"
    current.mkdir(exist_ok=True)
    for path in state.iterdir():
        shutil.copyfile(path, current / path.name)
    return current


def bench_series(title, scratch, states, env, options):
    tools = [Outlast(options.program, scratch / "outlast", "always", "outlast")]
    for name, make in (("restic", Restic), ("borg", Borg)):
        if shutil.which(name):
            tools.append(make(scratch / name))
        else:
            print(f"checkpoint bench: {name} is not installed and is left out", file=sys.stderr)
    print(f"{title}: {len(states)} checkpoints", flush=True)
    first = None
    for tool in tools:
        tool.begin()
        total = 0
        for number, state in enumerate(states):
            progress(f"{title}: {tool.name}, {number + 1} of {len(states)}")
            total += time_of(tool.save(stage(state, scratch)), env)
        back = scratch / "back"
        restored = time_of(tool.restore(back), env)
        stored = tree_bytes(tool.root)
        shutil.rmtree(back)
        progress("")
        first = first or (total, restored, stored)
        print(f"  {tool.name:<10} all saves {total:7.2f} s ({total / first[0]:5.2f}×)  restore {restored:6.2f} s "
              f"({restored / first[1]:5.2f}×)  stored {stored / MIB:7.0f} MiB ({stored / first[2]:4.2f}×)")
        shutil.rmtree(tool.root)


def bench_growth(scratch, env, options):
    ours = Outlast(options.program, scratch / "growth", "auto", "outlast")
    state = scratch / "small"
    state.mkdir()
    print("Growth: a save of 1 MiB, and opening the job, with so many checkpoints in the root")
    wanted = [count for count in (10, 100, 1000) if count <= options.growth]
    for count in range(1, (wanted[-1] if wanted else 0) + 10):
        progress(f"growth: {count}")
        (state / "f").write_bytes(os.urandom(MIB))
        seconds = time_of(ours.save(state), env)
        near = next((n for n in wanted if n <= count < n + 9), None)
        if near is None:
            continue
        if count == near:
            saves, opens = [], []
        saves.append(seconds)
        opens.append(time_of(ours.ckpt("restore", scratch / "grown"), env))
        if count == near + 8:
            progress("")
            print(f"  {near:5}  save {statistics.median(saves) * 1000:6.1f} ms   restore {statistics.median(opens) * 1000:6.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the outlast program to measure")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--mib", type=int, default=1024, help="size of a state")
    parser.add_argument("--checkpoints", type=int, default=10, help="length of a series")
    parser.add_argument("--growth", type=int, default=1000, help="most checkpoints in one root")
    options = parser.parse_args()
    env = {**os.environ, "RESTIC_PASSWORD": "bench", "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes"}
    # A series fills the memory that the rest is measured in: it waits on the disk.
    with (tempfile.TemporaryDirectory(prefix="outlast-bench-") as folder,
          tempfile.TemporaryDirectory(prefix="outlast-bench-", dir="/var/tmp") as on_disk):
        scratch = pathlib.Path(folder)
        env["BORG_BASE_DIR"] = str(scratch / "borg-home")
        os.environ.update(env)
        print(f"checkpoint bench: everything is in {scratch.parent}")
        for name, words in (("all trained", []), ("90 % frozen", ["--frozen", "0.9"])):
            states = pathlib.Path(on_disk) / "states"
            progress(f"training: {name}")
            subprocess.run([sys.executable, str(HERE / "adam_state.py"), str(states), str(options.mib),
                            str(options.checkpoints), *words], check=True)
            os.sync()  # or it would go on beside what is measured
            folders = [states / str(number) for number in range(options.checkpoints)]
            if not words:
                bench_one(options, scratch, stage(folders[0], scratch), env)
            bench_series(name, scratch, folders, env, options)
            shutil.rmtree(states)
        bench_growth(scratch, env, options)


if __name__ == "__main__":
    main()
