"""A module or an optimizer that is not what was registered any more is told, and never saved or resumed wrongly."""

import tempfile
import unittest

try:
    import torch
    from torch import nn

    import outlast.torch
except ImportError as missing:
    raise unittest.SkipTest(f"PyTorch is not installed here ({missing}): python/tests/install-frameworks") from None

import outlast


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def snapshots(self, *parts, **options):
        snapshots = outlast.torch.Snapshots(*parts, folder=self.folder, **options)
        self.addCleanup(snapshots.close)
        return snapshots

    def refused(self, words):
        return self.assertRaisesRegex(outlast.SnapshotError, words)


class Modules(Case):
    def told(self, change, words):
        model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        model.register_buffer("seen", torch.zeros(1))
        snapshots = self.snapshots(model)
        snapshots.save(1)
        change(model)
        for call in (lambda: snapshots.save(2), lambda: snapshots.save_async(2), snapshots.resume):
            with self.refused(words):
                call()

    def test_a_parameter_that_was_replaced(self):
        def replace(model):
            model[0].weight = nn.Parameter(torch.ones(2, 2))

        self.told(replace, "'model.0.weight' is another parameter")

    def test_a_layer_that_was_replaced(self):
        def replace(model):
            model[0] = nn.Linear(2, 7)

        self.told(replace, "'model.0.weight' is another parameter")

    def test_what_came_and_what_went(self):
        self.told(lambda model: model.append(nn.Linear(2, 2)), "'model.2.weight' came to the module")
        self.told(lambda model: model.register_buffer("more", torch.ones(1)), "'model.more' came to the module")
        self.told(lambda model: setattr(model[0], "bias", None), "'model.0.bias' is gone from the module")
        self.told(lambda model: setattr(model, "seen", None), "'model.seen' is gone from the module")

    def test_a_buffer_of_another_shape_or_type(self):
        self.told(lambda model: setattr(model, "seen", torch.zeros(())), r"'model.seen' was registered as torch.float32 \[1\]")
        self.told(lambda model: setattr(model, "seen", torch.zeros(1).long()), "'model.seen' .* is torch.int64")

    def test_a_buffer_that_was_replaced_by_its_like_is_followed(self):
        model = nn.BatchNorm1d(2)
        snapshots = self.snapshots(model)
        model.running_mean = torch.full((2,), 7.0)
        snapshots.save(1)
        model.running_mean = torch.zeros(2)
        snapshots.resume()
        self.assertEqual(model.running_mean.tolist(), [7.0, 7.0])


class Orders(Case):
    @staticmethod
    def convolution(memory_format):
        torch.manual_seed(1)
        return nn.Conv2d(3, 8, 3).to(memory_format=memory_format)

    def test_another_order_in_memory_is_refused_both_ways_and_the_same_is_not(self):
        orders = {torch.channels_last: r"\[0, 2, 3, 1\]", torch.contiguous_format: "that of its shape"}
        for before in orders:
            model = self.convolution(before)
            wanted = model.weight.detach().clone()
            optimizer = torch.optim.Adam(model.parameters())
            self.snapshots(model, optimizer).save(1)
            for now in orders:
                other = self.convolution(now)
                with torch.no_grad():
                    other.weight.zero_()
                snapshots = self.snapshots(other, torch.optim.Adam(other.parameters()))
                if now == before:
                    snapshots.resume()
                    self.assertTrue(torch.equal(other.weight, wanted))
                    continue
                with self.refused(f"'model.weight' .* in the order {orders[before]} when .* lie in {orders[now]} now"):
                    snapshots.resume()
                self.assertEqual(float(other.weight.detach().abs().sum()), 0)


class Parts(Case):
    def resumed_nothing(self, model, parts, words):
        with torch.no_grad():
            model.weight.fill_(5.0)
        with self.refused(words):
            self.snapshots(model, *parts).resume()
        self.assertEqual(model.weight.tolist(), [[5.0]])

    def test_an_optimizer_of_other_groups_or_with_other_tensors_changes_nothing(self):
        model = nn.Linear(1, 1)

        def sgd(groups=1, **options):
            parameters = list(model.parameters())
            if groups == 1:
                return torch.optim.SGD(parameters, 0.1, **options)
            return torch.optim.SGD([{"params": [parameter]} for parameter in parameters], 0.1, **options)

        self.snapshots(model, sgd()).save(1)
        self.resumed_nothing(model, [sgd(groups=2)], "1 parameter groups of 'optimizer', which has 2 now")

    def test_a_sampler_of_other_data_changes_nothing(self):
        model = nn.Linear(1, 1)
        self.snapshots(model, outlast.torch.ResumableSampler(10, batch_size=2)).save(1)
        self.resumed_nothing(model, [outlast.torch.ResumableSampler(11, batch_size=2)], "place in the data")


if __name__ == "__main__":
    unittest.main()
