"""A PyTorch training that was interrupted is the one that was not, bit for bit."""

import hashlib
import os
import pickle
import random
import tempfile
import unittest

try:
    import torch
    from torch import nn

    import outlast.torch
except ImportError as missing:
    raise unittest.SkipTest(f"PyTorch is not installed here ({missing}): python/tests/install-frameworks") from None

import outlast

STEPS = 14


class Interrupted(Exception):
    pass


def optimizers():
    adam = torch.optim
    return {
        "SGD": lambda p: adam.SGD(p, lr=0.1),
        "SGD, momentum": lambda p: adam.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
        "SGD, dampening": lambda p: adam.SGD(p, lr=0.05, momentum=0.9, dampening=0.3),
        "Adam": lambda p: adam.Adam(p, lr=0.01),
        "Adam, amsgrad": lambda p: adam.Adam(p, lr=0.01, amsgrad=True, weight_decay=0.1),
        "AdamW": lambda p: adam.AdamW(p, lr=0.01),
        "RMSprop": lambda p: adam.RMSprop(p, lr=0.01, momentum=0.5, centered=True),
        "Adagrad": lambda p: adam.Adagrad(p, lr=0.05, initial_accumulator_value=0.1),
        "Adadelta": lambda p: adam.Adadelta(p),
        "Adamax": lambda p: adam.Adamax(p),
        "NAdam": lambda p: adam.NAdam(p),
        "RAdam": lambda p: adam.RAdam(p),
        "ASGD": lambda p: adam.ASGD(p),
        "Rprop": lambda p: adam.Rprop(p),
    }


class Training:
    """Everything that a step can depend on: dropout, running means, a scheduler, shuffled data with noise of Python's
    and torch's generators in it."""

    def __init__(self, make_optimizer):
        torch.manual_seed(3)
        random.seed(4)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3))
        self.optimizer = make_optimizer(self.model.parameters())
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 3, gamma=0.9)
        self.data = torch.utils.data.TensorDataset(
            torch.randn(20, 4, generator=torch.Generator().manual_seed(5)), torch.arange(20) % 3
        )
        self.sampler = outlast.torch.ResumableSampler(self.data, batch_size=4, seed=6)

    def parts(self):
        return self.model, self.optimizer, self.scheduler, self.sampler

    def batches(self):
        return outlast.torch.endless(torch.utils.data.DataLoader(self.data, batch_sampler=self.sampler))

    def step(self, batches):
        inputs, targets = next(batches)
        inputs = inputs + random.random() * 0.01 + torch.randn(4, 4) * 0.01
        self.optimizer.zero_grad()
        nn.functional.cross_entropy(self.model(inputs), targets).backward()
        self.optimizer.step()
        self.scheduler.step()

    def state(self):
        digest = hashlib.sha256()
        states = self.optimizer.state_dict()["state"]
        tensors = [*self.model.state_dict().items()]
        tensors += [(f"{n}.{k}", v) for n in sorted(states) for k, v in sorted(states[n].items()) if v is not None]
        for name, value in tensors:
            value = value if isinstance(value, torch.Tensor) else torch.tensor(value)
            digest.update(name.encode() + bytes(value.contiguous().view(-1).view(torch.uint8).tolist()))
        digest.update(pickle.dumps([group["lr"] for group in self.optimizer.param_groups]))
        digest.update(bytes(torch.get_rng_state().tolist()))
        return digest.hexdigest()


def run_plainly(make_optimizer):
    training = Training(make_optimizer)
    batches = training.batches()
    for _ in range(STEPS):
        training.step(batches)
    return training.state()


def run(make_optimizer, folder, interrupt_after=None, save="save", **options):
    """In each step: a snapshot, after which it is interrupted if that is wanted."""
    training = Training(make_optimizer)
    with outlast.torch.Snapshots(*training.parts(), folder=folder, **options) as snapshots:
        batches = training.batches()
        for step in range(snapshots.resume() or 0, STEPS):
            if step == 0:
                snapshots.save(0)
            training.step(batches)
            getattr(snapshots, save)(step + 1)
            if step + 1 == interrupt_after:
                raise Interrupted
    return training.state()


class EveryOptimizer(unittest.TestCase):
    def setUp(self):
        torch.set_num_threads(1)
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.chance = random.Random(7)

    def folder(self, name):
        return os.path.join(self._folder.name, name.replace(" ", ""))

    def test_training_with_snapshots_is_the_training_without(self):
        for name, make in optimizers().items():
            with self.subTest(name):
                self.assertEqual(run(make, self.folder(name)), run_plainly(make))

    def test_an_interrupted_training_ends_like_one_that_was_not(self):
        for name, make in optimizers().items():
            wanted = run_plainly(make)
            for save in ("save", "save_async"):
                with self.subTest(name, save=save):
                    folder = self.folder(name + save)
                    for after in sorted(self.chance.sample(range(1, STEPS), 3)):
                        with self.assertRaises(Interrupted):
                            run(make, folder, after, save)
                    self.assertEqual(run(make, folder, save=save), wanted)

    def test_one_that_is_interrupted_before_its_first_step_too(self):
        for name, make in optimizers().items():
            with self.subTest(name):
                folder = self.folder(name)
                training = Training(make)
                with outlast.torch.Snapshots(*training.parts(), folder=folder) as snapshots:
                    snapshots.save(0)
                random.seed(99)
                torch.manual_seed(99)
                self.assertEqual(run(make, folder), run_plainly(make))

    def test_an_optimizer_of_others_is_kept_too(self):
        class Stranger(torch.optim.Optimizer):
            def __init__(self, parameters):
                super().__init__(parameters, {"lr": 0.1})

            @torch.no_grad()
            def step(self):
                for parameter in self.param_groups[0]["params"]:
                    state = self.state[parameter]
                    state["seen"] = state.get("seen", []) + [parameter.grad.clone()]
                    parameter -= 0.1 * sum(state["seen"][-3:])

        results = []
        for interrupts in ([], [2, 9]):
            folder = self.folder(f"stranger{len(interrupts)}")
            for after in interrupts:
                with self.assertRaises(Interrupted):
                    self.run_stranger(Stranger, folder, after)
            results.append(self.run_stranger(Stranger, folder))
        self.assertEqual(results[0], results[1])

    def run_stranger(self, kind, folder, interrupt_after=None):
        training = Training(lambda parameters: kind(list(parameters)))
        with outlast.torch.Snapshots(*training.parts(), folder=folder) as snapshots:
            batches = training.batches()
            for step in range(snapshots.resume() or 0, STEPS):
                training.step(batches)
                snapshots.save(step + 1)
                if step + 1 == interrupt_after:
                    raise Interrupted
        return [bytes(p.detach().view(-1).view(torch.uint8).tolist()) for p in training.model.parameters()]


if __name__ == "__main__":
    unittest.main()
