#!/usr/bin/env python3
"""CPU seconds for each configuration of the census search, against the same search in Python.

Run by './dev bench census'. The same people, and exactly the configurations that 'outlast-train census' drew: in
scikit-learn's RandomizedSearchCV, over XGBoost's classifier with one thread, and over scikit-learn's own gradient
boosting, which takes half a minute for each. Folds are of the same number and kind (stratified, shuffled). Each side
trains the best configuration on everybody in the end. Our seconds are the whole program's, theirs begin when
packages are loaded and the people are read.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from programs import Row

HERE = pathlib.Path(__file__).resolve().parent
NUMBERS = {0, 2, 4, 10, 11, 12}
COLUMNS = 14


def read_people(path):
    rows, labels = [], []
    for line in pathlib.Path(path).read_text().splitlines():
        if not line.strip() or line.startswith("|"):
            continue
        fields = [field.strip() for field in line.split(",")]
        rows.append(fields[:COLUMNS])
        labels.append(int(fields[COLUMNS].startswith(">")))
    return rows, labels


def encode(rows, words):
    """Numbers as they are, words by their place in the alphabet: what a script would do."""
    import numpy

    return numpy.array([[float(row[column]) if column in NUMBERS else words[column].get(row[column], -1)
                         for column in range(COLUMNS)] for row in rows], dtype=numpy.float32)


def search_in_python(wanted):
    """In a process of its own, with the pinned packages: prints what it took and found."""
    import time

    import numpy
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.model_selection import RandomizedSearchCV, StratifiedKFold
    from xgboost import XGBClassifier

    rows, labels = read_people(f"{wanted['data']}/adult.data")
    test_rows, test_labels = read_people(f"{wanted['data']}/adult.test")
    words = {column: {word: place for place, word in enumerate(sorted({row[column] for row in rows}))}
             for column in range(COLUMNS) if column not in NUMBERS}
    people, income = encode(rows, words), numpy.array(labels)
    if wanted["model"] == "xgboost":
        model = XGBClassifier(tree_method="hist", n_jobs=1)
        space = [{"learning_rate": [one["learning_rate"]], "max_depth": [one["depth"]],
                  "min_child_weight": [one["min_leaf"]], "n_estimators": [one["trees"]]}
                 for one in wanted["configurations"]]
    else:
        model = GradientBoostingClassifier(random_state=0)
        space = [{"learning_rate": [one["learning_rate"]], "max_depth": [one["depth"]],
                  "min_samples_leaf": [one["min_leaf"]], "min_samples_split": [one["min_split"]],
                  "n_estimators": [one["trees"]]} for one in wanted["configurations"]]
    search = RandomizedSearchCV(model, space, n_iter=len(space), random_state=0, n_jobs=1, refit=False,
                                cv=StratifiedKFold(wanted["folds"], shuffle=True, random_state=0))
    began = time.process_time()
    search.fit(people, income)
    model.set_params(**search.best_params_).fit(people, income)
    seconds = time.process_time() - began
    accuracy = float((model.predict(encode(test_rows, words)) == numpy.array(test_labels)).mean())
    print(json.dumps({"seconds": seconds, "test_accuracy": accuracy,
                      "cross_validated_accuracy": float(search.best_score_)}))


class CensusBench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.rows = []

    def ours(self, count):
        """CPU seconds of the whole program, reading the data and training the best included."""
        job = self.folder / f"job-{count}"
        command = [self.options.program, "census", "--data", self.options.data, "--job-dir", job,
                   "--search", count, "--folds", self.options.folds, "--threads", 1,
                   "--seed", self.options.seed, "--json"]
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE)
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"bench: outlast-train census ended with {process.returncode}")
        found = json.loads(said)
        found["seconds"] = usage.ru_utime + usage.ru_stime
        lines = (job / "metrics.jsonl").read_text().splitlines()
        return found, [json.loads(line) for line in lines]

    def theirs(self, model, configurations):
        wanted = {"data": self.options.data, "model": model, "folds": self.options.folds,
                  "configurations": configurations}
        done = subprocess.run([self.options.python, __file__, "--search-in-python", json.dumps(wanted)], check=True,
                              stdout=subprocess.PIPE, env=dict(os.environ, OMP_NUM_THREADS="1"))
        return json.loads(done.stdout)

    def run(self):
        for model, count, goal in (("xgboost", self.options.xgboost, 2), ("scikit-learn", self.options.scikit, 50)):
            if count == 0:
                continue
            ours, configurations = self.ours(count)
            self.say("outlast-train census", count, ours)
            theirs = self.theirs(model, configurations)
            self.say(f"RandomizedSearchCV over {model}", count, theirs)
            rate, their_rate = count / ours["seconds"], count / theirs["seconds"]
            self.rows.append(Row(
                what=f"the same {count} configurations per CPU second, against {model}", ours=f"{rate:.2f}",
                baseline=f"{their_rate:.3f}", ratio=f"{rate / their_rate:.1f}", goal=f">= {goal}",
                is_met=rate >= goal * their_rate))

    @staticmethod
    def say(what, count, found):
        print(f"  {what}: {count} configurations in {found['seconds']:.1f} CPU seconds, cross-validated "
              f"{found['cross_validated_accuracy']:.4f}, test {found['test_accuracy']:.4f}", flush=True)

    def table(self):
        print()
        for row in self.rows:
            verdict = "met" if row.is_met else "MISSED"
            print(f"  {row.what:<64} {row.ours:>6}  {row.baseline:>7}  {row.ratio:>6}  {row.goal:<6} {verdict}")


def pinned_python():
    sys.path.insert(0, str(HERE.parent / "tests/servers"))
    import catalogue

    try:
        return catalogue.python("python-trainers")
    except catalogue.Missing as missing:
        sys.exit(f"bench: {missing}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the outlast-train program to measure")
    parser.add_argument("--data", help="the folder of adult.data and adult.test; adult in $OUTLAST_TEST_DATA")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--xgboost", type=int, default=20, metavar="N",
                        help="configurations to try on both sides against XGBoost in Python; 0 leaves it out")
    parser.add_argument("--scikit", type=int, default=4, metavar="N",
                        help="the same against scikit-learn's gradient boosting, half a minute each")
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    options.data = options.data or os.path.join(os.environ.get("OUTLAST_TEST_DATA", "."), "adult")
    if not os.path.exists(os.path.join(options.data, "adult.data")):
        sys.exit(f"bench: there is no adult.data in {options.data}: name its folder with --data")
    options.python = pinned_python()
    with tempfile.TemporaryDirectory(prefix="outlast-bench-") as folder:
        bench = CensusBench(options, pathlib.Path(folder))
        bench.run()
        bench.table()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--search-in-python"]:
        search_in_python(json.loads(sys.argv[2]))
    else:
        main()
