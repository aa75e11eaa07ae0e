"""A PyTorch training under an agent: into the arena, out of it again, and away when it is told to."""

import os
import tempfile
import unittest

try:
    import torch
    from torch import nn

    import outlast.torch
except ImportError as missing:
    raise unittest.SkipTest(f"PyTorch is not installed here ({missing}): python/tests/install-frameworks") from None

import outlast
from fake_agent import FakeAgent

STEPS = 12


class Arena(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "snapshots")

    def train(self, before_step=lambda step: None):
        """Weights, or Leave."""
        torch.manual_seed(1)
        model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 1))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        sampler = outlast.torch.ResumableSampler(20, batch_size=4)
        numbers = torch.arange(60.0).view(20, 3) / 60
        batches = outlast.torch.endless(sampler)
        with outlast.torch.Snapshots(model, optimizer, sampler, folder=self.folder, every_steps=1) as snapshots:
            for step in snapshots.steps(STEPS):
                before_step(step)
                optimizer.zero_grad()
                model(numbers[next(batches)]).sum().backward()
                optimizer.step()
        return [value.clone() for value in model.state_dict().values()]

    def test_a_trainer_that_is_told_to_leave_goes_on_from_the_arena(self):
        wanted = self.train()
        os.rename(self.folder, self.folder + "-of-the-first")
        with FakeAgent() as agent:
            for asked in (1, 5, 9):
                with self.assertRaises(outlast.Leave) as left:
                    self.train(lambda step: agent.ask(2 * asked + 1, asked) if step == asked - 1 else None)
                self.assertEqual(left.exception.code, 75)
                step, names, _ = agent.newest()
                self.assertEqual(step, asked)
                self.assertIn("model.0.weight", names)
                self.assertIn("optimizer.0.exp_avg", names)
            for one, other in zip(self.train(), wanted):
                self.assertTrue(torch.equal(one, other))
        self.assertFalse(os.path.exists(self.folder))

    def test_a_trainer_that_crashed_goes_on_from_the_arena(self):
        wanted = self.train()
        os.rename(self.folder, self.folder + "-of-the-first")

        def crash(step):
            if step == 7:
                raise ZeroDivisionError

        with FakeAgent() as agent:
            with self.assertRaises(ZeroDivisionError):
                self.train(crash)
            self.assertEqual(agent.newest()[0], 7)
            begun = []
            for one, other in zip(self.train(begun.append), wanted):
                self.assertTrue(torch.equal(one, other))
            self.assertEqual(begun[0], 7)


if __name__ == "__main__":
    unittest.main()
