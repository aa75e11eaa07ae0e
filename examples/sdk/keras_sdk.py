"""Trains a small network with Keras 3; survives with three lines of outlast.

    KERAS_BACKEND=torch python3 examples/sdk/keras_sdk.py --epochs 12
    KERAS_BACKEND=torch outlast run -- python3 examples/sdk/keras_sdk.py --epochs 12
"""

import argparse
import hashlib
import time

import keras
import numpy as np

import outlast.keras  # outlast


def make_up_data():
    points = np.random.RandomState(1).randn(512, 2).astype("float32")
    return points, np.minimum(np.linalg.norm(points, axis=1) * 2, 3).astype("int64")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--epoch-ms", type=int, default=0, help="how long an epoch takes at least")
    parser.add_argument("--snapshot-seconds", type=float, default=300, help="between two files, without outlast")
    options = parser.parse_args()

    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(32, "relu"), keras.layers.BatchNormalization(),
                              keras.layers.Dropout(0.2), keras.layers.Dense(4)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    points, rings = make_up_data()

    def tell(epoch, logs):
        time.sleep(options.epoch_ms / 1000)
        print(f"step {epoch + 1}/{options.epochs} loss {logs['loss']:.6f}", flush=True)

    telling = keras.callbacks.LambdaCallback(on_epoch_end=tell)
    survivor = outlast.keras.OutlastCallback(model, file_interval=options.snapshot_seconds)  # outlast
    model.fit(points, rings, batch_size=32, epochs=options.epochs, verbose=0,
              initial_epoch=survivor.resume(), callbacks=[telling, survivor])  # outlast

    weights = b"".join(value.tobytes() for value in model.get_weights())
    print("result", hashlib.sha256(weights).hexdigest())


if __name__ == "__main__":
    main()
