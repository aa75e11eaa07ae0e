"""The example trainers, slowed down so that there is time to kill them."""

import dataclasses
import os
import pathlib
import sys
import typing

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "examples")]
from check_examples import EXAMPLES, Absent, interpreter_with


@dataclasses.dataclass
class Example:
    command: list  # the interpreter first, where there is one; slow enough to be killed in
    quick: list  # flags that make it as fast as it can be
    step: str  # in a line that tells how far it is
    resumed: str  # in the line that it begins with when it found something
    interval: int  # steps between its own saves
    rest: float  # seconds that outlast waits before it believes that a file is whole
    newest: str  # of what it writes
    modules: tuple = ()
    polite: typing.Optional[list] = None  # flags with which SIGTERM makes it save
    counts_anew: bool = False  # it tells how far it is since it resumed


# No faster than outlast can follow: who removes a checkpoint makes it wait for 2 s, and a folder that nothing
# proves to be whole for 5 s.
TABLE = {
    "counter": Example(["sh", "counter.sh", "--steps", "140", "--save-every", "20", "--pause", "0.05"],
                       ["--pause", "0"], r"^step (\d+)/", r"^resumed at step (\d+)", 20, 2.5, "counter.checkpoint",
                       polite=["--polite"]),
    "learn": Example(["--epochs", "9", "--pause-ms", "2", "--save-every", "1200"], ["--pause-ms", "0"],
                     r"step (\d+)/", r"^resumed from .*_(\d+)\.bin", 1200, 3, "checkpoint_*.bin", polite=[]),
    "hf": Example(["python3", "hf_style.py", "--steps", "600", "--save-steps", "200", "--pause", "0.02"],
                  ["--pause", "0"], r"'step': (\d+)}", r"^Resuming from .*-(\d+)$", 200, 7, "out/checkpoint-*",
                  ("numpy",), polite=["--save-on-term"]),
    "keras": Example(["python3", "keras_style.py", "--epochs", "60", "--pause", "0.15"], ["--pause", "0"],
                     r"^Epoch (\d+)/", r"^Restored models/Models\.(\d+)-", 5, 1, "models/Models.*.npz", ("numpy",)),
    "pytorch": Example(["python3", "pytorch_cifar.py", "--epochs", "10", "--images", "400", "--pause", "1"],
                       ["--pause", "0"], r"^\[(\d+)/", r"^Resuming from .*_(\d+)\.pth", 1, 1,
                       "checkpoints/checkpoint_*.pth", ("torch", "numpy")),
    "sklearn": Example(["python3", "sklearn_sgd.py", "--epochs", "7", "--pause", "3"], ["--pause", "0"],
                       r"^-- Epoch (\d+)/", r"^Loaded .*: (\d+) epochs", 1, 3, "model.joblib", ("sklearn", "joblib")),
    "xgboost": Example(["python3", "xgboost_census.py", "--rounds", "98", "--save-every", "7", "--pause", "0.1"],
                       ["--pause", "0"], r"^\[(\d+)\]", r"^Continuing with .*_(\d+)\.json", 7, 3,
                       "models/model_*.json", ("xgboost", "numpy"), counts_anew=True),
}


def ready(name, learn):
    """With a command that can be started anywhere. Absent if a package is not installed."""
    example = TABLE[name]
    if name == "learn":
        command = [os.path.abspath(learn), *example.command]
    else:
        python, script, *flags = example.command
        if example.modules:
            python = interpreter_with(example.modules)
        command = [python, str(EXAMPLES / script), *flags]
    return dataclasses.replace(example, command=command)
