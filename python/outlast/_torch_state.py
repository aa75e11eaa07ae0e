"""How the parts of a PyTorch trainer become tensors and objects of a snapshot.

Each part registers itself once; settles before each save, so that what is registered is what is true; and is told
when a snapshot has been put back.
"""

from __future__ import annotations

import copy
import pickle
import random
import sys
from collections import OrderedDict, defaultdict
from typing import Any, Callable, Optional, Protocol

import torch

from outlast import SnapshotError

OBJECT_BYTES_MIN = 1 << 20

_DTYPES = {
    torch.bool: "BOOL",
    torch.uint8: "U8",
    torch.int8: "I8",
    torch.int16: "I16",
    torch.int32: "I32",
    torch.int64: "I64",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.float32: "F32",
    torch.float64: "F64",
}


class Registry(Protocol):
    """What a part needs of the Snapshots that it belongs to."""

    def add_tensor(self, name: str, tensor: torch.Tensor) -> None: ...
    def add_lookup(self, name: str, like: torch.Tensor, find: Callable, put: Callable) -> None: ...
    def add_object(
        self, name: str, get: Callable, set: Callable, capacity: int, check: Optional[Callable] = None
    ) -> None: ...


def plain_view(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """The same memory, as numbers that lie one after the other: dimensions in the order in which they lie, so that
    channels-last is fine, and complex numbers as pairs."""
    view = tensor.detach()
    if view.layout != torch.strided or view.is_quantized:
        raise SnapshotError(f"'{name}' is sparse or quantized, which a snapshot cannot hold: give its parts by add()")
    if view.is_complex():
        view = torch.view_as_real(view)
    if view.dtype not in _DTYPES:
        if view.element_size() != 1:
            raise SnapshotError(f"'{name}' has elements of {view.dtype}, which a snapshot cannot hold")
        view = view.view(torch.uint8)
    if not view.is_contiguous():
        view = view.permute(_order(view))
    if not view.is_contiguous():
        raise SnapshotError(f"'{name}' is a part of another tensor, with gaps: make it .contiguous()")
    return view


def _order(tensor: torch.Tensor) -> list[int]:
    """Its dimensions as they lie in memory, the widest apart first."""
    return sorted(range(tensor.dim()), key=lambda dimension: -tensor.stride(dimension))


def memory_order(tensor: torch.Tensor) -> Optional[tuple[int, ...]]:
    """How it lies, unless that is as its shape says. The shape of its plain view does not tell: 8 x 3 x 3 x 3 is that
    of two orders."""
    if tensor.is_contiguous():
        return None
    return tuple(dimension for dimension in _order(tensor) if tensor.shape[dimension] > 1)


def is_on_host(tensor: torch.Tensor) -> bool:
    return tensor.device.type == "cpu"


def dtype_name(view: torch.Tensor) -> str:
    return _DTYPES[view.dtype]


class OptimizerState:
    """Of torch's own optimizers. Most make their tensors in the first step only, and not all begin with zeros: so
    nothing is made for them. What they will have is found out on a copy of each parameter; memory of that shape is
    registered, and takes the place of theirs, with their values, at the first save after they made it."""

    def __init__(self, name: str, optimizer: torch.optim.Optimizer):
        self._name, self._optimizer = name, optimizer
        self._homes: dict[tuple[int, str], torch.Tensor] = {}  # what is registered
        self._found: dict[tuple[int, str], torch.Tensor] = {}  # on a card: what a snapshot had
        self._on_card: set[tuple[int, str]] = set()
        self._saved: Optional[dict] = None

    @staticmethod
    def knows(optimizer: torch.optim.Optimizer) -> bool:
        kind = type(optimizer)
        return kind.step.__module__.startswith("torch.optim") and kind.__name__ not in ("LBFGS", "SparseAdam")

    def _parameters(self) -> list[torch.Tensor]:
        return [parameter for group in self._optimizer.param_groups for parameter in group["params"]]

    def register(self, registry: Registry) -> None:
        index = 0
        for group in self._optimizer.param_groups:
            for parameter in group["params"]:
                state = self._optimizer.state.get(parameter)
                if not state and parameter.requires_grad:
                    state = _state_after_a_step(self._optimizer, group, parameter)
                    state = {key: _empty_like(value) for key, value in state.items()}
                for key, value in (state or {}).items():
                    if isinstance(value, torch.Tensor):
                        self._register_tensor(registry, parameter, (index, key), value)
                index += 1
        registry.add_object(self._name, self._get, self._set, max(OBJECT_BYTES_MIN, 512 * index), self._check)

    def _register_tensor(
        self, registry: Registry, parameter: torch.Tensor, place: tuple[int, str], tensor: torch.Tensor
    ) -> None:
        name = f"{self._name}.{place[0]}.{place[1]}"
        if is_on_host(tensor):
            self._homes[place] = tensor
            registry.add_tensor(name, tensor)
            return
        # A second set of them would not fit on many a card: looked up where they are in each save.
        self._on_card.add(place)
        registry.add_lookup(
            name,
            tensor,
            lambda: self._optimizer.state.get(parameter, {}).get(place[1]),
            lambda found: self._found.update({place: found}),
        )

    def settle(self) -> None:
        for index, parameter in enumerate(self._parameters()):
            for key, value in self._optimizer.state.get(parameter, {}).items():
                place = (index, key)
                if not isinstance(value, torch.Tensor) or place in self._on_card:
                    continue
                home = self._homes.get(place)
                if home is value:
                    continue
                if home is None or home.shape != value.shape or home.dtype != value.dtype:
                    raise SnapshotError(
                        f"'{self._name}' has a tensor '{key}' for parameter {index} that it had not, or not in this "
                        "shape, when it was registered: unfreeze all parameters, and add all groups, before "
                        "Snapshots is made"
                    )
                home.copy_(value)
                self._optimizer.state[parameter][key] = home

    def _get(self) -> dict:
        state, groups = self._optimizer.state, self._optimizer.param_groups
        tensors, plain = [], {}
        for index, parameter in enumerate(self._parameters()):
            for key, value in state.get(parameter, {}).items():
                if isinstance(value, torch.Tensor):
                    tensors.append((index, key))
                else:
                    plain.setdefault(index, {})[key] = value
        are_all = len(tensors) == len(self._homes) + len(self._on_card)
        return {
            "groups": [{key: value for key, value in group.items() if key != "params"} for group in groups],
            "plain": plain,
            "tensors": None if are_all else tensors,
        }

    def _set(self, saved: dict) -> None:
        self._saved = saved

    def _check(self, saved: dict) -> None:
        groups = self._optimizer.param_groups
        if len(saved["groups"]) != len(groups):
            raise SnapshotError(
                f"the snapshot has {len(saved['groups'])} parameter groups of '{self._name}', which has {len(groups)} now: "
                "build it as it was"
            )
        for place in map(tuple, saved["tensors"] or ()):
            if place not in self._homes and place not in self._on_card:
                raise SnapshotError(
                    f"the snapshot has a tensor '{place[1]}' of '{self._name}' for parameter {place[0]}, which it has not "
                    "now: build it as it was"
                )

    def restored(self) -> None:
        saved, optimizer = self._saved, self._optimizer
        if saved is None:
            return
        for group, values in zip(optimizer.param_groups, saved["groups"]):
            for key, value in values.items():
                if isinstance(group.get(key), torch.Tensor) and isinstance(value, torch.Tensor):
                    group[key].copy_(value)  # others may hold on to it
                else:
                    group[key] = value
        tensors = saved["tensors"]
        states: dict[int, dict] = defaultdict(dict)
        for place in [*self._homes, *self._on_card] if tensors is None else map(tuple, tensors):
            states[place[0]][place[1]] = self._homes[place] if place in self._homes else self._found[place]
        for index, values in saved["plain"].items():
            states[index].update(values)
        for index, parameter in enumerate(self._parameters()):
            optimizer.state.pop(parameter, None)
            if index in states:
                optimizer.state[parameter] = states[index]
        self._saved = None
        self._found.clear()


def _empty_like(value: Any) -> Any:
    return torch.zeros_like(value) if isinstance(value, torch.Tensor) else value


def _state_after_a_step(optimizer: torch.optim.Optimizer, group: dict, parameter: torch.Tensor) -> dict:
    """What this optimizer keeps for a parameter like this one; nothing of the trainer's is touched."""
    stand_in = torch.nn.Parameter(torch.zeros_like(parameter.detach()))
    stand_in.grad = torch.zeros_like(stand_in)
    probe = object.__new__(type(optimizer))
    # A scheduler puts a step() of its own into the object, which would count this one.
    probe.__dict__.update({key: value for key, value in optimizer.__dict__.items() if key != "step"})
    for hooks in ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"):
        if hooks in probe.__dict__:
            probe.__dict__[hooks] = OrderedDict()
    probe.state = defaultdict(dict)
    probe.param_groups = [{**copy.deepcopy({k: v for k, v in group.items() if k != "params"}), "params": [stand_in]}]
    type(optimizer).step(probe)
    return dict(probe.state[stand_in])


def pickled_bytes_max(optimizer: torch.optim.Optimizer) -> int:
    """Room for the state of an optimizer that is not torch's own: twice what a copy of it has after one step, or what
    nearly all need."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    try:
        with torch.random.fork_rng():
            probe = copy.deepcopy(optimizer)
            for group in probe.param_groups:
                for parameter in group["params"]:
                    parameter.grad = torch.zeros_like(parameter)
            type(optimizer).step(probe)
            return OBJECT_BYTES_MIN + 2 * len(pickle.dumps(probe.state_dict()))
    except Exception:  # it needs a closure, or whatever else a stranger may need
        return 16 * OBJECT_BYTES_MIN + 4 * sum(p.numel() * p.element_size() for p in parameters)


class DictState:
    """Anything with state_dict() and load_state_dict(), as an object."""

    def __init__(self, name: str, part: Any, capacity: int):
        self._name, self._part, self._capacity = name, part, capacity
        self._saved: Any = None

    def register(self, registry: Registry) -> None:
        # Of this package's own: what load_state_dict() would refuse, before anything is changed.
        check = getattr(self._part, "check_state_dict", None)
        registry.add_object(self._name, self._part.state_dict, self._set, self._capacity, check)

    def _set(self, saved: Any) -> None:
        self._saved = saved

    def settle(self) -> None:
        pass

    def restored(self) -> None:
        if self._saved is not None:
            # After all memory is back: an optimizer's load_state_dict() reads its parameters.
            self._part.load_state_dict(self._saved)
            self._saved = None


class RandomState:
    """The generators of Python, NumPy, torch and the cards that are in use."""

    _saved: Optional[dict] = None

    def register(self, registry: Registry) -> None:
        registry.add_object("random", self.states, self._set, OBJECT_BYTES_MIN)

    def settle(self) -> None:
        pass

    def states(self) -> dict:
        states = {"python": random.getstate(), "torch": bytes(torch.get_rng_state().tolist())}
        if "numpy" in sys.modules:
            states["numpy"] = sys.modules["numpy"].random.get_state()
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            states["cuda"] = [bytes(state.tolist()) for state in torch.cuda.get_rng_state_all()]
        return states

    def _set(self, states: dict) -> None:
        self._saved = states

    def restored(self) -> None:
        states, self._saved = self._saved, None
        if states is not None:
            self.set_states(states)

    @staticmethod
    def set_states(states: dict) -> None:
        random.setstate(states["python"])
        torch.set_rng_state(_byte_tensor(states["torch"]))
        if "numpy" in states:
            import numpy

            numpy.random.set_state(states["numpy"])
        if "cuda" in states and torch.cuda.is_available():
            for device, state in enumerate(states["cuda"][: torch.cuda.device_count()]):
                torch.cuda.set_rng_state(_byte_tensor(state), device)


def _byte_tensor(data: bytes) -> torch.Tensor:
    return torch.tensor(list(data), dtype=torch.uint8)
