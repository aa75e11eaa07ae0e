"""Snapshots of a PyTorch trainer.

    sampler = outlast.torch.ResumableSampler(dataset, batch_size=32)
    snapshots = outlast.torch.Snapshots(model, optimizer, scheduler, sampler)
    for step in snapshots.steps(1000):
        …
"""

from __future__ import annotations

import functools
import types
from typing import Any, Callable, Iterable, Mapping, Optional

import torch

from outlast import SnapshotError, _torch_state
from outlast._steps import SteppingSnapshots
from outlast._torch_cuda import CardCopies
from outlast._torch_module import ModuleState
from outlast._torch_sampler import ResumableSampler, endless, rank_and_ranks
from outlast._torch_state import (
    OBJECT_BYTES_MIN,
    DictState,
    OptimizerState,
    RandomState,
    dtype_name,
    memory_order,
    pickled_bytes_max,
    plain_view,
)

__all__ = ["ResumableSampler", "Snapshots", "endless"]


CARDS = ("cuda",)


class Snapshots(SteppingSnapshots):
    """All that the next step depends on: each part (a module, an optimizer, a scheduler, a scaler, a sampler, or
    anything with state_dict() and load_state_dict()), and the random generators of Python, NumPy, torch and its cards.
    Parts are called "model", "optimizer", … after their kind, in the order given; `parts` gives them names of their
    own. A module must be on its device, in its final type, before it is given; a parameter of it that is replaced by
    another later is told by the next save.

    What belongs to save_async(): the optimizers that were given wait for it by themselves before they change anything.

    Parameters and the state of torch's own optimizers are copied as memory. Another optimizer is pickled, which is
    slower. The rank is that of torch.distributed, if that is in use. Confined to its owner."""

    def __init__(self, *some: Any, sampler: Any = None, parts: Optional[Mapping[str, Any]] = None, **options: Any):
        rank, ranks = rank_and_ranks(options.pop("rank", None), options.pop("ranks", None))
        super().__init__(rank=rank, ranks=ranks, **options)
        self._cards = CardCopies()
        self._devices: set[torch.device] = set()
        self._card_tensors = 0
        self._seen: set[tuple] = set()
        self._parts: list[Any] = []
        self._hooks: list[Any] = []
        self._orders: dict[str, tuple[int, ...]] = {}
        # First, because its state is asked for before any memory is copied: that is the moment to settle.
        self._random = RandomState()
        self._register(self._random)
        for name, part in _name_all([*some, *([] if sampler is None else [sampler])], parts or {}):
            self._register(self._state_of(name, part))
        capacity = max(OBJECT_BYTES_MIN, sum(len(name.encode()) + 256 for name in self._orders))
        self.add_object("memory_order", lambda: self._orders, lambda _: None, capacity, self._check_orders)

    def _state_of(self, name: str, part: Any) -> Any:
        if isinstance(part, torch.nn.Module):
            return ModuleState(name, part)
        if isinstance(part, torch.optim.Optimizer):
            state = (
                OptimizerState(name, part)
                if OptimizerState.knows(part)
                else DictState(name, part, pickled_bytes_max(part))
            )
            self._wait_before_step(part)
            return state
        if hasattr(part, "state_dict") and hasattr(part, "load_state_dict"):
            return DictState(name, part, OBJECT_BYTES_MIN)
        raise SnapshotError(
            f"a {type(part).__name__} has no state_dict() and load_state_dict(): register it by add() or add_object()"
        )

    def _register(self, part: Any) -> None:
        part.register(self)
        self._parts.append(part)

    def _wait_before_step(self, optimizer: torch.optim.Optimizer) -> None:
        if hasattr(optimizer, "register_step_pre_hook"):
            self._hooks.append(optimizer.register_step_pre_hook(lambda *_: self.before_update()))
            return
        step = optimizer.step  # torch before 2.0

        @functools.wraps(step)
        def wait_and_step(_: Any, *arguments: Any, **named: Any) -> Any:
            self.before_update()
            return step(*arguments, **named)

        # A method, as it was: a scheduler that is made later asks whose it is.
        optimizer.step = types.MethodType(wait_and_step, optimizer)

    def _note_order(self, name: str, tensor: torch.Tensor) -> None:
        order = memory_order(tensor)
        if order is not None:
            self._orders[name] = order

    def _check_orders(self, saved: dict) -> None:
        for name in sorted({*saved, *self._orders}):
            before, now = saved.get(name), self._orders.get(name)
            if before != now:
                raise SnapshotError(
                    f"the dimensions of '{name}' lay in memory in the order {_told(before)} when it was saved, and lie in "
                    f"{_told(now)} now: bring the module to the same memory_format before Snapshots is made"
                )

    def generators(self) -> dict:
        """The states of all random generators."""
        return self._random.states()

    def set_generators(self, states: dict) -> None:
        self._random.set_states(states)

    # --- What the parts call

    def add_tensor(self, name: str, tensor: torch.Tensor) -> None:
        """Wherever it is. A second name for the same memory (tied weights) is passed over."""
        view = plain_view(name, tensor)
        place = (tensor.device, tensor.data_ptr(), view.numel() * view.element_size())
        if view.numel() > 0 and place in self._seen:
            return
        self._seen.add(place)
        self._note_order(name, tensor)
        if _torch_state.is_on_host(tensor):
            # The tensor itself where that will do: should its memory move, that is followed.
            is_itself = view.shape == tensor.shape and view.dtype == tensor.dtype and tensor.is_contiguous()
            self.add(name, tensor if is_itself else view)
            return
        self._add_on_card(name, view, lambda: plain_view(name, tensor), lambda _: plain_view(name, tensor))

    def add_lookup(self, name: str, like: torch.Tensor, find: Callable, put: Callable) -> None:
        """A tensor of a card that is asked for in each save, and made anew in resume()."""
        self._note_order(name, like)
        made = functools.partial(
            torch.empty_strided, tuple(like.shape), like.stride(), dtype=like.dtype, device=like.device
        )

        def current() -> Optional[torch.Tensor]:
            found = find()
            return None if found is None else plain_view(name, found)

        def make(_: Any) -> torch.Tensor:
            fresh = made()
            put(fresh)
            return plain_view(name, fresh)

        self._add_on_card(name, plain_view(name, like), current, make)

    def _add_on_card(self, name: str, view: torch.Tensor, current: Callable, make: Callable) -> None:
        if view.device.type not in CARDS:
            raise SnapshotError(
                f"'{name}' is on {view.device}, from where this cannot copy: register it by add_custom()"
            )
        self._devices.add(view.device)
        self._card_tensors += 1
        self.add_custom(
            name,
            dtype_name(view),
            tuple(view.shape),
            lambda destination: self._cards.copy_out(current(), destination),
            lambda source: self._cards.copy_in(make(source), source),
        )

    def add_object(self, name: str, get: Callable, set: Callable, capacity: int = OBJECT_BYTES_MIN,
                   check: Optional[Callable] = None) -> None:  # fmt: skip
        is_first = not self._parts
        super().add_object(name, (lambda: (self._settle(), get())[1]) if is_first else get, set, capacity, check)

    # --- Around the saves

    def _settle(self) -> None:
        for part in self._parts:
            part.settle()
        if self._devices:
            if self._arena is not None:
                self._cards.pin(*self._arena.memory())
            self._cards.begin(self._devices, self._card_tensors)

    def resume(self) -> Optional[int]:
        for part in self._parts:
            if isinstance(part, ModuleState):
                part.check()
        step = super().resume()
        if step is not None:
            # The generators last: what others do when they are put back may draw.
            for part in reversed(self._parts):
                part.restored()
        return step

    def close(self) -> None:
        try:
            self.before_update()
        finally:
            if not self._is_closed:
                self._cards.unpin()
            super().close()


def _told(order: Optional[tuple]) -> str:
    return "that of its shape" if order is None else str(list(order))


def _name_all(parts: Iterable[Any], named: Mapping[str, Any]) -> list[tuple[str, Any]]:
    pairs = list(named.items())
    taken = {*named, "random", "memory_order"}
    for part in parts:
        kind, number = _kind_of(part), 1
        name = kind
        while name in taken:
            number += 1
            name = f"{kind}_{number}"
        taken.add(name)
        pairs.append((name, part))
    return pairs


def _kind_of(part: Any) -> str:
    if isinstance(part, torch.nn.Module):
        return "model"
    if isinstance(part, torch.optim.Optimizer):
        return "optimizer"
    if isinstance(part, ResumableSampler):
        return "sampler"
    if type(part).__module__ == "torch.optim.lr_scheduler" or "Scheduler" in type(part).__name__:
        return "scheduler"
    return type(part).__name__.lower()
