#!/usr/bin/env python3
"""A trainer that is ended at three random moments and started again ends as one that was left alone, bit for bit.

usage: interrupted.py [--seed N] OUTLAST-TRAIN TASK [OPTION…]
"""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

COMPARED = ("model.safetensors", "model.json", "metrics.jsonl")
ENDS = (signal.SIGTERM, signal.SIGKILL, signal.SIGINT)
LEFT = 75


def start(command, folder):
    """Returns when its data is there and training begins."""
    process = subprocess.Popen([*command, "--job-dir", str(folder)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        sys.stderr.write(line)
        if line.startswith("training on "):
            break
    return process


def finish(process, timeout=None):
    code = process.wait(timeout)
    sys.stderr.write(process.stderr.read())
    process.stderr.close()
    return code


def main():
    words = sys.argv[1:]
    seed = int(words[1]) if words[0] == "--seed" else time.time_ns() % 1_000_000
    command = words[2:] if words[0] == "--seed" else words
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="outlast-interrupted-") as scratch:
        alone, disturbed = pathlib.Path(scratch, "alone"), pathlib.Path(scratch, "disturbed")
        process = start(command, alone)
        begun = time.monotonic()
        if finish(process) != 0:
            return "the undisturbed training failed"
        length = time.monotonic() - begun
        interrupted = 0
        while interrupted == 0:
            shutil.rmtree(disturbed, ignore_errors=True)
            for how in chance.sample(ENDS, len(ENDS)):
                process = start(command, disturbed)
                try:
                    code = finish(process, chance.uniform(0.1, 0.4) * length)
                except subprocess.TimeoutExpired:
                    process.send_signal(how)
                    code = finish(process)
                if code == 0:
                    break
                if code not in (LEFT, -how):
                    return f"seed {seed}: ended by {how.name}, it exits with {code}"
                interrupted += 1
            length /= 2  # over before it could be interrupted: the first one had less of the machine
        if finish(start(command, disturbed)) != 0:
            return f"seed {seed}: the last training failed"
        for name in COMPARED:
            files = [folder / name for folder in (alone, disturbed)]
            if any(os.path.exists(file) for file in files) and files[0].read_bytes() != files[1].read_bytes():
                return f"seed {seed}: {name} differs after {interrupted} interruptions"
        print(f"seed {seed}: the same after {interrupted} interruptions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
