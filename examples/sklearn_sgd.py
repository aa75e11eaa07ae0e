"""Trains a linear classifier on scikit-learn's digits, a batch at a time, with partial_fit().

    python3 examples/sklearn_sgd.py --epochs 20
    outlast run -- python3 examples/sklearn_sgd.py --epochs 20

Overwrites one file, model.joblib, after each epoch, the way most scripts do: killed in the middle of
it, the file is neither the old model nor the new one. outlast keeps only whole files, and puts the last
whole one back. The order of the batches follows from the number of the epoch.
"""

import argparse
import hashlib
import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded

import joblib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier

BATCH = 50


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--out", default="model.joblib")
    parser.add_argument("--pause", type=float, default=0, help="seconds to wait after each epoch")
    options = parser.parse_args()

    digits = load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    data, target = digits.data[order] / 16, digits.target[order]
    train, test = slice(None, 1500), slice(1500, None)

    if os.path.exists(options.out):
        saved = joblib.load(options.out)
        model, done = saved["model"], saved["epoch"]
        print(f"Loaded {options.out}: {done} epochs are done")
    else:
        model, done = SGDClassifier(loss="log_loss", random_state=0), 0

    for epoch in range(done + 1, options.epochs + 1):
        shuffled = np.random.RandomState(epoch).permutation(1500)
        for start in range(0, len(shuffled), BATCH):
            batch = shuffled[start:start + BATCH]
            model.partial_fit(data[train][batch], target[train][batch], classes=range(10))
        score = model.score(data[test], target[test])
        print(f"-- Epoch {epoch}/{options.epochs} accuracy: {score:.4f}", flush=True)
        joblib.dump({"model": model, "epoch": epoch}, options.out)
        time.sleep(options.pause)

    weights = model.coef_.tobytes() + model.intercept_.tobytes()
    print("result", hashlib.sha256(weights).hexdigest())


if __name__ == "__main__":
    main()
