"""Learns a line through points in plain Python, without any package; survives with five lines of outlast.

    python3 examples/sdk/plain_python.py --steps 200
    outlast run -- python3 examples/sdk/plain_python.py --steps 200
"""

import argparse
import array
import hashlib
import random
import time

import outlast  # outlast


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--step-ms", type=int, default=0, help="how long a step takes at least")
    parser.add_argument("--snapshot-seconds", type=float, default=300, help="between two files, without outlast")
    options = parser.parse_args()

    random.seed(0)
    line = array.array("d", [0.0, 0.0])  # slope and height
    snapshots = outlast.Snapshots(file_interval=options.snapshot_seconds)  # outlast
    snapshots.add("line", line)  # outlast
    snapshots.add_object("random", random.getstate, random.setstate)  # outlast

    for step in range(snapshots.resume() or 0, options.steps):
        x = random.uniform(-1, 1)
        miss = line[0] * x + line[1] - (3 * x + 2 + random.gauss(0, 0.1))
        line[0] -= 0.1 * miss * x
        line[1] -= 0.1 * miss
        time.sleep(options.step_ms / 1000)
        print(f"step {step + 1}/{options.steps} loss {miss * miss:.6f}", flush=True)
        snapshots.step_done(step + 1, options.steps)  # outlast

    print("result", hashlib.sha256(line.tobytes()).hexdigest())


if __name__ == "__main__":
    main()
