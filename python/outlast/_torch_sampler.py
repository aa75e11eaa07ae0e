"""Which examples come next: an order that follows from a seed, and a place in it."""

from __future__ import annotations

from typing import Any, Iterator, Optional

import torch
import torch.utils.data

from outlast import SnapshotError
from outlast._ranks import find_rank


def rank_and_ranks(rank: Optional[int], ranks: Optional[int]) -> tuple[int, int]:
    """As it was said, or else as torch.distributed knows, or else as Snapshots finds it."""
    distributed = torch.distributed
    if rank is None and ranks is None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return find_rank(rank, ranks)


class ResumableSampler(torch.utils.data.Sampler):
    """Gives batches of indices, for DataLoader(batch_sampler=…), and begins an iteration where the last one was
    left: so the first `for` after resume() has only the rest of its epoch. Each epoch has an order of its own. Every
    rank gets as many batches as the others: a few examples come twice where they cannot be divided.

    A place is counted when a batch is drawn. With num_workers a DataLoader draws ahead: take loader() then, which
    counts when a batch is handed out. Confined to its owner."""

    def __init__(
        self,
        dataset_or_length: Any,
        *,
        batch_size: int,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
        rank: Optional[int] = None,
        ranks: Optional[int] = None,
    ):
        length = dataset_or_length if isinstance(dataset_or_length, int) else len(dataset_or_length)
        self._rank, self._ranks = rank_and_ranks(rank, ranks)
        if length < 1 or batch_size < 1:
            raise SnapshotError(
                f"a sampler of {length} examples in batches of {batch_size} cannot be: give at least one example, and a "
                "batch of at least one"
            )
        self._length, self._batch_size, self._shuffle, self._seed = length, batch_size, shuffle, seed
        share = -(-length // self._ranks)
        self._batches = share // batch_size if drop_last else -(-share // batch_size)
        if self._batches == 0:
            raise SnapshotError(f"{share} examples do not fill one batch of {batch_size}: do not drop the last one")
        self._share = min(share, self._batches * batch_size)
        self._position = 0  # batches that were handed out, in all epochs
        self._is_counted_elsewhere = False

    def __len__(self) -> int:
        """Batches of one whole epoch."""
        return self._batches

    @property
    def epoch(self) -> int:
        return self._position // self._batches

    def advance(self) -> None:
        """One more batch was handed out: for whoever draws ahead and counts for itself."""
        self._position += 1

    def __iter__(self) -> Iterator[list[int]]:
        # A DataLoader takes one number from torch's generator when it begins. A run that was not interrupted does not
        # take it in the middle of an epoch, so what it took is put back there.
        in_the_middle = self._position % self._batches != 0 and not self._is_counted_elsewhere
        return self._draw(torch.get_rng_state() if in_the_middle else None)

    def _draw(self, generator_before: Optional[torch.Tensor]) -> Iterator[list[int]]:
        if generator_before is not None:
            torch.set_rng_state(generator_before)
        order = self._order(self.epoch)
        for batch in range(self._position % self._batches, self._batches):
            if not self._is_counted_elsewhere:
                self._position += 1
            yield order[batch * self._batch_size : (batch + 1) * self._batch_size]

    def _order(self, epoch: int) -> list[int]:
        if self._shuffle:
            generator = torch.Generator()
            generator.manual_seed((self._seed << 32) + epoch & (1 << 63) - 1)
            order = torch.randperm(self._length, generator=generator)
        else:
            order = torch.arange(self._length)
        wrapped = torch.arange(self._rank, self._share * self._ranks, self._ranks) % self._length
        return order[wrapped].tolist()

    def loader(self, dataset: Any, **options: Any) -> "torch.utils.data.DataLoader":
        """A DataLoader of these batches that takes the same options, knows how many batches were handed out, however
        many are ready, and takes nothing from torch's generator."""
        return _CountingLoader(self, dataset, options)

    def state_dict(self) -> dict:
        return {"position": self._position, "kind": self._kind()}

    def check_state_dict(self, state: dict) -> None:
        """SnapshotError if it is the place in other data."""
        if state["kind"] != self._kind():
            raise SnapshotError(
                f"the snapshot is of a sampler with {state['kind']}, and this one has {self._kind()}: "
                "the place in the data means nothing here. Use the same, or another folder"
            )

    def load_state_dict(self, state: dict) -> None:
        self.check_state_dict(state)
        self._position = state["position"]

    def _kind(self) -> dict:
        return {
            "length": self._length,
            "batch_size": self._batch_size,
            "batches": self._batches,
            "shuffle": self._shuffle,
            "seed": self._seed,
            "ranks": self._ranks,
        }


class _CountingLoader(torch.utils.data.DataLoader):
    def __init__(self, sampler: ResumableSampler, dataset: Any, options: dict):
        sampler._is_counted_elsewhere = True
        own = torch.Generator()
        super().__init__(dataset, batch_sampler=sampler, **{"generator": own, **options})
        self._own_generator = own

    def __iter__(self):
        sampler = self.batch_sampler
        self._own_generator.manual_seed((sampler._seed << 32) + sampler.epoch & (1 << 63) - 1)
        for batch in super().__iter__():
            sampler.advance()
            yield batch


def endless(loader: Any) -> Iterator[Any]:
    """Epoch after epoch: for loops that count steps."""
    while True:
        yield from loader
