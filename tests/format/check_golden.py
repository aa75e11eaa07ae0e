"""Restores what older versions have written: no root may ever become unreadable.

usage: check_golden.py OUTLAST GOLDEN

GOLDEN has a folder for each format; in it root/, made by compose_root when that format was new and never
touched since, and expected.jsonl, what compose_root said must come back. Each checkpoint is restored by
the program and by read_checkpoint.py.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from check_reader import compare, read

JOB = "example"


def ckpt(outlast, root, verb, *words):
    done = subprocess.run([outlast, "ckpt", verb, "--root", root, "--job", JOB, *words],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{root}: 'ckpt {verb}' ended with {done.returncode}: {done.stdout}{done.stderr}")


def check(outlast, golden, scratch):
    root = scratch / "root"
    shutil.copytree(golden / "root", root)  # a folder that is opened as a root may get new files
    lines = (golden / "expected.jsonl").read_text(encoding="utf-8").splitlines()
    ckpt(outlast, root, "verify", "--full")
    for line in lines:
        seq = str(json.loads(line)["seq"])
        by_us, by_reader = scratch / f"by-us-{seq}", scratch / f"by-reader-{seq}"
        ckpt(outlast, root, "restore", "--seq", seq, by_us)
        compare(json.loads(line), by_us)
        done = read(root, by_reader, "--packs", "--seq", seq)
        if done.returncode:
            sys.exit(done.stderr)
        compare(json.loads(line), by_reader)
    return len(lines)


def main():
    outlast, golden = sys.argv[1], pathlib.Path(sys.argv[2])
    folders = sorted(golden.iterdir())
    if not folders:
        sys.exit(f"there is nothing in {golden}")
    for folder in folders:
        with tempfile.TemporaryDirectory() as scratch:
            count = check(outlast, folder, pathlib.Path(scratch))
        if not count:
            sys.exit(f"{folder.name} has no checkpoint")
        print(f"{folder.name}: {count} checkpoints came back")


if __name__ == "__main__":
    main()
