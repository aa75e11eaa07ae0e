"""How a module's parameters and buffers become tensors of a snapshot."""

from __future__ import annotations

from typing import Any, Iterator

import torch

from outlast import SnapshotError
from outlast._torch_state import OBJECT_BYTES_MIN, Registry, plain_view


def _unwrapped(module: torch.nn.Module) -> torch.nn.Module:
    """Without what DDP and torch.compile() put around it: names are the same with and without them."""
    while True:
        if isinstance(module, torch.nn.parallel.DistributedDataParallel):
            module = module.module
        elif isinstance(module._modules.get("_orig_mod"), torch.nn.Module):
            module = module._orig_mod
        else:
            return module


class ModuleState:
    """What is registered is what the module has then. Should it have another parameter later, that is told: a
    snapshot of the old one would be of no use."""

    def __init__(self, name: str, module: torch.nn.Module):
        self._name = name
        self._module = _unwrapped(module)
        self._parameters: dict[str, torch.Tensor] = {}
        self._addresses: dict[str, int] = {}  # of those that are registered by a view
        self._shadows: dict[str, torch.Tensor] = {}  # of the buffers

    def register(self, registry: Registry) -> None:
        for name, parameter in self._named_parameters():
            if isinstance(parameter, torch.nn.parameter.UninitializedParameter):
                raise SnapshotError(f"'{name}' has no size yet: run the module once before it is registered")
            if plain_view(name, parameter).shape != parameter.shape or not parameter.is_contiguous():
                self._addresses[name] = parameter.data_ptr()
            self._parameters[name] = parameter
            registry.add_tensor(name, parameter)
        for name, buffer in self._named_buffers():
            # A forward pass changes buffers, and some modules replace them: what is registered is a copy, which
            # an asynchronous save can read in peace.
            self._shadows[name] = buffer.detach().clone()
            registry.add_tensor(name, self._shadows[name])
        if self._with_extra_state():
            registry.add_object(
                f"{self._name}.extra_state",
                lambda: {place: module.get_extra_state() for place, module in self._with_extra_state().items()},
                self._set_extra_states,
                OBJECT_BYTES_MIN,
                self._check_extra_states,
            )

    def _named_parameters(self) -> Iterator[tuple[str, torch.Tensor]]:
        return ((f"{self._name}.{name}", parameter) for name, parameter in self._module.named_parameters())

    def _named_buffers(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Those that a state_dict() has."""
        for place, module in self._module.named_modules():
            prefix = f"{self._name}.{place}." if place else f"{self._name}."
            for name, buffer in module._buffers.items():
                if buffer is not None and name not in module._non_persistent_buffers_set:
                    yield prefix + name, buffer

    def _with_extra_state(self) -> dict[str, torch.nn.Module]:
        return {
            place: module
            for place, module in self._module.named_modules()
            if type(module).get_extra_state is not torch.nn.Module.get_extra_state
        }

    def _check_extra_states(self, states: dict[str, Any]) -> None:
        for place in states:
            if place not in self._with_extra_state():
                raise SnapshotError(f"the snapshot has an extra state of '{place}' in '{self._name}', which has none now")

    def _set_extra_states(self, states: dict[str, Any]) -> None:
        modules = self._with_extra_state()
        for place, state in states.items():
            modules[place].set_extra_state(state)

    def check(self) -> None:
        """SnapshotError if the module is not the one that was registered any more."""
        parameters, buffers = dict(self._named_parameters()), dict(self._named_buffers())
        for now, before in ((parameters, self._parameters), (buffers, self._shadows)):
            for name in [*(name for name in now if name not in before), *(name for name in before if name not in now)]:
                raise SnapshotError(
                    f"'{name}' {'came to' if name in now else 'is gone from'} the module after Snapshots was made: make "
                    "Snapshots when the module has all its parameters and buffers"
                )
        for name, parameter in parameters.items():
            if parameter is not self._parameters[name]:
                raise SnapshotError(
                    f"'{name}' is another parameter than the one that was registered: replace parameters before Snapshots "
                    "is made, or copy into the old one (load_state_dict() without assign=True)"
                )
        for name, buffer in buffers.items():
            shadow = self._shadows[name]
            if (buffer.shape, buffer.dtype) != (shadow.shape, shadow.dtype):
                raise SnapshotError(
                    f"'{name}' was registered as {shadow.dtype} {list(shadow.shape)} and is {buffer.dtype} "
                    f"{list(buffer.shape)} now: what is registered must keep its shape"
                )
        for name, address in self._addresses.items():
            if parameters[name].data_ptr() != address:
                raise SnapshotError(
                    f"'{name}' is no longer where it was registered: move the module to its device, and change its "
                    "type, before Snapshots is made"
                )

    def settle(self) -> None:
        self.check()
        with torch.no_grad():
            for name, buffer in self._named_buffers():
                self._shadows[name].copy_(buffer)

    def restored(self) -> None:
        with torch.no_grad():
            for name, buffer in self._named_buffers():
                buffer.copy_(self._shadows[name])
