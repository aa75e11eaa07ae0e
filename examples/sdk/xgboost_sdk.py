"""Grows trees with XGBoost; survives with three lines of outlast.

    python3 examples/sdk/xgboost_sdk.py --rounds 80
    outlast run -- python3 examples/sdk/xgboost_sdk.py --rounds 80
"""

import argparse
import hashlib
import time

import numpy as np
import xgboost

import outlast.xgboost  # outlast


class Telling(xgboost.callback.TrainingCallback):
    def __init__(self, rounds, round_ms):
        self._rounds, self._round_ms = rounds, round_ms
        super().__init__()

    def after_iteration(self, model, epoch, evals_log):
        time.sleep(self._round_ms / 1000)
        print(f"step {model.num_boosted_rounds()}/{self._rounds} loss {evals_log['train']['logloss'][-1]:.6f}", flush=True)
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=80)
    parser.add_argument("--round-ms", type=int, default=0, help="how long a round takes at least")
    parser.add_argument("--snapshot-seconds", type=float, default=300, help="between two files, without outlast")
    options = parser.parse_args()

    points = np.random.RandomState(1).randn(2000, 5)
    data = xgboost.DMatrix(points, label=(np.sin(points[:, 0] * 3) + points[:, 1] > 0).astype(int))
    params = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}
    survivor = outlast.xgboost.OutlastCallback(options.rounds, file_interval=options.snapshot_seconds)  # outlast
    booster = xgboost.train(params, data, evals=[(data, "train")], verbose_eval=False,
                            callbacks=[Telling(options.rounds, options.round_ms), survivor],
                            **survivor.rest())  # outlast

    print("result", hashlib.sha256(booster.save_raw("json")).hexdigest())


if __name__ == "__main__":
    main()
