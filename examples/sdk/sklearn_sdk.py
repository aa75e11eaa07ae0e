"""Learns piece by piece with scikit-learn; survives with three lines of outlast.

    python3 examples/sdk/sklearn_sdk.py --steps 100
    outlast run -- python3 examples/sdk/sklearn_sdk.py --steps 100
"""

import argparse
import hashlib
import time

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import outlast.sklearn  # outlast


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--step-ms", type=int, default=0, help="how long a step takes at least")
    parser.add_argument("--snapshot-seconds", type=float, default=300, help="between two files, without outlast")
    options = parser.parse_args()

    points = np.random.RandomState(1).randn(1000, 5)
    classes = (points @ [1, -2, 3, 0, 1] > 0.5).astype(int)
    scaler, model = StandardScaler(), SGDClassifier(random_state=0)
    order = np.random.default_rng(2)
    snapshots = outlast.sklearn.Snapshots(scaler, model, order, file_interval=options.snapshot_seconds)  # outlast

    for step in snapshots.steps(options.steps):  # outlast
        chosen = order.choice(len(points), 50, replace=False)
        scaler.partial_fit(points[chosen])
        model.partial_fit(scaler.transform(points[chosen]), classes[chosen], classes=[0, 1])
        time.sleep(options.step_ms / 1000)
        missed = 1 - model.score(scaler.transform(points), classes)
        print(f"step {step + 1}/{options.steps} loss {missed:.6f}", flush=True)

    print("result", hashlib.sha256(model.coef_.tobytes() + model.intercept_.tobytes()).hexdigest())


if __name__ == "__main__":
    main()
