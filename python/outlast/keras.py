"""For Keras 3, with any of its backends.

    survivor = outlast.keras.OutlastCallback(model)
    model.fit(…, epochs=20, initial_epoch=survivor.resume(), callbacks=[survivor])
"""

from __future__ import annotations

import random
import sys
from typing import Any, Callable, Optional

import keras
import numpy

from outlast import Snapshots
from outlast._tensors import dtype_of


class OutlastCallback(keras.callbacks.Callback):
    """Snapshots at the end of an epoch, of all variables of the model and its optimizer, and of the random generators
    of Python, NumPy and, where it is used, torch. Keras cannot begin in the middle of an epoch: where one takes longer
    than a machine's notice, give fit() a small steps_per_epoch. A resumed training has the weights of one that was not
    interrupted, bit for bit, where the order of the data follows from those generators or is fixed.

    The model must be built and compiled. `options` are those of outlast.Snapshots."""

    def __init__(self, model: Any, **options: Any):
        super().__init__()
        if not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)
        self.snapshots = Snapshots(**options)
        for kind, variables in (("model", model.variables), ("optimizer", model.optimizer.variables)):
            for number, variable in enumerate(variables):
                _add(self.snapshots, f"{kind}.{number}.{variable.path}", variable)
        self.snapshots.add_object("random", _generators, _set_generators)
        self._done = 0
        self._is_fresh = False

    def resume(self) -> int:
        """How many epochs are done: fit()'s initial_epoch."""
        self._done = self.snapshots.resume() or 0
        self._is_fresh = self._done > 0
        return self._done

    def on_epoch_begin(self, epoch: int, logs: Optional[dict] = None) -> None:
        # Once more: fit() tries the model on a batch first, which draws random numbers.
        if self._is_fresh:
            self.snapshots.resume()
            self._is_fresh = False

    def on_epoch_end(self, epoch: int, logs: Optional[dict] = None) -> None:
        self._done = epoch + 1
        self.snapshots.metrics(**(logs or {}))
        self.snapshots.step_done(self._done, self.params.get("epochs"))

    def on_train_end(self, logs: Optional[dict] = None) -> None:
        self.snapshots.save(self._done)


def _add(snapshots: Snapshots, name: str, variable: Any) -> None:
    like = keras.ops.convert_to_numpy(variable.value)

    def copy_out(destination: memoryview) -> None:
        now = numpy.ascontiguousarray(keras.ops.convert_to_numpy(variable.value))
        destination[:] = memoryview(now.reshape(-1).view(numpy.uint8))

    def copy_in(source: memoryview) -> None:
        variable.assign(numpy.frombuffer(bytes(source), dtype=like.dtype).reshape(like.shape))

    snapshots.add_custom(name, dtype_of(name, like.dtype), like.shape, copy_out, copy_in)


def _generators() -> dict:
    states = {"python": random.getstate(), "numpy": numpy.random.get_state()}
    if "torch" in sys.modules:
        states["torch"] = bytes(sys.modules["torch"].get_rng_state().tolist())
    return states


def _set_generators(states: dict) -> None:
    random.setstate(states["python"])
    numpy.random.set_state(states["numpy"])
    if "torch" in states:
        import torch

        torch.set_rng_state(torch.tensor(list(states["torch"]), dtype=torch.uint8))
