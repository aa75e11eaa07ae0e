"""Memory that is laid out, shared or replaced in odd ways is saved as it is, and put back into the same place."""

import contextlib
import tempfile
import unittest

try:
    import torch
    from torch import nn

    import outlast.torch
except ImportError as missing:
    raise unittest.SkipTest(f"PyTorch is not installed here ({missing}): python/tests/install-frameworks") from None

import outlast
from test_torch import Interrupted, Training


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
