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
    the others are called after their classes, "sgdclassifier", "list", "list_2", …, in the order given."""

    def __init__(
        self, *objects: Any, parts: Optional[Mapping[str, Any]] = None, capacity: int = _CAPACITY, **options: Any
    ):
        super().__init__(**options)
        named = {**(parts or {})}
        for part in objects:
            named[_name_for(part, {*named, "random"})] = part
        for name, part in named.items():
            _check(name, part)
            self._add(name, part, capacity)
        self.add_object("random", _generators, _set_generators)

    def _add(self, name: str, part: Any, capacity: int) -> None:
        self.add_object(
            name, lambda: part, lambda saved: put_back(part, saved), capacity, lambda saved: _check_type(name, part, saved)
        )


def _name_for(part: Any, taken: set) -> str:
    kind, number = type(part).__name__.lower(), 1
    name = kind
    while name in taken:
        number += 1
        name = f"{kind}_{number}"
    return name


def _check_type(name: str, part: Any, saved: Any) -> None:
    if type(saved) is not type(part):
        raise SnapshotError(
            f"'{name}' is a {type(saved).__name__} in the snapshot, and a {type(part).__name__} was given: give the "
            "objects that were saved, in the same order, or use another folder"
        )
    kinds = [type(getattr(one, "bit_generator", None)).__name__ for one in (saved, part)]
    if _is_generator(part) and kinds[0] != kinds[1]:
        raise SnapshotError(f"'{name}' is a generator of {kinds[0]} in the snapshot, and one of {kinds[1]} was given")


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
    """Makes an object what another of its type is, in place: others may hold on to it."""
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
