"""What the trainers of these tests are made of. Their state is text files in OUTLAST_CHECKPOINT_DIR."""

import os
import pathlib
import signal
import subprocess
import sys
import time

CKPT = pathlib.Path(os.environ["OUTLAST_CHECKPOINT_DIR"])
RESUME = os.environ["OUTLAST_RESUME"]
SCRATCH = pathlib.Path(os.environ["SCRATCH"])
# A test that fails must not leave a trainer behind that turns for ever.
GIVE_UP = time.monotonic() + 300


def save(text, name="state"):
    """As trainers should: beside, then in place of the old one."""
    beside = CKPT / f".{name}.new"
    beside.write_text(str(text), encoding="utf-8")
    beside.rename(CKPT / name)


def load(name="state"):
    """What was saved; 0 if nothing was."""
    path = CKPT / name
    return int(path.read_text(encoding="utf-8")) if path.exists() else 0


def wait_for(name):
    while not (SCRATCH / name).exists():
        rest()


def rest():
    if time.monotonic() > GIVE_UP:
        sys.exit("this trainer was forgotten")
    time.sleep(0.02)


def forever():
    while True:
        rest()


def note(name, text=""):
    beside = SCRATCH / f".{name}.new"
    beside.write_text(str(text), encoding="utf-8")
    beside.rename(SCRATCH / name)
