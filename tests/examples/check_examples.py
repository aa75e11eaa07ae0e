#!/usr/bin/env python3
"""Kills an example trainer again and again: it must end with the bits of a run that nobody killed.

usage: check_examples.py LIST_CHECKPOINTS NAME [--learn PROGRAM] [--kills N] [--seed N]

NAME: counter learn pytorch sklearn xgboost keras hf. Every kill is a SIGKILL at a random moment; then
the newest checkpoint is damaged, as one is that was being written; then those trainers that save when
they are asked to are asked. Between two runs lies in the folder what outlast would put there, and
outlast (the program LIST_CHECKPOINTS) must know each checkpoint for what it is.
Ends with 77 and a sentence if a package is not installed.
"""

import argparse
import dataclasses
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
SKIPPED = 77
SECONDS_MAX = 120  # for one run, on a busy machine; a run that takes longer hangs
RESUMED = re.compile(r"^(resumed|resuming|restored|continuing|loaded)\b", re.IGNORECASE)


class Trouble(Exception):
    pass


class Absent(Exception):
    pass


@dataclasses.dataclass
class Example:
    command: list  # the interpreter first; the program is added where there is none
    slowly: list  # makes it take long enough to be killed in
    lines: tuple  # a kill comes after so many lines, from and to; at least one checkpoint is there then
    checkpoints: str  # pattern of what it writes
    layout: str  # what outlast takes it for
    tells: bool = False  # outlast sees from the bytes whether one is whole
    modules: tuple = ()
    kept_copy: bool = False  # overwrites its only checkpoint: outlast has the last whole one
    refuses: bool = False  # a damaged checkpoint is refused, not skipped
    polite: typing.Optional[tuple] = None  # flags with which SIGTERM saves, and the exit code then


TABLE = {
    "counter": Example(["sh", "counter.sh", "--steps", "120"], ["--pause", "0.005"], (15, 30),
                       "checkpoints/counter.checkpoint", "file of a checkpoint", kept_copy=True,
                       polite=(["--polite"], 75)),
    "learn": Example([], ["--pause-ms", "1", "--save-every", "70"], (2, 3), "checkpoints/checkpoint_*.bin",
                     "file of a checkpoint", refuses=True, polite=([], 75)),
    "pytorch": Example(["python3", "pytorch_cifar.py", "--epochs", "10", "--images", "400"], ["--pause", "0.05"],
                       (3, 4), "checkpoints/checkpoint_*.pth", "PyTorch", tells=True, modules=("torch", "numpy")),
    "sklearn": Example(["python3", "sklearn_sgd.py", "--epochs", "14"], ["--pause", "0.01"], (2, 4),
                       "model.joblib", "pickle", modules=("sklearn", "joblib"), kept_copy=True),
    "xgboost": Example(["python3", "xgboost_census.py", "--rounds", "100"], ["--pause", "0.01", "--save-every", "7"],
                       (4, 6), "models/model_*.json", "XGBoost", modules=("xgboost", "numpy")),
    "keras": Example(["python3", "keras_style.py", "--epochs", "60"], ["--pause", "0.01"], (14, 35),
                     "models/Models.*.npz", "Keras", tells=True, modules=("numpy",)),
    "hf": Example(["python3", "hf_style.py", "--steps", "600"], ["--pause", "0.001"], (5, 9),
                  "out/checkpoint-*", "Hugging Face Trainer", tells=True, modules=("numpy",),
                  polite=(["--save-on-term"], 0)),
}


def interpreter_with(modules):
    """PyTorch is a package of Debian, so only Debian's Python has it."""
    for python in ("python3", "/usr/bin/python3"):
        if shutil.which(python) and subprocess.run(
                [python, "-c", "import " + ", ".join(modules)], capture_output=True, check=False).returncode == 0:
            return python
    how = "./dev setup examples" if "torch" in modules else "tests/servers/install python-trainers"
    raise Absent(f"there is no Python with {' and '.join(modules)}: run {how}")


def run(command, folder, after=None, how=signal.SIGKILL, seen=lambda: None):
    """Exit code and lines. after: so many lines and seconds, then the signal."""
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    errors = []
    reader = threading.Thread(target=lambda: errors.extend(child.stderr))
    reader.start()
    limit = threading.Timer(SECONDS_MAX, child.kill)
    limit.start()
    lines, sent = [], False
    try:
        for line in child.stdout:
            lines.append(line.rstrip("\n"))
            seen()
            if after and not sent and len(lines) >= after[0]:
                time.sleep(after[1])
                child.send_signal(how)
                sent = True
        code = child.wait()
    finally:
        limit.cancel()
        child.kill()
        child.wait()
        reader.join()
    return code, lines, "".join(errors)


def result_of(code, lines, errors):
    if code or not lines or not lines[-1].startswith("result "):
        raise Trouble(f"it ended with {code}, not with a result:\n" + "\n".join(lines[-5:]) + "\n" + errors)
    return lines[-1]


class Game:
    def __init__(self, example, folder, lister, draw):
        self.example, self.folder, self.lister, self.draw = example, folder, lister, draw
        self.copy = folder.with_name("copy")  # of the last whole checkpoint, where there is only one
        self.slow = example.command + example.slowly
        self.interrupts = 0

    def is_whole(self, path):
        if path.suffix != ".joblib":
            return True  # it appears by a rename
        import joblib

        try:
            joblib.load(path)
        except Exception:
            return False
        return True

    def keep(self):
        """What outlast does meanwhile: copies the checkpoint, and takes the copy only if it is whole."""
        if not self.example.kept_copy:
            return
        fresh = self.copy.with_name("fresh" + pathlib.Path(self.example.checkpoints).suffix)
        try:
            shutil.copyfile(self.folder / self.example.checkpoints, fresh)
        except FileNotFoundError:
            return
        if self.is_whole(fresh):
            fresh.replace(self.copy)

    def put_back(self):
        if self.example.kept_copy and self.copy.exists():
            shutil.copyfile(self.copy, self.folder / self.example.checkpoints)

    def interrupt(self, command, how=signal.SIGKILL, wanted_code=-signal.SIGKILL):
        """False if there was nothing left to interrupt."""
        after = (self.draw.randint(*self.example.lines), self.draw.uniform(0, 0.05))
        code, lines, errors = run(command, self.folder, after, how, self.keep)
        if lines and lines[-1].startswith("result "):
            return False  # it was done before the signal came
        if code != wanted_code:
            raise Trouble(f"the signal {how.name} ended it with {code}, not {wanted_code}:\n"
                          + "\n".join(lines[-5:]) + "\n" + errors)
        self.put_back()
        self.interrupts += 1
        return True

    def newest(self):
        number = re.compile(r"\d+")
        found = list(self.folder.glob(self.example.checkpoints))
        return max(found, key=lambda path: int((number.findall(path.name) or [0])[0]), default=None)

    def listed(self):
        """What outlast finds: state by name."""
        said = subprocess.run([self.lister, self.folder], capture_output=True, text=True, check=True).stdout
        rows = [line.split("\t") for line in said.splitlines()]
        written = {str(path.relative_to(self.folder)) for path in self.folder.glob(self.example.checkpoints)}
        if {row[0] for row in rows} != written or {row[1] for row in rows} != {self.example.layout}:
            raise Trouble(f"these are not the {self.example.layout} checkpoints {sorted(written)}:\n{said}")
        return {row[0]: row[3] for row in rows}

    def damage(self):
        """Cuts the newest checkpoint, as one is that was being written."""
        newest = self.newest()
        if newest is None:
            raise Trouble(f"there is no {self.example.checkpoints} to damage")
        if newest.is_dir():
            last = newest / "trainer_state.json"
            if not last.exists():
                return  # the kill has done it
            last.unlink()
        else:
            data = newest.read_bytes()
            newest.write_bytes(data[:self.draw.randrange(max(1, len(data)))])
        if self.example.tells and self.listed()[str(newest.relative_to(self.folder))] != "incomplete":
            raise Trouble(f"{newest.name} is damaged, and outlast does not see it")
        if self.example.refuses:
            code, _, errors = run(self.slow, self.folder)
            if code != 1 or str(newest.name) not in errors:
                raise Trouble(f"a damaged {newest.name} was not refused: exit code {code}: {errors}")
            newest.unlink()

    def finish(self, what, wanted):
        code, lines, errors = run(self.example.command, self.folder)
        found = result_of(code, lines, errors)
        if found != wanted:
            raise Trouble(f"{what}: '{found}' instead of '{wanted}'")
        # One that begins anew ends with the right bits too, and shows nothing.
        if not any(RESUMED.match(line) for line in lines):
            raise Trouble(f"{what}: it began anew instead of resuming")

    def clear(self):
        self.interrupts = 0
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.copy.unlink(missing_ok=True)

    def play(self, kills):
        self.clear()
        wanted = result_of(*run(self.example.command, self.folder))
        states = self.listed()
        if not states or "incomplete" in states.values():
            raise Trouble(f"outlast finds no checkpoint, or takes a whole one for a part: {states}")
        self.finish("run again when it is done", wanted)

        self.clear()
        for _ in range(kills):
            self.interrupt(self.slow)
        self.finish(f"after {kills} kills", wanted)

        self.clear()
        self.interrupt(self.slow)
        self.interrupt(self.slow)
        self.damage()
        self.put_back()
        self.finish("after a damaged checkpoint", wanted)
        if not self.interrupts:
            raise Trouble("it was never hit: slow it down")

        if self.example.polite:
            self.clear()
            flags, left = self.example.polite
            for _ in range(2):
                self.interrupt(self.slow + flags, signal.SIGTERM, left)
            self.finish("after two requests to leave", wanted)
        return wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lister")
    parser.add_argument("name", choices=TABLE)
    parser.add_argument("--learn", help="the program outlast-example-learn")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    options = parser.parse_args()
    example = TABLE[options.name]
    try:
        if example.command:
            python, script, *flags = example.command
            if example.modules:
                python = interpreter_with(example.modules)
            example.command = [python, str(EXAMPLES / script), *flags]
        else:
            example.command = [str(pathlib.Path(options.learn).resolve()), "--epochs", "12"]
    except Absent as absent:
        print(f"Skipped: {absent}")
        return SKIPPED
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        game = Game(example, pathlib.Path(scratch) / "work", str(pathlib.Path(options.lister).resolve()),
                    random.Random(f"examples/{options.seed}"))
        try:
            print(f"{options.name}: always '{game.play(options.kills)}'")
        except Trouble as trouble:
            print(f"{options.name}, seed {options.seed}: {trouble}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
