"""Learns which letter follows which, and saves the way the Trainer of Hugging Face does.

    python3 examples/hf_style.py --steps 600
    outlast run -- python3 examples/hf_style.py --steps 600

It needs NumPy only, so that it runs anywhere. Every 50 steps there is a folder out/checkpoint-<step>/
with model.safetensors, optimizer.pt, scheduler.pt, rng_state.pth and, written last, trainer_state.json;
the newest two are kept (save_total_limit=2). It goes on from the newest folder that is complete.

--save-on-term: SIGTERM makes it save after the step it is in, and exit with code 0, as the Trainer's
callbacks do. So an exit 0 that was asked for does not mean that the training is done.
"""

import argparse
import hashlib
import json
import os
import pathlib
import pickle
import re
import shutil
import signal
import struct
import time

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded

import numpy as np

TEXT = ("the machine was lost and the training went on as if nothing had happened "
        "because what it knew was kept where no machine could take it away ") * 4
LETTERS = sorted(set(TEXT))
BATCH, RATE, WARMUP, LOG_EVERY, SAVE_LIMIT = 32, 0.05, 20, 25, 2


def save_safetensors(path, tensors):
    """Eight bytes with the length of the header, the header as JSON, then the numbers as they are."""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F64", "shape": tensor.shape, "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(t.tobytes() for t in tensors.values()))


def load_safetensors(path):
    data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data[start:], "<f8", int(np.prod(about["shape"])), about["data_offsets"][0])
            .reshape(about["shape"]).copy() for name, about in header.items()}


class Trainer:
    def __init__(self, steps):
        self.max_steps, self.step, self.log_history = steps, 0, []
        self.rng = np.random.default_rng(0)
        count = len(LETTERS)
        self.model = {"bias": np.zeros(count), "weight": self.rng.normal(0, 0.1, (count, count))}
        self.moments = {name: [np.zeros_like(w), np.zeros_like(w)] for name, w in self.model.items()}
        self.codes = np.array([LETTERS.index(letter) for letter in TEXT])

    def rate(self):
        """Rises for a few steps, then falls to zero in a straight line."""
        return RATE * min((self.step + 1) / WARMUP, 1 - self.step / self.max_steps)

    def train_step(self):
        at = self.rng.integers(0, len(self.codes) - 1, BATCH)
        before, after = self.codes[at], self.codes[at + 1]
        scores = np.exp(self.model["weight"][before] + self.model["bias"])
        chances = scores / scores.sum(1, keepdims=True)
        loss = -np.mean(np.log(chances[np.arange(BATCH), after]))
        chances[np.arange(BATCH), after] -= 1
        gradients = {"bias": chances.mean(0), "weight": np.zeros_like(self.model["weight"])}
        np.add.at(gradients["weight"], before, chances / BATCH)
        rate = self.rate()
        self.step += 1
        for name, gradient in gradients.items():  # Adam
            first, second = self.moments[name]
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            scaled = second / (1 - 0.999**self.step)
            self.model[name] -= rate * first / (1 - 0.9**self.step) / (np.sqrt(scaled) + 1e-8)
        if self.step % LOG_EVERY == 0:
            self.log_history.append({"loss": round(float(loss), 4), "learning_rate": rate,
                                     "step": self.step})
            print(self.log_history[-1], flush=True)

    def save(self, out):
        folder = out / f"checkpoint-{self.step}"
        folder.mkdir(parents=True)
        save_safetensors(folder / "model.safetensors", self.model)
        for name, state in (("optimizer.pt", self.moments), ("scheduler.pt", {"last_epoch": self.step}),
                            ("rng_state.pth", self.rng.bit_generator.state)):
            (folder / name).write_bytes(pickle.dumps(state))
        (folder / "trainer_state.json").write_text(json.dumps(
            {"global_step": self.step, "max_steps": self.max_steps, "log_history": self.log_history}))
        for old in checkpoints(out)[:-SAVE_LIMIT]:
            shutil.rmtree(old)

    def load(self, folder):
        state = json.loads((folder / "trainer_state.json").read_text())
        self.model = load_safetensors(folder / "model.safetensors")
        self.moments = pickle.loads((folder / "optimizer.pt").read_bytes())
        self.rng.bit_generator.state = pickle.loads((folder / "rng_state.pth").read_bytes())
        self.step, self.log_history = state["global_step"], state["log_history"]


def checkpoints(out):
    """The newest last."""
    return sorted((path for path in out.glob("checkpoint-*") if re.fullmatch(r"checkpoint-\d+", path.name)),
                  key=lambda path: int(path.name.split("-")[1]))


def is_complete(folder):
    try:
        json.loads((folder / "trainer_state.json").read_text())
    except (OSError, ValueError):
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--save-steps", type=int, default=50)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"))
    parser.add_argument("--pause", type=float, default=0, help="seconds to wait after each step")
    parser.add_argument("--save-on-term", action="store_true")
    options = parser.parse_args()

    asked_to_leave = []
    if options.save_on_term:
        signal.signal(signal.SIGTERM, lambda *_: asked_to_leave.append(True))
    trainer = Trainer(options.steps)
    for folder in checkpoints(options.out):
        if not is_complete(folder):
            shutil.rmtree(folder)  # it was being written, or removed, when the machine went away
    if complete := checkpoints(options.out):
        print(f"Resuming from {complete[-1]}")
        trainer.load(complete[-1])
    while trainer.step < options.steps:
        trainer.train_step()
        time.sleep(options.pause)
        if trainer.step % options.save_steps == 0 or trainer.step == options.steps or asked_to_leave:
            trainer.save(options.out)
        if asked_to_leave and trainer.step < options.steps:
            print(f"Saved at step {trainer.step} of {options.steps}, leaving as asked")
            return
    print("result", hashlib.sha256(b"".join(w.tobytes() for w in trainer.model.values())).hexdigest())


if __name__ == "__main__":
    main()
