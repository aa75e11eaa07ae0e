"""A PyTorch training that was interrupted is the one that was not, bit for bit."""

import contextlib
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


class Memory(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def snapshots(self, *parts, **options):
        snapshots = outlast.torch.Snapshots(*parts, folder=self.folder, **options)
        self.addCleanup(snapshots.close)
        return snapshots

    def round_trip(self, model, damage):
        """The module after a save, some damage, and a resume in other objects' place."""
        wanted = {name: value.clone() for name, value in model.state_dict().items()}
        self.snapshots(model).save(1)
        damage(model)
        self.assertEqual(self.snapshots(model).resume(), 1)
        for name, value in model.state_dict().items():
            self.assertTrue(torch.equal(value, wanted[name]), name)
            self.assertEqual(value.stride(), wanted[name].stride())

    @staticmethod
    def zero(model):
        with torch.no_grad():
            for value in [*model.parameters(), *model.buffers()]:
                value.zero_()

    def test_weights_that_are_tied_are_saved_once(self):
        model = nn.ModuleDict({"first": nn.Linear(3, 3), "last": nn.Linear(3, 3)})
        model["last"].weight = model["first"].weight
        self.round_trip(model, self.zero)
        self.assertIs(model["last"].weight, model["first"].weight)

    def test_memory_that_is_shared_by_two_modules_is_saved_once(self):
        first, second = nn.Linear(3, 3), nn.Linear(3, 3)
        second.weight.data = first.weight.data
        snapshots = self.snapshots(first, second)
        snapshots.save(1)
        self.zero(first)
        snapshots.resume()
        self.assertNotEqual(float(second.weight.detach().abs().sum()), 0)

    def test_channels_last_half_precision_and_complex_numbers(self):
        model = nn.Sequential(nn.Conv2d(3, 5, 3), nn.Linear(2, 2).to(torch.bfloat16), nn.Linear(2, 2).double())
        model[0].to(memory_format=torch.channels_last)
        model.register_parameter("wave", nn.Parameter(torch.randn(3, dtype=torch.complex64)))
        model.register_buffer("flags", torch.tensor([True, False]))
        self.round_trip(model, self.zero)

    def test_resuming_writes_into_the_same_memory(self):
        training = Training(torch.optim.Adam)
        batches = training.batches()
        snapshots = self.snapshots(*training.parts())
        for _ in range(2):
            training.step(batches)
        snapshots.save(2)
        addresses = [p.data_ptr() for p in training.model.parameters()]
        moments = [s["exp_avg"].data_ptr() for s in training.optimizer.state.values()]
        training.step(batches)
        snapshots.resume()
        self.assertEqual(addresses, [p.data_ptr() for p in training.model.parameters()])
        self.assertEqual(moments, [s["exp_avg"].data_ptr() for s in training.optimizer.state.values()])

    def test_a_module_keeps_what_is_no_tensor(self):
        class Counting(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight, self.count = nn.Parameter(torch.ones(1)), 0

            def get_extra_state(self):
                return self.count

            def set_extra_state(self, state):
                self.count = state

        model = nn.Sequential(Counting())
        model[0].count = 5
        snapshots = self.snapshots(model)
        snapshots.save(1)
        model[0].count = 0
        snapshots.resume()
        self.assertEqual(model[0].count, 5)

    def test_a_forward_pass_does_not_reach_into_an_asynchronous_save(self):
        model = nn.BatchNorm1d(200_000)
        snapshots = self.snapshots(model)
        for step in range(1, 6):
            wanted = {name: value.clone() for name, value in model.state_dict().items()}
            snapshots.save_async(step)
            model(torch.randn(2, 200_000))
            snapshots.resume()
            for name, value in model.state_dict().items():
                self.assertTrue(torch.equal(value, wanted[name]), name)

    def test_an_optimizer_waits_for_an_asynchronous_save(self):
        model = nn.Linear(1000, 1000)
        for kind in (torch.optim.SGD, torch.optim.Adam):
            optimizer = kind(model.parameters(), lr=0.5)
            scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
            snapshots = self.snapshots(model, optimizer, scheduler)
            for step in range(1, 6):
                wanted = model.weight.detach().clone()
                model(torch.randn(1, 1000)).sum().backward()
                snapshots.save_async(step)
                optimizer.step()
                scheduler.step()
                self.assertFalse(torch.equal(model.weight, wanted))
                snapshots.resume()
                self.assertTrue(torch.equal(model.weight, wanted))

    def test_a_scheduler_may_be_made_after_the_snapshots(self):
        model = nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        snapshots = self.snapshots(model, optimizer)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
        waited = []
        snapshots.before_update = lambda: waited.append(1)
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        scheduler.step()
        self.assertEqual((waited, optimizer.param_groups[0]["lr"]), ([1], 0.5))

    def test_a_parameter_that_is_unfrozen_later_is_told(self):
        model = nn.Linear(2, 2)
        model.bias.requires_grad_(False)
        optimizer = torch.optim.Adam(model.parameters())
        snapshots = self.snapshots(model, optimizer)
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        snapshots.save(1)
        model.bias.requires_grad_(True)
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        with self.assertRaisesRegex(outlast.SnapshotError, "unfreeze"):
            snapshots.save(2)

    def test_what_has_no_state_is_refused(self):
        with self.assertRaisesRegex(outlast.SnapshotError, "object has no state_dict"):
            self.snapshots(object())
        with self.assertRaisesRegex(outlast.SnapshotError, "has no size yet"):
            self.snapshots(nn.LazyLinear(3))
        with self.assertRaisesRegex(outlast.SnapshotError, "sparse"):
            model = nn.Module()
            model.register_buffer("few", torch.eye(3).to_sparse())
            self.snapshots(model)

    def test_names_are_those_of_the_module_that_was_wrapped(self):
        inner = nn.ModuleDict({"module": nn.Linear(2, 2), "other": nn.Linear(2, 2)})
        wrapped = nn.Module()
        wrapped._orig_mod = inner  # as torch.compile() does it
        self.snapshots(inner).save(1)
        wanted = inner["other"].weight.detach().clone()
        self.zero(inner)
        self.assertEqual(self.snapshots(wrapped).resume(), 1)
        self.assertTrue(torch.equal(inner["other"].weight, wanted))

    def test_parts_can_have_names(self):
        model = nn.Linear(2, 2)
        snapshots = self.snapshots(parts={"student": model}, file_interval=0)
        snapshots.save(1)
        with self.assertRaisesRegex(outlast.SnapshotError, "teacher"):
            self.snapshots(parts={"teacher": model}).resume()

    def test_steps_lead_the_loop_and_resume_it(self):
        model = nn.Linear(1, 1)
        seen = []
        with contextlib.suppress(Interrupted):
            for step in self.snapshots(model, file_interval=0).steps(6):
                seen.append(step)
                if step == 3:
                    raise Interrupted
        seen.extend(self.snapshots(model, file_interval=1000).steps(6))
        seen.extend(self.snapshots(model).steps(6))
        self.assertEqual(seen, [0, 1, 2, 3, 3, 4, 5])


if __name__ == "__main__":
    unittest.main()
