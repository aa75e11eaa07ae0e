#!/usr/bin/env python3
"""A trainer that does all right, or one thing wrong. Its data come in a random order, so that a generator whose state
is not in the checkpoint shows. usage: drill_trainer.py [defect…]

  no-load      never loads what it has saved
  order        saves all but the generator of the order
  chance       seeds nothing: no two runs are the same
  deaf         handles SIGTERM by doing nothing
  ignore       ignores SIGTERM
  in-place     writes slowly, under the final name
  crash        cannot load what it has saved
  die          fails by itself, in the middle
  silent       saves nothing
  rarely       saves once, at the end
  polite       on SIGTERM it saves and leaves
  quiet        prints nothing
  leaves       leaves by itself, again and again
"""

import json
import os
import pathlib
import random
import signal
import sys
import time

defects = set(sys.argv[1:])
pathlib.Path(os.environ["PIDS"], str(os.getpid())).touch()
folder = pathlib.Path("checkpoints")
folder.mkdir(exist_ok=True)
path = folder / "state.ckpt"
STEPS = 100
STEPS_BETWEEN = STEPS if "rarely" in defects else 15

leave = False


def ask(*_):
    global leave
    leave = True


if "polite" in defects:
    signal.signal(signal.SIGTERM, ask)
if "deaf" in defects:
    signal.signal(signal.SIGTERM, lambda *_: None)
if "ignore" in defects:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

generator = random.Random(None if "chance" in defects else 7)
step, weight = 0, 1.0
if path.exists() and "no-load" not in defects:
    state = json.loads(path.read_text(encoding="utf-8"))
    if "crash" in defects:
        weight = state["no such thing"]
    step, weight = state["step"], state["weight"]
    if "order" not in defects:
        kind, numbers, gauss = state["generator"]
        generator.setstate((kind, tuple(numbers), gauss))
    print(f"resumed at step {step}")


def save():
    text = json.dumps({"step": step, "weight": weight, "generator": generator.getstate()})
    if "in-place" in defects:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text[: len(text) // 2])
            file.flush()
            time.sleep(0.3)
            file.write(text[len(text) // 2:])
        return
    beside = folder / "state.ckpt.tmp"
    beside.write_text(text, encoding="utf-8")
    beside.rename(path)


while step < STEPS:
    if "die" in defects and step == STEPS // 2:
        sys.exit("drill_trainer: there is no more data")
    step += 1
    weight = (weight * 1.01 + generator.random()) % 1000
    if "quiet" not in defects:
        print(f"step {step}/{STEPS} loss {weight:.9f}")
    if "leaves" in defects and step % 7 == 0:
        sys.exit(75)
    time.sleep(0.05)
    if "silent" not in defects and (step % STEPS_BETWEEN == 0 or step == STEPS or leave):
        save()
    if leave and step < STEPS:
        sys.exit(75)
