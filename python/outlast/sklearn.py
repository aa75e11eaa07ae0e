"""For estimators that learn piece by piece (partial_fit, warm_start), and other objects that can be pickled.

    snapshots = outlast.sklearn.Snapshots(model, generator)
    for step in snapshots.steps(100):
        model.partial_fit(…)
"""

from __future__ import annotations

import random
import sys
from typing import Any, Mapping, Optional

from outlast import SnapshotError
from outlast._steps import SteppingSnapshots

_CAPACITY = 16 << 20


class Snapshots(SteppingSnapshots):
    """Each object is pickled as a whole, and put back into the same object: estimators and whatever else has its state
    in attributes, dicts, lists, and generators of NumPy. The generators of Python and NumPy are kept, too, so a resumed
    training is the one that was not interrupted, bit for bit, if it uses one thread.

    A pickled object may have `capacity` bytes: memory is set aside for it. `parts` gives objects names of their own;
    the others are object_0, object_1, …"""

    def __init__(
        self, *objects: Any, parts: Optional[Mapping[str, Any]] = None, capacity: int = _CAPACITY, **options: Any
    ):
        super().__init__(**options)
        for name, part in {**{f"object_{n}": part for n, part in enumerate(objects)}, **(parts or {})}.items():
            _check(name, part)
            self.add_object(name, lambda part=part: part, lambda saved, part=part: put_back(part, saved), capacity)
        self.add_object("random", _generators, _set_generators)


def _is_generator(part: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(part, (numpy.random.Generator, numpy.random.RandomState))


def _check(name: str, part: Any) -> None:
    if not (_is_generator(part) or isinstance(part, (dict, list, random.Random)) or hasattr(part, "__dict__")):
        raise SnapshotError(
            f"'{name}' is a {type(part).__name__}, which cannot be changed in place: put it into a dict, or use "
            "add_object()"
        )


def put_back(part: Any, saved: Any) -> None:
    """Makes an object what another of its kind is, in place: others may hold on to it."""
    if _is_generator(part):
        if hasattr(part, "bit_generator"):
            part.bit_generator.state = saved.bit_generator.state
        else:
            part.set_state(saved.get_state())
    elif isinstance(part, random.Random):
        part.setstate(saved.getstate())
    elif isinstance(part, dict):
        part.clear()
        part.update(saved)
    elif isinstance(part, list):
        part[:] = saved
    else:
        part.__dict__.clear()
        part.__dict__.update(saved.__dict__)


def _generators() -> dict:
    states = {"python": random.getstate()}
    if "numpy" in sys.modules:
        states["numpy"] = sys.modules["numpy"].random.get_state()
    return states


def _set_generators(states: dict) -> None:
    random.setstate(states["python"])
    if "numpy" in states:
        import numpy

        numpy.random.set_state(states["numpy"])
