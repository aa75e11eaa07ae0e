#!/usr/bin/env python3
"""Trains a network with Adam and writes its state after each few steps, as a trainer would.

usage: adam_state.py FOLDER MIB COUNT [--frozen SHARE]

FOLDER/0 … FOLDER/<COUNT-1> each get model.safetensors (the weights) and optimizer.safetensors (both
moments), together about MIB in float32. The data come from a random teacher, so that there is something
to learn. With --frozen that share of the weights is not trained, as in fine-tuning, and has no moments
that change.
"""
import argparse
import pathlib

import numpy
from safetensors.numpy import save_file

BATCH = 32
STEPS_BETWEEN = 2


class Layer:
    def __init__(self, rng, inputs, outputs, trained):
        self.weight = (rng.standard_normal((inputs, outputs), dtype=numpy.float32)
                       * numpy.float32(1 / numpy.sqrt(inputs)))
        self.first = numpy.zeros_like(self.weight)
        self.second = numpy.zeros_like(self.weight)
        self.trained = trained

    def adam(self, gradient, step, rate=1e-3):
        self.first += (gradient - self.first) * numpy.float32(0.1)
        self.second += (gradient * gradient - self.second) * numpy.float32(0.001)
        first = self.first / numpy.float32(1 - 0.9 ** step)
        second = self.second / numpy.float32(1 - 0.999 ** step)
        self.weight -= numpy.float32(rate) * first / (numpy.sqrt(second) + numpy.float32(1e-8))


def train_step(layers, x, y, step):
    activations = [x]
    for layer in layers[:-1]:
        activations.append(numpy.maximum(activations[-1] @ layer.weight, 0))
    delta = (activations[-1] @ layers[-1].weight - y) / numpy.float32(len(x))
    for layer, before in zip(reversed(layers), reversed(activations)):
        gradient = before.T @ delta if layer.trained else None
        delta = (delta @ layer.weight.T) * (before > 0)
        if gradient is not None:
            layer.adam(gradient, step)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("mib", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--frozen", type=float, default=0.0)
    options = parser.parse_args()
    rng = numpy.random.default_rng(1)
    depth = 10
    width = int(numpy.sqrt(options.mib * (1 << 20) / 12 / depth))
    frozen = round(depth * options.frozen)
    layers = [Layer(rng, width, width, trained=number >= frozen) for number in range(depth)]
    teacher = rng.standard_normal((width, width), dtype=numpy.float32) / numpy.float32(numpy.sqrt(width))
    step = 0
    for number in range(options.count):
        for _ in range(STEPS_BETWEEN):
            step += 1
            x = rng.standard_normal((BATCH, width), dtype=numpy.float32)
            train_step(layers, x, numpy.tanh(x @ teacher), step)
        folder = options.folder / str(number)
        folder.mkdir(parents=True)
        save_file({f"layer{i}.weight": layer.weight for i, layer in enumerate(layers)},
                  folder / "model.safetensors")
        save_file({f"layer{i}.{name}": moment for i, layer in enumerate(layers)
                   for name, moment in (("first", layer.first), ("second", layer.second))},
                  folder / "optimizer.safetensors")


if __name__ == "__main__":
    main()
