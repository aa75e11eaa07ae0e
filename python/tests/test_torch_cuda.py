"""Copies from a graphics card, on a stand-in for one: what is asked of CUDA, and in which order.

There is no card where the tests run. The stand-in does the copies of a stream when that is waited for, as a card may.
"""

import contextlib
import io
import os
import tempfile
import types
import unittest
from unittest import mock

try:
    import torch

    import outlast.torch
    from outlast import _torch_cuda, _torch_state
except ImportError as missing:
    raise unittest.SkipTest(f"PyTorch is not installed here ({missing}): python/tests/install-frameworks") from None


class Card:
    """Of torch.cuda what is used."""

    def __init__(self, pin_result=0):
        self.pinned, self.pin_result, self.waiting = {}, pin_result, []
        self.active = None
        card = self

        class Stream:
            def __init__(self, device):
                self.waited_for = None

            def wait_event(self, event):
                self.waited_for = event

            def synchronize(self):
                for target, source in card.waiting:
                    target.real_copy(source)
                card.waiting.clear()

        class Event:
            def record(self, stream):
                self.stream = stream

        @contextlib.contextmanager
        def stream(one):
            card.active = one
            yield
            card.active = None

        def register(address, size, _flags):
            if not card.pin_result:
                card.pinned[address] = size
            return card.pin_result

        self.cuda = types.SimpleNamespace(
            Stream=Stream,
            Event=Event,
            stream=stream,
            current_stream=lambda device: "training",
            cudart=lambda: types.SimpleNamespace(
                cudaHostRegister=register, cudaHostUnregister=lambda address: card.pinned.pop(address)
            ),
        )

    def frombuffer(self, memory, dtype):
        tensor = torch.frombuffer(memory, dtype=dtype).as_subclass(Late)
        tensor.card = self
        return tensor


class Late(torch.Tensor):
    """Host memory as torch sees it: a copy to it on a stream is done when the stream is waited for."""

    def copy_(self, source, non_blocking=False):
        assert self.card.active is not None and non_blocking
        assert self.card.active.waited_for.stream == "training"
        self.card.waiting.append((self, source))

    def real_copy(self, source):
        torch.Tensor.copy_(self, source)


class Copies(unittest.TestCase):
    def start(self, **options):
        card = Card(**options)
        fake = types.SimpleNamespace(cuda=card.cuda, frombuffer=card.frombuffer, uint8=torch.uint8)
        patch = mock.patch.object(_torch_cuda, "torch", fake)
        patch.start()
        self.addCleanup(patch.stop)
        return card, _torch_cuda.CardCopies()

    def test_into_pinned_memory_all_is_there_after_the_last(self):
        card, copies = self.start()
        memory = bytearray(24)
        address = torch.frombuffer(memory, dtype=torch.uint8).data_ptr()
        copies.pin(address, 24)
        self.assertEqual(card.pinned, {address: 24})
        tensors = [torch.full((2,), float(n)) for n in (1, 2)]
        copies.begin([tensors[0].device], 3)
        view = memoryview(memory)
        copies.copy_out(tensors[0], view[:8])
        copies.copy_out(tensors[1], view[8:16])
        self.assertEqual(bytes(memory[:16]), bytes(16))
        view[16:] = b"\1" * 8
        copies.copy_out(None, view[16:])
        self.assertEqual(memory, tensors[0].numpy().tobytes() + tensors[1].numpy().tobytes() + bytes(8))
        copies.unpin()
        self.assertEqual(card.pinned, {})

    def test_into_other_memory_each_is_there_at_once(self):
        for options in ({}, {"pin_result": 2}):
            _, copies = self.start(**options)
            memory = bytearray(8)
            with contextlib.redirect_stderr(io.StringIO()) as said:
                copies.pin(1 << 40, 4096)
            self.assertEqual("could not be pinned" in said.getvalue(), "pin_result" in options)
            copies.begin([torch.device("cpu")], 2)
            copies.copy_out(torch.ones(2), memoryview(memory))
            self.assertEqual(memory, torch.ones(2).numpy().tobytes())

    def test_a_training_on_a_card_goes_on_where_it_was(self):
        """Everything takes the way of a card: parameters, running means, and what the optimizer makes later."""
        self.start()
        for place, what in ((_torch_state, "is_on_host"), (outlast.torch, "CARDS")):
            patch = mock.patch.object(place, what, (lambda tensor: False) if what == "is_on_host" else ("cpu",))
            patch.start()
            self.addCleanup(patch.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for make in (torch.optim.Adam, lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), torch.optim.Adagrad):
            results = []
            for name, interrupts in (("whole", [9]), ("parts", [0, 3, 4, 9])):
                path = os.path.join(folder.name, name + str(id(make)))
                results += [self.train(make, path, until) for until in interrupts][-1:]
            for one, other in zip(*results):
                self.assertTrue(torch.equal(one, other))

    def train(self, make, path, until):
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(), torch.nn.Linear(4, 1))
        optimizer = make(model.parameters())
        with outlast.torch.Snapshots(model, optimizer, folder=path) as snapshots:
            begin = snapshots.resume() or 0
            for step in range(begin, until):
                optimizer.zero_grad()
                model(torch.randn(5, 3)).sum().backward()
                optimizer.step()
            snapshots.save(until)
        return [value.clone() for value in model.state_dict().values()]

    def test_memory_is_pinned_once_and_let_go_before_other_memory_is(self):
        card, copies = self.start()
        copies.pin(4096, 10)
        copies.pin(4096, 10)
        copies.pin(8192, 10)
        self.assertEqual(card.pinned, {8192: 10})


if __name__ == "__main__":
    unittest.main()
