"""The order of the data follows from a seed, and a place in it is found again."""

import os
import unittest
from unittest import mock

try:
    import torch

    from outlast.torch import ResumableSampler, endless
except ImportError as missing:
    raise unittest.SkipTest(f"PyTorch is not installed here ({missing}): python/tests/install-frameworks") from None

import outlast


def resumed(sampler, *arguments, **options):
    fresh = ResumableSampler(*arguments, **options)
    fresh.load_state_dict(sampler.state_dict())
    return fresh


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 23

    def __getitem__(self, index):
        return index


class Sampler(unittest.TestCase):
    def test_each_epoch_has_all_examples_in_an_order_of_its_own(self):
        sampler = ResumableSampler(23, batch_size=4)
        epochs = [[index for batch in sampler for index in batch] for _ in range(3)]
        for epoch in epochs:
            self.assertEqual(sorted(epoch), list(range(23)))
        self.assertEqual(len(set(map(tuple, epochs))), 3)
        self.assertEqual(sampler.epoch, 3)

    def test_the_rest_of_an_epoch_comes_after_resuming(self):
        for taken in range(13):
            options = {"batch_size": 4, "seed": 8}
            whole, part = ResumableSampler(23, **options), ResumableSampler(23, **options)
            batches, others = endless(whole), endless(part)
            for _ in range(taken):
                self.assertEqual(next(batches), next(others))
            rest = endless(resumed(part, 23, **options))
            for _ in range(10):
                self.assertEqual(next(batches), next(rest))

    def test_without_shuffling_the_order_is_that_of_the_data(self):
        self.assertEqual(list(ResumableSampler(5, batch_size=2, shuffle=False)), [[0, 1], [2, 3], [4]])
        self.assertEqual(list(ResumableSampler(5, batch_size=2, shuffle=False, drop_last=True)), [[0, 1], [2, 3]])

    def test_ranks_share_an_epoch_and_have_as_many_batches(self):
        for ranks in (2, 3, 5):
            samplers = [ResumableSampler(23, batch_size=4, rank=rank, ranks=ranks) for rank in range(ranks)]
            shares = [[index for batch in sampler for index in batch] for sampler in samplers]
            self.assertEqual(len({len(share) for share in shares}), 1)
            self.assertEqual({index for share in shares for index in share}, set(range(23)))
            self.assertEqual(len({len(sampler) for sampler in samplers}), 1)

    def test_without_torch_distributed_the_rank_is_that_of_the_snapshots(self):
        with mock.patch.dict(os.environ, {"RANK": "1", "WORLD_SIZE": "2"}):
            self.assertEqual(
                list(ResumableSampler(23, batch_size=4)), list(ResumableSampler(23, batch_size=4, rank=1, ranks=2))
            )
        with self.assertRaisesRegex(outlast.SnapshotError, "only one of rank and ranks"):
            ResumableSampler(23, batch_size=4, ranks=2)

    def test_more_ranks_than_examples_share_them(self):
        batches = [list(ResumableSampler(2, batch_size=3, rank=rank, ranks=5)) for rank in range(5)]
        self.assertEqual([len(batch) for batch in batches], [1] * 5)

    def test_a_loader_that_prepares_ahead_is_counted_by_what_it_hands_out(self):
        options = {"batch_size": 4, "seed": 8}
        for workers in (0, 2):
            sampler = ResumableSampler(23, **options)
            batches = endless(sampler.loader(Numbers(), num_workers=workers))
            taken = [next(batches).tolist() for _ in range(8)]
            self.assertEqual(sampler.state_dict()["position"], 8)
            again = resumed(sampler, 23, **options)
            taken += [batch.tolist() for batch in again.loader(Numbers(), num_workers=workers)]
            whole = endless(ResumableSampler(23, **options))
            self.assertEqual(taken, [next(whole) for _ in range(12)])

    def test_a_loader_takes_nothing_from_torchs_generator(self):
        sampler = ResumableSampler(23, batch_size=4)
        before = torch.get_rng_state()
        list(sampler.loader(Numbers()))
        self.assertTrue(torch.equal(torch.get_rng_state(), before))

    def test_an_ordinary_loader_takes_as_much_as_in_a_run_that_was_not_interrupted(self):
        sampler = ResumableSampler(23, batch_size=4)
        batches = iter(torch.utils.data.DataLoader(Numbers(), batch_sampler=sampler))
        next(batches)
        state = torch.get_rng_state()
        next(iter(torch.utils.data.DataLoader(Numbers(), batch_sampler=resumed(sampler, 23, batch_size=4))))
        self.assertTrue(torch.equal(torch.get_rng_state(), state))

    def test_the_place_in_other_data_is_refused(self):
        sampler = ResumableSampler(23, batch_size=4)
        for other in ({"batch_size": 5}, {"batch_size": 4, "seed": 1}, {"batch_size": 4, "rank": 0, "ranks": 2}):
            with self.assertRaisesRegex(outlast.SnapshotError, "place in the data"):
                resumed(sampler, 23, **other)
        with self.assertRaises(outlast.SnapshotError):
            resumed(sampler, 24, batch_size=4)

    def test_what_cannot_be_is_refused(self):
        for wrong in ({"batch_size": 0}, {"batch_size": 1, "rank": 2, "ranks": 2}, {"batch_size": 30, "drop_last": True}):
            with self.assertRaises(outlast.SnapshotError):
                ResumableSampler(23, **wrong)
        with self.assertRaises(outlast.SnapshotError):
            ResumableSampler([], batch_size=1)


if __name__ == "__main__":
    unittest.main()
