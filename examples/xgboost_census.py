"""Trains boosted trees that guess from census data who earns more than 50,000 a year, with XGBoost.

    python3 examples/xgboost_census.py --rounds 200
    outlast run -- python3 examples/xgboost_census.py --rounds 200

XGBoost's own callback TrainingCheckPoint saves models/model_<round>.json after every 10 rounds, and
training goes on from the newest that can be read, with xgb_model=. What it takes for the same trees
as without a stop, bit by bit, is said where it is set.

--data FILE is adult.data of the UCI Census Income set. Without it, people are made up.
"""

import argparse
import csv
import hashlib
import pathlib
import re
import time

import numpy as np
import xgboost as xgb

MODELS = pathlib.Path("models")
PARAMETERS = {
    "objective": "binary:logistic",
    "eval_metric": "logloss",
    "tree_method": "hist",
    "max_depth": 5,
    "eta": 0.1,
    "base_score": 0.5,  # otherwise it is estimated from the data when training begins
    "nthread": 1,  # the order of additions, and so the last bit, depends on it
    # No subsample or colsample_* below 1: XGBoost keeps no state of its generator in a model.
}


def read_census(path):
    with open(path, newline="", encoding="ascii") as file:
        rows = [[word.strip() for word in row] for row in csv.reader(file) if len(row) == 15]
    columns = []
    for column in zip(*rows):
        try:
            columns.append(np.array(column, dtype=np.float32))
        except ValueError:  # words become numbers, in alphabetical order
            columns.append(np.unique(column, return_inverse=True)[1].astype(np.float32))
    return np.stack(columns[:-1], axis=1), columns[-1]


def make_up(count):
    random = np.random.RandomState(0)
    age = random.randint(17, 80, count)
    school_years = random.randint(1, 17, count)
    hours = random.randint(10, 70, count)
    gain = random.exponential(2000, count) * (random.rand(count) < 0.1)
    wealth = school_years * 0.4 + hours * 0.06 - np.abs(age - 50) * 0.08 + gain * 0.001
    earns_more = wealth + random.normal(0, 1, count) > 6
    return (np.stack([age, school_years, hours, gain], axis=1).astype(np.float32),
            earns_more.astype(np.float32))


def newest_model():
    """The model with the most rounds that can be read; None if there is none."""
    found = [(int(match[1]), path) for path in MODELS.glob("model_*.json")
             if (match := re.fullmatch(r"model_(\d+)\.json", path.name))]
    for _, path in sorted(found, reverse=True):
        try:
            model = xgb.Booster(PARAMETERS, model_file=path)
        except Exception:  # it was being written when the machine went away
            print(f"{path} cannot be read, trying the one before it")
            continue
        print(f"Continuing with {path}")
        return model
    return None


class Pause(xgb.callback.TrainingCallback):
    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds

    def after_iteration(self, model, epoch, evals_log):
        time.sleep(self.seconds)
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--save-every", type=int, default=10, metavar="ROUNDS")
    parser.add_argument("--data", help="adult.data of the UCI Census Income set")
    parser.add_argument("--pause", type=float, default=0, help="seconds to wait after each round")
    options = parser.parse_args()

    features, labels = read_census(options.data) if options.data else make_up(5000)
    if not options.data:
        print("No --data: training on made-up people")
    held_out = len(labels) // 5
    train = xgb.DMatrix(features[held_out:], labels[held_out:], nthread=1)
    test = xgb.DMatrix(features[:held_out], labels[:held_out], nthread=1)

    MODELS.mkdir(exist_ok=True)
    model = newest_model()
    done = model.num_boosted_rounds() if model else 0
    if done < options.rounds:
        checkpoints = xgb.callback.TrainingCheckPoint(MODELS, interval=options.save_every)
        # XGBoost refuses a JSON file that was cut off; one in its binary format can crash it.
        checkpoints.default_format = "json"
        model = xgb.train(PARAMETERS, train, options.rounds - done, evals=[(test, "test")],
                          xgb_model=model, verbose_eval=options.save_every,
                          callbacks=[checkpoints, Pause(options.pause)])
    accuracy = np.mean((model.predict(test) > 0.5) == (test.get_label() > 0.5))
    print(f"accuracy {accuracy:.4f} after {model.num_boosted_rounds()} rounds")
    print("result", hashlib.sha256(model.save_raw("ubj")).hexdigest())


if __name__ == "__main__":
    main()
