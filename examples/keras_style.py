"""Tells pictures of horses from pictures of humans, and saves the way Keras' ModelCheckpoint does.

    python3 examples/keras_style.py --epochs 50
    outlast run -- python3 examples/keras_style.py --epochs 50

It needs NumPy only, so that it runs anywhere. After every fifth epoch there is one more file
models/Models.<epoch>-<val_loss>.npz; with Keras it would end in .keras and be written by

    ModelCheckpoint("models/Models.{epoch:02d}-{val_loss:.2f}.keras", …)

It goes on from the highest epoch whose file can be read. A human is higher than wide here, a horse
wider than high.
"""

import argparse
import hashlib
import os
import pathlib
import re
import time
import zipfile

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded

import numpy as np

MODELS = pathlib.Path("models")
SIDE, HIDDEN, BATCH, EVERY = 16, 12, 20, 5


def draw(count, seed):
    random = np.random.RandomState(seed)
    pictures = random.normal(0, 0.5, (count, SIDE, SIDE))
    labels = random.randint(0, 2, count)
    for picture, label in zip(pictures, labels):
        height, width = (9, 5) if label else (5, 9)
        top, left = random.randint(0, SIDE - height), random.randint(0, SIDE - width)
        picture[top:top + height, left:left + width] += 0.8
    return pictures.reshape(count, -1), labels.astype(float)


def new_state():
    random = np.random.RandomState(0)
    weights = {"w1": random.normal(0, 0.05, (SIDE * SIDE, HIDDEN)), "b1": np.zeros(HIDDEN),
               "w2": random.normal(0, 0.3, HIDDEN), "b2": np.zeros(1)}
    # The optimizer's moments are as much of the state as the weights are.
    return weights | {"momentum_" + name: np.zeros_like(value) for name, value in weights.items()}


def predict(state, x):
    hidden = np.tanh(x @ state["w1"] + state["b1"])
    return hidden, 1 / (1 + np.exp(-(hidden @ state["w2"] + state["b2"])))


def evaluate(state, x, y):
    p = np.clip(predict(state, x)[1], 1e-7, 1 - 1e-7)
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)), np.mean((p > 0.5) == (y > 0.5))


def train_batch(state, x, y, rate=0.05, momentum=0.9):
    hidden, p = predict(state, x)
    error = (p - y) / len(y)
    to_hidden = np.outer(error, state["w2"]) * (1 - hidden**2)
    gradients = {"w1": x.T @ to_hidden, "b1": to_hidden.sum(0),
                 "w2": hidden.T @ error, "b2": error.sum(keepdims=True)}
    for name, gradient in gradients.items():
        state["momentum_" + name] = momentum * state["momentum_" + name] - rate * gradient
        state[name] = state[name] + state["momentum_" + name]


def newest_model():
    """The epoch and the state of the newest file that can be read."""
    found = [(int(match[1]), path) for path in MODELS.glob("Models.*.npz")
             if (match := re.fullmatch(r"Models\.(\d+)-[\d.]+\.npz", path.name))]
    for epoch, path in sorted(found, reverse=True):
        try:
            with np.load(path) as file:
                state = dict(file)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):  # cut off while it was written
            print(f"{path} cannot be read, trying the one before it")
            continue
        print(f"Restored {path}")
        return epoch, state
    return 0, new_state()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--pause", type=float, default=0, help="seconds to wait after each epoch")
    options = parser.parse_args()

    x, y = draw(1000, seed=1)
    x_val, y_val = draw(300, seed=2)
    MODELS.mkdir(exist_ok=True)
    done, state = newest_model()
    for epoch in range(done + 1, options.epochs + 1):
        # The order follows from the number of the epoch, so that no generator needs to be saved.
        order = np.random.RandomState(epoch).permutation(len(y))
        for batch in order.reshape(-1, BATCH):
            train_batch(state, x[batch], y[batch])
        loss, accuracy = evaluate(state, x, y)
        val_loss, val_accuracy = evaluate(state, x_val, y_val)
        print(f"Epoch {epoch}/{options.epochs}\n{len(y) // BATCH}/{len(y) // BATCH} - "
              f"loss: {loss:.4f} - accuracy: {accuracy:.4f} - "
              f"val_loss: {val_loss:.4f} - val_accuracy: {val_accuracy:.4f}", flush=True)
        if epoch % EVERY == 0:
            path = MODELS / f"Models.{epoch:02d}-{val_loss:.2f}.npz"
            print(f"Epoch {epoch}: saving model to {path}")
            np.savez(path, **state)
        time.sleep(options.pause)
    print("result", hashlib.sha256(b"".join(state[name].tobytes() for name in sorted(state))).hexdigest())


if __name__ == "__main__":
    main()
